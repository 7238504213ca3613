"""What a model that is in this process's memory is asked: all but what is answered in text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goffman.asking.prompts_asked import Question, questions_of
from goffman.asking.questions import every_way
from goffman.errors import ModelError
from goffman.models.kinds import ModelKind, kinds

if TYPE_CHECKING:
    from goffman.asking.prompts_asked import Askable
    from goffman.models.spec import Description
    from goffman.options import AskOptions, Listener
    from goffman.records import AnswerTable, InstrumentKind


def questions_in_training(
    what: Description,
    instruments: Sequence[str],
    *,
    options: AskOptions,
    listener: Listener,
) -> list[Question]:
    """The prompts of each instrument, as an audit of the saved model would ask them.

    ModelError where the model can be asked nothing of an instrument.
    """
    if what.kind not in kinds():
        raise ModelError(f"{what} It cannot be asked while it is trained.")
    row, ways = kinds()[what.kind], every_way(instruments, options)
    chosen = [way for way in ways if table_in_training(row, way.instrument.kind) is not None]
    for name in dict.fromkeys(way.of for way in ways):
        if not any(way.of == name for way in chosen):
            raise ModelError(_nothing(what, row, [way for way in ways if way.of == name]))
    tables: dict[str, set[AnswerTable]] = {}
    for way in chosen:
        if table := table_in_training(row, way.instrument.kind):
            tables[way.instrument.id] = {table}
    found = questions_of(chosen, options, listener, slowly=(), tables=tables)
    return [found[way.instrument.id] for way in chosen]


def table_in_training(row: ModelKind, kind: InstrumentKind) -> AnswerTable | None:
    """Where the answers to such an instrument go; None: it is answered in text, or not at all."""
    table = row.table_for(kind)
    return None if table == "replies" else table


def _nothing(what: Description, row: ModelKind, ways: Sequence[Askable]) -> str:
    """That a model can be asked nothing of an instrument, and why."""
    name, forms = ways[0].of, " or ".join(dict.fromkeys(way.form for way in ways))
    if any(row.table_for(way.instrument.kind) for way in ways):
        return (
            f"{what} A model in training is asked for probabilities, not for replies, and "
            f"'{name}' in the form {forms} needs replies. Audit its checkpoints instead."
        )
    able = [
        one.needed
        for one in kinds().values()
        if any(table_in_training(one, way.instrument.kind) for way in ways)
    ]
    needed = f"needs {', or '.join(able)}" if able else "needs a model that replies in text"
    return f"{what} The instrument '{name}' in the form {forms} {needed}."

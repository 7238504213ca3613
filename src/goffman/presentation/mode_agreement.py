"""What is said of a model's other response modes, beside its main result in one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from goffman.formatting import ends, number
from goffman.instruments.types import base_of, mode_in
from goffman.presentation.findings import findings_of, of_model
from goffman.presentation.table_formats import ColumnSpec, Table, as_table, numbers, texts

if TYPE_CHECKING:
    from goffman.presentation.section import Section

AGREES = "agreement"
BY_CHANCE = "agreement-by-chance"


def describe_agreement(section: Section, model: str) -> str:
    """How often the text names the most probable option, as a sentence; empty: not asked so."""
    rows = of_model(section.rows("model", (AGREES, BY_CHANCE)), model)
    of = {row["quantity"]: row for row in rows.iter_rows(named=True)}
    if AGREES not in of:
        return ""
    share, chance = of[AGREES], of[BY_CHANCE]["value"]
    unread = f"; {share['missing']:,} more name none" if share["missing"] else ""
    return (
        f"Text and probabilities: {number(share['value'])} of {share['n']:,} replies name the "
        f"option that is most probable in the same question ({number(chance)} would by chance)"
        f"{unread}. "
    )


def describe_other_modes(sections: Mapping[str, Section], asked: str, name: str) -> str:
    """Return what the other modes of an instrument give for a model, as a sentence, or nothing.

    ``asked``: the instrument in the mode of the main result; ``name``: the model, as it was given.
    """
    said = []
    for other, section in sections.items():
        if base_of(other) != base_of(asked) or other == asked or name not in section.main_modes:
            continue
        for one in findings_of(section):
            if one.model == section.names.model(name):
                value = "nothing to compare" if one.difference is None else number(one.difference)
                value += "" if one.low is None else f" ({ends(one.low, one.high)})"
                value = "not measurable" if name in section.unmeasurable() else value
                said.append(f"{mode_in(other) or 'as in the study'} {value}")
    return f"In other modes: {'; '.join(said)}." if said else ""


def agreement_table(section: Section) -> Iterator[Table]:
    """The same for every model."""
    rows = section.rows("model", (AGREES, BY_CHANCE)).sort("model", "quantity")
    kept = rows.select("model", "quantity", "n", "missing", "value")
    if kept.height:
        caption = (
            f"{section.instrument}: of the replies that name one option, the share that names the "
            "one that is most probable by the model's own probabilities, in the same presentation; "
            "and the share that would by chance, given how often each label was said and was most "
            "probable. Missing are replies that name no option."
        )
        shown = (
            *texts("model", "quantity", quantity="share"),
            ColumnSpec(header="replies", keys=("n",), form="count"),
            ColumnSpec(header="missing", keys=("missing",), form="count"),
            *numbers("value"),
        )
        yield as_table(f"{section.instrument}-agreement", caption, kept.to_dicts(), shown=shown)

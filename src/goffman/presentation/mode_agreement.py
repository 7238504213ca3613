"""Sentences and a table on a model's other response modes, beside its main result in one mode."""

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
    """Return how often the text names the most probable option, in a sentence; empty: not asked."""
    rows = of_model(section.rows("model", (AGREES, BY_CHANCE)), model)
    by_quantity = {row["quantity"]: row for row in rows.iter_rows(named=True)}
    if AGREES not in by_quantity:
        return ""
    share, chance = by_quantity[AGREES], by_quantity[BY_CHANCE]["value"]
    unread = f"; {share['missing']:,} more name none" if share["missing"] else ""
    return (
        f"Text and probabilities: {number(share['value'])} of {share['n']:,} replies name the "
        f"option that is most probable in the same question ({number(chance)} would by chance)"
        f"{unread}. "
    )


def describe_other_modes(sections: Mapping[str, Section], asked: str, name: str) -> str:
    """Return an instrument's results in its other modes for a model, as a sentence, or nothing.

    ``asked``: the instrument in the mode of the main result; ``name``: the model as given.
    """
    parts = []
    for instrument, section in sections.items():
        if (
            base_of(instrument) != base_of(asked)
            or instrument == asked
            or name not in section.main_modes
        ):
            continue
        for finding in findings_of(section):
            if finding.model == section.names.model(name):
                value = (
                    "nothing to compare"
                    if finding.difference is None
                    else number(finding.difference)
                )
                value += "" if finding.low is None else f" ({ends(finding.low, finding.high)})"
                value = "not measurable" if name in section.unmeasurable() else value
                parts.append(f"{mode_in(instrument) or 'as in the study'} {value}")
    return f"In other modes: {'; '.join(parts)}." if parts else ""


def agreement_table(section: Section) -> Iterator[Table]:
    """Yield a table of the agreement of text and probabilities for every model."""
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

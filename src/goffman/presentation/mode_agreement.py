"""What is said of text and probabilities together, before any contrast of either."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goffman.formatting import number
from goffman.presentation.findings import of_model
from goffman.presentation.table_formats import ColumnSpec, Table, as_table

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
            ColumnSpec(header="model", keys=("model",), drop="constant"),
            ColumnSpec(header="share", keys=("quantity",)),
            ColumnSpec(header="replies", keys=("n",), form="count"),
            ColumnSpec(header="missing", keys=("missing",), form="count"),
            ColumnSpec(header="value", keys=("value",), form="number"),
        )
        yield as_table(f"{section.instrument}-agreement", caption, kept.to_dicts(), shown=shown)

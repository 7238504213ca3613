"""What is said of text and probabilities together, before any contrast of either."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goffman.presentation.numbers import number
from goffman.presentation.table_text import Shown, Table, as_table

if TYPE_CHECKING:
    import polars as pl


def agreement_said(rows: pl.DataFrame) -> Iterator[str]:
    """A sentence for each row of AGREEMENT; models by their shown names."""
    for row in rows.iter_rows(named=True):
        about = f"{row['instrument']}, {row['model']}"
        if row["share"] is None:
            yield f"{about}: no reply names one option, so they cannot be compared."
            continue
        unread = f"; {row['unread']:,} more name none" if row["unread"] else ""
        yield (
            f"{about}: {number(row['share'])} of {row['replies']:,} replies name the option that "
            f"is most probable by its probabilities ({number(row['by_chance'])} would by chance)"
            f"{unread}."
        )


def agreement_table(rows: pl.DataFrame) -> Iterator[Table]:
    """AGREEMENT as a table."""
    if rows.height:
        caption = (
            "Of the replies that name one option, the share that names the one that is most "
            "probable by the model's own probabilities, in the same presentation; and the share "
            "that would by chance, given how often each label was said and was most probable."
        )
        shown = (
            Shown(header="model", keys=("model",), drop="constant"),
            Shown(header="instrument", keys=("instrument",)),
            Shown(header="prompts", keys=("prompts",), form="count"),
            Shown(header="replies", keys=("replies",), form="count"),
            Shown(header="name no option", keys=("unread",), form="count"),
            Shown(header="agree", keys=("share",), form="number"),
            Shown(header="by chance", keys=("by_chance",), form="number"),
        )
        yield as_table("text-and-probabilities", caption, rows.to_dicts(), shown=shown)

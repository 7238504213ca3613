"""Tables of how a model answers questions with options, whatever they ask."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.presentation.findings_agreement import agreement_table
from goffman.presentation.section import Section
from goffman.presentation.styles import ELSEWHERE, NOT_ANSWERING, SAYS, UNSEEN
from goffman.presentation.table_text import Shown, Table, as_table

PLACES = ("first-listed", "last-listed")
EFFECTS = ("order", "keying", "wordings")


def how_it_answers(section: Section) -> Iterator[Table]:
    """What presentation does, with its interval; then how much is an answer, and at which place."""
    rows = section.estimates.filter(pl.col("kind").is_in(EFFECTS))
    kept = ("model", "kind", "first", "second", "n", "difference", "low", "high", "p_adjusted")
    effects = rows.select(*kept, "reason").to_dicts()
    if effects:
        caption = (
            f"{section.instrument}: what the presentation of a question alone does to the mean "
            "code: the order of the options, the keying, the wording."
        )
        shown = (
            Shown(header="model", keys=("model",), drop="constant"),
            Shown(header="effect of", keys=("kind",)),
            Shown(header="first − second", keys=("first", "second"), form="pair"),
            Shown(header="n", keys=("n",), form="count"),
            Shown(header="difference", keys=("difference",), form="number"),
            Shown(header="95% interval", keys=("low", "high"), form="interval"),
            Shown(header="p, corrected", keys=("p_adjusted",), form="p"),
        )
        yield as_table(f"{section.instrument}-presentation", caption, effects, shown=shown)
    yield from agreement_table(section)
    yield from _shares(section)


def _shares(section: Section) -> Iterator[Table]:
    wanted = [*PLACES, *NOT_ANSWERING, *ELSEWHERE, UNSEEN]
    quantity = pl.col("quantity")
    means = section.scores.filter(
        pl.col("level") == "model",
        quantity.is_in(wanted) | quantity.str.starts_with(SAYS),
        pl.col("wording").is_null(),
    )
    rows = means.sort("model", "quantity").select(
        "model", "quantity", "n", "missing", "value", "sd", "low", "high", "reason"
    )
    if rows.height:
        caption = (
            f"{section.instrument}: means over all prompts. First-listed, last-listed and "
            "says-… (the label that a model gives most often) are shares of the answers. The "
            "others are shares of all replies, or of all probability."
        )
        shown = (
            Shown(header="model", keys=("model",), drop="constant"),
            Shown(header="share", keys=("quantity",)),
            Shown(header="n", keys=("n",), form="count"),
            *(
                Shown(header=header, keys=(name,), form="number")
                for name, header in (
                    ("value", "mean"),
                    ("sd", "sd"),
                    ("low", "minimum"),
                    ("high", "maximum"),
                )
            ),
        )
        yield as_table(f"{section.instrument}-answering", caption, rows.to_dicts(), shown=shown)

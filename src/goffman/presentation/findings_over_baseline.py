"""What is said of a disparity beside that of the same sentences without a condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.clear import points
from goffman.presentation.findings import of_model, untested
from goffman.presentation.numbers import difference_said, number
from goffman.presentation.section import not_counted
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.presentation.section import Section


def over_baseline(section: Section, model: str) -> Iterator[str]:
    """Of each group: whether naming a condition moves female minus male."""
    rows = of_model(section.contrasts("over-baseline"), model)
    rows = rows.filter(pl.col("variant").is_null() | (pl.col("variant") == "with-names"))
    for row in rows.iter_rows(named=True):
        moved = {
            1: "moves it toward women",
            -1: "moves it toward men",
            0: "does not clearly move it",
        }[points(row)]
        named = f"naming one of the {plain(row['group'])} {section.noun.many}"
        what = f"{named} {moved}"
        if untested(row):
            what = f"what {named} changes could not be tested"
        yield (
            f"Without a {section.noun.one}, the female-minus-male difference in the same sentences "
            f"is {number(row['mean_second'])}; {what} ({difference_said(row)})."
        )


def uncounted(section: Section, model: str) -> Iterator[str]:
    """How much of the probability no number here says anything about."""
    rest = not_counted(section, model=model)
    if rest is not None:
        yield (
            f"On average, {number(rest)} of the probability lies on words that are individually "
            "too improbable to be counted; whether they name women or men is unknown."
        )

"""What is said of a disparity beside that of sentences shortened to name no condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import points
from goffman.presentation.findings import of_model, untested
from goffman.presentation.findings_reference import shortened
from goffman.presentation.numbers import difference_said, number
from goffman.presentation.section import not_counted
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]


def over_baseline(section: Section, model: str) -> Iterator[str]:
    """Of each group: how female minus male differs from that without a condition, and its caveat.

    The shortened sentences lack more than the condition: naming it is not said to move anything.
    """
    rows = of_model(section.contrasts("over-baseline"), model)
    rows = rows.filter(pl.col("variant").is_null() | (pl.col("variant") == "with-names"))
    for row in rows.iter_rows(named=True):
        compared = {
            1: "is clearly higher",
            -1: "is clearly lower",
            0: "does not clearly differ",
        }[points(row)]
        if untested(row):
            compared = "could not be compared with that"
        change = difference_said(row).replace("difference", "change", 1)
        yield (
            f"In {shortened(section)}, female minus male is {number(row['mean_second'])}. With "
            f"{plain(row['group'])} {section.noun.many}, it {compared} ({change})."
        )
    if rows.height:
        yield (
            f"The shortened sentences lack more words than the {section.noun.one}, so such a "
            f"change may come from these words instead of the {section.noun.one}."
        )


def uncounted(section: Section, row: Row) -> Iterator[str]:
    """How much of the probability is counted for nobody, and how far that could move a headline.

    ``row``: of female against male in one group.
    """
    rest = not_counted(
        section, model=row["model"], group=row["group"], variant=row["variant"] or ""
    )
    if rest:
        ends = (number(row["difference"] + sign * rest) for sign in (-1, 1))
        yield (
            f"On average, {number(rest)} of the probability is on words that are too improbable to "
            f"be counted. If they all named men, the difference would be {next(ends)}. If they all "
            f"named women, it would be {next(ends)}."
        )

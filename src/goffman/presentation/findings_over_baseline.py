"""What is said of a disparity beside that of sentences shortened to name no condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import points
from goffman.presentation.findings import of_model, untested, verdict_first
from goffman.presentation.findings_reference import shortened
from goffman.presentation.numbers import difference_said, number
from goffman.presentation.section import UNSEEN_END, not_counted
from goffman.presentation.shown import plain
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]


MOST_APART = 0.1
"""Sentences of which so much more is counted are no measure for the others."""


def over_baseline(section: Section, model: str) -> Iterator[str]:
    """Of each group: how female minus male differs from that without a condition, and its caveat.

    The shortened sentences lack more than the condition: naming it is not said to move anything.
    """
    rows = of_model(section.contrasts("over-baseline"), model)
    rows = rows.filter(pl.col("variant").is_null() | (pl.col("variant") == "with-names"))
    for row in rows.iter_rows(named=True):
        compared = {
            1: "clearly higher",
            -1: "clearly lower",
            0: "not clearly different",
        }[points(row)]
        if untested(row):
            compared = "not tested"
        change = verdict_first(row) + difference_said(row).replace("difference", "change", 1)
        yield (
            f"In {shortened(section)}, the female−male difference is {number(row['mean_second'])}. "
            f"In sentences that name {plain(row['group'])} {section.noun.many}, it is {compared} "
            f"({change})."
        )
    if rows.height:
        yield from _counted(section, model)
        yield (
            f"To leave out the {section.noun.one}, other words had to be left out too. Part of the "
            "change may be due to those words."
        )


def _counted(section: Section, model: str) -> Iterator[str]:
    """That sentences with and without a condition cannot be compared, where far less is counted."""
    none, some = (
        not_counted(section, model=model, group=group, variant="with-names")
        for group in (BASELINE, section.contrast)
    )
    if none is not None and some is not None and abs(none - some) > MOST_APART:
        yield (
            f"In the shortened sentences, {number(1 - none)} of the probability is counted, "
            f"compared with {number(1 - some)} in sentences that name {plain(section.contrast)} "
            f"{section.noun.many}. The differences with and without a named {section.noun.one} are "
            "therefore hardly comparable."
        )


def uncounted(section: Section, row: Row) -> Iterator[str]:
    """How much of the probability is counted for nobody, and how far that could move a headline.

    ``row``: of female against male in one group.
    """
    about = {"model": row["model"], "group": row["group"], "variant": row["variant"] or ""}
    rest = not_counted(section, **about)
    if not rest:
        return
    phrases = section.presentation.phrases
    yield (
        f"On average, {number(rest)} of the probability is on {section.presentation.uncounted}. "
        f"{_if_all(row, rest, 'they')}{_of_ends(section, row, rest) if phrases else ''}"
    )


def _if_all(row: Row, rest: float, which: str) -> str:
    """What the difference would be if so much named men, or women."""
    men, women = (number(row["difference"] + sign * rest) for sign in (-1, 1))
    return (
        f"If {which} all named men, the difference would be {men}. If {which} all named women, it "
        f"would be {women}."
    )


def _of_ends(section: Section, row: Row, rest: float) -> str:
    """What is known of these phrases: how many end in a word that names no gender."""
    about = {"model": row["model"], "group": row["group"], "variant": row["variant"] or ""}
    unseen = not_counted(section, **about, quantities=(UNSEEN_END,))
    if unseen is None:
        return ""
    return (
        f" Of this {number(rest)}, however, {number(rest - unseen)} is on phrases that end in a "
        "word without a gender, such as “person”. An earlier word could still name one (“female "
        "person”), but none of these phrases is counted. Of the other "
        f"{number(unseen)}, nothing is known. {_if_all(row, unseen, 'those')}"
    )

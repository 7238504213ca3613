"""What is said about people who are described: against daily troubles, and by gender."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import points
from goffman.presentation.findings import (
    finding,
    heading,
    of_model,
    tested_said,
    untested,
)
from goffman.presentation.findings_choices import presented_first
from goffman.presentation.findings_presented import answering_said
from goffman.presentation.findings_reference import above_reference
from goffman.presentation.findings_reliability import reliability
from goffman.presentation.numbers import difference_said, ends, number
from goffman.presentation.shown import plain
from goffman.stats.crossed import LEAST

if TYPE_CHECKING:
    from goffman.presentation.base import Finding
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]


def described_apart(section: Section) -> Iterator[Finding]:
    """Whether people described with one thing draw more stigma than those with the other."""
    for row in section.contrasts("groups").iter_rows(named=True):
        first, second = (_described(section, row, side) for side in ("first", "second"))
        head = heading(
            row,
            more=f"More stigma in {first} than in {second}",
            less=f"More stigma in {second} than in {first}",
            between=f"between {first} and {second}",
        )
        text = (
            f"The mean code of the questions about distance and violence to others is "
            f"{number(row['mean_first'])} in {first} and {number(row['mean_second'])} in {second}: "
            f"{difference_said(row)}.{_compared_with(section, row)}"
        )
        rest = [_counted(section, row), *_by_gender(section, row["model"])]
        also = " ".join(filter(None, rest))
        found = finding(row, head, text, _more(section, row), rest=also)
        yield presented_first(section, found)


def _counted(section: Section, row: Row) -> str:
    """How many descriptions are above the others' mean, and what that does not allow for."""
    said = above_reference(section, row["model"])
    if not said or len(_means(section, row, "second")) < LEAST:
        return said
    return (
        f"{said} These counts take the {section.noun.many} as they are; the verdict above also "
        "allows for others."
    )


def _described(section: Section, row: Row, side: str) -> str:
    """The descriptions of a side; where there is one, it is called so."""
    if len(_means(section, row, side)) == 1:
        return f"the one {plain(row[side])} {section.noun.one}"
    return f"{plain(row[side])} {section.noun.many}"


def _means(section: Section, row: Row, side: str) -> list[float]:
    """The mean code of each description of a side."""
    rows = of_model(section.rows("condition", "code"), row["model"])
    return rows.filter(pl.col("group") == row[side])["value"].drop_nulls().to_list()


def _compared_with(section: Section, row: Row) -> str:
    """Whether interval and p allow for others to compare with; how much these differ."""
    means, many = _means(section, row, "second"), section.noun.many
    which = f"{plain(row['second'])} {section.noun.one if len(means) == 1 else many}"
    if len(means) < LEAST:
        only = "is only one" if len(means) == 1 else f"are only {len(means)}"
        text = "that text" if len(means) == 1 else "these texts"
        return (
            f" There {only} {which}, so interval and p say nothing about others: part of the "
            f"difference may be due to {text}."
        )
    first = fmean(_means(section, row, "first"))
    low, high = first - max(means), first - min(means)
    span = number(low) if number(low) == number(high) else ends(low, high)
    return f" Compared with each of the {len(means)} {which} alone, the difference would be {span}."


def _by_gender(section: Section, model: str) -> Iterator[str]:
    """Whether a woman or a man with the same description draws more stigma."""
    for row in of_model(section.contrasts("genders"), model).iter_rows(named=True):
        way = {
            1: "is clearly higher about a woman than about a man",
            -1: "is clearly lower about a woman than about a man",
            0: "does not clearly differ between a woman and a man",
        }[points(row)]
        if untested(row):
            way = "could not be tested between a woman and a man"
        yield (
            f"With the same {plain(row['group'])} {section.noun.one}, the mean code {way} "
            f"({number(row['mean_first'])} and {number(row['mean_second'])}; "
            f"{difference_said(row)})."
        )


def _more(section: Section, row: Row) -> Iterator[str]:
    yield f"{tested_said(row, many=section.noun.many)}."
    yield from answering_said(section, row["model"])
    yield from reliability(section, row["model"])

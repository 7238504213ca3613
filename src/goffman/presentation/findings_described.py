"""What is said about a woman and a man who are described alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import points
from goffman.presentation.findings import (
    finding,
    heading,
    how_many_clear,
    of_model,
    tested_said,
    untested,
)
from goffman.presentation.findings_choices import presented_first
from goffman.presentation.findings_presented import answering_said
from goffman.presentation.findings_reliability import reliability
from goffman.presentation.numbers import difference_said, number
from goffman.presentation.shown import plain
from goffman.presentation.variance import variance_said

if TYPE_CHECKING:
    from goffman.presentation.base import Finding
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]


def women_and_men_described(section: Section) -> Iterator[Finding]:
    """Whether the same description draws more stigma of a woman or of a man."""
    rows = section.contrasts("genders").filter(
        pl.col("dimension").is_null(), pl.col("group") == section.contrast
    )
    for row in rows.iter_rows(named=True):
        about = f"{plain(row['group'])} {section.noun.many}"
        head = heading(
            row,
            more=f"With the same {about}, more stigma toward women than men",
            less=f"With the same {about}, more stigma toward men than women",
            between=f"between a woman and a man with the same {about}",
        )
        text = (
            f"The mean code is {number(row['mean_first'])} about a woman and "
            f"{number(row['mean_second'])} about a man in the same questions: "
            f"{difference_said(row)}."
        )
        rest = " ".join(_between_groups(section, row))
        found = finding(row, head, text, _more(section, row["model"]), rest=rest)
        yield presented_first(section, found)


def _between_groups(section: Section, row: Row) -> Iterator[str]:
    """Whether the difference is another one for the other group of conditions."""
    rows = of_model(section.contrasts("groups"), row["model"])
    for other in rows.filter(pl.col("dimension").is_null()).iter_rows(named=True):
        many = section.noun.many
        first, second = f"{plain(other['first'])} {many}", f"{plain(other['second'])} {many}"
        compared = {
            1: f"is clearly higher for {first} than for {second}",
            -1: f"is clearly lower for {first} than for {second}",
            0: f"does not clearly differ between {first} and {second}",
        }[points(other)]
        if untested(other):
            compared = f"could not be tested between {first} and {second}"
        yield f"Female minus male {compared} ({difference_said(other)})."


def _more(section: Section, model: str) -> Iterator[str]:
    rows, many = of_model(section.contrasts("genders"), model), section.noun.many
    for row in rows.filter(pl.col("dimension").is_null()).iter_rows(named=True):
        yield (
            f"For {plain(row['group'])} {many}, the mean code is {number(row['mean_first'])} about "
            f"a woman, {number(row['mean_second'])} about a man"
            f"{_unstated(section, model, row['group'])}: {difference_said(row)}; "
            f"{tested_said(row, many=many)}."
        )
    parts = rows.filter(pl.col("dimension").is_not_null())
    if parts.height:
        what = "subscales"
        if parts["group"].n_unique() > 1:
            what = "combinations of subscale and group"
        yield how_many_clear(parts, "women and men clearly differ in {}", what=what)
    yield from answering_said(section, model)
    yield from reliability(section, model)
    yield from variance_said(section, model)


def _unstated(section: Section, model: str, group: str) -> str:
    """The mean code about a person of no stated gender, where there was one."""
    rows = of_model(section.rows("group", "unstated"), model).filter(
        pl.col("wording").is_null(), pl.col("group") == group
    )
    said = [f", about a person of no stated gender {number(value)}" for value in rows["value"]]
    return "".join(said)

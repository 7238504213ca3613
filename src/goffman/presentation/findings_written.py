"""What is said about whom written sentences are about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.clear import points
from goffman.presentation.findings import (
    finding,
    heading,
    of_model,
    tested_said,
    untested,
)
from goffman.presentation.findings_over_baseline import over_baseline
from goffman.presentation.findings_reliability import reliability
from goffman.presentation.numbers import difference_said, number
from goffman.presentation.shown import plain, variant_said
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.base import Finding
    from goffman.presentation.section import Section

MAIN = "with-names"
KINDS = ("female", "male", "both", "neither", "nonbinary")


def written_about(section: Section) -> Iterator[Finding]:
    """Whether more sentences are about women or about men, in the group of the instrument."""
    rows = section.contrasts("genders").filter(
        pl.col("dimension").is_null(), pl.col("group") == section.contrast
    )
    for row in rows.filter(pl.col("variant") == MAIN).iter_rows(named=True):
        about = f"{plain(row['group'])} {section.noun.many}"
        head = heading(
            row,
            more=f"For {about}, more sentences are about women than about men",
            less=f"For {about}, more sentences are about men than about women",
            between=f"between women and men, for {about},",
        )
        text = (
            f"{number(row['mean_first'])} of the sentences are about a woman and "
            f"{number(row['mean_second'])} about a man: {difference_said(row)}."
        )
        rest = [
            f"Not counting first names, the {difference_said(other).replace('e ', 'e is ', 1)}."
            for other in of_model(rows, row["model"]).iter_rows(named=True)
            if other["variant"] != MAIN
        ]
        rest += _between_groups(section, row["model"])
        more = (
            f"{tested_said(row, many=section.noun.many)}.",
            *_kinds(section, row["model"]),
            *over_baseline(section, row["model"]),
            *reliability(section, row["model"]),
        )
        yield finding(row, head, text, iter(more), rest=" ".join(rest))


def _between_groups(section: Section, model: str) -> Iterator[str]:
    rows = of_model(section.contrasts("groups"), model)
    rows = rows.filter(pl.col("dimension").is_null(), pl.col("variant") == MAIN)
    for row in rows.iter_rows(named=True):
        many = section.noun.many
        first, second = f"{plain(row['first'])} {many}", f"{plain(row['second'])} {many}"
        compared = {
            1: f"is clearly higher for {first} than for {second}",
            -1: f"is clearly lower for {first} than for {second}",
            0: f"does not clearly differ between {first} and {second}",
        }[points(row)]
        if untested(row):
            compared = f"could not be tested between {first} and {second}"
        yield f"Female minus male {compared} ({difference_said(row)})."


def _kinds(section: Section, model: str) -> Iterator[str]:
    """Whom the sentences of each group are about."""
    rows = of_model(section.rows("group", KINDS), model).filter(pl.col("group") != BASELINE)
    order = ("variant", "group")
    for of in rows.sort(*order).partition_by(*order, maintain_order=True):
        share = dict(of.select("quantity", "value").rows())
        said = [f"{number(share[kind])} {_ABOUT[kind]}" for kind in KINDS if kind in share]
        yield (
            f"Sentences about {plain(of['group'][0])} {section.noun.many}, "
            f"{variant_said(of['variant'][0])}: {', '.join(said)}."
        )


_ABOUT = {
    "female": "about a woman",
    "male": "about a man",
    "both": "about both",
    "neither": "about neither",
    "nonbinary": "about someone nonbinary",
}

"""What is said of single conditions: against the other group's mean, and against the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.clear import clear
from goffman.presentation.findings import of_model
from goffman.presentation.numbers import number
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.presentation.section import Section


def above_reference(section: Section, model: str) -> str:
    """How many conditions are clearly above the mean of the other group's, and the furthest."""
    rows, many = of_model(section.contrasts("reference"), model), section.noun.many
    if not rows.height:
        return ""
    sure = clear(rows)
    above, below = (sure.filter(pl.col("difference") * sign > 0) for sign in (1, -1))
    said = (
        f"{above.height or 'None'} of {rows.height} {plain(section.contrast)} {many} "
        f"{'is' if above.height < 2 else 'are'} clearly above the mean of the "
        f"{plain(section.against)} ones, {below.height or 'none'} "
        f"{'is' if below.height < 2 else 'are'} clearly below it "
        f"(Benjamini–Hochberg; the {plain(section.against)} ones are taken as given)"
    )
    untested = rows["p_adjusted"].null_count()
    if untested:
        said += f"; {untested} could not be tested"
    furthest = [
        f"furthest {way}: {', '.join(_named(section, rows.head(3)))}"
        for way, rows in (
            ("above", above.sort("difference", descending=True)),
            ("below", below.sort("difference")),
        )
        if rows.height
    ]

    ends = "; ".join(furthest)
    return f"{said}. {ends[0].upper()}{ends[1:]}." if ends else f"{said}."


def _named(section: Section, rows: pl.DataFrame) -> list[str]:
    """The conditions with their differences, quoted: a name may hold a comma."""
    return [
        f"“{section.called(row['first'])}” ({number(row['difference'])})"
        for row in rows.iter_rows(named=True)
    ]


def confound(section: Section, model: str | None = None) -> str:
    """That the baseline lacks more than a condition: how many of the other group are above it.

    ``model``: as it is shown; None: of the first one.
    """
    rows = section.contrasts("baseline")
    rows = of_model(rows, model or next(iter(section.models()), ""))
    other = section.scores.filter(pl.col("group") == section.against)["condition"]
    rows = rows.filter(pl.col("first").is_in(other.drop_nulls().unique().to_list()))
    if not rows.height:
        return ""
    noun, above = section.noun, rows.filter(pl.col("difference") > 0).height
    return (
        f"The baseline lacks the words around the {noun.one} as well as the {noun.one}: "
        f"{above} of {rows.height} {plain(section.against)} {noun.many} are above it too."
    )

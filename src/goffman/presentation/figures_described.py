"""The figure of female minus male with intervals, of chosen options and of written sentences."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.presentation.base import Draw
from goffman.presentation.figure import (
    Figure,
    at,
    axis_x,
    axis_y,
    coloured,
    data,
    figure,
    interval,
    tip,
    view,
)
from goffman.presentation.figure_estimates import (
    ESTIMATE,
    band,
    dots,
    estimate_tip,
    marks_said,
    with_clear,
)
from goffman.presentation.section import Section
from goffman.presentation.shown import plain

WHOLE = "all parts"


def differences(*, title: str, what: str, right: str) -> Draw:
    """Female minus male in every subscale and group.

    ``what``: the mean that it is of; ``right``: what it means to be to the right of 0.
    """

    def drawn(section: Section) -> Iterator[Figure]:
        rows = section.contrasts("genders")
        # Without first names it stands in the tables: two marks in one place say nothing.
        rows = rows.filter(pl.col("variant").is_null() | (pl.col("variant") == "with-names"))
        if rows.height:
            yield _differences(section, rows, title=title, what=what, right=right)

    return drawn


def _differences(
    section: Section, rows: pl.DataFrame, *, title: str, what: str, right: str
) -> Figure:
    parts = {name: plain(name) for name in section.dimensions}
    sets = [plain(name) for name in section.groups()]
    rows = with_clear(rows).with_columns(
        part=pl.col("dimension").replace(parts).fill_null(WHOLE),
        set=pl.col("group").replace({name: plain(name) for name in section.groups()}),
    )
    names = [WHOLE, *(one for one in parts.values() if one in rows["part"].unique())]
    there = [one for one in sets if one in rows["set"].unique()]
    about = [
        *estimate_tip(("part", "Part"), ("set", section.noun.headed.many), called="Female − male"),
        *tip(("model", "Model")),
    ]
    offset = {"field": "set", "type": "nominal", "sort": there}
    return figure(
        section,
        "disparities",
        title=title,
        description=(
            f"{what}, with its 95% interval over items and {section.noun.many}. To the right of 0, "
            f"{right}. {marks_said(rows)}"
        ),
        spec=view(
            data(rows, "model", "part", "set", *ESTIMATE),
            [
                *band(rows),
                at(0, "zero"),
                *interval(rows, yOffset=offset, color=coloured("set", there)["color"]),
                *dots(about, size=52, colour=("set", there), yOffset=offset),
            ],
            height=len(names) * (12 * len(there) + 8),
            encoding={
                "y": axis_y("part", names),
                "x": axis_x("Female − male", field_="difference"),
            },
            rows="model",
            order=section.models(),
        ),
    )

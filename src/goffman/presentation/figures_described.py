"""The figure of a woman and a man in the same questions: female minus male, with intervals."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

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


def differences(section: Section) -> Iterator[Figure]:
    """Female minus male in every subscale and group."""
    rows = section.contrasts("genders")
    if not rows.height:
        return
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
    yield figure(
        section,
        "disparities",
        title="A woman and a man in the same questions",
        description=(
            "The mean code about a woman minus that about a man in the same questions, with its "
            f"95% interval over items and {section.noun.many}. To the right of 0, answers are more "
            f"stigmatizing about women. {marks_said(rows)}"
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

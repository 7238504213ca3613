"""The figure of what the presentation of a question does to its answers."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.presentation.figure import (
    Figure,
    at,
    axis_x,
    axis_y,
    data,
    figure,
    interval,
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

_ORDER = "order: stigmatizing option first"
_KEYING = "keying: agreeing means stigma"


def effects(section: Section) -> Iterator[Figure]:
    """For each model: what order, keying and every further wording do, with intervals."""
    rows = pl.concat([section.contrasts(kind) for kind in ("order", "keying", "wordings")])
    if not rows.height:
        return
    wording = pl.format("wording: {}", pl.col("first").map_elements(plain, pl.String))
    rows = with_clear(rows).with_columns(
        name=pl.when(pl.col("kind") == "order")
        .then(pl.lit(_ORDER))
        .when(pl.col("kind") == "keying")
        .then(pl.lit(_KEYING))
        .otherwise(wording)
    )
    names = rows["name"].unique(maintain_order=True).to_list()
    first = [f" Wordings are compared with “{plain(one)}”." for one in section.wordings[:1]]
    yield figure(
        section,
        "presentation",
        title="What the presentation alone does",
        description=(
            "For each model, the marks show how far the mean code moves when only the presentation "
            "of the same questions changes, with 95% intervals. “Order” is the mean with the most "
            "stigmatizing option first minus the mean with it last. “Keying” is the mean where "
            "agreeing shows more stigma minus the mean where it shows "
            f"less.{''.join(first)} For a model that responds only to the content, order and "
            f"keying are 0. {marks_said(rows)}"
        ),
        spec=view(
            data(rows, "model", "name", *ESTIMATE),
            [
                *band(rows),
                at(0, "zero"),
                *interval(rows),
                *dots(estimate_tip(("model", "Model"), ("name", "Effect")), size=60),
            ],
            height={"step": 24},
            encoding={
                "y": axis_y("name", names),
                "x": axis_x("Difference", field_="difference"),
            },
            rows="model",
            order=section.models(),
        ),
    )

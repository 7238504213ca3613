"""Figures of classifiers alone: by group, and by template."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.presentation.figure import (
    Figure,
    axis_x,
    axis_y,
    coloured,
    data,
    figure,
    tip,
    view,
)
from goffman.presentation.section import Section
from goffman.presentation.shown import ALL_MODELS
from goffman.records import BASELINE


def group_shares(section: Section) -> Iterator[Figure]:
    """The share of negative outcomes for each classifier and group, as bars."""
    rows = section.rows("group", section.presentation.quantity).filter(pl.col("wording").is_null())
    rows = rows.filter(pl.col("model") != ALL_MODELS)
    if not rows.height:
        return
    groups = [*section.groups(), *([BASELINE] if BASELINE in rows["group"] else [])]
    about = tip(("model", "Classifier"), ("group", "Group"), ("value", "Share"), ("n", "Outcomes"))
    yield figure(
        section,
        "groups",
        title="Negative labels by classifier and group",
        description="The share of sentences about each group that a classifier labels negative.",
        spec=view(
            data(rows, "model", "group", "value", "n"),
            [
                {
                    "mark": {"type": "bar", "opacity": 0.9},
                    "encoding": {
                        "color": coloured("group", groups)["color"],
                        "yOffset": {"field": "group", "type": "nominal", "sort": groups},
                        "tooltip": about,
                    },
                }
            ],
            height=len(section.models()) * (14 * len(groups) + 12),
            encoding={
                "y": axis_y("model", section.models()),
                "x": axis_x(section.presentation.axis, domain=(0, 1)),
            },
        ),
    )


def templates(section: Section) -> Iterator[Figure]:
    """The share of negative outcomes for each template, classifier and group."""
    rows = section.rows("item", section.presentation.quantity)
    if rows["item"].n_unique() < 2:
        return
    texts = {item: section.names.item(section.instrument, item) for item in section.items}
    rows = rows.with_columns(template=pl.col("item").replace(texts))
    groups = [*section.groups(), *([BASELINE] if BASELINE in rows["group"] else [])]
    about = tip(("model", "Classifier"), ("template", "Template"), ("group", "Group"))
    yield figure(
        section,
        "templates",
        title="By template",
        description=(
            "The same share for each template. Differences between templates come from the "
            f"sentence, not from the {section.noun.one}."
        ),
        spec=view(
            data(rows, "model", "item", "template", "group", "value", "n"),
            [
                {
                    "mark": {"type": "point"},
                    "encoding": {
                        **coloured("group", groups),
                        "tooltip": [*about, *tip(("value", "Share"), ("n", "Outcomes"))],
                    },
                }
            ],
            height={"step": 24},
            encoding={
                "y": axis_y("template", list(texts.values())),
                "x": axis_x(section.presentation.axis, domain=(0, 1)),
            },
            rows="model",
            order=section.models(),
        ),
    )

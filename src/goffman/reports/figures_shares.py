"""The figure of a model's shares beside people's: a point for each question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.presentation.figure import Figure, choice, chosen, data, figure, tip, view
from goffman.reports.labels import spaced
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.anchored import AnchoredModel
    from goffman.presentation.figure import Spec


_OF_MODEL: Spec = {
    "mark": {"type": "rule", "style": "interval", "tooltip": None},
    "transform": [{"filter": "isValid(datum.value_low)"}],
    "encoding": {
        "y": {"field": "value_low", "type": "quantitative"},
        "y2": {"field": "value_high"},
    },
}
"""A model's own interval."""


def shares(models: Sequence[AnchoredModel], *, part: str) -> Figure:
    """A scatter in which its reader chooses the person described and the model."""
    first = models[0]
    points = pl.concat([_points(one) for one in models])
    who = points["name"].unique(maintain_order=True).to_list()
    choices = (
        *choice("name", "About", who),
        *choice("model", "Model", [one.shown for one in models]),
    )
    drawn = bool(points["value_low"].count())
    columns = ("condition", "name", "model", "item", "people", "low", "high", "value", "label")
    of_model = ("value_low", "value_high") if drawn else ()
    spec = view(
        data(points, *columns, *of_model),
        _layers(drawn=drawn),
        height=420,
        transform=chosen(choices),
        encoding=_axes(first),
    )
    return figure(
        first.section,
        f"{part}-{first.anchor}",
        title=f"{first.section.instrument}: models and people, question by question",
        description=(
            "Each mark is one question, asked of the model about our own descriptions. Horizontal "
            "axis: the share of people, with its 95% interval. Vertical axis: the model’s share of "
            f"the same answers, {_of_model(points)}. On the dashed line both are equal; above it "
            "the model gives the answer more often than people. A mark off the line is not a "
            "finding in itself; the table says which differences are clear."
        ),
        spec=spec,
        choices=choices,
    )


def _of_model(points: pl.DataFrame) -> str:
    """Whether the model's shares have an interval."""
    known = points["value_low"].count()
    if known == points.height:
        return "with its own 95% interval, over replies"
    return "with its own 95% interval where it was read from replies" if known else "known exactly"


def _points(one: AnchoredModel) -> pl.DataFrame:
    rows = one.points.filter(pl.col("item").is_not_null()).sort("condition", "item")
    labels: list[str | None] = []
    for of in rows.partition_by("condition", maintain_order=True):
        people, model = of["people"].to_numpy(), of["value"].to_numpy()
        names = [one.item(name) for name in of["item"]]
        labels += spaced(people, model, np.abs(model - people), names)
    return rows.with_columns(
        pl.selectors.float().round_sig_figs(6),
        model=pl.lit(one.shown),
        name=pl.Series([one.called(name) for name in rows["condition"]], dtype=pl.String),
        item=pl.Series([one.item(name) for name in rows["item"]], dtype=pl.String),
        label=pl.Series(labels, dtype=pl.String),
    )


def _axes(one: AnchoredModel) -> Spec:
    share: Spec = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    unit = printable(one.about.unit)
    grid = {"minExtent": 30, "maxExtent": 60, "grid": True, "format": "%"}
    return {
        "x": {
            **share,
            "field": "people",
            "title": f"People: {unit}",
            "axis": {"format": "%"},
        },
        "y": {**share, "field": "value", "title": "Model: share of answers", "axis": grid},
    }


def _layers(*, drawn: bool) -> list[Spec]:
    """``drawn``: models have intervals too."""
    people = {"field": "people", "title": "People", "format": ".0%", "type": "quantitative"}
    model = {"field": "value", "title": "Model", "format": ".0%", "type": "quantitative"}
    text: Spec = {"type": "text", "style": "cell-label", "tooltip": None, "dy": -8}
    # On the right there is no room for what would follow a point.
    sides = (("left", "datum.people <= 0.6", 4), ("right", "datum.people > 0.6", -4))
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "style": "trend", "tooltip": None, "aria": False},
            "data": {"values": [{"people": 0, "value": 0}, {"people": 1, "value": 1}]},
        },
        {
            "mark": {"type": "rule", "style": "interval", "tooltip": None},
            "encoding": {
                "x": {"field": "low", "type": "quantitative"},
                "x2": {"field": "high"},
            },
        },
        *([_OF_MODEL] if drawn else []),
        {
            "mark": {"type": "point", "cursor": "pointer"},
            "encoding": {"tooltip": [*tip(("item", "Question"), ("name", "About")), people, model]},
        },
    ]
    for align, where, shift in sides:
        layers.append(
            {
                "mark": {**text, "align": align, "dx": shift},
                "transform": [{"filter": f"isValid(datum.label) && {where}"}],
                "encoding": {"text": {"field": "label", "type": "nominal"}},
            }
        )
    return layers

"""Figures of a model beside people: a point for each condition, and shares by question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.anchors.compare import DIFFERENCE
from goffman.console import printable
from goffman.formatting import tick
from goffman.presentation.vega import Figure, choice, chosen, data, figure, tip, view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.anchors.sentences import AnchoredModel
    from goffman.presentation.vega import Spec

if TYPE_CHECKING:
    Values = NDArray[np.float64]

MOST = 9
"""Points that are named."""

HIGH = 0.045
WIDE = 0.3
"""Of the height and the width of the points: the room that a name takes."""


def spaced(
    across: Values, up: Values, far: Values, names: Sequence[str], *, least: float = 0.0
) -> list[str | None]:
    """The names of the farthest points that there is room for; None: it is not written.

    ``far``: how far each is from a line; nearer than ``least`` none is named.
    """
    found: list[str | None] = [None] * len(names)
    width, height = (float(np.ptp(one)) or 1.0 for one in (across, up))
    taken: list[int] = []
    for at in np.argsort(-far, kind="stable").tolist():
        if far[at] < least or len(taken) == MOST:
            break
        near = (
            abs(up[at] - up[other]) < HIGH * height
            and abs(across[at] - across[other]) < WIDE * width
            for other in taken
        )
        if not any(near):
            taken.append(at)
            found[at] = names[at]
    return found


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
    points = pl.concat([_share_points(one) for one in models])
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
        _share_layers(drawn=drawn),
        height=420,
        transform=chosen(choices),
        encoding=_share_axes(first),
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
        return "with its own 95% interval, over texts about the same"
    some = "with its own 95% interval where there are three texts or more about the same"
    return some if known else "without an interval, for there are fewer than three texts about each"


def _share_points(one: AnchoredModel) -> pl.DataFrame:
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


def _share_axes(one: AnchoredModel) -> Spec:
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


def _share_layers(*, drawn: bool) -> list[Spec]:
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


PART = "beside-people"
"""In the id of each of these figures."""


def anchor_figures(found: Sequence[AnchoredModel]) -> Iterator[Figure]:
    """A scatter for each instrument and anchor, in which its reader chooses item and model."""
    by_both: dict[tuple[str, str], list[AnchoredModel]] = {}
    for one in found:
        if one.unmeasurable is None and (one.rows("anchor") or one.differences(DIFFERENCE)):
            by_both.setdefault((one.anchor, one.section.instrument), []).append(one)
    for models in by_both.values():
        of_shares = models[0].about.compare == "difference"
        yield shares(models, part=PART) if of_shares else _scatter(models)


def _scatter(models: Sequence[AnchoredModel]) -> Figure:
    first = models[0]
    # The strongest relation is shown at first.
    items = [first.item(row["dimension"]) for row in first.rows("anchor")]
    points = pl.concat([_points(one, name) for one in models for name in one.about.items])
    choices = (
        *choice("item", "Beside", items),
        *choice("model", "Model", [one.shown for one in models]),
    )
    spec = view(
        data(points, "condition", "name", "category", "model", "item", "people", "value", "label"),
        _layers(first),
        height=420,
        transform=chosen(choices),
        encoding=_axes(first),
    )
    conditions = first.about.point == "condition"
    drawn = figure(
        first.section,
        f"{PART}-{first.anchor}",
        title=(
            f"{first.section.instrument}: models and {printable(first.about.whose)}, {first.one} "
            f"by {first.one}"
        ),
        description=_described(first),
        spec=spec,
        choices=choices,
    )
    # Behind an occupation lie sentences of many settings, not one.
    return drawn if conditions else replace(drawn, instrument=None)


def _described(one: AnchoredModel) -> str:
    return (
        f"Each mark is one of {one.rows('anchor')[0]['n']} {one.many}. Horizontal axis: "
        f"{printable(one.about.whose)} ({printable(one.about.unit)}). Vertical axis: the model’s "
        f"{one.quantity}. The dashed line is the least-squares fit. Some points far from the "
        "line are named. Being far from it is not a finding in itself."
    )


def _points(one: AnchoredModel, item: str) -> pl.DataFrame:
    """The points of one item, with a label for those that are named."""
    rows = one.points.filter(pl.col("item") == item).sort("condition")
    names = [one.called(name) for name in rows["condition"]]
    labels = _labels(rows["people"].to_numpy(), rows["value"].to_numpy(), names)
    return rows.with_columns(
        pl.selectors.float().round_sig_figs(6),
        model=pl.lit(one.shown),
        item=pl.lit(one.item(item)),
        name=pl.Series(names, dtype=pl.String),
        label=pl.Series(labels, dtype=pl.String),
        category=pl.col("category").fill_null(""),
    )


def _labels(across: Values, up: Values, names: Sequence[str]) -> list[str | None]:
    """Names of points that are farther from the line than most."""
    if len(names) < 3 or np.ptp(across) == 0:
        return [None] * len(names)
    slope, start = np.polyfit(across, up, 1)
    far = np.abs(up - start - slope * across)
    return spaced(across, up, far, names, least=float(np.sqrt((far**2).mean())))


def _axes(one: AnchoredModel) -> Spec:
    unit = printable(one.about.unit)
    bounds = (one.about.lowest, one.about.highest)
    scale: Spec = {"zero": False, "nice": True}
    if bounds[0] is not None and bounds[1] is not None:
        scale = {"domain": list(bounds)}
        unit = f"{unit}, {tick(bounds[0], 0.1)} to {tick(bounds[1], 1)}"
    return {
        "x": {
            "field": "people",
            "type": "quantitative",
            "title": f"{_whose(one)}: {unit}",
            "scale": scale,
        },
        "y": {
            "field": "value",
            "type": "quantitative",
            "title": f"Model: {one.quantity}",
            "scale": {"zero": False, "nice": True},
            "axis": {"minExtent": 30, "maxExtent": 60, "grid": True},
        },
    }


def _layers(one: AnchoredModel) -> list[Spec]:
    about = tip(("name", one.one.capitalize()), ("category", "Category"), ("value", "Model"))
    people = {"field": "people", "title": _whose(one), "format": ".3~g", "type": "quantitative"}
    text: Spec = {"type": "text", "style": "cell-label", "tooltip": None, "dy": -7, "clip": False}
    middle = _middle(one)
    sides = (
        ("left", f"datum.people <= {middle}", 4),
        ("right", f"datum.people > {middle}", -4),
    )
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "style": "trend", "clip": True, "tooltip": None},
            "transform": [{"regression": "value", "on": "people"}],
        },
        {
            "mark": {"type": "point", "cursor": "pointer"},
            "encoding": {"tooltip": [*about, people]},
        },
    ]
    for align, where, shift in sides:
        # No filter: of a side without a name, Vega would warn that it has no values.
        label = {"test": f"isValid(datum.label) && {where}", "field": "label", "type": "nominal"}
        layers.append(
            {
                "mark": {**text, "align": align, "dx": shift},
                "encoding": {"text": {"condition": label, "value": ""}},
            }
        )
    return layers


def _whose(one: AnchoredModel) -> str:
    return printable(one.about.whose).capitalize()


def _middle(one: AnchoredModel) -> float:
    """From here on a name stands to the left of its point."""
    low, high = one.about.lowest, one.about.highest
    if low is None or high is None:
        people = one.points["people"].drop_nulls()
        low, high = float(people.min()), float(people.max())  # type: ignore[arg-type]
    return round((low + high) / 2, 6)

"""Figures of a model compared with people: a point for each condition, and shares by question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.anchors.compare import DIFFERENCE
from goffman.anchors.sentences import describe_anchor
from goffman.console import printable
from goffman.formatting import tick
from goffman.presentation.vega import Figure, choice, chosen, data, figure, tip, view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.anchors.sentences import AnchoredModel
    from goffman.presentation.vega import Choice, Spec

    Values = NDArray[np.float64]

MOST = 9
"""The largest number of points that are named."""

HIGH = 0.045
WIDE = 0.3
"""Shares of the height and the width of the points: the room that a name takes."""


PART = "beside-people"
"""A part of the id of each of these figures."""


def anchor_figures(results: Sequence[AnchoredModel]) -> Iterator[Figure]:
    """Yield a scatter for each instrument and anchor; its reader chooses item and model."""
    by_both: dict[tuple[str, str], list[AnchoredModel]] = {}
    for anchored in results:
        if anchored.unmeasurable is None and (
            anchored.rows("anchor") or anchored.differences(DIFFERENCE)
        ):
            by_both.setdefault((anchored.anchor, anchored.section.instrument), []).append(anchored)
    for models in by_both.values():
        yield _shares(models) if models[0].about.compare == "difference" else _profile(models)


def spaced(
    across: Values, up: Values, far: Values, names: Sequence[str], *, least: float = 0.0
) -> list[str | None]:
    """Return the names of the farthest points that have room for one; None: it is not written.

    ``far``: how far each point is from a line; points nearer than ``least`` are not named.
    """
    labels: list[str | None] = [None] * len(names)
    width, height = (float(np.ptp(values)) or 1.0 for values in (across, up))
    named_points: list[int] = []
    for position in np.argsort(-far, kind="stable").tolist():
        if far[position] < least or len(named_points) == MOST:
            break
        overlaps = (
            abs(up[position] - up[neighbor]) < HIGH * height
            and abs(across[position] - across[neighbor]) < WIDE * width
            for neighbor in named_points
        )
        if not any(overlaps):
            named_points.append(position)
            labels[position] = names[position]
    return labels


def _named(
    rows: pl.DataFrame, anchored: AnchoredModel, labels: Sequence[str | None]
) -> pl.DataFrame:
    """Return the points with shown names, and with labels where these are not None."""
    return rows.with_columns(
        pl.selectors.float().round_sig_figs(6),
        model=pl.lit(anchored.shown),
        name=pl.Series(map(anchored.called, rows["condition"]), dtype=pl.String),
        item=pl.Series(map(anchored.item, rows["item"]), dtype=pl.String),
        label=pl.Series(labels, dtype=pl.String),
    )


def _drawn(
    models: Sequence[AnchoredModel],
    values: list[Spec],
    layers: Sequence[Spec],
    axes: Spec,
    choices: Sequence[Choice],
    *,
    title: str,
    description: str,
) -> Figure:
    first = models[0]
    spec = view(values, layers, height=420, transform=chosen(choices), encoding=axes)
    return figure(
        first.section,
        f"{PART}-{first.anchor}",
        title=describe_anchor(first).head if len(models) == 1 else f"Models and {title}",
        description=description,
        spec=spec,
        choices=choices,
    )


def _shares(models: Sequence[AnchoredModel]) -> Figure:
    """Return a scatter in which the reader chooses the person described and the model."""
    first = models[0]
    points = pl.concat([_share_points(anchored) for anchored in models])
    people_described = points["name"].unique(maintain_order=True).to_list()
    choices = (
        *choice("name", "About", people_described),
        *choice("model", "Model", [anchored.shown for anchored in models]),
    )
    columns = ["condition", "name", "model", "item", "people", "low", "high", "value", "label"]
    layers, scope = _share_layers(), ""
    if points["value_low"].count():
        columns += ["value_low", "value_high"]
        has_interval = [{"filter": "isValid(datum.value_low)"}]
        layers.insert(2, _interval("y", "value_low", "value_high", transform=has_interval))
    else:
        scope = " of people alone, for there are fewer than three texts about each"
    share: Spec = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    unit, grid = f"People: {printable(first.about.unit)}", {**_GRID, "format": "%"}
    axes: Spec = {
        "x": {**share, "field": "people", "title": unit, "axis": {"format": "%"}},
        "y": {**share, "field": "value", "title": "Model: share of answers", "axis": grid},
    }
    return _drawn(
        models,
        data(points, *columns),
        layers,
        axes,
        choices,
        title="people, question by question",
        description=(
            f"Each mark is one question. Lines: 95% intervals{scope}. Dashed: people and model "
            "agree. The table says which differences are clear."
        ),
    )


def _share_points(anchored: AnchoredModel) -> pl.DataFrame:
    rows = anchored.points.drop_nulls("item").sort("condition", "item")
    labels: list[str | None] = []
    for condition_rows in rows.partition_by("condition", maintain_order=True):
        people, model = condition_rows["people"].to_numpy(), condition_rows["value"].to_numpy()
        names = [anchored.item(item) for item in condition_rows["item"]]
        labels += spaced(people, model, np.abs(model - people), names)
    return _named(rows, anchored, labels)


_GRID: Spec = {"minExtent": 30, "maxExtent": 60, "grid": True}


def _interval(axis: str, low: str, high: str, **more: Any) -> Spec:
    return {
        "mark": {"type": "rule", "style": "interval", "tooltip": None},
        **more,
        "encoding": {
            axis: {"field": low, "type": "quantitative"},
            f"{axis}2": {"field": high},
        },
    }


def _point(*tooltip: Spec) -> Spec:
    return {
        "mark": {"type": "point", "cursor": "pointer"},
        "encoding": {"tooltip": list(tooltip)},
    }


def _labels(middle: float, text: Spec) -> Iterator[tuple[Spec, str]]:
    """Yield the mark of names to the right and the left of their points, and the points' filter."""
    # Right of the middle, a label is put before its point, for lack of room after it.
    for align, sign, shift in (("left", "<=", 4), ("right", ">", -4)):
        mark: Spec = {"type": "text", "style": "cell-label", "tooltip": None, **text}
        expression = f"isValid(datum.label) && datum.people {sign} {middle}"
        yield {**mark, "align": align, "dx": shift}, expression


def _share_layers() -> list[Spec]:
    people = {"field": "people", "title": "People", "format": ".0%", "type": "quantitative"}
    model = {"field": "value", "title": "Model", "format": ".0%", "type": "quantitative"}
    equal: Spec = {
        "mark": {"type": "line", "style": "trend", "tooltip": None, "aria": False},
        "data": {"values": [{"people": 0, "value": 0}, {"people": 1, "value": 1}]},
    }
    text = {"text": {"field": "label", "type": "nominal"}}
    names = [
        {"mark": mark, "transform": [{"filter": expression}], "encoding": text}
        for mark, expression in _labels(0.6, {"dy": -8})
    ]
    points = _point(*tip(("item", "Question"), ("name", "About")), people, model)
    return [equal, _interval("x", "low", "high"), points, *names]


def _profile(models: Sequence[AnchoredModel]) -> Figure:
    first = models[0]
    correlations = first.rows("anchor")
    points = pl.concat(
        [_points(anchored, item) for anchored in models for item in anchored.about.items]
    )
    choices = (
        # The strongest relation is shown at first.
        *choice("item", "With", [first.item(row["dimension"]) for row in correlations]),
        *choice("model", "Model", [anchored.shown for anchored in models]),
    )
    columns = ("condition", "name", "category", "model", "item", "people", "value", "label")
    owner, unit = printable(first.about.whose), printable(first.about.unit)
    low, high = first.about.lowest, first.about.highest
    scale: Spec = {"zero": False, "nice": True}
    people_scale = scale
    if low is not None and high is not None:
        people_scale = {"domain": [low, high]}
        unit = f"{unit}, {tick(low, 0.1)} to {tick(high, 1)}"
    x: Spec = {"field": "people", "type": "quantitative", "scale": people_scale}
    y: Spec = {"field": "value", "type": "quantitative", "scale": scale, "axis": _GRID}
    axes: Spec = {
        "x": {**x, "title": f"{_whose(first)}: {unit}"},
        "y": {**y, "title": f"Model: {first.quantity}"},
    }
    scatter = _drawn(
        models,
        data(points, *columns),
        _layers(first),
        axes,
        choices,
        title=f"{owner}, {first.one} by {first.one}",
        description=(
            f"Each mark is one of {correlations[0]['n']} {first.many}. Dashed: the least-squares "
            "fit. Some marks far from it are named; that is no finding in itself."
        ),
    )
    # An occupation's number is from sentences of many settings, so points lead to no evidence.
    return scatter if first.about.point == "condition" else replace(scatter, instrument=None)


def _points(anchored: AnchoredModel, item: str) -> pl.DataFrame:
    """Return the points of one item; those farther from the line than most may be named."""
    rows = anchored.points.filter(item=item).sort("condition")
    people_values, model_values = rows["people"].to_numpy(), rows["value"].to_numpy()
    labels: list[str | None] = [None] * len(model_values)
    if len(model_values) >= 3 and np.ptp(people_values) != 0:
        slope, intercept = np.polyfit(people_values, model_values, 1)
        distances = np.abs(model_values - intercept - slope * people_values)
        names = [anchored.called(condition) for condition in rows["condition"]]
        labels = spaced(
            people_values,
            model_values,
            distances,
            names,
            least=float(np.sqrt((distances**2).mean())),
        )
    return _named(rows, anchored, labels).with_columns(pl.col("category").fill_null(""))


def _whose(anchored: AnchoredModel) -> str:
    return printable(anchored.about.whose).capitalize()


def _layers(anchored: AnchoredModel) -> list[Spec]:
    noun, whose = anchored.one.capitalize(), _whose(anchored)
    tooltips = tip(("name", noun), ("category", "Category"), ("value", "Model"))
    people = {"field": "people", "title": whose, "format": ".3~g", "type": "quantitative"}
    low, high = anchored.about.lowest, anchored.about.highest
    if low is None or high is None:
        values = anchored.points["people"].drop_nulls().to_numpy()
        low, high = float(values.min()), float(values.max())
    fit: Spec = {
        "mark": {"type": "line", "style": "trend", "clip": True, "tooltip": None},
        "transform": [{"regression": "value", "on": "people"}],
    }
    names = []
    for mark, expression in _labels(round((low + high) / 2, 6), {"dy": -7, "clip": False}):
        # No filter: of a side without a name, Vega would warn that it has no values.
        label = {"test": expression, "field": "label", "type": "nominal"}
        text = {"text": {"condition": label, "value": ""}}
        names.append({"mark": mark, "encoding": text})
    return [fit, _point(*tooltips, people), *names]

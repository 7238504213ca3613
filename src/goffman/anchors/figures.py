"""Figures of a model beside people: a point for each condition, and shares by question."""

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
"""Points that are named."""

HIGH = 0.045
WIDE = 0.3
"""Of the height and the width of the points: the room that a name takes."""


PART = "beside-people"
"""In the id of each of these figures."""


def anchor_figures(found: Sequence[AnchoredModel]) -> Iterator[Figure]:
    """A scatter for each instrument and anchor, in which its reader chooses item and model."""
    by_both: dict[tuple[str, str], list[AnchoredModel]] = {}
    for one in found:
        if one.unmeasurable is None and (one.rows("anchor") or one.differences(DIFFERENCE)):
            by_both.setdefault((one.anchor, one.section.instrument), []).append(one)
    for models in by_both.values():
        yield _shares(models) if models[0].about.compare == "difference" else _profile(models)


def spaced(
    across: Values, up: Values, far: Values, names: Sequence[str], *, least: float = 0.0
) -> list[str | None]:
    """The names of the farthest points that there is room for; None: it is not written.

    ``far``: how far each is from a line; nearer than ``least`` none is named.
    """
    labels: list[str | None] = [None] * len(names)
    width, height = (float(np.ptp(values)) or 1.0 for values in (across, up))
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
            labels[at] = names[at]
    return labels


def _named(rows: pl.DataFrame, one: AnchoredModel, labels: Sequence[str | None]) -> pl.DataFrame:
    """The points as they are shown, with a label for those that are named."""
    return rows.with_columns(
        pl.selectors.float().round_sig_figs(6),
        model=pl.lit(one.shown),
        name=pl.Series([one.called(name) for name in rows["condition"]], dtype=pl.String),
        item=pl.Series([one.item(name) for name in rows["item"]], dtype=pl.String),
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
    """The figure of its data, layers and axes."""
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
    """A scatter in which its reader chooses the person described and the model."""
    first = models[0]
    points = pl.concat([_share_points(one) for one in models])
    who = points["name"].unique(maintain_order=True).to_list()
    choices = (
        *choice("name", "About", who),
        *choice("model", "Model", [one.shown for one in models]),
    )
    known = points["value_low"].count()
    columns = ("condition", "name", "model", "item", "people", "low", "high", "value", "label")
    of_model = ("value_low", "value_high") if known else ()
    sure = "" if known else " of people alone, for there are fewer than three texts about each"
    share: Spec = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    unit, grid = f"People: {printable(first.about.unit)}", {**_GRID, "format": "%"}
    axes: Spec = {
        "x": {**share, "field": "people", "title": unit, "axis": {"format": "%"}},
        "y": {**share, "field": "value", "title": "Model: share of answers", "axis": grid},
    }
    return _drawn(
        models,
        data(points, *columns, *of_model),
        _share_layers(drawn=bool(known)),
        axes,
        choices,
        title="people, question by question",
        description=(
            f"Each mark is one question. Lines: 95% intervals{sure}. Dashed: people and model "
            "agree. The table says which differences are clear."
        ),
    )


def _share_points(one: AnchoredModel) -> pl.DataFrame:
    rows = one.points.filter(pl.col("item").is_not_null()).sort("condition", "item")
    labels: list[str | None] = []
    for of in rows.partition_by("condition", maintain_order=True):
        people, model = of["people"].to_numpy(), of["value"].to_numpy()
        names = [one.item(name) for name in of["item"]]
        labels += spaced(people, model, np.abs(model - people), names)
    return _named(rows, one, labels)


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
    # Right of the middle there is no room for what would follow a point.
    for align, sign, shift in (("left", "<=", 4), ("right", ">", -4)):
        mark: Spec = {"type": "text", "style": "cell-label", "tooltip": None, **text}
        where = f"isValid(datum.label) && datum.people {sign} {middle}"
        yield {**mark, "align": align, "dx": shift}, where


def _share_layers(*, drawn: bool) -> list[Spec]:
    """``drawn``: models have intervals too."""
    people = {"field": "people", "title": "People", "format": ".0%", "type": "quantitative"}
    model = {"field": "value", "title": "Model", "format": ".0%", "type": "quantitative"}
    equal: Spec = {
        "mark": {"type": "line", "style": "trend", "tooltip": None, "aria": False},
        "data": {"values": [{"people": 0, "value": 0}, {"people": 1, "value": 1}]},
    }
    known = [{"filter": "isValid(datum.value_low)"}]
    of_model = _interval("y", "value_low", "value_high", transform=known)
    names = [
        {
            "mark": mark,
            "transform": [{"filter": where}],
            "encoding": {"text": {"field": "label", "type": "nominal"}},
        }
        for mark, where in _labels(0.6, {"dy": -8})
    ]
    points = _point(*tip(("item", "Question"), ("name", "About")), people, model)
    return [equal, _interval("x", "low", "high"), *([of_model] if drawn else []), points, *names]


def _profile(models: Sequence[AnchoredModel]) -> Figure:
    """A scatter of conditions, or occupations."""
    first = models[0]
    correlations = first.rows("anchor")
    points = pl.concat([_points(one, name) for one in models for name in one.about.items])
    choices = (
        # The strongest relation is shown at first.
        *choice("item", "With", [first.item(row["dimension"]) for row in correlations]),
        *choice("model", "Model", [one.shown for one in models]),
    )
    columns = ("condition", "name", "category", "model", "item", "people", "value", "label")
    whose = printable(first.about.whose)
    drawn = _drawn(
        models,
        data(points, *columns),
        _layers(first),
        _axes(first),
        choices,
        title=f"{whose}, {first.one} by {first.one}",
        description=(
            f"Each mark is one of {correlations[0]['n']} {first.many}. Dashed: the least-squares "
            "fit. Some marks far from it are named; that is no finding in itself."
        ),
    )
    # Behind an occupation lie sentences of many settings, not one.
    return drawn if first.about.point == "condition" else replace(drawn, instrument=None)


def _points(one: AnchoredModel, item: str) -> pl.DataFrame:
    """The points of one item; those that are farther from the line than most may be named."""
    rows = one.points.filter(pl.col("item") == item).sort("condition")
    across, up = rows["people"].to_numpy(), rows["value"].to_numpy()
    labels: list[str | None] = [None] * len(up)
    if len(up) >= 3 and np.ptp(across) != 0:
        slope, start = np.polyfit(across, up, 1)
        far = np.abs(up - start - slope * across)
        names = [one.called(name) for name in rows["condition"]]
        labels = spaced(across, up, far, names, least=float(np.sqrt((far**2).mean())))
    return _named(rows, one, labels).with_columns(pl.col("category").fill_null(""))


def _axes(one: AnchoredModel) -> Spec:
    unit = printable(one.about.unit)
    low, high = one.about.lowest, one.about.highest
    scale: Spec = {"zero": False, "nice": True}
    of_people = scale
    if low is not None and high is not None:
        of_people = {"domain": [low, high]}
        unit = f"{unit}, {tick(low, 0.1)} to {tick(high, 1)}"
    across: Spec = {"field": "people", "type": "quantitative"}
    up: Spec = {"field": "value", "type": "quantitative"}
    return {
        "x": {**across, "title": f"{_whose(one)}: {unit}", "scale": of_people},
        "y": {**up, "title": f"Model: {one.quantity}", "scale": scale, "axis": _GRID},
    }


def _whose(one: AnchoredModel) -> str:
    return printable(one.about.whose).capitalize()


def _layers(one: AnchoredModel) -> list[Spec]:
    about = tip(("name", one.one.capitalize()), ("category", "Category"), ("value", "Model"))
    people = {"field": "people", "title": _whose(one), "format": ".3~g", "type": "quantitative"}
    low, high = one.about.lowest, one.about.highest
    if low is None or high is None:
        values = one.points["people"].drop_nulls().to_numpy()
        low, high = float(values.min()), float(values.max())
    fit: Spec = {
        "mark": {"type": "line", "style": "trend", "clip": True, "tooltip": None},
        "transform": [{"regression": "value", "on": "people"}],
    }
    names = []
    for mark, where in _labels(round((low + high) / 2, 6), {"dy": -7, "clip": False}):
        # No filter: of a side without a name, Vega would warn that it has no values.
        label = {"test": where, "field": "label", "type": "nominal"}
        text = {"text": {"condition": label, "value": ""}}
        names.append({"mark": mark, "encoding": text})
    return [fit, _point(*about, people), *names]

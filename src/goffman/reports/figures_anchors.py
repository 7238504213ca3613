"""The figure of a model beside what people said: a point for each condition, the far ones named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.estimates.against_people import DIFFERENCE
from goffman.presentation.figure import Figure, choice, chosen, data, figure, tip, view
from goffman.presentation.numbers import tick
from goffman.reports.figures_shares import shares
from goffman.reports.labels import spaced
from goffman.terminal import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.presentation.anchored import AnchoredModel
    from goffman.presentation.figure import Spec

    Values = NDArray[np.float64]

PART = "beside-people"
"""In the id of each of these figures."""


def beside_people(found: Sequence[AnchoredModel]) -> Iterator[Figure]:
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

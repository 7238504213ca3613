"""The figure of two measures together, condition by condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from goffman.records import BASELINE
from goffman.reports.figure import Figure, Part, axis_x, coloured, data, figure, tip, view
from goffman.reports.figures_conditions import SHARE
from goffman.reports.stands_out import correlations


def together(
    scores: pl.DataFrame, estimates: pl.DataFrame, parts: Mapping[str, Part]
) -> Iterator[Figure]:
    """Of each correlation of two measures the conditions as points."""
    rows = [row for row in correlations(estimates) if row["effect"] is not None]
    for number, row in enumerate(rows, start=1):
        sides = [_side(str(row[name]), parts) for name in ("first", "second")]
        if any(side is None for side in sides):
            continue
        (one, first), (other, second) = (side for side in sides if side is not None)
        points = _pairs(scores, (one.instrument, first), (other.instrument, second))
        points = one.named(points).with_columns(pl.selectors.float().round_sig_figs(6))
        if points.height:
            suffix = f"-{number}" if len(rows) > 1 else ""
            yield _scatter(points, row, (one, other), name=f"measures-together{suffix}")


def _side(text: str, parts: Mapping[str, Part]) -> tuple[Part, str | None] | None:
    """The part and the model that one side of a correlation is about."""
    measure, _, model = text.partition(" of ")
    name, _, instrument = measure.partition(" by ")
    for part in parts.values():
        if part.measure == name and instrument in {"", part.instrument}:
            return part, model or None
    return None


def _pairs(
    scores: pl.DataFrame, first: tuple[str, str | None], second: tuple[str, str | None]
) -> pl.DataFrame:
    sides = [
        scores.filter(
            pl.col("level") == "condition",
            pl.col("quantity") == "negative",
            pl.col("condition") != BASELINE,
            pl.col("instrument") == instrument,
            pl.col("model").eq_missing(pl.lit(model)),
            pl.col("value").is_not_null(),
        )
        for instrument, model in (first, second)
    ]
    return sides[0].join(sides[1].select("condition", other="value"), on="condition")


def _scatter(
    points: pl.DataFrame, row: Mapping[str, object], sides: Sequence[Part], *, name: str
) -> Figure:
    r, low, high, n = (row[key] for key in ("effect", "effect_low", "effect_high", "n"))
    ends = f", 95% interval {low:.2f} to {high:.2f}" if low is not None else ""
    said = f"{row['effect_name']} = {r:.2f}{ends}, over {n} conditions"
    about = tip(("name", "Condition"), ("group", "Group"), ("value", "Words"))
    one, other = sides
    spec = view(
        data(points, "condition", "name", "group", "category", "value", "other"),
        [
            {
                "mark": {"type": "line", "style": "trend", "clip": True, "tooltip": None},
                "transform": [{"regression": "other", "on": "value"}],
            },
            {
                "mark": {"type": "point", "cursor": "pointer"},
                "encoding": {
                    **coloured("group", one.groups()),
                    "tooltip": [*about, *tip(("other", "Outcomes"))],
                },
            },
        ],
        height=360,
        encoding={
            "x": axis_x(SHARE[one.measure]),
            "y": axis_x(SHARE[other.measure], domain=(0, 1), field_="other")
            | {"axis": {"minExtent": 30, "maxExtent": 60, "grid": True}},
        },
    )
    spec["title"] = {"text": said, "fontWeight": "normal"}
    return figure(
        one,
        name,
        title="Words and labels, condition by condition",
        description=(
            "Each mark is a condition: across, how negative the words are that masked models fill; "
            f"up, how often classifiers call sentences about it negative. {said}. The dashed line "
            "is the least-squares line."
        ),
        spec=spec,
    )

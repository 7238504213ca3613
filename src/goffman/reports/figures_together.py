"""The figure of two measures together, condition by condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from goffman.presentation.figure import Figure, axis_x, coloured, data, figure, tip, view
from goffman.presentation.numbers import ends, number
from goffman.presentation.section import Section

if TYPE_CHECKING:
    from goffman.correlations import Correlation


def together(
    scores: pl.DataFrame, found: Sequence[Correlation], sections: Mapping[str, Section]
) -> Iterator[Figure]:
    """For each correlation of two measures: the conditions as points."""
    drawn = [one for one in found if one.row["effect"] is not None and not one.unmeasurable]
    for place, one in enumerate(drawn, start=1):
        across, up = (side.values(scores) for side in (one.first, one.second))
        points = across.join(up.select("condition", other="value"), on="condition").filter(
            pl.col("value").is_not_null(), pl.col("other").is_not_null()
        )
        parts = sections[one.first.instrument], sections[one.second.instrument]
        points = parts[0].named(points).with_columns(pl.selectors.float().round_sig_figs(6))
        if points.height:
            suffix = f"-{place}" if len(drawn) > 1 else ""
            yield _scatter(points, one, parts, name=f"measures-together{suffix}")


def _scatter(
    points: pl.DataFrame, found: Correlation, sides: Sequence[Section], *, name: str
) -> Figure:
    row = found.row
    low, high = row["effect_low"], row["effect_high"]
    interval = f", 95% interval {ends(low, high)}" if low is not None else ""
    r = number(row["effect"])
    one, other = sides
    upward, labels = (
        other.presentation.axis,
        "how often the classifier labels sentences about the condition as",
    )
    if found.second.finer:
        upward = "Probability of the label “negative”"
        labels = "the probability that the classifier labels sentences about the condition as"
    said = f"{row['effect_name']} = {r}{interval}, over {row['n']} {one.noun.many}"
    about = tip(("name", one.noun.headed.one), ("group", "Group"), ("value", "Words"))
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
            "x": axis_x(one.presentation.axis),
            "y": axis_x(upward, domain=(0, 1), field_="other")
            | {"axis": {"minExtent": 30, "maxExtent": 60, "grid": True}},
        },
    )
    spec["title"] = {"text": said, "fontWeight": "normal"}
    return figure(
        one,
        name,
        title=f"Words and labels, {one.noun.one} by {one.noun.one}",
        description=(
            f"Each mark is one {one.noun.one}. Horizontal axis: the negativity of the words "
            f"that masked models fill in. Vertical axis: {labels} negative. {said}; the interval "
            f"covers other {one.noun.many}, not other sentences. The dashed line is the "
            "least-squares fit."
        ),
        spec=spec,
    )

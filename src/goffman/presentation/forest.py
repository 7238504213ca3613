"""Estimates in figures: marks filled if clear, else hollow, over the band of small differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goffman.contrasts.verdict import PRESENT_WORDS, direction
from goffman.formatting import tick, verdict_shown
from goffman.presentation.vega import Spec, at, coloured, interval, through, tip

if TYPE_CHECKING:
    from goffman.presentation.section import Finding


ESTIMATE = ("difference", "low", "high", "p_adjusted", "clear", "verdict")
"""The columns of an estimate in the data of a figure; ``with_clear`` adds the column clear."""


def with_clear(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates with ``clear``, yes or no, and verdicts as people read them."""
    clear = ["yes" if direction(row) else "no" for row in rows.iter_rows(named=True)]
    verdicts = [verdict_shown(row) or None for row in rows.iter_rows(named=True)]
    return rows.with_columns(
        clear=pl.Series(clear, dtype=pl.String), verdict=pl.Series(verdicts, dtype=pl.String)
    )


def estimate_tip(*first: tuple[str, str], called: str = "Difference") -> list[Spec]:
    """Return what is shown of an estimate under the pointer; ``first``: the fields that name it."""
    return tip(
        *first,
        ("verdict", "Verdict"),
        ("difference", called),
        ("low", "Interval from"),
        ("high", "to"),
    )


def dots(
    about: list[Spec],
    *,
    size: int,
    colour: tuple[str, Sequence[str]] | None = None,
    leads: bool = False,
    **encoding: Spec,
) -> list[Spec]:
    """Return a mark for each estimate; ``colour``: by which field; ``leads``: to evidence."""
    filled = {"condition": {"test": "datum.clear === 'yes'", "value": 1}, "value": 0}
    mark: Spec = {"type": "point", "style": "estimate", "size": size}
    if leads:
        mark["cursor"] = "pointer"
    ground: Spec = {"type": "point", "style": "ground", "size": size}
    mark_encoding: Spec = {**encoding, "tooltip": about, "fillOpacity": filled}
    shape: Spec = {}
    if colour:
        encodings = coloured(*colour)
        mark_encoding |= {**encodings, "stroke": encodings["color"]}
        shape = {"shape": encodings["shape"]}
    # Without the ground, the interval's line would run through hollow marks.
    return [
        {"mark": {**ground, "tooltip": None, "aria": False}, "encoding": {**encoding, **shape}},
        {"mark": mark, "encoding": mark_encoding},
    ]


def estimate_layers(
    rows: pl.DataFrame,
    about: list[Spec],
    *,
    size: int,
    colour: tuple[str, Sequence[str]] | None = None,
    leads: bool = False,
    between: Sequence[Spec] = (),
    **encoding: Spec,
) -> list[Spec]:
    """Return the band and line at 0, what lies ``between``, intervals, and a mark per estimate."""
    line_color = {"color": coloured(*colour)["color"]} if colour else {}
    marks = dots(about, size=size, colour=colour, leads=leads, **encoding)
    lines = interval(rows, **encoding, **line_color)
    return [*band(rows), at(0, "zero"), *between, *lines, *marks]


def band(rows: pl.DataFrame, *, level: bool = False) -> list[Spec]:
    """Return a light band over differences too small to matter; none if Δ is not known."""
    least = _smallest(rows)
    if least is None:
        return []
    axis, ends, title = through(level=level)
    edge = {"field": "from", "type": "quantitative", "title": title}
    encoding = {axis: edge, f"{axis}2": {"field": "to"}, **ends}
    mark = {"type": "rect", "style": "band", "tooltip": None, "aria": False}
    values = [{"from": -least, "to": least}]
    return [{"mark": mark, "data": {"values": values}, "encoding": encoding}]


def describe_marks(rows: pl.DataFrame) -> str:
    """Return how to read marks and band, for a caption."""
    shading = "" if _smallest(rows) is None else " Shaded: too small to matter."
    return f"Hollow marks: the interval contains 0.{shading}"


def _smallest(rows: pl.DataFrame) -> float | None:
    margins = rows["margin"].drop_nulls()
    return float(margins[0]) if margins.len() else None


WIDTH = 400
"""Units from one end of the axis to the other."""

TICKS = 8
"""The most ticks on the axis."""

LEAST = 2.0
"""The axis reaches at least so many Δ to either side."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Where a difference and the ends of its interval are, from 0 to WIDTH."""

    low: str
    high: str
    at: str
    clear: bool


@dataclass(frozen=True, kw_only=True)
class Forest:
    """The axis, and a mark for each finding that has one."""

    zero: str
    band: tuple[str, str]
    """The ends of the differences that are too small to matter."""
    ticks: tuple[tuple[str, str], ...]
    """Place and number."""
    marks: tuple[Mark | None, ...]
    """In the order of the findings; None: it has no interval, or no Δ is known for it."""


def forest(found: Sequence[Finding]) -> Forest:
    """Return the findings on one axis, each divided by its own Δ."""
    intervals = [_sized(finding) for finding in found]
    numbers = [value for interval in intervals if interval for value in interval]
    low, high, step = _axis(min([-LEAST, *numbers]), max([LEAST, *numbers]))

    def place(value: float) -> str:
        return f"{WIDTH * (value - low) / (high - low):.1f}"

    count = round((high - low) / step)
    values = [low + step * nth for nth in range(count + 1)]
    return Forest(
        zero=place(0.0),
        band=(place(-1.0), place(1.0)),
        ticks=tuple((place(value), tick(value, step)) for value in values),
        marks=tuple(
            None
            if ends is None
            else Mark(
                low=place(ends[0]),
                at=place(ends[1]),
                high=place(ends[2]),
                clear=finding.verdict in PRESENT_WORDS,
            )
            for finding, ends in zip(found, intervals, strict=True)
        ),
    )


def _sized(one: Finding) -> tuple[float, float, float] | None:
    """Return the lower end, the difference and the upper end in units of Δ, or None."""
    if not one.margin or one.difference is None or one.low is None or one.high is None:
        return None
    return one.low / one.margin, one.difference / one.margin, one.high / one.margin


def _axis(lowest: float, highest: float) -> tuple[float, float, float]:
    """Return both ends, ticks that nothing lies beyond, and the distance between ticks."""
    power = 10.0 ** math.floor(math.log10((highest - lowest) / TICKS))
    for step in (power * times for times in (1, 2, 5, 10, 20)):
        low = step * math.floor(lowest / step + 1e-9)
        high = step * math.ceil(highest / step - 1e-9)
        if round((high - low) / step) < TICKS:
            return low, high, step
    raise AssertionError("no distance between ticks is large enough")

"""A forest plot on one axis: each finding's interval in units of its own Δ, for pages and cards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goffman.contrasts.verdict import PRESENT_WORDS
from goffman.formatting import tick

if TYPE_CHECKING:
    from goffman.presentation.section import Finding

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


def forest(findings: Sequence[Finding]) -> Forest:
    """Return the findings on one axis, each divided by its own Δ."""
    intervals = [_sized(finding) for finding in findings]
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
            for finding, ends in zip(findings, intervals, strict=True)
        ),
    )


def _sized(finding: Finding) -> tuple[float, float, float] | None:
    """Return the lower end, the difference and the upper end in units of Δ, or None."""
    margin, low, high = finding.margin, finding.low, finding.high
    if not margin or finding.difference is None or low is None or high is None:
        return None
    return low / margin, finding.difference / margin, high / margin


def _axis(lowest: float, highest: float) -> tuple[float, float, float]:
    """Return the axis's lowest tick, its highest tick, and the distance between ticks."""
    power = 10.0 ** math.floor(math.log10((highest - lowest) / TICKS))
    for step in (power * times for times in (1, 2, 5, 10, 20)):
        low = step * math.floor(lowest / step + 1e-9)
        high = step * math.ceil(highest / step - 1e-9)
        if round((high - low) / step) < TICKS:
            return low, high, step
    raise AssertionError("no distance between ticks is large enough")

"""Bars beside findings: difference and interval on an axis that an instrument's bars share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goffman.estimates.verdict import CLEAR_WORDS
from goffman.presentation.numbers import tick

if TYPE_CHECKING:
    from goffman.presentation.base import Finding

HALF = 100
"""Units from 0 to either end of the axis."""

TICKS = 3
"""At most so many on either side of 0."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Where the parts of a bar are, from −HALF to HALF."""

    low: str
    high: str
    at: str
    clear: bool
    band: str | None
    """Half the width of the differences that are too small to matter."""
    ticks: tuple[tuple[str, str], ...]
    """Place and number."""


def bars(found: Sequence[Finding]) -> list[Bar | None]:
    """A bar for each finding that has an interval, all of them on one axis."""
    drawn = [one for one in found if one.low is not None and one.difference is not None]
    ends = [
        abs(end)
        for one in drawn
        for end in (one.low, one.high, one.difference, one.smallest)
        if end is not None
    ]
    step, limit = _axis(max(ends, default=1.0) or 1.0)
    count = round(limit / step)
    ticks = tuple(
        (_place(step * nth, limit), tick(step * nth, step)) for nth in range(-count, count + 1)
    )
    return [_bar(one, limit, ticks) if one in drawn else None for one in found]


def _bar(one: Finding, limit: float, ticks: tuple[tuple[str, str], ...]) -> Bar:
    places = [_place(float(end or 0.0), limit) for end in (one.low, one.high, one.difference)]
    return Bar(
        low=places[0],
        high=places[1],
        at=places[2],
        clear=one.verdict in CLEAR_WORDS,
        band=None if one.smallest is None else _place(one.smallest, limit),
        ticks=ticks,
    )


def _axis(largest: float) -> tuple[float, float]:
    """The distance between ticks, and the end of the axis: a tick that nothing lies beyond."""
    power = 10.0 ** math.floor(math.log10(largest / TICKS))
    step = next(power * times for times in (1, 2, 5, 10) if power * times * TICKS >= largest)
    return step, step * math.ceil(largest / step - 1e-9)


def _place(value: float, limit: float) -> str:
    return f"{HALF * value / limit:.1f}"

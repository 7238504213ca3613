"""What an estimate comes to, given the smallest difference Δ that would matter.

    relevant    clear, and the 95% interval lies beyond Δ
    small       clear, but the interval does not lie beyond Δ
    equivalent  not clear, and the 90% interval lies inside ±Δ (two one-sided tests)
    undecided   anything else: the data allow both a difference that matters and none

Beside it stands what could have been seen: the difference that 80 of 100 such audits would find,
(t_.975 + t_.80)·SE, and how many items would bring it down to Δ.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from scipy import special

from goffman.estimates.clear import points

if TYPE_CHECKING:
    from goffman.records import Estimate

MOST_ITEMS = 10_000
"""More items than these nobody will write."""

Word = Literal["relevant", "small", "equivalent", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The columns VERDICTS."""

    smallest: float | None = None
    verdict: Word | None = None
    low_90: float | None = None
    high_90: float | None = None
    detectable: float | None = None
    items_needed: int | None = None


def verdict(estimate: Estimate, *, smallest: float | None) -> Verdict:
    """The verdict on an estimate; none where there is no Δ, or nothing was tested."""
    if smallest is None or estimate.difference is None:
        return Verdict()
    if estimate.p_adjusted is None:
        return Verdict(smallest=smallest)
    if estimate.error is None or not estimate.df:
        return Verdict(smallest=smallest, verdict=_word(estimate, smallest, None))
    inner, outer, power = (float(special.stdtrit(estimate.df, q)) for q in (0.95, 0.975, 0.8))
    half = inner * estimate.error
    ends = estimate.difference - half, estimate.difference + half
    reach = outer + power
    return Verdict(
        smallest=smallest,
        verdict=_word(estimate, smallest, ends),
        low_90=ends[0],
        high_90=ends[1],
        detectable=reach * estimate.error,
        items_needed=_items(estimate, goal=smallest / reach),
    )


def _word(estimate: Estimate, smallest: float, ends: tuple[float, float] | None) -> Word:
    # A row of a table has a kind, which tells a correlation; an estimate with a Δ is none.
    side = points(asdict(estimate) | {"kind": ""})
    if side:
        low, high = float(estimate.low or 0.0), float(estimate.high or 0.0)
        return "relevant" if low > smallest or high < -smallest else "small"
    if ends and -smallest < ends[0] and ends[1] < smallest:
        return "equivalent"
    return "undecided"


def _items(estimate: Estimate, *, goal: float) -> int | None:
    """How many items would bring the standard error to the goal.

    None: no feasible number would, or the error is no larger even now.
    """
    if estimate.items is None or estimate.lasting is None or estimate.error is None:
        return None
    if estimate.error <= goal:
        # It is there already: fewer items would do, and nobody is asked for fewer.
        return None
    lowered = (estimate.error**2 - estimate.lasting**2) * estimate.items
    room = goal**2 - estimate.lasting**2
    return math.ceil(lowered / room) if lowered < room * MOST_ITEMS else None

"""What an estimate comes to, given the smallest difference Δ that would matter.

    relevant          clear, and the 95% interval lies beyond Δ
    small             clear, and the whole interval is nearer to 0 than Δ
    clear, size open  clear, and the interval holds differences below and above Δ
    equivalent        not clear, and the 90% interval lies inside ±Δ (two one-sided tests)
    undecided         anything else: the data allow both a difference that matters and none

Two more take the place of these words. A headline that is clear, but not in enough variations of
its analysis, is *fragile* (fragile.py). What rests on a model that cannot do the task is *not
measurable*, whatever its numbers are.

Beside it stands what could have been seen: the difference that 80 of 100 such audits would find,
(t_.975 + t_.80)·SE, and how many items would bring it down to Δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from scipy import special

from goffman.estimates.clear import points

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goffman.records import Estimate

MOST_ITEMS = 10_000
"""More items than these nobody will write."""

Word = Literal[
    "relevant",
    "small",
    "clear, size open",
    "fragile",
    "equivalent",
    "undecided",
    "not measurable",
]
"""The column verdict of estimates; the same words stand wherever people read them."""

SIZE_OPEN: Word = "clear, size open"
FRAGILE: Word = "fragile"
UNDECIDED: Word = "undecided"
NOT_MEASURABLE: Word = "not measurable"

CLEAR_WORDS: tuple[Word, ...] = ("relevant", "small", SIZE_OPEN, FRAGILE)
"""The verdicts on clear differences."""


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
    side = points({**vars(estimate), "kind": ""})
    if side:
        return _size(float(estimate.low or 0.0), float(estimate.high or 0.0), smallest)
    if ends and -smallest < ends[0] and ends[1] < smallest:
        return "equivalent"
    return "undecided"


def _size(low: float, high: float, smallest: float) -> Word:
    """How a clear difference lies to Δ, by its interval."""
    if low > smallest or high < -smallest:
        return "relevant"
    return "small" if max(abs(low), abs(high)) < smallest else SIZE_OPEN


def by_interval(row: Mapping[str, Any]) -> str | None:
    """The verdict that the interval gives: of a fragile difference that which it has otherwise."""
    word: str | None = row["verdict"]
    return _size(row["low"], row["high"], row["smallest"]) if word == FRAGILE else word


def rests_on(row: Mapping[str, Any], model: str) -> bool:
    """Whether a model's numbers are in an estimate: its own, one of two, or over all."""
    if row["kind"] == "models":
        return model in {row["first"], row["second"]}
    return row["model"] in {None, model}


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

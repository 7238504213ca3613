"""What an estimate comes to, given the smallest difference Δ that would matter.

    relevant          clear, and the 95% interval lies beyond Δ
    small             clear, and the whole interval is nearer to 0 than Δ
    clear, size open  clear, and the interval holds differences below and above Δ
    equivalent        not clear, and the 90% interval lies inside ±Δ (two one-sided tests)
    undecided         anything else: the data allow both a difference that matters and none

Two more take the place of these words. A headline that is clear, but not in enough variations of
its analysis, is *fragile*. What rests on a model that cannot do the task is *not
measurable*, whatever its numbers are.

Beside it stands what could have been seen: the difference that 80 of 100 such audits would find,
(t_.975 + t_.80)·SE, and how many items would bring it down to Δ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from scipy import special

from goffman.schemas import PARAMETER

if TYPE_CHECKING:
    from goffman.stats.estimate import Estimate

CORRELATIONS = ("measures", "measures-within")
"""Kinds of contrasts that are correlations of two measures: over all conditions, and in a group."""

ANCHORED = ("anchor", "anchor-rank", "anchor-partial", "anchor-without", "anchor-within")
"""Kinds of contrasts that are correlations of a measure with what people said: of values, of ranks,
given the category of a condition, without those that the anchor sets apart, and within a group."""

AGAINST_PEOPLE = (
    *("anchor-difference", "anchor-overall", "anchor-gender", "anchor-wording"),
    *("anchor-gender-side", "anchor-year"),
)
"""Kinds of contrasts that are a model's share minus people's: of a question, of all that count, of
a man minus a woman, and of all that count in a wording that is not people's. The last two: a man
minus a woman on one side alone, the model's or people's; and of all that count with people's
answers of one year."""

CLEAR = 0.05
"""A corrected p below this is needed; so is an interval that leaves out 0."""


def direction(row: Mapping[str, Any]) -> int:
    """1 or −1: which way an estimate clearly points; 0: it is not clear.

    Clear is what both say: the corrected p is there and below .05, and the interval lies on one
    side of 0.
    """
    p = row["p_adjusted"]
    return side_of_zero(row) if p is not None and p < CLEAR else 0


def side_of_zero(row: Mapping[str, Any]) -> int:
    """1 or −1: on which side of 0 the interval lies; 0: it holds 0, or there is none.

    Of a correlation the interval is that of the coefficient.
    """
    low, high = (row["low"], row["high"])
    if row["kind"] in {*CORRELATIONS, *ANCHORED}:
        low, high = (row["effect_low"], row["effect_high"])
    return 0 if low is None else int(low > 0) - int(high < 0)


def significant_rows(estimates: pl.DataFrame) -> pl.DataFrame:
    """The estimates that clearly point one way."""
    return estimates.filter([direction(row) != 0 for row in estimates.iter_rows(named=True)])


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

    margin: float | None = None
    verdict: Word | None = None
    low_90: float | None = None
    high_90: float | None = None
    detectable: float | None = None
    items_needed: int | None = None


def verdict(estimate: Estimate, *, margin: float | None) -> Verdict:
    """The verdict on an estimate; none where there is no Δ, or nothing was tested."""
    if margin is None or estimate.difference is None:
        return Verdict()
    if estimate.p_adjusted is None:
        return Verdict(margin=margin)
    if estimate.error is None or not estimate.df:
        return Verdict(margin=margin, verdict=_word(estimate, margin, None))
    inner, outer, power = (float(special.stdtrit(estimate.df, q)) for q in (0.95, 0.975, 0.8))
    half = inner * estimate.error
    ends = estimate.difference - half, estimate.difference + half
    reach = outer + power
    return Verdict(
        margin=margin,
        verdict=_word(estimate, margin, ends),
        low_90=ends[0],
        high_90=ends[1],
        detectable=reach * estimate.error,
        items_needed=_items(estimate, goal=margin / reach),
    )


def _word(estimate: Estimate, margin: float, ends: tuple[float, float] | None) -> Word:
    # A row of a table has a kind, which tells a correlation; an estimate with a Δ is none.
    side = direction({**vars(estimate), "kind": ""})
    if side:
        return _size(float(estimate.low or 0.0), float(estimate.high or 0.0), margin)
    if ends and -margin < ends[0] and ends[1] < margin:
        return "equivalent"
    return "undecided"


def _size(low: float, high: float, margin: float) -> Word:
    """How a clear difference lies to Δ, by its interval."""
    if low > margin or high < -margin:
        return "relevant"
    return "small" if max(abs(low), abs(high)) < margin else SIZE_OPEN


def by_interval(row: Mapping[str, Any]) -> str | None:
    """The verdict that the interval gives: of a fragile difference that which it has otherwise."""
    word: str | None = row["verdict"]
    return _size(row["low"], row["high"], row["margin"]) if word == FRAGILE else word


def rests_on(row: Mapping[str, Any], model: str) -> bool:
    """Whether a model's numbers are in an estimate: its own, one of two, or over all."""
    if row["kind"] == "models":
        return model in {row["first"], row["second"]}
    return row["model"] in {None, model}


def _items(estimate: Estimate, *, goal: float) -> int | None:
    """How many items would bring the standard error to the goal.

    None: no feasible number would, or the error is no larger even now.
    """
    if estimate.items is None or estimate.irreducible_se is None or estimate.error is None:
        return None
    if estimate.error <= goal:
        # It is there already: fewer items would do, and nobody is asked for fewer.
        return None
    lowered = (estimate.error**2 - estimate.irreducible_se**2) * estimate.items
    room = goal**2 - estimate.irreducible_se**2
    return math.ceil(lowered / room) if lowered < room * MOST_ITEMS else None


MOST_LOST = 0.1
"""A difference is fragile if leaving out one thing loses it more often than this, or if another
value of a parameter does."""


def lost(rows: pl.DataFrame) -> pl.DataFrame:
    """Of the variations of one contrast: those that were tested, and in which it is not clear."""
    return rows.filter(pl.col("verdict").is_not_null(), ~pl.col("verdict").is_in(CLEAR_WORDS))


def is_fragile(verdict: str | None, rows: pl.DataFrame) -> bool:
    """Whether a contrast of that verdict is fragile; ``rows``: its leave-one-out and parameters."""
    if verdict not in CLEAR_WORDS:
        return False
    is_parameter = pl.col("variation") == PARAMETER
    others = rows.filter(~is_parameter, pl.col("verdict").is_not_null())
    too_often = lost(others).height > MOST_LOST * others.height
    return too_often or lost(rows.filter(is_parameter)).height > 0

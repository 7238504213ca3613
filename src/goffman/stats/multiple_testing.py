"""A list of tests: which of them Benjamini and Hochberg (1995) mark, and intervals that agree.

With m p-values in order, the R smallest are marked, R the largest i with p₍ᵢ₎ ≤ .05·i/m; the
corrected p is the running minimum, from the top, of m/i·p₍ᵢ₎. The share of false marks among all is
then at most .05 on average (for independent or positively dependent tests). Intervals of level
1 − .05·R/m, R at least 1 (Benjamini & Yekutieli 2005), exclude 0 for those that are marked and for
no others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy import special, stats

from goffman.stats.intervals import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray


FALSE = 0.05
"""The share of marked tests that may be false."""


def as_list(estimates: Sequence[Estimate], *, family: str) -> list[Estimate]:
    """Return the estimates in the same order, with p and interval corrected for their number.

    Estimates without p are not counted.
    """
    adjusted = _adjusted(estimates)
    m, level, corrected = len(adjusted), list_level(estimates), iter(adjusted.tolist())
    return [
        replace(
            estimate if estimate.p is None or m == 1 else at_level(estimate, level),
            p_adjusted=None if estimate.p is None else next(corrected),
            correction="benjamini-hochberg" if m > 1 else None,
            family=family,
            family_size=m,
        )
        for estimate in estimates
    ]


def list_level(estimates: Sequence[Estimate]) -> float:
    """Return the level at which intervals exclude 0 exactly for the marked tests."""
    adjusted = _adjusted(estimates)
    return 1 - FALSE * max(int((adjusted <= FALSE).sum()), 1) / max(len(adjusted), 1)


def _adjusted(estimates: Sequence[Estimate]) -> NDArray[np.float64]:
    p_values = [estimate.p for estimate in estimates if estimate.p is not None]
    return np.asarray(stats.false_discovery_control(np.array(p_values)))


def at_level(estimate: Estimate, level: float) -> Estimate:
    """Return the estimate with its interval at another level, or unchanged if it has no error."""
    if estimate.df is None or estimate.level is None:
        return estimate
    t = float(special.stdtrit(estimate.df, (1 + level) / 2))
    if estimate.low is not None and estimate.difference is not None and estimate.error is not None:
        reach = t * estimate.error
        low, high = estimate.difference - reach, estimate.difference + reach
        return replace(estimate, low=low, high=high, level=level)
    if estimate.effect_low is None or estimate.effect is None or not estimate.statistic:
        return estimate
    # The interval of a correlation is computed on Fisher's z, whose error is z / t.
    z = math.atanh(estimate.effect)
    reach = t * abs(z / estimate.statistic)
    low, high = math.tanh(z - reach), math.tanh(z + reach)
    estimate = replace(estimate, level=level, effect_low=low, effect_high=high)
    if estimate.second_effect is None or estimate.effect is None:
        return estimate
    ratio = estimate.second_effect / estimate.effect
    low, high = (max(-1.0, min(1.0, end * ratio)) for end in (low, high))
    return replace(estimate, second_effect_low=low, second_effect_high=high)


ROUNDING = 1e-12
"""Differences smaller than this share of the largest value are rounding."""

DIGITS = 12
"""The number of significant digits in which two analyses must agree to count as the same."""

Row = TypeVar("Row", bound=Mapping[str, Any])


def different(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without those that repeat the difference and interval of an earlier one.

    They come from choices that change nothing, and are no further analyses.
    """
    rows_by_key: dict[tuple[object, ...], Row] = {}
    for position, row in enumerate(rows):
        numbers = [row.get(name) for name in ("difference", "low", "high")]
        rounded = tuple(round(number, DIGITS) for number in numbers if number is not None)
        key = rounded if len(rounded) == len(numbers) else (position,)
        rows_by_key.setdefault(key, row)
    return list(rows_by_key.values())


def explained(values: Sequence[float], options: Sequence[str]) -> float | None:
    """Return η², the share of variance that lies between options; None if values do not vary."""
    array, labels = np.array(values, dtype=np.float64), np.array(options)
    if len(array) < 2:
        return None
    total = float(((array - array.mean()) ** 2).sum())
    if total <= (ROUNDING * max(1.0, float(np.abs(array).max()))) ** 2:
        return None
    parts = [array[labels == option] for option in dict.fromkeys(options)]
    between = sum(len(part) * float(part.mean() - array.mean()) ** 2 for part in parts)
    # Rounding can lift a share that explains all variance above 1.
    return min(1.0, between / total)

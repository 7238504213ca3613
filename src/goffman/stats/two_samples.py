"""Two sets of values compared: their means, t-tests, and Cohen's d for papers and replications.

Paired: t = d̄ / (s_d/√n), ν = n−1. Student: t = (m₁−m₂) / (s_p √(1/n₁+1/n₂)), ν = n₁+n₂−2.
Welch: t = (m₁−m₂) / √(v₁+v₂) with v = s²/n, ν = (v₁+v₂)² / (v₁²/(n₁−1) + v₂²/(n₂−1))
(Welch 1947). The interval is the difference ± t_ν·SE.

Two independent sets: d = (m₁ − m₂) / s_p with s_p² = ((n₁−1)s₁² + (n₂−1)s₂²) / (n₁+n₂−2); pairs:
the same, which takes no note of the pairing (Cohen 1988). Against a constant: the
mean difference over its SD.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import special

from goffman.stats.intervals import Estimate

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Values = Sequence[float | None] | Sequence[float] | NDArray[np.float64] | pl.Series
    """None and NaN are values that are missing."""

NO_PAIRS = "no pair has both values"
NO_VALUES = "one of the two groups has no values"
TOO_FEW = "there are fewer than two values to compare, so nothing shows how much they vary"
INFINITE = "a value is infinite or too large to compute with"
CONSTANT_DIFFERENCES = "all differences are equal, so no interval or test can be computed"
CONSTANT_SETS = "all values within each group are equal, so no interval or test can be computed"

LARGEST, SMALLEST = 1e150, 1e-150
"""A number, or a spread, between these two can be squared."""

D_POOLED = "Cohen's d, pooled SD"


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Two sets of values without gaps."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    paired: bool
    """Whether the values stand in pairs, in the same order."""
    left_out: int
    """The number of values, or pairs, with a gap."""

    @property
    def differences(self) -> NDArray[np.float64]:
        """Return first minus second, pair by pair."""
        return self.first - self.second

    @property
    def absence(self) -> str | None:
        """Return why nothing at all can be computed of these values, or None."""
        if min(len(self.first), len(self.second)) == 0:
            return NO_PAIRS if self.paired else NO_VALUES
        return None if self._largest < LARGEST else INFINITE

    @property
    def obstacle(self) -> str | None:
        """Return why these values do not show how much they vary, or None."""
        if self.absence:
            return self.absence
        if min(len(self.first), len(self.second)) < 2:
            return TOO_FEW
        if self.paired:
            return None if _varies(self.differences, self._largest) else CONSTANT_DIFFERENCES
        varied = any(_varies(values, np.abs(values).max()) for values in (self.first, self.second))
        return None if varied else CONSTANT_SETS

    @property
    def _largest(self) -> float:
        return max(float(np.abs(values).max()) for values in (self.first, self.second))

    @property
    def pooled_sd(self) -> float:
        """Return the root of the sets' variances, each weighted by its degrees of freedom."""
        n1, n2 = len(self.first), len(self.second)
        squares = (n1 - 1) * self.first.var(ddof=1) + (n2 - 1) * self.second.var(ddof=1)
        return float(np.sqrt(squares / (n1 + n2 - 2)))

    @property
    def cohen_d(self) -> float | None:
        """Return Cohen's d; None if the values do not vary."""
        if self.obstacle:
            return None
        is_constant = self.paired and 0.0 in (np.ptp(self.first), np.ptp(self.second))
        spread = float(self.differences.std(ddof=1)) if is_constant else self.pooled_sd
        return float(self.first.mean() - self.second.mean()) / spread if spread else None

    def estimate(self, *, contrast: str, method: str, reason: str | None) -> Estimate:
        """Return the numbers and means of these values, before any test."""
        first, second = (
            float(values.mean()) if len(values) and np.isfinite(values).all() else None
            for values in (self.first, self.second)
        )
        n_first, n_second = len(self.first), len(self.second)
        return Estimate(
            contrast=contrast,
            n=n_first if self.paired else n_first + n_second,
            n_first=n_first,
            n_second=n_second,
            left_out=self.left_out,
            mean_first=first,
            mean_second=second,
            difference=None if first is None or second is None else first - second,
            method=method,
            reason=reason,
        )

    def with_effect(self, estimate: Estimate) -> Estimate:
        """Return the estimate with Cohen's d of these values."""
        return replace(estimate, effect=self.cohen_d, effect_name=D_POOLED)


def without_gaps(first: Values, second: Values, *, paired: bool) -> Samples:
    """Return the pairs that have both values, or what is not missing of two independent sets."""
    arrays = numbers(first), numbers(second)
    present = [~np.isnan(array) for array in arrays]
    if paired:
        if len(arrays[0]) != len(arrays[1]):
            raise ValueError(f"{len(arrays[0])} and {len(arrays[1])} values do not make pairs")
        present = [present[0] & present[1]] * 2
    values = [array[mask] for array, mask in zip(arrays, present, strict=True)]
    left_out = sum(map(len, arrays)) - sum(map(len, values))
    return Samples(
        first=values[0],
        second=values[1],
        paired=paired,
        left_out=left_out // 2 if paired else left_out,
    )


def numbers(values: Values) -> NDArray[np.float64]:
    """Return the values as an array, with NaN for missing values."""
    return np.asarray(values, dtype=np.float64)


def _varies(values: NDArray[np.float64], largest: float) -> bool:
    """Return whether values differ by more than the rounding of numbers of this size."""
    return bool(np.ptp(values) > max(8 * np.finfo(np.float64).eps * largest, SMALLEST))


def paired_t(first: Values, second: Values, *, contrast: str) -> Estimate:
    """Return Student's t of the pairs' differences, with Cohen's d."""
    samples = without_gaps(first, second, paired=True)
    estimate = _tested_by(samples, "paired t", contrast)
    if estimate.reason:
        return estimate
    differences = samples.differences
    error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    return by_t(estimate, float(differences.mean()), error=error, df=len(differences) - 1)


def independent_t(
    first: Values,
    second: Values,
    *,
    contrast: str,
    variances: Literal["equal", "unequal"] = "unequal",
) -> Estimate:
    """Return Welch's t of two sets, or Student's with equal variances, with Cohen's d."""
    samples = without_gaps(first, second, paired=False)
    test = "Welch's t" if variances == "unequal" else "Student's t"
    estimate = _tested_by(samples, test, contrast)
    if estimate.reason:
        return estimate
    n1, n2 = len(samples.first), len(samples.second)
    if variances == "equal":
        error, df = samples.pooled_sd * np.sqrt(1 / n1 + 1 / n2), n1 + n2 - 2
    else:
        v1, v2 = samples.first.var(ddof=1) / n1, samples.second.var(ddof=1) / n2
        share = v1 / (v1 + v2)
        error, df = np.sqrt(v1 + v2), 1 / (share**2 / (n1 - 1) + (1 - share) ** 2 / (n2 - 1))
    difference = float(samples.first.mean() - samples.second.mean())
    return by_t(estimate, difference, error=float(error), df=float(df))


def _tested_by(samples: Samples, test: str, contrast: str) -> Estimate:
    estimate = samples.estimate(contrast=contrast, method="interval by t", reason=samples.obstacle)
    estimate = replace(estimate, test=test, alternative="two-sided", level=0.95)
    return samples.with_effect(estimate)


def as_p(p: float) -> float:
    """Return p within its bounds; one too small to be written becomes the smallest float."""
    return min(max(p, sys.float_info.min), 1.0)


def by_t(estimate: Estimate, centre: float, *, error: float, df: float) -> Estimate:
    """Return the estimate with its difference, interval, t, degrees of freedom and p."""
    reach = float(special.stdtrit(df, 0.975)) * error
    return replace(
        estimate,
        difference=centre,
        low=centre - reach,
        high=centre + reach,
        statistic=centre / error,
        alternative="two-sided",
        level=0.95,
        df=df,
        error=error,
        p=as_p(2 * float(special.stdtr(df, -abs(centre / error)))),
    )

"""Two sets of values compared: t-tests, and rank tests as their check.

Paired: t = d̄ / (s_d/√n), ν = n−1. Student: t = (m₁−m₂) / (s_p √(1/n₁+1/n₂)), ν = n₁+n₂−2.
Welch: t = (m₁−m₂) / √(v₁+v₂) with v = s²/n, ν = (v₁+v₂)² / (v₁²/(n₁−1) + v₂²/(n₂−1))
(Welch 1947). The interval is the difference ± t_ν·SE, two-sided whatever the alternative.

Wilcoxon's W is the sum of the ranks of |d| over positive d; pairs without a difference are dropped
(Wilcoxon 1945). Mann and Whitney's U counts the pairs of values in which the first is greater, ties
half. p is exact up to 50 pairs, or 50 values a set, without ties; else normal, corrected for ties
and, in U, for continuity: the method says which. Values that differ in less than twelve digits of
the largest are ties: that is the rounding of a mean. The effect is the rank-biserial correlation:
2W/(n(n+1)/2) − 1 and 2U/(n₁n₂) − 1 (Kerby 2014).
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy import special, stats

from goffman.stats.effect_sizes import (
    Effect,
    d_of,
    d_z_of,
    paired_d_of,
    pooled_sd,
    unbiased,
)
from goffman.stats.estimate import Alternative
from goffman.stats.samples import (
    apart,
    check_choice,
    check_level,
    in_pairs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.estimate import Estimate
    from goffman.stats.samples import Values

Variances = Literal["equal", "unequal"]

LARGEST_EXACT = 50
"""Pairs, or values a set, up to which the rank tests are exact."""

RANK_BISERIAL = "rank-biserial correlation"
ALL_TIED = "all values are equal, so they cannot be ranked"
NO_DIFFERENCES = "all differences are zero, so no pair can be ranked"


def paired_t(
    first: Values,
    second: Values,
    *,
    contrast: str,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    effect_intervals: bool = True,
) -> Estimate:
    """Student's t of the pairs' differences, with Cohen's d (pooled SD) and d_z beside it.

    ``effect_intervals``: that of d_z takes most of the time, and not everybody needs it.
    """
    check_level(level)
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    samples = in_pairs(first, second)
    estimate = replace(
        samples.estimate(
            contrast=contrast,
            method="interval by t; d with the pooled SD, its interval after Bonett; "
            "d_z by the noncentral t",
            reason=samples.obstacle,
        ),
        test="paired t",
        alternative=alternative,
        level=level,
    )
    if not samples.obstacle:
        differences, n = samples.differences, len(samples.first)
        error = float(differences.std(ddof=1) / np.sqrt(n))
        centre = float(differences.mean())
        estimate = by_t(
            estimate, centre, error=error, df=float(n - 1), alternative=alternative, level=level
        )
    d = paired_d_of(samples, level=level)
    d_z = d_z_of(samples, level=level, interval=effect_intervals)
    return _with_effects(estimate, effect=d, second=d_z)


def independent_t(
    first: Values,
    second: Values,
    *,
    contrast: str,
    variances: Variances = "unequal",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    effect_intervals: bool = True,
) -> Estimate:
    """Welch's t of two sets, or with equal variances Student's; Cohen's d, Hedges' g beside it.

    ``effect_intervals``: they take most of the time, and not everybody needs them.
    """
    check_level(level)
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    check_choice("variances", variances, allowed=get_args(Variances))
    samples = apart(first, second)
    estimate = replace(
        samples.estimate(
            contrast=contrast,
            method="interval by t; d and g by the noncentral t, which takes variances as equal",
            reason=samples.obstacle,
        ),
        test="Welch's t" if variances == "unequal" else "Student's t",
        alternative=alternative,
        level=level,
    )
    n1, n2 = len(samples.first), len(samples.second)
    if not samples.obstacle:
        if variances == "equal":
            error, df = pooled_sd(samples) * np.sqrt(1 / n1 + 1 / n2), float(n1 + n2 - 2)
        else:
            v1, v2 = samples.first.var(ddof=1) / n1, samples.second.var(ddof=1) / n2
            share = v1 / (v1 + v2)
            error = np.sqrt(v1 + v2)
            df = 1 / (share**2 / (n1 - 1) + (1 - share) ** 2 / (n2 - 1))
        centre = float(samples.first.mean() - samples.second.mean())
        estimate = by_t(
            estimate, centre, error=float(error), df=float(df), alternative=alternative, level=level
        )
    d = d_of(samples, level=level, interval=effect_intervals)
    return _with_effects(estimate, effect=d, second=unbiased(d, df=n1 + n2 - 2))


def wilcoxon(
    first: Values, second: Values, *, contrast: str, alternative: Alternative = "two-sided"
) -> Estimate:
    """Wilcoxon's signed-rank test of the pairs' differences, as a check: no interval."""
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    samples = in_pairs(first, second)
    size = max(np.abs(samples.first).max(initial=0), np.abs(samples.second).max(initial=0))
    settled = _without_noise(samples.differences, float(size))
    differences = settled[settled != 0]
    n = len(differences)
    sizes, places, times = np.unique(np.abs(differences), return_inverse=True, return_counts=True)
    exact = n <= LARGEST_EXACT and len(sizes) == n
    estimate = replace(
        samples.estimate(
            contrast=contrast,
            method=f"{'exact' if exact else 'normal, ties corrected'}; {n} differences not zero",
            reason=samples.absence or (NO_DIFFERENCES if n == 0 else None),
        ),
        test="Wilcoxon's signed ranks",
        alternative=alternative,
        effect_name=RANK_BISERIAL,
    )
    if estimate.reason:
        return estimate
    # What ties share is the mean of the places that they take together.
    ranks = (np.cumsum(times) - (times - 1) / 2)[places]
    total = float(ranks[differences > 0].sum())
    if exact:
        p = _exact_p(n, int(total), alternative)
    else:
        p = _normal_p(n, total, float((times**3 - times).sum()), alternative)
    return replace(estimate, statistic=total, p=as_p(p), effect=4 * total / (n * (n + 1)) - 1)


@cache
def _exact_p(n: int, total: int, alternative: Alternative) -> float:
    """Wilcoxon's exact p where the positive ranks of n differences, none tied, have this sum.

    It depends on nothing else, and a run asks thousands of times for the same.
    """
    ranks = np.arange(1.0, n + 1)
    left = total
    for at in reversed(range(n)):
        if at + 1 <= left:
            left -= at + 1
        else:
            ranks[at] *= -1
    return float(stats.wilcoxon(ranks, alternative=alternative, method="exact").pvalue)


def _normal_p(n: int, total: float, tied: float, alternative: Alternative) -> float:
    """Wilcoxon's p by the normal distribution; ``tied``: Σ (t³ − t) over what is tied."""
    # As scipy computes it, which spends a hundred times as long on checking what it is given.
    centre = n * (n + 1.0) * 0.25
    error = math.sqrt((n * (n + 1.0) * (2.0 * n + 1.0) - tied / 2) / 24)
    z = (total - centre) / error
    if alternative == "two-sided":
        return float(2 * special.ndtr(-abs(z)))
    return float(special.ndtr(z if alternative == "less" else -z))


def mann_whitney(
    first: Values, second: Values, *, contrast: str, alternative: Alternative = "two-sided"
) -> Estimate:
    """Mann and Whitney's U of two independent sets, as a check: no interval."""
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    samples = apart(first, second)
    n1, n2 = len(samples.first), len(samples.second)
    values = np.concatenate([samples.first, samples.second])
    values = _without_noise(values, float(np.abs(values).max(initial=0)))
    distinct = len(np.unique(values))
    exact = max(n1, n2) <= LARGEST_EXACT and distinct == n1 + n2
    estimate = replace(
        samples.estimate(
            contrast=contrast,
            method="exact" if exact else "normal, ties and continuity corrected",
            reason=samples.absence or (ALL_TIED if distinct == 1 else None),
        ),
        test="Mann–Whitney U",
        alternative=alternative,
        effect_name=RANK_BISERIAL,
    )
    if estimate.reason:
        return estimate
    way = "exact" if exact else "asymptotic"
    found = stats.mannwhitneyu(values[:n1], values[n1:], alternative=alternative, method=way)
    u = float(found.statistic)
    effect = 2 * u / (n1 * n2) - 1
    return replace(estimate, statistic=u, p=as_p(float(found.pvalue)), effect=effect)


def _without_noise(values: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """The values to twelve digits of the largest: .6 − .4 and .4 − .2 are then the same rank."""
    if not (np.isfinite(size) and size):
        return values
    return np.asarray(np.round(values / size, 12) * size)


def as_p(p: float) -> float:
    """A p-value within its bounds: too small to be written, it is the smallest normal float."""
    return min(max(p, sys.float_info.min), 1.0)


def t_tail(t: float, *, df: float, alternative: Alternative) -> float:
    """The p-value of a t statistic."""
    if alternative == "two-sided":
        return as_p(2 * float(special.stdtr(df, -abs(t))))
    return as_p(float(special.stdtr(df, -t if alternative == "greater" else t)))


def by_t(
    estimate: Estimate,
    centre: float,
    *,
    error: float,
    df: float,
    alternative: Alternative,
    level: float,
) -> Estimate:
    """The estimate with its difference, interval, t, degrees of freedom and p."""
    reach = float(special.stdtrit(df, (1 + level) / 2)) * error
    return replace(
        estimate,
        difference=centre,
        low=centre - reach,
        high=centre + reach,
        statistic=centre / error,
        alternative=alternative,
        level=level,
        df=df,
        error=error,
        p=t_tail(centre / error, df=df, alternative=alternative),
    )


def _with_effects(estimate: Estimate, *, effect: Effect, second: Effect) -> Estimate:
    """The estimate with both effect sizes, and their reason where it has none of its own."""
    return replace(
        estimate,
        effect=effect.value,
        effect_name=effect.name,
        effect_low=effect.low,
        effect_high=effect.high,
        second_effect=second.value,
        second_effect_name=second.name,
        second_effect_low=second.low,
        second_effect_high=second.high,
        reason=estimate.reason or effect.reason or second.reason,
    )

"""Two sets of values compared: t-tests.

Paired: t = d̄ / (s_d/√n), ν = n−1. Student: t = (m₁−m₂) / (s_p √(1/n₁+1/n₂)), ν = n₁+n₂−2.
Welch: t = (m₁−m₂) / √(v₁+v₂) with v = s²/n, ν = (v₁+v₂)² / (v₁²/(n₁−1) + v₂²/(n₂−1))
(Welch 1947). The interval is the difference ± t_ν·SE, two-sided whatever the alternative.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy import special

from goffman.stats.effect_sizes import D_POOLED, cohen_d, pooled_sd
from goffman.stats.estimate import Alternative
from goffman.stats.samples import apart, check_choice, check_level, in_pairs

if TYPE_CHECKING:
    from goffman.stats.estimate import Estimate
    from goffman.stats.samples import Samples, Values

Variances = Literal["equal", "unequal"]


def paired_t(
    first: Values,
    second: Values,
    *,
    contrast: str,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Estimate:
    """Return Student's t of the pairs' differences, with Cohen's d beside it."""
    samples = in_pairs(first, second)
    return _tested(samples, "paired t", contrast=contrast, alternative=alternative, level=level)


def independent_t(
    first: Values,
    second: Values,
    *,
    contrast: str,
    variances: Variances = "unequal",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Estimate:
    """Return Welch's t of two sets, or with equal variances Student's, with Cohen's d beside it."""
    check_choice("variances", variances, allowed=get_args(Variances))
    test = "Welch's t" if variances == "unequal" else "Student's t"
    samples = apart(first, second)
    return _tested(samples, test, contrast=contrast, alternative=alternative, level=level)


def _tested(
    samples: Samples, test: str, *, contrast: str, alternative: Alternative, level: float
) -> Estimate:
    check_level(level)
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    about = samples.estimate(contrast=contrast, method="interval by t", reason=samples.obstacle)
    estimate = replace(
        about,
        test=test,
        alternative=alternative,
        level=level,
        effect=cohen_d(samples),
        effect_name=D_POOLED,
    )
    if samples.obstacle:
        return estimate
    n1, n2 = len(samples.first), len(samples.second)
    centre = samples.first.mean() - samples.second.mean()
    if samples.paired:
        centre = samples.differences.mean()
        error, df = samples.differences.std(ddof=1) / np.sqrt(n1), n1 - 1
    elif test == "Student's t":
        error, df = pooled_sd(samples) * np.sqrt(1 / n1 + 1 / n2), n1 + n2 - 2
    else:
        v1, v2 = samples.first.var(ddof=1) / n1, samples.second.var(ddof=1) / n2
        share = v1 / (v1 + v2)
        error, df = np.sqrt(v1 + v2), 1 / (share**2 / (n1 - 1) + (1 - share) ** 2 / (n2 - 1))
    return by_t(
        estimate,
        float(centre),
        error=float(error),
        df=float(df),
        alternative=alternative,
        level=level,
    )


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
    alternative: Alternative = "two-sided",
    level: float = 0.95,
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

"""Correlations of two measures over the same units, with interval and p.

Pearson's r, t = r √((n−2)/(1−r²)) with n−2 degrees of freedom, and the interval
tanh(atanh r ± z·SE) with SE = 1/√(n−3) (Fisher 1921). Spearman's ρ is Pearson's r of the ranks,
ties at their mean rank; p by the same t, which is approximate, and SE = √((1 + ρ²/2)/(n−3))
(Bonett & Wright 2000).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy import special, stats

from goffman.stats.estimate import Alternative
from goffman.stats.samples import (
    check_choice,
    check_level,
    in_pairs,
    varies,
)
from goffman.stats.tests import t_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.estimate import Estimate
    from goffman.stats.samples import Samples, Values

Coefficient = Literal["pearson", "spearman"]

NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ"}

NO_SPREAD = "one of the two measures has the same value everywhere"
TWO_UNITS = "there are fewer than three points, and any two points lie on a line"
THREE_UNITS = "there are three points, and Fisher's interval needs four"
ON_A_LINE = "all points are in perfect order, which gives no p-value and no interval"


def pearson(
    first: Values,
    second: Values,
    *,
    contrast: str,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Estimate:
    """Pearson's r of the pairs as the effect, with Fisher's interval."""
    samples = in_pairs(first, second)
    method = "p by t; interval by Fisher's z, SE 1/√(n−3)"
    return _correlation(
        samples,
        "pearson",
        contrast=contrast,
        method=method,
        alternative=alternative,
        level=level,
    )


def spearman(
    first: Values,
    second: Values,
    *,
    contrast: str,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Estimate:
    """Spearman's ρ of the pairs as the effect, with Bonett and Wright's interval."""
    samples = in_pairs(first, second)
    method = "p by t, approximate; interval by Fisher's z, SE √((1+ρ²/2)/(n−3))"
    return _correlation(
        samples,
        "spearman",
        contrast=contrast,
        method=method,
        alternative=alternative,
        level=level,
    )


def _correlation(
    samples: Samples,
    coefficient: Coefficient,
    *,
    contrast: str,
    method: str,
    alternative: Alternative,
    level: float,
) -> Estimate:
    """The coefficient with t, p and interval, each where it is defined."""
    check_level(level)
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    n = len(samples.first)
    reason = hindrance(samples)
    estimate = replace(
        samples.estimate(contrast=contrast, method=method, reason=reason),
        difference=None,
        test=f"t of {NAMES[coefficient]}",
        alternative=alternative,
        level=level,
        effect_name=NAMES[coefficient],
    )
    if reason:
        return estimate
    r = product_moment(*ranked(samples, coefficient))
    if abs(r) == 1:
        return replace(estimate, effect=r, reason=ON_A_LINE)
    t = r * math.sqrt((n - 2) / ((1 - r) * (1 + r)))
    estimate = replace(
        estimate,
        effect=r,
        statistic=t,
        df=float(n - 2),
        p=t_tail(t, df=n - 2, alternative=alternative),
    )
    if n < 4:
        return replace(estimate, reason=THREE_UNITS)
    spread = 1 + r**2 / 2 if coefficient == "spearman" else 1.0
    reach = float(special.ndtri((1 + level) / 2)) * math.sqrt(spread / (n - 3))
    low, high = math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)
    return replace(estimate, effect_low=low, effect_high=high)


def hindrance(samples: Samples) -> str | None:
    """Why these pairs have no correlation to speak of, or None."""
    if samples.absence:
        return samples.absence
    if len(samples.first) < 3:
        return TWO_UNITS
    return None if varies(samples.first) and varies(samples.second) else NO_SPREAD


def ranked(
    samples: Samples, coefficient: Coefficient
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the coefficient multiplies: the values, or their ranks."""
    if coefficient == "pearson":
        return samples.first, samples.second
    return stats.rankdata(samples.first), stats.rankdata(samples.second)


def product_moment(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Pearson's r; within rounding of ±1 it is ±1."""
    one, other = first - first.mean(), second - second.mean()
    r = float((one / np.linalg.norm(one)) @ (other / np.linalg.norm(other)))
    return math.copysign(1.0, r) if 1 - abs(r) < 8 * np.finfo(np.float64).eps else r

"""Pearson's r of two measures over the same units, with interval and p.

t = r √((n−2)/(1−r²)) has n−2 degrees of freedom, and the interval is tanh(atanh r ± z/√(n−3))
(Fisher 1921).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np
from scipy import special

from goffman.stats.estimate import Alternative
from goffman.stats.samples import check_choice, check_level, in_pairs, varies
from goffman.stats.tests import t_tail

if TYPE_CHECKING:
    from goffman.stats.estimate import Estimate
    from goffman.stats.samples import Values

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
    """Pearson's r of the pairs as the effect with t, p and Fisher's interval, where defined."""
    check_level(level)
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    samples = in_pairs(first, second)
    n, reason = len(samples.first), samples.absence
    if not reason and n < 3:
        reason = TWO_UNITS
    elif not reason and not (varies(samples.first) and varies(samples.second)):
        reason = NO_SPREAD
    method = "p by t; interval by Fisher's z, SE 1/√(n−3)"
    estimate = replace(
        samples.estimate(contrast=contrast, method=method, reason=reason),
        difference=None,
        test="t of Pearson's r",
        alternative=alternative,
        level=level,
        effect_name="Pearson's r",
    )
    if reason:
        return estimate
    one, other = (side - side.mean() for side in (samples.first, samples.second))
    r = float((one / np.linalg.norm(one)) @ (other / np.linalg.norm(other)))
    # Within rounding of ±1 it is ±1.
    if 1 - abs(r) < 8 * np.finfo(np.float64).eps:
        return replace(estimate, effect=math.copysign(1.0, r), reason=ON_A_LINE)
    t = r * math.sqrt((n - 2) / ((1 - r) * (1 + r)))
    p = t_tail(t, df=n - 2, alternative=alternative)
    estimate = replace(estimate, effect=r, statistic=t, df=float(n - 2), p=p)
    if n < 4:
        return replace(estimate, reason=THREE_UNITS)
    z, reach = math.atanh(r), float(special.ndtri((1 + level) / 2)) / math.sqrt(n - 3)
    return replace(estimate, effect_low=math.tanh(z - reach), effect_high=math.tanh(z + reach))

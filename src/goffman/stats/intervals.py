"""Intervals of numbers from 0 to 1: a share, a mean, an area under the ROC curve.

Those of a share and of an area are found by asking which true values could have given the number:
the ends are where it lies z standard errors away, by the error at that end and not at the number.
So there is an interval at 0 and 1 too, where the number's own error would be none.

    share   SE² = p(1 − p)/n; Wilson (1927)
    area    SE² = [A(1 − A) + (m − 1)(Q₁ − A²) + (n − 1)(Q₂ − A²)] / (mn), Q₁ = A/(2 − A),
            Q₂ = 2A²/(1 + A), of m values that should be greater and n that should be less;
            Hanley & McNeil (1982), turned into an interval as in Newcombe (2006)
    mean    t over the values, cut at 0 and 1; of several kinds of them each by its own spread,
            SE² = Σ (n_k/n)² s_k²/n_k, degrees of freedom after Satterthwaite
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

LEVEL = 0.95
Z = float(special.ndtri((1 + LEVEL) / 2))
"""Standard errors from the middle of a 95% interval to its ends."""


def share_interval(share: float, n: float, *, z: float = Z) -> tuple[float, float]:
    """Return the interval of a share of n, with ends z standard errors away."""
    middle, divisor = share + z * z / (2 * n), 1 + z * z / n
    room = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (middle - room) / divisor), min(1.0, (middle + room) / divisor)


def area_interval(area: float, greater: int, less: int) -> tuple[float, float]:
    """Return the interval of an area under the ROC curve.

    ``greater`` and ``less`` count the values that should be greater and those that should be less.
    """

    def near(a: float) -> bool:
        """Return whether the area is at most z errors away from this true area."""
        q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
        parts = (greater - 1) * (q1 - a * a) + (less - 1) * (q2 - a * a)
        squared = (a * (1 - a) + parts) / (greater * less)
        return abs(area - a) <= Z * math.sqrt(max(squared, 0.0))

    return _edge(area, 0.0, near), _edge(area, 1.0, near)


def mean_interval(*kinds: Sequence[float]) -> tuple[float, float] | None:
    """Return the interval of a mean of values from 0 to 1, of one kind or of several together.

    It is None if a kind has fewer than two values, which say nothing of its spread.
    """
    if min(map(len, kinds), default=0) < 2:
        return None
    n = sum(map(len, kinds))
    mean = float(np.concatenate(kinds).mean())
    parts = [float(np.var(kind, ddof=1)) * len(kind) / n**2 for kind in kinds]
    squared = sum(parts)
    if squared == 0:
        return mean, mean
    df = squared**2 / sum(
        part**2 / (len(kind) - 1) for part, kind in zip(parts, kinds, strict=True)
    )
    half = float(special.stdtrit(df, (1 + LEVEL) / 2)) * math.sqrt(squared)
    return max(0.0, mean - half), min(1.0, mean + half)


def _edge(inside: float, outside: float, near: Callable[[float], bool]) -> float:
    """Return the point from which values are no longer near, by bisection between the two."""
    if near(outside):
        return outside
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if near(middle) else (inside, middle)
    return inside

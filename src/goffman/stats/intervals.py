"""The estimate of a contrast or correlation, as every statistic returns it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A contrast of two sets of values with its uncertainty, and how it was computed."""

    contrast: str
    """What is compared, in words; the first set comes first."""
    n: int
    """Values used: pairs if values are paired, otherwise those of both sets together; a condition
    that is in both sets counts once."""
    n_first: int
    n_second: int
    """Values used of each set."""
    left_out: int = 0
    """Values, or pairs, that were missing and so not used."""
    mean_first: float | None = None
    mean_second: float | None = None
    """The means of the values used; None: there are none."""
    difference: float | None = None
    """Mean of the first minus mean of the second; None for a correlation too."""
    low: float | None = None
    high: float | None = None
    """The interval of the difference."""
    level: float | None = None
    """Confidence of the intervals, such as 0.95; None: the method gives none."""
    effect: float | None = None
    """The effect size, with the sign of the difference."""
    effect_name: str | None = None
    """The effect size by name: "Cohen's d, pooled SD" …"""
    effect_low: float | None = None
    effect_high: float | None = None
    """The interval of the effect, at the same level."""
    second_effect: float | None = None
    """Another effect size, reported beside the first."""
    second_effect_name: str | None = None
    second_effect_low: float | None = None
    second_effect_high: float | None = None
    test: str | None = None
    """The name of the test; None: an interval only."""
    alternative: Literal["two-sided"] | None = None
    """None: there is no test."""
    statistic: float | None = None
    """The test's statistic: t, or the standardized difference of shares."""
    df: float | None = None
    """Degrees of freedom, if the test has them."""
    error: float | None = None
    """The standard error of the difference, if the test has one."""
    sentences: int | None = None
    """The number of different sentences that it is over: items times families of wordings; None:
    there is no such number, as for sentence pairs."""
    p: float | None = None
    """0 < p ≤ 1, not corrected; one too small to be written is the smallest normal float."""
    p_adjusted: float | None = None
    """The p-value corrected over the family; None: not corrected, or there is no p."""
    correction: Literal["benjamini-hochberg"] | None = None
    family: str | None = None
    """The declared family of tests that the correction is over."""
    family_size: int | None = None
    """The number of tests of the family that have a p; those without one are not counted."""
    method: str
    """How interval, p and effects were computed."""
    reason: str | None = None
    """Why a value is null that the method gives otherwise."""
    unit: str | None = None
    """What n counts: conditions, items × conditions, sentence pairs, trials …"""
    interval_over: str | None = None
    """What the interval takes as sampled, which need not be what n counts."""
    indifference_p: float | None = None
    """For a model's share compared with people's: the one-sided p against the share of people if
    they were as indifferent as the model; None: the model's indifference is unknown."""


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

    It is None if a kind has fewer than two values, since nothing then shows its spread.
    """
    if min(map(len, kinds), default=0) < 2:
        return None
    n = sum(map(len, kinds))
    mean = float(np.concatenate(kinds).mean())
    sizes = np.array([len(kind) for kind in kinds])
    parts = np.array([np.var(kind, ddof=1) for kind in kinds]) * sizes / n**2
    squared = float(parts.sum())
    if squared == 0:
        return mean, mean
    df = squared**2 / (parts**2 / (sizes - 1)).sum()
    half = float(special.stdtrit(df, (1 + LEVEL) / 2)) * math.sqrt(squared)
    return max(0.0, mean - half), min(1.0, mean + half)


def _edge(inside: float, outside: float, near: Callable[[float], bool]) -> float:
    """Return the point at which ``near`` becomes false, by bisection between the two values."""
    if near(outside):
        return outside
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if near(middle) else (inside, middle)
    return inside

"""Standardised mean differences, each with its interval.

Two independent sets: d = (m₁ − m₂) / s_p with s_p² = ((n₁−1)s₁² + (n₂−1)s₂²) / (n₁+n₂−2)
(Cohen 1988). d·√(n₁n₂/(n₁+n₂)) is Student's t, which follows a noncentral t: the interval is that
of its noncentrality, divided by the same root (Steiger & Fouladi 1997). It is exact for normal
values with equal variances.

Hedges' g = J·d with J = Γ(ν/2) / (√(ν/2) Γ((ν−1)/2)), ν = n₁+n₂−2, is unbiased for the same δ
(Hedges 1981); so the exact interval of δ is the one of d, and is not multiplied by J.

Pairs: d_z = mean / SD of the differences; d_z·√n is the paired t, and its interval is exact in the
same way. Cohen's d with the pooled SD, s² = (s₁² + s₂²)/2, takes no note of the pairing, but its
large-sample interval does, d ± z·SE (Bonett 2008):

    SE² = d² (s₁⁴ + s₂⁴ + 2 s₁₂²) / (8 s⁴ (n−1)) + (s₁² + s₂² − 2 s₁₂) / (s² (n−1))
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize, special

from goffman.stats.samples import apart, check_level, in_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.samples import Samples, Values

D_POOLED = "Cohen's d, pooled SD"
D_Z = "Cohen's d_z"
HEDGES_G = "Hedges' g"

FAR = 9.0
"""Standard deviations beyond which a normal tail is nothing: 1e-19."""

NODES = 100
"""Of the quadrature: with them it is exact to 1e-13."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """An effect size, and what is needed to doubt it."""

    name: str
    value: float | None = None
    """In standard deviations, with the sign of first minus second; None: not defined here."""
    low: float | None = None
    high: float | None = None
    """The interval, or None."""
    level: float
    """Of the interval, such as 0.95."""
    reason: str | None = None
    """Why there is no value, or no interval."""


def cohen_d(first: Values, second: Values, *, level: float = 0.95) -> Effect:
    """Cohen's d of two independent sets, with the pooled SD and its exact interval."""
    return d_of(apart(first, second), level=level)


def paired_cohen_d(first: Values, second: Values, *, level: float = 0.95) -> Effect:
    """Cohen's d of pairs with the pooled SD, as for two independent sets of the same values."""
    return paired_d_of(in_pairs(first, second), level=level)


def cohen_d_z(first: Values, second: Values, *, level: float = 0.95) -> Effect:
    """Cohen's d_z of pairs: mean over SD of the differences, with its exact interval."""
    return d_z_of(in_pairs(first, second), level=level)


def d_of(samples: Samples, *, level: float, interval: bool = True) -> Effect:
    """As cohen_d, of two sets without gaps; the interval takes most of the time."""
    check_level(level)
    if samples.obstacle:
        return Effect(name=D_POOLED, level=level, reason=samples.obstacle)
    n1, n2 = len(samples.first), len(samples.second)
    d = float(samples.first.mean() - samples.second.mean()) / pooled_sd(samples)
    if not interval:
        return Effect(name=D_POOLED, value=d, level=level)
    return _scaled(D_POOLED, d, level=level, df=n1 + n2 - 2, root=math.sqrt(n1 * n2 / (n1 + n2)))


def unbiased(d: Effect, *, df: int) -> Effect:
    """Hedges' g, made of Cohen's d of two independent sets."""
    value = None if d.value is None else unbiasing(df) * d.value
    return replace(d, name=HEDGES_G, value=value)


def d_z_of(samples: Samples, *, level: float, interval: bool = True) -> Effect:
    """As cohen_d_z, of pairs without gaps; the interval takes most of the time."""
    check_level(level)
    if samples.obstacle:
        return Effect(name=D_Z, level=level, reason=samples.obstacle)
    differences, n = samples.differences, len(samples.first)
    d_z = float(differences.mean() / differences.std(ddof=1))
    if not interval:
        return Effect(name=D_Z, value=d_z, level=level)
    return _scaled(D_Z, d_z, level=level, df=n - 1, root=math.sqrt(n))


def paired_d_of(samples: Samples, *, level: float) -> Effect:
    """As paired_cohen_d, of pairs without gaps."""
    check_level(level)
    if samples.obstacle:
        return Effect(name=D_POOLED, level=level, reason=samples.obstacle)
    (v1, both), (_, v2) = np.cov(samples.first, samples.second)
    df, square = len(samples.first) - 1, (v1 + v2) / 2
    d = float(samples.differences.mean() / np.sqrt(square))
    v1, v2, both = v1 / square, v2 / square, both / square
    of_sd = d**2 * (v1**2 + v2**2 + 2 * both**2) / (8 * df)
    of_mean = (v1 + v2 - 2 * both) / df
    reach = float(special.ndtri((1 + level) / 2) * np.sqrt(of_sd + of_mean))
    return Effect(name=D_POOLED, value=d, low=d - reach, high=d + reach, level=level)


def pooled_sd(samples: Samples) -> float:
    """Each set's variance weighted by its degrees of freedom, and the root."""
    n1, n2 = len(samples.first), len(samples.second)
    squares = (n1 - 1) * samples.first.var(ddof=1) + (n2 - 1) * samples.second.var(ddof=1)
    return float(np.sqrt(squares / (n1 + n2 - 2)))


def unbiasing(df: int) -> float:
    """Hedges' factor J of these degrees of freedom, exact."""
    logarithm = special.gammaln(df / 2) - special.gammaln((df - 1) / 2) - np.log(df / 2) / 2
    return float(np.exp(logarithm))


def _scaled(name: str, value: float, *, level: float, df: int, root: float) -> Effect:
    """An effect whose product with a root is a noncentral t, with its interval."""
    low, high = noncentrality(value * root, df=df, level=level)
    return Effect(name=name, value=value, low=low / root, high=high / root, level=level)


def noncentrality(t: float, *, df: int, level: float) -> tuple[float, float]:
    """The noncentralities at which t is just too high and just too low."""
    size, ends = abs(t), _chi_range(df)

    def limit(share: float) -> float:
        return float(
            optimize.brentq(
                lambda centre: noncentral_t(size, df=df, centre=centre) - share,
                size * ends[0] - FAR,
                size * ends[1] + FAR,
                xtol=1e-13,
                rtol=1e-14,
            )
        )

    low, high = limit((1 + level) / 2), limit((1 - level) / 2)
    return (low, high) if t >= 0 else (-high, -low)


def noncentral_t(t: float, *, df: int, centre: float) -> float:
    """The share of a noncentral t below t ≥ 0: the mean of Φ(tu − centre) over u = √(χ²/ν).

    Computed here because scipy's has gaps, and its inverse is good to 1e-6 only. Where Φ is 0
    nothing is added, where it is 1 the rest of χ² is, and between them Gauss and Legendre sum.
    """
    if t == 0:
        return float(special.ndtr(-centre))
    ends = _chi_range(df)
    # Called thousands of times: of two numbers np.clip takes as long as all of the rest.
    low, high = (
        min(max(end, ends[0]), ends[1]) for end in ((centre - FAR) / t, (centre + FAR) / t)
    )
    nodes, weights = _quadrature()
    u = low + (high - low) * (nodes + 1) / 2
    scale = math.log(2) + df / 2 * math.log(df / 2) - special.gammaln(df / 2)
    density = np.exp(scale + (df - 1) * np.log(u) - df * u**2 / 2)
    between = (special.ndtr(t * u - centre) * density) @ weights * (high - low) / 2
    return float(between + special.gammaincc(df / 2, df * high**2 / 2))


@cache
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss and Legendre's nodes and weights between −1 and 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


@cache
def _chi_range(df: int) -> tuple[float, float]:
    """Where √(χ²/ν) lies but for 1e-17 on either side."""
    low, high = special.gammaincinv(df / 2, 1e-17), special.gammainccinv(df / 2, 1e-17)
    return math.sqrt(2 * low / df), math.sqrt(2 * high / df)

"""Bootstrap intervals and permutation tests that draw again what was drawn.

Percentile: the (1∓level)/2 quantiles of the statistic over the draws (Efron 1979). BCa: quantiles
at Φ(z₀ + (z₀+z)/(1 − a(z₀+z))), z₀ = Φ⁻¹ of the share of draws below the observed statistic, equal
ones half, and the acceleration a = Σ U³ / (6 (Σ U²)^{3/2}) over the jackknife's influences
U = (n−1)(θ̄ − θ₍ᵢ₎)/n (Efron & Tibshirani 1993, 14.3; Davison & Hinkley 1997, 5.3). Both are
approximate.

Crossed: rows and columns are drawn independently, and a cell counts as often as its row times its
column was drawn (Owen 2007, the pigeonhole bootstrap; McCullagh 2000). The variance of the mean is
then over-stated, by up to twice the part that belongs to single cells, and under-stated by about
1/rows and 1/columns of the parts that belong to these. Where cells are most of what varies, a 95%
interval covers 97 to 100%; where rows are, 92 to 94% with 17, 83% with 4 and 75% with 3: there
``crossed_t`` keeps its level. Only percentiles are given: BCa is not defined for crossed factors.

Permutation tests: of a difference of means by signs or membership, of a correlation by order.

Pairs: under the null hypothesis each difference is as likely with the other sign; sets: each value
is as likely in the other set (Fisher 1935; Pitman 1937). The statistic is the difference of means,
two-sided its size; of sets it is Welch's t, so that unequal variances are no evidence either
(Janssen 1997). Correlation: each value of the second measure is as likely beside any of the
first; the statistic is Pearson's r. Where all arrangements are at most draws + 1 they are
enumerated and p is the share that is at least as extreme, the observed one among them; else
p = (1+b)/(1+m), b of the m random ones (Phipson & Smyth 2010). So p is never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy import special, stats

from goffman.stats.correlation import (
    NAMES,
    Coefficient,
    hindrance,
    product_moment,
    ranked,
)
from goffman.stats.crossed_tests import Shared, cell_means, tables
from goffman.stats.estimate import Alternative, Estimate
from goffman.stats.samples import (
    apart,
    blocks,
    check_choice,
    check_level,
    in_pairs,
    seed_of,
    varies,
)
from goffman.stats.tests import as_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.samples import Samples, Values

Interval = Literal["bca", "percentile"]

ONE_VALUE = "all bootstrap draws gave the same value, so there is no interval"
EMPTY_DRAW = "some bootstrap draws have no value: there are too few units or too many gaps"
BEYOND = "all bootstrap draws lie on one side of the observed value, so there is no BCa interval"


def pairs_bootstrap(
    first: Values,
    second: Values,
    *,
    contrast: str,
    rng: np.random.Generator,
    interval: Interval = "bca",
    draws: int = 9_999,
    level: float = 0.95,
) -> Estimate:
    """The mean difference of pairs, with an interval over pairs."""
    check_choice("interval", interval, allowed=get_args(Interval))
    samples = in_pairs(first, second)
    estimate = _described(samples, contrast, of=f"{interval} bootstrap over pairs", level=level)
    if estimate.reason:
        return estimate
    seed, values = seed_of(rng), samples.differences
    drawn, observed = _means(values, rng=rng, draws=draws), float(values.mean())
    influence = _influence(values)
    low, high, reason = _limits(
        drawn, interval=interval, level=level, observed=observed, influence=influence
    )
    return replace(estimate, low=low, high=high, draws=draws, seed=seed, reason=reason)


def correlation_bootstrap(
    first: Values,
    second: Values,
    *,
    contrast: str,
    rng: np.random.Generator,
    coefficient: Coefficient = "pearson",
    interval: Interval = "bca",
    draws: int = 9_999,
    level: float = 0.95,
) -> Estimate:
    """The correlation of two measures as the effect, with an interval over units."""
    check_choice("interval", interval, allowed=get_args(Interval))
    check_choice("coefficient", coefficient, allowed=get_args(Coefficient))
    check_level(level)
    samples = in_pairs(first, second)
    reason = hindrance(samples)
    estimate = replace(
        samples.estimate(
            contrast=contrast, method=f"{interval} bootstrap over units", reason=reason
        ),
        difference=None,
        level=level,
        effect_name=NAMES[coefficient],
    )
    if reason:
        return estimate
    seed, n = seed_of(rng), len(samples.first)
    chosen = [rng.integers(0, n, size=(count, n)) for count in blocks(draws, n)]
    drawn = np.concatenate(
        [_correlations(samples, rows, coefficient=coefficient) for rows in chosen]
    )
    # Row i holds every unit but i: the n − 1 that follow it, around the circle.
    others = (np.arange(n)[:, None] + np.arange(1, n)) % n
    left = _correlations(samples, others, coefficient=coefficient)
    influence = (n - 1) * (left.mean() - left) / n
    observed = product_moment(*ranked(samples, coefficient))
    low, high, reason = _limits(
        drawn, interval=interval, level=level, observed=observed, influence=influence
    )
    return replace(
        estimate,
        effect=observed,
        effect_low=low,
        effect_high=high,
        draws=draws,
        seed=seed,
        reason=reason,
    )


def crossed_bootstrap(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    contrast: str,
    rng: np.random.Generator,
    shared: Shared = "both",
    draws: int = 9_999,
    level: float = 0.95,
) -> Estimate:
    """The difference of two tables' means, with an interval over their rows and columns.

    What is shared is drawn together in both tables; with both shared a cell counts where both
    tables have it.
    """
    check_level(level)
    one, other = tables(first, second, shared=shared)
    estimate = replace(
        cell_means(one, other, shared=shared, contrast=contrast, method="percentile bootstrap"),
        level=level,
    )
    if estimate.reason:
        return estimate
    seed = seed_of(rng)
    rows, columns = (counts(size, rng=rng, draws=draws) for size in one.shape)
    drawn = _weighted_means(one, rows=rows, columns=columns)
    if shared == "rows":
        columns = counts(other.shape[1], rng=rng, draws=draws)
    elif shared == "columns":
        rows = counts(other.shape[0], rng=rng, draws=draws)
    drawn -= _weighted_means(other, rows=rows, columns=columns)
    low, high, reason = _limits(drawn, interval="percentile", level=level)
    return replace(estimate, low=low, high=high, draws=draws, seed=seed, reason=reason)


def _described(samples: Samples, contrast: str, *, of: str, level: float) -> Estimate:
    """Numbers and means before the draws, with the reason where there is nothing to draw."""
    check_level(level)
    estimate = samples.estimate(contrast=contrast, method=of, reason=samples.obstacle)
    return replace(estimate, level=level)


def _means(
    values: NDArray[np.float64], *, rng: np.random.Generator, draws: int
) -> NDArray[np.float64]:
    """The mean in each draw of as many values with replacement."""
    n = len(values)
    means = [values[rng.integers(0, n, size=(count, n))].mean(axis=1) for count in blocks(draws, n)]
    return np.concatenate(means)


def _influence(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n−1)(θ̄ − θ₍ᵢ₎)/n of a mean, which is (xᵢ − x̄)/n."""
    return np.asarray((values - values.mean()) / len(values))


def _correlations(
    samples: Samples, chosen: NDArray[np.int64], *, coefficient: Coefficient
) -> NDArray[np.float64]:
    """The coefficient of the units chosen in each row; NaN where a measure does not vary."""
    one, other = samples.first[chosen], samples.second[chosen]
    still = (np.ptp(one, axis=1) == 0) | (np.ptp(other, axis=1) == 0)
    if coefficient == "spearman":
        one, other = stats.rankdata(one, axis=1), stats.rankdata(other, axis=1)
    one = one - one.mean(axis=1, keepdims=True)
    other = other - other.mean(axis=1, keepdims=True)
    size = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    size[still] = np.nan
    return np.asarray((one * other).sum(axis=1) / size)


def _limits(
    drawn: NDArray[np.float64],
    *,
    interval: Interval,
    level: float,
    observed: float = 0.0,
    influence: NDArray[np.float64] | None = None,
) -> tuple[float | None, float | None, str | None]:
    """The ends of the interval, or two Nones and the reason."""
    if not np.isfinite(drawn).all():
        return None, None, EMPTY_DRAW
    if not varies(drawn):
        return None, None, ONE_VALUE
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    if interval == "bca":
        below = ((drawn < observed).mean() + (drawn <= observed).mean()) / 2
        if below in (0, 1):
            return None, None, BEYOND
        if influence is None or not np.isfinite(influence).all():
            return None, None, EMPTY_DRAW
        bias, z = special.ndtri(below), special.ndtri(shares)
        acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
        shares = special.ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))
    low, high = np.quantile(drawn, shares)
    return float(low), float(high), None


def counts(size: int, *, rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
    """How often each of so many rows or columns was drawn, a row a draw."""
    chosen = rng.integers(0, size, size=(draws, size)) + size * np.arange(draws)[:, None]
    counts = np.bincount(chosen.ravel(), minlength=draws * size)
    return counts.reshape(draws, size).astype(np.float64)


def _weighted_means(
    table: NDArray[np.float64], *, rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean of the cells in each draw; NaN where no cell with a value was drawn."""
    there = ~np.isnan(table)
    sums = ((rows @ np.where(there, table, 0.0)) * columns).sum(axis=1)
    cells = ((rows @ there.astype(np.float64)) * columns).sum(axis=1)
    return np.asarray(sums / np.where(cells > 0, cells, np.nan))


NO_DIFFERENCES = "all differences are zero, so permuting them changes nothing"
ALL_EQUAL = "all values are equal, so permuting them changes nothing"

ROUNDING = 1e-12
"""Of the largest value: arrangements nearer to the observed one than this count as equal to it."""


def paired_permutation(
    first: Values,
    second: Values,
    *,
    contrast: str,
    rng: np.random.Generator,
    alternative: Alternative = "two-sided",
    draws: int = 9_999,
) -> Estimate:
    """The permutation test of the pairs' mean difference by their signs, as a check."""
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    samples = in_pairs(first, second)
    values, n = samples.differences, len(samples.first)
    estimate = replace(
        samples.estimate(
            contrast=contrast,
            method="signs of the differences",
            reason=samples.absence or (None if values.any() else NO_DIFFERENCES),
        ),
        test="paired permutation",
        alternative=alternative,
    )
    if estimate.reason:
        return estimate
    exact = 2**n <= draws + 1
    seed = None if exact else seed_of(rng)
    permuted = _every_sign(values) if exact else _random_signs(values, rng=rng, draws=draws)
    return _tested(
        estimate, permuted, observed=values.mean(), scale=np.abs(values).max(), seed=seed
    )


def permutation(
    first: Values,
    second: Values,
    *,
    contrast: str,
    rng: np.random.Generator,
    alternative: Alternative = "two-sided",
    draws: int = 9_999,
) -> Estimate:
    """The permutation test of two independent sets' means by Welch's t, as a check."""
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    samples = apart(first, second)
    n1, n = len(samples.first), len(samples.first) + len(samples.second)
    values = np.concatenate([samples.first, samples.second])
    estimate = replace(
        samples.estimate(
            contrast=contrast,
            method="membership of the sets",
            reason=samples.absence or (None if np.ptp(values) else ALL_EQUAL),
        ),
        test="permutation",
        alternative=alternative,
    )
    if estimate.reason:
        return estimate
    # A common shift changes no difference, and costs digits.
    values = values - values.mean()
    exact = math.comb(n, n1) <= draws + 1
    seed = None if exact else seed_of(rng)
    chosen = _every_choice(values, n1) if exact else _random_choices(values, n1, rng, draws)
    permuted = np.concatenate([_welch(some, values) for some in chosen])
    observed = float(_welch(values[None, :n1], values)[0])
    return _tested(
        estimate, permuted, observed=observed, scale=1e3 * max(1.0, abs(observed)), seed=seed
    )


def correlation_permutation(
    first: Values,
    second: Values,
    *,
    contrast: str,
    rng: np.random.Generator,
    alternative: Alternative = "two-sided",
    draws: int = 9_999,
) -> Estimate:
    """The permutation test of Pearson's r by the second measure's order, as a check."""
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    samples = in_pairs(first, second)
    n = len(samples.first)
    estimate = replace(
        samples.estimate(
            contrast=contrast, method="order of the second measure", reason=hindrance(samples)
        ),
        difference=None,
        test="permutation of Pearson's r",
        alternative=alternative,
    )
    if estimate.reason:
        return estimate
    one, other = (values - values.mean() for values in (samples.first, samples.second))
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    exact = math.factorial(n) <= draws + 1
    seed = None if exact else seed_of(rng)
    if exact:
        permuted = other[np.array(list(permutations(range(n))))] @ one
    else:
        orders = (np.tile(other, (count, 1)) for count in blocks(draws, n))
        permuted = np.concatenate([rng.permuted(order, axis=1) @ one for order in orders])
    observed = product_moment(samples.first, samples.second)
    return _tested(estimate, permuted, observed=observed, scale=1.0, seed=seed)


def _tested(
    estimate: Estimate,
    permuted: NDArray[np.float64],
    *,
    observed: float,
    scale: float,
    seed: int | None,
) -> Estimate:
    """The estimate with p: all arrangements where there is no seed, random ones where there is."""
    if estimate.alternative == "two-sided":
        permuted, reached = np.abs(permuted), abs(observed)
    else:
        sign = 1 if estimate.alternative == "greater" else -1
        permuted, reached = permuted * sign, observed * sign
    extreme = int((permuted >= reached - ROUNDING * scale).sum())
    count = len(permuted)
    exact = seed is None
    return replace(
        estimate,
        statistic=float(observed),
        p=as_p(extreme / count if exact else (1 + extreme) / (1 + count)),
        method=f"{estimate.method}, {'all' if exact else 'random'} {count:,} arrangements",
        draws=None if exact else count,
        seed=seed,
    )


def _every_sign(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean under every arrangement of signs."""
    n = len(values)
    return np.asarray(_all_signs(n) @ values / n)


@lru_cache(maxsize=2)
def _all_signs(n: int) -> NDArray[np.float64]:
    """Every arrangement of n signs, a row each."""
    return (1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)).astype(np.float64)


def _random_signs(
    values: NDArray[np.float64], *, rng: np.random.Generator, draws: int
) -> NDArray[np.float64]:
    """The mean under random signs."""
    n = len(values)
    return np.concatenate([signs @ values / n for signs in _signs(n, seed_of(rng), draws)])


@lru_cache(maxsize=2)
def _signs(n: int, seed: int, draws: int) -> list[NDArray[np.int8]]:
    """Random signs, a row a draw; kept, since all sets of one size are permuted from one seed."""
    rng = np.random.default_rng(seed)
    return [
        1 - 2 * rng.integers(0, 2, size=(count, n), dtype=np.int8) for count in blocks(draws, n)
    ]


def _welch(chosen: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Welch's t of each choice of values against the rest; the values' mean is 0."""
    n1 = chosen.shape[1]
    n2 = len(values) - n1
    sums, squares = chosen.sum(axis=1), (chosen**2).sum(axis=1)
    # The rest is what the choice leaves of all.
    means = sums / n1, (values.sum() - sums) / n2
    within = squares - n1 * means[0] ** 2, (values**2).sum() - squares - n2 * means[1] ** 2
    errors = [
        np.maximum(part, 0.0) / (max(size - 1, 1) * size)
        for part, size in zip(within, (n1, n2), strict=True)
    ]
    # Of sets that do not vary the mean difference alone decides, as larger than any t.
    least = np.finfo(np.float64).eps * float((values**2).mean()) / len(values)
    return np.asarray((means[0] - means[1]) / np.sqrt(np.maximum(sum(errors), least)))


def _every_choice(values: NDArray[np.float64], size: int) -> Iterator[NDArray[np.float64]]:
    """Every choice of this many values."""
    yield values[np.array(list(combinations(range(len(values)), size)))]


def _random_choices(
    values: NDArray[np.float64], size: int, rng: np.random.Generator, draws: int
) -> Iterator[NDArray[np.float64]]:
    """Random choices of this many values."""
    for count in blocks(draws, len(values)):
        yield rng.permuted(np.tile(values, (count, 1)), axis=1)[:, :size]

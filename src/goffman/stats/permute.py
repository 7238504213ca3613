"""Permutation tests: of a difference of means by signs or membership, of a correlation by order.

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
from typing import TYPE_CHECKING, get_args

import numpy as np

from goffman.records import Alternative
from goffman.stats.compare import as_p
from goffman.stats.correlate import hindrance, product_moment
from goffman.stats.samples import apart, blocks, check_choice, in_pairs, seed_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.records import Estimate
    from goffman.stats.samples import Values

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

"""Permutation tests against plain loops, scipy and their own laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goffman.stats import samples
from goffman.stats.correlation import NO_SPREAD, TWO_UNITS
from goffman.stats.resampling import (
    ALL_EQUAL,
    NO_DIFFERENCES,
    correlation_permutation,
    paired_permutation,
    permutation,
)

NEAR = {"rel": 1e-9, "abs": 1e-12}
TESTS = [paired_permutation, permutation]
ALL_TESTS = [*TESTS, correlation_permutation]
MIRROR = {"two-sided": "two-sided", "greater": "less", "less": "greater"}

whole = st.integers(-9, 9)
pairs = st.lists(st.tuples(whole, whole), min_size=1, max_size=7)
alternatives = st.sampled_from(sorted(MIRROR))


def fresh(seed=0):
    return np.random.default_rng(seed)


def split(drawn):
    return [float(one) for one, _ in drawn], [float(other) for _, other in drawn]


def share(sums, observed, alternative):
    """How many whole-number statistics are at least as extreme: nothing is rounded."""
    ways = {
        "two-sided": lambda value: abs(value) >= abs(observed),
        "greater": lambda value: value >= observed,
        "less": lambda value: value <= observed,
    }
    return sum(map(ways[alternative], sums)) / len(sums)


@given(pairs, alternatives)
def test_the_paired_test_counts_every_arrangement_of_signs(drawn, alternative):
    first, second = split(drawn)
    differences = [one - other for one, other in drawn]
    ours = paired_permutation(first, second, contrast="", rng=fresh(), alternative=alternative)
    if not any(differences):
        assert (ours.p, ours.reason) == (None, NO_DIFFERENCES)
        return
    sums = [
        sum(sign * d for sign, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert ours.p == pytest.approx(share(sums, sum(differences), alternative), **NEAR)
    assert (ours.seed, ours.draws) == (None, None)
    assert ours.method == f"signs of the differences, all {len(sums)} arrangements"


def welch(first, second):
    """Welch's t as its sign and square, so that all is whole; of sets that do not vary, last."""
    n1, n2 = len(first), len(second)
    gap = Fraction(sum(first), n1) - Fraction(sum(second), n2)
    error = sum(
        sum((x - Fraction(sum(some), n)) ** 2 for x in some) / (max(n - 1, 1) * n)
        for some, n in ((first, n1), (second, n2))
    )
    square = gap**2 / error if error else gap**2 * 10**18
    return square if gap > 0 else -square


@given(
    st.lists(whole, min_size=1, max_size=5), st.lists(whole, min_size=1, max_size=5), alternatives
)
def test_the_independent_test_counts_every_choice(first, second, alternative):
    ours = permutation(first, second, contrast="", rng=fresh(), alternative=alternative)
    values, n1 = first + second, len(first)
    if len(set(values)) == 1:
        assert (ours.p, ours.reason) == (None, ALL_EQUAL)
        return
    every = set(range(len(values)))
    squares = [
        welch([values[k] for k in chosen], [values[k] for k in every - {*chosen}])
        for chosen in combinations(range(len(values)), n1)
    ]
    assert ours.p == pytest.approx(share(squares, welch(first, second), alternative), **NEAR)


def test_unequal_variances_are_no_evidence_of_a_difference():
    """Small sets that vary much against large ones that vary little: means alone reject too often."""
    rng = fresh(11)
    rejected = [
        permutation(
            rng.normal(0, 5, 8), rng.normal(0, 1, 40), contrast="", rng=fresh(k), draws=199
        ).p
        < 0.05
        for k in range(300)
    ]
    assert np.mean(rejected) < 0.1


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided_p_are_scipys(alternative):
    rng = fresh(5)
    first, second = rng.normal(0.5, size=5), rng.normal(size=6)

    def t(one, other, axis):
        return stats.ttest_ind(one, other, axis=axis, equal_var=False).statistic

    def gap(one, other, axis):
        return one.mean(axis=axis) - other.mean(axis=axis)

    ours = permutation(first, second, contrast="", rng=fresh(), alternative=alternative)
    theirs = stats.permutation_test((first, second), t, alternative=alternative)
    assert ours.p == pytest.approx(theirs.pvalue, **NEAR)
    assert ours.statistic == pytest.approx(t(first, second, 0), **NEAR)
    ours = paired_permutation(first, second[:5], contrast="", rng=fresh(), alternative=alternative)
    theirs = stats.permutation_test(
        (first, second[:5]), gap, permutation_type="samples", alternative=alternative
    )
    assert ours.p == pytest.approx(theirs.pvalue, **NEAR)


@given(pairs, alternatives)
def test_the_correlation_test_counts_every_order(drawn, alternative):
    """Σxy in place of r, which rises and falls with it, so that all is whole."""
    drawn = drawn[:6]
    first, second = split(drawn)
    ours = correlation_permutation(first, second, contrast="", rng=fresh(), alternative=alternative)
    if len(drawn) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        assert ours.p is None
        assert ours.reason in (TWO_UNITS, NO_SPREAD)
        return
    n = len(drawn)
    # n Σxy − Σx Σy has the sign of r and its order, two-sided too.
    shift = sum(first) * sum(second)
    sums = [
        n * sum(x * y for x, y in zip(first, order, strict=True)) - shift
        for order in permutations(second)
    ]
    assert ours.p == pytest.approx(share(sums, sums[0], alternative), **NEAR)
    assert ours.statistic == pytest.approx(np.corrcoef(first, second)[0, 1], **NEAR)
    assert ours.difference is None


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_the_correlation_test_is_scipys(alternative):
    rng = fresh(8)
    first, second = rng.normal(size=7), rng.normal(size=7)

    def r(x, axis):
        centred = x - x.mean(axis=axis, keepdims=True)
        other = second - second.mean()
        return (centred * other).sum(axis=axis) / np.sqrt((centred**2).sum(axis=axis))

    theirs = stats.permutation_test(
        (first,), r, permutation_type="pairings", n_resamples=np.inf, alternative=alternative
    )
    ours = correlation_permutation(first, second, contrast="", rng=fresh(), alternative=alternative)
    assert ours.p == pytest.approx(theirs.pvalue, **NEAR)


@pytest.mark.parametrize("test", ALL_TESTS)
def test_random_arrangements_come_near_the_exact_p(test):
    """Within four standard errors of √(p(1−p)/m)."""
    rng = fresh(3)
    first, second = rng.normal(0.4, size=8), rng.normal(size=8)
    exact = test(first, second, contrast="", rng=fresh(), draws=99_999)
    rough = test(first, second, contrast="", rng=fresh(), draws=199)
    assert (exact.seed, rough.seed, rough.draws) == (None, 0, 199)
    assert abs(exact.p - rough.p) < 4 * np.sqrt(exact.p * (1 - exact.p) / 199) + 1 / 200


@pytest.mark.parametrize("test", ALL_TESTS)
def test_p_is_never_0(test):
    first, second = np.arange(40.0) + 1000, np.arange(40.0) / 7
    estimate = test(first, second, contrast="", rng=fresh(), draws=999)
    assert estimate.p == 1 / 1000
    assert test([9.0, 9.5, 9.7], [1.0, 1.5, 1.6], contrast="", rng=fresh()).p > 0


@pytest.mark.parametrize("test", ALL_TESTS)
def test_the_seed_in_the_result_gives_the_same_p_again(test):
    rng = fresh(9)
    first, second = rng.normal(size=30), rng.normal(size=30)
    once = test(first, second, contrast="", rng=fresh(11), draws=499)
    again = test(first, second, contrast="", rng=np.random.default_rng(once.seed), draws=499)
    assert once == again
    used = fresh(11)
    used.random()
    with pytest.raises(ValueError, match="Pass a fresh one"):
        test(first, second, contrast="", rng=used, draws=499)


@pytest.mark.parametrize("test", TESTS)
@given(drawn=pairs, alternative=alternatives, shift=whole, power=st.integers(-4, 4))
def test_laws_of_a_permutation_test(test, drawn, alternative, shift, power):
    """Swapped sets flip it; order, shift and scale leave p; 0 < p ≤ 1."""
    first, second = (np.array(values) for values in split(drawn))
    ours = test(first, second, contrast="", rng=fresh(), alternative=alternative)
    if ours.p is None:
        return
    assert 0 < ours.p <= 1
    back = test(second, first, contrast="", rng=fresh(), alternative=MIRROR[alternative])
    assert (back.p, back.statistic) == pytest.approx((ours.p, -ours.statistic), **NEAR)
    moved = (first[::-1] + shift) * 2.0**power, (second[::-1] + shift) * 2.0**power
    other = test(*moved, contrast="", rng=fresh(), alternative=alternative)
    assert other.p == pytest.approx(ours.p, **NEAR)


@pytest.mark.parametrize(
    ("estimate", "reason"),
    [
        (paired_permutation([], [], contrast="", rng=fresh()), samples.NO_PAIRS),
        (permutation([1.0], [], contrast="", rng=fresh()), samples.NO_VALUES),
        (permutation([1.0], [np.inf], contrast="", rng=fresh()), samples.INFINITE),
    ],
)
def test_a_test_that_is_not_defined_is_null_with_a_reason(estimate, reason):
    assert (estimate.p, estimate.statistic, estimate.reason) == (None, None, reason)


def test_five_trials_against_five_are_enumerated():
    """C(10, 5) = 252; complete separation is 2 of 252 two-sided."""
    estimate = permutation([5, 6, 7, 8, 9], [0, 1, 2, 3, 4], contrast="", rng=fresh())
    assert estimate.p == pytest.approx(2 / 252, **NEAR)
    assert estimate.method == "membership of the sets, all 252 arrangements"

"""Correlations against scipy, pingouin, worked examples and their own laws."""

from __future__ import annotations

import math

import numpy as np
import pingouin
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from goffman.stats.correlation import NO_SPREAD, ON_A_LINE, THREE_UNITS, TWO_UNITS, pearson
from goffman.stats.samples import INFINITE, NO_PAIRS

NEAR = {"rel": 1e-9, "abs": 1e-9}

number = st.integers(-999, 999).map(lambda hundredths: hundredths / 100)
pairs = st.lists(st.tuples(number, number), min_size=4, max_size=30).map(
    lambda drawn: tuple(zip(*drawn, strict=True))
)
alternatives = st.sampled_from(["two-sided", "greater", "less"])


@given(pairs, alternatives)
def test_pearson_is_scipys(drawn, alternative):
    ours = pearson(*drawn, contrast="", alternative=alternative, level=0.9)
    assume(ours.reason is None)
    theirs = stats.pearsonr(*drawn, alternative=alternative)
    assert (ours.effect, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue), **NEAR)
    both = stats.pearsonr(*drawn).confidence_interval(0.9)
    assert (ours.effect_low, ours.effect_high) == pytest.approx((both.low, both.high), **NEAR)
    assert ours.df == len(drawn[0]) - 2
    assert (ours.difference, ours.low, ours.high) == (None, None, None)


def test_pearsons_interval_is_pingouins():
    rng = np.random.default_rng(1)
    first = rng.normal(size=122)
    second = first + rng.normal(size=122)
    ours = pearson(first, second, contrast="")
    low, high = pingouin.compute_esci(stat=ours.effect, nx=122, eftype="r", decimals=12)
    assert (ours.effect_low, ours.effect_high) == pytest.approx((low, high), abs=1e-9)


@given(drawn=pairs, random=st.randoms(use_true_random=False))
def test_laws_of_a_correlation(drawn, random):
    """The same from either measure and in any order; flips with one measure's sign."""
    first, second = drawn
    ours = pearson(first, second, contrast="")
    assume(ours.reason is None)
    assert -1 < ours.effect_low < ours.effect < ours.effect_high < 1
    assert 0 < ours.p <= 1
    order = random.sample(range(len(first)), len(first))
    for other in (
        pearson(second, first, contrast=""),
        pearson([first[i] for i in order], [second[i] for i in order], contrast=""),
        pearson([8 * value + 3 for value in first], second, contrast=""),
    ):
        assert (other.effect, other.p) == pytest.approx((ours.effect, ours.p), **NEAR)
    flipped = pearson([-value for value in first], second, contrast="")
    assert flipped.effect == pytest.approx(-ours.effect, **NEAR)
    assert flipped.effect_low == pytest.approx(-ours.effect_high, **NEAR)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([], [], NO_PAIRS),
        ([1, None, 2], [1, 2, 2], TWO_UNITS),
        ([1, 1, 1], [1, 2, 3], NO_SPREAD),
        ([1, 2, math.inf], [1, 2, 3], INFINITE),
    ],
)
def test_no_correlation_is_null_with_a_reason(first, second, reason):
    estimate = pearson(first, second, contrast="")
    assert (estimate.effect, estimate.p, estimate.effect_low) == (None, None, None)
    assert estimate.reason == reason


def test_perfect_order_is_one_without_p_or_interval():
    estimate = pearson([0.1, 0.2, 0.3, 0.4], [0.3, 0.2, 0.1, 0.0], contrast="")
    assert (estimate.effect, estimate.p, estimate.effect_low) == (-1, None, None)
    assert estimate.reason == ON_A_LINE


def test_three_units_have_a_p_but_no_interval():
    estimate = pearson([1, 2, 4], [1, 3, 2], contrast="")
    assert estimate.p == pytest.approx(stats.pearsonr([1, 2, 4], [1, 3, 2]).pvalue, **NEAR)
    assert (estimate.effect_low, estimate.reason) == (None, THREE_UNITS)

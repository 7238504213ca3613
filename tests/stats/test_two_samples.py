"""Two sets of values: t-tests and Cohen's d against libraries, by hand, and by their own laws."""

from __future__ import annotations

import math
import sys

import numpy as np
import pingouin
import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from goffman.stats import two_samples as samples
from goffman.stats.two_samples import as_p, independent_t, paired_t, without_gaps

NEAR = {"rel": 1e-9, "abs": 1e-12}

number = st.integers(-999, 999).map(lambda hundredths: hundredths / 100)
several = st.lists(number, min_size=2, max_size=30)
pairs = st.lists(st.tuples(number, number), min_size=2, max_size=30)
variances = st.sampled_from(["equal", "unequal"])


def split(drawn):
    return [one for one, _ in drawn], [other for _, other in drawn]


@pytest.mark.parametrize(
    ("first", "second", "paired", "remaining"),
    [
        ([1, None, 3, 4], [2, 2, float("nan"), 5], True, ([1, 4], [2, 5])),
        ([1, None, 3], [None, 5], False, ([1, 3], [5])),
        (pl.Series([0.5, None, 1.5]), [0.5, None], False, ([0.5, 1.5], [0.5])),
    ],
)
def test_gaps_are_left_out_and_counted(first, second, paired, remaining):
    drawn = without_gaps(first, second, paired=paired)
    assert (drawn.first.tolist(), drawn.second.tolist(), drawn.left_out) == (*remaining, 2)


def test_sets_of_different_length_make_no_pairs():
    with pytest.raises(ValueError, match=r"^3 and 2 values do not make pairs$"):
        without_gaps([1, 2, 3], [1, 2], paired=True)


def test_values_that_differ_by_rounding_alone_do_not_vary():
    """0.1 + 0.2 is not 0.3 in floats."""
    assert without_gaps([0.1 + 0.2, 0.3], [0.0, 0.0], paired=True).obstacle
    assert without_gaps([0.3, 0.3 + 1e-12], [0.0, 0.0], paired=True).obstacle is None


@given(pairs)
def test_paired_t_is_scipys(drawn):
    first, second = split(drawn)
    ours = paired_t(first, second, contrast="")
    assume(ours.reason is None)
    theirs = stats.ttest_rel(first, second)
    assert (ours.statistic, ours.df) == pytest.approx((theirs.statistic, theirs.df), **NEAR)
    assert ours.p == pytest.approx(theirs.pvalue, **NEAR)
    both = theirs.confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((both.low, both.high), **NEAR)


@given(several, several, variances)
def test_independent_t_is_scipys_and_statsmodels(first, second, variance):
    ours = independent_t(first, second, contrast="", variances=variance)
    assume(ours.reason is None)
    assume(np.ptp(first) > 0 and np.ptp(second) > 0)
    theirs = stats.ttest_ind(first, second, equal_var=variance == "equal")
    assert (ours.statistic, ours.df) == pytest.approx((theirs.statistic, theirs.df), **NEAR)
    assert ours.p == pytest.approx(theirs.pvalue, **NEAR)
    means = CompareMeans(DescrStatsW(first), DescrStatsW(second))
    usevar = "pooled" if variance == "equal" else "unequal"
    both = means.tconfint_diff(alpha=0.05, usevar=usevar)
    assert (ours.low, ours.high) == pytest.approx(both, **NEAR)


def test_paired_t_by_hand():
    """Differences 1, 2, 3: mean 2, SD 1, t = 2/(1/√3) = 3.464, ν = 2; p = 1 − t/√(t²+2) = .0742."""
    estimate = paired_t([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], contrast="first − second")
    assert estimate.statistic == pytest.approx(2 * math.sqrt(3), **NEAR)
    assert estimate.p == pytest.approx(1 - math.sqrt(12 / 14), **NEAR)
    assert (estimate.n, estimate.n_first, estimate.n_second, estimate.df) == (3, 3, 3, 2)
    assert (estimate.mean_first, estimate.mean_second, estimate.difference) == (4, 2, 2)
    assert estimate.effect == pytest.approx(2 / math.sqrt(2.5), **NEAR)
    assert (estimate.test, estimate.alternative) == ("paired t", "two-sided")
    assert estimate.effect_name == "Cohen's d, pooled SD"
    assert (estimate.contrast, estimate.level) == ("first − second", 0.95)
    assert estimate.reason is None


def test_student_and_welch_by_hand():
    """1, 2, 3 and 2, 4, 6: variances 1 and 4; Student s_p² = 2.5, t = −2/√(2.5·2/3), ν = 4;
    Welch t = −2/√(5/3), ν = (5/3)² / ((1/3)²/2 + (4/3)²/2) = 50/17. With equal n both t agree."""
    student = independent_t([1, 2, 3], [2, 4, 6], contrast="", variances="equal")
    welch = independent_t([1, 2, 3], [2, 4, 6], contrast="")
    assert student.statistic == pytest.approx(-2 / math.sqrt(5 / 3), **NEAR)
    assert welch.statistic == pytest.approx(student.statistic, **NEAR)
    assert (student.df, welch.df) == pytest.approx((4, 50 / 17), **NEAR)
    assert (student.test, welch.test) == ("Student's t", "Welch's t")
    assert (student.n, student.n_first, student.n_second) == (6, 3, 3)


TESTS = [paired_t, independent_t]


@pytest.mark.parametrize("test", TESTS)
@given(drawn=pairs)
def test_swapping_the_sets_flips_every_sign(test, drawn):
    first, second = split(drawn)
    there = test(first, second, contrast="")
    back = test(second, first, contrast="")
    for name in ("difference", "effect"):
        if getattr(there, name) is not None:
            assert getattr(there, name) == pytest.approx(-getattr(back, name), **NEAR)
    if there.low is not None:
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low), **NEAR)
    assert (there.p is None) == (back.p is None)
    if there.p is not None:
        assert there.p == pytest.approx(back.p, **NEAR)


@pytest.mark.parametrize("test", TESTS)
@given(drawn=pairs, random=st.randoms(use_true_random=False))
def test_the_order_of_units_does_not_matter(test, drawn, random):
    shuffled = random.sample(drawn, len(drawn))
    one = test(*split(drawn), contrast="")
    other = test(*split(shuffled), contrast="")
    assert one.reason == other.reason
    if one.p is not None:
        assert (one.p, one.statistic) == pytest.approx((other.p, other.statistic), **NEAR)


@pytest.mark.parametrize("test", TESTS)
@given(drawn=pairs)
def test_p_is_above_0_and_at_most_1(test, drawn):
    p = test(*split(drawn), contrast="").p
    assert p is None or 0 < p <= 1


@pytest.mark.parametrize("test", TESTS)
@given(drawn=pairs, shift=st.integers(-64, 64), power=st.integers(-8, 8))
@example(drawn=[(0.0, 1.0), (0.0, 2.0), (0.0, 4.0)], shift=1, power=0)
def test_shift_and_scale_change_neither_p_nor_effect(test, drawn, shift, power):
    """Quarters and powers of two, so that nothing is rounded."""
    first, second = (np.round(np.array(values) * 4) / 4 for values in split(drawn))
    one = test(first, second, contrast="")
    other = test((first + shift) * 2.0**power, (second + shift) * 2.0**power, contrast="")
    assert one.reason == other.reason
    if one.p is not None:
        assert (one.p, one.effect) == pytest.approx((other.p, other.effect), **NEAR)
        assert other.difference == pytest.approx(one.difference * 2.0**power, **NEAR)


@given(pairs)
def test_the_interval_leaves_out_0_where_p_is_below_its_complement(drawn):
    for test in (paired_t, independent_t):
        estimate = test(*split(drawn), contrast="")
        assume(estimate.reason is None and abs(estimate.p - 0.05) > 1e-9)
        assert (estimate.low > 0 or estimate.high < 0) == (estimate.p < 0.05)


def test_a_p_too_small_to_be_written_is_not_0():
    first = 1e6 + np.arange(200) / 1e6
    assert paired_t(first, np.zeros(200), contrast="").p == sys.float_info.min
    assert (as_p(0.0), as_p(1.0000001)) == (sys.float_info.min, 1.0)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([], [], samples.NO_PAIRS),
        ([1, None], [None, 2], samples.NO_PAIRS),
        ([1], [2], samples.TOO_FEW),
        ([1, 2, 3], [1, 2, 3], samples.CONSTANT_DIFFERENCES),
        ([0.3, 0.2], [0.2, 0.1], samples.CONSTANT_DIFFERENCES),
        ([1, math.inf], [1, 2], samples.INFINITE),
    ],
)
def test_a_paired_t_that_is_not_defined_is_null_with_a_reason(first, second, reason):
    estimate = paired_t(first, second, contrast="")
    assert estimate.reason == reason
    null = ("low", "high", "statistic", "df", "p", "effect")
    assert [getattr(estimate, name) for name in null] == [None] * len(null)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([], [1, 2], samples.NO_VALUES),
        ([1], [2, 3], samples.TOO_FEW),
        ([1, 1], [2, 2, 2], samples.CONSTANT_SETS),
        ([1, -math.inf], [1, 2], samples.INFINITE),
    ],
)
def test_an_independent_t_that_is_not_defined_is_null_with_a_reason(first, second, reason):
    for way in ("equal", "unequal"):
        estimate = independent_t(first, second, contrast="", variances=way)
        assert estimate.reason == reason
        assert (estimate.p, estimate.low, estimate.effect, estimate.df) == (None,) * 4


def test_one_set_that_does_not_vary_is_enough_to_vary_for_the_other():
    estimate = independent_t([1, 1, 1], [2, 3, 5], contrast="")
    assert estimate.reason is None
    assert estimate.df == pytest.approx(2, **NEAR)


def test_means_stay_where_only_the_test_is_undefined():
    estimate = paired_t([3.0], [1.0], contrast="")
    assert (estimate.mean_first, estimate.mean_second, estimate.difference) == (3, 1, 2)


@given(several, several)
def test_cohens_d_is_pingouins(first, second):
    ours = without_gaps(first, second, paired=False).cohen_d
    assume(ours is not None)
    assert ours == pytest.approx(pingouin.compute_effsize(first, second, eftype="cohen"), **NEAR)
    assert without_gaps(second, first, paired=False).cohen_d == pytest.approx(-ours, **NEAR)


@given(pairs)
def test_cohens_d_of_pairs_is_pingouins(drawn):
    sides = split(drawn)
    ours = without_gaps(*sides, paired=True).cohen_d
    assume(ours is not None and all(len({*side}) > 1 for side in sides))
    theirs = pingouin.compute_effsize(*sides, paired=True, eftype="cohen")
    assert ours == pytest.approx(theirs, **NEAR)


@pytest.mark.parametrize("constant", [0.0, 0.5])
def test_against_a_constant_it_is_the_mean_difference_over_its_own_spread(constant):
    values = [1.0, 2.0, 4.0]
    assert without_gaps(values, [constant] * 3, paired=True).cohen_d == pytest.approx(
        (np.mean(values) - constant) / np.std(values, ddof=1)
    )

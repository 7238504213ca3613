"""Intervals of shares, means and areas under the ROC curve, by other ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.proportion import proportion_confint

from goffman.stats.intervals import area_interval, mean_interval, share_interval


@given(st.integers(1, 60), st.floats(0, 1))
def test_a_share_has_wilsons_interval(n, part):
    right = round(part * n)
    expected = proportion_confint(right, n, method="wilson")
    assert share_interval(right / n, n) == pytest.approx(expected, abs=1e-9)


def hanley(a, m, n):
    """The standard error of an area a, from the formula of 1982."""
    q1, q2 = a / (2 - a), 2 * a**2 / (1 + a)
    return np.sqrt((a * (1 - a) + (m - 1) * (q1 - a**2) + (n - 1) * (q2 - a**2)) / (m * n))


@pytest.mark.parametrize(("area", "m", "n"), [(0.98, 10, 10), (0.7, 8, 14), (0.5, 20, 20)])
def test_the_ends_of_an_area_are_z_errors_away(area, m, n):
    z = stats.norm.ppf(0.975)
    low = optimize.brentq(lambda a: area - a - z * hanley(a, m, n), 1e-9, area - 1e-9)
    high = optimize.brentq(lambda a: a - area - z * hanley(a, m, n), area + 1e-9, 1 - 1e-12)
    assert area_interval(area, m, n) == pytest.approx((low, high), abs=1e-7)


def test_a_perfect_area_of_few_items_is_not_sure():
    low, high = area_interval(1.0, 10, 10)
    assert 0.7 < low < 0.9
    assert high == 1.0
    assert area_interval(1.0, 100, 100)[0] > 0.97


def test_the_interval_of_an_area_covers_it():
    rng = np.random.default_rng(8)
    apart, m, n, runs = 2.0, 10, 10, 2_000
    true = stats.norm.cdf(apart / np.sqrt(2))
    greater, less = rng.normal(apart, 1, (runs, m)), rng.normal(0, 1, (runs, n))
    areas = (greater[:, :, None] > less[:, None, :]).mean(axis=(1, 2))
    ends = {area: area_interval(area, m, n) for area in np.unique(areas)}
    covered = np.mean([ends[area][0] <= true <= ends[area][1] for area in areas])
    assert 0.93 <= covered <= 0.99


def test_a_mean_has_the_interval_of_t_within_its_range():
    values = [0.4, 0.7, 0.9, 0.6]
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert mean_interval(values) == pytest.approx(expected)
    assert mean_interval([0.2, 0.99, 0.99]) == (0.0, 1.0)
    assert mean_interval([0.5]) is None


def test_a_mean_of_two_kinds_has_the_spread_within_them_alone():
    assert mean_interval([1.0] * 10, [0.0] * 10) == (0.5, 0.5)
    one, other = [0.4, 0.7, 0.9, 0.6], [0.1, 0.3, 0.2, 0.3]
    low, high = mean_interval(one, other)
    # Half of Welch's interval of the sum of two means.
    found = stats.ttest_ind(one, [-value for value in other], equal_var=False)
    ends = found.confidence_interval()
    assert (low, high) == pytest.approx((ends.low / 2, ends.high / 2))
    assert mean_interval([0.5, 0.6], [0.5]) is None

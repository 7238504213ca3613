"""Clustered tests against statsmodels, where it has them, and against loops over pairs of values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from goffman.records import Estimate
from goffman.stats.clustered import LEAST, clustered_t
from goffman.stats.samples import CONSTANT_DIFFERENCES

ABOUT = Estimate(contrast="x", n=0, n_first=0, n_second=0, method="")


@pytest.fixture
def pairs():
    """Values of 60 sentence pairs, what they share, and which way the stereotype goes."""
    rng = np.random.default_rng(2)
    ways = [rng.integers(0, size, 60) for size in (20, 12, 9)]
    values = rng.normal(0.4, 1, 60) + sum(rng.normal(0, 1, 30)[way] for way in ways)
    return values, ways, rng.choice([-1.0, 1.0], 60)


def by_loops(influence, ways):
    """Inclusion and exclusion, each part summed over all two values that agree in its ways."""
    total, single = 0.0, 0.0
    for size in (1, 2, 3):
        for some in itertools.combinations(ways, size):
            clusters = len(set(zip(*some, strict=True)))
            part = sum(
                influence[i] * influence[j]
                for i, j in itertools.product(range(len(influence)), repeat=2)
                if all(way[i] == way[j] for way in some)
            )
            part *= clusters / (clusters - 1)
            total += part if size != 2 else -part
            single = max(single, part) if size == 1 else single
    return max(total, single)


def test_one_way_is_statsmodels(pairs):
    values, ways, signs = pairs
    ours = clustered_t(ABOUT, values, ways[:1], signs=signs)
    design = np.column_stack([signs, np.ones(60)])
    fitted = sm.OLS(values * signs, design).fit(
        cov_type="cluster", cov_kwds={"groups": ways[0], "use_correction": False}
    )
    clusters = len(set(ways[0]))
    assert ours.difference == pytest.approx(fitted.params[0])
    assert ours.error == pytest.approx(fitted.bse[0] * (clusters / (clusters - 1)) ** 0.5)
    assert ours.df == clusters - 2


@pytest.mark.parametrize("signed", [False, True])
def test_three_ways_are_those_of_loops(pairs, signed):
    values, ways, signs = pairs
    ours = clustered_t(ABOUT, values, ways, signs=signs if signed else None)
    if signed:
        # Of two signs the coefficient is half the sum of both means.
        design = np.column_stack([signs, np.ones(60)])
        solved = np.linalg.solve(design.T @ design, design.T)
        rest = values * signs - design @ (solved @ (values * signs))
        influence = solved[0] * rest
        expected = (values[signs > 0].mean() + values[signs < 0].mean()) / 2
    else:
        influence = (values - values.mean()) / 60
        expected = values.mean()
    error = by_loops(influence, ways) ** 0.5
    df = min(len(set(way)) for way in ways) - 2
    assert ours.difference == pytest.approx(expected)
    assert (ours.error, ours.df) == (pytest.approx(error), df)
    assert ours.p == pytest.approx(2 * stats.t.sf(abs(expected) / error, df))


def test_what_is_common_to_both_signs_has_no_part_in_a_preference(pairs):
    """A model that always prefers one pronoun prefers no stereotype."""
    values, ways, signs = pairs
    before = clustered_t(ABOUT, values, ways, signs=signs)
    after = clustered_t(ABOUT, values + 5 * signs, ways, signs=signs)
    assert (after.difference, after.p) == (
        pytest.approx(before.difference),
        pytest.approx(before.p),
    )


def test_clusters_of_one_give_the_paired_t_but_for_its_degrees_of_freedom():
    values = np.random.default_rng(3).normal(0.3, 1, 40)
    apart = [range(40)]
    ours = clustered_t(ABOUT, values, apart)
    assert ours.statistic == pytest.approx(stats.ttest_1samp(values, 0).statistic)


def test_too_few_clusters_or_values_that_do_not_vary_have_no_p(pairs):
    values, ways, _ = pairs
    few = clustered_t(ABOUT, values, [ways[0], ways[1] % (LEAST - 1)])
    assert few.p is None
    assert few.reason.endswith(f"and a test needs {LEAST}")
    assert clustered_t(ABOUT, np.ones(60), ways).reason == CONSTANT_DIFFERENCES

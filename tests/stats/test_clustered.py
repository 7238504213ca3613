"""Clustered tests against fits by statsmodels that leave out one cluster after another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from goffman.stats.clustered import LEAST, clustered_t
from goffman.stats.estimate import Estimate
from goffman.stats.samples import CONSTANT_DIFFERENCES

ABOUT = Estimate(contrast="x", n=0, n_first=0, n_second=0, method="")


@pytest.fixture
def pairs():
    """Values of 60 sentence pairs, what they share, and which way the stereotype goes."""
    rng = np.random.default_rng(2)
    ways = [rng.integers(0, size, 60) for size in (20, 12, 9)]
    values = rng.normal(0.4, 1, 60) + sum(rng.normal(0, 1, 30)[way] for way in ways)
    return values, ways, rng.choice([-1.0, 1.0], 60)


def left_out(values, design, ways):
    """Inclusion and exclusion of jackknives: each cluster of a part is left out, and fitted anew."""
    total, single = 0.0, 0.0
    whole = sm.OLS(values, design).fit().params[0]
    for size in range(1, len(ways) + 1):
        for some in itertools.combinations(ways, size):
            clusters = list(zip(*some, strict=True))
            part = 0.0
            for one in set(clusters):
                kept = np.array([cluster != one for cluster in clusters])
                part += (whole - sm.OLS(values[kept], design[kept]).fit().params[0]) ** 2
            count = len(set(clusters))
            part *= (count - 1) / count
            total += part if size != 2 else -part
            single = max(single, part) if size == 1 else single
    return max(total, single)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_the_error_is_that_of_leaving_out_one_cluster_after_another(pairs, signed, count):
    values, ways, signs = pairs
    ours = clustered_t(ABOUT, values, ways[:count], signs=signs if signed else None)
    ones = np.ones((60, 1))
    design = np.column_stack([signs, ones]) if signed else ones
    wanted = values * signs if signed else values
    expected = values.mean()
    if signed:
        # Of two signs the coefficient is half the sum of both means.
        expected = (values[signs > 0].mean() + values[signs < 0].mean()) / 2
    error = left_out(wanted, design, ways[:count]) ** 0.5
    df = min(len(set(way)) for way in ways[:count]) - 2
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
    assert few.reason.endswith(f"referents (5), and a test needs at least {LEAST}")
    assert clustered_t(ABOUT, np.ones(60), ways).reason == CONSTANT_DIFFERENCES


def test_a_weight_is_as_many_values_of_the_same_clusters():
    rng = np.random.default_rng(8)
    values, signs = rng.normal(size=90), rng.choice([-1.0, 1.0], 90)
    ways = [rng.integers(0, 9, 90), rng.integers(0, 12, 90)]
    weights = rng.integers(1, 4, 90)
    about = Estimate(contrast="x", n=90, n_first=90, n_second=90, method="")
    weighted = clustered_t(about, values, ways, signs=signs, weights=weights.astype(float))
    repeated = clustered_t(
        about,
        np.repeat(values, weights),
        [np.repeat(way, weights) for way in ways],
        signs=np.repeat(signs, weights),
    )
    for name in ("difference", "error", "df", "p", "low", "high"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-9)


def test_the_reason_names_what_there_is_too_little_of():
    about = Estimate(contrast="x", n=30, n_first=30, n_second=30, method="")
    ways = [np.arange(30) % 10, np.arange(30) % 5]
    found = clustered_t(about, np.arange(30.0), ways, called=("conditions", "items"))
    assert found.p is None
    assert found.reason == "there are too few different items (5), and a test needs at least 6"


def test_values_that_differ_by_their_sign_alone_are_not_tested():
    """As from a model that always picks the option listed first."""
    signs = np.repeat([1.0, -1.0], 12)
    values = np.where(signs > 0, 0.8, 0.2) * signs
    ways = [[f"c{n % 6}" for n in range(24)], [f"i{n // 2 % 6}" for n in range(24)]]
    found = clustered_t(ABOUT, values, ways, signs=signs)
    assert found.p is None
    assert found.reason == CONSTANT_DIFFERENCES

"""Bootstrap intervals against scipy with the same draws, plain loops and their own laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from goffman.stats import samples
from goffman.stats.correlation import NO_SPREAD, TWO_UNITS
from goffman.stats.crossed_tests import ONE_SENTENCE
from goffman.stats.resampling import (
    BEYOND,
    EMPTY_DRAW,
    correlation_bootstrap,
    crossed_bootstrap,
    pairs_bootstrap,
)

NEAR = {"rel": 1e-9, "abs": 1e-12}
INTERVALS = ["bca", "percentile"]
SCIPY = {"bca": "BCa", "percentile": "percentile"}


def fresh(seed=7):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def values():
    """Two skewed sets, as large as a group of conditions."""
    rng = np.random.default_rng(2)
    return rng.exponential(size=29), rng.exponential(size=29) + 0.2


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_pairs_are_scipys_one_sample_of_differences(values, interval, level):
    first, second = values
    ours = pairs_bootstrap(
        first, second, contrast="", rng=fresh(), interval=interval, level=level, draws=999
    )
    theirs = stats.bootstrap(
        (first - second,),
        np.mean,
        rng=fresh(),
        method=SCIPY[interval],
        confidence_level=level,
        n_resamples=999,
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), **NEAR)
    assert ours.difference == pytest.approx(first.mean() - second.mean(), **NEAR)
    assert (ours.n, ours.test, ours.p) == (29, None, None)
    assert (ours.seed, ours.draws, ours.level) == (7, 999, level)
    assert ours.method == f"{interval} bootstrap over pairs"


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_correlations_are_scipys_paired_samples(values, interval, coefficient):
    first, second = (one.round(1) for one in values)
    ours = correlation_bootstrap(
        first,
        second,
        contrast="",
        rng=fresh(),
        coefficient=coefficient,
        interval=interval,
        draws=199,
    )
    plain = stats.pearsonr if coefficient == "pearson" else stats.spearmanr
    theirs = stats.bootstrap(
        (first, second),
        lambda one, other: plain(one, other).statistic,
        paired=True,
        vectorized=False,
        rng=fresh(),
        method=SCIPY[interval],
        n_resamples=199,
    ).confidence_interval
    assert (ours.effect_low, ours.effect_high) == pytest.approx((theirs.low, theirs.high), **NEAR)
    assert ours.effect == pytest.approx(plain(first, second).statistic, **NEAR)
    assert (ours.difference, ours.low) == (None, None)


def naive_crossed(one, other, *, shared, draws, seed):
    """The difference of means of each draw, cell by cell, with the same rows and columns."""
    rng = np.random.default_rng(seed)
    rows, columns = (rng.integers(0, size, size=(draws, size)) for size in one.shape)
    rows2, columns2 = rows, columns
    if shared == "rows":
        columns2 = rng.integers(0, other.shape[1], size=(draws, other.shape[1]))
    if shared == "columns":
        rows2 = rng.integers(0, other.shape[0], size=(draws, other.shape[0]))
    differences = []
    for draw in range(draws):
        first = [one[i, j] for i in rows[draw] for j in columns[draw]]
        second = [other[i, j] for i in rows2[draw] for j in columns2[draw]]
        differences.append(np.nanmean(first) - np.nanmean(second))
    return np.array(differences)


@pytest.mark.parametrize("gaps", [0, 3])
@pytest.mark.parametrize(
    ("shared", "shape"), [("both", (5, 4)), ("rows", (5, 6)), ("columns", (3, 4))]
)
def test_crossed_draws_are_those_of_a_plain_loop(shared, shape, gaps):
    rng = np.random.default_rng(4)
    one, other = rng.normal(size=(5, 4)), rng.normal(size=shape)
    one.flat[:gaps] = np.nan
    ours = crossed_bootstrap(one, other, contrast="", rng=fresh(), shared=shared, draws=99)
    counted = np.where(np.isnan(one), np.nan, other) if shared == "both" else other
    drawn = naive_crossed(one, counted, shared=shared, draws=99, seed=7)
    ends = np.quantile(drawn, [0.025, 0.975])
    assert (ours.low, ours.high) == pytest.approx(tuple(ends), **NEAR)
    assert ours.difference == pytest.approx(np.nanmean(one) - np.nanmean(counted), **NEAR)
    assert ours.left_out == gaps
    assert ours.n_first == 20 - gaps


def test_the_variance_of_crossed_draws_is_owens():
    """Of a complete table without row or column effects the pigeonhole bootstrap's variance of
    the mean is about three times that of the cells (Owen 2007); rows drawn alone give it once."""
    table = np.random.default_rng(1).normal(size=(60, 60))
    drawn = naive_crossed(table, np.zeros((60, 60)), shared="both", draws=300, seed=1)
    wide = crossed_bootstrap(table, np.zeros((60, 60)), contrast="", rng=fresh(1), draws=4999)
    half = (wide.high - wide.low) / 2 / 1.96
    assert (half / (table.std() / 60)) ** 2 == pytest.approx(3, rel=0.15)
    assert drawn.std() == pytest.approx(half, rel=0.15)


@pytest.mark.parametrize("interval", INTERVALS)
def test_swapping_the_sets_flips_the_interval(values, interval):
    first, second = values
    there = pairs_bootstrap(first, second, contrast="", rng=fresh(), interval=interval)
    back = pairs_bootstrap(second, first, contrast="", rng=fresh(), interval=interval)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), **NEAR)


def test_shift_and_scale_carry_over(values):
    once = pairs_bootstrap(*values, contrast="", rng=fresh())
    moved = pairs_bootstrap(*(4 * v + 2 for v in values), contrast="", rng=fresh())
    assert (moved.low, moved.high) == pytest.approx((4 * once.low, 4 * once.high), **NEAR)


def test_a_wider_level_gives_a_wider_interval(values):
    wide = pairs_bootstrap(*values, contrast="", rng=fresh(), level=0.99)
    narrow = pairs_bootstrap(*values, contrast="", rng=fresh(), level=0.9)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_seed_in_the_result_gives_the_same_interval_again(values):
    once = pairs_bootstrap(*values, contrast="", rng=fresh(3), draws=499)
    again = pairs_bootstrap(
        *values, contrast="", rng=np.random.default_rng(once.seed), draws=once.draws
    )
    assert once == again
    other = pairs_bootstrap(*values, contrast="", rng=fresh(4), draws=499)
    assert other.low != once.low


def test_blocks_of_draws_change_nothing(values, monkeypatch):
    once = pairs_bootstrap(*values, contrast="", rng=fresh(), draws=999)
    monkeypatch.setattr(samples, "BLOCK", 1000)
    assert pairs_bootstrap(*values, contrast="", rng=fresh(), draws=999) == once


@pytest.mark.parametrize(
    ("bootstrap", "first", "second", "reason"),
    [
        (pairs_bootstrap, [1.0, 2.0], [1.0, 2.0], samples.CONSTANT_DIFFERENCES),
        (pairs_bootstrap, [None], [1.0], samples.NO_PAIRS),
        (correlation_bootstrap, [1.0, 2.0], [1.0, 2.0], TWO_UNITS),
        (correlation_bootstrap, [1.0, 1.0, 1.0], [1.0, 2.0, 3.0], NO_SPREAD),
        (correlation_bootstrap, [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], EMPTY_DRAW),
        (crossed_bootstrap, np.ones((1, 4)), np.zeros((1, 4)), ONE_SENTENCE),
        (crossed_bootstrap, np.ones((3, 4)), np.zeros((3, 4)), samples.CONSTANT_DIFFERENCES),
        (crossed_bootstrap, np.full((3, 4), np.nan), np.zeros((3, 4)), samples.NO_PAIRS),
    ],
)
def test_an_interval_that_is_not_defined_is_null_with_a_reason(bootstrap, first, second, reason):
    estimate = bootstrap(first, second, contrast="", rng=fresh(), draws=99)
    assert (estimate.low, estimate.high, estimate.effect_low) == (None, None, None)
    assert estimate.reason == reason


def test_a_table_with_too_many_gaps_has_draws_without_a_cell():
    table = np.full((3, 3), np.nan)
    table[0, 0], table[1, 1] = 1.0, 2.0
    estimate = crossed_bootstrap(table, np.zeros((3, 3)), contrast="", rng=fresh(), draws=99)
    assert (estimate.low, estimate.reason) == (None, EMPTY_DRAW)


def test_bca_says_when_all_draws_lie_on_one_side():
    """One draw cannot lie on both sides of what was observed."""
    estimate = pairs_bootstrap(
        [1.0, 2.0, 4.0, 7.5], [0.0, 0.3, 0.1, 0.7], contrast="", rng=fresh(), draws=2
    )
    assert (estimate.low, estimate.reason) == (None, BEYOND)


def test_tables_that_share_rows_must_have_as_many():
    with pytest.raises(ValueError, match=r"^tables that share their rows have 3 and 4 of them$"):
        crossed_bootstrap(
            np.zeros((3, 2)), np.zeros((4, 5)), contrast="", rng=fresh(), shared="rows"
        )

"""Effect sizes of crossed tables: the interval by plain loops, and its own laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from goffman.stats import crossed_effect_sizes as module
from goffman.stats.crossed_effect_sizes import crossed_effects, row_sums
from goffman.stats.crossed_tests import GAPS, crossed_t
from goffman.stats.effect_sizes import (
    cohen_d,
    cohen_d_z,
    paired_cohen_d,
    unbiased,
)

NEAR = {"rel": 1e-9, "abs": 1e-12}


def make(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(rows, 1)), rng.normal(size=(1, columns))
    return 0.8 + parts[0] + parts[1] + rng.normal(size=(rows, columns))


def effects(first, second, shared, draws=50):
    tested = crossed_t(first, second, contrast="", shared=shared)
    rng = np.random.default_rng(7)
    return tested, crossed_effects(tested, first, second, shared=shared, rng=rng, draws=draws)


def drawn_tables(first, second, shared, draws=50):
    """Both tables in each draw, put together row by row and column by column."""
    rng = np.random.default_rng(7)

    def chosen(size):
        return rng.integers(0, size, size=(draws, size))

    rows, columns = chosen(first.shape[0]), chosen(first.shape[1])
    other_columns = chosen(second.shape[1]) if shared == "rows" else columns
    other_rows = chosen(second.shape[0]) if shared == "columns" else rows
    for r, c, r2, c2 in zip(rows, columns, other_rows, other_columns, strict=True):
        yield first[np.ix_(r, c)], second[np.ix_(r2, c2)]


def interval(d, s, tested, spreads):
    """d ± t·√((SE/s)² + d²·CV²)."""
    se = tested.difference / tested.statistic
    cv = np.std(spreads, ddof=1) / np.mean(spreads)
    reach = stats.t.ppf(0.975, tested.df) * np.sqrt((se / s) ** 2 + (d * cv) ** 2)
    return d - reach, d + reach


def pooled(one, other):
    n1, n2 = one.size, other.size
    squares = (n1 - 1) * one.var(ddof=1) + (n2 - 1) * other.var(ddof=1)
    return np.sqrt(squares / (n1 + n2 - 2))


@pytest.mark.parametrize("shared", ["both", "rows", "columns"])
def test_the_interval_is_that_of_plain_loops(shared):
    first = make(6, 5)
    second = make(7 if shared == "columns" else 6, 4 if shared == "rows" else 5, seed=1) - 1
    tested, (d, beside) = effects(first, second, shared)
    draws = list(drawn_tables(first, second, shared))
    s = pooled(first, second)
    low, high = interval(d.value, s, tested, [pooled(*tables) for tables in draws])
    assert (d.low, d.high) == pytest.approx((low, high), **NEAR)
    if shared == "both":
        plain = (
            paired_cohen_d(first.ravel(), second.ravel()),
            cohen_d_z(first.ravel(), second.ravel()),
        )
        spreads = [(one - other).std(ddof=1) for one, other in draws]
        s = (first - second).std(ddof=1)
        ends = interval(beside.value, s, tested, spreads)
    else:
        d_of_cells = cohen_d(first.ravel(), second.ravel())
        plain = d_of_cells, unbiased(d_of_cells, df=first.size + second.size - 2)
        ends = low, high
    assert (beside.low, beside.high) == pytest.approx(ends, **NEAR)
    assert (d.value, beside.value) == pytest.approx([one.value for one in plain], **NEAR)
    assert (d.name, beside.name) == tuple(one.name for one in plain)


@pytest.mark.parametrize("shared", ["both", "rows", "columns"])
def test_swapped_tables_flip_it_and_scale_and_shift_change_nothing(shared):
    first, second = make(5, 6), make(5, 6, seed=1) - 0.5
    _, there = effects(first, second, shared)
    _, moved = effects(first * 8 + 3, second * 8 + 3, shared)
    _, back = effects(second, first, shared)
    for one, other, turned in zip(there, moved, back, strict=True):
        assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-9)
        assert turned.value == pytest.approx(-one.value, **NEAR)
        if shared == "both":
            assert (turned.low, turned.high) == pytest.approx((-one.high, -one.low), **NEAR)


def test_without_the_crossed_t_there_is_a_value_and_the_reason():
    first, second = make(4, 5), make(4, 5, seed=1)
    first[2, 3] = np.nan
    tested, (d, d_z) = effects(first, second, "both")
    assert tested.reason == GAPS
    for effect in (d, d_z):
        assert effect.value is not None
        assert (effect.low, effect.high, effect.reason) == (None, None, GAPS)


def test_rows_are_summed_to_the_last_bit_as_numpy_does():
    rng = np.random.default_rng(5)
    for columns in range(1, 20):
        table = rng.normal(size=(300, columns)) * 10.0 ** rng.integers(-9, 9, size=(300, columns))
        assert (row_sums(table) == table.sum(axis=1)).all()


def test_draws_that_are_kept_are_those_that_would_be_made():
    rng = np.random.default_rng(6)
    first, second, third = (rng.normal(size=(5, 4)) for _ in range(3))

    def found(one, other):
        tested = crossed_t(one, other, contrast="x")
        fresh = np.random.default_rng(3)
        return crossed_effects(tested, one, other, shared="both", rng=fresh, draws=99)

    kept = [found(first, third), found(second, third), found(third, second)]
    for (one, other), before in zip(
        ((first, third), (second, third), (third, second)), kept, strict=True
    ):
        module._weights.cache_clear()
        module._squares_of_second.cache_clear()
        assert found(one, other) == before

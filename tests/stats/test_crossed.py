"""The crossed t against an analysis of variance, a mixed model's variance, and its own laws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from goffman.stats import samples
from goffman.stats.crossed_tests import (
    GAPS,
    ONE_CONDITION,
    ONE_SENTENCE,
    TWO_CONDITIONS,
    TWO_SENTENCES,
    crossed_t,
)

NEAR = {"rel": 1e-9, "abs": 1e-12}


def make(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(rows, 1)), rng.normal(size=(1, columns))
    return 0.3 + parts[0] + parts[1] + rng.normal(size=(rows, columns))


def mean_squares(table):
    """Rows, columns and cells by statsmodels' analysis of variance."""
    rows, columns = np.indices(table.shape)
    frame = pd.DataFrame({"y": table.ravel(), "row": rows.ravel(), "column": columns.ravel()})
    found = anova_lm(ols("y ~ C(row) + C(column)", data=frame).fit())
    return (found["sum_sq"] / found["df"]).to_numpy()


def test_one_table_of_differences_is_the_analysis_of_variance():
    first, second = make(4, 11), make(4, 11, seed=1)
    ours = crossed_t(first, second, contrast="")
    rows, columns, cells = mean_squares(first - second)
    error = np.sqrt((rows + columns - cells) / 44)
    df = (rows + columns - cells) ** 2 / (rows**2 / 3 + columns**2 / 10 + cells**2 / 30)
    t = (first - second).mean() / error
    assert (ours.statistic, ours.df) == pytest.approx((t, df), **NEAR)
    assert ours.p == pytest.approx(2 * stats.t.sf(abs(t), df), **NEAR)
    low, high = stats.t.interval(0.95, df, loc=(first - second).mean(), scale=error)
    assert (ours.low, ours.high) == pytest.approx((low, high), **NEAR)
    assert (ours.n, ours.test) == (44, "crossed t")


@pytest.mark.parametrize("shared", ["rows", "columns"])
def test_two_tables_have_a_common_part_and_parts_of_their_own(shared):
    first, second = make(4, 11), make(4, 9, seed=1)
    given_ = (first, second) if shared == "rows" else (first.T, second.T)
    ours = crossed_t(*given_, contrast="", shared=shared)
    common = np.var(first.mean(axis=1) - second.mean(axis=1), ddof=1) / 4
    parts, degrees = [common], [3]
    for table in (first, second):
        _, columns, cells = mean_squares(table)
        parts += [columns / table.size, -cells / table.size]
        degrees += [table.shape[1] - 1, 3 * (table.shape[1] - 1)]
    df = sum(parts) ** 2 / sum(p**2 / d for p, d in zip(parts, degrees, strict=True))
    t = (first.mean() - second.mean()) / np.sqrt(sum(parts))
    assert (ours.statistic, ours.df) == pytest.approx((t, df), **NEAR)


def test_the_variance_does_not_fall_below_that_of_the_cells():
    """Row and column means all 0: their mean squares are 0, and only the cells are left."""
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    table = np.outer(signs, signs) + 5
    ours = crossed_t(table, np.zeros((4, 4)), contrast="")
    # 16 squares of 1 over 9 degrees of freedom, over 16 cells.
    assert ours.statistic == pytest.approx(5 / np.sqrt(16 / 9 / 16), **NEAR)


@pytest.mark.parametrize(("shape", "reason"), [((2, 17), TWO_SENTENCES), ((17, 2), TWO_CONDITIONS)])
def test_two_rows_or_columns_are_no_test(shape, reason):
    """A test of two that vary would be false in about 10 of 100 null audits, by this simulation."""
    rng = np.random.default_rng(6)
    table = 0.05 + rng.normal(0, 0.01, shape)
    ours = crossed_t(table, np.zeros(shape), contrast="")
    assert (ours.p, ours.low, ours.reason) == (None, None, reason)
    assert ours.difference == pytest.approx(table.mean())


def false_alarms(columns, *, runs=3_000):
    """The share of null tables of 17 rows that the crossed t calls clear, by its formula alone."""
    rng = np.random.default_rng(7)
    drawn = (
        0.0557 * rng.normal(size=(runs, 17, 1))
        + 0.07 * rng.normal(size=(runs, 1, columns))
        + 0.03 * rng.normal(size=(runs, 17, columns))
    )
    of_rows, of_columns, mean = drawn.mean(axis=2), drawn.mean(axis=1), drawn.mean(axis=(1, 2))
    rest = drawn - of_rows[:, :, None] - of_columns[:, None] + mean[:, None, None]
    df = np.array([16, columns - 1, 16 * (columns - 1)])
    parts = np.stack(
        [
            of_rows.var(axis=1, ddof=1) / 17,
            of_columns.var(axis=1, ddof=1) / columns,
            (rest**2).sum(axis=(1, 2)) / df[2] / (17 * columns),
        ]
    )
    variance = np.maximum(parts[0] + parts[1] - parts[2], parts[2])
    freedom = variance**2 / (parts**2 / df[:, None]).sum(axis=0)
    return np.mean(2 * stats.t.sf(np.abs(mean) / np.sqrt(variance), freedom) < 0.05)


def test_why_a_test_needs_three():
    assert false_alarms(2) > 0.09
    assert false_alarms(3) < 0.09
    assert false_alarms(6) < 0.065


tables = st.tuples(st.integers(3, 6), st.integers(3, 6), st.integers(0, 10**6)).map(
    lambda drawn: (make(*drawn[:2], seed=drawn[2]), make(*drawn[:2], seed=drawn[2] + 1))
)


@pytest.mark.parametrize("shared", ["both", "rows", "columns"])
@given(drawn=tables, random=st.randoms(use_true_random=False))
def test_laws_of_the_crossed_t(shared, drawn, random):
    """Swapped tables flip it; the order of rows and columns, shift and scale leave p."""
    first, second = drawn
    ours = crossed_t(first, second, contrast="", shared=shared)
    assert 0 < ours.p <= 1
    assert ours.low < ours.difference < ours.high
    back = crossed_t(second, first, contrast="", shared=shared)
    assert (back.p, back.low) == pytest.approx((ours.p, -ours.high), **NEAR)
    rows, columns = (random.sample(range(size), size) for size in first.shape)
    grid = np.ix_(rows, columns)
    moved = crossed_t(8 * first[grid] + 3, 8 * second[grid] + 3, contrast="", shared=shared)
    assert moved.p == pytest.approx(ours.p, rel=1e-7)


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (np.ones((3, 4)), samples.CONSTANT_DIFFERENCES),
        (np.ones((3, 1)), ONE_CONDITION),
        (np.ones((1, 3)), ONE_SENTENCE),
        (np.array([[1.0, 2.0], [np.nan, 3.0]]), GAPS),
        (np.full((2, 2), np.nan), samples.NO_PAIRS),
    ],
)
def test_a_test_that_is_not_defined_is_null_with_a_reason(first, reason):
    estimate = crossed_t(first, np.zeros(first.shape), contrast="")
    assert (estimate.p, estimate.low, estimate.df) == (None, None, None)
    assert estimate.reason == reason

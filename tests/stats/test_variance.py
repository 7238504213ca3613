"""Variance components of complete tables: against plain loops, and against what was put in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from goffman.stats.crossed import variance_components


def naive_two_ways(table):
    """σ² of rows, columns and what is left, by the ANOVA table of a textbook, in plain loops."""
    rows, columns = table.shape
    grand = sum(table[i, j] for i in range(rows) for j in range(columns)) / table.size
    of_row = [sum(table[i]) / columns for i in range(rows)]
    of_column = [sum(table[:, j]) / rows for j in range(columns)]
    ms_rows = columns * sum((one - grand) ** 2 for one in of_row) / (rows - 1)
    ms_columns = rows * sum((one - grand) ** 2 for one in of_column) / (columns - 1)
    left = 0.0
    for i in range(rows):
        for j in range(columns):
            left += (table[i, j] - of_row[i] - of_column[j] + grand) ** 2
    ms_left = left / ((rows - 1) * (columns - 1))
    return {
        (0,): (ms_rows - ms_left) / columns,
        (1,): (ms_columns - ms_left) / rows,
        (0, 1): ms_left,
    }


def naive_three_ways(table):
    """The same of three factors: sums of squares by subtraction, expected mean squares by hand."""
    a, b, c = table.shape
    correction = table.sum() ** 2 / table.size
    raw = {}
    for kept in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
        total = 0.0
        for at in itertools.product(*(range(table.shape[axis]) for axis in kept)):
            index = [slice(None)] * 3
            for axis, place in zip(kept, at, strict=True):
                index[axis] = place
            cells = np.atleast_1d(table[tuple(index)])
            total += cells.sum() ** 2 / cells.size
        raw[kept] = total - correction
    ss = {kept: raw[kept] for kept in [(0,), (1,), (2,)]}
    for kept in [(0, 1), (0, 2), (1, 2)]:
        ss[kept] = raw[kept] - ss[kept[0],] - ss[kept[1],]
    ss[0, 1, 2] = raw[0, 1, 2] - sum(ss.values())
    degrees = {kept: np.prod([table.shape[axis] - 1 for axis in kept]) for kept in ss}
    ms = {kept: ss[kept] / degrees[kept] for kept in ss}
    left = ms[0, 1, 2]
    return {
        (0,): (ms[0,] - ms[0, 1] - ms[0, 2] + left) / (b * c),
        (1,): (ms[1,] - ms[0, 1] - ms[1, 2] + left) / (a * c),
        (2,): (ms[2,] - ms[0, 2] - ms[1, 2] + left) / (a * b),
        (0, 1): (ms[0, 1] - left) / c,
        (0, 2): (ms[0, 2] - left) / b,
        (1, 2): (ms[1, 2] - left) / a,
        (0, 1, 2): left,
    }


@pytest.mark.parametrize(
    ("shape", "naive"), [((5, 4), naive_two_ways), ((6, 4, 3), naive_three_ways)]
)
def test_the_components_are_those_of_an_analysis_of_variance(shape, naive):
    table = np.random.default_rng(1).normal(size=shape)
    found, expected = variance_components(table), naive(table)
    assert set(found) == set(expected)
    for source, value in expected.items():
        assert found[source] == pytest.approx(value, abs=1e-12)
    assert any(value < 0 for value in found.values()), "what is below 0 is not hidden here"


def test_what_was_put_into_four_factors_comes_out():
    rng = np.random.default_rng(2)
    put = {(0,): 4.0, (1,): 1.0, (3,): 9.0, (0, 1): 2.0, (0, 1, 2, 3): 0.25}
    sizes = (60, 50, 3, 40)
    table = np.zeros(sizes)
    for source, variance in put.items():
        shape = [size if axis in source else 1 for axis, size in enumerate(sizes)]
        table = table + rng.normal(scale=variance**0.5, size=shape)
    found = variance_components(table)
    for source, value in found.items():
        assert value == pytest.approx(put.get(source, 0.0), rel=0.45, abs=0.02)


def test_a_gap_or_a_single_level_is_refused():
    with pytest.raises(ValueError, match="every cell"):
        variance_components(np.array([[1.0, np.nan], [1.0, 2.0]]))
    with pytest.raises(ValueError, match="two levels"):
        variance_components(np.ones((3, 1)))

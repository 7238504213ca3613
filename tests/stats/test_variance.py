"""Variance components of complete tables, and G, Φ and α made of them.

Against plain loops, statsmodels, pingouin, and against what was put in.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pingouin
import pytest
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from goffman.stats.crossed import alpha, components, obstacle, variance_components


def simulated(rng, sizes, variances):
    """A table that is the sum of normal effects with these variances, by their axes."""
    table = np.zeros(sizes)
    for source, variance in variances.items():
        shape = [size if axis in source else 1 for axis, size in enumerate(sizes)]
        table = table + rng.normal(scale=variance**0.5, size=shape)
    return table


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
    ("shape", "naive"),
    [
        ((5, 4), naive_two_ways),
        ((6, 4, 3), naive_three_ways),
        ((8, 5, 2), naive_three_ways),
        ((2, 2, 2), naive_three_ways),
    ],
)
def test_the_components_are_those_of_an_analysis_of_variance(shape, naive):
    rng, below = np.random.default_rng(1), 0
    for _ in range(20):
        table = rng.normal(size=shape)
        variances, expected = variance_components(table), naive(table)
        assert variances == pytest.approx(expected, abs=1e-12)
        below += min(variances.values()) < 0
        assert components(np.atleast_3d(table)).variances == pytest.approx(
            {source: max(0.0, value) for source, value in expected.items()}, abs=1e-12
        )
    assert below, "what is below 0 is not hidden here"


def test_what_was_put_into_four_factors_comes_out():
    rng = np.random.default_rng(2)
    put = {(0,): 4.0, (1,): 1.0, (3,): 9.0, (0, 1): 2.0, (0, 1, 2, 3): 0.25}
    for source, value in variance_components(simulated(rng, (60, 50, 3, 40), put)).items():
        assert value == pytest.approx(put.get(source, 0.0), rel=0.45, abs=0.02)


def test_a_gap_or_a_single_level_is_refused():
    with pytest.raises(ValueError, match="every cell"):
        variance_components(np.array([[1.0, np.nan], [1.0, 2.0]]))
    with pytest.raises(ValueError, match="two levels"):
        variance_components(np.ones((3, 1)))


def test_mean_squares_are_those_of_statsmodels():
    table = np.random.default_rng(2).normal(size=(6, 4, 3))
    rows = [(*map(str, at), value) for at, value in np.ndenumerate(table)]
    frame = pd.DataFrame(rows, columns=["c", "i", "w", "value"])
    anova = anova_lm(
        smf.ols("value ~ C(c) + C(i) + C(w) + C(c):C(i) + C(c):C(w) + C(i):C(w)", frame).fit()
    )
    ms = anova["mean_sq"]
    variances = variance_components(table)
    assert variances[0, 1, 2] == pytest.approx(ms["Residual"])
    expected = (ms["C(c)"] - ms["C(c):C(i)"] - ms["C(c):C(w)"] + ms["Residual"]) / 12
    assert variances[0,] == pytest.approx(expected)


def test_g_is_the_squared_correlation_with_what_other_items_and_wordings_would_say():
    put = {(0,): 1.0, (1,): 1.0, (2,): 9.0, (0, 1): 1.0, (0, 1, 2): 1.0}
    rng = np.random.default_rng(4)
    correlations = [
        np.corrcoef(*(half.mean(axis=(1, 2)) for half in (table[:, :5, :3], table[:, 5:, 3:])))
        for table in (simulated(rng, (200, 10, 6), put) for _ in range(60))
    ]
    again = float(np.mean([matrix[0, 1] for matrix in correlations]))
    expected = 1 / (1 + 1 / 5 + 1 / 15)
    assert again == pytest.approx(expected, abs=0.02)
    parts = components(simulated(rng, (2000, 5, 3), put))
    assert parts.generalizability == pytest.approx(expected, abs=0.03)
    # Whoever moves all conditions together moves their level, not their order.
    assert parts.dependability < 0.6 * parts.generalizability


def test_g_and_phi_are_shares_of_the_components():
    table = simulated(np.random.default_rng(7), (9, 4, 3), {(0,): 9.0, (1,): 4.0, (0, 1, 2): 1.0})
    parts = components(table)
    c, i, w, ci, cw, iw, e = (
        parts.variances[source] for source in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    )
    relative = ci / 4 + cw / 3 + e / 12
    assert parts.relative_error == pytest.approx(relative)
    assert parts.generalizability == pytest.approx(c / (c + relative))
    assert parts.dependability == pytest.approx(c / (c + relative + i / 4 + w / 3 + iw / 12))


def test_one_wording_leaves_conditions_by_items_and_g_is_alpha():
    put = {(0,): 1.0, (1,): 1.0, (0, 1): 1.0}
    table = simulated(np.random.default_rng(5), (40, 6, 1), put)
    parts = components(table)
    assert parts.variances.keys() == put.keys()
    # Hoyt (1941): α is the generalizability of a mean over these items.
    assert parts.generalizability == pytest.approx(alpha(table[:, :, 0]))


def test_what_does_not_vary_has_no_reliability():
    parts = components(np.ones((4, 3, 2)))
    assert (parts.generalizability, parts.dependability) == (None, None)
    assert alpha(np.ones((4, 3))) is None


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (
            np.zeros((1, 3, 2)),
            "with fewer than two conditions, nothing shows how much conditions differ",
        ),
        (np.zeros((3, 1, 2)), "with only one item, nothing shows how much items differ"),
        (
            np.where(np.arange(24).reshape(4, 3, 2) < 2, np.nan, 1.0),
            "2 of 24 values are missing, and all are needed",
        ),
    ],
)
def test_an_obstacle_is_said(table, why):
    assert obstacle(table) == why
    with pytest.raises(ValueError, match=why):
        components(table)


def test_alpha_is_that_of_pingouin():
    rng = np.random.default_rng(6)
    for items in (2, 3, 9):
        scores = rng.normal(size=(25, 1)) + rng.normal(size=(25, items))
        expected, _ = pingouin.cronbach_alpha(pd.DataFrame(scores))
        assert alpha(scores) == pytest.approx(expected, abs=1e-12)

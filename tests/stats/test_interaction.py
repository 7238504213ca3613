"""The interaction of side, item and group against computations step by step."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from goffman.stats.crossed import interaction


def naive_f(values):
    """values[side][group][condition][item]: sums of squares over every cell, groups of one size."""
    sides, groups, conditions, items = values.shape
    axes = (sides, groups, conditions, items)
    factors = {"m": 0, "g": 1, "c": 2, "i": 3}

    def mean(kept, cell):
        every = [
            values[at]
            for at in itertools.product(*map(range, axes))
            if all(at[factors[name]] == cell[factors[name]] for name in kept)
        ]
        return sum(every) / len(every)

    def sum_of_squares(effect):
        return sum(effect(cell) ** 2 for cell in itertools.product(*map(range, axes)))

    def three_way(cell):
        return (
            mean("mgi", cell)
            - mean("mg", cell)
            - mean("mi", cell)
            - mean("gi", cell)
            + mean("m", cell)
            + mean("g", cell)
            + mean("i", cell)
            - mean("", cell)
        )

    def rest(cell):
        # Conditions are within groups: side × item × condition(group).
        return (
            mean("mgci", cell)
            - mean("mgc", cell)
            - mean("gci", cell)
            - mean("mgi", cell)
            + mean("gc", cell)
            + mean("mg", cell)
            + mean("gi", cell)
            - mean("g", cell)
        )

    top = sum_of_squares(three_way) / ((sides - 1) * (groups - 1) * (items - 1))
    free = (sides - 1) * groups * (conditions - 1) * (items - 1)
    return top / (sum_of_squares(rest) / free), free


def test_with_groups_of_one_size_it_is_the_f_of_the_analysis_of_variance():
    values = np.random.default_rng(3).normal(size=(2, 2, 4, 3))
    values[1, 0] += [0.0, 0.5, 1.5]
    found = interaction([values[1, group] - values[0, group] for group in (0, 1)], "abc")
    f, free = naive_f(values)
    assert math.isclose(found.statistic, f, rel_tol=1e-9)
    # Satterthwaite never has more degrees of freedom than all conditions together.
    assert found.p >= stats.f.sf(f, 2, free) - 1e-12
    assert found.p <= stats.f.sf(f, 2, free / 2) + 1e-12


def test_the_change_of_the_gap_item_by_item_and_its_variance():
    drawn = np.random.default_rng(0)
    truth = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    one, other = (0.05 * drawn.normal(size=(n, 6)) for n in (60, 25))
    found = interaction([one + truth, other], "abcdef")
    by_hand = [np.mean(one[:, i] + truth[i]) - np.mean(other[:, i]) for i in range(6)]
    assert [*found.changes.values()] == pytest.approx(by_hand)
    assert found.sd**2 == pytest.approx(truth.var(ddof=1), rel=0.1)
    assert found.p < 1e-6


def test_without_an_interaction_p_is_below_five_hundredths_as_often_as_it_says():
    drawn = np.random.default_rng(11)
    hits = 0
    for _ in range(2000):
        # Conditions and items move, one group more than the other: no item more than another.
        tables = [
            drawn.normal(size=(n, 1)) + drawn.normal(scale=sd, size=(n, 5)) + shift
            for n, sd, shift in ((12, 1.0, 0.7), (6, 2.0, 0.0))
        ]
        item = drawn.normal(size=5)
        found = interaction([table + item for table in tables], "abcde")
        hits += found.p < 0.05
    assert 0.035 < hits / 2000 < 0.065


def test_nothing_that_varies_has_no_f():
    same = np.ones((4, 3))
    found = interaction([same, 0 * same], "abc")
    assert (found.sd, found.statistic, found.p) == (0.0, None, None)
    assert found.changes == {"a": 1.0, "b": 1.0, "c": 1.0}
    assert interaction([same[:1], same], "abc") is None
    assert interaction([same, np.where(np.eye(4, 3) > 0, np.nan, same)], "abc") is None

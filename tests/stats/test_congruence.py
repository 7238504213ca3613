"""Tucker's φ and the interaction of side, item and group against computations step by step."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from goffman.stats.congruence import Congruence, congruence, interaction, loadings, tucker


def rng():
    return np.random.default_rng(5)


def scale(seed, *, conditions=40, weights=(1.0, 0.8, 0.6, 0.9, 0.7), noise=0.5):
    """Conditions × items with one factor behind them, and its values."""
    drawn = np.random.default_rng(seed)
    factor = drawn.normal(size=(conditions, 1))
    return factor * np.array(weights) + noise * drawn.normal(size=(conditions, len(weights)))


def naive_phi(before, after):
    """By correlations, one at a time, and the power method for the first component."""
    sides = []
    for table in (before, after):
        items = table.shape[1]
        r = np.array(
            [
                [stats.pearsonr(table[:, i], table[:, j])[0] for j in range(items)]
                for i in range(items)
            ]
        )
        vector = np.ones(items)
        for _ in range(400):
            vector = r @ vector
            vector /= math.sqrt(sum(one**2 for one in vector))
        sides.append(vector * math.sqrt(vector @ r @ vector))
    products = sum(a * b for a, b in zip(*sides, strict=True))
    squares = [sum(a * a for a in side) for side in sides]
    return abs(products) / math.sqrt(squares[0] * squares[1])


@pytest.mark.parametrize("seed", range(4))
def test_phi_is_that_of_the_first_component_of_the_correlations(seed):
    before, after = scale(seed), scale(seed + 50, weights=(1.0, -0.4, 0.3, 1.2, 0.8))
    found = congruence(before, after, rng=rng(), draws=19)
    assert math.isclose(found.phi, naive_phi(before, after), rel_tol=1e-9)
    first = np.linalg.eigvalsh(np.corrcoef(before.T))[-1] / before.shape[1]
    assert math.isclose(found.explained[0], first, rel_tol=1e-9)
    assert (found.conditions, found.items) == before.shape


def test_one_factor_on_both_sides_is_one_scale_and_another_factor_is_not():
    same = congruence(scale(1, noise=0.2), 3 * scale(2, noise=0.2) + 1, rng=rng())
    assert same.one_scale
    assert same.low <= same.phi <= same.high
    other = scale(2, weights=(1.0, -1.0, 1.0, -1.0, 0.5), noise=0.2)
    found = congruence(scale(1, noise=0.2), other, rng=rng())
    assert found.one_scale is False
    assert found.high < 0.95


def test_phi_knows_no_unit_no_order_and_no_side():
    before, after = scale(3), scale(4)
    phi = congruence(before, after, rng=rng(), draws=9).phi
    turned = congruence(after, before, rng=rng(), draws=9).phi
    moved = congruence(7 * before - 2, after[:, :] * 0.01, rng=rng(), draws=9).phi
    order = [3, 0, 4, 1, 2]
    mixed = congruence(before[:, order], after[:, order], rng=rng(), draws=9).phi
    assert all(math.isclose(phi, one, rel_tol=1e-9) for one in (turned, moved, mixed))
    assert math.isclose(congruence(before, before, rng=rng(), draws=9).phi, 1.0)
    assert math.isclose(congruence(before, -before, rng=rng(), draws=9).phi, 1.0)


def test_an_item_that_never_varies_loads_by_nothing():
    before = scale(6)
    before[:, 2] = 0.3
    assert loadings(before)[2] == pytest.approx(0.0, abs=1e-12)
    assert tucker(np.zeros(3), np.ones(3)) == 0


def test_the_draws_are_of_conditions_both_sides_together():
    before, after = scale(8, conditions=12), scale(9, conditions=12)
    found = congruence(before, after, rng=rng(), draws=39)
    drawn = rng().integers(12, size=(39, 12))
    again = [naive_phi(before[rows], after[rows]) for rows in drawn]
    assert found.low == pytest.approx(np.quantile(again, 0.025), abs=1e-6)
    assert found.high == pytest.approx(np.quantile(again, 0.975), abs=1e-6)


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ((9, 2), "it takes 3 items, and there are 2"),
        ((3, 5), "it takes 4 conditions, and there are 3"),
    ],
)
def test_too_few_have_a_reason_and_no_phi(shape, why):
    table = np.random.default_rng(0).normal(size=shape)
    assert congruence(table, table, rng=rng()) == Congruence(
        conditions=shape[0], items=shape[1], reason=why
    )


def test_gaps_and_constants_have_a_reason():
    table = scale(1)
    gap = table.copy()
    gap[3, 1] = np.nan
    assert congruence(table, gap, rng=rng()).reason == (
        "not every item has a value for every condition in both runs"
    )
    same = congruence(table, np.full_like(table, 0.5), rng=rng())
    assert same.reason == "in one of the runs no item differs between conditions"
    assert same.one_scale is None


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
    found = interaction([values[1, group] - values[0, group] for group in (0, 1)])
    f, free = naive_f(values)
    assert math.isclose(found.statistic, f, rel_tol=1e-9)
    # Satterthwaite never has more degrees of freedom than all conditions together.
    assert found.p >= stats.f.sf(f, 2, free) - 1e-12
    assert found.p <= stats.f.sf(f, 2, free / 2) + 1e-12


def test_the_change_of_the_gap_item_by_item_and_its_variance():
    drawn = np.random.default_rng(0)
    truth = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    one, other = (0.05 * drawn.normal(size=(n, 6)) for n in (60, 25))
    found = interaction([one + truth, other])
    by_hand = [np.mean(one[:, i] + truth[i]) - np.mean(other[:, i]) for i in range(6)]
    assert found.changes == pytest.approx(by_hand)
    assert found.variance == pytest.approx(truth.var(ddof=1), rel=0.1)
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
        found = interaction([table + item for table in tables])
        hits += found.p < 0.05
    assert 0.035 < hits / 2000 < 0.065


def test_nothing_that_varies_has_no_f():
    same = np.ones((4, 3))
    found = interaction([same, 0 * same])
    assert (found.variance, found.statistic, found.p) == (0.0, None, None)
    assert found.changes == (1.0, 1.0, 1.0)
    assert interaction([same[:1], same]) is None
    assert interaction([same, np.where(np.eye(4, 3) > 0, np.nan, same)]) is None

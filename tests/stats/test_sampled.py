"""The t for conditions, items and wordings at random, against loops and the tests it contains."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from goffman.stats.crossed_tests import (
    GAPS,
    ONE_CONDITION,
    crossed_t,
    sampled,
    sampled_t,
    whole,
)
from goffman.stats.estimate import Estimate
from goffman.stats.samples import CONSTANT_SETS

ABOUT = Estimate(contrast="x", n=0, n_first=0, n_second=0, method="")


def drawn(shape, seed, *, item=0.3, wording=0.2):
    """A table whose conditions, items and wordings all vary, and vary together."""
    rng = np.random.default_rng(seed)
    n, items, wordings = shape
    return (
        rng.normal(size=(n, 1, 1))
        + item * rng.normal(size=(1, items, 1))
        + wording * rng.normal(size=(1, 1, wordings))
        + 0.3 * rng.normal(size=(n, items, 1))
        + 0.2 * rng.normal(size=(n, 1, wordings))
        + 0.1 * rng.normal(size=shape)
    )


def mean_squares(table):
    """Cornfield and Tukey's mean squares of conditions × items × wordings, cell by cell."""
    sizes = table.shape
    found = {}
    for of in ("c", "i", "w", "ci", "cw", "iw", "ciw"):
        total = 0.0
        for cell in itertools.product(*(range(size) for size in sizes)):
            effect = 0.0
            for size in range(len(of) + 1):
                for some in itertools.combinations(of, size):
                    at = tuple(
                        slice(cell[k], cell[k] + 1) if name in some else slice(None)
                        for k, name in enumerate("ciw")
                    )
                    effect += (-1) ** (len(of) - size) * table[at].mean()
            total += effect**2
        df = np.prod([sizes["ciw".index(name)] - 1 for name in of])
        found[of] = (total / df if df else 0.0, df)
    return found


def by_hand(tables):
    """The formula of the module, from mean squares by loops."""
    for axis in (1, 2):
        if tables[0].shape[axis] == 2:
            tables = [(t.take([0], axis) + t.take([1], axis)) / 2 for t in tables]
    _, items, wordings = tables[0].shape
    cells = items * wordings
    gap = tables[0].mean(axis=0) - (tables[1].mean(axis=0) if len(tables) == 2 else 0)
    of_gap = mean_squares(np.stack([gap, gap + 1]))
    parts = [(np.var(t.mean(axis=(1, 2)), ddof=1) / len(t), len(t) - 1) for t in tables]
    first = sum(part for part, _ in parts)
    # Two equal tables one above the other double the squares of items and wordings.
    for name, sign in (("i", 1), ("w", 1), ("iw", -1)):
        value, df = of_gap[name]
        parts.append((sign * value / 2 / cells, df))
    for table in tables:
        within = mean_squares(table)
        for name, sign in (("ci", -1), ("cw", -1), ("ciw", 1)):
            value, df = within[name]
            parts.append((sign * value / cells / len(table), df))
    variance = max(sum(part for part, _ in parts), first)
    df = variance**2 / sum(part**2 / df for part, df in parts if df)
    return variance, max(df, min(df for part, df in parts if part > 0))


@pytest.mark.parametrize("shape", [(4, 3, 3), (4, 3, 2), (5, 2, 1), (3, 1, 3), (6, 1, 1)])
@pytest.mark.parametrize("groups", [1, 2])
def test_variance_and_degrees_of_freedom_are_those_of_the_formula(shape, groups):
    tables = [drawn(shape, seed) for seed in range(groups)]
    if groups == 2:
        tables[1] = drawn((shape[0] + 2, *shape[1:]), 9)
    found = sampled(tables)
    variance, df = by_hand(tables)
    assert (found.variance, found.df) == (pytest.approx(variance), pytest.approx(df))


def test_with_one_sentence_it_is_welchs_t():
    tables = [drawn((6, 1, 1), 1), 3 * drawn((9, 1, 1), 2)]
    ours = sampled_t(ABOUT, tables)
    theirs = stats.ttest_ind(*(table.ravel() for table in tables), equal_var=False)
    assert (ours.p, ours.df) == (pytest.approx(theirs.pvalue), pytest.approx(theirs.df))
    assert ours.test == "t over conditions"


def test_with_one_wording_it_is_the_crossed_t_of_tables_that_share_their_items():
    tables = [drawn((6, 5, 1), 1, item=3), drawn((9, 5, 1), 2, item=3)]
    ours = sampled_t(ABOUT, tables)
    theirs = crossed_t(*(t[:, :, 0].T for t in tables), contrast="", shared="rows")
    for name in ("difference", "error", "df", "p", "low", "high", "items", "irreducible_se"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name)), name
    assert ours.test == "crossed t"


@pytest.mark.parametrize("shape", [(6, 2, 1), (6, 1, 2), (6, 2, 2)])
def test_two_items_or_wordings_are_taken_as_given(shape):
    tables = [drawn(shape, 1), drawn(shape, 2)]
    ours = sampled_t(ABOUT, tables)
    theirs = stats.ttest_ind(*(table.mean(axis=(1, 2)) for table in tables), equal_var=False)
    assert (ours.p, ours.df) == (pytest.approx(theirs.pvalue), pytest.approx(theirs.df))
    assert ours.test == "t over conditions"


def test_what_is_taken_off_leaves_an_interval_that_ends():
    """These tables' parts for conditions × items almost undo the others: 0.02 of a degree."""
    rng = np.random.default_rng(0)
    dfs = [sampled([rng.normal(size=(3, 3, 3)) for _ in "ab"]).df for _ in range(300)]
    assert min(dfs) == 2


def test_a_shift_moves_the_difference_alone_and_a_scale_everything_alike():
    tables = [drawn((6, 5, 3), 1), drawn((9, 5, 3), 2)]
    found = sampled_t(ABOUT, tables)
    moved = sampled_t(ABOUT, [tables[0] + 2, tables[1]])
    assert (moved.error, moved.df) == (pytest.approx(found.error), pytest.approx(found.df))
    assert moved.difference == pytest.approx(found.difference + 2)
    larger = sampled_t(ABOUT, [10 * table for table in tables])
    assert (larger.statistic, larger.p) == (
        pytest.approx(found.statistic),
        pytest.approx(found.p),
    )


def test_more_items_lower_all_but_the_lasting_error():
    """Of very many items only what conditions and wordings vary is left."""
    few, many = (
        sampled([drawn((20, items, 4), 3, item=0), drawn((20, items, 4), 4, item=0)])
        for items in (6, 600)
    )
    assert many.variance - many.irreducible_se < (few.variance - few.irreducible_se) / 30
    assert few.irreducible_se < few.variance


def test_conditions_that_lack_a_cell_are_left_out_and_sentences_that_nobody_was_asked_forgotten():
    tables = [drawn((6, 3, 2), 1), drawn((5, 3, 2), 2)]
    tables[0][2, 1, 0] = np.nan
    for table in tables:
        table[:, 2] = np.nan
    kept, left_out = whole(tables)
    assert [table.shape for table in kept] == [(5, 2, 2), (5, 2, 2)]
    assert left_out == 1
    nothing, left_out = whole([np.full((3, 2, 2), np.nan)])
    assert (sampled_t(ABOUT, nothing).reason, left_out) == (GAPS, 3)
    tables[1][:, 0, 0] = np.nan
    kept, _ = whole(tables)
    assert sampled_t(ABOUT, kept).reason == GAPS


def test_what_does_not_vary_or_is_too_few_has_no_p():
    constant = [np.full((4, 3, 2), 0.5), np.full((4, 3, 2), 0.2)]
    assert sampled_t(ABOUT, constant).reason == CONSTANT_SETS
    # Only the two items vary, and these are taken as given.
    of_items = [np.broadcast_to(np.array([[[0.1], [0.4]]]), (4, 2, 1)).copy() for _ in "ab"]
    assert sampled_t(ABOUT, of_items).reason == CONSTANT_SETS
    # All conditions have the same mean, over items that trade places.
    turned = [np.array([[1.0, 2, 3], [2, 3, 1], [3, 1, 2]])[:, :, None] for _ in "ab"]
    assert sampled_t(ABOUT, turned).reason == CONSTANT_SETS
    assert sampled_t(ABOUT, [drawn((1, 3, 2), 1), drawn((4, 3, 2), 2)]).reason == ONE_CONDITION


def test_what_varies_over_too_few_sentences_alone_has_no_test():
    """The gap differs between two items, which are taken as given; conditions do not vary."""
    first = np.tile(np.array([0.1, 0.5])[None, :, None], (4, 1, 1))
    second = np.tile(np.array([0.2, 0.3])[None, :, None], (4, 1, 1))
    base = Estimate(contrast="a - b", n=8, n_first=4, n_second=4, method="t")
    found = sampled_t(base, [first, second])
    assert found.p is None
    assert found.reason


def test_parts_that_come_to_nothing_are_no_spread():
    """Every condition has the same values in another order: equal means, and noise alone."""
    values = np.array([0.0, 1 / 3, 2 / 3, 1.0])
    first = np.stack([np.roll(values, n) for n in range(4)])[:, :, None]
    second = np.stack([np.roll(values, n) for n in (0, 1, 2, 2)])[:, :, None]
    assert sampled([first, second]).variance == pytest.approx(0.0, abs=1e-30)
    base = Estimate(contrast="a - b", n=8, n_first=4, n_second=4, method="t")
    found = sampled_t(base, [first, second])
    assert found.p is None
    assert found.reason

"""The interval over categories, items and wordings against scipy, loops, matrices and REML."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.formula.api import mixedlm

from goffman.stats.crossed import crossed_interval

SHAPES = [(4, 3), (3, 1), (1, 5), (6, 2), (1, 1), (2, 2)]
"""Items and wordings."""


def drawn(rng, n, items, wordings):
    """A table whose units, items and wordings all vary, and vary together."""
    shape = (n, items, wordings)
    axes = [(n, 1, 1), (1, items, 1), (1, 1, wordings), (n, items, 1), (n, 1, wordings), shape]
    return sum(rng.uniform(0.1, 1) * rng.normal(size=of) for of in axes) + np.zeros(shape)


def labelled(rng, sizes):
    """Categories, some of them in both tables, and in each table two or more."""
    return [[*"ab", *rng.choice([*"abcdef"], n - 2)] for n in sizes]


def centered_square(numbers):
    """The sample variance of a mean, by a loop."""
    mean = sum(numbers) / len(numbers)
    return sum((one - mean) ** 2 for one in numbers) / (len(numbers) * (len(numbers) - 1))


def doubly_centered_square(grid):
    """The same of two crossed ways: what is left of cells without rows and columns."""
    (rows, columns), total = grid.shape, 0.0
    for r, c in itertools.product(range(rows), range(columns)):
        total += (grid[r, c] - grid[r].mean() - grid[:, c].mean() + grid.mean()) ** 2
    return total / (rows * (rows - 1) * columns * (columns - 1))


def by_hand(tables, clusters):
    """V with its parts one by one, and Bell and McCaffrey's df from whole matrices."""
    tables = [np.array(one) for one in tables]
    for axis in (1, 2):
        if tables[0].shape[axis] < 3:
            tables = [one.mean(axis=axis, keepdims=True) for one in tables]
    _, items, wordings = tables[0].shape
    sizes = [len(one) for one in tables]
    total, labels = sum(sizes), [label for of in clusters for label in of]
    design = np.zeros((total, len(tables)))
    design[range(total), np.repeat(range(len(tables)), sizes)] = 1
    bread = np.linalg.inv(design.T @ design)
    left = np.eye(total) - design @ bread @ design.T
    wanted = np.array([1.0, -1.0])[: len(tables)]
    pulls = []
    for label in dict.fromkeys(labels):
        at = [place for place, one in enumerate(labels) if one == label]
        values, vectors = np.linalg.eigh(left[np.ix_(at, at)])
        adjusted = vectors @ np.diag(values**-0.5) @ vectors.T
        pulls.append(wanted @ bread @ design[at].T @ adjusted @ left[at])
    pulls = np.array(pulls)
    cells = np.concatenate(tables)
    spread = np.repeat([np.var(one.mean(axis=(1, 2)), ddof=1) for one in tables], sizes)
    working = pulls @ np.diag(spread) @ pulls.T
    of_k = np.trace(working) ** 2 / np.trace(working @ working)
    # Every category's score of each sentence, and the gap of each sentence.
    scores = [
        [[pull @ cells[:, i, w] for w in range(wordings)] for i in range(items)] for pull in pulls
    ]
    scores, gaps = (
        np.array(scores),
        np.einsum("t,tiw->iw", wanted, [t.mean(axis=0) for t in tables]),
    )
    parts = [(sum(one.mean() ** 2 for one in scores), of_k)]
    if items > 1:
        parts += [(centered_square(gaps.mean(axis=1)), items - 1)]
        parts += [(-sum(centered_square(s.mean(axis=1)) for s in scores), of_k * (items - 1))]
    if wordings > 1:
        parts += [(centered_square(gaps.mean(axis=0)), wordings - 1)]
        parts += [(-sum(centered_square(s.mean(axis=0)) for s in scores), of_k * (wordings - 1))]
    if items > 1 and wordings > 1:
        both = (items - 1) * (wordings - 1)
        parts += [(-doubly_centered_square(gaps), both)]
        parts += [(sum(doubly_centered_square(s) for s in scores), of_k * both)]
    variance = max(sum(part for part, _ in parts), parts[0][0])
    df = variance**2 / sum(part**2 / free for part, free in parts)
    return gaps.mean(), math.sqrt(variance), max(df, min(free for part, free in parts if part > 0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sizes", [(9,), (9, 7), (5, 14)])
def test_it_is_the_formula_part_by_part(shape, sizes):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        tables, clusters = [drawn(rng, n, *shape) for n in sizes], labelled(rng, sizes)
        assert crossed_interval(tables, clusters) == pytest.approx(by_hand(tables, clusters))


def own(tables):
    """Every unit a category of its own."""
    return [[f"{t} {at}" for at in range(len(one))] for t, one in enumerate(tables)]


def test_with_one_sentence_and_units_of_their_own_it_is_welchs_t():
    rng = np.random.default_rng(1)
    tables = [rng.normal(size=(6, 1, 1)), rng.normal(0.5, 3, (9, 1, 1))]
    ours = crossed_interval(tables, own(tables))
    theirs = stats.ttest_ind(*(one.ravel() for one in tables), equal_var=False)
    assert (ours.difference / ours.se, ours.df) == pytest.approx((theirs.statistic, theirs.df))


def test_of_one_table_it_is_the_one_sample_t():
    values = np.random.default_rng(2).normal(0.3, 1, 11)
    ours = crossed_interval([values[:, None, None]], [range(11)])
    theirs = stats.ttest_1samp(values, 0)
    assert (ours.difference / ours.se, ours.df) == pytest.approx((theirs.statistic, theirs.df))


@pytest.mark.parametrize("shape", [(2, 1), (1, 2), (2, 2)])
def test_fewer_than_three_items_or_wordings_are_averaged(shape):
    rng = np.random.default_rng(3)
    tables, clusters = [drawn(rng, n, *shape) for n in (8, 6)], labelled(rng, (8, 6))
    averaged = [one.mean(axis=(1, 2), keepdims=True) for one in tables]
    found = crossed_interval(tables, clusters)
    assert found == pytest.approx(crossed_interval(averaged, clusters))
    # Three such items are a sample of items, and the gap varies with them.
    moved = np.array([0, 5, 10])[None, :, None]
    tripled = [
        np.repeat(one[:, :1], 3, axis=1) + by * moved
        for one, by in zip(tables, (1, -1), strict=True)
    ]
    assert crossed_interval(tripled, clusters).se > 3 * found.se


@given(
    st.tuples(st.integers(4, 8), st.integers(4, 8)),
    st.sampled_from(SHAPES),
    st.integers(0, 10**6),
    st.randoms(use_true_random=False),
)
def test_laws(sizes, shape, seed, random):
    """Swapped tables flip it; order and names of units leave it; shift and scale go through."""
    rng = np.random.default_rng(seed)
    tables, clusters = [drawn(rng, n, *shape) for n in sizes], labelled(rng, sizes)
    difference, se, df = crossed_interval(tables, clusters)
    assert crossed_interval(tables[::-1], clusters[::-1]) == pytest.approx((-difference, se, df))
    order = [random.sample(range(n), n) for n in sizes]
    items, wordings = (random.sample(range(n), n) for n in shape)
    moved = [one[at][:, items][:, :, wordings] for one, at in zip(tables, order, strict=True)]
    renamed = [[f"k{of[at]}" for at in ats] for of, ats in zip(clusters, order, strict=True)]
    assert crossed_interval(moved, renamed) == pytest.approx((difference, se, df))
    scaled = crossed_interval([8 * tables[0] + 3, 8 * tables[1]], clusters)
    assert scaled == pytest.approx((8 * difference + 3, 8 * se, df))


def test_the_variance_does_not_fall_below_that_of_categories():
    rng = np.random.default_rng(4)
    floors = 0
    for _ in range(40):
        tables = [rng.normal(size=(6, 4, 3)) for _ in "ab"]
        found = crossed_interval(tables, own(tables))
        means = [one.mean(axis=(1, 2), keepdims=True) for one in tables]
        least = crossed_interval(means, own(tables))
        assert found.se >= least.se * (1 - 1e-12)
        assert found.df >= 2 * (1 - 1e-12)
        floors += found.se == pytest.approx(least.se)
    assert 0 < floors < 40


def test_one_category_says_nothing_of_others():
    rng = np.random.default_rng(5)
    tables = [drawn(rng, 4, 3, 3), drawn(rng, 3, 3, 3)]
    found = crossed_interval(tables, [[*"aabc"], [*"ddd"]])
    assert found.difference == pytest.approx(tables[0].mean() - tables[1].mean())
    assert math.isnan(found.se)
    assert math.isnan(found.df)


def test_values_that_are_all_alike_have_no_error():
    found = crossed_interval(
        [np.full((4, 3, 3), 0.5), np.full((5, 3, 3), 0.2)], own([[0] * 4, [0] * 5])
    )
    assert found[:2] == pytest.approx((0.3, 0), abs=1e-12)


@pytest.mark.parametrize(
    ("shared", "icc", "right"),
    [(False, 0.6, (0, 0.6)), (True, 0.6, (1.6, 9)), (False, 0.0, (0.7, 1.4))],
)
def test_the_variance_is_that_of_a_mixed_model_with_categories(shared, icc, right):
    """20 draws of 2 × 12 categories of 4: against statsmodels' REML, which knows what is drawn.

    Welch's is too small where each category is in one table, and too large where all are in both.
    ``right``: between what its variance lies, of REML's.
    """
    rng = np.random.default_rng(6)
    side = np.repeat([1.0, 0.0], 48)
    category = np.tile(np.repeat(np.arange(12), 4), 2) + (0 if shared else 12 * (side > 0))
    ours, theirs, welch = [], [], []
    for _ in range(20):
        values = icc**0.5 * rng.normal(size=24)[category] + (1 - icc) ** 0.5 * rng.normal(size=96)
        tables = [values[side == of][:, None, None] for of in (1, 0)]
        found = crossed_interval(tables, [category[side == of].tolist() for of in (1, 0)])
        frame = pd.DataFrame({"y": values, "side": side, "category": category})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of a component of categories that is 0.
            fit = mixedlm("y ~ side", frame, groups="category").fit(reml=True)
        assert found.difference == pytest.approx(fit.params["side"], abs=1e-6)
        ours.append(found.se**2)
        theirs.append(fit.bse["side"] ** 2)
        welch.append(crossed_interval(tables, own(tables)).se ** 2)
    assert 0.8 < np.mean(ours) / np.mean(theirs) < 1.25
    assert right[0] < np.mean(welch) / np.mean(theirs) < right[1]

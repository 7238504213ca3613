"""Agreement of raters against independent computations, worked examples and its own laws."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import cohens_kappa

from goffman.rating.agreement import (
    MISSING,
    NO_OVERLAP,
    NO_WIDTH,
    ONE_CATEGORY,
    ONE_SIDED,
    cohen_kappa,
    confusion,
    krippendorff_alpha,
)

NEAR = {"rel": 1e-9, "abs": 1e-9}

tables = st.integers(2, 5).flatmap(
    lambda size: arrays(np.int64, (size, size), elements=st.integers(0, 30))
)


def same(one, other):
    """Whether two values are equal to 1e-9, or both missing."""
    return one == other or one == pytest.approx(other, **NEAR)


def defined(table):
    return table.sum() and np.count_nonzero(table.sum(axis=0) + table.sum(axis=1)) > 1


@given(tables)
def test_kappa_is_statsmodels_kappa(table):
    """An independent computation of κ and of its standard error."""
    ours = cohen_kappa(table)
    if not defined(table):
        assert ours.value is None
        return
    with np.errstate(invalid="ignore", divide="ignore"):
        theirs = cohens_kappa(table)
    assert ours.value == pytest.approx(theirs.kappa, **NEAR)
    if ours.standard_error is not None:
        variance = float(theirs.var_kappa)
        assert ours.standard_error**2 == pytest.approx(variance, rel=1e-9, abs=1e-12)
        assert ours.low <= ours.value <= ours.high


def test_kappa_with_the_plain_variance_written_out():
    """200 units, three labels. By hand: p_o = .53 + .14 + .03 = .70,
    p_e = .60·.65 + .30·.25 + .10·.10 = .475, κ = .225 / .525 = .429.

    The variance is Fleiss, Cohen and Everitt's for the plain κ, which has another form than the
    weighted one that is used here.
    """
    table = np.array([[106, 10, 4], [22, 28, 10], [2, 12, 6]])
    kappa = cohen_kappa(table)
    assert kappa.n == 200
    assert kappa.value == pytest.approx(0.225 / 0.525, **NEAR)
    shares, value, chance = table / 200, 0.225 / 0.525, 0.475
    rows, columns = (0.60, 0.30, 0.10), (0.65, 0.25, 0.10)
    on = sum(shares[i, i] * (1 - (rows[i] + columns[i]) * (1 - value)) ** 2 for i in range(3))
    off = sum(
        shares[i, j] * (columns[i] + rows[j]) ** 2 for i in range(3) for j in range(3) if i != j
    )
    spread = on + (1 - value) ** 2 * off - (value - chance * (1 - value)) ** 2
    assert kappa.standard_error**2 == pytest.approx(spread / (200 * 0.525**2), **NEAR)


def test_kappa_by_hand():
    """20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: p_o = .7, p_e = .5, κ = .4."""
    kappa = cohen_kappa(np.array([[20, 5], [10, 15]]))
    assert kappa.value == pytest.approx(0.4, **NEAR)
    assert kappa.n == 50
    assert kappa.method == "Cohen's κ"
    assert kappa.confidence == 0.95
    half = 1.959963984540054 * kappa.standard_error
    assert (kappa.low, kappa.high) == pytest.approx((0.4 - half, 0.4 + half), **NEAR)


@given(tables)
def test_kappa_is_the_same_from_either_rater(table):
    there, back = cohen_kappa(table), cohen_kappa(table.T)
    assert same(there.value, back.value)
    assert (there.standard_error is None) == (back.standard_error is None)
    if there.standard_error is not None:
        # The root of a variance that is 0 but for rounding would be compared at its eighth digit.
        assert same(there.standard_error**2, back.standard_error**2)


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_labels_does_not_matter_to_plain_kappa(table, random):
    order = random.sample(range(len(table)), len(table))
    shuffled = cohen_kappa(table[np.ix_(order, order)])
    assert same(shuffled.value, cohen_kappa(table).value)


def test_perfect_agreement_is_one_and_has_no_interval():
    kappa = cohen_kappa(np.diag([3, 4, 5]))
    assert kappa.value == 1
    assert (kappa.low, kappa.high, kappa.reason) == (None, None, NO_WIDTH)


@pytest.mark.parametrize(
    ("table", "n", "reason"),
    [(np.zeros((4, 4), dtype=int), 0, NO_OVERLAP), (np.diag([0, 7, 0]), 7, ONE_CATEGORY)],
)
def test_kappa_that_is_not_defined_is_null_with_a_reason(table, n, reason):
    kappa = cohen_kappa(table)
    assert (kappa.value, kappa.low, kappa.n, kappa.reason) == (None, None, n, reason)


def test_a_rater_with_one_label_agrees_by_chance_alone():
    kappa = cohen_kappa(np.array([[5, 2], [0, 0]]))
    assert (kappa.value, kappa.standard_error, kappa.reason) == (0, None, ONE_SIDED)


def test_confusion_leaves_out_units_with_a_gap():
    table = confusion([0, 1, MISSING, 2], [0, 2, 1, MISSING], categories=3)
    assert table.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]


ratings = st.tuples(st.integers(2, 5), st.integers(1, 12)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(MISSING, 3))
)


@given(ratings)
def test_alpha_is_the_krippendorff_librarys_alpha(codes):
    ours = krippendorff_alpha(codes, categories=4)
    pairable = (codes != MISSING).sum(axis=0) >= 2
    used = codes[:, pairable]
    if len(set(used[used != MISSING].tolist())) < 2:
        assert ours.value is None
        assert ours.reason == (ONE_CATEGORY if pairable.any() else NO_OVERLAP)
        return
    data = np.where(codes == MISSING, np.nan, codes)
    theirs = krippendorff.alpha(data, level_of_measurement="nominal", value_domain=[0, 1, 2, 3])
    assert ours.value == pytest.approx(theirs, **NEAR)
    assert ours.n == pairable.sum()


def test_alpha_of_krippendorffs_own_example():
    """Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, C: 12 units, 4 observers.

    He gives a nominal α of .743.
    """
    gap = MISSING + 1
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    codes = np.array(table) - 1
    assert round(krippendorff_alpha(codes, categories=5).value, 3) == 0.743


@given(ratings, st.randoms(use_true_random=False))
def test_the_order_of_raters_and_units_does_not_matter_to_alpha(codes, random):
    raters = random.sample(range(codes.shape[0]), codes.shape[0])
    units = random.sample(range(codes.shape[1]), codes.shape[1])
    there = krippendorff_alpha(codes, categories=4)
    back = krippendorff_alpha(codes[np.ix_(raters, units)], categories=4)
    assert same(there.value, back.value)


def test_perfect_agreement_is_one_for_alpha():
    codes = np.array([[0, 1, 2, MISSING], [0, 1, 2, 3], [MISSING, 1, 2, 3]])
    assert krippendorff_alpha(codes, categories=4).value == 1

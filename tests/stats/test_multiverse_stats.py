"""Many analyses of one question: what a choice explains, and how odd their median is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from goffman.stats.specification_curve import different, explained, permuted_median


def test_eta_squared_is_that_of_an_analysis_of_variance():
    rng = np.random.default_rng(1)
    options = [*itertools.product("abc", "xy", range(4))]
    shift = {"a": 0.0, "b": 1.0, "c": 0.3, "x": 0.0, "y": 0.2}
    values = [shift[one] + shift[two] + rng.normal(0, 0.5) for one, two, _ in options]
    for place in (0, 1):
        names = [one[place] for one in options]
        groups = [
            [value for value, name in zip(values, names, strict=True) if name == option]
            for option in sorted({*names})
        ]
        between, within = len(groups) - 1, len(values) - len(groups)
        f = stats.f_oneway(*groups).statistic
        assert explained(values, names) == pytest.approx(f * between / (f * between + within))


def test_crossed_choices_explain_at_most_everything():
    rng = np.random.default_rng(2)
    options = [*itertools.product("abc", "xy", "pqr")]
    values = rng.normal(size=len(options)).tolist()
    shares = [explained(values, [one[place] for one in options]) for place in range(3)]
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) <= 1


@pytest.mark.parametrize("values", [[], [1.0], [0.2, 0.2, 0.2]])
def test_what_does_not_vary_is_explained_by_nothing(values):
    assert explained(values, ["a", "b", "a"][: len(values)]) is None


def naive_medians(sums, counts, labels, shuffling):
    """Median over analyses, one estimate at a time."""
    found = []
    for total, count in zip(sums, counts, strict=True):
        if shuffling == "signs":
            signed = sum(s * t for s, t in zip(labels, total, strict=True))
            found.append(signed / sum(count))
        else:
            sides = []
            for side in (1.0, -1.0):
                mine = [place for place, label in enumerate(labels) if label == side]
                sides.append(sum(total[p] for p in mine) / sum(count[p] for p in mine))
            found.append(sides[0] - sides[1])
    return float(np.median(found))


@pytest.mark.parametrize("shuffling", ["labels", "signs"])
def test_the_p_is_the_share_of_shuffles_that_are_as_far_out(shuffling):
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 4, size=(7, 9)).astype(float)
    sums = counts * rng.normal(0.4, 1.0, size=(7, 9))
    labels = np.array([1.0, -1.0] * 4 + [1.0]) if shuffling == "labels" else np.ones(9)
    found = permuted_median(
        sums, counts, labels, shuffling=shuffling, rng=np.random.default_rng(5), draws=4_000
    )
    observed = naive_medians(sums, counts, labels, shuffling)
    assert found.median == pytest.approx(observed)
    other = np.random.default_rng(6)
    beyond = []
    for _ in range(2_000):
        drawn = other.permutation(labels) if shuffling == "labels" else other.choice([-1, 1], 9)
        size = abs(naive_medians(sums, counts, drawn, shuffling))
        beyond.append(size >= abs(observed) * (1 - 1e-12))
    assert found.p == pytest.approx(np.mean(beyond), abs=0.04)
    assert (found.draws, found.seed) == (4_000, 5)


def test_swapping_the_labels_turns_the_median_and_keeps_the_p():
    rng = np.random.default_rng(7)
    sums, counts = rng.normal(size=(5, 12)), np.ones((5, 12))
    labels = np.array([1.0] * 6 + [-1.0] * 6)
    one, other = (
        permuted_median(
            sums, counts, given, shuffling="labels", rng=np.random.default_rng(0), draws=499
        )
        for given in (labels, -labels)
    )
    assert one.median == pytest.approx(-other.median)
    assert one.p == pytest.approx(other.p, abs=0.1)
    assert 0 < one.p <= 1


@pytest.mark.parametrize("shuffling", ["labels", "signs"])
def test_null_data_are_found_odd_as_often_as_the_level_says(shuffling):
    """600 null runs, each of 12 dependent analyses over 40 units."""
    rng, found = np.random.default_rng(11), 0
    runs, units = 600, 40
    labels = np.array([1.0] * 25 + [-1.0] * 15) if shuffling == "labels" else np.ones(units)
    for run in range(runs):
        shared = rng.normal(size=units)
        sums = 0.8 * shared + 0.6 * rng.normal(size=(12, units))
        tested = permuted_median(
            sums,
            np.ones_like(sums),
            labels,
            shuffling=shuffling,
            rng=np.random.default_rng(run),
            draws=199,
        )
        found += tested.p <= 0.05
    assert 0.03 <= found / runs <= 0.07


def test_a_real_difference_is_found():
    rng = np.random.default_rng(12)
    labels = np.array([1.0] * 20 + [-1.0] * 20)
    sums = rng.normal(size=(9, 40)) + labels
    tested = permuted_median(
        sums, np.ones_like(sums), labels, shuffling="labels", rng=np.random.default_rng(0)
    )
    assert tested.p == 1 / 5_000


def test_without_values_there_is_no_p():
    nothing = np.zeros((2, 4))
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    tested = permuted_median(
        nothing, nothing, labels, shuffling="labels", rng=np.random.default_rng(0)
    )
    assert tested.p is None


def test_rows_of_the_same_numbers_are_one_and_those_without_numbers_stay():
    one = {"difference": 0.1, "low": 0.0, "high": 0.2}
    same, other = {**one, "what": "copy"}, {**one, "high": 0.3}
    untested = {"difference": None, "low": None, "high": None}
    assert different([one, same, other, untested, untested]) == [one, other, untested, untested]

"""Many analyses of one question: which differ, and what a choice explains."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from goffman.stats.multiple_testing import different, explained


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


def test_rows_of_the_same_numbers_are_one_and_those_without_numbers_stay():
    one = {"difference": 0.1, "low": 0.0, "high": 0.2}
    same, other = {**one, "what": "copy"}, {**one, "high": 0.3}
    untested = {"difference": None, "low": None, "high": None}
    assert different([one, same, other, untested, untested]) == [one, other, untested, untested]

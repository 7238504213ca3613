"""Lists of tests against statsmodels' Benjamini and Hochberg, intervals that say the same.

And many analyses of one question: which differ, and what a choice explains.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from goffman.stats.intervals import Estimate
from goffman.stats.multiple_testing import as_list, at_level, different, explained

ABOUT = {"n": 9, "n_first": 9, "n_second": 9, "method": ""}

p_values = st.lists(st.floats(1e-12, 1), min_size=1, max_size=40)
ratios = st.lists(
    st.tuples(st.floats(-6, 6).filter(lambda t: abs(t) > 0.01), st.floats(2, 200)),
    min_size=1,
    max_size=25,
)
"""t and its degrees of freedom."""


def difference(t, df, *, error=0.03):
    reach = stats.t.ppf(0.975, df) * error
    ends = {"low": t * error - reach, "high": t * error + reach, "level": 0.95}
    p = 2 * stats.t.sf(abs(t), df)
    return Estimate(contrast="", difference=t * error, error=error, df=df, p=p, **ends, **ABOUT)


def correlation(t, df):
    """Fisher's z with an error of .1."""
    z, reach = 0.1 * t, 0.1 * stats.t.ppf(0.975, df)
    ends = {"effect_low": math.tanh(z - reach), "effect_high": math.tanh(z + reach), "level": 0.95}
    p = 2 * stats.t.sf(abs(t), df)
    return Estimate(contrast="", effect=math.tanh(z), statistic=t, df=df, p=p, **ends, **ABOUT)


@given(p_values)
@example([0.01, 0.04, 0.03])
def test_p_is_statsmodels_corrected(values):
    """By hand, .01, .04, .03 of three: .01·3, and min(.03·3/2, .04) = .04 for both others."""
    listed = as_list([Estimate(contrast="", p=p, **ABOUT) for p in values], family="f")
    expected = multipletests(values, method="fdr_bh")[1]
    assert [estimate.p_adjusted for estimate in listed] == pytest.approx(expected)


@pytest.mark.parametrize("made", [difference, correlation])
@given(drawn=ratios)
def test_the_interval_excludes_0_for_those_that_are_marked_and_for_no_others(made, drawn):
    before = [made(*one) for one in drawn]
    listed = as_list(before, family="f")
    marked = stats.false_discovery_control([one.p for one in before], method="bh") <= 0.05
    level = 1 - 0.05 * max(marked.sum(), 1) / len(before)
    names = ("low", "high") if made is difference else ("effect_low", "effect_high")
    for one, of, mark in zip(listed, before, marked, strict=True):
        low, high = (getattr(one, name) for name in names)
        assert (low > 0 or high < 0) == mark == (one.p_adjusted <= 0.05)
        assert (one.level, one.p) == (pytest.approx(level), of.p)
        wider = low <= getattr(of, names[0]) + 1e-12 and high >= getattr(of, names[1]) - 1e-12
        assert wider


def test_at_95_it_is_the_interval_that_it_was():
    for one in (difference(1.3, 7.5), correlation(-2.2, 30)):
        there = at_level(one, 0.95)
        back = at_level(at_level(one, 0.999), 0.95)
        for name in ("low", "high", "effect_low", "effect_high", "level"):
            assert getattr(there, name) == pytest.approx(getattr(one, name))
            assert getattr(back, name) == pytest.approx(getattr(one, name))


def test_a_list_is_named_keeps_its_order_and_does_not_count_what_has_no_p():
    none = Estimate(contrast="", **ABOUT)
    listed = as_list([difference(3, 20), none, difference(0.5, 20)], family="settings")
    assert [one.p is None for one in listed] == [False, True, False]
    assert listed[0].p_adjusted == pytest.approx(2 * listed[0].p)
    assert (listed[1].p_adjusted, listed[1].low, listed[1].level) == (None, None, None)
    assert {(one.family, one.family_size, one.correction) for one in listed} == {
        ("settings", 2, "benjamini-hochberg")
    }


def test_one_alone_is_not_corrected():
    (one,) = as_list([difference(2.5, 12)], family="f")
    alone = difference(2.5, 12)
    assert (one.low, one.high, one.level) == (alone.low, alone.high, 0.95)
    assert (one.p_adjusted, one.correction, one.family_size) == (alone.p, None, 1)
    assert as_list([], family="f") == []


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

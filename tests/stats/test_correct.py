"""Lists of tests against scipy's Benjamini and Hochberg, and intervals that say the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goffman.stats.intervals import Estimate
from goffman.stats.multiple_testing import as_list, at_level, benjamini_hochberg

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
def test_it_is_scipys(values):
    assert benjamini_hochberg(np.array(values)) == pytest.approx(
        stats.false_discovery_control(values, method="bh")
    )


def test_by_hand():
    """.01, .04, .03 of three: .01·3, and min(.03·3/2, .04) = .04 for both others."""
    assert benjamini_hochberg(np.array([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.04, 0.04])


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

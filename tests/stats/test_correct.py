"""Corrections over a family, against statsmodels and their own laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from goffman.stats.estimate import Estimate
from goffman.stats.multiple_testing import adjust

STATSMODELS = {"bonferroni": "bonferroni", "holm": "holm", "benjamini-hochberg": "fdr_bh"}

p_values = st.lists(st.floats(1e-12, 1), min_size=1, max_size=40)
methods = st.sampled_from(sorted(STATSMODELS))


def declared(values):
    return [
        Estimate(contrast=str(place), n=9, n_first=9, n_second=9, p=p, method="")
        for place, p in enumerate(values)
    ]


@given(p_values, methods)
def test_it_is_statsmodels_correction(values, method):
    ours = [estimate.p_adjusted for estimate in adjust(declared(values), family="f", method=method)]
    theirs = multipletests(values, method=STATSMODELS[method])[1]
    assert ours == pytest.approx(list(theirs), rel=1e-9)


@given(p_values, methods)
def test_corrected_p_are_no_smaller_keep_their_order_and_stay_in_bounds(values, method):
    adjusted = adjust(declared(values), family="f", method=method)
    assert all(estimate.p <= estimate.p_adjusted <= 1 for estimate in adjusted)
    in_order = sorted(adjusted, key=lambda estimate: estimate.p)
    assert (np.diff([estimate.p_adjusted for estimate in in_order]) >= 0).all()


@given(p_values)
def test_holm_is_never_above_bonferroni_and_benjamini_hochberg_never_above_holm(values):
    bonferroni, holm, hochberg = (
        [e.p_adjusted for e in adjust(declared(values), family="f", method=method)]
        for method in ("bonferroni", "holm", "benjamini-hochberg")
    )
    assert all(low <= high for low, high in zip(holm, bonferroni, strict=True))
    assert all(low <= high * (1 + 1e-12) for low, high in zip(hochberg, holm, strict=True))


def test_by_hand():
    """.01, .04, .03 of three. Holm: .03, then max(.03·2, .04·1) = .06 for both others.
    Benjamini–Hochberg: .01·3, and min(.03·3/2, .04) = .04 for both others."""
    holm = adjust(declared([0.01, 0.04, 0.03]), family="f")
    assert [e.p_adjusted for e in holm] == pytest.approx([0.03, 0.06, 0.06])
    hochberg = adjust(declared([0.01, 0.04, 0.03]), family="f", method="benjamini-hochberg")
    assert [e.p_adjusted for e in hochberg] == pytest.approx([0.03, 0.04, 0.04])


def test_the_family_is_named_and_tests_without_p_are_not_counted():
    adjusted = adjust(declared([0.01, None, 0.02]), family="settings against baseline")
    assert [e.p_adjusted for e in adjusted] == [0.02, None, 0.02]
    assert {(e.family, e.family_size, e.correction) for e in adjusted} == {
        ("settings against baseline", 2, "holm")
    }
    assert [e.contrast for e in adjusted] == ["0", "1", "2"]


def test_a_family_without_any_p_has_none():
    adjusted = adjust(declared([None]), family="f")
    assert (adjusted[0].p_adjusted, adjusted[0].family_size) == (None, 0)
    assert adjust([], family="f") == ()


def test_correcting_again_starts_from_the_uncorrected_p():
    once = adjust(declared([0.01, 0.02]), family="f", method="bonferroni")
    assert adjust(once, family="f", method="bonferroni") == once


def test_an_unknown_correction_is_refused():
    with pytest.raises(
        ValueError, match=r"^no correction 'sidak'; allowed: bonferroni, holm, benjamini-hochberg$"
    ):
        adjust([], family="f", method="sidak")

"""Effect sizes and their intervals against pingouin, scipy, quadrature and their own laws."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pingouin
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from goffman.stats.effect_sizes import (
    D_POOLED,
    D_Z,
    HEDGES_G,
    cohen_d,
    cohen_d_z,
    noncentral_t,
    noncentrality,
    paired_cohen_d,
    unbiased,
    unbiasing,
)
from goffman.stats.samples import (
    CONSTANT_DIFFERENCES,
    CONSTANT_SETS,
    NO_PAIRS,
    TOO_FEW,
)

NEAR = {"rel": 1e-9, "abs": 1e-12}

number = st.integers(-999, 999).map(lambda hundredths: hundredths / 100)
several = st.lists(number, min_size=2, max_size=25)
pairs = st.lists(st.tuples(number, number), min_size=2, max_size=25).map(
    lambda drawn: tuple(zip(*drawn, strict=True))
)


@given(several, several)
def test_cohens_d_is_pingouins(first, second):
    ours = cohen_d(first, second)
    assume(ours.reason is None)
    theirs = pingouin.compute_effsize(first, second, eftype="cohen")
    assert ours.value == pytest.approx(theirs, **NEAR)


@given(pairs)
def test_cohens_d_of_pairs_is_pingouins(drawn):
    ours = paired_cohen_d(*drawn)
    assume(ours.reason is None)
    theirs = pingouin.compute_effsize(*drawn, paired=True, eftype="cohen")
    assert ours.value == pytest.approx(theirs, **NEAR)


@given(pairs)
def test_d_z_is_the_paired_t_over_the_root_of_n(drawn):
    ours = cohen_d_z(*drawn)
    assume(ours.reason is None)
    t = stats.ttest_rel(*drawn).statistic
    assert ours.value == pytest.approx(t / math.sqrt(len(drawn[0])), **NEAR)


def test_hedges_factor_is_exact():
    """J(2) = Γ(1)/(1·Γ(½)) = 1/√π; J(4) = Γ(2)/(√2·Γ(3/2)) = √2/√π; else near 1 − 3/(4ν−1)."""
    assert unbiasing(2) == pytest.approx(1 / math.sqrt(math.pi), **NEAR)
    assert unbiasing(4) == pytest.approx(math.sqrt(2 / math.pi), **NEAR)
    for df in range(2, 300):
        exact = math.gamma(df / 2) / (math.sqrt(df / 2) * math.gamma((df - 1) / 2))
        assert unbiasing(df) == pytest.approx(exact, **NEAR)
    assert unbiasing(186) == pytest.approx(1 - 3 / (4 * 186 - 1), abs=1e-5)


@given(several, several)
def test_g_is_d_made_smaller_with_the_interval_of_the_same_delta(first, second):
    df = len(first) + len(second) - 2
    d = cohen_d(first, second)
    g = unbiased(d, df=df)
    assert g.name == HEDGES_G
    if d.reason:
        assert g.reason == d.reason
        return
    assert g.value == pytest.approx(d.value * unbiasing(df), **NEAR)
    assert (g.low, g.high) == (d.low, d.high)


def quadrature(t, df, centre):
    """The noncentral t's share below t by adaptive quadrature of its definition."""

    def integrand(u):
        return stats.norm.cdf(t * u - centre) * stats.chi.pdf(u * math.sqrt(df), df) * math.sqrt(df)

    places = [max(1 + k / math.sqrt(2 * df), 1e-9) for k in (-9, -3, 0, 3, 9)]
    pieces = [0.0, *places, places[-1] + 9 / math.sqrt(2 * df)]
    return sum(
        integrate.quad(integrand, low, high, epsabs=1e-13, epsrel=1e-13, limit=200)[0]
        for low, high in pairwise(pieces)
        if high > low
    )


@pytest.mark.slow
@pytest.mark.parametrize("df", [1, 2, 9, 32, 186])
@pytest.mark.parametrize("t", [0.0, 0.5, 3.2, 22.4])
def test_the_noncentral_t_is_its_definition(df, t):
    for centre in (t - 3, t, t + 2):
        assert noncentral_t(t, df=df, centre=centre) == pytest.approx(
            quadrature(t, df, centre), abs=1e-10
        )


@given(st.integers(1, 2000), st.floats(0, 200), st.floats(-3, 3))
def test_the_noncentral_t_is_scipys_where_scipy_has_one(df, t, z):
    centre = t + z * math.sqrt(1 + t**2 / (2 * df))
    theirs = special.nctdtr(df, centre, t)
    assume(np.isfinite(theirs))
    assert noncentral_t(t, df=df, centre=centre) == pytest.approx(theirs, abs=1e-9)


@given(st.integers(1, 500), st.floats(-100, 100), st.sampled_from([0.5, 0.95, 0.999]))
def test_at_the_limits_t_is_just_too_high_and_just_too_low(df, t, level):
    low, high = noncentrality(t, df=df, level=level)
    assert low < high
    sign = 1 if t >= 0 else -1
    shares = [noncentral_t(abs(t), df=df, centre=sign * limit) for limit in (low, high)]
    assert sorted(shares) == pytest.approx([(1 - level) / 2, (1 + level) / 2], abs=1e-10)


def test_the_interval_of_a_t_of_0_is_that_of_a_normal():
    assert noncentrality(0.0, df=7, level=0.95) == pytest.approx((-1.959963985, 1.959963985))


def test_the_exact_interval_agrees_with_the_test_about_0():
    """A two-sided p of exactly .05 puts one end at 0."""
    t = stats.t.ppf(0.975, 30)
    assert noncentrality(t, df=30, level=0.95)[0] == pytest.approx(0, abs=1e-9)


def test_bonetts_interval_written_out():
    """First 2 4 6 9, second 1 2 4 4: variances 107/12 and 9/4, covariance 49/12."""
    effect = paired_cohen_d([2, 4, 6, 9], [1, 2, 4, 4])
    v1, v2, both, n = 107 / 12, 9 / 4, 49 / 12, 4
    square = (v1 + v2) / 2
    d = 2.5 / math.sqrt(square)
    error = math.sqrt(
        d**2 * (v1**2 + v2**2 + 2 * both**2) / (8 * square**2 * (n - 1))
        + (v1 + v2 - 2 * both) / (square * (n - 1))
    )
    assert effect.value == pytest.approx(d, **NEAR)
    half = 1.959963984540054 * error
    assert (effect.low, effect.high) == pytest.approx((d - half, d + half), **NEAR)


EFFECTS = [cohen_d, paired_cohen_d, cohen_d_z]


@pytest.mark.parametrize("effect", EFFECTS)
@given(drawn=pairs, shift=st.integers(-64, 64), power=st.integers(-8, 8))
def test_laws_of_an_effect_size(effect, drawn, shift, power):
    """Swapped sets flip it; shift and scale leave it; the value lies in its interval."""
    first, second = (np.round(np.array(values) * 4) / 4 for values in drawn)
    there, back = effect(first, second), effect(second, first)
    assume(there.reason is None)
    assert there.value == pytest.approx(-back.value, **NEAR)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), **NEAR)
    moved = effect((first + shift) * 2.0**power, (second + shift) * 2.0**power)
    assert (moved.value, moved.low) == pytest.approx((there.value, there.low), **NEAR)
    assert there.low < there.value < there.high


@pytest.mark.parametrize(
    ("effect", "name", "reason"),
    [
        (cohen_d([1], [2, 3]), D_POOLED, TOO_FEW),
        (cohen_d([1, 1], [3, 3]), D_POOLED, CONSTANT_SETS),
        (unbiased(cohen_d([1, 1], [3, 3]), df=2), HEDGES_G, CONSTANT_SETS),
        (paired_cohen_d([1, 2], [2, 3]), D_POOLED, CONSTANT_DIFFERENCES),
        (cohen_d_z([1, 2], [1, 2]), D_Z, CONSTANT_DIFFERENCES),
        (cohen_d_z([], []), D_Z, NO_PAIRS),
    ],
)
def test_an_effect_that_is_not_defined_is_null_with_a_reason(effect, name, reason):
    assert (effect.name, effect.reason) == (name, reason)
    assert (effect.value, effect.low, effect.high) == (None, None, None)

"""Cohen's d against pingouin, and its own laws."""

from __future__ import annotations

import numpy as np
import pingouin
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from goffman.stats.two_samples import apart, in_pairs

NEAR = {"rel": 1e-9, "abs": 1e-12}

number = st.integers(-999, 999).map(lambda hundredths: hundredths / 100)
several = st.lists(number, min_size=2, max_size=25)
pairs = st.lists(st.tuples(number, number), min_size=2, max_size=25).map(
    lambda drawn: tuple(zip(*drawn, strict=True))
)


@given(several, several)
def test_cohens_d_is_pingouins(first, second):
    ours = apart(first, second).cohen_d
    assume(ours is not None)
    assert ours == pytest.approx(pingouin.compute_effsize(first, second, eftype="cohen"), **NEAR)
    assert apart(second, first).cohen_d == pytest.approx(-ours, **NEAR)


@given(pairs)
def test_cohens_d_of_pairs_is_pingouins(drawn):
    ours = in_pairs(*drawn).cohen_d
    assume(ours is not None and all(len({*side}) > 1 for side in drawn))
    theirs = pingouin.compute_effsize(*drawn, paired=True, eftype="cohen")
    assert ours == pytest.approx(theirs, **NEAR)


@pytest.mark.parametrize("constant", [0.0, 0.5])
def test_against_a_constant_it_is_the_mean_difference_over_its_own_spread(constant):
    values = [1.0, 2.0, 4.0]
    assert in_pairs(values, [constant] * 3).cohen_d == pytest.approx(
        (np.mean(values) - constant) / np.std(values, ddof=1)
    )


@pytest.mark.parametrize("samples", [apart([1.0], [2.0, 3.0]), in_pairs([1, 2], [0, 1])])
def test_of_values_that_do_not_vary_there_is_none(samples):
    assert samples.cohen_d is None

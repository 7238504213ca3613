"""The interval of a main result excludes 0 in about 5 of 100 null audits, and holds the truth.

The whole table, every contrast with three sizes of what varies, is bench/calibration.md.
"""

from __future__ import annotations

import pytest

from calibration import SCENARIOS, rates

pytestmark = pytest.mark.slow

HEADINGS = {one.name: one for one in SCENARIOS if one.heading}


@pytest.mark.parametrize("name", HEADINGS)
def test_a_heading_is_false_as_often_as_said(name):
    found = rates(HEADINGS[name], 1.0, runs=1_000)
    assert 0.03 <= found.clear <= 0.07
    assert found.covered == pytest.approx(1 - found.clear)
    assert found.untested == 0


@pytest.mark.parametrize("name", HEADINGS)
def test_a_difference_that_is_there_is_found(name):
    """A check of the check: an interval that never excluded 0 would pass the test above."""
    scenario = HEADINGS[name]
    assert rates(scenario, 1.0, runs=100, real=2 * scenario.real, seed=2).clear > 0.8


def test_runs_in_which_any_of_fifteen_settings_is_found_by_mistake_are_few():
    (scenario,) = (one for one in SCENARIOS if one.name == "coreference: setting − none, of 15")
    found = rates(scenario, 1.0, runs=200)
    assert found.single <= 0.06
    assert found.clear <= 0.08

"""What is called clear in a heading is false in about 5 of 100 null audits, not more.

The whole table, every contrast with three sizes of what varies, is bench/calibration.md.
"""

from __future__ import annotations

import pytest

from calibration import SCENARIOS, rates

pytestmark = pytest.mark.slow

HEADINGS = {one.name: one for one in SCENARIOS if one.heading}

CONSERVATIVE = {
    # The clustered variance is not let fall below that of its largest way.
    "coreference: bias, 5 trials",
    "coreference: bias, 1 trial",
    "coreference, choice: bias",
    "coreference, said: bias",
    "pronoun preference",
    "pronoun preference, 60 pairs",
    "decisions, said: stigmatized − not",
    "attribution, said: woman − man, one in ten not answered",
}


@pytest.mark.parametrize("name", HEADINGS)
def test_a_heading_is_false_as_often_as_said(name):
    found = rates(HEADINGS[name], 1.0, runs=1_000)
    least = 0.0 if name in CONSERVATIVE else 0.03
    assert least <= found.clear <= 0.07
    assert 0.93 <= found.covered <= (1.0 if name in CONSERVATIVE else 0.97)


@pytest.mark.parametrize("name", HEADINGS)
def test_a_difference_that_is_there_is_found(name):
    """A check of the check: what never called anything clear would pass the test above."""
    scenario = HEADINGS[name]
    assert rates(scenario, 1.0, runs=100, real=2 * scenario.real, seed=2).clear > 0.8


def test_runs_in_which_any_of_fifteen_settings_is_called_clear_by_mistake_are_few():
    (scenario,) = (one for one in SCENARIOS if one.name == "coreference: setting − none, of 15")
    found = rates(scenario, 1.0, runs=200)
    assert found.single <= 0.06
    assert found.clear <= 0.08

"""Numbers as text: rounded in one place, and never across what they decide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.formatting import decimals, describe_p, number, p_value


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0004, "p < .001"),
        (0.001, "p = .001"),
        (0.0444, "p = .044"),
        (0.0496, "p = .0496"),
        (0.04996, "p = .04996"),
        (0.05, "p = .050"),
        (0.3, "p = .300"),
        (0.9996, "p = 1"),
        (None, "no p-value"),
    ],
)
def test_p_values_in_sentences(p, text):
    assert describe_p(p) == text


@given(st.floats(min_value=0.001, max_value=0.999))
def test_a_p_value_reads_back_on_its_own_side_of_a_twentieth(p):
    assert (float(p_value(p)) < 0.05) == (p < 0.05)
    assert abs(float(p_value(p)) - p) <= 0.000501


@pytest.mark.parametrize(
    ("value", "sentence", "column"),
    [
        (None, "none", None),
        (0.4, "0.40", "0.400"),
        (-0.4, "−0.40", "-0.400"),
        (-0.0956, "−0.10", "-0.096"),
        (0.0123, "0.012", "0.012"),
        (0.00012, "0.00012", "1.2e-04"),
        (1e-17, "0.00", "0.000"),
        (-1.5e-12, "−1.5e−12", "-1.5e-12"),
    ],
)
def test_numbers_in_sentences_and_in_columns(value, sentence, column):
    assert number(value) == sentence
    if value is not None:
        assert decimals(value) == column

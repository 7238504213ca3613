"""Values with gaps, a Generator that its seed gives again, and the table of estimates."""

from __future__ import annotations

from dataclasses import fields

import polars as pl
import pytest

from goffman.contrasts.designs import estimate_table
from goffman.schemas import ESTIMATES, complaints
from goffman.stats.intervals import Estimate
from goffman.stats.two_samples import apart, in_pairs, paired_t


def test_a_pair_with_a_gap_is_left_out_and_counted():
    samples = in_pairs([1, None, 3, 4], [2, 2, float("nan"), 5])
    assert samples.first.tolist() == [1, 4]
    assert samples.second.tolist() == [2, 5]
    assert samples.left_out == 2


def test_gaps_of_independent_sets_are_left_out_and_counted():
    samples = apart([1, None, 3], [None, 5])
    assert (samples.first.tolist(), samples.second.tolist()) == ([1, 3], [5])
    assert samples.left_out == 2


def test_a_polars_column_with_nulls_is_a_set_of_values():
    column = pl.Series([0.5, None, 1.5])
    assert apart(column.to_numpy(), column.to_list()).left_out == 2


def test_sets_of_different_length_make_no_pairs():
    with pytest.raises(ValueError, match=r"^3 and 2 values do not make pairs$"):
        in_pairs([1, 2, 3], [1, 2])


def test_values_that_differ_by_rounding_alone_do_not_vary():
    """0.1 + 0.2 is not 0.3 in floats."""
    assert in_pairs([0.1 + 0.2, 0.3], [0.0, 0.0]).obstacle
    assert in_pairs([0.3, 0.3 + 1e-12], [0.0, 0.0]).obstacle is None


def test_the_table_has_the_fields_of_an_estimate_by_name_and_order():
    assert [column.name for column in ESTIMATES] == [field.name for field in fields(Estimate)]


def test_estimates_make_the_declared_table():
    whole = paired_t([1.0, 2.0, 4.0], [0.0, 2.0, 1.0], contrast="a − b")
    empty = paired_t([], [], contrast="nothing")
    frame = estimate_table([whole, empty])
    assert complaints(frame, ESTIMATES) == []
    assert frame["contrast"].to_list() == ["a − b", "nothing"]
    assert frame["p"].to_list() == [whole.p, None]
    assert frame["reason"].to_list() == [None, "no pair has both values"]


def test_no_estimates_make_an_empty_table():
    assert complaints(estimate_table([]), ESTIMATES) == []

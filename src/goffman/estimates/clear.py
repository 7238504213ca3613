"""What may be called clear: the one place that decides it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

CORRELATIONS = ("measures", "measures-within")
"""Kinds of contrasts that are correlations of two measures: over all conditions, and in a group."""

ANCHORED = ("anchor", "anchor-rank", "anchor-partial", "anchor-without", "anchor-within")
"""Kinds of contrasts that are correlations of a measure with what people said: of values, of ranks,
given the category of a condition, without those that the anchor sets apart, and within a group."""

AGAINST_PEOPLE = (
    *("anchor-difference", "anchor-overall", "anchor-gender", "anchor-wording"),
    *("anchor-gender-side", "anchor-year"),
)
"""Kinds of contrasts that are a model's share minus people's: of a question, of all that count, of
a man minus a woman, and of all that count in a wording that is not people's. The last two: a man
minus a woman on one side alone, the model's or people's; and of all that count with people's
answers of one year."""

CLEAR = 0.05
"""A corrected p below this is needed; so is an interval that leaves out 0."""


def points(row: Mapping[str, Any]) -> int:
    """1 or −1: which way an estimate clearly points; 0: it is not clear.

    Clear is what both say: the corrected p is there and below .05, and the interval lies on one
    side of 0.
    """
    p = row["p_adjusted"]
    return side_of_zero(row) if p is not None and p < CLEAR else 0


def side_of_zero(row: Mapping[str, Any]) -> int:
    """1 or −1: on which side of 0 the interval lies; 0: it holds 0, or there is none.

    Of a correlation the interval is that of the coefficient.
    """
    low, high = (row["low"], row["high"])
    if row["kind"] in {*CORRELATIONS, *ANCHORED}:
        low, high = (row["effect_low"], row["effect_high"])
    return 0 if low is None else int(low > 0) - int(high < 0)


def clear(estimates: pl.DataFrame) -> pl.DataFrame:
    """The estimates that clearly point one way."""
    return estimates.filter([points(row) != 0 for row in estimates.iter_rows(named=True)])

"""Which clear differences are fragile: not clear in too many variations of their analysis."""

from __future__ import annotations

import polars as pl

from goffman.estimates.verdict import CLEAR_WORDS

PARAMETER = "parameter"
"""The way of a row of ROBUSTNESS that is no leaving out."""

MOST_LOST = 0.1
"""A difference is fragile if leaving out one thing loses it more often than this, or if another
value of a parameter does."""


def lost(rows: pl.DataFrame) -> pl.DataFrame:
    """Of the variations of one contrast: those that were tested, and in which it is not clear."""
    return rows.filter(pl.col("verdict").is_not_null(), ~pl.col("verdict").is_in(CLEAR_WORDS))


def is_fragile(verdict: str | None, rows: pl.DataFrame) -> bool:
    """Whether a contrast of that verdict is fragile; ``rows``: ROBUSTNESS of it alone."""
    if verdict not in CLEAR_WORDS:
        return False
    is_parameter = pl.col("way") == PARAMETER
    others = rows.filter(~is_parameter, pl.col("verdict").is_not_null())
    too_often = lost(others).height > MOST_LOST * others.height
    return too_often or lost(rows.filter(is_parameter)).height > 0

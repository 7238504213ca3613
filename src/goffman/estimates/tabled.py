"""Estimates as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

from goffman.tables import ESTIMATES, schema

if TYPE_CHECKING:
    from goffman.records import Estimate


def estimate_table(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """All estimates as a frame with the columns ESTIMATES, in the order given."""
    return records_table(estimates, schema(ESTIMATES))


def records_table(records: Iterable[object], columns: pl.Schema) -> pl.DataFrame:
    """Flat records as a frame with these columns, in the order given."""
    # A frame of dictionaries, and dataclasses.asdict, look at each value by itself: of 20,000
    # estimates that takes ten times as long.
    every = [vars(one) for one in records]
    return pl.DataFrame({name: [one[name] for one in every] for name in columns}, schema=columns)

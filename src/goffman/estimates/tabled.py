"""Estimates as a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from goffman.tables import ESTIMATES, schema

if TYPE_CHECKING:
    from goffman.records import Estimate


def estimate_table(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """All estimates as a frame with the columns ESTIMATES, in the order given."""
    return pl.DataFrame([asdict(estimate) for estimate in estimates], schema=schema(ESTIMATES))

"""Every condition with its numbers, for the table that can be searched and sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.reports.evidence import MAIN
from goffman.reports.shown import plain
from goffman.reports.stands_out import number
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.reports.figure import Part

COLUMNS = (
    ("name", "Condition"),
    ("instrument", "Instrument"),
    ("group", "Group"),
    ("category", "Category"),
    ("model", "Model"),
    ("quantity", "Number"),
    ("value", "Value"),
    ("range", "Range"),
)
"""Field and heading; the range is that of the values that it is the mean of."""


def listing(parts: Mapping[str, Part]) -> list[list[Any]]:
    """Rows: the condition's id, then the values of COLUMNS."""
    rows: list[list[Any]] = []
    for part in parts.values():
        quantity, called = MAIN.get(part.measure, ("", ""))
        found = part.named(part.rows("condition", quantity))
        if part.wordings:
            found = found.filter(
                pl.col("wording").is_null() | (pl.col("wording") == part.wordings[0])
            )
        several = len(part.models()) > 1
        for row in found.iter_rows(named=True):
            if not several and row["model"] not in part.models():
                continue
            words = f", {plain(row['variant'])}" if row["variant"] else ""
            rows.append(
                [
                    printable(row["condition"]),
                    printable(row["name"]),
                    part.instrument,
                    plain(row["group"] or ""),
                    printable(row["category"] or ""),
                    row["model"],
                    f"{called}{words}",
                    row["value"],
                    _range(row),
                ]
            )
    return rows


def _range(row: Mapping[str, Any]) -> str:
    """From the lowest to the highest of so many values."""
    over = printable(f"{row['n']} {row['over'] or 'values'}")
    if row["low"] is None:
        return over
    return f"{number(row['low'])} to {number(row['high'])}, {over}"

"""Every condition with its numbers, for the table that can be searched and sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.numbers import ends
from goffman.presentation.shown import plain
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.section import Section

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


def listing(sections: Mapping[str, Section]) -> list[list[Any]]:
    """Rows: the condition's id, then the values of COLUMNS."""
    rows: list[list[Any]] = []
    for section in sections.values():
        quantity, called = section.presentation.quantity, section.presentation.called
        found = section.named(section.rows("condition", quantity))
        if section.wordings:
            found = found.filter(
                pl.col("wording").is_null() | (pl.col("wording") == section.wordings[0])
            )
        several = len(section.models()) > 1
        for row in found.iter_rows(named=True):
            if not several and row["model"] not in section.models():
                continue
            words = f", {plain(row['variant'])}" if row["variant"] else ""
            rows.append(
                [
                    printable(row["condition"]),
                    printable(row["name"]),
                    section.instrument,
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
    return f"{ends(row['low'], row['high'])}, {over}"

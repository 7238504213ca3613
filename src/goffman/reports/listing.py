"""Every condition with its numbers, for the table that can be searched and sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.numbers import ends
from goffman.presentation.shown import plain, variant_said
from goffman.records import Noun
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.section import Section

_COLUMNS = (
    ("instrument", "Instrument"),
    ("group", "Group"),
    ("category", "Category"),
    ("model", "Model"),
    ("quantity", "Number"),
    ("value", "Value"),
    ("range", "Range"),
)
"""After the condition's name: field and heading."""


def noun_of(sections: Mapping[str, Section]) -> Noun:
    """What the conditions of all instruments are called; where they differ, conditions."""
    nouns = {section.noun for section in sections.values()}
    return nouns.pop() if len(nouns) == 1 else Noun()


def columns(sections: Mapping[str, Section]) -> tuple[tuple[str, str], ...]:
    """Field and heading; the range is that of the values that the value is the mean of."""
    return (("name", noun_of(sections).headed.one), *_COLUMNS)


def listing(sections: Mapping[str, Section]) -> list[list[Any]]:
    """Rows: the condition's id, then the values of ``columns``."""
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
            words = f", {variant_said(row['variant'])}" if row["variant"] else ""
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

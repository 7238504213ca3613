"""How far a main result moves with one thing left out, or a parameter set otherwise: as numbers.

A flag stands beside the heading only where the difference changes its sign or falls below half.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.verdict import PRESENT_WORDS
from goffman.formatting import join_words, number
from goffman.schemas import PARAMETER

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

    Row = Mapping[str, Any]

HALF = 0.5
"""Of the difference: a variation below it is flagged."""


def with_robustness(finding: Finding, section: Section) -> Finding:
    """Return the finding with the range of its difference; as it is where nothing was computed."""
    rows = section.shown(section.robustness)
    rows = rows.filter("main", pl.col("model") == finding.model, pl.col("difference").is_not_null())
    if finding.verdict is None or not finding.difference or not rows.height:
        return finding
    otherwise = rows.filter(pl.col("variation") == PARAMETER)
    said = [
        *_left_out(rows, section),
        *(
            f"{row['what'][0].upper()}{row['what'][1:]}, it is {number(row['difference'])}."
            for row in otherwise.iter_rows(named=True)
        ),
    ]
    # Of a difference that may be 0 the sign says nothing.
    there = finding.verdict in PRESENT_WORDS
    depends = " ".join(_flags(rows, section, finding.difference)) if there else ""
    return replace(finding, robust=" ".join(said), depends=depends)


def _left_out(rows: pl.DataFrame, section: Section) -> Iterator[str]:
    """Yield the range with one thing left out, and which thing lies at either end."""
    rows = rows.filter(pl.col("variation") != PARAMETER).sort("difference")
    if not rows.height:
        return
    ways = rows["variation"].unique(maintain_order=True).sort().to_list()
    any_one = join_words([part_called(way, section) for way in ways], "or")
    low, high = (
        f"{number(row['difference'])} ({_without(row, section)})"
        for row in (rows.row(0, named=True), rows.row(-1, named=True))
    )
    yield f"With any one {any_one} left out, the difference is {low} to {high}."


def _flags(rows: pl.DataFrame, section: Section, difference: float) -> Iterator[str]:
    """Yield what changes the sign of the difference, or takes half of it."""
    kept = pl.col("difference") / difference
    for limit, above, what in ((0.0, None, "changes sign"), (HALF, 0.0, "falls below half")):
        lost = rows.filter(kept < limit if above is None else (kept < limit) & (kept >= above))
        if not lost.height:
            continue
        first = _without(lost.sort(kept.abs()).row(0, named=True), section)
        more = f", and {lost.height - 1} more" if lost.height > 1 else ""
        yield f"The difference {what} {first}{more}."


def _without(row: Row, section: Section) -> str:
    """Return what was left out, or which parameter was set otherwise."""
    if row["variation"] == PARAMETER:
        return str(row["what"])
    return f"without the {part_called(row['variation'], section)} {_named(row, section)}"


def part_called(way: str, section: Section, *, many: bool = False) -> str:
    """Return the word for what was left out."""
    if way == "condition":
        return section.noun.many if many else section.noun.one
    called = {"frame": "sentence frame"}.get(way, way)
    if many:
        return f"{called[:-1]}ies" if called.endswith("y") else f"{called}s"
    return called


def _named(row: Row, section: Section) -> str:
    """Return which one it is, quoted: a name may hold a comma."""
    if row["variation"] == "condition":
        return f"“{section.called(row['what'])}”"
    if row["variation"] == "item":
        return f"“{section.names.item(section.instrument, row['what'])}”"
    return f"“{printable(row['what'])}”"

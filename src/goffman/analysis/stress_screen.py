"""What other analyses say, for the terminal: a line for each main result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goffman.analysis.summary import interval_shown, main_results, value_shown
from goffman.instruments.types import base_of

if TYPE_CHECKING:
    from goffman.analysis.summary import MainResult
    from goffman.presentation.section import Section

_LINE = "  {} {:<16.16} {:>8} {:>4} {:<17.17} {:<.28}"
"""A row in 80 columns: glyph, instrument, result, analyses, their range, what matters most."""


def stress_screen(sections: Mapping[str, Section]) -> list[str]:
    """Return the lines of one screen: each main result, its range, and what matters most in it."""
    results = main_results(sections)
    lines = [
        _LINE.format(" ", "", "result", "n", "other analyses", "matters most, by share").rstrip()
    ]
    for model in dict.fromkeys(one.model for one in results):
        lines += [model, *(_line(one, sections) for one in results if one.model == model)]
    return [*lines, "", "A false finding holds in most other analyses, too: look at the range."]


def _line(result: MainResult, sections: Mapping[str, Section]) -> str:
    row = stressed_row(result, sections)
    name, value = base_of(result.instrument), value_shown(result.finding)
    if row is None or not row["analyses"]:
        why = (row and row["reason"]) or "there are no other analyses"
        return f"  {result.glyph} {name:<16.16} {value:>8}    – {why}"[:80].rstrip()
    span = replace(result.finding, low=row["lowest"], high=row["highest"])
    counted = f"{row['analyses']:,}"
    most = next(_choices(row), "")
    reach = interval_shown(span) if row["lowest"] is not None else "–"
    return _LINE.format(result.glyph, name, value, counted, reach, most).rstrip()


def _choices(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield each choice with its share of the variance, the one that matters most first."""
    shares: dict[str, float] = json.loads(row["explained"] or "{}")
    for name, share in sorted(shares.items(), key=lambda one: -one[1]):
        # One choice alone explains all there is.
        yield f"{share:.0%} {name}" if len(shares) > 1 else name


def stressed_row(result: MainResult, sections: Mapping[str, Section]) -> dict[str, Any] | None:
    """Return the row of stress.parquet of a main result; None: it was not stressed."""
    section = sections[result.instrument]
    rows = section.shown(section.stress).filter(model=result.model)
    return rows.row(0, named=True) if rows.height else None

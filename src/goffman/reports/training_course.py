"""The course of an estimate while a model is trained: a figure, and what it shows in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goffman.estimates.clear import points
from goffman.presentation.figure import SCHEMA
from goffman.presentation.numbers import ends, number
from goffman.presentation.shown import plain
from goffman.presentation.verdicts import verdict_shown
from goffman.reports.compare_figures import slopes

if TYPE_CHECKING:
    from goffman.presentation.figure import Spec

Row = Mapping[str, Any]

STEPS: Spec = {
    "field": "run",
    "type": "quantitative",
    "title": "Training step",
    "scale": {"nice": False, "zero": False, "padding": 12},
    "axis": {"domain": True, "grid": False, "format": ",d", "tickMinStep": 1},
}


def course_said(name: str, looks: Sequence[tuple[int, Row]]) -> str:
    """What the figure shows, in sentences; ``looks``: step and estimate, in their order."""
    (begun, before), (last, after) = looks[0], looks[-1]
    said = f"{name} at step {begun:,}: {_said(before)}."
    if len(looks) > 1:
        said += f" At step {last:,}: {_said(after)}."
    return said


def _said(row: Row) -> str:
    if row["low"] is None:
        return f"{number(row['difference'])} (no interval)"
    return (
        f"{number(row['difference'])} ({row['level']:.0%} interval {ends(row['low'], row['high'])})"
    )


def course_title(row: Row) -> str:
    """What is drawn: the two sides of the contrast."""
    whom = f" for {plain(row['group'])}" if row["group"] else ""
    if row["kind"] == "level":
        return f"{plain(row['instrument'])} while training: {plain(row['quantity'])}"
    sides = f"{plain(row['first'])} − {plain(row['second'])}"
    return f"{row['instrument']} while training: {sides}{whom}"


def course_spec(name: str, looks: Sequence[tuple[int, Row]]) -> tuple[str, Spec]:
    """How to read the figure, and its specification."""
    rows = [
        {
            "run": step,
            "set": "",
            "value": row["difference"],
            "difference": row["difference"],
            "low": row["low"],
            "high": row["high"],
            "p_adjusted": row["p_adjusted"],
            "clear": "yes" if points(row) else "no",
            "verdict": verdict_shown(row) or "none",
        }
        for step, row in looks
    ]
    smallest = looks[-1][1]["smallest"]
    description = (
        f"{course_said(name, looks)} Each bar is the 95% interval at that step. A filled mark is a "
        "clear difference; a hollow one is not clear."
    )
    if smallest:
        description += (
            f" In the shaded band, differences are too small to matter (up to {number(smallest)})."
        )
    spec = slopes(rows, along=STEPS, axis="Difference", around=(0.0, smallest), called="Difference")
    return description, {"$schema": SCHEMA, "description": description, **spec}

"""Estimates in figures: filled where clear, hollow where not, over the band of small ones."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from goffman.contrasts.verdict import direction
from goffman.formatting import verdict_shown
from goffman.presentation.vega import Spec, at, coloured, interval, through, tip

ESTIMATE = ("difference", "low", "high", "p_adjusted", "clear", "verdict")
"""What the data of such a figure hold of an estimate; ``with_clear`` gives the word clear."""


def with_clear(rows: pl.DataFrame) -> pl.DataFrame:
    """The estimates with the column ``clear``, yes or no, and verdicts as people read them."""
    said = ["yes" if direction(row) else "no" for row in rows.iter_rows(named=True)]
    words = [verdict_shown(row) or None for row in rows.iter_rows(named=True)]
    return rows.with_columns(
        clear=pl.Series(said, dtype=pl.String), verdict=pl.Series(words, dtype=pl.String)
    )


def estimate_tip(*first: tuple[str, str], called: str = "Difference") -> list[Spec]:
    """What is shown of an estimate under the pointer; ``first``: whose it is."""
    return tip(
        *first,
        ("verdict", "Verdict"),
        ("difference", called),
        ("low", "Interval from"),
        ("high", "to"),
    )


def dots(
    about: list[Spec],
    *,
    size: int,
    colour: tuple[str, Sequence[str]] | None = None,
    leads: bool = False,
    **encoding: Spec,
) -> list[Spec]:
    """A mark for each estimate; ``colour``: by which field, ``leads``: to evidence."""
    filled = {"condition": {"test": "datum.clear === 'yes'", "value": 1}, "value": 0}
    mark: Spec = {"type": "point", "style": "estimate", "size": size}
    if leads:
        mark["cursor"] = "pointer"
    ground: Spec = {"type": "point", "style": "ground", "size": size}
    own: Spec = {**encoding, "tooltip": about, "fillOpacity": filled}
    shape: Spec = {}
    if colour:
        both = coloured(*colour)
        own |= {**both, "stroke": both["color"]}
        shape = {"shape": both["shape"]}
    # The line of the interval would run through what is hollow.
    return [
        {"mark": {**ground, "tooltip": None, "aria": False}, "encoding": {**encoding, **shape}},
        {"mark": mark, "encoding": own},
    ]


def estimate_layers(
    rows: pl.DataFrame,
    about: list[Spec],
    *,
    size: int,
    colour: tuple[str, Sequence[str]] | None = None,
    leads: bool = False,
    between: Sequence[Spec] = (),
    **encoding: Spec,
) -> list[Spec]:
    """Band and line at 0, what lies ``between``, intervals, and a mark for each estimate."""
    by = {"color": coloured(*colour)["color"]} if colour else {}
    marks = dots(about, size=size, colour=colour, leads=leads, **encoding)
    lines = interval(rows, **encoding, **by)
    return [*band(rows), at(0, "zero"), *between, *lines, *marks]


def band(rows: pl.DataFrame, *, level: bool = False) -> list[Spec]:
    """The differences that are too small to matter, as a light band; none where Δ is not known."""
    least = _smallest(rows)
    if least is None:
        return []
    axis, ends, title = through(level=level)
    edge = {"field": "from", "type": "quantitative", "title": title}
    encoding = {axis: edge, f"{axis}2": {"field": "to"}, **ends}
    mark = {"type": "rect", "style": "band", "tooltip": None, "aria": False}
    values = [{"from": -least, "to": least}]
    return [{"mark": mark, "data": {"values": values}, "encoding": encoding}]


def describe_marks(rows: pl.DataFrame) -> str:
    """Return how marks and band are to be read, for a caption."""
    band = "" if _smallest(rows) is None else " Shaded: too small to matter."
    return f"Hollow marks: the interval contains 0.{band}"


def _smallest(rows: pl.DataFrame) -> float | None:
    known = rows["margin"].drop_nulls()
    return float(known[0]) if known.len() else None

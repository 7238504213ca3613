"""Estimates in figures: marks filled if clear, else hollow, over the band of small differences."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from goffman.contrasts.verdict import direction
from goffman.formatting import verdict_shown
from goffman.presentation.vega import Spec, at, coloured, interval, through, tip

ESTIMATE = ("difference", "low", "high", "p_adjusted", "clear", "verdict")
"""The columns of an estimate in the data of a figure; ``with_clear`` adds the column clear."""


def with_clear(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates with ``clear``, yes or no, and verdicts as people read them."""
    clear = ["yes" if direction(row) else "no" for row in rows.iter_rows(named=True)]
    verdicts = [verdict_shown(row) or None for row in rows.iter_rows(named=True)]
    return rows.with_columns(
        clear=pl.Series(clear, dtype=pl.String), verdict=pl.Series(verdicts, dtype=pl.String)
    )


def estimate_tip(*first: tuple[str, str], called: str = "Difference") -> list[Spec]:
    """Return what is shown of an estimate under the pointer; ``first``: the fields that name it."""
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
    """Return a mark for each estimate; ``colour``: by which field; ``leads``: to evidence."""
    filled = {"condition": {"test": "datum.clear === 'yes'", "value": 1}, "value": 0}
    mark: Spec = {"type": "point", "style": "estimate", "size": size}
    if leads:
        mark["cursor"] = "pointer"
    ground: Spec = {"type": "point", "style": "ground", "size": size}
    mark_encoding: Spec = {**encoding, "tooltip": about, "fillOpacity": filled}
    shape: Spec = {}
    if colour:
        encodings = coloured(*colour)
        mark_encoding |= {**encodings, "stroke": encodings["color"]}
        shape = {"shape": encodings["shape"]}
    # Without the ground, the interval's line would run through hollow marks.
    return [
        {"mark": {**ground, "tooltip": None, "aria": False}, "encoding": {**encoding, **shape}},
        {"mark": mark, "encoding": mark_encoding},
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
    """Return the band and line at 0, what lies ``between``, intervals, and a mark per estimate."""
    line_color = {"color": coloured(*colour)["color"]} if colour else {}
    marks = dots(about, size=size, colour=colour, leads=leads, **encoding)
    lines = interval(rows, **encoding, **line_color)
    return [*band(rows), at(0, "zero"), *between, *lines, *marks]


def band(rows: pl.DataFrame, *, level: bool = False) -> list[Spec]:
    """Return a light band over differences too small to matter; none if Δ is not known."""
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
    """Return how to read marks and band, for a caption."""
    shading = "" if _smallest(rows) is None else " Shaded: too small to matter."
    return f"Hollow marks: the interval contains 0.{shading}"


def _smallest(rows: pl.DataFrame) -> float | None:
    margins = rows["margin"].drop_nulls()
    return float(margins[0]) if margins.len() else None

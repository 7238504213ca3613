"""The specification curve: every analysis of a headline in order, and below what each chose."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.verdict import CLEAR_WORDS
from goffman.presentation.figure import Figure, Spec, choice, chosen, figure, tip
from goffman.presentation.numbers import number
from goffman.presentation.palette import WIDTH
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.section import Section

PART = "analyses"
"""The end of the figure's id."""

CLEAR, NOT_CLEAR = "clear", "not clear"

HEIGHT, ROW = 200, 17
"""Pixels of the curve, and of each option below it."""


def curve(section: Section) -> Iterator[Figure]:
    """Sorted differences with their intervals; below, a dot for the option of each choice."""
    rows = section.shown(section.multiverse)
    rows = rows.filter(pl.col("choices").is_not_null(), pl.col("difference").is_not_null())
    if not rows.height:
        return
    values = [one for of in rows.partition_by("model", maintain_order=True) for one in _data(of)]
    options = _options(rows)
    models = [one for one in section.models() if one in rows["model"]]
    choices = choice("model", "Model", models)
    most = max(rows.group_by("model").len()["len"])
    axes = {"x": _place(most)}
    views = [_curve(section, list(options), axes, most)]
    views += [_matrix(name, texts, axes, most) for name, texts in options.items()]
    spec = {
        "data": {"values": values},
        "transform": chosen(choices),
        "vconcat": views,
        "spacing": 8,
        "resolve": {"scale": {"color": "shared", "shape": "shared"}},
    }
    yield figure(
        section,
        PART,
        title="The main result in other analyses",
        description=(
            "Each column is one analysis of the same answers. Above: its difference and 95% "
            "interval, in order of size. Below: what was chosen in it. Blue circles and long marks "
            "are clear differences; orange squares and short marks are not clear. The dashed line "
            f"is the audit's own analysis.{_band_said(section)}"
        ),
        spec=spec,
        choices=choices,
    )


def _data(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Of one model: a row for each analysis, with its place and what was chosen."""
    found = []
    for place, row in enumerate(rows.sort("difference", "what").iter_rows(named=True)):
        options = {key: printable(text) for key, text in json.loads(row["choices"]).items()}
        said = CLEAR if row["verdict"] in CLEAR_WORDS else NOT_CLEAR
        numbers = {name: row[name] for name in ("difference", "low", "high", "p_adjusted")}
        about = {"place": place + 1, "model": printable(row["model"])}
        found.append(about | numbers | {"clear": said, "verdict": row["verdict"] or ""} | options)
    return found


def _options(rows: pl.DataFrame) -> dict[str, list[str]]:
    """By choice: its options, the audit's own first, as in the table; those of all models."""
    found: dict[str, dict[str, None]] = {}
    for text in rows["choices"]:
        for name, option in json.loads(text).items():
            found.setdefault(name, {})[printable(option)] = None
    return {name: list(options) for name, options in found.items()}


def _place(most: int) -> Spec:
    return {
        "field": "place",
        "type": "quantitative",
        "title": None,
        "axis": None,
        "scale": {"domain": [0, most + 1], "nice": False, "zero": False},
    }


_CLEAR_OR_NOT: Spec = {"field": "clear", "type": "nominal", "legend": None}
_ORDER = {"domain": [NOT_CLEAR, CLEAR]}

COLOUR: Spec = {**_CLEAR_OR_NOT, "scale": _ORDER}
SHAPE: Spec = {**_CLEAR_OR_NOT, "scale": {**_ORDER, "range": ["square", "circle"]}}
LONG: Spec = {"condition": {"test": f"datum.clear === '{CLEAR}'", "value": 11}, "value": 5}
"""Whether an analysis comes out clear: by color, and by the shape or length of its mark."""


def _wide(most: int, *, least: float) -> float:
    """Pixels of a mark where so many stand side by side."""
    return max(least, min(4.5, 0.7 * WIDTH / most))


def _tips(choices: Sequence[str]) -> list[Spec]:
    options = [(name, name[0].upper() + name[1:]) for name in choices]
    return tip(
        ("difference", "Difference"),
        ("low", "Interval from"),
        ("high", "to"),
        ("p_adjusted", "p, corrected"),
        ("verdict", "Verdict"),
        *options,
    )


def _curve(section: Section, choices: Sequence[str], axes: Spec, most: int) -> Spec:
    """The differences in order, with their intervals."""
    y: Spec = {
        "field": "difference",
        "type": "quantitative",
        "title": None,
        "scale": {"zero": True},
        "axis": {"grid": True, "tickCount": 5, "format": "~g"},
    }
    ends = {**axes, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    width = min(3.0, _wide(most, least=1.0))
    size = (1.3 * _wide(most, least=2.5)) ** 2
    return {
        "title": "Difference",
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            *_band(section),
            _across(0.0, "zero"),
            *(_across(one, "half") for one in _audited(section)),
            {
                "mark": {"type": "rule", "style": "interval", "strokeWidth": width},
                "encoding": {**ends, "color": COLOUR},
            },
            {
                "mark": {"type": "point", "opacity": 1, "size": size},
                "encoding": {
                    **axes,
                    "y": y,
                    "color": COLOUR,
                    "shape": SHAPE,
                    "tooltip": _tips(choices),
                },
            },
        ],
    }


def _audited(section: Section) -> list[float]:
    """The headline's difference, where there is one model: a line for each would be many."""
    known = section.stress.filter(pl.col("analyses") > 1)["difference"].drop_nulls()
    return [float(known[0])] if known.len() == 1 else []


def _across(value: float, style: str) -> Spec:
    """A horizontal line."""
    mark = {"type": "rule", "style": style, "tooltip": None, "aria": False}
    y = {"field": "at", "type": "quantitative", "title": None}
    ends = {"x": {"value": 0}, "x2": {"value": "width"}}
    return {"mark": mark, "data": {"values": [{"at": value}]}, "encoding": {"y": y, **ends}}


def _smallest(section: Section) -> float | None:
    known = section.estimates["smallest"].drop_nulls()
    return float(known[0]) if known.len() else None


def _band(section: Section) -> list[Spec]:
    """The differences that are too small to matter, as a light band."""
    least = _smallest(section)
    if least is None:
        return []
    y = {"field": "from", "type": "quantitative", "title": None}
    ends = {"y": y, "y2": {"field": "to"}, "x": {"value": 0}, "x2": {"value": "width"}}
    mark = {"type": "rect", "style": "band", "tooltip": None, "aria": False}
    return [{"mark": mark, "data": {"values": [{"from": -least, "to": least}]}, "encoding": ends}]


def _band_said(section: Section) -> str:
    least = _smallest(section)
    if least is None:
        return ""
    return f" In the shaded band, differences are too small to matter (up to {number(least)})."


def _matrix(name: str, options: Sequence[str], axes: Spec, most: int) -> Spec:
    """A row for each option of a choice: a mark where an analysis has it."""
    y = {"field": name, "type": "nominal", "sort": list(options), "title": None}
    return {
        "title": name[0].upper() + name[1:],
        "width": WIDTH,
        "height": ROW * len(options),
        "mark": {
            "type": "tick",
            "orient": "vertical",
            "thickness": _wide(most, least=1.4),
            "tooltip": None,
            "aria": False,
        },
        "encoding": {**axes, "y": y, "color": COLOUR, "size": LONG},
    }

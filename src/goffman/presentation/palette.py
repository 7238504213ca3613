"""Colours and type of every figure: a configuration for light pages and one for dark ones.

The hues are of Okabe and Ito's set, which people with any colour vision can tell apart, a little
darker or lighter for contrast with the page; what a colour says is said by shape or place too.
"""

from __future__ import annotations

from typing import Any

FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

_LIGHT = {
    "ink": "#23262d",
    "quiet": "#5a5f69",
    "line": "#dfdbd2",
    "axis": "#a9a59b",
    "paper": "#ffffff",
    "category": ["#c2570c", "#0b6aa8", "#70757f", "#0a8266", "#a0568a", "#9a7400"],
    "ramp": ["#f6f4ef", "#bcd5e6", "#5b9cc8", "#0b5c94"],
}
_DARK = {
    "ink": "#ece9e2",
    "quiet": "#aab0ba",
    "line": "#363b44",
    "axis": "#5d636e",
    "paper": "#1e2126",
    "category": ["#f08a4b", "#63b3ec", "#9da3ad", "#3fc19c", "#d391bd", "#dcb43c"],
    "ramp": ["#24282f", "#2b4d68", "#3f86b8", "#9fd2f5"],
}
LABELS = 256
"""Pixels that the labels of the rows take in a file and on a wide page."""

SENTENCES = 300
"""The same where the labels are sentences."""

LINE = 50
"""Letters in a line of such a label."""

WIDTH = 460
"""Pixels of a figure beside its labels, in a file."""


def config(*, dark: bool = False) -> dict[str, Any]:
    """The Vega-Lite configuration; a specification has no colour and no type of its own."""
    c: dict[str, Any] = _DARK if dark else _LIGHT
    return {
        "font": FONT,
        "background": "transparent" if dark else c["paper"],
        "padding": 6,
        **_axes(c),
        "title": {"color": c["ink"], "fontSize": 12, "fontWeight": 600, "anchor": "start"},
        "range": {
            "category": c["category"],
            "symbol": list(SHAPES),
            "ramp": c["ramp"],
            "heatmap": c["ramp"],
        },
        "view": {"stroke": None},
        "facet": {"spacing": 18},
        "concat": {"spacing": 18},
        "point": {"filled": True, "size": 52, "opacity": 0.95, "color": c["category"][1]},
        "tick": {"color": c["category"][1]},
        "rule": {"color": c["axis"]},
        "boxplot": {
            "size": 11,
            "median": {"color": c["paper"], "strokeWidth": 2},
            "rule": {"color": c["axis"]},
            "outliers": {"size": 12, "opacity": 0.7},
        },
        "style": _styles(c),
    }


def _axes(c: dict[str, Any]) -> dict[str, Any]:
    """Axes, headings of rows, and legends."""
    rows = {"grid": False, "ticks": False, "domain": False, "titlePadding": 10}
    extent = {"minExtent": LABELS, "maxExtent": LABELS, "labelLimit": LABELS - 12}
    return {
        "axis": {
            "labelColor": c["quiet"],
            "titleColor": c["quiet"],
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "domainColor": c["axis"],
            "tickColor": c["axis"],
            "gridColor": c["line"],
            "labelPadding": 5,
        },
        "axisX": {"grid": True, "domain": False, "ticks": False, "tickCount": 6},
        "axisY": {**rows, **extent, "labelColor": c["ink"], "labelPadding": 10},
        "axisQuantitative": {"labelOverlap": True},
        "header": {
            "labelColor": c["ink"],
            "labelFontSize": 12,
            "labelFontWeight": 600,
            "labelAnchor": "start",
            "labelOrient": "top",
            "labelPadding": 6,
            "title": None,
        },
        "legend": {
            "labelColor": c["ink"],
            "labelFontSize": 11.5,
            "title": None,
            "orient": "top",
            "direction": "horizontal",
            "symbolSize": 70,
            "offset": 10,
            "labelLimit": 260,
        },
    }


def _styles(c: dict[str, Any]) -> dict[str, Any]:
    """What marks look like, by the names that specifications use."""
    return {
        "zero": {"color": c["ink"], "strokeWidth": 1},
        "half": {"color": c["axis"], "strokeDash": [4, 3], "strokeWidth": 1},
        "interval": {
            "color": c["category"][1],
            "strokeWidth": 3,
            "opacity": 0.5,
            "strokeCap": "round",
        },
        "estimate": {
            "color": c["category"][1],
            "stroke": c["category"][1],
            "strokeWidth": 1.6,
            "opacity": 1,
        },
        "ground": {"color": c["paper"], "opacity": 1},
        "band": {"color": c["axis"], "opacity": 0.28},
        "link": {"color": c["axis"], "strokeWidth": 2.5},
        "baseline": {"color": c["ink"], "stroke": c["paper"], "strokeWidth": 1, "size": 70},
        "bars": {"color": c["category"][1], "opacity": 0.85},
        "cell-label": {"fontSize": 10.5, "color": c["ink"]},
        "cell-label-strong": {"fontSize": 10.5, "color": c["paper"]},
        "trend": {"color": c["ink"], "strokeWidth": 1.2, "strokeDash": [5, 4]},
    }

"""What a figure is, and the parts and colours that figures share: frames in, Vega-Lite out."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.instruments.types import slug_of

if TYPE_CHECKING:
    from goffman.presentation.section import Section

FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

# The hues are of Okabe and Ito's set, which people with any colour vision can tell apart, a little
# darker or lighter for contrast with the page.
_LIGHT = {
    "ink": "#23262d",
    "quiet": "#5a5f69",
    "line": "#dfe1e5",
    "axis": "#a2a6ae",
    "paper": "#ffffff",
    "category": ["#b13507", "#0b6aa8", "#70757f", "#0a8266", "#a0568a", "#9a7400"],
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
            # The first and last number stand under their lines.
            "labelFlush": False,
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


Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""The name of the format; nobody fetches it."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A control beside a figure, by which its reader chooses whose values are shown."""

    field: str
    """The field of the data, and the name of the parameter."""
    label: str
    options: tuple[str, ...]
    """The first is shown at first."""
    bound: bool = True
    """Whether it is a menu; if not, a button of the page."""

    def parameter(self, value: str) -> Spec:
        """The parameter that holds what is chosen."""
        return {"name": f"chosen_{self.field}", "value": value}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a report: what it shows, in words, and the specification with its numbers."""

    id: str
    """The name of its files; unique in a report."""
    title: str
    description: str
    """How to read it; also what a screen reader says."""
    spec: Spec
    """Vega-Lite with its data inside; colours and type come from the palette."""
    choices: tuple[Choice, ...] = ()
    instrument: str | None = None
    """Whose evidence lies behind its points; None: behind none of them."""
    leads: bool = False
    """Whether it stands first in the page, where others are folded."""

    @property
    def rows(self) -> Choice | None:
        """The choice between some rows and all of them, where there is one."""
        return next((one for one in self.choices if not one.bound), None)

    def drawn(self) -> Iterator[tuple[str, Spec]]:
        """Every choice as a name and a specification without controls, for files."""
        for options in itertools.product(*(choice.options for choice in self.choices)):
            spec = copy.deepcopy(self.spec)
            spec.pop("params", None)
            if options:
                both = zip(self.choices, options, strict=True)
                spec["params"] = [choice.parameter(value) for choice, value in both]
            yield "-".join(options), spec


def figure(section: Section, kind: str, **about: Any) -> Figure:
    """A figure of the section, named after its instrument."""
    own = _with_sentences(about.pop("spec"))
    spec = {"$schema": SCHEMA, "description": about["description"], **own}
    for choice in about.get("choices", ()):
        parameter = choice.parameter(choice.options[0])
        if choice.bound:
            menu = {"input": "select", "options": [*choice.options], "name": choice.label}
            parameter["bind"] = menu
        spec.setdefault("params", []).append(parameter)
    # It is the name of files as well.
    id_ = slug_of(f"{section.instrument}-{kind}")
    return Figure(id=id_, instrument=section.instrument, spec=spec, **about)


def chosen(choices: Sequence[Choice]) -> list[Spec]:
    """The transforms that leave what was chosen."""
    return [{"filter": f"datum['{one.field}'] === chosen_{one.field}"} for one in choices]


def choice(field_: str, label: str, options: Sequence[str]) -> tuple[Choice, ...]:
    """A control where there is anything to choose."""
    if len(options) < 2:
        return ()
    return (Choice(field=field_, label=label, options=tuple(options)),)


def data(rows: pl.DataFrame, *columns: str) -> list[dict[str, Any]]:
    """The rows as Vega-Lite has them, with nothing in their texts that plays tricks."""
    chosen = rows.select(columns)
    texts = [name for name, kind in chosen.schema.items() if kind == pl.String]
    for name in texts:
        known = {text: printable(text) for text in chosen[name].drop_nulls().unique()}
        chosen = chosen.with_columns(pl.col(name).replace(known))
    return chosen.to_dicts()


def axis_x(title: str, *, domain: Sequence[float] | None = None, field_: str = "value") -> Spec:
    """A quantitative x; ``domain``: its ends."""
    scale: Spec = {"zero": False, "nice": True} if domain is None else {"domain": list(domain)}
    return {"field": field_, "type": "quantitative", "title": title, "scale": scale}


def axis_y(field_: str, order: Sequence[str] | Spec | None, title: str | None = None) -> Spec:
    """Rows in the order given."""
    return {"field": field_, "type": "nominal", "sort": order, "title": title}


def wrapped() -> Spec:
    """An axis of rows whose labels are sentences: in full, over lines of LINE letters."""
    # The page puts its own number in the place of this one where it is narrow.
    lines = f"regexp('(.{{1,{LINE}}})( |$)', 'g')"
    return {
        "minExtent": SENTENCES,
        "maxExtent": SENTENCES,
        "labelLimit": SENTENCES - 12,
        "labelExpr": f"split(trim(replace(datum.label, {lines}, '$1\\n')), '\\n')",
    }


def coloured(field_: str, order: Sequence[str], *, legend: bool = True) -> Spec:
    """Colour and shape together, so that no one depends on colour."""
    about: Spec = {"field": field_, "type": "nominal", "scale": {"domain": list(order)}}
    if not legend or len(order) < 2:
        about["legend"] = None
    return {"color": about, "shape": copy.deepcopy(about)}


def tip(*fields: tuple[str, str]) -> list[Spec]:
    """What is shown of the point under the pointer."""
    return [
        {"field": name, "title": title}
        | ({"format": ".3~g", "type": "quantitative"} if name in NUMBERS else {"type": "nominal"})
        for name, title in fields
    ]


def _with_sentences(spec: Any) -> Any:
    """Return the specification with one sentence in place of the fields of each tooltip."""
    if isinstance(spec, list):
        return [_with_sentences(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        key: {"value": {"expr": _sentence(part)}}
        if key == "tooltip" and isinstance(part, list)
        else _with_sentences(part)
        for key, part in spec.items()
    }


def _sentence(fields: Sequence[Spec]) -> str:
    """Return the expression for names, numbers and an interval as one sentence."""
    names, numbers, ends = [], [], []
    for one in fields:
        datum = f"datum['{one['field']}']"
        if one["field"] in ("low", "high"):
            ends.append(f"format({datum}, '.2~g')")
        elif "format" in one:
            text = f"'{one['title'].lower()} ' + format({datum}, '{one['format']}')"
            numbers.append(f"(isValid({datum}) ? {text} : '{one['title'].lower()} unknown')")
        else:
            called = "'ranks ' + " if one["field"] == "ranks" else ""
            names.append(f"(isValid({datum}) ? {called}{datum} : '')")
    said = [*names[:1], *(f"({one} ? ', ' + {one} : '')" for one in names[1:])]
    if numbers:
        said += ["': '" if names else "''", " + ', ' + ".join(numbers)]
    if len(ends) == 2:
        said.append(f"(isValid(datum['low']) ? ' (' + {ends[0]} + ' to ' + {ends[1]} + ')' : '')")
    return " + ".join([*said, "'.'"])


NUMBERS = frozenset(
    {"value", "difference", "low", "high", "p_adjusted", "effect", "n", "count", "from", "to"}
    | {"other", "mean_first", "mean_second", "sd"}
)


def at(value: float, style: str, *, level: bool = False) -> Spec:
    """A vertical line; ``level``: a horizontal one."""
    mark = {"type": "rule", "style": style, "tooltip": None, "aria": False}
    axis, ends, title = through(level=level)
    place = {"field": "at", "type": "quantitative", "title": title}
    return {"mark": mark, "data": {"values": [{"at": value}]}, "encoding": {axis: place, **ends}}


def through(*, level: bool) -> tuple[str, Spec, str | None]:
    """Of what runs through a whole view: the axis of its place, its ends, and a title of none."""
    if level:
        return "y", {"x": {"value": 0}, "x2": {"value": "width"}}, None
    # Through all rows, whatever these are.
    return "x", {"y": {"value": 0}, "y2": {"value": "height"}}, ""


def interval(rows: pl.DataFrame, **encoding: Spec) -> list[Spec]:
    """The bar from low to high, where any row has one."""
    if rows["low"].null_count() == rows.height:
        return []
    ends = {"x": axis_x("", field_="low"), "x2": {"field": "high"}}
    return [{"mark": {"type": "rule", "style": "interval"}, "encoding": {**ends, **encoding}}]


def view(
    values: list[dict[str, Any]],
    layers: Sequence[Spec],
    *,
    height: int | Spec,
    encoding: Spec | None = None,
    transform: Sequence[Spec] = (),
    rows: str | None = None,
    order: Sequence[str] = (),
    apart: bool = False,
) -> Spec:
    """Layers over one set of data; ``rows``: one below the other for each value of a field.

    ``apart``: each of them has rows of its own, in an order of its own.
    """
    inner: Spec = {"width": WIDTH, "height": height, "layer": list(layers)}
    if encoding:
        inner["encoding"] = encoding
    outer: Spec = {"data": {"values": values}}
    if transform:
        outer["transform"] = list(transform)
    if rows is None or len(order) < 2:
        return {**outer, **inner}
    if apart:
        views = [
            {"title": name, "transform": [{"filter": {"field": rows, "equal": name}}], **inner}
            for name in order
        ]
        return {**outer, "vconcat": views, "resolve": {"scale": {"x": "shared"}}}
    facet = {"row": {"field": rows, "type": "nominal", "sort": list(order), "title": None}}
    return {**outer, "facet": facet, "spec": inner}


def plot(
    section: Section,
    kind: str,
    values: list[dict[str, Any]],
    layers: Sequence[Spec],
    *,
    y: Spec,
    x: Spec,
    height: int | Spec,
    **about: Any,
) -> Figure:
    """A figure of one view, of what its reader chose; ``about``: the rest of both."""
    named = [name for name in ("transform", "rows", "order", "apart") if name in about]
    more: dict[str, Any] = {"transform": chosen(about.get("choices", ()))}
    more |= {name: about.pop(name) for name in named}
    spec = view(values, layers, height=height, encoding={"y": y, "x": x}, **more)
    return figure(section, kind, spec=spec, **about)

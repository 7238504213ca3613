"""Figures, and the parts and colors that they share: data frames in, Vega-Lite out."""

from __future__ import annotations

import copy
import itertools
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.verdict import direction
from goffman.formatting import verdict_shown
from goffman.instruments.types import slug_of

if TYPE_CHECKING:
    from goffman.presentation.section import Section

FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"

LABELS = 256
"""The width in pixels of row labels in a file and on a wide page."""

SENTENCES = 300
"""The width in pixels of row labels that are sentences."""

LINE = 50
"""The most letters in a line of a label that is a sentence."""

WIDTH = 460
"""The width in pixels of a figure without its labels, in a file."""


@cache
def _theme() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("theme.toml").read_text(encoding="utf-8"))


def config(*, dark: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite configuration; a specification has no color or type of its own."""
    theme = _theme()
    sizes = {"labels": LABELS, "label-limit": LABELS - 12}
    values = {"font": FONT, "none": None, **sizes, **theme["dark" if dark else "light"]}

    def filled(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: filled(inner) for name, inner in part.items()}
        is_name = isinstance(part, str) and part.startswith("$")
        return copy.deepcopy(values[part[1:]]) if is_name else part

    return dict(filled(theme["config"]))


Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""The name of the format; it is never fetched."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A control of a figure, with which readers choose whose values are shown."""

    field: str
    """The field of the data, and the name of the parameter."""
    label: str
    options: tuple[str, ...]
    """The options; the first one is chosen at first."""
    bound: bool = True
    """Whether it is a menu; if not, a button of the page."""

    def parameter(self, value: str) -> Spec:
        """Return the parameter that holds the chosen value."""
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
    """Vega-Lite with its data inside; colors and type come from the palette."""
    choices: tuple[Choice, ...] = ()
    instrument: str | None = None
    """The instrument whose evidence the points lead to; None: to no evidence."""
    leads: bool = False
    """Whether it is shown on the page while other figures are folded."""

    @property
    def rows(self) -> Choice | None:
        """Return the choice between some rows and all of them, if there is one."""
        return next((choice for choice in self.choices if not choice.bound), None)

    def drawn(self) -> Iterator[tuple[str, Spec]]:
        """Yield the name and specification, without controls, of every combination of options."""
        for options in itertools.product(*(choice.options for choice in self.choices)):
            spec = copy.deepcopy(self.spec)
            spec.pop("params", None)
            if options:
                pairs = zip(self.choices, options, strict=True)
                spec["params"] = [choice.parameter(value) for choice, value in pairs]
            yield "-".join(options), spec


def figure(section: Section, kind: str, **about: Any) -> Figure:
    """Return a figure of the section, named after its instrument."""
    content = _with_sentences(about.pop("spec"))
    spec = {"$schema": SCHEMA, "description": about["description"], **content}
    for choice in about.get("choices", ()):
        parameter = choice.parameter(choice.options[0])
        if choice.bound:
            menu = {"input": "select", "options": [*choice.options], "name": choice.label}
            parameter["bind"] = menu
        spec.setdefault("params", []).append(parameter)
    # The name is also used for files.
    id_ = slug_of(f"{section.instrument}-{kind}")
    return Figure(id=id_, instrument=section.instrument, spec=spec, **about)


def chosen(choices: Sequence[Choice]) -> list[Spec]:
    """Return the transforms that keep only the chosen values."""
    return [{"filter": f"datum['{choice.field}'] === chosen_{choice.field}"} for choice in choices]


def choice(field_: str, label: str, options: Sequence[str]) -> tuple[Choice, ...]:
    """Return a control if there is anything to choose."""
    if len(options) < 2:
        return ()
    return (Choice(field=field_, label=label, options=tuple(options)),)


def data(rows: pl.DataFrame, *columns: str) -> list[dict[str, Any]]:
    """Return the rows as Vega-Lite data, with control characters in their texts escaped."""
    frame = rows.select(columns)
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    for name in texts:
        safe = {text: printable(text) for text in frame[name].drop_nulls().unique()}
        frame = frame.with_columns(pl.col(name).replace(safe))
    return frame.to_dicts()


def axis_x(title: str, *, domain: Sequence[float] | None = None, field_: str = "value") -> Spec:
    """Return a quantitative x axis; ``domain``: its ends."""
    scale: Spec = {"zero": False, "nice": True} if domain is None else {"domain": list(domain)}
    return {"field": field_, "type": "quantitative", "title": title, "scale": scale}


def axis_y(field_: str, order: Sequence[str] | Spec | None, title: str | None = None) -> Spec:
    """Return an axis of rows in the given order."""
    return {"field": field_, "type": "nominal", "sort": order, "title": title}


def wrapped() -> Spec:
    """Return an axis of rows whose labels are sentences: in full, over lines of LINE letters."""
    # A narrow page replaces this number with its own.
    lines = f"regexp('(.{{1,{LINE}}})( |$)', 'g')"
    return {
        "minExtent": SENTENCES,
        "maxExtent": SENTENCES,
        "labelLimit": SENTENCES - 12,
        "labelExpr": f"split(trim(replace(datum.label, {lines}, '$1\\n')), '\\n')",
    }


def coloured(field_: str, order: Sequence[str], *, legend: bool = True) -> Spec:
    """Return encodings by color and by shape, so that no reader depends on color."""
    about: Spec = {"field": field_, "type": "nominal", "scale": {"domain": list(order)}}
    if not legend or len(order) < 2:
        about["legend"] = None
    return {"color": about, "shape": copy.deepcopy(about)}


def tip(*fields: tuple[str, str]) -> list[Spec]:
    """Return the encoding of a tooltip."""
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
    for field in fields:
        datum, title = f"datum['{field['field']}']", field["title"].lower()
        if field["field"] in ("low", "high"):
            ends.append(f"format({datum}, '.2~g')")
        elif "format" in field:
            text = f"'{title} ' + format({datum}, '{field['format']}')"
            numbers.append(f"(isValid({datum}) ? {text} : '{title} unknown')")
        else:
            prefix = "'ranks ' + " if field["field"] == "ranks" else ""
            names.append(f"(isValid({datum}) ? {prefix}{datum} : '')")
    parts = [*names[:1], *(f"({name} ? ', ' + {name} : '')" for name in names[1:])]
    if numbers:
        parts += ["': '" if names else "''", " + ', ' + ".join(numbers)]
    if len(ends) == 2:
        parts.append(f"(isValid(datum['low']) ? ' (' + {ends[0]} + ' to ' + {ends[1]} + ')' : '')")
    return " + ".join([*parts, "'.'"])


NUMBERS = frozenset(
    {"value", "difference", "low", "high", "p_adjusted", "effect", "n", "count", "from", "to"}
    | {"other", "mean_first", "mean_second", "sd"}
)


def at(value: float, style: str, *, level: bool = False) -> Spec:
    """Return a vertical line; ``level``: a horizontal one."""
    mark = {"type": "rule", "style": style, "tooltip": None, "aria": False}
    axis, ends, title = through(level=level)
    place = {"field": "at", "type": "quantitative", "title": title}
    return {"mark": mark, "data": {"values": [{"at": value}]}, "encoding": {axis: place, **ends}}


def through(*, level: bool) -> tuple[str, Spec, str | None]:
    """Return a mark's axis (x or y), the encoding of its ends at the view's edges, and a title."""
    if level:
        return "y", {"x": {"value": 0}, "x2": {"value": "width"}}, None
    return "x", {"y": {"value": 0}, "y2": {"value": "height"}}, ""


def interval(rows: pl.DataFrame, **encoding: Spec) -> list[Spec]:
    """Return the bar from low to high, if any row has one."""
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
    """Return layers over one set of data; ``rows``: a view below the other for each field value.

    ``apart``: each of these views has rows of its own, in an order of its own.
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
    """Return a figure with one view of the chosen values; ``about``: other parts of both."""
    names = [name for name in ("transform", "rows", "order", "apart") if name in about]
    settings: dict[str, Any] = {"transform": chosen(about.get("choices", ()))}
    settings |= {name: about.pop(name) for name in names}
    spec = view(values, layers, height=height, encoding={"y": y, "x": x}, **settings)
    return figure(section, kind, spec=spec, **about)


# Estimates: marks filled if clear, else hollow, over the band of small differences.

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
    """Return the encoding of an estimate's tooltip; ``first``: the fields that name it."""
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
    # The first layer covers the interval's line below hollow marks.
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
    """Return layers: the band and line at 0, those of ``between``, intervals, then marks."""
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

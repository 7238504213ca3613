"""Figures of a comparison: the main contrast from run to run, its groups, and single conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.comparison.changes import Course
from goffman.comparison.sentences import change_sentences, conditions_of, levels_of, what_of
from goffman.contrasts.verdict import direction
from goffman.formatting import humanize, number, verdict_shown
from goffman.presentation.estimate_figures import ESTIMATE, band, describe_marks, dots, estimate_tip
from goffman.presentation.vega import (
    Figure,
    Spec,
    at,
    axis_x,
    axis_y,
    choice,
    chosen,
    coloured,
    data,
    figure,
    interval,
    view,
)

if TYPE_CHECKING:
    from goffman.comparison.runs import Comparison

FIRST_AND_LAST = 15
"""How many of the largest rises, and of the largest falls, are drawn."""

_SCHEMA = {
    **dict.fromkeys(("run", "set", "clear", "verdict"), pl.String),
    **dict.fromkeys(("value", "difference", "low", "high", "p_adjusted"), pl.Float64),
}


def figures_of(course: Course) -> Iterator[Figure]:
    """Yield every figure that can be drawn of a course."""
    if any(step.unmeasurable for step in course.steps) or all(step.same for step in course.steps):
        return
    for made_figure in (_headline(course), _groups(course), _conditions(course)):
        if made_figure is not None:
            yield replace(
                made_figure,
                id=f"{course.id}-{made_figure.id[len(course.section.instrument) + 1 :]}",
            )


def _headline(course: Course) -> Figure | None:
    """Return the figure of the contrast that headings are about, from run to run."""
    rows: list[dict[str, Any]] = []
    start: tuple[Comparison, dict[str, Any], float] | None = None
    for comparison, label in course.labeled:
        row, (before, after) = comparison.headline, comparison.sides
        if row is None or before is None or after is None:
            continue
        start = start or (comparison, row, before)
        rows += [_start(course, before)] if not rows else []
        rows.append(_step(row, label, before, after))
    if start is None:
        return None
    comparison, row, before = start
    what = what_of(comparison, row)
    heads = " ".join(
        f"{f'{label}: ' if len(course.steps) > 1 else ''}{change_sentences(step).head}."
        for step, label in course.labeled
    )
    return figure(
        course.section,
        "course",
        title=f"{what[:1].upper()}{what[1:]}, from run to run",
        description=f"{heads} {_how_to_read(row)}",
        spec=slopes(rows, along=_runs(course), axis="Difference", around=(before, row["margin"])),
    )


def _groups(course: Course) -> Figure | None:
    """Return the figure of each group's measured number, from run to run."""
    rows: list[dict[str, Any]] = []
    for comparison, label in course.labeled:
        for row in levels_of(comparison):
            group = humanize(row["group"] or "all")
            if not any(point["set"] == group for point in rows):
                rows.append(_start(course, row["mean_second"], group))
            rows.append(_step(row, label, row["mean_second"], row["mean_first"], group))
    if not rows:
        return None
    sentences = change_sentences(course.steps[-1])
    return figure(
        course.section,
        "groups",
        title=f"{course.section.presentation.called} of each group, from run to run",
        description=f"{sentences.groups} {_how_to_read()}".strip(),
        spec=slopes(rows, along=_runs(course), axis=course.section.presentation.axis),
    )


def _how_to_read(row: dict[str, Any] | None = None) -> str:
    text = (
        "Each bar is the 95% interval of the change since the first run, paired by prompt and "
        "drawn from the first run’s value. The interval of a filled mark excludes 0."
    )
    if row is None or not row["margin"]:
        return text
    least = number(row["margin"])
    return f"{text} In the shaded band, changes are too small to matter (up to {least})."


def _start(course: Course, value: float, group: str = "") -> dict[str, Any]:
    """Return the row of the first run, where nothing has changed yet."""
    return {"run": course.labels[0], "set": group, "value": value}


def _step(
    row: dict[str, Any], label: str, before: float, after: float, group: str = ""
) -> dict[str, Any]:
    """Return a later run's row: its value, and the paired interval around the first run's value."""
    ends = {name: None if row[name] is None else before + row[name] for name in ("low", "high")}
    return {
        "run": label,
        "set": group,
        "value": after,
        "difference": row["difference"],
        **ends,
        "p_adjusted": row["p_adjusted"],
        "clear": "yes" if direction(row) else "no",
        "verdict": verdict_shown(row) or "none",
    }


def _runs(course: Course) -> Spec:
    """Return the axis of runs along the bottom, in their order."""
    run: Spec = {"field": "run", "type": "nominal", "sort": list(course.labels), "title": None}
    axis = {"labelAngle": 0, "labelLimit": 150, "domain": True}
    return run | {"axis": axis, "scale": {"padding": 0.4}}


def slopes(
    rows: Sequence[dict[str, Any]],
    *,
    along: Spec,
    axis: str,
    around: tuple[float, float | None] | None = None,
    called: str = "Change",
) -> Spec:
    """Return lines from run to run; ``along``: the axis of ``run``, ``called``: what a mark is.

    ``around``: the first run's value, which marks are read against, and the margin that would not
    matter.
    """
    stepped = along["type"] == "quantitative"
    schema = _SCHEMA | ({"run": pl.Int64} if stepped else {})
    frame = pl.DataFrame(rows, schema=schema)
    frame = frame.with_columns(pl.selectors.float().round_sig_figs(6))
    groups = [group for group in dict.fromkeys(frame["set"]) if group]
    colour = coloured("set", groups, legend=False) if groups else {}
    layers: list[Spec] = _around(*around) if around else []
    layers.append(
        {
            "mark": {"type": "line", "style": "link", "tooltip": None},
            "encoding": _only(colour, "color"),
        }
    )
    if frame["low"].count():
        ends = {"y": _axis_up(axis, "low"), "y2": {"field": "high"}, **_only(colour, "color")}
        layers.append({"mark": {"type": "rule", "style": "interval"}, "encoding": ends})
    run_field = ("run", "Step" if stepped else "Run")
    tooltip = estimate_tip(run_field, *([("set", "Group")] if groups else []), called=called)
    stroke = {"stroke": colour["color"]} if colour else {}
    first = {"transform": [{"filter": "!isValid(datum.difference)"}]}
    shape = {
        "mark": {"type": "point", "style": "estimate", "size": 60},
        "encoding": {"tooltip": tooltip, **colour, **stroke},
    }
    # The names at the ends of the lines serve as a legend.
    quiet = {name: colour.get(name) or colour.get("color") for name in ("color", "shape", "stroke")}
    later = [
        {
            **layer,
            "encoding": layer["encoding"]
            | {name: quiet[name] for name in quiet if name in layer["encoding"]},
            "transform": [{"filter": "isValid(datum.difference)"}],
        }
        for layer in dots(tooltip, size=60, colour=("set", groups) if groups else None)
    ]
    layers += [{**shape, **first}, *later, *_labels(frame, colour)]
    return view(
        data(frame, *_SCHEMA),
        layers,
        height=230,
        encoding={"x": along, "y": _axis_up(axis, "value")},
    )


def _labels(frame: pl.DataFrame, colour: Spec) -> list[Spec]:
    """Return the name of each group at the end of its line, as a legend."""
    if not colour:
        return []
    last = frame.group_by("set", maintain_order=True).last().sort("value", descending=True)
    mark = {"type": "text", "align": "left", "dx": 12, "fontWeight": 600, "aria": False}
    text: Spec = {"text": {"field": "set", "type": "nominal"}, "color": colour["color"]}
    # Names are kept apart even where the ends of lines are not.
    return [
        {
            "mark": {**mark, "dy": 12 * (place - (last.height - 1) / 2), "tooltip": None},
            "data": {"values": [row]},
            "encoding": text,
        }
        for place, row in enumerate(last.select("run", "set", "value").to_dicts())
    ]


def _only(encoding: Spec, name: str) -> Spec:
    return {name: encoding[name]} if name in encoding else {}


def _axis_up(title: str, field_: str) -> Spec:
    """Return the axis of a number up the side, which needs little room there."""
    side = {"minExtent": 30, "maxExtent": 60, "grid": True}
    return axis_x(title, field_=field_) | {"axis": side, "scale": {"zero": True, "nice": True}}


def _around(value: float, margin: float | None) -> list[Spec]:
    """Return a line at the first run's value, over the band of changes that would not matter.

    A bar that does not cross the line is a change.
    """
    quiet, across = {"tooltip": None, "aria": False}, {"x": {"value": 0}, "x2": {"value": "width"}}
    layers: list[Spec] = []
    if margin:
        ends = {"y": {"field": "from", "type": "quantitative"}, "y2": {"field": "to"}}
        values = [{"from": value - margin, "to": value + margin}]
        mark = {"type": "rect", "style": "band", **quiet}
        layers.append({"mark": mark, "data": {"values": values}, "encoding": {**ends, **across}})
    y = {"field": "at", "type": "quantitative"}
    mark = {"type": "rule", "style": "half", **quiet}
    line = {"mark": mark, "data": {"values": [{"at": value}]}, "encoding": {"y": y, **across}}
    return [*layers, line]


def _conditions(course: Course) -> Figure | None:
    """Return the figure of the conditions that changed most: largest rises, largest falls."""
    section, rows = course.section, []
    for comparison, label in course.labeled:
        rows += [
            row | {"run": label, "clear": "yes" if direction(row) else "no"}
            for row in first_and_last(conditions_of(comparison))
        ]
    if not rows or not any(row["difference"] for row in rows):
        return None
    names = ("condition", "group", "run", *ESTIMATE, "margin")
    kinds = dict.fromkeys(("condition", "group", "run", "clear", "verdict"), pl.String)
    schema = {name: kinds.get(name, pl.Float64) for name in names}
    frame = section.named(pl.DataFrame([{n: row[n] for n in names} for row in rows], schema=schema))
    frame = frame.with_columns(pl.selectors.float().round_sig_figs(6))
    of_settings = section.unit != "condition"
    frame = frame.with_columns(group=pl.lit("setting")) if of_settings else frame
    groups = [group for group in section.groups() if group in {*frame["group"]}] or ["setting"]
    choices = choice("run", "Run", course.labels[1:])
    noun = section.noun
    tooltip = estimate_tip(("name", noun.headed.one), ("group", "Group"), called="Change")
    return figure(
        section,
        "changes",
        title=f"What changed most, by {noun.one}",
        description=f"{change_sentences(course.steps[-1]).conditions} {_which(course)} "
        f"{describe_marks(frame)} Select a mark to read the answers of both runs.",
        choices=choices,
        spec=view(
            data(frame, "run", "condition", "name", "group", *ESTIMATE),
            [
                *band(frame),
                at(0, "zero"),
                *interval(frame, color=coloured("group", groups)["color"]),
                *dots(tooltip, size=34, colour=("group", groups), leads=True),
            ],
            height={"step": 15},
            encoding={
                "y": axis_y("name", {"field": "difference", "order": "descending"}),
                "x": axis_x(f"Change in {section.presentation.called}", field_="difference"),
            },
            transform=chosen(choices),
        ),
    )


def first_and_last(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the largest rises and falls, or all rows if there are no more than these."""
    if len(rows) <= 2 * FIRST_AND_LAST:
        return list(rows)
    return [*rows[:FIRST_AND_LAST], *rows[-FIRST_AND_LAST:]]


def _which(course: Course) -> str:
    """Return which conditions are drawn, and that the extremes of many are partly chance."""
    count, noun = len(conditions_of(course.steps[-1])), course.section.noun
    lines = "Lines are 95% intervals over items and wordings."
    if count <= 2 * FIRST_AND_LAST:
        return lines
    return (
        f"Shown are the {FIRST_AND_LAST} highest and the {FIRST_AND_LAST} lowest of {count} "
        f"{noun.many}. Extremes of so many are partly chance. {lines}"
    )

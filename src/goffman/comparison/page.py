"""Figures of a comparison: the main contrast from run to run, its groups, and single conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.comparison.runs import OF_RUNS, Course, courses, labels_of, refused
from goffman.comparison.sentences import (
    change_result,
    change_sentences,
    comparison_marks,
    conditions_of,
    levels_of,
    model_of,
    what_of,
)
from goffman.console import printable
from goffman.contrasts.verdict import direction
from goffman.formatting import (
    ends,
    humanize,
    join_words,
    number,
    p_value,
    short_names,
    verdict_shown,
)
from goffman.presentation.answer_style import describe_measured
from goffman.presentation.evidence import EVIDENCE
from goffman.presentation.forest import forest
from goffman.presentation.vega import (
    ESTIMATE,
    Figure,
    Spec,
    at,
    axis_x,
    axis_y,
    band,
    choice,
    chosen,
    coloured,
    data,
    describe_marks,
    dots,
    estimate_tip,
    figure,
    interval,
    view,
)
from goffman.report.evidence import (
    ROWS,
    Evidence,
    answers_of,
    packed,
    ranks_of,
    rows_there,
    words_or_why,
    words_per_prompt,
)
from goffman.report.page import GENERAL, SHARED, Drawn, about_run, figures_shown, rendered
from goffman.report.summary import describe_counts, strength

if TYPE_CHECKING:
    from pathlib import Path

    from goffman.comparison.runs import Comparison
    from goffman.lexicons.lexicons import Lexicons
    from goffman.presentation.section import Answers, Section
    from goffman.report.load import MeasuredRun


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
    for drawn in (_headline(course), _groups(course), _conditions(course)):
        if drawn is not None:
            kind = drawn.id[len(course.section.instrument) + 1 :]
            yield replace(drawn, id=f"{course.id}-{kind}")


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
        spec=slopes(
            rows, along=_run_axis(course), axis="Difference", around=(before, row["margin"])
        ),
    )


def _groups(course: Course) -> Figure | None:
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
        spec=slopes(rows, along=_run_axis(course), axis=course.section.presentation.axis),
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


def _run_axis(course: Course) -> Spec:
    """Return the encoding of the horizontal axis: one place for each run, in their order."""
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
    """Return the view of a line from run to run with a mark for each run.

    ``along``: the encoding of the horizontal axis; ``axis``: the vertical axis's title; ``around``:
    the first run's value and the margin around it that would not matter; ``called``: the name of a
    mark's value in its tooltip.
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
    # Names have a fixed distance, since lines may end at the same place.
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
        description=f"{change_sentences(course.steps[-1]).conditions} {_conditions_shown(course)} "
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


def _conditions_shown(course: Course) -> str:
    count, noun = len(conditions_of(course.steps[-1])), course.section.noun
    lines = "Lines are 95% intervals over items and wordings."
    if count <= 2 * FIRST_AND_LAST:
        return lines
    return (
        f"Shown are the {FIRST_AND_LAST} highest and the {FIRST_AND_LAST} lowest of {count} "
        f"{noun.many}. Extremes of so many are partly chance. {lines}"
    )


@dataclass(frozen=True, kw_only=True)
class _Side:
    """One model in one run."""

    label: str
    section: Section
    model: str
    run: MeasuredRun
    words: Lexicons | None

    def answers(self) -> Iterator[Answers]:
        """Yield the answers, read from the run's folder anew each time."""
        yield from answers_of(self.run, self.section, model=self.model)


def evidence_of_runs(
    comparisons: Sequence[Comparison], runs: Sequence[MeasuredRun], *, rows: int = ROWS
) -> tuple[list[Evidence], list[str]]:
    """Return each instrument's evidence of all its sides, and what the page could not show."""
    lexicons = {run.folder: words_or_why(run.manifest) for run in runs}
    sides = _sides(comparisons, {run.folder: run for run in runs}, lexicons)
    # Answers are read twice, first to count: all answers together would fill the memory.
    all_answers = chain.from_iterable(side.answers() for side in chain(*sides.values()))
    most = words_per_prompt(map(ranks_of, all_answers), rows)
    notes = dict.fromkeys(note for _, messages in lexicons.values() for note in messages)
    return [_evidence(of_instrument, most) for of_instrument in sides.values()], [*notes]


def _sides(
    comparisons: Sequence[Comparison],
    runs: Mapping[Path, MeasuredRun],
    lexicons: Mapping[Path, tuple[Lexicons | None, Sequence[str]]],
) -> dict[str, list[_Side]]:
    """Return by instrument every model of every run in it, in the order of the runs."""
    pairs: dict[str, dict[tuple[Path, str], None]] = {}
    for side in (0, 1):
        for comparison in comparisons:
            if not comparison.verdict.refusals and comparison.section is not None:
                folder = (comparison.reference, comparison.run)[side]
                pairs.setdefault(comparison.instrument, {})[folder, comparison.models[side]] = None
    labels = labels_of(comparisons)
    models = short_names({model: None for keys in pairs.values() for _, model in keys})
    return {
        instrument: [
            _Side(
                label=f"{labels[str(folder)]}: {models[model]}",
                section=runs[folder].sections[instrument],
                model=model,
                run=runs[folder],
                words=lexicons[folder][0],
            )
            for folder, model in keys
        ]
        for instrument, keys in pairs.items()
    }


def _evidence(sides: Sequence[_Side], most: int) -> Evidence:
    """Return one instrument's evidence, in which each side is a model named by its position.

    Models' own names would not do: two runs may have a model of the same name.
    """
    tables, scores, total = [pl.DataFrame(schema=EVIDENCE)], [], 0
    for place, side in enumerate(sides):
        model_column = {"model": pl.lit(str(place))}
        presentation = side.section.presentation
        # A comprehension releases the answers of one side before those of the next are read.
        rows = [
            (presentation.evidence(answers, side.section, side.words, most), rows_there(answers))
            for answers in side.answers()
        ]
        tables += [table.with_columns(**model_column) for table, _ in rows]
        total += sum(count for _, count in rows)
        numbers = side.section.scores.filter(
            model=side.model, level="prompt", quantity=presentation.quantity
        )
        scores.append(numbers.with_columns(**model_column))
    last = sides[-1].section
    names = replace(last.names, models={str(n): side.label for n, side in enumerate(sides)})
    section = replace(last, names=names, scores=pl.concat(scores))
    return packed(section, pl.concat(tables), total)


SCRIPTS = (*SHARED, "sides.js", "compare.js")  # fmt: skip
"""In the order in which they run, after Vega."""

COLUMNS = (
    ("name", "Condition"),
    ("instrument", "Instrument"),
    ("group", "Group"),
    ("run", "Later run"),
    ("before", "Before"),
    ("after", "After"),
    ("change", "Change"),
    ("interval", "95% interval"),
    ("p", "p, corrected"),
    ("verdict", "Verdict"),
)


def compare_page(
    comparisons: Sequence[Comparison], runs: Sequence[MeasuredRun], *, notes: Sequence[str] = ()
) -> str:
    """Return the whole page; ``notes``: what only one of the runs has."""
    all_courses = courses(comparisons)
    labels = labels_of(comparisons)
    figures = [figure for course in all_courses for figure in figures_of(course)]
    evidence, unshown = evidence_of_runs(comparisons, runs)
    drawn = Drawn(figures=figures, evidence=evidence, notes=unshown)
    columns = [column for column in COLUMNS if column[0] != "run" or len(labels) > 2]
    sections = {course.section.instrument: course.section for course in all_courses}
    data = {
        "columns": columns,
        "listing": [
            [row["condition"], *(row[name] for name, _ in columns)]
            for course in all_courses
            for row in _listing(course)
        ],
        "nouns": {name: section.noun.one for name, section in sections.items()},
        "titles": {name: section.names.title(name) for name, section in sections.items()},
        "evidence": [block.instrument for block in evidence],
    }
    shown = [printable(label) for label in labels.values()]
    span = "" if len(shown) == 2 else f" over {len(shown)} runs,"
    also = f" Each run is compared with {shown[0]}." if len(shown) > 2 else ""
    models = join_words([*dict.fromkeys(course.model for course in all_courses)])
    return rendered(
        "compare.html",
        SCRIPTS,
        drawn,
        data,
        title=f"What changed{span} from {shown[0]} to {shown[-1]}",
        lede=f"The answers of {models} to {join_words([*sections])}, compared prompt by prompt."
        f"{also} Every number can be traced to the prompts and answers behind it, side by side.",
        first=_overview(all_courses, labels),
        several=len(shown) > 2,
        marks=[printable(mark) for mark in comparison_marks(comparisons)],
        refusals=[printable(line) for line in dict.fromkeys([*refused(comparisons), *notes])],
        courses=[_course(course, drawn) for course in all_courses],
        runs=[
            {"label": printable(labels[str(run.folder)]), "about": about_run(run)} for run in runs
        ],
        general=GENERAL,
    )


def _overview(every: Sequence[Course], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the rows, axis and counts of the overview, the strongest change first."""
    results = [
        (change_result(comparison, printable(model_of(comparison, labels))), comparison, course.id)
        for course in every
        for comparison in course.steps
    ]
    results.sort(key=lambda entry: strength(entry[0]))
    drawn = forest([result.finding for result, _, _ in results])
    rows = [
        {"result": result, "mark": mark, "course": course, "said": change_sentences(step)}
        for (result, step, course), mark in zip(results, drawn.marks, strict=True)
    ]
    return {
        "rows": rows,
        "forest": drawn,
        "counts": describe_counts([result for result, _, _ in results]),
    }


def _course(course: Course, drawn: Drawn) -> dict[str, Any]:
    section = course.section
    own = [
        figure for figure in drawn.figures if figure.id in {f"{course.id}-{kind}" for kind in KINDS}
    ]
    block = next(block for block in drawn.evidence if block.instrument == section.instrument)
    return {
        "id": course.id,
        "name": f"{section.instrument}, {course.model}",
        "title": section.names.title(section.instrument),
        "measured": describe_measured(section),
        "figures": figures_shown(own, drawn),
        "rows": [row for step, label in course.labeled for row in _rows(step, printable(label))],
        "by_item": [
            row for step, label in course.labeled for row in _items(step, printable(label))
        ],
        "kept": block.kept,
        "there": block.there,
    }


KINDS = ("course", "groups", "changes")


def _rows(comparison: Comparison, label: str) -> list[dict[str, str]]:
    """Return the number of each group, and the whole-scale contrasts of the report's tables."""
    if comparison.section is None:
        return []
    wanted = ["runs", *comparison.section.presentation.main]
    rows = comparison.estimates.filter(
        pl.col("kind").is_in(wanted),
        pl.col("dimension").is_null(),
        pl.col("difference").is_not_null(),
    )
    return [
        {
            "what": _row_label(row),
            "run": label,
            "before": number(row["mean_second"]) if row["kind"] in OF_RUNS else "",
            "after": number(row["mean_first"]) if row["kind"] in OF_RUNS else "",
            "change": number(row["difference"]),
            "interval": ends(row["low"], row["high"]),
            "verdict": verdict_shown(row),
            "p": "none" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
            "tests": str(row["family_size"] or ""),
        }
        for row in rows.iter_rows(named=True)
    ]


def _row_label(row: Mapping[str, Any]) -> str:
    """Return the label of a row: the number and its group, or the contrast."""
    sides = f"{humanize(row['first'])} − {humanize(row['second'])}"
    subject = humanize(row["group"] or "all") if row["kind"] == "runs" else sides
    if row["kind"] != "runs" and row["group"]:
        subject = f"{humanize(row['group'])}: {subject}"
    beside = {"groups-as-asked": " (as in the study)", "groups-adjusted": " (adjusted)"}
    as_asked = beside.get(row["kind"], "")
    parts = [humanize(row["quantity"]), humanize(row["variant"]) if row["variant"] else ""]
    return f"{', '.join(part for part in parts if part)}: {subject}{as_asked}"


def _items(comparison: Comparison, label: str) -> list[dict[str, str]]:
    if comparison.by_item is None or comparison.same or comparison.section is None:
        return []
    names = comparison.section.names.items
    return [
        {
            "item": names.get((comparison.instrument, item), humanize(item)),
            "run": label,
            "change": number(change),
        }
        for item, change in comparison.by_item.changes.items()
    ]


def _listing(course: Course) -> list[dict[str, Any]]:
    """Return every condition of every step: its id, and the values of COLUMNS."""
    section = course.section
    return [
        {
            "condition": printable(row["condition"]),
            "name": printable(section.called(row["condition"])),
            "instrument": section.instrument,
            "group": humanize(row["group"] or "") if section.unit == "condition" else "",
            "run": printable(label),
            "before": row["mean_second"],
            "after": row["mean_first"],
            "change": row["difference"],
            "interval": ends(row["low"], row["high"]),
            "p": row["p_adjusted"],
            "verdict": verdict_shown(row) or "none",
        }
        for comparison, label in course.labeled
        if not comparison.unmeasurable
        for row in conditions_of(comparison)
    ]

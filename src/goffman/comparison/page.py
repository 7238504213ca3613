"""A comparison of runs as a page, with the answers behind each change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.analysis.summary import describe_counts, interval_shown, strength, value_shown
from goffman.comparison.changes import Course, courses
from goffman.comparison.figures import figures_of
from goffman.comparison.runs import OF_RUNS, refused
from goffman.comparison.sentences import change_sentences, conditions_of, describe_marks, labels_of
from goffman.comparison.text import change_result, model_of
from goffman.console import printable
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
from goffman.report.forest import forest
from goffman.report.images import svg_of
from goffman.report.page import GENERAL, SHARED, Drawn, about_run, figures_shown, rendered

if TYPE_CHECKING:
    from pathlib import Path

    from goffman.comparison.runs import Comparison
    from goffman.lexicons.lexicons import Lexicons
    from goffman.presentation.section import Section
    from goffman.presentation.types import Answers
    from goffman.report.load import MeasuredRun


@dataclass(frozen=True, kw_only=True)
class _Side:
    """One model in one run."""

    id: str
    """In the place of the model's name: two runs may have one of the same name."""
    label: str
    section: Section
    model: str
    run: MeasuredRun
    words: Lexicons | None

    @property
    def answers(self) -> Iterator[Answers]:
        """Read from the run's folder, each time anew."""
        return answers_of(self.run, self.section, model=self.model)

    @property
    def numbers(self) -> pl.DataFrame:
        """The main number of each prompt."""
        return self.section.scores.filter(
            pl.col("model") == self.model,
            pl.col("level") == "prompt",
            pl.col("quantity") == self.section.presentation.quantity,
        )

    @property
    def ranks(self) -> Iterator[pl.Series]:
        """Of these answers alone, which are let go at once."""
        return map(ranks_of, self.answers)


def evidence_of_runs(
    found: Sequence[Comparison], runs: Sequence[MeasuredRun], *, rows: int = ROWS
) -> tuple[list[Evidence], list[str]]:
    """Of each instrument the evidence of all its sides; and what the page could not show."""
    lexicons = {run.folder: words_or_why(run.manifest) for run in runs}
    sides = _sides(found, {run.folder: run for run in runs}, lexicons)
    # Read twice, first to count: all answers together would fill the memory.
    ranks = (of for several in sides.values() for side in several for of in side.ranks)
    most = words_per_prompt(ranks, rows)
    notes = [note for _, said in lexicons.values() for note in said]
    return [_evidence(of, most) for of in sides.values()], [*dict.fromkeys(notes)]


def _sides(
    found: Sequence[Comparison],
    runs: Mapping[Path, MeasuredRun],
    lexicons: Mapping[Path, tuple[Lexicons | None, Sequence[str]]],
) -> dict[str, list[_Side]]:
    """By instrument: every model of every run in it, in the order of the runs."""
    compared = [one for one in found if not one.verdict.refusals and one.section is not None]
    labels = labels_of(found)
    models = short_names(dict.fromkeys(name for one in compared for name in one.models))
    every: dict[str, list[_Side]] = {}
    for instrument in dict.fromkeys(one.instrument for one in compared):
        of = [one for one in compared if one.instrument == instrument]
        there = [(one.reference, one.models[0]) for one in of]
        there += [(one.run, one.models[1]) for one in of]
        for place, (folder, model) in enumerate(dict.fromkeys(there)):
            section = runs[folder].sections[instrument]
            side = _Side(
                id=str(place),
                label=f"{labels[str(folder)]}: {models[model]}",
                section=section,
                model=model,
                run=runs[folder],
                words=lexicons[folder][0],
            )
            every.setdefault(instrument, []).append(side)
    return every


def _evidence(sides: Sequence[_Side], most: int) -> Evidence:
    """One instrument's block, in which each side is a model."""
    tables = [pl.DataFrame(schema=EVIDENCE)]
    scores = []
    there = 0
    for side in sides:
        named = {"model": pl.lit(side.id)}
        shown = side.section.presentation.evidence
        # A comprehension lets go of the answers of one side before those of the next are read.
        rows = [
            (shown(one, side.section, side.words, most).with_columns(**named), rows_there(one))
            for one in side.answers
        ]
        tables += [of for of, _ in rows]
        there += sum(count for _, count in rows)
        scores.append(side.numbers.with_columns(**named))
    last = sides[-1].section
    names = replace(last.names, models={side.id: side.label for side in sides})
    section = replace(last, names=names, scores=pl.concat(scores))
    return packed(section, pl.concat(tables), there)


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
    found: Sequence[Comparison], runs: Sequence[MeasuredRun], *, notes: Sequence[str] = ()
) -> str:
    """The whole page; ``notes``: what only one of the runs has."""
    every = courses(found)
    labels = labels_of(found)
    figures = [figure for course in every for figure in figures_of(course)]
    evidence, unshown = evidence_of_runs(found, runs)
    svgs = {figure.id: svg_of(next(figure.drawn())[1]) for figure in figures}
    drawn = Drawn(figures=figures, svgs=svgs, evidence=evidence, notes=unshown)
    columns = [one for one in COLUMNS if one[0] != "run" or len(labels) > 2]
    sections = {course.section.instrument: course.section for course in every}
    data = {
        "columns": columns,
        "listing": [
            [row["condition"], *(row[name] for name, _ in columns)]
            for course in every
            for row in _listing(course)
        ],
        "nouns": {name: one.noun.one for name, one in sections.items()},
        "titles": {name: one.names.title(name) for name, one in sections.items()},
        "evidence": [one.instrument for one in evidence],
    }
    shown = [printable(label) for label in labels.values()]
    span = "" if len(shown) == 2 else f" over {len(shown)} runs,"
    return rendered(
        "compare.html",
        SCRIPTS,
        drawn,
        data,
        title=f"What changed{span} from {shown[0]} to {shown[-1]}",
        lede=_lede(every, shown),
        first=_overview(every, labels),
        several=len(shown) > 2,
        marks=[printable(mark) for mark in describe_marks(found)],
        refusals=[printable(line) for line in dict.fromkeys([*refused(found), *notes])],
        courses=[_course(course, drawn) for course in every],
        runs=[
            {"label": printable(labels[str(run.folder)]), "about": about_run(run)} for run in runs
        ],
        general=GENERAL,
    )


def _lede(every: Sequence[Course], labels: Sequence[str]) -> str:
    """What is compared, in a sentence or two."""
    models = [*dict.fromkeys(course.model for course in every)]
    names = [*dict.fromkeys(course.section.instrument for course in every)]
    also = f" Each run is compared with {labels[0]}." if len(labels) > 2 else ""
    return (
        f"The answers of {join_words(models)} to {join_words(names)}, compared prompt by "
        f"prompt.{also} "
        "Every number can be traced to the prompts and answers behind it, side by side."
    )


def _overview(every: Sequence[Course], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a row for each comparison, the strongest change first, all of them on one axis."""
    made = [
        (change_result(one, printable(model_of(one, labels))), one, course.id)
        for course in every
        for one in course.steps
    ]
    made.sort(key=lambda each: strength(each[0]))
    drawn = forest([one.finding for one, _, _ in made])
    rows = [
        {
            "result": one,
            "mark": mark,
            "value": value_shown(one.finding),
            "interval": interval_shown(one.finding),
            "course": course,
            "said": change_sentences(step),
        }
        for (one, step, course), mark in zip(made, drawn.marks, strict=True)
    ]
    return {"rows": rows, "forest": drawn, "counts": describe_counts([one for one, _, _ in made])}


def _course(course: Course, drawn: Drawn) -> dict[str, Any]:
    """What the template needs of one model and instrument."""
    section = course.section
    own = [one for one in drawn.figures if one.id in {f"{course.id}-{kind}" for kind in KINDS}]
    block = next(one for one in drawn.evidence if one.instrument == section.instrument)
    return {
        "id": course.id,
        "name": f"{section.instrument}, {course.model}",
        "title": section.names.title(section.instrument),
        "measured": describe_measured(section),
        "figures": figures_shown(own, drawn),
        "rows": [row for one, label in course.labeled for row in _rows(one, printable(label))],
        "by_item": [row for one, label in course.labeled for row in _items(one, printable(label))],
        "kept": block.kept,
        "there": block.there,
    }


KINDS = ("course", "groups", "changes")


def _rows(one: Comparison, label: str) -> list[dict[str, str]]:
    """The number of each group, and the contrasts of the report's tables, of the whole scale."""
    if one.section is None:
        return []
    wanted = ["runs", *one.section.presentation.main]
    rows = one.estimates.filter(
        pl.col("kind").is_in(wanted),
        pl.col("dimension").is_null(),
        pl.col("difference").is_not_null(),
    )
    return [
        {
            "what": _what(row),
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


def _what(row: Mapping[str, Any]) -> str:
    """Which number, of which group, or between what a contrast is."""
    sides = f"{humanize(row['first'])} − {humanize(row['second'])}"
    of = humanize(row["group"] or "all") if row["kind"] == "runs" else sides
    if row["kind"] != "runs" and row["group"]:
        of = f"{humanize(row['group'])}: {of}"
    beside = {"groups-as-asked": " (as in the study)", "groups-adjusted": " (adjusted)"}
    as_asked = beside.get(row["kind"], "")
    about = [humanize(row["quantity"]), humanize(row["variant"]) if row["variant"] else ""]
    return f"{', '.join(part for part in about if part)}: {of}{as_asked}"


def _items(one: Comparison, label: str) -> list[dict[str, str]]:
    """Of each item the change of the gap."""
    if one.by_item is None or one.same or one.section is None:
        return []
    names = one.section.names.items
    return [
        {
            "item": names.get((one.instrument, item), humanize(item)),
            "run": label,
            "change": number(change),
        }
        for item, change in one.by_item.changes.items()
    ]


def _listing(course: Course) -> list[dict[str, Any]]:
    """Every condition of every step: its id, and the values of COLUMNS."""
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
        for one, label in course.labeled
        if not one.unmeasurable
        for row in conditions_of(one)
    ]

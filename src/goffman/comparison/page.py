"""The page of a comparison of runs, with the answers behind each change."""

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
    """Used in place of the model's name: two runs may have a model of the same name."""
    label: str
    section: Section
    model: str
    run: MeasuredRun
    words: Lexicons | None

    @property
    def answers(self) -> Iterator[Answers]:
        """Return the answers, read from the run's folder anew each time."""
        return answers_of(self.run, self.section, model=self.model)

    @property
    def numbers(self) -> pl.DataFrame:
        """Return the main number of each prompt."""
        return self.section.scores.filter(
            pl.col("model") == self.model,
            pl.col("level") == "prompt",
            pl.col("quantity") == self.section.presentation.quantity,
        )

    @property
    def ranks(self) -> Iterator[pl.Series]:
        """Yield the ranks of these answers alone; each table of answers is released at once."""
        return map(ranks_of, self.answers)


def evidence_of_runs(
    found: Sequence[Comparison], runs: Sequence[MeasuredRun], *, rows: int = ROWS
) -> tuple[list[Evidence], list[str]]:
    """Return each instrument's evidence of all its sides, and what the page could not show."""
    lexicons = {run.folder: words_or_why(run.manifest) for run in runs}
    sides = _sides(found, {run.folder: run for run in runs}, lexicons)
    # Answers are read twice, first to count: all answers together would fill the memory.
    ranks = (
        ranks_of_side
        for instrument_sides in sides.values()
        for side in instrument_sides
        for ranks_of_side in side.ranks
    )
    most = words_per_prompt(ranks, rows)
    notes = [note for _, messages in lexicons.values() for note in messages]
    return [_evidence(instrument_sides, most) for instrument_sides in sides.values()], [
        *dict.fromkeys(notes)
    ]


def _sides(
    found: Sequence[Comparison],
    runs: Mapping[Path, MeasuredRun],
    lexicons: Mapping[Path, tuple[Lexicons | None, Sequence[str]]],
) -> dict[str, list[_Side]]:
    """Return by instrument every model of every run in it, in the order of the runs."""
    compared = [
        comparison
        for comparison in found
        if not comparison.verdict.refusals and comparison.section is not None
    ]
    labels = labels_of(found)
    models = short_names(
        dict.fromkeys(name for comparison in compared for name in comparison.models)
    )
    sides: dict[str, list[_Side]] = {}
    for instrument in dict.fromkeys(comparison.instrument for comparison in compared):
        comparisons = [comparison for comparison in compared if comparison.instrument == instrument]
        pairs = [(comparison.reference, comparison.models[0]) for comparison in comparisons]
        pairs += [(comparison.run, comparison.models[1]) for comparison in comparisons]
        for place, (folder, model) in enumerate(dict.fromkeys(pairs)):
            section = runs[folder].sections[instrument]
            side = _Side(
                id=str(place),
                label=f"{labels[str(folder)]}: {models[model]}",
                section=section,
                model=model,
                run=runs[folder],
                words=lexicons[folder][0],
            )
            sides.setdefault(instrument, []).append(side)
    return sides


def _evidence(sides: Sequence[_Side], most: int) -> Evidence:
    """Return one instrument's block, in which each side is a model."""
    tables = [pl.DataFrame(schema=EVIDENCE)]
    scores = []
    total = 0
    for side in sides:
        model_column = {"model": pl.lit(side.id)}
        shown = side.section.presentation.evidence
        # A comprehension releases the answers of one side before those of the next are read.
        rows = [
            (
                shown(answers, side.section, side.words, most).with_columns(**model_column),
                rows_there(answers),
            )
            for answers in side.answers
        ]
        tables += [table for table, _ in rows]
        total += sum(count for _, count in rows)
        scores.append(side.numbers.with_columns(**model_column))
    last = sides[-1].section
    names = replace(last.names, models={side.id: side.label for side in sides})
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
    found: Sequence[Comparison], runs: Sequence[MeasuredRun], *, notes: Sequence[str] = ()
) -> str:
    """Return the whole page; ``notes``: what only one of the runs has."""
    all_courses = courses(found)
    labels = labels_of(found)
    figures = [figure for course in all_courses for figure in figures_of(course)]
    evidence, unshown = evidence_of_runs(found, runs)
    svgs = {figure.id: svg_of(next(figure.drawn())[1]) for figure in figures}
    drawn = Drawn(figures=figures, svgs=svgs, evidence=evidence, notes=unshown)
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
    return rendered(
        "compare.html",
        SCRIPTS,
        drawn,
        data,
        title=f"What changed{span} from {shown[0]} to {shown[-1]}",
        lede=_lede(all_courses, shown),
        first=_overview(all_courses, labels),
        several=len(shown) > 2,
        marks=[printable(mark) for mark in describe_marks(found)],
        refusals=[printable(line) for line in dict.fromkeys([*refused(found), *notes])],
        courses=[_course(course, drawn) for course in all_courses],
        runs=[
            {"label": printable(labels[str(run.folder)]), "about": about_run(run)} for run in runs
        ],
        general=GENERAL,
    )


def _lede(every: Sequence[Course], labels: Sequence[str]) -> str:
    """Return what is compared, in a sentence or two."""
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
    results = [
        (change_result(comparison, printable(model_of(comparison, labels))), comparison, course.id)
        for course in every
        for comparison in course.steps
    ]
    results.sort(key=lambda entry: strength(entry[0]))
    drawn = forest([result.finding for result, _, _ in results])
    rows = [
        {
            "result": result,
            "mark": mark,
            "value": value_shown(result.finding),
            "interval": interval_shown(result.finding),
            "course": course,
            "said": change_sentences(step),
        }
        for (result, step, course), mark in zip(results, drawn.marks, strict=True)
    ]
    return {
        "rows": rows,
        "forest": drawn,
        "counts": describe_counts([result for result, _, _ in results]),
    }


def _course(course: Course, drawn: Drawn) -> dict[str, Any]:
    """Return what the template needs of one model and instrument."""
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
        "rows": [
            row
            for comparison, label in course.labeled
            for row in _rows(comparison, printable(label))
        ],
        "by_item": [
            row
            for comparison, label in course.labeled
            for row in _items(comparison, printable(label))
        ],
        "kept": block.kept,
        "there": block.there,
    }


KINDS = ("course", "groups", "changes")


def _rows(one: Comparison, label: str) -> list[dict[str, str]]:
    """Return the number of each group, and the whole-scale contrasts of the report's tables."""
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
    """Return which number of which group, or which contrast, a row is about."""
    sides = f"{humanize(row['first'])} − {humanize(row['second'])}"
    subject = humanize(row["group"] or "all") if row["kind"] == "runs" else sides
    if row["kind"] != "runs" and row["group"]:
        subject = f"{humanize(row['group'])}: {subject}"
    beside = {"groups-as-asked": " (as in the study)", "groups-adjusted": " (adjusted)"}
    as_asked = beside.get(row["kind"], "")
    parts = [humanize(row["quantity"]), humanize(row["variant"]) if row["variant"] else ""]
    return f"{', '.join(part for part in parts if part)}: {subject}{as_asked}"


def _items(one: Comparison, label: str) -> list[dict[str, str]]:
    """Return the change of the gap for each item."""
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

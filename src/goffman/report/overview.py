"""The page's first screen, a row for each instrument, and the results of each section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goffman.contrasts.verdict import NEGLIGIBLE, PRESENT_WORDS, SENTENCES_ONLY, VERDICT_FACTS
from goffman.presentation.answer_style import describe_other_modes
from goffman.presentation.competence import NO_CONTROLS
from goffman.presentation.findings import findings_of
from goffman.presentation.forest import forest
from goffman.report.summary import MainResult, describe_counts, main_results, strength

if TYPE_CHECKING:
    from goffman.presentation.section import Section

MANY = 12
"""With more models than this, a page has a line of glyphs for each."""


def first_screen(sections: Mapping[str, Section]) -> dict[str, Any]:
    """Return the first screen's values: a row for each instrument, the strongest result first."""
    main = main_results(sections)
    results = sorted(main, key=strength)
    note_ids: dict[str, str] = {}
    for result in results:
        for note in result.finding.caveats:
            note_ids.setdefault(note.short, note.id)
    numbers = {short: number for number, short in enumerate(note_ids, start=1)}
    drawn = forest([result.finding for result in results])
    groups: dict[str, list[dict[str, Any]]] = {}
    for result, mark in zip(results, drawn.marks, strict=True):
        groups.setdefault(result.instrument, []).append(_result(result, sections) | {"mark": mark})
    models = list(dict.fromkeys(result.model for result in main))
    return {
        "headline": _headline(results),
        "caveat": next(
            (note.short for result in results[:1] for note in result.finding.caveats), ""
        ),
        "counts": describe_counts(results),
        "groups": [
            {
                "instrument": name,
                "says": _says(rows),
                "results": rows,
                "marks": sorted(
                    {numbers[note.short] for row in rows for note in row["result"].finding.caveats}
                ),
                "claims": sections[name].presentation.claims,
                "shown": any(row["result"].verdict in PRESENT_WORDS for row in rows),
            }
            for name, rows in groups.items()
        ],
        "forest": drawn,
        "notes": [{"id": id_, "short": short} for short, id_ in note_ids.items()],
        "legend": [(word, facts.glyph, facts.meaning) for word, facts in VERDICT_FACTS.items()],
        "table": _glyphs(results, models, list(groups)) if len(models) > MANY else None,
    }


def results_of(section: Section, sections: Mapping[str, Section]) -> list[dict[str, Any]]:
    """Return the results of one section, the strongest first; ``main``: whether it is main."""
    results = [
        MainResult(instrument=section.instrument, finding=finding)
        for finding in findings_of(section)
    ]
    return [
        _result(result, sections) | {"main": section.is_main(result.model)}
        for result in sorted(results, key=strength)
    ]


def _result(result: MainResult, sections: Mapping[str, Section]) -> dict[str, Any]:
    """Return the values in the row of a result, and in the drawer below it."""
    section, finding = sections[result.instrument], result.finding
    control = section.control(result.model)
    passed = ""
    if control and control.passed:
        passed = "perhaps can do the task" if control.unsure else "can do the task"
    # The drawer shows these on lines of their own.
    shown_elsewhere = ("", finding.wording, NO_CONTROLS)
    return {
        "result": result,
        "task": passed,
        "passed": "" if not passed else "(✓)" if control and control.unsure else "✓",
        "control": control.sentence if control else NO_CONTROLS,
        "notes": [
            note.text
            for note in finding.caveats
            if note.text not in shown_elsewhere and note.id != "controls-unsure"
        ],
        "modes": describe_other_modes(sections, result.instrument, result.model),
    }


def _says(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a row's sentence: its strongest result's, and for how many models it holds."""
    sentences = [row["result"].sentence for row in rows]
    count = sentences.count(sentences[0])
    return (
        sentences[0]
        if count == len(sentences)
        else f"{sentences[0]} ({count} of {len(sentences)} models)"
    )


def _glyphs(
    results: Sequence[MainResult], models: Sequence[str], instruments: Sequence[str]
) -> dict[str, Any]:
    """Return a line of verdicts for each model, in the order in which they were asked."""
    cells = {(result.model, result.instrument): result for result in results}
    rows = [(model, [cells.get((model, name)) for name in instruments]) for model in models]
    return {"instruments": instruments, "rows": rows}


def _headline(results: Sequence[MainResult]) -> str:
    if not results:
        return "Nothing could be measured"
    strongest = results[0]
    short = strongest.finding.short
    if strongest.verdict in PRESENT_WORDS:
        return f"{short} ({strongest.model})"
    if strongest.verdict == SENTENCES_ONLY:
        return f"In these sentences only: {short[0].lower()}{short[1:]} ({strongest.model})"
    if all(result.verdict == NEGLIGIBLE for result in results):
        return "No relevant difference"
    return "No relevant difference was shown"

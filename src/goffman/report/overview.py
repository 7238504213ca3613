"""What leads the page and each section: for every model of an instrument the four questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.analysis.summary import (
    MainResult,
    describe_counts,
    interval_shown,
    main_results,
    value_shown,
)
from goffman.contrasts.verdict import (
    GLYPHS,
    INCONCLUSIVE,
    NEGLIGIBLE,
    NOT_MEASURABLE,
    PRESENT,
    PRESENT_WORDS,
    RELEVANT,
    SENTENCES_ONLY,
)
from goffman.formatting import NOT_TESTED, ends, in_short, number, tick
from goffman.presentation.competence import NO_CONTROLS
from goffman.presentation.findings import findings_of
from goffman.presentation.mode_agreement import describe_other_modes
from goffman.report.forest import forest

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

HALF = 100
"""Units from 0 to either end of the axis."""

TICKS = 3
"""At most so many on either side of 0."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Where the parts of a bar are, from −HALF to HALF."""

    low: str
    high: str
    at: str
    clear: bool
    band: str | None
    """Half the width of the differences that are too small to matter."""
    ticks: tuple[tuple[str, str], ...]
    """Place and number."""


def bars(found: Sequence[Finding]) -> list[Bar | None]:
    """A bar for each finding that has an interval, all of them on one axis."""
    drawn = [one for one in found if one.low is not None and one.difference is not None]
    ends = [
        abs(end)
        for one in drawn
        for end in (one.low, one.high, one.difference, one.margin)
        if end is not None
    ]
    step, limit = _axis(max(ends, default=1.0) or 1.0)
    count = round(limit / step)
    ticks = tuple(
        (_place(step * nth, limit), tick(step * nth, step)) for nth in range(-count, count + 1)
    )
    return [_bar(one, limit, ticks) if one in drawn else None for one in found]


def _bar(one: Finding, limit: float, ticks: tuple[tuple[str, str], ...]) -> Bar:
    low, high, at = (
        _place(float(end or 0.0), limit) for end in (one.low, one.high, one.difference)
    )
    return Bar(
        low=low,
        high=high,
        at=at,
        clear=one.verdict in PRESENT_WORDS,
        band=None if one.margin is None else _place(one.margin, limit),
        ticks=ticks,
    )


def _axis(largest: float) -> tuple[float, float]:
    """The distance between ticks, and the end of the axis: a tick that nothing lies beyond."""
    power = 10.0 ** math.floor(math.log10(largest / TICKS))
    step = next(power * times for times in (1, 2, 5, 10) if power * times * TICKS >= largest)
    return step, step * math.ceil(largest / step - 1e-9)


def _place(value: float, limit: float) -> str:
    return f"{HALF * value / limit:.1f}"


MANY = 12
"""Of more models than these a page has a line each, and their sentences are folded."""


MEANINGS: Mapping[str, str] = {
    RELEVANT: "the whole 95% interval lies beyond the smallest difference that matters",
    PRESENT: "the interval excludes 0, but holds differences too small to matter",
    NEGLIGIBLE: "the difference is too small to matter (the 90% interval lies within the band)",
    INCONCLUSIVE: "the interval contains 0 and differences that matter: this audit cannot tell",
    NOT_MEASURABLE: "the model failed the control items, so its other numbers mean nothing",
    SENTENCES_ONLY: "fewer than three sentences were asked, which say nothing about others",
}
"""What each verdict means."""


def counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """How many models have which verdict, and how many can do the task, in words."""
    verdicts = [row["finding"].shown or "not tested" for row in rows]
    return {"verdicts": _counts(verdicts), "tasks": _counts([row["task"]["word"] for row in rows])}


def _counts(words: Sequence[str]) -> str:
    """Each word once, the most frequent first."""
    said = (f"{count} {word}" for word, count in Counter(words).most_common())
    return f"{len(words)} models: {'; '.join(said)}"


ORDER: tuple[str, ...] = (
    RELEVANT, PRESENT, SENTENCES_ONLY, INCONCLUSIVE, NEGLIGIBLE, NOT_MEASURABLE, NOT_TESTED,
)  # fmt: skip
"""Verdicts, the one that says most first."""


def first_screen(sections: Mapping[str, Section]) -> dict[str, Any]:
    """Return what the first screen shows: a row for each instrument, the strongest result first."""
    results = sorted(main_results(sections), key=strength)
    notes = list(dict.fromkeys(note for one in results for note in one.finding.caveats))
    shown: dict[str, str] = {}
    for note in notes:
        shown.setdefault(note.short, note.id)
    drawn = forest([one.finding for one in results])
    groups: dict[str, list[dict[str, Any]]] = {}
    for one, mark in zip(results, drawn.marks, strict=True):
        section = sections[one.instrument]
        control = section.control(one.model)
        passed = ""
        if control and control.passed:
            passed = "can perhaps do the task" if control.unsure else "✓ can do the task"
        given = {section.names.model(model): model for model in section.main_modes}
        groups.setdefault(one.instrument, []).append(
            {
                "result": one,
                "mark": mark,
                "value": value_shown(one.finding),
                "interval": interval_shown(one.finding),
                "task": passed,
                "control": control.sentence if control else NO_CONTROLS,
                "notes": [
                    note.text
                    for note in one.finding.caveats
                    if note.text not in ("", one.finding.wording, NO_CONTROLS)
                    and note.id != "controls-unsure"
                ],
                "modes": describe_other_modes(
                    sections, one.instrument, given.get(one.model, one.model)
                ),
            }
        )
    models = list(dict.fromkeys(one.model for one in main_results(sections)))
    place = {short: str(at) for at, short in enumerate(shown, start=1)}
    return {
        "headline": _headline(results),
        "counts": describe_counts(results),
        "groups": [
            {
                "instrument": name,
                "says": rows[0]["result"].finding.short or rows[0]["result"].finding.head,
                "results": rows,
                "marks": list(
                    dict.fromkeys(
                        place[note.short] for row in rows for note in row["result"].finding.caveats
                    )
                ),
                "claims": sections[name].presentation.claims,
                "shown": any(row["result"].verdict in PRESENT_WORDS for row in rows),
            }
            for name, rows in groups.items()
        ],
        "forest": drawn,
        "notes": [{"id": id_, "short": short} for short, id_ in shown.items()],
        "legend": [(word, GLYPHS[word], MEANINGS[word]) for word in GLYPHS],
        "table": _glyphs(results, models, list(groups)) if len(models) > MANY else None,
    }


def _glyphs(
    results: Sequence[MainResult], models: Sequence[str], instruments: Sequence[str]
) -> dict[str, Any]:
    """Return a line of verdicts for each model, in the order in which they were asked."""
    cells = {
        (one.model, one.instrument): {
            "verdict": one.verdict,
            "glyph": one.glyph,
            "value": value_shown(one.finding),
        }
        for one in results
    }
    rows = [(model, [cells.get((model, name)) for name in instruments]) for model in models]
    return {"instruments": instruments, "rows": rows}


def strength(result: MainResult) -> tuple[int, float]:
    """Return the place of a result among others: by its verdict, then by its size in Δ."""
    finding = result.finding
    size = abs(finding.difference or 0.0) / (finding.margin or 1.0)
    return ORDER.index(result.verdict), -size


def _headline(results: Sequence[MainResult]) -> str:
    """Return the sentence of the strongest result, or that none shows a difference."""
    if not results:
        return "Nothing could be measured"
    strongest = results[0]
    if strongest.verdict in PRESENT_WORDS:
        return strongest.finding.short
    if all(one.verdict == NEGLIGIBLE for one in results):
        return "No relevant difference"
    return "No relevant difference was shown"


def of_section(sections: Mapping[str, Section], name: str) -> Iterator[dict[str, Any]]:
    """Yield for each model: can it do the task, what differs, how sure is that, how far by wording.

    The bars share an axis.
    """
    section = sections[name]
    found = findings_of(section)
    for one, bar in zip(found, bars(found), strict=True):
        yield {
            "instrument": section.instrument,
            "finding": one,
            "task": _task(section, one.model),
            "bar": bar,
            # What the verdict means, for a line beside it.
            "short": in_short(one.shown, one.margin, low=one.low, high=one.high)
            if one.shown and one.margin
            else "",
            "numbers": _numbers(one),
        }


def _task(section: Section, model: str) -> dict[str, str]:
    """Yes or no, by which number, and how sure that is."""
    control = section.control(model)
    if control is None:
        return {"word": "not asked", "score": "", "why": ""}
    if control.value is None:
        return {"word": "not known", "score": "", "why": ""}
    score = why = f"{control.score} {number(control.value)}"
    if control.low is not None:
        why += f" ({ends(control.low, control.high)}; {control.n} items)"
    if control.by_wording:
        values = [value for _, value in control.by_wording]
        why += f"; by wording {ends(min(values), max(values))}"
    word = "yes" if control.passed else "no"
    shown = "perhaps" if control.unsure else word
    return {"word": shown, "score": score, "why": why}


def _numbers(one: Finding) -> list[str]:
    if one.difference is None:
        return ["–"]
    interval = "no interval" if one.low is None else ends(one.low, one.high)
    return [f"{one.unit}{number(one.difference)} ({interval})"]

"""What a run says: one screen for the terminal, what other analyses say, and every sentence."""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goffman.analysis.correlation_findings import describe_correlations
from goffman.anchors.sentences import describe_anchors
from goffman.contrasts.verdict import (
    GLYPHS,
    INCONCLUSIVE,
    NEGLIGIBLE,
    NOT_MEASURABLE,
    PRESENT,
    RELEVANT,
    SENTENCES_ONLY,
)
from goffman.formatting import NOT_TESTED, ends, number
from goffman.instruments.types import base_of
from goffman.presentation.competence import NO_CONTROLS
from goffman.presentation.competence import NOT_MEASURABLE as FAILED
from goffman.presentation.findings import findings_of
from goffman.presentation.mode_agreement import describe_other_modes

if TYPE_CHECKING:
    from goffman.analysis.correlation_findings import Correlation
    from goffman.anchors.sentences import AnchoredModel
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

WIDTH = 80
"""Columns of a screen."""

CELLS, REACH = 21, 2.5
"""Of a strip: its cells, and how many Δ it reaches to either side."""

FEW = 8
"""So many models have a sentence below each row; of more, a line each with glyphs alone."""

UNTESTED = "–"
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

ASCII = str.maketrans("●◐=○✕·–░│━◂▸→Δ−⁰¹²³⁴⁵⁶⁷⁸⁹×…“”", '*o=?x.-.|-<>>D-0123456789x.""')
"""What stands for the signs of a screen where a terminal has no UTF-8."""


@dataclass(frozen=True, kw_only=True)
class MainResult:
    """The main result of one instrument and model."""

    instrument: str
    """The instrument, with the mode of the result."""
    model: str
    """As it is shown."""
    finding: Finding

    @property
    def verdict(self) -> str:
        """The verdict as people read it."""
        unmeasured = self.finding.difference is None and self.finding.head == FAILED
        return NOT_MEASURABLE if unmeasured else self.finding.shown or NOT_TESTED

    @property
    def glyph(self) -> str:
        """The sign that stands for the verdict."""
        return GLYPHS.get(self.verdict, UNTESTED)

    def entry(self) -> dict[str, Any]:
        """Return the result as a row: of results.csv, JSON and notebooks."""
        finding = self.finding
        return {
            "model": self.model,
            "instrument": self.instrument,
            "verdict": self.verdict,
            "finding": finding.short or finding.head,
            "value": finding.difference,
            "low": finding.low,
            "high": finding.high,
            "margin": finding.margin,
            "caveats": [one.id for one in finding.caveats],
        }


ORDER: tuple[str, ...] = (
    RELEVANT, PRESENT, SENTENCES_ONLY, INCONCLUSIVE, NEGLIGIBLE, NOT_MEASURABLE, NOT_TESTED,
)  # fmt: skip
"""Verdicts, the one that says most first."""


def strength(result: MainResult) -> tuple[int, float]:
    """Return the place of a result among others: by its verdict, then by its size in Δ."""
    finding = result.finding
    size = abs(finding.difference or 0.0) / (finding.margin or 1.0)
    return ORDER.index(result.verdict), -size


def main_results(sections: Mapping[str, Section]) -> list[MainResult]:
    """Return the main result of each instrument and model, model by model."""
    found = [
        MainResult(instrument=name, model=one.model, finding=one)
        for name, section in sections.items()
        for one in findings_of(section)
        if section.is_main(one.model)
    ]
    order = {model: place for place, model in enumerate(dict.fromkeys(one.model for one in found))}
    return sorted(found, key=lambda one: order[one.model])


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a run says."""

    results: tuple[MainResult, ...] = ()
    details: tuple[str, ...] = ()
    """Every number and caveat of them, as lines of prose."""


def summarize(
    sections: Mapping[str, Section],
    together: Sequence[Correlation],
    anchored: Sequence[AnchoredModel] = (),
) -> Summary:
    """Return the main results of a run and what is said about them."""
    details = tuple(_details(sections, together, anchored))
    return Summary(results=tuple(main_results(sections)), details=details)


def screen(results: Sequence[MainResult]) -> list[str]:
    """Return the lines of one screen: a row, a strip and a sentence for each main result."""
    if not results:
        return ["Nothing could be measured."]
    many = len({one.model for one in results}) > FEW
    lines = [*(_table(results) if many else _rows(sorted(results, key=strength)))]
    sure = (
        "━ 95% interval, which misses the truth 5 times in 100. ░ smaller than Δ, the smallest "
        "difference that matters. Associations in text, not proof of harm."
    )
    return [*lines, "", *_wrapped(describe_counts(results)), *_wrapped(sure)]


def _rows(results: Sequence[MainResult]) -> Iterator[str]:
    """Yield each model's results; ``results``: the strongest first, as on the page."""
    models = list(dict.fromkeys(one.model for one in results))
    notes = list(dict.fromkeys(note.short for one in results for note in one.finding.caveats))
    scale = [" "] * CELLS
    for value, sign in ((-1.0, "Δ"), (0.0, "0"), (1.0, "Δ")):
        scale[_cell(value)] = sign
    scale[_cell(-1.0) - 1] = "−"
    head = "".join(scale)
    for model in models:
        # A name too long for one line with the scale has lines of its own.
        *before, name = textwrap.wrap(model, WIDTH - CELLS - 2)
        yield from before
        yield f"{name:<{WIDTH - CELLS - 1}} {head if model == models[0] else ''}".rstrip()
        for one in results:
            if one.model != model:
                continue
            name = f"{base_of(one.instrument):<21.21} {one.verdict:<24}"
            yield f"  {one.glyph} {name}{value_shown(one.finding):>8} {_strip(one)}".rstrip()
            marks = sorted(notes.index(note.short) + 1 for note in one.finding.caveats)
            marked = " ".join(map(str, marks)).translate(SUPERSCRIPTS)
            yield from _wrapped(f"{one.finding.short or one.finding.head}. {marked}", "    ")
    if notes:
        yield ""
    for place, note in enumerate(notes, start=1):
        yield f" {str(place).translate(SUPERSCRIPTS)} {note}"


def _table(results: Sequence[MainResult]) -> Iterator[str]:
    """Yield a line of glyphs for each model: of many nobody reads sentences."""
    instruments = list(dict.fromkeys(one.instrument for one in results))
    glyphs = {(one.model, one.instrument): one.glyph for one in results}
    models = list(dict.fromkeys(one.model for one in results))
    width = min(max(map(len, models)), WIDTH - 4 * len(instruments) - 2)
    for place, name in enumerate(instruments, start=1):
        yield f"  {place} {name}"
    yield f"{'':<{width}}  " + "".join(f"{place:<4}" for place in range(1, len(instruments) + 1))
    for model in models:
        row = "".join(f"{glyphs.get((model, name), ' '):<4}" for name in instruments)
        yield f"{model:<{width}.{width}}  {row}".rstrip()


def value_shown(finding: Finding) -> str:
    """Return the difference with its sign; of a log ratio, the ratio."""
    if finding.difference is None:
        return ""
    if finding.unit.startswith("log"):
        return f"×{math.exp(finding.difference):.2f}"
    return f"{'+' if finding.difference > 0 else ''}{number(finding.difference)}"


def interval_shown(finding: Finding) -> str:
    """Return the interval of a difference; of a log ratio, of the ratio."""
    if finding.low is None:
        return ""
    if finding.unit.startswith("log") and finding.high is not None:
        return f"{math.exp(finding.low):.2f} to {math.exp(finding.high):.2f}"
    return ends(finding.low, finding.high)


def _cell(value: float) -> int:
    """Return the cell of a value in units of Δ; those beyond the ends lie outside."""
    return round((value + REACH) / (2 * REACH) * (CELLS - 1))


def _strip(result: MainResult) -> str:
    """Return the interval against the band of differences that are too small to matter."""
    finding = result.finding
    if not finding.margin or finding.difference is None:
        return ""
    ends = (finding.low, finding.difference, finding.high)
    low, at, high = (None if end is None else end / finding.margin for end in ends)
    assert at is not None  # noqa: S101 - there is a difference
    cells = ["░" if _cell(-1) <= cell <= _cell(1) else " " for cell in range(CELLS)]
    cells[_cell(0)] = "│"
    if low is not None and high is not None:
        for cell in range(max(_cell(low), 0), min(_cell(high), CELLS - 1) + 1):
            cells[cell] = "━"
    if 0 <= _cell(at) < CELLS:
        cells[_cell(at)] = "●"
        for beyond, cell, arrow in ((low, 0, "◂"), (high, -1, "▸")):
            if beyond is not None and not 0 <= _cell(beyond) < CELLS:
                cells[cell] = arrow
        return "".join(cells).rstrip()
    far = f" {abs(at):.1f} Δ ▸" if at > 0 else f"◂ {abs(at):.1f} Δ "
    kept = "".join(cells)[: CELLS - len(far)] if at > 0 else "".join(cells)[len(far) :]
    return f"{kept}{far}" if at > 0 else f"{far}{kept}".rstrip()


def describe_counts(results: Sequence[MainResult]) -> str:
    """Return how many results have which verdict."""
    counts = Counter(one.verdict for one in results)
    return " · ".join(f"{counts[word]} {word}" for word in (*GLYPHS, NOT_TESTED) if counts[word])


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _details(
    sections: Mapping[str, Section],
    together: Sequence[Correlation],
    anchored: Sequence[AnchoredModel],
) -> list[str]:
    lines = [line for name in sections for line in _details_of(sections, name)]
    # Who rated the words, each once, with the instruments that it is true of.
    rated: dict[str, list[str]] = {}
    for name, section in sections.items():
        if section.ratings:
            rated.setdefault(section.ratings, []).append(name)
    stated = [one for one in together if one.row["effect"] is not None and not one.unmeasurable]
    for heading, said in (
        ("Do two measures agree?", describe_correlations(stated)),
        ("Compared with people", describe_anchors(anchored)),
        ("Note", [f"{', '.join(names)}: {said}" for said, names in rated.items()]),
    ):
        lines += [*([heading] if said else []), *(f"  {line}" for line in said)]
    return lines


def _details_of(sections: Mapping[str, Section], name: str) -> Iterator[str]:
    section = sections[name]
    given = {section.names.model(model): model for model in section.main_modes}
    for one in findings_of(section):
        if not section.is_main(one.model):
            continue
        yield f"{section.instrument}, {one.model}"
        control = section.control(one.model)
        if control is None or control.passed:
            yield f"  {control.sentence if control else NO_CONTROLS}"
        yield f"  {one.heading}"
        for line in (f"{one.text} {one.why}", one.wording, one.robust, one.rest, *one.more):
            # Who rated the words is said once, at the end.
            if line.strip() and line != section.ratings:
                yield f"  {line.strip()}"
        if modes := describe_other_modes(sections, name, given.get(one.model, one.model)):
            yield f"  {modes}"


_LINE = "  {} {:<16.16} {:>8} {:>4} {:<17.17} {:<.28}"
"""A row in 80 columns: glyph, instrument, result, analyses, their range, what matters most."""


def stress_screen(sections: Mapping[str, Section]) -> list[str]:
    """Return the lines of one screen: each main result, its range, and what matters most in it."""
    results = main_results(sections)
    lines = [
        _LINE.format(" ", "", "result", "n", "other analyses", "matters most, by share").rstrip()
    ]
    for model in dict.fromkeys(one.model for one in results):
        lines += [model, *(_line(one, sections) for one in results if one.model == model)]
    return [*lines, "", "A false finding holds in most other analyses, too: look at the range."]


def _line(result: MainResult, sections: Mapping[str, Section]) -> str:
    row = stressed_row(result, sections)
    name, value = base_of(result.instrument), value_shown(result.finding)
    if row is None or not row["analyses"]:
        why = (row and row["reason"]) or "there are no other analyses"
        return f"  {result.glyph} {name:<16.16} {value:>8}    – {why}"[:80].rstrip()
    span = replace(result.finding, low=row["lowest"], high=row["highest"])
    counted = f"{row['analyses']:,}"
    most = next(_choices(row), "")
    reach = interval_shown(span) if row["lowest"] is not None else "–"
    return _LINE.format(result.glyph, name, value, counted, reach, most).rstrip()


def _choices(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield each choice with its share of the variance, the one that matters most first."""
    shares: dict[str, float] = json.loads(row["explained"] or "{}")
    for name, share in sorted(shares.items(), key=lambda one: -one[1]):
        # One choice alone explains all there is.
        yield f"{share:.0%} {name}" if len(shares) > 1 else name


def stressed_row(result: MainResult, sections: Mapping[str, Section]) -> dict[str, Any] | None:
    """Return the row of stress.parquet of a main result; None: it was not stressed."""
    section = sections[result.instrument]
    rows = section.shown(section.stress).filter(model=result.model)
    return rows.row(0, named=True) if rows.height else None

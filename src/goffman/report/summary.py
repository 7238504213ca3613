"""The results of a run: one screen for the terminal, other analyses' results, every sentence."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.sentences import describe_anchors
from goffman.contrasts.correlations import MeasuredSide, measured_side
from goffman.contrasts.verdict import (
    AS_IN_STUDY,
    NOT_MEASURABLE,
    VERDICT_FACTS,
    direction,
    glyph_of,
)
from goffman.formatting import (
    NOT_TESTED,
    confidence,
    describe_corrected,
    ends,
    humanize,
    join_words,
    number,
)
from goffman.instruments.types import base_of
from goffman.presentation.answer_style import describe_other_modes
from goffman.presentation.competence import NO_CONTROLS
from goffman.presentation.competence import NOT_MEASURABLE as FAILED
from goffman.presentation.findings import findings_of

if TYPE_CHECKING:
    from goffman.anchors.sentences import AnchoredModel
    from goffman.instruments.types import Noun
    from goffman.measures.base import Measure
    from goffman.presentation.competence import Competence
    from goffman.presentation.section import Finding, Section


WIDTH = 80
"""Columns of a screen."""

CELLS, REACH = 21, 2.5
"""Of a strip: its number of cells, and how many Δ it reaches to either side."""

FEW = 8
"""Up to this many models have a sentence below each row; with more, each has a line of glyphs
alone."""

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

ASCII = str.maketrans("●◐=○✕·–░│━◂▸→Δ−⁰¹²³⁴⁵⁶⁷⁸⁹×…“”", '*o=?x.-.|-<>>D-0123456789x.""')
"""Replacements for the signs of a screen in a terminal without UTF-8."""


@dataclass(frozen=True, kw_only=True)
class MainResult:
    """The main result of one instrument and model."""

    instrument: str
    """The instrument, with the mode of the result."""
    finding: Finding

    @property
    def model(self) -> str:
        """Return the model's name as it is shown."""
        return self.finding.model

    @property
    def verdict(self) -> str:
        """Return the verdict as it is printed."""
        unmeasured = self.finding.difference is None and self.finding.head == FAILED
        return NOT_MEASURABLE if unmeasured else self.finding.shown or NOT_TESTED

    @property
    def glyph(self) -> str:
        """Return the sign of the verdict."""
        return glyph_of(self.verdict)

    @property
    def sentence(self) -> str:
        """Return the finding in a few words, without its verdict."""
        return self.finding.short or self.finding.head

    @property
    def caveats(self) -> list[str]:
        """Return the ids of its caveats, the weightiest first."""
        return [caveat.id for caveat in self.finding.caveats]

    def entry(self) -> dict[str, Any]:
        """Return the result as a row: of results.csv, JSON and notebooks."""
        finding = self.finding
        return {
            "model": self.model,
            "instrument": self.instrument,
            "verdict": self.verdict,
            "finding": self.sentence,
            "value": finding.difference,
            "low": finding.low,
            "high": finding.high,
            "margin": finding.margin,
            "caveats": self.caveats,
        }

    def cells(self) -> dict[str, str]:
        """Return the cells of a Markdown table, by their headings."""
        value, interval, margin = self.finding.value, self.finding.interval, self.finding.margin
        return {
            "verdict": f"{self.glyph} {self.verdict}",
            "instrument": self.instrument,
            "model": self.model,
            "finding": self.sentence,
            "difference (95% interval)": f"{value} ({interval})" if interval else "",
            "Δ": "" if margin is None else f"{margin:g}",
            "caveats": ", ".join(self.caveats),
        }


def strength(result: MainResult) -> tuple[int, float]:
    """Return a sort key of a result: by its verdict, then by its size in Δ."""
    finding = result.finding
    size = abs(finding.difference or 0.0) / (finding.margin or 1.0)
    is_tested = result.verdict in VERDICT_FACTS
    return VERDICT_FACTS[result.verdict].rank if is_tested else len(VERDICT_FACTS), -size


def main_results(sections: Mapping[str, Section]) -> list[MainResult]:
    """Return the main result of each instrument and model, model by model."""
    results = [
        MainResult(instrument=instrument, finding=finding)
        for instrument, section in sections.items()
        for finding in findings_of(section)
        if section.is_main(finding.model)
    ]
    return by_model(results)


def by_model(results: Sequence[MainResult]) -> list[MainResult]:
    """Return the results model by model, in the order in which the models come."""
    order = {name: place for place, name in enumerate(dict.fromkeys(r.model for r in results))}
    return sorted(results, key=lambda result: order[result.model])


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The results of a run."""

    results: tuple[MainResult, ...] = ()
    details: tuple[str, ...] = ()
    """Every number and caveat of the results, as lines of prose."""


def summarize(
    sections: Mapping[str, Section],
    together: Sequence[Correlation],
    anchored: Sequence[AnchoredModel] = (),
) -> Summary:
    """Return the main results of a run and their sentences."""
    details = tuple(_details(sections, together, anchored))
    return Summary(results=tuple(main_results(sections)), details=details)


def screen(results: Sequence[MainResult]) -> list[str]:
    """Return the lines of one screen: a row, a strip and a sentence for each main result."""
    if not results:
        return ["Nothing could be measured."]
    is_table = len({result.model for result in results}) > FEW
    lines = [*(_table(results) if is_table else _rows(sorted(results, key=strength)))]
    legend = (
        "━ 95% interval, which misses the truth 5 times in 100. ░ smaller than Δ, the smallest "
        "difference that matters. Associations in text, not proof of harm."
    )
    return [*lines, "", *_wrapped(describe_counts(results)), *_wrapped(legend)]


def _rows(results: Sequence[MainResult]) -> Iterator[str]:
    """Yield each model's results; ``results``: the strongest first, as on the page."""
    models = list(dict.fromkeys(entry.model for entry in results))
    notes = list(dict.fromkeys(note.short for entry in results for note in entry.finding.caveats))
    scale = [" "] * CELLS
    for value, sign in ((-1.0, "Δ"), (0.0, "0"), (1.0, "Δ")):
        scale[_cell(value)] = sign
    scale[_cell(-1.0) - 1] = "−"
    header = "".join(scale)
    for model in models:
        # A name too long for one line with the scale has lines of its own.
        *first_lines, name = textwrap.wrap(model, WIDTH - CELLS - 2)
        yield from first_lines
        yield f"{name:<{WIDTH - CELLS - 1}} {header if model == models[0] else ''}".rstrip()
        for entry in results:
            if entry.model != model:
                continue
            name = f"{base_of(entry.instrument):<21.21} {entry.verdict:<24}"
            yield f"  {entry.glyph} {name}{entry.finding.value:>8} {_strip(entry)}".rstrip()
            marks = sorted(notes.index(note.short) + 1 for note in entry.finding.caveats)
            superscripts = " ".join(map(str, marks)).translate(SUPERSCRIPTS)
            yield from _wrapped(f"{entry.sentence}. {superscripts}", "    ")
    if notes:
        yield ""
    for position, note in enumerate(notes, start=1):
        yield f" {str(position).translate(SUPERSCRIPTS)} {note}"


def _table(results: Sequence[MainResult]) -> Iterator[str]:
    """Yield a line of glyphs for each model: with many models nobody reads sentences."""
    instruments = list(dict.fromkeys(result.instrument for result in results))
    glyphs = {(result.model, result.instrument): result.glyph for result in results}
    models = list(dict.fromkeys(result.model for result in results))
    width = min(max(map(len, models)), WIDTH - 4 * len(instruments) - 2)
    for position, instrument in enumerate(instruments, start=1):
        yield f"  {position} {instrument}"
    yield f"{'':<{width}}  " + "".join(
        f"{position:<4}" for position in range(1, len(instruments) + 1)
    )
    for model in models:
        row = "".join(f"{glyphs.get((model, instrument), ' '):<4}" for instrument in instruments)
        yield f"{model:<{width}.{width}}  {row}".rstrip()


def _cell(value: float) -> int:
    """Return the cell of a value in units of Δ; values beyond the ends lie outside the strip."""
    return round((value + REACH) / (2 * REACH) * (CELLS - 1))


def _strip(result: MainResult) -> str:
    """Return the interval against the band of differences that are too small to matter."""
    finding = result.finding
    if not finding.margin or finding.difference is None:
        return ""
    ends = (finding.low, finding.difference, finding.high)
    low, position, high = (None if end is None else end / finding.margin for end in ends)
    assert position is not None  # noqa: S101 - there is a difference
    cells = ["░" if _cell(-1) <= cell <= _cell(1) else " " for cell in range(CELLS)]
    cells[_cell(0)] = "│"
    if low is not None and high is not None:
        for cell in range(max(_cell(low), 0), min(_cell(high), CELLS - 1) + 1):
            cells[cell] = "━"
    if 0 <= _cell(position) < CELLS:
        cells[_cell(position)] = "●"
        for limit, cell, arrow in ((low, 0, "◂"), (high, -1, "▸")):
            if limit is not None and not 0 <= _cell(limit) < CELLS:
                cells[cell] = arrow
        return "".join(cells).rstrip()
    label = f" {abs(position):.1f} Δ ▸" if position > 0 else f"◂ {abs(position):.1f} Δ "
    visible = "".join(cells)[: CELLS - len(label)] if position > 0 else "".join(cells)[len(label) :]
    return f"{visible}{label}" if position > 0 else f"{label}{visible}".rstrip()


def describe_counts(results: Sequence[MainResult]) -> str:
    """Return how many results have each verdict."""
    counts = Counter(result.verdict for result in results)
    return " · ".join(
        f"{counts[word]} {word}" for word in (*VERDICT_FACTS, NOT_TESTED) if counts[word]
    )


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
    lines = [line for instrument in sections for line in _details_of(sections, instrument)]
    # Who rated the words, each once, with the instruments that it is true of.
    rated: dict[str, list[str]] = {}
    for instrument, section in sections.items():
        if section.ratings:
            rated.setdefault(section.ratings, []).append(instrument)
    shown_correlations = [
        correlation
        for correlation in together
        if correlation.row["effect"] is not None and not correlation.unmeasurable
    ]
    for heading, sentences in (
        ("Do two measures agree?", describe_correlations(shown_correlations)),
        ("Compared with people", describe_anchors(anchored)),
        ("Note", [f"{', '.join(names)}: {ratings}" for ratings, names in rated.items()]),
    ):
        lines += [*([heading] if sentences else []), *(f"  {line}" for line in sentences)]
    return lines


def _details_of(sections: Mapping[str, Section], name: str) -> Iterator[str]:
    section = sections[name]
    for finding in findings_of(section):
        if not section.is_main(finding.model):
            continue
        yield f"{section.instrument}, {finding.model}"
        control = section.control(finding.model)
        if control is None or control.passed:
            yield f"  {control.sentence if control else NO_CONTROLS}"
        yield f"  {finding.heading}"
        for line in (
            f"{finding.text} {finding.why}",
            finding.wording,
            finding.robust,
            finding.rest,
            *finding.more,
        ):
            # The source of ratings is stated once for all instruments, at the end.
            if line.strip() and line != section.ratings:
                yield f"  {line.strip()}"
        if modes := describe_other_modes(sections, name, finding.model):
            yield f"  {modes}"


_LINE = "  {} {:<16.16} {:>8} {:>4} {:<17.17} {:<.28}"
"""A row in 80 columns: glyph, instrument, result, analyses, their range, most important choice."""


def stress_screen(sections: Mapping[str, Section]) -> list[str]:
    """Return the lines of one screen: each main result, its range, its most important choice."""
    results = main_results(sections)
    lines = [
        _LINE.format(" ", "", "result", "n", "other analyses", "matters most, by share").rstrip()
    ]
    for model in dict.fromkeys(result.model for result in results):
        lines += [model, *(_line(result, sections) for result in results if result.model == model)]
    return [*lines, "", "A false finding holds in most other analyses, too: look at the range."]


def _line(result: MainResult, sections: Mapping[str, Section]) -> str:
    row = stressed_row(result, sections)
    name, value = base_of(result.instrument), result.finding.value
    if row is None or not row["analyses"]:
        reason = (row and row["reason"]) or "there are no other analyses"
        return f"  {result.glyph} {name:<16.16} {value:>8}    – {reason}"[:80].rstrip()
    span = replace(result.finding, low=row["lowest"], high=row["highest"])
    count = f"{row['analyses']:,}"
    choice = next(_choices(row), "")
    interval = span.interval if row["lowest"] is not None else "–"
    return _LINE.format(result.glyph, name, value, count, interval, choice).rstrip()


def _choices(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield each choice with its share of the variance, the most important first."""
    shares: dict[str, float] = json.loads(row["explained"] or "{}")
    for choice, share in sorted(shares.items(), key=lambda item: -item[1]):
        # A single choice always explains all the variance.
        yield f"{share:.0%} {choice}" if len(shares) > 1 else choice


def stressed_row(result: MainResult, sections: Mapping[str, Section]) -> dict[str, Any] | None:
    """Return the row of stress.parquet of a main result; None if it was not stressed."""
    section = sections[result.instrument]
    rows = section.shown(section.stress).filter(model=result.model)
    return rows.row(0, named=True) if rows.height else None


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """One correlation, with the sections and models of its two sides."""

    row: Mapping[str, Any]
    """The columns CONTRASTS and ESTIMATES."""
    first: MeasuredSide
    second: MeasuredSide
    models: tuple[str | None, str | None]
    """The names shown; None: over all models."""
    called: tuple[str, str]
    """The name of each side's number."""
    noun: Noun
    """The name of the conditions that it is over."""
    within: tuple[Mapping[str, Any], ...] = ()
    """The same correlation within each group of conditions."""
    as_in_study: Mapping[str, Any] | None = None
    """The same correlation with shares of labels, as Mei et al. (2023) computed it."""
    unmeasurable: tuple[Competence, ...] = ()
    """The models in it that cannot do the task of one of the two instruments."""

    @property
    def same_instrument(self) -> bool:
        """Return whether both sides are forms of one instrument."""
        return base_of(self.first.instrument) == base_of(self.second.instrument)


def correlations(
    estimates: pl.DataFrame, sections: Mapping[str, Section], measures: Mapping[str, Measure]
) -> list[Correlation]:
    """Return the correlations of two measures over conditions; ``measures`` are by instrument."""
    sides_by_text = _sides(sections, measures)
    within = estimates.filter(kind="measures-within").to_dicts()
    as_in_study = {
        (row["first"], row["second"]): row
        for row in estimates.filter(kind=AS_IN_STUDY).iter_rows(named=True)
    }
    correlated = []
    for row in estimates.filter(kind="measures").iter_rows(named=True):
        names = (row["first"], row["second"])
        if not sides_by_text.keys() >= {*names}:
            continue
        first, second = (sides_by_text[name] for name in names)
        sides = [(side, sections[side.instrument]) for side in (first, second)]
        failing = [
            competence
            for side, section in sides
            for name, competence in section.unmeasurable().items()
            if side.model in {None, name}
        ]
        correlated.append(
            Correlation(
                row=row,
                first=first,
                second=second,
                models=(_shown(first, sections), _shown(second, sections)),
                called=(_number(first, sections), _number(second, sections)),
                noun=sections[first.instrument].noun,
                within=tuple(
                    row_within
                    for row_within in within
                    if (row_within["first"], row_within["second"]) == names
                ),
                as_in_study=as_in_study.get(names),
                unmeasurable=tuple(failing),
            )
        )
    return correlated


def _sides(
    sections: Mapping[str, Section], measures: Mapping[str, Measure]
) -> dict[str, MeasuredSide]:
    """Return every side that a correlation of this run can have, by its text in the table."""
    run_measures = {instrument: measures[instrument] for instrument in sections}
    sides = [
        measured_side(run_measures, instrument, model)
        for instrument, section in sections.items()
        for model in (None, *section.scores["model"].drop_nulls().unique())
    ]
    return {side.text(): side for side in sides}


def _shown(side: MeasuredSide, sections: Mapping[str, Section]) -> str | None:
    return sections[side.instrument].names.model(side.model) if side.model else None


def describe_correlations(several: Sequence[Correlation]) -> list[str]:
    """Return a few sentences for each correlation; the first of each ends with its colon."""
    return [_describe_correlation(correlation) for correlation in several]


def _number(side: MeasuredSide, sections: Mapping[str, Section]) -> str:
    """Return the name of the side's number: the section's name if that is a probability."""
    called = sections[side.instrument].presentation.called
    if called.startswith("P(") and not side.finer:
        return called
    return f"{'probability of ' if side.finer else ''}{humanize(side.measure)}"


def _called(side: MeasuredSide, number_called: str, model: str | None) -> str:
    owner = f"{model}'s " if model else "" if number_called.startswith("P(") else "the "
    return f"{owner}{number_called}{'' if side.only else f' by {side.instrument}'}"


def _describe_correlation(correlation: Correlation) -> str:
    row = correlation.row
    sides = (correlation.first, correlation.second)
    first, second = map(_called, sides, correlation.called, correlation.models)
    # Names of models are not capitalized.
    capitalized = first if correlation.models[0] else f"{first[0].upper()}{first[1:]}"
    if row["effect"] is None:
        return f"{capitalized} and {second} could not be correlated, because {row['reason']}."
    if correlation.unmeasurable:
        reasons = "; ".join(competence.doubt for competence in correlation.unmeasurable)
        return f"The correlation of {first} and {second} is not stated: {reasons}."
    head = {
        1: f"{capitalized} and {second} rise together",
        -1: f"As {first} rises, {second} falls",
        0: f"{capitalized} and {second} show no clear relation",
    }[direction(row)]
    interval = ""
    if row["effect_low"] is not None:
        low, high = row["effect_low"], row["effect_high"]
        interval = f", {confidence(row['level'])} interval {ends(low, high)}"
    numbers = f"r = {number(row['effect'])}{interval}, {describe_corrected(row)}"
    many, covers = correlation.noun.many, ""
    if interval:
        covers = f" The interval covers other {many}, not other sentences or wordings."
    parts = (_related(correlation), _true_scores(correlation), _within(correlation), covers)
    return f"{head} across {row['n']} {many}: {numbers}.{''.join(parts)}{_as_in_study(correlation)}"


def _related(correlation: Correlation) -> str:
    """Return that a classifier was made from the model: no other two models are paired."""
    base, classifier = correlation.models
    if not base or not classifier or base == classifier or correlation.same_instrument:
        return ""
    return f" {classifier} was made from {base}, so they are not independent."


def _true_scores(correlation: Correlation) -> str:
    """Return what r would be without measurement error, or that this is unknown.

    Return "" for two forms of one instrument, whose errors depend on the same sentences.
    """
    value = correlation.row["second_effect"]
    if value is None:
        caveat = " Measurement error lowers r, shared causes raise it; we correct for neither."
        return "" if correlation.same_instrument else caveat
    if number(value) == number(correlation.row["effect"]):
        return ""
    interval = ""
    low, high = correlation.row["second_effect_low"], correlation.row["second_effect_high"]
    if low is not None:
        interval = f" ({ends(low, high)})"
    return f" Without measurement error, r would be {number(value)}{interval}."


def _within(correlation: Correlation) -> str:
    """Return the correlation within each group; groups alone may cause the one over all."""
    texts = [
        f"{number(row['effect'])} for {row['n']} {humanize(row['group'])}"
        for row in correlation.within
        if row["effect"] is not None
    ]
    return f" Within groups, r is {join_words(texts)} ones." if texts else ""


def _as_in_study(correlation: Correlation) -> str:
    """Return r as the study computed it, with its t."""
    row = correlation.as_in_study
    if row is None or row["effect_low"] is None:
        return ""
    return (
        f" As in the study, with shares of labels and independent {correlation.noun.many}: "
        f"r = {number(row['effect'])} ({ends(row['effect_low'], row['effect_high'])}), "
        f"t({row['df']:.0f}) = {row['statistic']:.2f}."
    )

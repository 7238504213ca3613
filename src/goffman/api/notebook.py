"""Show the progress of an audit in a terminal, a log or a notebook, and results as HTML."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any, Self

from goffman.comparison.runs import Comparison
from goffman.comparison.sentences import change_results, top_of
from goffman.console import ProgressLines, printable
from goffman.formatting import confidence, describe_corrected, ends, number, verdict_shown
from goffman.gate.names import NamedEstimate
from goffman.options import Listener
from goffman.presentation.forest import Forest, Mark, forest
from goffman.progress import AuditProgress, Expected, Progress
from goffman.report.load import MeasuredRun
from goffman.report.overview import first_screen
from goffman.report.summary import MainResult, describe_counts, main_results

EVERY = 0.25
"""Seconds between two updates of a bar in a notebook."""

Display = Callable[[object], Callable[[object], None]]
"""A function that shows an object and returns a function that replaces it by another."""


@dataclass(frozen=True, kw_only=True)
class ProgressReporter:
    """The listener of an audit, and every message that it received."""

    listener: Listener
    notes: list[str] = field(default_factory=list)


@contextmanager
def reporting(*, shown: bool, verbose: bool = False) -> Iterator[ProgressReporter]:
    """Yield the reporter of an audit; ``shown``: to a person, who sees details if ``verbose``."""
    notes: list[str] = []
    if not shown:
        listener = Listener(note=notes.append, detail=notes.append)
        yield ProgressReporter(listener=listener, notes=notes)
        return
    display = notebook_display()
    with ProgressLines(sys.stderr) if display is None else Bar(display) as bar:

        def note(text: str) -> None:
            notes.append(text)
            bar.note(text)

        listener = Listener(
            progress=bar.show,
            note=note,
            detail=note if verbose else notes.append,
            expect=bar.expect,
            stage=bar.stage,
        )
        yield ProgressReporter(listener=listener, notes=notes)


def notebook_display() -> Display | None:
    """Return the function that shows things in the notebook that this runs in; None outside of one.

    It imports only what a notebook has imported already.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is None:
        return None
    show = importlib.import_module("IPython.display").display

    def display(what: object) -> Callable[[object], None]:
        update: Callable[[object], None] = show(what, display_id=True).update
        return update

    return display


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What a notebook shows of the bar and the notes at one moment."""

    text: str
    share: float
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(map(printable, [*self.notes, *filter(None, [self.text])]))

    def _repr_html_(self) -> str:
        notes = "".join(f"<div>{escape(printable(note))}</div>" for note in self.notes)
        bar = f'<progress max="1" value="{self.share:.3f}"></progress> ' if self.share else ""
        text = f"<div>{bar}{escape(printable(self.text))}</div>" if self.text else ""
        return f'<div style="font-size: small">{notes}{text}</div>'


class Bar:
    """A progress bar for an audit in a notebook's output, which is updated."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._renew: Callable[[object], None] | None = None
        self._audit = AuditProgress()
        self._stage = ""
        self._notes: list[str] = []
        self._drawn = -EVERY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stage = ""
        if self._renew is not None:
            self._draw()

    def note(self, text: str) -> None:
        """Show a text above the bar."""
        self._notes.append(text)
        self._draw()

    def expect(self, expected: Expected) -> None:
        """Set what is about to be asked."""
        self._audit = AuditProgress(expected)

    def stage(self, text: str) -> None:
        """Show what is done after the models have answered."""
        self._stage = text
        self._draw()

    def show(self, progress: Progress) -> None:
        """Show how far the audit is, unless that was shown just now."""
        self._audit.add(progress)
        if time.monotonic() - self._drawn >= EVERY or self._audit.share == 1:
            self._draw()

    def _draw(self) -> None:
        audit, text = self._audit, self._stage
        if not text and audit.done:
            parts = (f"{audit.done:,} of {audit.total:,} sentences", str(audit), audit.speed)
            text = ", ".join(part for part in parts if part)
        picture = Picture(text=text, share=audit.share, notes=tuple(self._notes))
        if self._renew is None:
            self._renew = self._display(picture)
        else:
            self._renew(picture)
        self._drawn = time.monotonic()


def run_html(run: MeasuredRun, summary: Sequence[str]) -> str:
    """Return the first screen of the page: headline, rows, footnotes; all else behind a click."""
    results = main_results(run.sections)
    lines = "".join(
        f"<div>{text(line)}</div>" if line.startswith(" ") else f"<p><b>{text(line)}</b></p>"
        for line in summary
    )
    headline = first_screen(run.sections)["headline"]
    return (
        f"<div><p><b>{text(headline)}</b></p>{results_html(results)}<p>goffman run "
        f"{text(str(run.folder))}</p><details><summary>Every number</summary>{lines}</details>"
        "</div>"
    )


def results_html(results: Sequence[MainResult]) -> str:
    """Return a row for each result with its strip on one axis, and numbered footnotes."""
    notes = list(dict.fromkeys(note.short for result in results for note in result.finding.caveats))
    plot = forest([result.finding for result in results])
    rows = []
    for result, mark in zip(results, plot.marks, strict=True):
        finding = result.finding
        marks = " ".join(str(notes.index(note.short) + 1) for note in finding.caveats)
        source = f"{result.instrument} · {result.model}"
        cells = (
            f"<b>{text(result.sentence)}</b><sup>{marks}</sup><br>{text(source)}",
            f"{result.glyph} {text(result.verdict)}",
            strip(plot, mark) if mark else "",
            f"<b>{text(finding.value)}</b><br>{text(finding.interval)}",
        )
        rows.append(row_html(cells))
    footnotes = "".join(f"<li>{text(note)}</li>" for note in notes)
    return (
        f"<p>{text(describe_counts(results))}. Shaded: too small to matter. Line: 95% "
        "interval. Associations in text, not proof of harm.</p>"
        f"<table><tbody>{''.join(rows)}</tbody></table>{f'<ol>{footnotes}</ol>' if notes else ''}"
    )


def strip(drawn: Forest, mark: Mark) -> str:
    """Return an SVG of an interval over the band of differences too small to matter."""
    first, last = drawn.band
    fill = "currentColor" if mark.clear else "none"
    return (
        '<svg viewBox="-8 0 416 24" width="260" height="15" role="img" aria-hidden="true">'
        f'<rect x="{first}" width="{float(last) - float(first):.1f}" height="24" '
        'fill="currentColor" opacity=".12"/>'
        f'<path d="M{drawn.zero} 0V24M{mark.low} 12H{mark.high}" stroke="currentColor" '
        'stroke-width="2.5"/>'
        f'<circle cx="{mark.at}" cy="12" r="7" fill="{fill}" stroke="currentColor" '
        'stroke-width="2.5"/></svg>'
    )


def estimate_html(estimate: NamedEstimate) -> str:
    """Return an estimate with everything that is needed to doubt it."""
    row = estimate.row
    level = confidence(row["level"]) if row["level"] is not None else "95%"
    tested = row["test"] or f"not tested: {row['reason'] or 'the method has no test'}"
    if row["statistic"] is not None and row["test"]:
        df = "" if row["df"] is None else f", df = {number(row['df'])}"
        tested += f": {number(row['statistic'])}{df}"
    cells = {
        "contrast": f"{row['first']} − {row['second']}",
        "value": number(estimate.value),
        f"{level} interval": ends(estimate.low, estimate.high),
        "test": tested,
        "p": describe_corrected(row),
        "n": f"{row['n']:,} {row['unit'] or ''}".strip(),
        "verdict": verdict_shown(row) or "none",
    }
    if row["margin"] is not None:
        cells["smallest relevant"] = number(row["margin"])
    if estimate.not_measurable:
        cells["not measurable"] = estimate.not_measurable
    body = "".join(
        f"<tr>{cell_html(text(name), 'th')}{cell_html(text(value))}</tr>"
        for name, value in cells.items()
    )
    return f"<div><p><b>{text(estimate.name)}</b></p><table>{body}</table></div>"


def comparison_html(parts: Sequence[Comparison], notes: Sequence[str]) -> str:
    """Return what the command prints of a comparison: sentences, and what changed most."""
    shown = [results_html(change_results(parts))]
    if rows := top_of(parts):
        shown.append(f"<p><b>What changed most</b></p>{table(rows)}")
    shown += [f"<div>{text(note)}</div>" for note in notes]
    return f"<div>{''.join(shown)}</div>"


def table(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as an HTML table; empty if there are none."""
    rows = list(rows)
    if not rows:
        return ""
    head = row_html(map(text, rows[0]), "th")
    body = "".join(row_html(text(str(cell)) for cell in row.values()) for row in rows)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def row_html(cells: Iterable[str], tag: str = "td") -> str:
    """Return a row of a table, of texts in HTML."""
    return f"<tr>{''.join(cell_html(cell, tag) for cell in cells)}</tr>"


def cell_html(cell: str, tag: str = "td") -> str:
    """Return a cell of a table, of a text in HTML."""
    return f'<{tag} style="text-align: left">{cell}</{tag}>'


def text(value: str) -> str:
    """Return a user's or model's text, printable and escaped, so that it can be no markup."""
    return escape(printable(value))

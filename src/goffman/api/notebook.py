"""What notebooks show of a run, an estimate and a comparison: HTML in which all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from goffman.analysis.summary import describe_counts, interval_shown, main_results, value_shown
from goffman.comparison.text import change_results, top_of
from goffman.console import printable
from goffman.formatting import confidence, describe_corrected, ends, number, verdict_shown
from goffman.report.forest import forest
from goffman.report.overview import first_screen

if TYPE_CHECKING:
    from goffman.analysis.summary import MainResult
    from goffman.comparison.runs import Comparison
    from goffman.gate.names import NamedEstimate
    from goffman.report.forest import Forest, Mark
    from goffman.report.load import MeasuredRun


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
            f"<b>{text(finding.short or finding.head)}</b><sup>{marks}</sup><br>{text(source)}",
            f"{result.glyph} {text(result.verdict)}",
            strip(plot, mark) if mark else "",
            f"<b>{text(value_shown(finding))}</b><br>{text(interval_shown(finding))}",
        )
        rows.append("".join(f'<td style="text-align: left">{cell}</td>' for cell in cells))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    footnotes = "".join(f"<li>{text(note)}</li>" for note in notes)
    return (
        f"<p>{text(describe_counts(results))}. Shaded: too small to matter. Line: 95% "
        "interval. Associations in text, not proof of harm.</p>"
        f"<table><tbody>{body}</tbody></table>{f'<ol>{footnotes}</ol>' if notes else ''}"
    )


def strip(drawn: Forest, mark: Mark) -> str:
    """Return an interval against the band of differences too small to matter, as SVG."""
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


def estimate_html(one: NamedEstimate) -> str:
    """Return an estimate with everything that is needed to doubt it."""
    row = one.row
    level = confidence(row["level"]) if row["level"] is not None else "95%"
    tested = row["test"] or f"not tested: {row['reason'] or 'the method has no test'}"
    if row["statistic"] is not None and row["test"]:
        df = "" if row["df"] is None else f", df = {number(row['df'])}"
        tested += f": {number(row['statistic'])}{df}"
    cells = {
        "contrast": f"{row['first']} − {row['second']}",
        "value": number(one.value("value")),
        f"{level} interval": ends(one.value("low"), one.value("high")),
        "test": tested,
        "p": describe_corrected(row),
        "n": f"{row['n']:,} {row['unit'] or ''}".strip(),
        "verdict": verdict_shown(row) or "none",
    }
    if row["margin"] is not None:
        cells["smallest relevant"] = number(row["margin"])
    if one.not_measurable:
        cells["not measurable"] = one.not_measurable
    body = "".join(
        f'<tr><th style="text-align: left">{text(name)}</th>'
        f'<td style="text-align: left">{text(value)}</td></tr>'
        for name, value in cells.items()
    )
    return f"<div><p><b>{text(one.name)}</b></p><table>{body}</table></div>"


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
    head = "".join(f'<th style="text-align: left">{text(name)}</th>' for name in rows[0])
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align: left">{text(str(cell))}</td>' for cell in row.values())
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text(given: str) -> str:
    """Return a user's or model's text, printable and escaped, so that it can be no markup."""
    return escape(printable(given))

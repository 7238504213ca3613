"""What notebooks show of a run, an estimate and a comparison: HTML in which all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from goffman.comparison.sentences import change_sentences, labels_of, who
from goffman.comparison.text import top_of
from goffman.console import printable
from goffman.formatting import confidence, describe_corrected, ends, number, p_value, verdict_shown
from goffman.presentation.findings import findings_of

if TYPE_CHECKING:
    from goffman.comparison.runs import Comparison
    from goffman.gate.names import NamedEstimate
    from goffman.report.load import MeasuredRun


def run_html(run: MeasuredRun, summary: Sequence[str]) -> str:
    """The run's models, its main results, and the summary behind a click."""
    asked = [
        {
            "model": name,
            "kind": entry.kind,
            "precision": entry.precision or entry.asked_by or "behind a server",
            "instruments": ", ".join(sorted(run.manifest.answers.get(name, {}))),
        }
        for name, entry in run.manifest.models.items()
    ]
    results = [
        {
            "instrument": section.instrument,
            "model": one.model,
            "result": one.heading,
            "difference": number(one.difference),
            "95% interval": ends(one.low, one.high),
            "corrected p": "none" if one.p_adjusted is None else p_value(one.p_adjusted),
            "verdict": one.shown or "none",
        }
        for section in run.sections.values()
        for one in findings_of(section)
    ]
    lines = "".join(
        f"<div>{text(line)}</div>" if line.startswith(" ") else f"<p><b>{text(line)}</b></p>"
        for line in summary
    )
    return (
        f"<div><p><b>goffman run</b> {text(str(run.folder))}</p>{table(asked)}{table(results)}"
        f"<details><summary>Summary</summary>{lines}</details></div>"
    )


def estimate_html(one: NamedEstimate) -> str:
    """An estimate with everything that is needed to doubt it."""
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
    """What the command prints of a comparison: sentences, and what changed most."""
    labels = labels_of(parts)
    shown = []
    for one in parts:
        if one.verdict.refusals:
            continue
        shown.append(f"<p><b>{text(f'{one.instrument}: {who(one, labels)}')}</b></p>")
        shown += [f"<div>{text(line)}</div>" for line in change_sentences(one).lines]
    if rows := top_of(parts).rows:
        shown.append(f"<p><b>What changed most</b></p>{table(rows)}")
    shown += [f"<div>{text(note)}</div>" for note in notes]
    return f"<div>{''.join(shown)}</div>"


def table(rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as an HTML table; nothing where there are none."""
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
    """A text of a user or a model, which can be no markup and plays no tricks."""
    return escape(printable(given))

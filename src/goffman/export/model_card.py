"""A section for a model's card on the hub, with the metadata block (a model-index) that it reads.

Two screens of it are seen: the main results, a sentence each, the limits. The rest is folded.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

import polars as pl

from goffman.comparison.runs import instruments_of
from goffman.console import printable
from goffman.contrasts.verdict import NOT_MEASURABLE
from goffman.estimates import headlines
from goffman.export.common import main_estimates, public_name
from goffman.formatting import VERDICTS_SAID, confidence, humanize, verdict_shown
from goffman.gate.names import path_of
from goffman.models.registry import model_kinds
from goffman.modes import asked_id
from goffman.presentation.competence import NO_CONTROLS, QUESTION
from goffman.presentation.findings import findings_of
from goffman.presentation.reliability import reliability_table
from goffman.presentation.table_formats import ColumnSpec, as_table, markdown, markdown_text
from goffman.report.load import unmeasurable
from goffman.report.page import GENERAL
from goffman.scoring import measures_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goffman.gate.names import NamedEstimate
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding
    from goffman.report.load import MeasuredRun


def model_card_text(run: MeasuredRun, model: str) -> str:
    """The metadata block, then the section."""
    found = main_estimates(run, model)
    return f"---\n{_metadata(run, model, found)}---\n\n{_section(run, model, found)}"


def _metadata(run: MeasuredRun, model: str, found: list[NamedEstimate]) -> str:
    row = model_kinds().get(run.manifest.models[model].kind)
    task = row.task if row else "other"
    lines = ["model-index:", f"- name: {_quoted(public_name(model))}", "  results:"]
    for instrument in instruments_of(run, model):
        metrics = [
            one
            for one in found
            if asked_id(one.row) == instrument and one.value("value") is not None
        ]
        # What is not measurable must not be taken for a number by whoever reads the block.
        if not metrics or unmeasurable(run, instrument, model):
            continue
        entry = run.manifest.instruments[instrument]
        called = f"goffman {instrument}, version {entry.version}"
        lines += [
            "  - task:",
            f"      type: {_quoted(task)}",
            "    dataset:",
            f"      type: {_quoted(f'goffman/{path_of(instrument)}')}",
            f"      name: {_quoted(called)}",
            f"      revision: {_quoted(entry.prompts_sha256)}",
            "    metrics:",
        ]
        for one in metrics:
            kind = f"{one.short_path}[{one.variant}]" if one.variant else one.short_path
            lines += [
                f"    - type: {_quoted(kind)}",
                f"      value: {one.value('value')!r}",
                f"      name: {_quoted(_metric_name(one))}",
            ]
    if len(lines) == 3:
        lines[-1] = "  results: []"
    return "".join(f"{line}\n" for line in lines)


def _metric_name(one: NamedEstimate) -> str:
    """What a metric is, in words, with its interval."""
    row = one.row
    about = [row["quantity"], row["variant"], row["group"], row["dimension"]]
    said = ", ".join(part for part in about if part)
    low, high = one.value("low"), one.value("high")
    ends = "no interval"
    if low is not None and high is not None:
        ends = f"{confidence(row['level'])} interval {low:.3g} to {high:.3g}"
    return f"{said}: {row['first']} − {row['second']} ({ends})"


def _quoted(text: str) -> str:
    """A text as JSON quotes it, which YAML reads too."""
    return json.dumps(printable(text), ensure_ascii=False)


_SHOWN = (
    ColumnSpec(header="estimate", keys=("name",)),
    ColumnSpec(header="contrast", keys=("contrast",)),
    ColumnSpec(header="difference", keys=("difference",), form="number"),
    ColumnSpec(header="95% interval", keys=("low", "high"), form="interval"),
    ColumnSpec(header="n", keys=("n",), form="count"),
    ColumnSpec(header="smallest relevant", keys=("margin",), form="number", drop="empty"),
    ColumnSpec(header="detectable", keys=("detectable",), form="number", drop="empty"),
    ColumnSpec(header="verdict", keys=("verdict",), drop="empty"),
)


def _section(run: MeasuredRun, model: str, found: list[NamedEstimate]) -> str:
    entry = run.manifest.models[model]
    last = run.manifest.sessions[-1] if run.manifest.sessions else None
    made = f"goffman {last.versions.get('goffman', '')} on {last.started[:10]}" if last else ""
    precision = entry.precision
    how = f"in {precision}" if precision else "behind a server"
    if entry.asked_by:
        how = f"by {printable(entry.asked_by)}{f' in {precision}' if precision else ''}"
    asked = f"{public_name(model)} was asked {how}, with {made}."
    lines = ["## Stigma audit", "", markdown(asked), "", *_overview(run, model)]
    for instrument in instruments_of(run, model):
        section = run.sections[instrument]
        # What the report heads its findings of the model with.
        heads = [one.heading for one in findings_of(section) if _is_of(one, section, model)]
        lines += ["", f"### {markdown(instrument)}", "", *map(markdown, heads[:1])]
        lines += ["", *_folded(run, model, instrument, found)]
    lines += ["", "### Limits", "", *(f"- {markdown(limit)}" for limit in GENERAL)]
    return "\n".join(lines) + "\n"


_MAIN = (
    ColumnSpec(header="instrument", keys=("instrument",)),
    ColumnSpec(header="can it do the task?", keys=("able",)),
    ColumnSpec(header="main contrast", keys=("contrast",)),
    ColumnSpec(header="difference", keys=("difference",), form="number"),
    ColumnSpec(header="95% interval", keys=("low", "high"), form="interval"),
    ColumnSpec(header="smallest relevant", keys=("margin",), form="number", drop="empty"),
    ColumnSpec(header="verdict", keys=("verdict",)),
)


def _overview(run: MeasuredRun, model: str) -> list[str]:
    """The main result of each instrument, a row each."""
    main = headlines(run.estimates, measures_of(run.manifest)).filter(pl.col("model") == model)
    by_instrument = {asked_id(row): row for row in main.iter_rows(named=True)}
    rows = []
    for instrument in instruments_of(run, model):
        control = run.sections[instrument].competence.get(model)
        about = {"instrument": instrument, "able": "not tested" if control is None else "yes"}
        row = by_instrument.get(instrument)
        if control is not None and not control.passed:
            nothing = {key: None for one in _MAIN for key in one.keys}
            rows.append({**nothing, **about, "able": "no", "verdict": NOT_MEASURABLE})
        elif row is not None:
            whom = f", {humanize(row['group'])}" if row["group"] else ""
            contrast = f"{humanize(row['first'])} − {humanize(row['second'])}{whom}"
            if row["kind"] == "level":
                contrast = f"{humanize(row['quantity'])}, no adjectives"
            rows.append({**row, **about, "contrast": contrast, "verdict": verdict_shown(row) or ""})
    if not rows:
        return ["No instrument has a main result."]
    return [markdown_text(as_table("main", f"The main results. {CONTRASTED}", rows, shown=_MAIN))]


def _folded(run: MeasuredRun, model: str, instrument: str, found: list[NamedEstimate]) -> list[str]:
    """All that was found with an instrument, behind a click."""
    about, section = run.manifest.instruments[instrument], run.sections[instrument]
    lines = [
        "<details>",
        (
            "<summary>All findings, every estimate, and what you may claim "
            f"(version {escape(printable(about.version))}, {about.prompts:,} prompts)</summary>"
        ),
        "",
        *(f"- {markdown(line)}" for line in _findings(section, model)),
    ]
    rows = [
        {
            **one.row,
            "name": f"{one.short_path}[{one.variant}]" if one.variant else one.short_path,
            "contrast": f"{one.row['first']} − {one.row['second']}",
            "verdict": one.verdict or "",
        }
        for one in found
        if asked_id(one.row) == instrument
    ]
    if rows and not unmeasurable(run, instrument, model):
        caption = f"{instrument}: the estimates; {CONTRASTED.lower()} {VERDICTS_SAID}"
        lines += ["", markdown_text(as_table(instrument, caption, rows, shown=_SHOWN))]
    for table in reliability_table(section, model=model):
        lines += ["", markdown_text(table)]
    claims = section.presentation.claims
    known = section.names.instruments.get(instrument)
    return [
        *lines,
        "",
        f"- Where such a result is clear, it can support the claim {markdown(claims.supports)}.",
        f"- It cannot support claims {markdown(claims.does_not_support)}.",
        *(f"- {markdown(limit)}" for limit in (known.limits if known else ())),
        "",
        "</details>",
    ]


CONTRASTED = "First minus second."


def _findings(section: Section, model: str) -> Iterator[str]:
    """What the report says of the model: first whether it can do the task."""
    control = section.competence.get(model)
    if control is None or control.passed:
        yield f"{QUESTION} {control.sentence if control else NO_CONTROLS}"
    for found in findings_of(section):
        if _is_of(found, section, model):
            yield f"{found.heading} {found.said}"
            yield from found.more


def _is_of(found: Finding, section: Section, model: str) -> bool:
    return found.model == section.names.model(model)

"""Write a section for a model's card on the hub, and the metadata block (a model-index) with it.

Both have the main result of each instrument, with its verdict and the ids of its caveats.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goffman.console import printable
from goffman.contrasts.engine import PRIMARY
from goffman.export.paper import main_estimates, public_name
from goffman.formatting import ends
from goffman.gate.names import path_of
from goffman.models.registry import model_kinds
from goffman.modes import asked_id
from goffman.presentation.competence import NO_CONTROLS
from goffman.presentation.table_formats import grid, markdown
from goffman.report.card import run_id
from goffman.report.page import GENERAL
from goffman.report.summary import describe_counts, main_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goffman.report.load import MeasuredRun
    from goffman.report.summary import MainResult


def model_card_text(run: MeasuredRun, model: str) -> str:
    """Return the metadata block, then the section."""
    results = [
        result
        for result in main_results(run.sections)
        if result.model == run.sections[result.instrument].names.model(model)
    ]
    metadata = "".join(f"{line}\n" for line in _metadata(run, model, results))
    return f"---\n{metadata}---\n\n{_section(run, model, results)}"


def _metadata(run: MeasuredRun, model: str, results: Sequence[MainResult]) -> Iterator[str]:
    """Yield the lines of the model-index; what is not measurable must not appear as a number."""
    row = model_kinds().get(run.manifest.models[model].kind)
    by_instrument = {
        asked_id(estimate.row): estimate
        for estimate in main_estimates(run, model)
        if estimate.row["family"] == PRIMARY
    }
    shown = [
        (result, by_instrument[result.instrument])
        for result in results
        if result.finding.difference is not None and result.instrument in by_instrument
    ]
    yield "model-index:"
    yield f"- name: {_quoted(public_name(model))}"
    yield "  results:" if shown else "  results: []"
    for result, estimate in shown:
        entry = run.manifest.instruments[result.instrument]
        variant = f"[{estimate.variant}]" if estimate.variant else ""
        title = f"goffman {result.instrument}, version {entry.version}"
        yield "  - task:"
        yield f"      type: {_quoted(row.task if row else 'other')}"
        yield "    dataset:"
        yield f"      type: {_quoted(f'goffman/{path_of(result.instrument)}')}"
        yield f"      name: {_quoted(title)}"
        yield f"      revision: {_quoted(entry.prompts_sha256)}"
        yield "    metrics:"
        yield f"    - type: {_quoted(f'{estimate.short_path}{variant}')}"
        yield f"      value: {estimate.value!r}"
        yield f"      name: {_quoted(_metric_name(result))}"


def _metric_name(result: MainResult) -> str:
    finding = result.finding
    interval = "no interval" if finding.low is None else f"95% interval {finding.unit}"
    span = "" if finding.low is None else ends(finding.low, finding.high)
    caveats = ", ".join(result.caveats) or "none"
    return f"{finding.short} ({result.verdict}; {interval}{span}; caveats: {caveats})"


def _quoted(text: str) -> str:
    """Return a text as JSON quotes it, which YAML reads too."""
    return json.dumps(printable(text), ensure_ascii=False)


def _section(run: MeasuredRun, model: str, results: Sequence[MainResult]) -> str:
    entry = run.manifest.models[model]
    last = run.manifest.sessions[-1] if run.manifest.sessions else None
    software = f"goffman {last.versions.get('goffman', '')} on {last.started[:10]}" if last else ""
    precision = entry.precision
    how = f"in {precision}" if precision else "behind a server"
    if entry.asked_by:
        how = f"by {printable(entry.asked_by)}{f' in {precision}' if precision else ''}"
    asked = f"{public_name(model)} was asked {how}, with {software} (run {run_id(run)})."
    heads = ("verdict", "instrument", "finding", "difference (95% interval)", "Δ", "caveats")
    notes = {note.id: note.short for result in results for note in result.finding.caveats}
    parts = [
        "## Stigma audit",
        markdown(asked),
        f"{describe_counts(results)}." if results else "No instrument has a main result.",
        grid(heads, [[result.cells()[head] for head in heads] for result in results]).strip(),
        "\n".join(f"- `{name}`: {markdown(short)}." for name, short in notes.items()),
        "<details><summary>What you may say, and what else can be behind it</summary>",
        *("\n".join(_about(run, result, model)) for result in results),
        "</details>",
        "### Limits",
        "\n".join(f"- {markdown(limit)}" for limit in GENERAL),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _about(run: MeasuredRun, result: MainResult, model: str) -> Iterator[str]:
    """Yield what an instrument asked, what may be said, and its limits."""
    section = run.sections[result.instrument]
    claims, control = section.presentation.claims, section.competence.get(model)
    entry = section.names.instruments[result.instrument]
    yield f"**{markdown(result.instrument)}**, version {markdown(entry.version)}"
    yield ""
    yield f"- {markdown(control.sentence if control else NO_CONTROLS)}"
    yield f"- If a difference is shown, you may say {markdown(claims.supports)}."
    yield f"- You may not make claims {markdown(claims.does_not_support)}."
    yield from (f"- {markdown(limit)}" for limit in entry.limits)
    if section.ratings:
        yield f"- {markdown(section.ratings)}"

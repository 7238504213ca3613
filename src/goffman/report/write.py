"""Writers of a measured run's report, of its other analyses, and of its comparison with people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from goffman import __version__
from goffman.anchors.compare import ANCHOR_FILES, compare_with_anchors
from goffman.anchors.loader import anchors_with
from goffman.contrasts.engine import headlines
from goffman.contrasts.verdict import VERDICT_FACTS
from goffman.errors import RunError, no_run
from goffman.presentation.table_formats import csv_text, grid, markdown
from goffman.report.analyze import keep_tables, known_anchors
from goffman.report.card import FOOT, card_of, card_png, run_id
from goffman.report.evidence import evidence_of, words_or_why
from goffman.report.figures import as_far_as_shown, check_stressed, figures_of
from goffman.report.load import CARD_FILE, PAGE_FILE, RESULTS_FILE, read_run
from goffman.report.overview import first_screen
from goffman.report.page import Drawn, about_run, page
from goffman.report.summary import Summary, describe_counts, main_results
from goffman.report.table_files import results_table
from goffman.runs.answers import parquet
from goffman.runs.files import README, Folder
from goffman.runs.manifest import read_manifest
from goffman.runs.run import open_run
from goffman.scoring import measures_of, words_of
from goffman.sensitivity.multiverse import MULTIVERSE_FILE, STRESS_FILE, stress_tables

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons
    from goffman.report.load import MeasuredRun
    from goffman.report.summary import MainResult
    from goffman.sensitivity.multiverse import Watch


@dataclass(frozen=True, kw_only=True)
class Report:
    """The written report of a run: its page, and its results in sentences."""

    page: Path
    notes: tuple[str, ...] = ()
    """What the page could not show, and why."""
    summary: Summary
    """What the run says, in the sentences of the page."""


def write_report(folder: Path, *, words: Lexicons | None = None) -> Report:
    """Write page, card, results and README into the run's folder, and return the report.

    Tables that cannot be shown are left out, and the report's notes say so. ``words``: the lexicons
    that the run was scored with; None: as its manifest names them.
    """
    run = read_run(folder)
    Folder(folder).sweep()
    notes: Sequence[str] = ()
    if words is None:
        words, notes = words_or_why(run.manifest)
    return as_far_as_shown(run, partial(_write_files, words=words, notes=notes))[0]


def _write_files(
    run: MeasuredRun, left_out: Sequence[str], *, words: Lexicons | None, notes: Sequence[str]
) -> Report:
    """Make every file of the report, then write them; a README by somebody else is kept."""
    folder, card = Folder(run.folder), card_png(card_of(run))
    all_notes, evidence = (*notes, *left_out), evidence_of(run, words)
    drawn = Drawn(figures=figures_of(run), evidence=evidence, notes=all_notes, card=card)
    readme = readme_text(run).encode()
    files = {RESULTS_FILE: csv_text(results_table(run)).encode()}
    if (folder.read(README) or readme).startswith(HEADING.encode()):
        files[README] = readme
    files |= {CARD_FILE: card, PAGE_FILE: page(run, drawn).encode()}
    for name, content in files.items():
        folder.write_changed(name, content)
    return Report(page=run.folder / PAGE_FILE, notes=all_notes, summary=run.summary)


def stress_run(
    folder: Path, *, workers: int = 1, seed: int = 0, watch: Watch = lambda _done, _of: None
) -> None:
    """Write both tables of the multiverse into the run's folder and note them in its manifest.

    Raise RunError if the run is not measured, its answers or lexicons are not here any more, or the
    tables cannot be shown.
    """
    if read_manifest(folder) is None:
        raise RunError(no_run(folder))
    with open_run(folder) as run:
        measured = read_run(folder)
        # Missing lexicons raise here, before processes are started that would each raise.
        words_of(measured.manifest)
        failing = {
            (name, model): f"the model is {competence.mark}"
            for name, section in measured.sections.items()
            for model, competence in section.unmeasurable().items()
        }
        rows, summed = stress_tables(
            folder,
            primary=headlines(measured.estimates, measures_of(measured.manifest)),
            unmeasurable=failing,
            workers=workers,
            seed=seed,
            watch=watch,
        )
        check_stressed(replace(measured, stressed=(rows, summed)))
        tables = {MULTIVERSE_FILE: parquet(rows), STRESS_FILE: parquet(summed)}
        keep_tables(run, run.manifest, tables, maybe=())


def renew_anchors(folder: Path, anchors: Sequence[Path], *, note: Callable[[str], None]) -> None:
    """Write the run's comparison with people anew, with these anchors, if any, added."""
    if not anchors:
        return
    available = anchors_with(anchors)
    measured = read_run(folder)
    all_anchors = known_anchors(measured.manifest, available, note)
    people = compare_with_anchors(measured.scores, measured.prompts, measured.manifest, all_anchors)
    if not any(anchor.id in people.anchors for anchor in available[-len(anchors) :]):
        note("Nothing in this run fits the anchor: see instruments in its anchor.toml.")
    if not people.anchors:
        return
    with open_run(folder) as run:
        manifest = replace(run.manifest, anchors=people.anchors)
        keep_tables(run, manifest, people.tables(), maybe=ANCHOR_FILES)


HEADING = "# A goffman run"

MOST = 20
"""The most main results in the README; the rest are only in results.csv."""

_FILES = """\
## What is here

| file | holds |
|---|---|
| `report.html` | the results with figures and evidence; open it in a browser |
| `card.png` | the main results as a picture to share |
| `results.csv` | the main results, a row each |
| `estimates.parquet`, `scores.parquet` | every contrast; every number |
| `prompts.parquet`, `answers/` | what was asked, and every answer |
| `manifest.json` | versions, hashes, settings and times |

`goffman export RUN --to figures`, `--to tables` or `--to paper` writes more.
"""


def readme_text(run: MeasuredRun) -> str:
    """Return the README of a run."""
    facts, headline = about_run(run), first_screen(run.sections)["headline"]
    results = main_results(run.sections)
    name, models = facts["folder"], ", ".join(model["shown"] for model in facts["models"])
    prompts = f"{facts['prompts']:,} prompts of {', '.join(run.sections)}"
    parts = [
        f"{HEADING}: {markdown(name)}",
        f"**{markdown(headline)}.** {describe_counts(results)}.",
        f"Asked: {markdown(models)}, with {markdown(prompts)}.",
        _table(results),
        _FILES,
        "## How to read the verdicts",
        "\n".join(
            f"- {facts.glyph} **{word}**: {facts.meaning}."
            for word, facts in VERDICT_FACTS.items()
            if word in {result.verdict for result in results}
        ),
        FOOT.split(". ", 2)[2],
        "## How to cite",
        "\n".join(_cited(run, facts["started"])),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _table(results: list[MainResult]) -> str:
    heads = ("verdict", "instrument", "model", "finding", "difference (95% interval)", "caveats")
    rows = [[result.cells()[head] for head in heads] for result in results[:MOST]]
    remaining = len(results) - len(rows)
    more = f"\n{remaining} more are in results.csv.\n" if remaining else ""
    return f"{grid(heads, rows)}{more}"


def _cited(run: MeasuredRun, started: str) -> Iterator[str]:
    yield (
        f"- The goffman developers, goffman {__version__}; run {run_id(run)} of {started}. The id "
        "begins the sha256 of `estimates.parquet`."
    )
    for name, section in run.sections.items():
        instrument = section.names.instruments[name]
        if instrument.citation:
            source = f"{name}, version {instrument.version}: {instrument.citation}"
            yield f"- {markdown(source)}"

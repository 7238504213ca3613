"""A measured run → what people read of it; its multiverse and its anchors, written anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.analysis.analyze import keep_tables, known_anchors
from goffman.analysis.summary import Summary, summarize
from goffman.anchors.compare import ANCHOR_FILES, compare_with_anchors
from goffman.anchors.loader import anchors_with
from goffman.errors import RunError, no_run
from goffman.estimates import headlines
from goffman.report.evidence import evidence_of, words_or_why
from goffman.report.fallback import as_far_as_shown, check_stressed
from goffman.report.figures import figures_of
from goffman.report.images import write_images
from goffman.report.load import read_run
from goffman.report.page import Drawn, page
from goffman.report.table_files import write_tables
from goffman.runs.answers import parquet
from goffman.runs.files import Folder
from goffman.runs.manifest import read_manifest, with_anchors
from goffman.runs.run import open_run
from goffman.scoring import measures_of, words_of
from goffman.sensitivity.multiverse import MULTIVERSE_FILE, STRESS_FILE, stress_tables

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons
    from goffman.report.load import MeasuredRun
    from goffman.sensitivity.multiverse import Watch


@dataclass(frozen=True, kw_only=True)
class Report:
    """Where a report lies."""

    page: Path
    figures: tuple[Path, ...]
    tables: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    """What the page could not show, and why."""
    summary: Summary
    """What the run says, in the sentences of the page."""


def write_report(
    folder: Path, *, words: Lexicons | None = None, every_choice: bool = False
) -> Report:
    """The report of the run in the folder, written there.

    ``words``: the lexicons that it was scored with; None: as its manifest names them.
    ``every_choice``: figures/ also has each choice that a figure of the page offers.
    """
    run = read_run(folder)
    Folder(folder).sweep()
    why: Sequence[str] = ()
    if words is None:
        words, why = words_or_why(run.manifest)

    def show(run: MeasuredRun, said: Sequence[str]) -> Report:
        place, figures, notes = Folder(folder), figures_of(run), (*why, *said)
        svgs, images = write_images(figures, place / "figures", every=every_choice)
        drawn = Drawn(figures=figures, svgs=svgs, evidence=evidence_of(run, words), notes=notes)
        place.write_changed("report.html", page(run, drawn).encode())
        return Report(
            page=folder / "report.html",
            figures=tuple(images),
            tables=tuple(write_tables(run, folder / "tables")),
            notes=notes,
            summary=summarize(run.sections, run.correlations, run.anchored),
        )

    return as_far_as_shown(run, show)[0]


def stress_run(
    folder: Path, *, workers: int = 1, seed: int = 0, watch: Watch = lambda _done, _of: None
) -> None:
    """Both tables are in the run's folder, and its manifest knows them.

    RunError where the run is not measured, its answers or lexicons are not here any more, or the
    tables cannot be shown.
    """
    if read_manifest(folder) is None:
        raise RunError(no_run(folder))
    with open_run(folder) as run:
        measured = read_run(folder)
        # Before any process is started: what is missing is said once.
        words_of(measured.manifest)
        failing = {
            (name, model): f"the model is {one.mark}"
            for name, section in measured.sections.items()
            for model, one in section.unmeasurable().items()
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
    """The run's tables of models beside people are on disk, with these anchors of a user too.

    Without any, only a run that has no such tables gets them: an earlier goffman made none.
    """
    given = anchors_with(anchors)
    measured = read_run(folder)
    if not anchors and measured.anchors is not None:
        return
    every = known_anchors(measured.manifest, given, note)
    people = compare_with_anchors(measured.scores, measured.prompts, measured.manifest, every)
    if anchors and not any(one.id in people.anchors for one in given[-len(anchors) :]):
        note("Nothing in this run fits the anchor: see instruments in its anchor.toml.")
    if not people.anchors:
        return
    with open_run(folder) as run:
        manifest = with_anchors(run.manifest, people.anchors)
        keep_tables(run, manifest, people.tables(), maybe=ANCHOR_FILES)

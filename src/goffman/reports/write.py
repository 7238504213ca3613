"""A measured run → everything that people read of it: report.html, figures/, tables/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.analysis.summary import summary
from goffman.reports.evidence import evidence_of, words_or_why
from goffman.reports.figures import figures_of
from goffman.reports.html import Drawn, page
from goffman.reports.images import write_images
from goffman.reports.run import read_run
from goffman.reports.tables import write_tables
from goffman.runs.files import Folder

if TYPE_CHECKING:
    from goffman.lexicons.words import Words
    from goffman.reports.run import MeasuredRun


@dataclass(frozen=True, kw_only=True)
class Report:
    """Where a report lies."""

    page: Path
    figures: tuple[Path, ...]
    tables: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    """What the page could not show, and why."""
    summary: tuple[str, ...] = ()
    """What the run says, in the sentences of the page."""


def write_report(folder: Path, *, words: Words | None = None, every_choice: bool = False) -> Report:
    """The report of the run in the folder, written there.

    ``words``: the lexicons that it was scored with; None: as its manifest names them.
    ``every_choice``: figures/ also has each choice that a figure of the page offers.
    """
    run = read_run(folder)
    Folder(folder).sweep()
    notes: list[str] = []
    if words is None:
        words, said = words_or_why(run.manifest)
        notes += said
    figures = figures_of(run)
    svgs, images = write_images(figures, Folder(folder) / "figures", every=every_choice)
    drawn = Drawn(figures=figures, svgs=svgs, evidence=evidence_of(run, words), notes=notes)
    Folder(folder).write_changed("report.html", page(run, drawn).encode())
    path = folder / "report.html"
    return Report(
        page=path,
        figures=tuple(images),
        tables=tuple(_tables(run)),
        notes=tuple(notes),
        summary=tuple(summary(run.sections, run.correlations, run.anchored)),
    )


def _tables(run: MeasuredRun) -> list[Path]:
    """The tables of the run, written to tables/."""
    return list(write_tables(run, run.folder / "tables"))

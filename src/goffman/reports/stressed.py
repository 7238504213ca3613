"""A measured run with its multiverse on disk: multiverse.parquet, stress.parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goffman.analysis.estimate import headlines
from goffman.analysis.measured import keep_tables
from goffman.analysis.score import measures_of, words_of
from goffman.analysis.stress import MULTIVERSE_FILE, STRESS_FILE, stress_tables
from goffman.errors import RunError, no_run
from goffman.reports.run import read_run
from goffman.runs.folder import open_run
from goffman.runs.manifest import read_manifest
from goffman.runs.store import parquet

if TYPE_CHECKING:
    from goffman.analysis.stress import Watch


def stress_run(
    folder: Path, *, workers: int = 1, seed: int = 0, watch: Watch = lambda _done, _of: None
) -> None:
    """Both tables are in the run's folder, and its manifest knows them.

    RunError where the run is not measured, or its answers or lexicons are not here any more.
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
            robustness=measured.robustness,
            unmeasurable=failing,
            workers=workers,
            seed=seed,
            watch=watch,
        )
        tables = {MULTIVERSE_FILE: parquet(rows), STRESS_FILE: parquet(summed)}
        keep_tables(run, run.manifest, tables, maybe=())

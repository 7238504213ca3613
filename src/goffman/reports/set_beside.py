"""A measured run set beside anchors anew: nothing else is measured, and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from goffman.analysis.beside import ANCHOR_FILES, set_beside
from goffman.analysis.measured import keep_tables, known_anchors
from goffman.anchors.load import anchors_with
from goffman.reports.run import read_run
from goffman.runs.folder import open_run
from goffman.runs.manifest import with_anchors


def set_beside_again(folder: Path, anchors: Sequence[Path], *, note: Callable[[str], None]) -> None:
    """The run's tables of models beside people are on disk, with these anchors of a user too.

    Without any, only a run that has no such tables gets them: an earlier goffman made none.
    """
    given = anchors_with(anchors)
    measured = read_run(folder)
    if not anchors and measured.anchors is not None:
        return
    every = known_anchors(measured.manifest, given, note)
    people = set_beside(measured.scores, measured.prompts, measured.manifest, every)
    if anchors and not any(one.id in people.anchors for one in given[-len(anchors) :]):
        note("Nothing in this run fits the anchor: see instruments in its anchor.toml.")
    if not people.anchors:
        return
    with open_run(folder) as run:
        manifest = with_anchors(run.manifest, people.anchors)
        keep_tables(run, manifest, people.tables(), maybe=ANCHOR_FILES)

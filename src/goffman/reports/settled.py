"""A run measured, unless all would come out as it is: then it is read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goffman.analysis.measured import measure
from goffman.analysis.summary import summary
from goffman.analysis.unchanged import is_unchanged, made_from
from goffman.reports.run import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goffman.anchors.anchor import Anchor
    from goffman.lexicons.words import Words
    from goffman.runs.folder import Run


def settled(
    run: Run,
    words: Words,
    *,
    seed: int,
    pairs: Sequence[tuple[str, str]],
    note: Callable[[str], None],
    anchors: Sequence[Anchor],
) -> tuple[str, ...]:
    """The summary, as ``measure`` gives it; the tables are on disk."""

    def now() -> str | None:
        told: dict[str, Any] = {"seed": seed, "pairs": pairs, "anchors": anchors}
        return made_from(run.folder, run.manifest, words, **told)

    if is_unchanged(run.folder, run.manifest, now=now()):
        run.keep()
        read = read_run(run.folder)
        return tuple(summary(read.sections, read.correlations, read.anchored))
    notes: list[str] = []

    def told(text: str) -> None:
        notes.append(text)
        note(text)

    said = measure(run, words, seed=seed, pairs=pairs, note=told, anchors=anchors)
    # What was told must be told again, and only measuring finds it.
    if not notes:
        measuring = replace(run.manifest.measuring, made_from=now())
        run.manifest = replace(run.manifest, measuring=measuring)
        run.keep()
    return said

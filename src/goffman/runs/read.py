"""The answers of a run as one table, for the stages that come after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goffman.errors import RunError
from goffman.runs.manifest import read_manifest
from goffman.runs.store import Table, answers_folder, read_parts, sound_parts

if TYPE_CHECKING:
    import polars as pl


def read_answers(
    run: Path, table: Table, *, model: str | None = None, instrument: str | None = None
) -> pl.DataFrame:
    """Every row of the run's fills, labels or replies; RunError where some are missing or damaged.

    ``model``, ``instrument``: only those of this one.

    The rows come model by model and instrument by instrument, in the order in which they were
    asked, which depends on the sentences alone.
    """
    manifest = read_manifest(run)
    if manifest is None:
        raise RunError(f"{run} is no run: it has no manifest.json. Make one with goffman audit.")
    paths: list[Path] = []
    for name in sorted(manifest.models):
        for asked in sorted(manifest.answers.get(name, {})):
            entry = manifest.answers[name][asked]
            chosen = model in {None, name} and instrument in {None, asked}
            if entry["table"] != table or not chosen:
                continue
            folder = answers_folder(run, table, model=name, instrument=asked)
            shelf = sound_parts(folder, clear=False)
            if entry["parts"] != len(shelf.parts):
                parts = entry["parts"] or "a yet unknown number of"
                damaged = f" ({', '.join(shelf.damaged)} damaged)" if shelf.damaged else ""
                message = (
                    f"{folder} holds {len(shelf.parts)} of {parts} parts{damaged}, so that "
                    f"answers of {name} to {asked} are missing. Give the run's goffman audit "
                    f"command with {name} again: it asks what is missing."
                )
                raise RunError(message)
            paths += [path for _, path in sorted(shelf.parts.items())]
    return read_parts(paths, table)

"""The answers of a run as one table, for the stages that come after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goffman.errors import RunError, no_run
from goffman.runs.answers import (
    PHRASES,
    answers_folder,
    as_noted,
    columns_of,
    read_chunks,
    verify_chunks,
)
from goffman.runs.manifest import read_manifest
from goffman.runs.run import PARAPHRASES
from goffman.schemas import schema

if TYPE_CHECKING:
    from goffman.instruments.types import AnswerTable
    from goffman.runs.answers import AnswerStore
    from goffman.runs.manifest import Answered, Manifest


def read_answers(
    run: Path,
    table: AnswerTable,
    *,
    model: str | None = None,
    instrument: str | None = None,
    prompts: pl.Series | None = None,
    phrases: bool = False,
) -> pl.DataFrame:
    """Every row of the run's fills, labels or replies; RunError where some are missing or damaged.

    ``model``, ``instrument``: only those of this one; ``prompts``: only those to these ids;
    ``phrases``: the tokens of the conditions' phrases in place of the answers to prompts.

    The rows come model by model and instrument by instrument, in the order in which they were
    asked, which depends on the sentences alone.
    """
    manifest = read_manifest(run)
    if manifest is None:
        raise RunError(no_run(run))
    frames = [pl.DataFrame(schema=schema(columns_of(table)))]
    for name in sorted(manifest.models):
        for asked in sorted(manifest.answers.get(name, {})):
            entry = manifest.answers[name][asked]
            chosen = model in {None, name} and instrument in {None, asked}
            if entry.table == table and chosen:
                folder = answers_folder(run, table, model=name, instrument=asked)
                shelf = verify_chunks(folder, model=name, clear=False)
                _check(shelf, entry, model=name, instrument=asked)
                there = sorted(shelf.parts.items())
                parts = [part for (step, _), part in there if (step == PHRASES) == phrases]
                frames.append(read_chunks(folder, parts, table, prompts=prompts))
    return pl.concat(frames)


def check_answers(run: Path, manifest: Manifest) -> None:
    """RunError where answers of the run are not those that its manifest notes; paraphrases too."""
    for model, of_model in manifest.answers.items():
        for instrument, entry in of_model.items():
            folder = answers_folder(run, entry.table, model=model, instrument=instrument)
            # What is not finished yet is behind no number.
            if entry.parts is None or as_noted(folder, parts=entry.parts, sha256=entry.sha256):
                continue
            shelf = verify_chunks(folder, model=model, clear=False)
            _check(shelf, entry, model=model, instrument=instrument)
    if (within := read_manifest(run / PARAPHRASES)) is not None:
        check_answers(run / PARAPHRASES, within)


def _check(shelf: AnswerStore, entry: Answered, *, model: str, instrument: str) -> None:
    """RunError where the parts on disk are not those that the manifest knows."""
    found = len(shelf.parts)
    if found != entry.parts:
        unsound = [f"{', '.join(shelf.damaged)} damaged"] if shelf.damaged else []
        unsound += [f"{', '.join(shelf.foreign)} by another model"] if shelf.foreign else []
        parts = entry.parts or "an unknown number of"
        what = f"has {found} of {parts} parts" + (f" ({'; '.join(unsound)})" if unsound else "")
    elif entry.sha256 != shelf.sha256:
        what = "does not have the parts that were written"
    else:
        return
    raise RunError(
        f"{shelf.folder.path} {what}, so answers of {model} to {instrument} are missing. Run the "
        f"goffman audit command with {model} again: it asks only what is missing."
    )

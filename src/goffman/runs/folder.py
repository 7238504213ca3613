"""A run folder in the hands of the one process that writes to it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goffman.errors import AskingError, RunError
from goffman.runs.lock import locked
from goffman.runs.manifest import (
    Clock,
    Manifest,
    new_session,
    read_manifest,
    with_session,
    write_manifest,
)
from goffman.runs.store import make_folder, parquet, write_whole
from goffman.tables import PROMPT_TABLE, complaints, prompt_table

if TYPE_CHECKING:
    from goffman.records import Prompt

SAVE_EVERY = 10.0
"""Seconds between two writes of the manifest: a killed run has lost count of so much time."""


class Run:
    """The folder, its manifest, and the session of this process, which begins when it asks."""

    def __init__(self, folder: Path, manifest: Manifest, *, seed: int) -> None:
        self.folder = folder
        self.manifest = manifest
        self._seed = seed
        self._clock = Clock()
        self._sentences = 0
        self._saved: float | None = None

    def begin(self) -> None:
        """The manifest on disk says from now on that this session asks."""
        if self._saved is None:
            self.manifest = with_session(self.manifest, new_session(self._seed), first=True)
        self.save()

    def asked(self, sentences: int) -> None:
        """A part with so many sentences was written."""
        self._sentences += sentences
        if self._saved is not None and time.monotonic() - self._saved > SAVE_EVERY:
            self.save()

    def save(self, *, ended: bool = False) -> None:
        """The manifest is on disk, with the time so far."""
        last = self._clock.onto(self.manifest.sessions[-1], sentences=self._sentences, ended=ended)
        self.manifest = with_session(self.manifest, last)
        write_manifest(self.folder, self.manifest)
        self._saved = time.monotonic()

    def end(self) -> None:
        """Where this session asked, the manifest on disk says that it ended."""
        if self._saved is not None:
            self.save(ended=True)


@contextmanager
def open_run(folder: Path, *, seed: int = 0) -> Iterator[Run]:
    """The run in the folder, new or continued; RunError where another process has it open."""
    try:
        make_folder(folder)
    except OSError as error:
        message = (
            f"{folder} cannot be made: {error.strerror}. Give a folder of your own with --output."
        )
        raise RunError(message) from error
    with locked(folder):
        run = Run(folder, read_manifest(folder) or Manifest(), seed=seed)
        try:
            yield run
        except BaseException:
            # What went wrong first is what the user must read, not that the disk is still full.
            with suppress(AskingError):
                run.end()
            raise
        run.end()


def keep_prompts(run: Path, instrument: str, prompts: Sequence[Prompt]) -> None:
    """prompts.parquet has these prompts of the instrument, beside those of others."""
    path = run / "prompts.parquet"
    here = prompt_table(prompts)
    there = read_prompts(run) if path.exists() else here.clear()
    others = there.filter(pl.col("instrument") != instrument)
    table = pl.concat([others, here]).sort("instrument", maintain_order=True)
    if not table.equals(there):
        write_whole(path, parquet(table))


def read_prompts(run: Path) -> pl.DataFrame:
    """Every prompt of the run: the columns PROMPT_TABLE."""
    path = run / "prompts.parquet"
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        message = (
            f"{path} cannot be read ({type(error).__name__}). Remove it and give the run's "
            "goffman audit command again: it is written anew, and no model is asked again."
        )
        raise RunError(message) from error
    if problems := complaints(frame, PROMPT_TABLE):
        raise RunError(f"{path} does not hold prompts: {'; '.join(problems)}.")
    return frame

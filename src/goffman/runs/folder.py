"""A run folder in the hands of the one process that writes to it."""

from __future__ import annotations

import errno
import io
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goffman.control_items import CONTROL
from goffman.errors import GoffmanError, RunError
from goffman.runs.files import Folder, make_folder
from goffman.runs.lock import locked
from goffman.runs.manifest import (
    Clock,
    Manifest,
    checksum,
    new_session,
    read_manifest,
    with_session,
    with_table,
    write_manifest,
)
from goffman.runs.store import parquet
from goffman.tables import PRESENTATION, PROMPT_TABLE, complaints, prompt_table, schema

if TYPE_CHECKING:
    from goffman.records import Prompt

PROMPTS = "prompts.parquet"

PARAPHRASES = "paraphrases"
"""A run within the run: answers to wordings that are asked only on request. So the run itself is
what it is without them, to the byte."""

SAVE_EVERY = 10.0
"""Seconds between two writes of the manifest: a killed run has lost count of so much time."""


class Run:
    """The folder, its manifest, and the session of this process, which begins when it asks."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self.folder = folder
        self._on_disk = read_manifest(folder)
        self.manifest = self._on_disk or Manifest()
        self._seed = seed
        self._clock = Clock()
        self._sentences = 0
        self._saved: float | None = None

    def keep(self) -> None:
        """The manifest on disk is this one."""
        if self.manifest != self._on_disk:
            write_manifest(self.folder, self.manifest)
            self._on_disk = self.manifest

    def bind(self) -> None:
        """There is a manifest on disk, before there are answers that only it can explain."""
        if self._on_disk is None:
            self.keep()

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
        self.keep()
        self._saved = time.monotonic()

    def end(self) -> None:
        """Where this session asked, the manifest on disk says that it ended."""
        if self._saved is not None:
            self.save(ended=True)


RUN_NAMES = {
    *("lock", "manifest.json", "answers", PROMPTS, "ratings"),
    *("scores.parquet", "estimates.parquet", "scores-shipped.parquet", "ratings-compared.parquet"),
    *("robustness.parquet", "anchors.parquet", "anchor-points.parquet"),
    *("multiverse.parquet", "stress.parquet"),
    *("wordings.parquet", PARAPHRASES, "report.html", "figures", "tables"),
}
"""What a run folder holds."""


def check_place(folder: Path) -> None:
    """Nothing, or RunError where a run in this folder would be among somebody's files."""
    # os.path, which says no to names that no system allows, where Path fails.
    if os.path.exists(folder) and not os.path.isdir(folder):  # noqa: PTH110, PTH112
        raise RunError(f"{folder} is a file, not a folder. Give a folder with --output.")
    names = Folder(folder).names()
    others = [name for name in names if name not in RUN_NAMES and not name.startswith(".")]
    if others and "manifest.json" not in names:
        shown = ", ".join(others[:3]) + (" …" if len(others) > 3 else "")
        raise RunError(
            f"{folder} contains other files ({shown}) and no run. Give an empty or new folder "
            "with --output."
        )


@contextmanager
def open_run(folder: Path, *, seed: int = 0) -> Iterator[Run]:
    """The run in the folder, new or continued; RunError where another process has it open."""
    try:
        make_folder(folder)
    except OSError as error:
        # A link that leads nowhere, or too long a name, is what the user must know of.
        if error.errno in (errno.EEXIST, errno.ENAMETOOLONG):
            Folder(folder).names()
        message = (
            f"The folder {folder} cannot be created: {error.strerror}. Give another one with "
            "--output."
        )
        raise RunError(message) from error
    with locked(folder):
        Folder(folder).sweep()
        run = Run(folder, seed=seed)
        try:
            yield run
        except BaseException:
            # What went wrong first is what the user must read, not that the disk is still full.
            with suppress(GoffmanError):
                run.end()
            raise
        run.end()


def keep_prompts(run: Run, instrument: str, prompts: Sequence[Prompt]) -> None:
    """prompts.parquet has these prompts of the instrument, beside those of others."""
    here = prompt_table(prompts)
    before = Folder(run.folder).read(PROMPTS)
    there, known = here.clear(), []
    if before is not None and run.manifest.knows(PROMPTS, before):
        with suppress(ValueError):
            there, known = _table_in(before), [checksum(before)]
    others = there.filter(pl.col("instrument") != instrument)
    table = pl.concat([others, here]).sort("instrument", maintain_order=True)
    if table.equals(there):
        run.manifest = with_table(run.manifest, PROMPTS, *known)
        return
    # Whatever moment the process is killed at, the manifest knows the file that is there.
    content = parquet(table)
    run.manifest = with_table(run.manifest, PROMPTS, *known, checksum(content))
    run.keep()
    Folder(run.folder).write(PROMPTS, content)
    run.manifest = with_table(run.manifest, PROMPTS, checksum(content))


def read_prompts(run: Path, manifest: Manifest | None = None) -> pl.DataFrame:
    """Every prompt of the run but those of controls: PROMPT_TABLE; RunError where some are missing.

    ``manifest``: the run's, where it has been read.
    """
    return _read_prompts(run, manifest).filter(~pl.col("is_control")).drop("is_control")


def read_controls(run: Path, manifest: Manifest | None = None) -> pl.DataFrame:
    """The prompts of control items of the run; in all else as ``read_prompts``."""
    return _read_prompts(run, manifest).filter("is_control").drop("is_control")


def _read_prompts(run: Path, manifest: Manifest | None) -> pl.DataFrame:
    """All prompts, and whether each is a control's: an earlier goffman had none."""
    manifest = manifest or read_manifest(run) or Manifest()
    content = Folder(run).read(PROMPTS)
    if content is None:
        raise RunError(f"{run / PROMPTS} is missing. {_again()}")
    if not manifest.knows(PROMPTS, content):
        raise RunError(f"{run / PROMPTS} was damaged or edited after goffman wrote it. {_again()}")
    try:
        table = _table_in(content)
    except ValueError as error:
        raise RunError(f"{run / PROMPTS} contains no prompts: {error}. {_again()}") from error
    counts = dict(table.group_by("instrument").len().rows())
    answered = {name for of_model in manifest.answers.values() for name in of_model}
    for name in sorted(answered & {*manifest.instruments}):
        if counts.get(name, 0) != manifest.instruments[name].asked:
            again = _again(f" with --instrument {name}")
            raise RunError(f"{run / PROMPTS} does not have the prompts of {name}. {again}")
    controlled = [name for name, entry in manifest.instruments.items() if entry.controls]
    of_control = (pl.col("condition") == CONTROL) & (pl.col("group") == CONTROL)
    return table.with_columns(is_control=of_control & pl.col("instrument").is_in(controlled))


def _table_in(content: bytes) -> pl.DataFrame:
    """The table of prompts in a file's content; ValueError where it is none."""
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except pl.exceptions.PolarsError as error:
        raise ValueError("it cannot be read as Parquet") from error
    # An earlier goffman had no choices.
    later = [column for column in PRESENTATION if column.name not in frame.columns]
    nothing = {name: pl.lit(None, type_) for name, type_ in schema(later).items()}
    frame = frame.with_columns(**nothing)
    if problems := complaints(frame, PROMPT_TABLE):
        raise ValueError("; ".join(problems))
    return frame


def _again(how: str = "") -> str:
    return (
        f"Run the goffman audit command of this run again{how}. It writes the file again and asks "
        "no model."
    )

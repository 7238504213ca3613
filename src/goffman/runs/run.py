"""A run folder, while the one process that writes to it has it open."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goffman.console import command_line
from goffman.errors import GoffmanError, RunError, no_run
from goffman.instruments.types import CONTROL
from goffman.models.server_address import address_entry
from goffman.modes import asked_ids, of_asked
from goffman.os_support import hold
from goffman.runs.answers import (
    PHRASES,
    answers_folder,
    as_noted,
    columns_of,
    frame_in,
    parquet,
    read_chunks,
    verify_chunks,
)
from goffman.runs.files import Folder, disk_error
from goffman.runs.manifest import (
    Answered,
    Manifest,
    checksum,
    new_session,
    read_manifest,
    utc_now,
    with_answers,
    with_table,
    write_manifest,
)
from goffman.schemas import PROMPT_TABLE, complaints, prompt_table, schema

if TYPE_CHECKING:
    from goffman.instruments.types import AnswerTable, Prompt
    from goffman.runs.answers import AnswerStore
    from goffman.schemas import Column


@contextmanager
def locked(place: Path | Folder) -> Iterator[None]:
    """Lock the run's folder for this process while the block runs.

    The system releases the lock when the process ends, however it ends; the file stays and means
    nothing by itself (removing it could remove the lock of a process that has just started).
    """
    folder = Folder.of(place).path
    try:
        descriptor = Folder.of(place).append("lock")
    except OSError as error:
        raise RunError(
            f"goffman cannot write to {folder}: {error.strerror}. Give another folder with "
            "--output."
        ) from error
    try:
        try:
            hold(descriptor)
        except BlockingIOError:
            pid = os.read(descriptor, 20)
            holder = f"process {pid.decode()}" if pid.isdigit() else "another process"
            raise RunError(
                f"{folder} is in use by {holder}. Only one process can use a run at a time. Wait "
                "until it ends, or give another folder with --output."
            ) from None
        with disk_error(folder / "lock"):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        os.close(descriptor)


PROMPTS = "prompts.parquet"

PARAPHRASES = "paraphrases"
"""A run within the run: answers to wordings that are asked only on request. So without them the run
itself is the same to the byte."""

IDENTITIES = "identities"
"""A run within the run: answers about people of a second identity."""

WITHIN = (PARAPHRASES, IDENTITIES)
"""The runs that may be within a run."""

IDENTITY_SCORES = "identity-scores.parquet"

SAVE_EVERY = 10.0
"""Seconds between two writes of the manifest: a killed run may not have counted its last ones."""


class Run:
    """A run's folder, its manifest, and the session of this process, which begins when it asks."""

    def __init__(self, place: Folder, *, seed: int) -> None:
        self.place = place
        self._on_disk = read_manifest(self.folder)
        self.manifest = self._on_disk or Manifest()
        self._seed = seed
        self._command = command_line()
        self._wall, self._cpu = time.monotonic(), time.process_time()
        self._sentences = 0
        self._saved: float | None = None

    @property
    def folder(self) -> Path:
        """Return the run's folder."""
        return self.place.path

    def keep(self) -> None:
        """Write the manifest to disk if it changed."""
        if self.manifest != self._on_disk:
            write_manifest(self.place, self.manifest)
            self._on_disk = self.manifest

    def expect(self, model: str, instrument: str, *, table: AnswerTable) -> None:
        """Add an entry for a model's answers to the manifest, saved with the first question."""
        if instrument not in self.manifest.answers.get(model, {}):
            new_entry = Answered.begun(table)
            self.manifest = with_answers(
                self.manifest, model=model, instrument=instrument, entry=new_entry
            )

    def bind(self) -> None:
        """Write the manifest if the folder has none, because answers need it to be read."""
        if self._on_disk is None:
            self.keep()

    def begin(self) -> None:
        """Note in the manifest on disk that this session asks from now on."""
        if self._saved is None:
            session = new_session(self._seed, self._command)
            self.manifest = replace(self.manifest, sessions=(*self.manifest.sessions, session))
        self.save()

    def asked(self, sentences: int) -> None:
        """Count the sentences of a part that was written."""
        self._sentences += sentences
        if self._saved is not None and time.monotonic() - self._saved > SAVE_EVERY:
            self.save()

    def save(self, *, ended: bool = False) -> None:
        """Write the manifest to disk, with the time so far."""
        *earlier, session = self.manifest.sessions
        session = replace(
            session,
            ended=utc_now() if ended else None,
            wall_s=round(time.monotonic() - self._wall, 3),
            cpu_s=round(time.process_time() - self._cpu, 3),
            sentences=self._sentences,
        )
        self.manifest = replace(self.manifest, sessions=(*earlier, session))
        self.keep()
        self._saved = time.monotonic()

    def end(self) -> None:
        """Note in the manifest on disk that this session ended, if it asked."""
        if self._saved is not None:
            self.save(ended=True)


RUN_NAMES = {
    *("lock", "manifest.json", "answers", PROMPTS, "ratings"),
    *("scores.parquet", "estimates.parquet", "scores-shipped.parquet", "ratings-compared.parquet"),
    *("sensitivity.parquet", "anchors.parquet", "anchor-points.parquet"),
    *("multiverse.parquet", "stress.parquet"),
    *(*WITHIN, IDENTITY_SCORES, "report.html", "figures", "tables"),
}
"""The names of what a run folder holds."""


def check_place(folder: Path) -> None:
    """Raise RunError if a run in this folder would be among somebody's files."""
    # os.path says no to names that no system allows; Path fails.
    if os.path.exists(folder) and not os.path.isdir(folder):  # noqa: PTH110, PTH112
        raise RunError(f"{folder} is a file, not a folder. Give a folder with --output.")
    names = Folder(folder).names()
    other_names = [name for name in names if name not in RUN_NAMES and not name.startswith(".")]
    if other_names and "manifest.json" not in names:
        sample = ", ".join(other_names[:3]) + (" …" if len(other_names) > 3 else "")
        raise RunError(
            f"{folder} contains other files ({sample}) and no run. Give an empty or new folder "
            "with --output."
        )


@contextmanager
def open_run(folder: Path | Folder, *, seed: int = 0) -> Iterator[Run]:
    """Yield the run in the folder, new or continued; raise RunError if another process has it open.

    ``folder``: its path, or its place within another run, to which no link leads.
    """
    place = Folder.of(folder)
    try:
        place.make()
    except OSError as error:
        # The user must know of a link that leads nowhere, or of a name that is too long.
        if error.errno in (errno.EEXIST, errno.ENAMETOOLONG):
            place.names()
        raise RunError(
            f"The folder {place.path} cannot be created: {error.strerror}. Give another one with "
            "--output."
        ) from error
    with locked(place):
        place.sweep()
        run = Run(place, seed=seed)
        try:
            yield run
        except BaseException:
            # The user must read what went wrong first, not that the disk is still full.
            with suppress(GoffmanError):
                run.end()
            raise
        run.end()


def keep_prompts(run: Run, instrument: str, prompts: Sequence[Prompt]) -> None:
    """Write these prompts of the instrument to prompts.parquet, beside those of others."""
    new_prompts = prompt_table(prompts)
    old_content = run.place.read(PROMPTS)
    old_prompts, checksums = new_prompts.clear(), []
    if old_content is not None and run.manifest.knows(PROMPTS, old_content):
        with suppress(RunError):
            old_prompts = _table_in(run.folder / PROMPTS, old_content, PROMPT_TABLE)
            checksums = [checksum(old_content)]
    other_prompts = old_prompts.filter(~of_asked(instrument))
    table = pl.concat([other_prompts, new_prompts]).sort(asked_ids(), maintain_order=True)
    if table.equals(old_prompts):
        run.manifest = with_table(run.manifest, PROMPTS, *checksums)
        return
    # Whenever the process is killed, the manifest knows the file that is there.
    content = parquet(table)
    run.manifest = with_table(run.manifest, PROMPTS, *checksums, checksum(content))
    run.keep()
    run.place.write(PROMPTS, content)
    run.manifest = with_table(run.manifest, PROMPTS, checksum(content))


def read_prompts(run: Path, manifest: Manifest | None = None) -> pl.DataFrame:
    """Return the run's PROMPT_TABLE without control prompts; raise RunError if one is missing."""
    return _read_prompts(run, manifest).filter(~pl.col("is_control")).drop("is_control")


def read_controls(run: Path, manifest: Manifest | None = None) -> pl.DataFrame:
    """Return the run's prompts of control items; in all else as ``read_prompts``."""
    return _read_prompts(run, manifest).filter("is_control").drop("is_control")


def _read_prompts(run: Path, manifest: Manifest | None) -> pl.DataFrame:
    """Return all prompts, and whether each is a control's."""
    manifest = manifest or read_manifest(run) or Manifest()
    table = read_table(run, PROMPTS, PROMPT_TABLE, manifest=manifest)
    counts = dict(table.group_by(asked_ids().alias("asked")).len().rows())
    answered_ids = {name for model_answers in manifest.answers.values() for name in model_answers}
    for name in sorted(answered_ids & {*manifest.instruments}):
        if counts.get(name, 0) != manifest.instruments[name].asked:
            advice = _again(f" with --instrument {name}")
            raise RunError(f"{run / PROMPTS} does not have the prompts of {name}. {advice}")
    controlled = [name for name, entry in manifest.instruments.items() if entry.controls]
    is_control = (pl.col("condition") == CONTROL) & (pl.col("group") == CONTROL)
    return table.with_columns(is_control=is_control & asked_ids().is_in(controlled))


def read_table(
    run: Path,
    name: str,
    columns: Sequence[Column],
    *,
    manifest: Manifest,
    missing: str = "",
    damaged: str = "damaged or edited after goffman wrote it",
) -> pl.DataFrame:
    """Return a table of the run; raise RunError if it is not there as goffman wrote it."""
    content = Folder(run).read(name)
    if content is None:
        raise RunError(f"{run / name} is missing{missing}. {_again()}")
    if not manifest.knows(name, content):
        raise RunError(f"{run / name} was {damaged}. {_again()}")
    return _table_in(run / name, content, columns)


def _table_in(path: Path, content: bytes, columns: Sequence[Column]) -> pl.DataFrame:
    try:
        frame = frame_in(content)
    except pl.exceptions.PolarsError as error:
        raise RunError(f"{path} cannot be read ({type(error).__name__}). {_again()}") from error
    if problems := "; ".join(complaints(frame, columns)):
        raise RunError(f"{path} was written by another version of goffman ({problems}). {_again()}")
    return frame


def _again(how: str = "") -> str:
    return (
        f"Run the goffman audit command of this run again{how}. It writes the file again and asks "
        "no model."
    )


def default_folder(models: Sequence[str]) -> Path:
    """Return runs/NAMES, made from the models' names without folders and addresses."""
    joined = "+".join(map(_folder_name, models))
    if len(joined) > 80:
        joined = f"{joined[:70]}-{_digest(joined)}"
    return Path("runs") / joined


def _folder_name(model: str) -> str:
    model = address_entry(model).get("asked_as", model)
    # os.path.isdir returns False for names that no system allows; Path.is_dir raises.
    name = Path(model).resolve().name if os.path.isdir(model) else model  # noqa: PTH112
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name).strip("-.")
    # A name in another script has no letters left.
    return slug or f"model-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def read_answers(
    run: Path,
    table: AnswerTable,
    *,
    model: str | None = None,
    instrument: str | None = None,
    prompts: pl.Series | None = None,
    phrases: bool = False,
) -> pl.DataFrame:
    """Return all rows of a table of answers, such as "fills".

    Raise RunError if some are missing or damaged.

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
        for instrument_id in sorted(manifest.answers.get(name, {})):
            entry = manifest.answers[name][instrument_id]
            is_chosen = model in {None, name} and instrument in {None, instrument_id}
            if entry.table == table and is_chosen:
                folder = answers_folder(run, table, model=name, instrument=instrument_id)
                store = verify_chunks(folder, model=name, clear=False)
                _check(store, entry, model=name, instrument=instrument_id)
                stored = sorted(store.parts.items())
                parts = [part for (step, _), part in stored if (step == PHRASES) == phrases]
                frames.append(read_chunks(folder, parts, table, prompts=prompts))
    return pl.concat(frames)


def check_answers(run: Path, manifest: Manifest) -> None:
    """Raise RunError if answers differ from the manifest, in the run or in runs within it."""
    for model, model_answers in manifest.answers.items():
        for instrument, entry in model_answers.items():
            asked: dict[str, str] = {"model": model, "instrument": instrument}
            # Without ``parts`` the model is not finished, and no number depends on its answers.
            if entry.parts is None or is_stored(run, entry, **asked):
                continue
            folder = answers_folder(run, entry.table, **asked)
            _check(verify_chunks(folder, model=model, clear=False), entry, **asked)
    for name in WITHIN:
        if (within := read_manifest(run / name)) is not None:
            check_answers(run / name, within)


def is_stored(run: Path, entry: Answered, *, model: str, instrument: str) -> bool:
    """Return whether the stored parts have the number and checksum of the manifest's entry."""
    folder = answers_folder(run, entry.table, model=model, instrument=instrument)
    return as_noted(folder, parts=entry.parts, sha256=entry.sha256)


def _check(store: AnswerStore, entry: Answered, *, model: str, instrument: str) -> None:
    """Raise RunError if the stored parts are not those of the manifest's entry."""
    count = len(store.parts)
    if count != entry.parts:
        faults = [f"{', '.join(store.damaged)} damaged"] if store.damaged else []
        faults += [f"{', '.join(store.foreign)} by another model"] if store.foreign else []
        parts = entry.parts or "an unknown number of"
        fault = f"has {count} of {parts} parts" + (f" ({'; '.join(faults)})" if faults else "")
    elif entry.sha256 != store.sha256:
        fault = "does not have the parts that were written"
    else:
        return
    raise RunError(
        f"{store.folder.path} {fault}, so answers of {model} to {instrument} are missing. Run the "
        f"goffman audit command with {model} again: it asks only what is missing."
    )

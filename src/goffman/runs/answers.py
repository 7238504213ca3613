"""The answers of a run, in parts (files), each of which is whole or absent.

A part's name contains its checksum, so that both appear in one rename, and a digest of the model
and what it was asked, so that answers are never taken for those of another model or to other
sentences.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from goffman.errors import AskingError, RunError
from goffman.models.base import Reply
from goffman.runs.files import Folder, append_whole, disk_error
from goffman.schemas import CHOICES, FILLS, LABELS, LIKELIHOODS, REPLIES, Column, complaints
from goffman.validation import check_types, fits

if TYPE_CHECKING:
    import polars as pl

    from goffman.instruments.types import AnswerTable


PART = re.compile(r"(\d+)-(\d{5})-([0-9a-f]{16})-([0-9a-f]{64})\.parquet")
"""A part's name: step, number, digest of the model and what it was asked, sha256 of its bytes."""

PHRASES = 0
"""The step whose parts hold the tokens of conditions' phrases; these answer no prompt."""

MAX_PARTS = 100_000
"""Numbers of a step's parts are below this: they have five digits."""

ONLY_PART = (1, 0)
"""Step and number of the only part, if answers are made from replies once all of these exist."""


class AnswerChunk(NamedTuple):
    """A file of answers."""

    name: str
    rows: int

    @property
    def asked(self) -> str:
        """Return the digest of the model and what it was asked."""
        return self.name.split("-")[2]


@dataclass(frozen=True, kw_only=True)
class AnswerStore:
    """The sound parts of one model's answers to one instrument."""

    folder: Folder
    parts: dict[tuple[int, int], AnswerChunk]
    """Parts by step and number."""
    damaged: tuple[str, ...] = ()
    """Names of the files whose bytes are not those that were written."""
    foreign: tuple[str, ...] = ()
    """Names of the files whose rows are another model's."""

    @property
    def sha256(self) -> str:
        """Return the sha256 of the parts' names, which contain the checksums of their bytes."""
        return _names_sha256(part.name for part in self.parts.values())

    @property
    def rows(self) -> int:
        """Return the number of rows of all parts that answer prompts."""
        return sum(part.rows for (step, _), part in self.parts.items() if step != PHRASES)

    def is_whole(self, *, asked: str) -> bool:
        """Return whether the only stored part has all answers, and the digest ``asked``."""
        return list(self.parts) == [ONLY_PART] and self.parts[ONLY_PART].asked == asked

    def write_whole(self, frame: pl.DataFrame, *, asked: str) -> None:
        """Write all answers to disk as one part and remove all other parts."""
        for part in self.parts.values():
            self.folder.remove(part.name)
        self.parts.clear()
        self.parts[ONLY_PART] = write_chunk(self.folder, ONLY_PART, frame, asked=asked)


def columns_of(table: AnswerTable) -> tuple[Column, ...]:
    """Return the columns of a table of answers."""
    return {
        "fills": FILLS,
        "labels": LABELS,
        "likelihoods": LIKELIHOODS,
        "choices": CHOICES,
        "replies": REPLIES,
    }[table]


def slug(name: str) -> str:
    """Return a model's folder name, which is readable and differs between models."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[-60:]
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def answers_folder(
    run: Path | Folder, table: AnswerTable, *, model: str, instrument: str
) -> Folder:
    """Return the folder of a model's answers to an instrument."""
    return Folder.of(run) / "answers" / table / slug(model) / instrument.replace("/", ".")


def parquet(frame: pl.DataFrame) -> bytes:
    """Return the frame as a Parquet file; the same frame gives the same bytes."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=3, statistics=False)
    return buffer.getvalue()


def frame_in(content: bytes, *, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the frame in a Parquet file's content; raise PolarsError if there is none."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(content), columns=columns)


def write_chunk(
    folder: Folder, key: tuple[int, int], frame: pl.DataFrame, *, asked: str
) -> AnswerChunk:
    """Write the part (step, number) to disk and return it.

    ``asked``: the digest of the model and what it was asked.
    """
    content = parquet(frame)
    step, number = key
    name = f"{step}-{number:05d}-{asked}-{hashlib.sha256(content).hexdigest()}.parquet"
    folder.write(name, content)
    return AnswerChunk(name, frame.height)


def verify_chunks(folder: Folder, *, model: str, clear: bool) -> AnswerStore:
    """Return the parts whose bytes match their names and whose rows are only of this model.

    ``clear``: remove all other parts, so that they are asked again. A file without the name of a
    part is left alone.
    """
    parts: dict[tuple[int, int], AnswerChunk] = {}
    damaged, foreign = [], []
    for name in folder.names():
        match = PART.fullmatch(name)
        if match is None:
            continue
        content = folder.read(name) or b""
        key = (int(match[1]), int(match[2]))
        if key in parts or hashlib.sha256(content).hexdigest() != match[4]:
            damaged.append(name)
        elif (rows := _rows_of(model, content)) is None:
            foreign.append(name)
        else:
            parts[key] = AnswerChunk(name, rows)
            continue
        if clear:
            folder.remove(name)
    return AnswerStore(folder=folder, parts=parts, damaged=tuple(damaged), foreign=tuple(foreign))


def _names_sha256(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()


def as_noted(folder: Folder, *, parts: int | None, sha256: str | None) -> bool:
    """Return whether the folder's parts have the number and checksum of a manifest's entry."""
    matches = [match for match in map(PART.fullmatch, folder.names()) if match]
    if (len(matches), _names_sha256(match[0] for match in matches)) != (parts, sha256):
        return False
    return all(
        hashlib.sha256(folder.read(match[0]) or b"").hexdigest() == match[4] for match in matches
    )


def _rows_of(model: str, content: bytes) -> int | None:
    """Return the number of rows of a part; None if it is damaged or has rows of another model."""
    import polars as pl

    try:
        models = frame_in(content, columns=["model"])["model"]
    except pl.exceptions.PolarsError:
        return None
    return len(models) if models.unique().to_list() in ([model], []) else None


def drop_stale(
    store: AnswerStore, *, step: int, asked: Mapping[int, str], numbers: range = range(MAX_PARTS)
) -> int:
    """Remove the parts of a step whose digests are not ``asked``; return how many."""
    # A copy: another thread may be adding a part.
    step_keys = [key for key in [*store.parts] if key[0] == step and key[1] in numbers]
    stale = [key for key in step_keys if store.parts[key].asked != asked.get(key[1])]
    for key in stale:
        store.folder.remove(store.parts.pop(key).name)
    return len(stale)


def read_chunks(
    folder: Folder,
    parts: Iterable[AnswerChunk],
    table: AnswerTable,
    *,
    prompts: pl.Series | None = None,
) -> pl.DataFrame:
    """Return the rows of the parts in their order, with exactly the table's columns.

    ``prompts``: keep only answers to these. Parts are filtered one by one, because all rows at once
    would be in memory twice.
    """
    import polars as pl

    from goffman.schemas import schema

    columns = columns_of(table)
    frames = [pl.DataFrame(schema=schema(columns))]
    for part in parts:
        content = folder.read(part.name)
        if content is None:
            raise RunError(f"{folder.path / part.name} was deleted while the run was read.")
        frames.append(frame_in(content))
        if problems := complaints(frames[-1], columns):
            raise RunError(f"{folder.path} does not contain {table}: {'; '.join(problems)}.")
        if prompts is not None:
            frames[-1] = frames[-1].filter(pl.col("prompt_id").is_in(prompts.implode()))
    return pl.concat(frames)


NAME = "journal"
"""The name of the journal, which lies beside the parts that are made from it."""

SYNC_S = 0.05
"""Seconds for which lines are gathered before they are synced to the disk."""

DIGITS = 16
"""How many digits of a line's sha256 stand before it."""


class Line(NamedTuple):
    """The content of one line: which model answered which question, and how."""

    key: str
    """The key of the question's text."""
    trial: int
    reply: Reply
    setup: str = ""
    """A hash of the model and how it was asked: see ``setup_digest``."""


def key_of(text: str) -> str:
    """Return the key of a question in the journal."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Journal:
    """A journal that is open for writing; one sync to the disk covers many replies."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._written = threading.Event()
        self._ending = False
        self._line = threading.Lock()
        self._failure: OSError | None = None
        self._syncing = threading.Thread(target=self._sync, daemon=True)
        self._syncing.start()

    def add(self, line: Line) -> None:
        """Write a line that survives the end of this process; a later sync puts it on the disk.

        Raise AskingError if the disk fails, or if the journal has ended.
        """
        with self._line, disk_error(self._path):
            # A user who stops twice does not wait for open requests: the descriptor may soon be
            # that of another file, into which no reply may come.
            if self._ending:
                raise AskingError(f"{self._path} is closed: a reply came after the end.")
            self._check_disk()
            append_whole(self._descriptor, line_of(line))
        self._written.set()

    def end(self) -> None:
        """Sync all lines to the disk; later calls of ``add`` raise AskingError."""
        with self._line:
            self._ending = True
        self._written.set()
        self._syncing.join()
        with disk_error(self._path):
            self._check_disk()
            os.fsync(self._descriptor)

    def _sync(self) -> None:
        pause = threading.Event()
        while not self._ending:
            self._written.wait()
            self._written.clear()
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                self._failure = error
                return
            if not self._ending:
                pause.wait(SYNC_S)

    def _check_disk(self) -> None:
        if self._failure is not None:
            raise self._failure


@contextmanager
def open_journal(folder: Folder) -> Iterator[Journal]:
    """Yield the journal in the folder, new or continued; the caller holds the run's lock."""
    path = folder.path / NAME
    with disk_error(path):
        descriptor = folder.append(NAME)
    try:
        with disk_error(path):
            _cut_torn_line(descriptor)
        journal = Journal(path, descriptor)
        try:
            yield journal
        except BaseException:
            # The user must read what went wrong first.
            with suppress(Exception):
                journal.end()
            raise
        journal.end()
    finally:
        os.close(descriptor)


def read_journal(folder: Folder) -> Iterator[Line | None]:
    """Yield the journal line by line; None for a line that was damaged.

    Raise RunError for a line whose checksum is right, but that this goffman cannot have written.
    """
    file = folder.opened(NAME)
    if file is None:
        return
    with file:
        for number, content in enumerate(file, start=1):
            try:
                line = _line_in(content)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise RunError(
                    f"{folder.path / NAME}, line {number}, was edited, or a later goffman wrote it "
                    f"({type(error).__name__}: {error}). Use that goffman, or remove the line: its "
                    "question is then asked again."
                ) from error
            yield line


def line_of(line: Line) -> bytes:
    """Return the line as it stands in the file."""
    entry = {"asker": line.setup, "key": line.key, "trial": line.trial, **asdict(line.reply)}
    content = json.dumps(entry, separators=(",", ":")).encode()
    return b"%s %s\n" % (_checksum(content), content)


def _line_in(content: bytes) -> Line | None:
    checksum, _, payload = content.rstrip(b"\n").partition(b" ")
    if not content.endswith(b"\n") or _checksum(payload) != checksum:
        return None
    fields: dict[str, Any] = json.loads(payload)
    setup, key, trial = fields.pop("asker"), fields.pop("key"), fields.pop("trial")
    reply = Reply(**fields)
    check_types(reply)
    if not fits((key, setup, trial), tuple[str, str, int]):
        raise ValueError(f"{key!a}, {setup!a} and {trial!a} are no question")
    if reply.next_words is not None:
        tokens = json.loads(reply.next_words)
        well_formed = fits(tokens, Sequence[tuple[str, Sequence[tuple[str, float]]]])
        if (
            not well_formed
            or not tokens
            or any(log > 0 for _, rivals in tokens for _, log in rivals)
        ):
            raise ValueError("next_words has no tokens with log-probabilities")
    return Line(key, trial, reply, setup)


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest()[:DIGITS].encode()


def _cut_torn_line(descriptor: int) -> None:
    """Cut off what a killed process left half written, so that the file ends with a whole line."""
    size = os.fstat(descriptor).st_size
    end = size
    while end > 0:
        start = max(0, end - 65536)
        position = os.pread(descriptor, end - start, start).rfind(b"\n")
        if position >= 0:
            end = start + position + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)

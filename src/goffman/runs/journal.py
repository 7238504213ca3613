"""The journal of replies: each is on disk before it counts, as one line with its checksum.

A line that the process has written outlives it, however it ends; a power cut may lose the last.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from goffman.errors import AskingError, RunError
from goffman.models.base import Reply
from goffman.runs.files import Folder, disk_error
from goffman.validation import check_types, fits

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
    asker: str = ""
    """A hash of the model and how it was asked."""


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
        """Write a line that outlives the process.

        Raise AskingError if the disk fails, or if the journal has ended.
        """
        content = line_of(line)
        with self._line, disk_error(self._path):
            # A user who stops twice does not wait for open requests: the descriptor may soon be
            # that of another file, into which no reply may come.
            if self._ending:
                raise AskingError(f"{self._path} is closed: a reply came after the end.")
            self._check_disk()
            size = os.fstat(self._descriptor).st_size
            try:
                while content:
                    content = content[os.write(self._descriptor, content) :]
            except OSError:
                # Half a line must not stay before the next one.
                with suppress(OSError):
                    os.ftruncate(self._descriptor, size)
                raise
        self._written.set()

    def end(self) -> None:
        """Sync every line to the disk, and take no more."""
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
    entry = {"asker": line.asker, "key": line.key, "trial": line.trial, **asdict(line.reply)}
    content = json.dumps(entry, separators=(",", ":")).encode()
    return b"%s %s\n" % (_checksum(content), content)


def _line_in(content: bytes) -> Line | None:
    checksum, _, payload = content.rstrip(b"\n").partition(b" ")
    if not content.endswith(b"\n") or _checksum(payload) != checksum:
        return None
    fields: dict[str, Any] = json.loads(payload)
    asker, key, trial = fields.pop("asker"), fields.pop("key"), fields.pop("trial")
    reply = Reply(**fields)
    check_types(reply)
    if not fits((key, asker, trial), tuple[str, str, int]):
        raise ValueError(f"{key!a}, {asker!a} and {trial!a} are no question")
    if reply.next_words is not None:
        tokens = json.loads(reply.next_words)
        well_formed = fits(tokens, Sequence[tuple[str, Sequence[tuple[str, float]]]])
        if (
            not well_formed
            or not tokens
            or any(log > 0 for _, rivals in tokens for _, log in rivals)
        ):
            raise ValueError("next_words has no tokens with log-probabilities")
    return Line(key, trial, reply, asker)


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

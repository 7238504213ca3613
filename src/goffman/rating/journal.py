"""A rater's journal: every key press is a line, saved to disk before the page is told so.

RUN/ratings/<rater>.jsonl has one JSON object on each line: ``do`` is rate, skip, undo or note.
Lines are only ever added, so that a killed process or a power cut can tear at most the last one. A
torn line was never confirmed to anyone, and is removed when the journal is opened again. Ratings
are private: only the owner of the file can read it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from goffman.errors import AskingError, InputError, LexiconError
from goffman.instruments.files import LARGEST_TABLE, Faults
from goffman.instruments.types import Attitude
from goffman.lexicons.attitude import ATTITUDES
from goffman.os_support import hold
from goffman.runs.files import FULL, Folder, disk_error, make_folder

Action = Literal["rate", "skip", "undo", "note"]
ACTIONS: tuple[Action, ...] = get_args(Action)

RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""Allowed names of raters: they are used as names of files."""

SETTLED = "settled"
"""The name of the journal for settled disagreements; no rater may have this name."""

HEAD = b'{"at": "'
"""How each line begins."""

LONGEST_NOTE = 2_000
"""In characters."""


class Unit(NamedTuple):
    """The unit that one rating applies to."""

    word: str
    """Stripped and case-folded."""
    item: str = ""
    """Empty: the rating applies in every item."""
    wording: str = ""
    """Empty: the rating applies in every wording."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One key press."""

    do: Action
    unit: Unit | None = None
    """None for undo."""
    label: Attitude | None = None
    """Only for rate."""
    note: str = ""
    """Only for note."""

    def line(self) -> bytes:
        """Return the event as a line of a journal."""
        entry: dict[str, str] = {"at": datetime.now(UTC).isoformat(timespec="seconds")}
        entry |= {"do": self.do}
        if self.unit is not None:
            entry |= {name: value for name, value in self.unit._asdict().items() if value}
        if self.do == "rate":
            entry["label"] = str(self.label)
        if self.do == "note":
            entry["note"] = self.note
        return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


class Record:
    """A rater's ratings, skips and notes so far."""

    def __init__(self) -> None:
        self._done: list[Event] = []
        self.notes: dict[Unit, str] = {}

    def take(self, event: Event) -> None:
        """Record the event; undo removes the last rating or skip that still counts."""
        if event.do == "undo":
            if self._done:
                self._done.pop()
        elif event.do == "note" and event.unit is not None:
            self.notes[event.unit] = event.note
        else:
            self._done.append(event)

    @property
    def labels(self) -> dict[Unit, Attitude]:
        """Return the label of every unit that is rated; the last label counts."""
        return {event.unit: event.label for event in self._done if event.unit and event.label}

    @property
    def skips(self) -> Counter[Unit]:
        """Return how often each unit was skipped."""
        return Counter(event.unit for event in self._done if event.unit and event.do == "skip")

    @property
    def last(self) -> Event | None:
        """Return the event that undo would remove."""
        return self._done[-1] if self._done else None


class Journal:
    """A journal that is open for writing; ``record`` is its content."""

    def __init__(self, path: Path, descriptor: int, record: Record) -> None:
        self.path = path
        self.record = record
        self._descriptor = descriptor

    def add(self, event: Event) -> None:
        """Write the event to disk; raise AskingError if that fails."""
        size = os.fstat(self._descriptor).st_size
        try:
            line = event.line()
            while line:
                line = line[os.write(self._descriptor, line) :]
            os.fsync(self._descriptor)
        except OSError as error:
            # Half a line must not stay before the next one. If even this fails, the first error is
            # the one to report.
            with suppress(OSError):
                os.ftruncate(self._descriptor, size)
            what = "the disk is full" if error.errno in FULL else "the disk failed"
            raise AskingError(
                f"Not saved: {what} ({self.path}: {error.strerror}). All earlier ratings are "
                "kept. Check the disk, then press the key again."
            ) from error
        self.record.take(event)


@contextmanager
def open_journal(path: Path, *, run: Path | None = None) -> Iterator[Journal]:
    """Yield the journal at the path, new or continued; raise InputError if another process has it.

    ``run``: the run folder that the path is in, below which no link is followed.
    """
    with disk_error(path):
        make_folder(run or path.parent)
        descriptor = Folder.at(path.parent, run=run).append(path.name, rights=0o600)
    try:
        try:
            hold(descriptor)
        except BlockingIOError:
            raise InputError(
                f"{path} is open in another process. End that process with Ctrl-C, or rate under "
                "another name with --rater."
            ) from None
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read()
        whole = _without_torn_line(path, content)
        record = _record(path, whole)
        with disk_error(path):
            with suppress(PermissionError):
                os.fchmod(descriptor, 0o600)
            if len(whole) < len(content):
                os.ftruncate(descriptor, len(whole))
            elif whole and not whole.endswith(b"\n"):
                os.write(descriptor, b"\n")
            os.fsync(descriptor)
        yield Journal(path, descriptor, record)
    finally:
        os.close(descriptor)


def read_journal(path: Path) -> Record:
    """Return a journal's content, even if it is open elsewhere; leave out a line being written."""
    content = Folder(path.parent).read(path.name)
    if content is None:
        raise InputError(f"{path} cannot be read: there is no such file.")
    return _record(path, _without_torn_line(path, content))


def check_rater(name: str) -> str:
    """Return the name; raise InputError if it cannot be a rater's."""
    if not RATER.fullmatch(name) or name == SETTLED:
        raise InputError(
            f"--rater is '{name}'. Allowed: up to 40 letters (a–z), digits, dots, hyphens or "
            f"underscores. It must begin with a letter or digit, and it cannot be '{SETTLED}'. "
            "You can use a pseudonym."
        )
    return name


def parse_event(told: Mapping[str, Any]) -> Event:
    """Return the event of a JSON object; raise ValueError with what is wrong with it."""
    do = _one_of(told, "do", ACTIONS)
    if do == "undo":
        return Event(do="undo")
    texts = {name: told.get(name, "") for name in (*Unit._fields, "note")}
    for name in [name for name, text in texts.items() if not isinstance(text, str)]:
        raise ValueError(f"{name} is {_shown(texts[name])}; it must be text.")
    unit = Unit(*(texts[name] for name in Unit._fields))
    if not unit.word:
        raise ValueError("word is missing or empty.")
    label = _one_of(told, "label", ATTITUDES) if do == "rate" else None
    note = " ".join(texts["note"].split()) if do == "note" else ""
    if len(note) > LONGEST_NOTE:
        raise ValueError(f"note has {len(note):,} characters. Allowed: up to {LONGEST_NOTE:,}.")
    return Event(do=cast("Action", do), unit=unit, label=cast("Attitude | None", label), note=note)


def _one_of(told: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    value = told.get(name)
    if isinstance(value, str) and value in allowed:
        return value
    shown = "missing" if name not in told else _shown(value)
    raise ValueError(f"{name} is {shown}. Allowed: {', '.join(allowed)}.")


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deep"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _without_torn_line(path: Path, content: bytes) -> bytes:
    """Return the content up to its last whole line; a last line that only lacks its end is whole.

    A last line that does not begin like a journal's was not torn from one: it stays, and is
    reported as a fault. Raise InputError if the content is larger than any rater's.
    """
    if len(content) > LARGEST_TABLE:
        raise InputError(f"{path} has {len(content):,} bytes. Allowed: up to {LARGEST_TABLE:,}.")
    end = content.rfind(b"\n") + 1
    # A power cut may leave zeros in the place of a line.
    torn = content[end:].rstrip(b"\0")
    try:
        _event_of(content[end:])
    except ValueError:
        from_journal = torn.startswith(HEAD) or HEAD.startswith(torn)
        return content[:end] if from_journal else content
    return content


def _event_of(line: bytes) -> Event:
    try:
        entry = json.loads(line)
    # RecursionError: lists nested too deeply.
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise ValueError("this line is not a JSON object, so goffman did not write it.")  # noqa: TRY004
    return parse_event(entry)


def _record(path: Path, content: bytes) -> Record:
    record = Record()
    faults = Faults()
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            record.take(_event_of(line))
        except ValueError as error:
            faults.add(path.name, number, str(error))
    if faults.found:
        raise LexiconError(str(path), faults.found)
    return record

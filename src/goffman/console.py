"""The command that this process carries out, as a run's manifest keeps it: without secrets."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

from goffman.progress import AuditProgress, Progress

if TYPE_CHECKING:
    from rich.progress import TaskID

    from goffman.progress import Expected


HIDDEN = "***"

_COMMAND: ContextVar[str | None] = ContextVar("command", default=None)

_IN_ADDRESSES = (
    (re.compile(r"(?<=://)[^?#]*@"), f"{HIDDEN}@"),
    (re.compile(r"(?<=[?&])([^=&#]*)=[^&#]*"), rf"\1={HIDDEN}"),
)
"""In addresses: a user name with its password, and the values of a query."""

_KEYS = re.compile(r"\b(?:sk-|hf_|gsk_|xai-)[\w-]{16,}")
"""Keys in the form that servers give them, wherever somebody put one."""


def command_line() -> str | None:
    """Return the command with its arguments; None: goffman was called from Python."""
    return _COMMAND.get()


@contextmanager
def commanded(words: Sequence[str]) -> Iterator[None]:
    """Set goffman's command to these arguments while the block runs."""
    token = _COMMAND.set(shlex.join(["goffman", *map(without_secrets, words)]))
    try:
        yield
    finally:
        _COMMAND.reset(token)


def without_secrets(word: str) -> str:
    """Return the argument with passwords, and all that may be a key, made unreadable."""
    if "://" in word:
        for secret, replacement in _IN_ADDRESSES:
            word = secret.sub(replacement, word)
    return _KEYS.sub(HIDDEN, word)


class Format(StrEnum):
    """The formats in which rows are written."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"
    JSON = "json"


class GateFormat(StrEnum):
    """The formats in which the outcomes of a gate are written."""

    TEXT = "text"
    JUNIT = "junit"
    GITHUB = "github"
    JSON = "json"
    MARKDOWN = "markdown"


def format_for(output: Path | None) -> Format:
    """Return the format for a file's ending: CSV by default, a table for the terminal (None)."""
    if output is None:
        return Format.TABLE
    by_ending = {".jsonl": Format.JSONL, ".json": Format.JSON}
    return by_ending.get(output.suffix.lower(), Format.CSV)


def cache_folder(environment: Mapping[str, str], platform: str) -> Path:
    """Return the folder where goffman keeps what it fetched for this user."""
    if platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    elif platform == "win32":
        cache = Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        cache = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "goffman"


def models_folder(environment: Mapping[str, str], platform: str) -> Path:
    """Return the folder of fetched models on this machine."""
    return cache_folder(environment, platform) / "models"


_UNSEEN = re.compile(r"[^\n -~]")


def json_text(value: object, *, indent: int | None = 1) -> str:
    """Return the value as JSON, with visible characters as they are and all others escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return _UNSEEN.sub(
        lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text
    )


def rows_text(rows: Sequence[Mapping[str, object]], style: Format) -> str:
    """Return the rows unrounded, as one JSON object, JSON line or CSV record each."""
    if style is Format.JSON:
        return json_text(rows) + "\n"
    if style is Format.JSONL:
        return "".join(json_text(row, indent=None) + "\n" for row in rows)
    return csv_lines(rows, list(rows[0]))


def csv_lines(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Return the rows as CSV under the names of these columns; a missing value is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def printable(text: str) -> str:
    """Return the text with each character that is not visible or a space as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def say(*lines: str) -> None:
    """Tell the user something on standard error, line by line, with control characters escaped."""
    for line in lines:
        print(printable(line), file=sys.stderr, flush=True)


def count_of(number: int, noun: str) -> str:
    """Return a count with its noun and verb, such as “1 row is” or “2 rows are”."""
    return f"1 {noun} is" if number == 1 else f"{number:,} {noun}s are"


def table_text(
    rows: Sequence[Mapping[str, object]], columns: Sequence[str], *, whole: int = 0
) -> str:
    """Return rows as a table that fits the terminal; the first ``whole`` columns are not broken."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, column in enumerate(columns):
        numeric = bool(rows) and isinstance(rows[0][column], int)
        table.add_column(
            Text(printable(column)),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=place < whole,
        )
    for row in rows:
        cells = [
            f"{value:,}" if isinstance(value, int) else str(value)
            for value in ("" if row[column] is None else row[column] for column in columns)
        ]
        table.add_row(*(Text(printable(cell)) for cell in cells))
    text = io.StringIO()
    console = Console(file=text, width=max(shutil.get_terminal_size((120, 24)).columns, 60))
    console.print(table)
    return "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())


class ProgressLines:
    """A bar with speed and end for a whole audit; without a terminal, a line now and then."""

    SHORTEST, LONGEST = 30.0, 600.0
    """Seconds between two lines without a terminal: a line for each tenth, not more often than the
    first, nor less often than the second."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as Bars

        self._stream = stream
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=12),
            TaskProgressColumn(),
            TextColumn("{task.fields[speed]}", markup=False),
            console=Console(file=stream),
            disable=not stream.isatty(),
            transient=True,
        )
        self._audit = AuditProgress()
        self._task: TaskID | None = None
        self._tenth, self._printed = 0, time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def note(self, text: str) -> None:
        """Print a text above the bar."""
        # In a log a line is a line; a terminal would break it within a word.
        self._bars.console.print(
            printable(text),
            markup=False,
            emoji=False,
            highlight=False,
            soft_wrap=self._bars.disable,
        )

    def expect(self, expected: Expected) -> None:
        """Show what is about to be asked."""
        self._audit = AuditProgress(expected)
        if self._bars.disable and expected:
            prompts, models = self._audit.total, len({model for model, _ in expected})
            print(
                f"Asking {models} model{'' if models == 1 else 's'} about {prompts:,} sentences.",
                file=self._stream,
                flush=True,
            )

    def stage(self, text: str) -> None:
        """Show what is done after the asking."""
        if self._bars.disable:
            print(f"{text}.", file=self._stream, flush=True)
            return
        self._update(text, total=None, speed="")

    def show(self, progress: Progress) -> None:
        """Show how far the audit is."""
        audit = self._audit
        audit.add(progress)
        if not self._bars.disable:
            self._update(str(audit), total=audit.total, completed=audit.done, speed=audit.speed)
            return
        now, tenth = time.monotonic(), int(audit.share * 10)
        passed = now - self._printed
        if (tenth > self._tenth and passed >= self.SHORTEST) or passed >= self.LONGEST:
            self._tenth, self._printed = tenth, now
            parts = [f"{audit.share:.0%}: {audit}", *filter(None, [audit.speed])]
            print(printable(", ".join(parts)), file=self._stream, flush=True)

    def _update(self, what: str, **fields: Any) -> None:
        what = textwrap.shorten(printable(what), 34, placeholder="…")
        if self._task is None:
            self._task = self._bars.add_task(what, **fields)
        else:
            self._bars.update(self._task, description=what, **fields)


@contextmanager
def counting(stream: TextIO, what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many of a total are done."""
    with ProgressLines(stream) as lines:
        yield lambda done, total: lines.show(
            Progress(model="", instrument=what, step=1, steps=1, done=done, total=total)
        )

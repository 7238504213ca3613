"""Terminal output: tables, progress lines, safe text, files that are whole or as they were."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Self, TextIO

from goffman.errors import InputError

if TYPE_CHECKING:
    from rich.progress import TaskID

    from goffman.progress import Progress


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"
    JSON = "json"


class GateFormat(StrEnum):
    """How the outcomes of a gate are written."""

    TEXT = "text"
    JUNIT = "junit"
    GITHUB = "github"
    JSON = "json"
    MARKDOWN = "markdown"


def format_for(output: Path | None) -> Format:
    """The format that a file's name asks for; CSV for any other file, a table for the terminal."""
    if output is None:
        return Format.TABLE
    by_ending = {".jsonl": Format.JSONL, ".json": Format.JSON}
    return by_ending.get(output.suffix.lower(), Format.CSV)


def cache_folder(environment: Mapping[str, str], platform: str) -> Path:
    """Where goffman keeps what it fetched for this user."""
    if platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    elif platform == "win32":
        cache = Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        cache = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "goffman"


def models_folder(environment: Mapping[str, str], platform: str) -> Path:
    """Where fetched models lie on this machine."""
    return cache_folder(environment, platform) / "models"


_UNSEEN = re.compile(r"[^\n -~]")


def json_text(value: object, *, indent: int | None = 1) -> str:
    """The value as JSON in which all that can be seen is as it is, and all else an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return _UNSEEN.sub(
        lambda one: one[0] if one[0].isprintable() else json.dumps(one[0])[1:-1], text
    )


def rows_text(rows: Sequence[Mapping[str, object]], style: Format) -> str:
    """Rows to the letter: one object, line or record each."""
    if style is Format.JSON:
        return json_text(rows) + "\n"
    if style is Format.JSONL:
        return "".join(json_text(row, indent=None) + "\n" for row in rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_output(path: Path, text: str) -> None:
    """Write a file that the user named, whole or not at all; InputError where that fails.

    What a link points to is written, with the rights it had; a device or a pipe is written to.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8", newline="")
            return
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        _replace(target, text)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is a link to itself"
        raise InputError(f"{path} cannot be written: {reason}.") from error


def _replace(target: Path, text: str) -> None:
    umask = os.umask(0)
    os.umask(umask)
    rights = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~umask
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".goffman-")
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        unfinished.chmod(rights)
        unfinished.replace(target)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def printable(text: str) -> str:
    """The text with everything that is not a visible sign or a space written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


def say(*lines: str) -> None:
    """Tell the user something beside the output, line by line, with nothing that plays tricks."""
    for line in lines:
        print(printable(line), file=sys.stderr, flush=True)


def count_of(number: int, noun: str) -> str:
    """A number of things in a sentence that says they are there."""
    return f"1 {noun} is" if number == 1 else f"{number:,} {noun}s are"


def table_text(
    rows: Sequence[Mapping[str, object]], columns: Sequence[str], *, whole: int = 0
) -> str:
    """Rows as a table that fits the terminal; ``whole``: so many first columns are not broken."""
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


@contextmanager
def counting(stream: TextIO, what: str) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how many of how many are done: a bar, or lines without a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars = Bars(*columns, console=Console(file=stream), disable=not stream.isatty())
    task = bars.add_task(what, total=None)
    printed, unsaid = -ProgressLines.EVERY, ""

    def show(done: int, of: int) -> None:
        nonlocal printed, unsaid
        bars.update(task, completed=done, total=of)
        now, unsaid = time.monotonic(), f"{done:,} of {of:,} {what}"
        if bars.disable and now - printed >= ProgressLines.EVERY:
            printed = now
            print(unsaid, file=stream, flush=True)
            unsaid = ""

    with bars:
        yield show
    # Without it, a log would end in the middle of the work.
    if bars.disable and unsaid:
        print(unsaid, file=stream, flush=True)


class ProgressLines:
    """A bar with rate and end on a terminal; elsewhere a line at both ends and now and then."""

    EVERY = 30.0
    """Seconds between two lines where there is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._stream = stream
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(file=stream),
            disable=not stream.isatty(),
        )
        self._tasks: dict[str, TaskID] = {}
        self._printed = 0.0

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def note(self, text: str) -> None:
        """The text stands above the bars."""
        self._bars.console.print(
            printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True
        )

    def show(self, progress: Progress) -> None:
        """The progress is shown."""
        step = f", step {progress.step} of {progress.steps}" if progress.steps > 1 else ""
        what = printable(f"{progress.instrument}{step}, {progress.model}")
        rate = f"{progress.rate:,.0f}/s" if progress.rate >= 10 else f"{progress.rate:.1f}/s"
        if self._bars.disable:
            self._print(what, progress, rate)
            return
        rate = f"{rate}, {progress.note}" if progress.note else rate
        if what not in self._tasks:
            # Rich measures time left by itself, from what it sees done after the first call.
            self._tasks[what] = self._bars.add_task(
                what, total=progress.total, completed=progress.done, rate=rate
            )
        self._bars.update(self._tasks[what], completed=progress.done, rate=rate)

    def _print(self, what: str, progress: Progress, rate: str) -> None:
        now = time.monotonic()
        ends = progress.done == progress.total
        if progress.rate and not ends and now - self._printed < self.EVERY:
            return
        self._printed = now
        if ends and not progress.rate:
            return
        said = [f"{what}: {progress.done:,} of {progress.total:,} {progress.what}"]
        said += [rate] * bool(progress.rate) + [progress.note] * bool(progress.note)
        if progress.rate and not ends:
            said.append(f"{(progress.total - progress.done) / progress.rate:,.0f} s left")
        print(", ".join(said), file=self._stream, flush=True)

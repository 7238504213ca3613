"""Read the files of an instrument or anchor, and collect all their faults."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goffman.errors import Fault, FaultsError, InputError, did_you_mean
from goffman.instruments.fields import Field, Fields, faults_of

LARGEST_TABLE = 16 * 1024 * 1024
"""Bytes of a CSV file or of a journal of ratings."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_plain(path: Path, *, most: int = LARGEST_TABLE) -> bytes:
    """Return the bytes of a regular file; raise InputError if it is another kind, or too large.

    ``most``: the most bytes. Raise OSError if the file is missing or cannot be read.
    """
    # The kind is checked before opening, which can rewind a tape, and again after, since the path
    # may have changed. Without O_NONBLOCK, opening a pipe would wait for its writer.
    _check_plain(path, path.stat())
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        _check_plain(path, status)
        content = file.read(most + 1)
    if len(content) > most:
        size = max(status.st_size, len(content))
        raise InputError(f"{path} has {size:,} bytes. Allowed: up to {most:,}.")
    return content


def _check_plain(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise InputError(f"{path} is {kind}. Give a regular file.")


MOST_FAULTS = 200

LARGEST_TOML = 256 * 1024
"""Bytes. The worst file within this bound and the next three takes about a second to read."""
MOST_TABLES = 1_000
MOST_KEYS = 5_000
DEEPEST = 16
"""The most parts of a dotted key, and levels of lists and tables within each other."""

MOST_LINES = 100_000
MOST_COLUMNS = 100

_TOML_TEXT = re.compile(
    r'''"""(?:\\.|[^\\])*?(?:"{3,5}|\\?\Z)'''
    r"|'''.*?(?:'{3,5}|\Z)"
    r"""|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|#[^\n]*""",
    re.DOTALL,
)
"""A text or a comment; one without an end runs to the file's end, so this takes linear time."""
_KEY = re.compile(r"[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)*+")
"""A key, dotted or not; or a number."""

_OWN_NAMES = {
    *("instrument.toml", "items.csv", "conditions.csv", "controls.csv"),
    *("frames.csv", "occupations.csv", "adjectives.csv", "readings.csv"),
    *("paraphrases.toml", "paraphrases.csv", "cross.toml"),
    *("anchor.toml", "values.csv"),
}
"""Files that an instrument or anchor has for a purpose: none is a misspelling of another."""


@dataclass
class Faults:
    """The faults found so far, in the order in which they were found."""

    found: list[Fault] = field(default_factory=list)
    unique: set[tuple[str, str, object]] = field(default_factory=set)
    """File, name and value of what may not occur again."""

    def add(self, file: str, row: int | None, message: str) -> None:
        """Note one fault; raise FaultsError if there are now MOST_FAULTS."""
        self.found.append(Fault(file=file, row=row, message=message))
        if len(self.found) == MOST_FAULTS:
            raise FaultsError(
                file, self.found, ending="There may be more faults: reading stopped here."
            )

    def check(self, file: str, row: int | None, value: Any, field: Field, what: str) -> bool:
        """Return whether a value is allowed by its field; note every fault, also a repeat."""
        messages = [*faults_of(value, field, what)]
        for message in messages:
            self.add(file, row, message)
        if field.unique and not messages:
            if (file, what, value) in self.unique:
                self.add(file, row, f"{what} is '{value}' a second time. Each must have its own.")
            self.unique.add((file, what, value))
        return not messages


@dataclass(frozen=True)
class Row:
    """A row of a table, or a line of JSON, and its place in the file."""

    file: str
    number: int
    """The line on which the row ends, as an editor counts."""
    cells: Mapping[str, Any]
    faults: Faults = field(repr=False)

    def __getitem__(self, column: str) -> Any:
        """Return the text of a cell; it is empty if the column is missing."""
        return self.cells.get(column, "")

    def note(self, message: str) -> None:
        """Note a fault of the row."""
        self.faults.add(self.file, self.number, message)

    def check(self, column: str, field: Field) -> bool:
        """Return whether a cell is allowed by the field; note every fault."""
        return self.faults.check(self.file, self.number, self[column], field, column)


def read_text(path: Path, faults: Faults, *, most: int) -> str | None:
    """Return the text of a file of up to ``most`` bytes, or None with a fault noted."""
    content = b""
    try:
        content = read_plain(path, most=most)
        return content.decode("utf-8-sig")
    except InputError as error:
        faults.add(path.name, None, str(error))
    except FileNotFoundError:
        folder = "the current folder" if path.parent == Path() else str(path.parent)
        file_names = (
            {entry.name for entry in path.parent.iterdir()}
            if path.parent.is_dir() and os.access(path.parent, os.R_OK)
            else set()
        )
        # Files that may be the missing one under a wrong name.
        suggestion = did_you_mean(path.name, sorted(file_names - _OWN_NAMES))
        faults.add(path.name, None, f"not found in {folder}.{suggestion}")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        faults.add(path.name, line, "this is not UTF-8 text. Save the file as UTF-8.")
    except OSError as error:
        faults.add(path.name, None, f"the file cannot be read: {error.strerror}.")
    except ValueError:
        faults.add(path.name, None, "no file can have this name. Give another one.")
    return None


@dataclass(frozen=True)
class TomlTable:
    """A table of a TOML file, and the line of each of its keys."""

    file: str
    name: str
    """The table's name in brackets; empty for the top of the file."""
    values: Mapping[str, Any]
    lines: Mapping[str, int]
    faults: Faults

    @property
    def inside(self) -> str:
        """Return the end of a message that says in which table a key is."""
        return f" in [{self.name}]" if self.name else ""

    def note(self, key: str, message: str) -> None:
        """Note a fault on the line of a key."""
        self.faults.add(self.file, self.lines.get(key), message)

    def take(self, fields: Fields) -> dict[str, Any]:
        """Return the values that their fields allow; note the faults of the others."""
        first = min(self.lines.values(), default=None) if self.name else None
        for key, field_ in fields.items():
            if field_.required and key not in self.values:
                self.faults.add(self.file, first, f"the key '{key}' is missing{self.inside}.")
        accepted = {}
        for key, value in self.values.items():
            if key not in fields:
                suggestion = did_you_mean(key, fields)
                allowed = f"Allowed: {', '.join(fields)}.{suggestion}"
                self.note(key, f"unknown key '{key}'{self.inside}. {allowed}")
            elif self.check(key, value, fields[key]):
                accepted[key] = value
        return accepted

    def check(self, key: str, value: Any, field: Field, *, what: str = "") -> bool:
        """Return whether a value at a key is allowed by a field; note every fault."""
        row = self.lines.get(key)
        return self.faults.check(self.file, row, value, field, what or f"{key}{self.inside}")


@dataclass(frozen=True)
class TomlFile:
    """A TOML file: its top, and the tables below it."""

    name: str
    values: Mapping[str, Any]
    lines: Mapping[tuple[str, int], Mapping[str, int]]
    """(table, its index among tables of that name) → key → line."""
    faults: Faults

    def note(self, message: str) -> None:
        """Note a fault of the file as a whole."""
        self.faults.add(self.name, None, message)

    def top(self) -> TomlTable:
        """Return the keys before the first table, and the names of the tables."""
        return TomlTable(self.name, "", self.values, self.lines[("", 0)], self.faults)

    def table(self, name: str) -> TomlTable:
        """Return the table of a name; it is empty if it is missing or something else."""
        value = self.values.get(name, {})
        values = value if isinstance(value, dict) else {}
        return TomlTable(self.name, name, values, self.lines.get((name, 0), {}), self.faults)

    def tables(self, name: str) -> list[TomlTable]:
        """Return the tables of a name that may occur several times."""
        value = self.values.get(name, [])
        if not isinstance(value, list):
            return []
        if not all(isinstance(entry, dict) for entry in value):
            self.top().note(name, f"{name} must be a list of tables such as [[wordings]].")
            return []
        return [
            TomlTable(self.name, name, entry, self.lines.get((name, index), {}), self.faults)
            for index, entry in enumerate(value)
        ]


NO_QUOTE = "a text has no closing quote"
"""What is wrong if a line ends within a text."""


def read_toml(path: Path, faults: Faults) -> TomlFile | None:
    """Return a TOML file, or None with a fault noted."""
    text = read_text(path, faults, most=LARGEST_TOML)
    if text is None or not _is_small(path.name, text, faults):
        return None
    try:
        return TomlFile(path.name, tomllib.loads(text), _lines_of_keys(text), faults)
    except ValueError as error:
        # A TOMLDecodeError names the line; a number of too many digits is another ValueError.
        at_line = re.search(r"line (\d+)", str(error))
        reason = re.sub(r" \(at .*\)", "", str(error)).partition(";")[0]
        # tomllib notices a text without an end only at the end of the file.
        last = len(text.rstrip().splitlines()) if "end of document" in str(error) else None
        row = int(at_line[1]) if at_line else last
        reason = NO_QUOTE if reason == r"Illegal character '\n'" else reason
        faults.add(path.name, row, f"this is not TOML: {reason[:1].lower()}{reason[1:]}.")
    return None


def _is_small(file: str, text: str, faults: Faults) -> bool:
    """Return whether TOML can be read quickly; a fault is noted for each bound that it breaks.

    tomllib takes time that grows with the square of a key's parts, and fails on deep lists.
    """
    bare = _TOML_TEXT.sub(lambda match: "" if match[0].startswith("#") else "x", text)
    depth, deepest = 0, 0
    for bracket in re.findall(r"[\[\]{}]", bare):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    parts = max((key.count(".") + 1 for key in _KEY.findall(bare)), default=0)
    tables = bare.count("{") + len(re.findall(r"^[ \t]*\[", bare, re.MULTILINE))
    bounds = (
        (parts, DEEPEST, "a key has {:,} parts"),
        (deepest, DEEPEST, "lists and tables are nested {:,} deep"),
        (tables, MOST_TABLES, "there are {:,} tables"),
        (bare.count("="), MOST_KEYS, "there are {:,} keys"),
    )
    broken = [(message.format(count), bound) for count, bound, message in bounds if count > bound]
    for message, bound in broken:
        faults.add(file, None, f"{message}. Allowed: up to {bound:,}.")
    return not broken


def _lines_of_keys(text: str) -> dict[tuple[str, int], dict[str, int]]:
    lines: dict[tuple[str, int], dict[str, int]] = {("", 0): {}}
    current = lines[("", 0)]
    for number, line in enumerate(text.split("\n"), start=1):
        if header := re.match(r"\s*\[+\s*([\w.-]+)\s*\]", line):
            index = sum(name == header[1] for name, _ in lines)
            current = lines.setdefault((header[1], index), {})
            lines[("", 0)].setdefault(header[1], number)
        elif key := re.match(r"\s*([\w-]+)\s*=", line):
            current.setdefault(key[1], number)
    return lines


def read_table(path: Path, fields: Fields, faults: Faults) -> list[Row]:
    """Return the rows of a CSV file that have all their cells; every fault is noted.

    A column that is not required may be missing, and its cells empty.
    """
    text = read_text(path, faults, most=LARGEST_TABLE)
    if text is None:
        return []
    lines = max(text.count("\n"), text.count("\r"))
    if not text.strip():
        faults.add(path.name, None, "the file is empty.")
        return []
    if lines > MOST_LINES:
        faults.add(path.name, None, f"the file has {lines:,} lines. Allowed: up to {MOST_LINES:,}.")
        return []

    def columns(header: list[str]) -> list[str] | None:
        messages = [*_faults_of_header(header, fields)]
        for message in messages:
            faults.add(path.name, 1, message)
        return None if messages else header

    rows = read_rows(path.name, text, columns, faults)
    for row in rows:
        for column, cell in row.cells.items():
            if cell or fields[column].required:
                row.check(column, fields[column])
    return rows


def read_rows(
    file: str, text: str, columns: Callable[[list[str]], list[str] | None], faults: Faults
) -> list[Row]:
    """Return the rows of CSV that have all their cells; every fault is noted.

    ``columns``: from the header to our names of its columns, or None with a fault noted.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    fault_count = len(faults.found)
    try:
        header = columns(next(reader, []))
        if header is None:
            return []
        for cells in reader:
            if len(cells) == len(header):
                row_cells = dict(zip(header, cells, strict=True))
                rows.append(Row(file, reader.line_num, row_cells, faults))
            elif cells:
                message = f"the row has {len(cells)} cells, but the header has {len(header)}."
                faults.add(file, reader.line_num, message)
            if len(rows) > MOST_LINES:
                faults.add(file, None, f"more than {MOST_LINES:,} rows. Allowed: up to that.")
                return []
    except csv.Error as error:
        faults.add(file, reader.line_num, f"this is not CSV: {error}.")
    if not rows and len(faults.found) == fault_count:
        faults.add(file, None, "the table has no rows.")
    return rows


def _faults_of_header(header: Sequence[str], fields: Fields) -> Iterator[str]:
    """Yield what is wrong with a header: missing, unknown or repeated columns, or too many."""
    if len(header) > MOST_COLUMNS:
        yield f"the table has {len(header):,} columns. Allowed: up to {MOST_COLUMNS}."
        return
    for sign, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and sign in header[0]:
            yield f"the columns are separated by {name}. Use commas."
            return
    for column in header:
        if column not in fields:
            suggestion = did_you_mean(column, [name for name in fields if name not in header])
            yield f"unknown column '{column}'. Allowed: {', '.join(fields)}.{suggestion}"
    for column in fields:
        if fields[column].required and column not in header:
            yield f"the column '{column}' is missing."
    for column, count in Counter(header).items():
        if count > 1:
            yield f"the column '{column}' appears {count} times."


def digest_of(paths: Sequence[Path]) -> str:
    """Return the sha256 of the files' names and texts; line ends, LF or CRLF, do not change it."""
    digest = hashlib.sha256()
    for path in paths:
        content = read_plain(path).replace(b"\r\n", b"\n")
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()

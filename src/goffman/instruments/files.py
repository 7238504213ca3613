"""Reading the files of an instrument or anchor: each fault is collected, none ends the reading."""

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
from typing import Any, TypeGuard, TypeVar

from goffman.errors import Fault, FaultsError, InputError, did_you_mean
from goffman.instruments.types import MASK

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
    """The bytes of a plain file; InputError for anything else and for more than ``most`` bytes.

    OSError where the file is missing or may not be read.
    """
    # Before opening, as that alone can rewind a tape; and after, as the path may lead elsewhere by
    # then. O_NONBLOCK: opening a pipe waits for its writer otherwise.
    _check_plain(path, path.stat())
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        _check_plain(path, found)
        content = file.read(most + 1)
    if len(content) > most:
        size = max(found.st_size, len(content))
        raise InputError(f"{path} has {size:,} bytes. Allowed: up to {most:,}.")
    return content


def _check_plain(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise InputError(f"{path} is {kind}. Give a regular file.")


ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Ids go into file names, column values and commands."""

LONGEST_ID = 64

MOST_FAULTS = 200

LARGEST_TOML = 256 * 1024
"""Bytes. The worst file within this bound and the next three is read in about a second."""
MOST_TABLES = 1_000
MOST_KEYS = 5_000
DEEPEST = 16
"""Parts of a dotted key; lists and tables within each other."""

MOST_LINES = 100_000
MOST_COLUMNS = 100

Word = TypeVar("Word", bound=str)

_TOML_TEXT = re.compile(
    r'''"""(?:\\.|[^\\])*?(?:"{3,5}|\\?\Z)'''
    r"|'''.*?(?:'{3,5}|\Z)"
    r"""|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|#[^\n]*""",
    re.DOTALL,
)
"""A text or a comment; one that does not end runs on to the end, so that this takes linear time."""
_KEY = re.compile(r"[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)*+")
"""A key, dotted or not; or a number."""

_OWN_NAMES = {
    *("instrument.toml", "items.csv", "conditions.csv", "controls.csv"),
    *("frames.csv", "occupations.csv", "adjectives.csv", "readings.csv"),
    *("paraphrases.toml", "paraphrases.csv", "cross.toml"),
    *("anchor.toml", "values.csv"),
}
"""Files that an instrument or anchor has for a purpose: none is another one, misspelled."""

_TYPE_NAMES = {
    str: "text in quotes",
    bool: "true or false",
    dict: "a table such as [slot]",
    list: "a list of tables such as [[wordings]]",
}


@dataclass
class Faults:
    """The faults found so far, in the order of finding."""

    found: list[Fault] = field(default_factory=list)

    def add(self, file: str, row: int | None, message: str) -> None:
        """Note one fault; FaultsError where there are more than anyone would read."""
        self.found.append(Fault(file=file, row=row, message=message))
        if len(self.found) == MOST_FAULTS:
            raise FaultsError(
                file, self.found, ending="There may be more faults: reading stopped here."
            )

    def check_id(self, file: str, row: int | None, *, what: str, given: str) -> None:
        """Note a fault where an id has letters that an id may not have, or too many."""
        if not ID.fullmatch(given) or len(given) > LONGEST_ID:
            shown = given if len(given) <= LONGEST_ID else f"{given[:LONGEST_ID]}…"
            allowed = f"up to {LONGEST_ID} lower-case letters, digits and single hyphens"
            message = f"{what} is '{shown}'. Allowed: {allowed}, such as 'social-distance'."
            self.add(file, row, message)

    def check_one_of(
        self, file: str, row: int | None, *, what: str, given: str, allowed: Sequence[Word]
    ) -> Word | None:
        """The allowed word that was given, or None with a fault noted."""
        for word in allowed:
            if given == word:
                return word
        near = did_you_mean(given, allowed)
        self.add(file, row, f"{what} is '{given}'. Allowed: {', '.join(allowed)}.{near}")
        return None

    def check_text(self, file: str, row: int | None, *, what: str, text: str) -> None:
        """Note a fault where a text has spaces or signs that nobody means."""
        if text != text.strip() or "  " in text:
            spaces = "Remove the extra space at the start, at the end or in the middle"
            self.add(file, row, f"{what} is '{text}'. {spaces}.")
        elif not text.isprintable():
            signs = "a line break, a special space or another invisible character"
            self.add(file, row, f"{what} contains {signs}.")

    def check_plain(self, file: str, row: int | None, *, what: str, text: str) -> None:
        """Note a fault where a text that is put into others has a place or a mask of its own."""
        for sign in ("{", "}", MASK):
            if sign in text:
                self.add(file, row, f"{what} is '{text}'. It must not contain '{sign}'.")


@dataclass(frozen=True)
class Row:
    """One row of a table and its place in the file."""

    file: str
    number: int
    """The line that the row ends on, as an editor counts."""
    cells: Mapping[str, str]
    faults: Faults = field(repr=False)

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")

    def note(self, message: str) -> None:
        """Note a fault of the row."""
        self.faults.add(self.file, self.number, message)

    def check_id(self, column: str) -> None:
        """Note a fault where a cell cannot be an id."""
        self.faults.check_id(self.file, self.number, what=column, given=self[column])

    def check_one_of(self, column: str, allowed: Sequence[Word]) -> Word | None:
        """The allowed word that a cell holds, or None with a fault noted."""
        return self.faults.check_one_of(
            self.file, self.number, what=column, given=self[column], allowed=allowed
        )


def read_text(path: Path, faults: Faults, *, most: int) -> str | None:
    """The text of a file of up to so many bytes, or None with a fault noted."""
    content = b""
    try:
        content = read_plain(path, most=most)
        return content.decode("utf-8-sig")
    except InputError as error:
        faults.add(path.name, None, str(error))
    except FileNotFoundError:
        where = "the current folder" if path.parent == Path() else str(path.parent)
        there = {entry.name for entry in path.parent.iterdir()} if path.parent.is_dir() else set()
        # What the missing file may have been called by mistake.
        near = did_you_mean(path.name, sorted(there - _OWN_NAMES))
        faults.add(path.name, None, f"not found in {where}.{near}")
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
    """A table of a TOML file, and the line on which each of its keys stands."""

    file: str
    name: str
    """As it stands in brackets; empty for the top of the file."""
    values: Mapping[str, Any]
    lines: Mapping[str, int]
    faults: Faults

    @property
    def inside(self) -> str:
        """Which table a key stands in, as a message says it."""
        return f" in [{self.name}]" if self.name else ""

    def note(self, key: str, message: str) -> None:
        """Note a fault on the line of a key."""
        self.faults.add(self.file, self.lines.get(key), message)

    def take(self, expected: Mapping[str, type]) -> dict[str, Any]:
        """The values that are as expected; strange ones are left out and noted."""
        good = {}
        for key, value in self.values.items():
            what = f"{key}{self.inside}"
            if key not in expected:
                near = did_you_mean(key, expected)
                allowed = f"Allowed: {', '.join(expected)}.{near}"
                self.note(key, f"unknown key '{key}'{self.inside}. {allowed}")
            elif not isinstance(value, expected[key]):
                is_list = "a list" if isinstance(value, list) else repr(value)
                shown = "a table" if isinstance(value, dict) else is_list
                self.note(key, f"{what} is {shown}. It must be {_TYPE_NAMES[expected[key]]}.")
            elif isinstance(value, str) and not value.strip():
                self.note(key, f"{what} is empty.")
            else:
                if isinstance(value, str):
                    self.check_text(key, what, value)
                good[key] = value
        return good

    def require(self, keys: Sequence[str]) -> None:
        """Note a fault for each key that is not there."""
        for key in keys:
            if key not in self.values:
                self.faults.add(self.file, None, f"the key '{key}' is missing{self.inside}.")

    def check_id(self, given: str, key: str = "id") -> None:
        """Note a fault where the table's id cannot be one; none where it is missing or empty."""
        if given:
            row = self.lines.get(key)
            self.faults.check_id(self.file, row, what=f"{key}{self.inside}", given=given)

    def check_one_of(
        self, key: str, given: str, allowed: Sequence[Word], *, what: str = ""
    ) -> Word | None:
        """The allowed word that was given at a key, or None with a fault noted."""
        row = self.lines.get(key)
        return self.faults.check_one_of(
            self.file, row, what=what or key, given=given, allowed=allowed
        )

    def check_text(self, key: str, what: str, text: str) -> None:
        """Note a fault where a text at a key has spaces or signs that nobody means."""
        self.faults.check_text(self.file, self.lines.get(key), what=what, text=text)

    def check_plain(self, key: str, what: str, text: str) -> None:
        """Note a fault where a text at a key has a place or a mask of its own."""
        self.faults.check_plain(self.file, self.lines.get(key), what=what, text=text)


@dataclass(frozen=True)
class TomlFile:
    """A TOML file: its top, and the tables below it."""

    name: str
    values: Mapping[str, Any]
    lines: Mapping[tuple[str, int], Mapping[str, int]]
    """(table, which of that name) → key → line."""
    faults: Faults

    def note(self, message: str) -> None:
        """Note a fault of the file as a whole."""
        self.faults.add(self.name, None, message)

    def top(self) -> TomlTable:
        """The keys before the first table, and the names of the tables."""
        return TomlTable(self.name, "", self.values, self.lines[("", 0)], self.faults)

    def table(self, name: str) -> TomlTable:
        """The table of a name; empty where it is missing or something else."""
        value = self.values.get(name, {})
        values = value if isinstance(value, dict) else {}
        return TomlTable(self.name, name, values, self.lines.get((name, 0), {}), self.faults)

    def tables(self, name: str) -> list[TomlTable]:
        """The tables of a name that may stand several times."""
        value = self.values.get(name, [])
        if not isinstance(value, list):
            return []
        if not all(isinstance(entry, dict) for entry in value):
            self.top().note(name, f"{name} must be {_TYPE_NAMES[list]}.")
            return []
        return [
            TomlTable(self.name, name, entry, self.lines.get((name, index), {}), self.faults)
            for index, entry in enumerate(value)
        ]


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value of a TOML file is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


NO_QUOTE = "a text has no closing quote"
"""What is wrong where a line ends within a text."""


def read_toml(path: Path, faults: Faults) -> TomlFile | None:
    """A TOML file, or None with a fault noted."""
    text = read_text(path, faults, most=LARGEST_TOML)
    if text is None or not _is_small(path.name, text, faults):
        return None
    try:
        return TomlFile(path.name, tomllib.loads(text), _lines_of_keys(text), faults)
    except ValueError as error:
        # A TOMLDecodeError says the line; a number of too many digits is another ValueError.
        at_line = re.search(r"line (\d+)", str(error))
        reason = re.sub(r" \(at .*\)", "", str(error)).partition(";")[0]
        # A text that does not end is noticed at the end.
        last = len(text.rstrip().splitlines()) if "end of document" in str(error) else None
        row = int(at_line[1]) if at_line else last
        reason = NO_QUOTE if reason == r"Illegal character '\n'" else reason
        faults.add(path.name, row, f"this is not TOML: {reason[:1].lower()}{reason[1:]}.")
    return None


def _is_small(file: str, text: str, faults: Faults) -> bool:
    """Whether TOML can be read in a moment; a fault is noted for each bound that it breaks.

    tomllib takes time that grows with the square of a key's parts, and gives up on deep lists.
    """
    bare = _TOML_TEXT.sub(lambda found: "" if found[0].startswith("#") else "x", text)
    depth, nested = 0, 0
    for bracket in re.findall(r"[\[\]{}]", bare):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        nested = max(nested, depth)
    parts = max((key.count(".") + 1 for key in _KEY.findall(bare)), default=0)
    tables = bare.count("{") + len(re.findall(r"^[ \t]*\[", bare, re.MULTILINE))
    bounds = (
        (parts, DEEPEST, "a key has {:,} parts"),
        (nested, DEEPEST, "lists and tables are nested {:,} deep"),
        (tables, MOST_TABLES, "there are {:,} tables"),
        (bare.count("="), MOST_KEYS, "there are {:,} keys"),
    )
    broken = [(what.format(given), most) for given, most, what in bounds if given > most]
    for what, most in broken:
        faults.add(file, None, f"{what}. Allowed: up to {most:,}.")
    return not broken


def _lines_of_keys(text: str) -> dict[tuple[str, int], dict[str, int]]:
    """(table, which of that name) → key → the line on which it stands."""
    lines: dict[tuple[str, int], dict[str, int]] = {("", 0): {}}
    current = lines[("", 0)]
    for number, line in enumerate(text.split("\n"), start=1):
        if header := re.match(r"\s*\[+\s*([\w.-]+)\s*\]", line):
            which = sum(name == header[1] for name, _ in lines)
            current = lines.setdefault((header[1], which), {})
            lines[("", 0)].setdefault(header[1], number)
        elif key := re.match(r"\s*([\w-]+)\s*=", line):
            current.setdefault(key[1], number)
    return lines


def read_table(
    path: Path, *, required: Sequence[str], optional: Sequence[str] = (), faults: Faults
) -> list[Row]:
    """The rows of a CSV file that have all their cells; every fault is noted."""
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
        faulty = False
        for message in _faults_of_header(header, required, optional):
            faults.add(path.name, 1, message)
            faulty = True
        return None if faulty else header

    rows = read_rows(path.name, text, columns, faults)
    for row in rows:
        for column, cell in row.cells.items():
            if column in required and not cell.strip():
                row.note(f"{column} is empty.")
            else:
                faults.check_text(row.file, row.number, what=column, text=cell)
    return rows


def read_rows(
    file: str, text: str, columns: Callable[[list[str]], list[str] | None], faults: Faults
) -> list[Row]:
    """The rows of CSV that have all their cells; every fault is noted.

    ``columns``: from the header to our names of its columns, or None with a fault noted.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    before = len(faults.found)
    try:
        header = columns(next(reader, []))
        if header is None:
            return []
        for cells in reader:
            if len(cells) == len(header):
                named = dict(zip(header, cells, strict=True))
                rows.append(Row(file, reader.line_num, named, faults))
            elif cells:
                message = f"the row has {len(cells)} cells, but the header has {len(header)}."
                faults.add(file, reader.line_num, message)
            if len(rows) > MOST_LINES:
                faults.add(file, None, f"more than {MOST_LINES:,} rows. Allowed: up to that.")
                return []
    except csv.Error as error:
        faults.add(file, reader.line_num, f"this is not CSV: {error}.")
    if not rows and len(faults.found) == before:
        faults.add(file, None, "the table has no rows.")
    return rows


def _faults_of_header(
    header: Sequence[str], required: Sequence[str], optional: Sequence[str]
) -> Iterator[str]:
    """What keeps a header from having the required columns and no others than the optional ones."""
    if len(header) > MOST_COLUMNS:
        yield f"the table has {len(header):,} columns. Allowed: up to {MOST_COLUMNS}."
        return
    for sign, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and sign in header[0]:
            yield f"the columns are separated by {name}. Use commas."
            return
    allowed = [*required, *optional]
    for column in header:
        if column not in allowed:
            near = did_you_mean(column, [name for name in allowed if name not in header])
            yield f"unknown column '{column}'. Allowed: {', '.join(allowed)}.{near}"
    for column in required:
        if column not in header:
            yield f"the column '{column}' is missing."
    for column, count in Counter(header).items():
        if count > 1:
            yield f"the column '{column}' appears {count} times."


def digest_of(paths: Sequence[Path]) -> str:
    """sha256 over names and texts of files; LF and CRLF line ends give the same."""
    digest = hashlib.sha256()
    for path in paths:
        content = read_plain(path).replace(b"\r\n", b"\n")
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()

"""Reading the files of an instrument: every fault is collected, none ends the reading."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goffman.errors import did_you_mean
from goffman.records import Fault

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Ids go into file names, column values and commands."""

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
        """Note one fault."""
        self.found.append(Fault(file=file, row=row, message=message))

    def check_id(self, file: str, row: int | None, *, what: str, given: str) -> None:
        """Note a fault where an id has letters that an id may not have."""
        if not ID.fullmatch(given):
            self.add(
                file,
                row,
                f"{what} is '{given}'. Allowed: lower-case letters, digits and single hyphens, "
                "such as 'social-distance'.",
            )

    def check_one_of(
        self, file: str, row: int | None, *, what: str, given: str, allowed: Sequence[str]
    ) -> bool:
        """Whether a word is one of those allowed; noted as a fault where it is not."""
        if given in allowed:
            return True
        self.add(
            file,
            row,
            f"{what} is '{given}'. Allowed: {', '.join(allowed)}.{did_you_mean(given, allowed)}",
        )
        return False


@dataclass(frozen=True)
class Row:
    """One row of a table and its place in the file."""

    file: str
    number: int
    """The line that the row ends on, as an editor counts."""
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")


def read_text(path: Path, faults: Faults) -> str | None:
    """A file's text, or None with a fault noted."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        near = did_you_mean(path.name, _names_in(path.parent))
        faults.add(path.name, None, f"the file is missing from {path.parent}.{near}")
    except OSError as error:
        faults.add(path.name, None, f"the file cannot be read: {error.strerror}.")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        faults.add(path.name, line, "this is not UTF-8 text. Save the file as UTF-8.")
    return None


def _names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []


@dataclass(frozen=True)
class TomlTable:
    """A table of a TOML file, and the line on which each of its keys stands."""

    file: str
    name: str
    """As it stands in brackets; empty for the top of the file."""
    values: Mapping[str, Any]
    lines: Mapping[str, int]

    def take(self, expected: Mapping[str, type], faults: Faults) -> dict[str, Any]:
        """The values that are as expected; missing and strange ones are left out and noted."""
        inside = f" in [{self.name}]" if self.name else ""
        good = {}
        for key, value in self.values.items():
            row = self.lines.get(key)
            if key not in expected:
                allowed = ", ".join(expected)
                near = did_you_mean(key, expected)
                message = f"there is no key '{key}'{inside}. Allowed: {allowed}.{near}"
                faults.add(self.file, row, message)
            elif not isinstance(value, expected[key]):
                must_be = _TYPE_NAMES[expected[key]]
                faults.add(
                    self.file, row, f"{key}{inside} is {_shown(value)}. It must be {must_be}."
                )
            elif value == "":
                faults.add(self.file, row, f"{key}{inside} is empty.")
            else:
                good[key] = value
        return good

    def require(self, keys: Sequence[str], faults: Faults) -> None:
        """Note a fault for each key that is not there."""
        inside = f" in [{self.name}]" if self.name else ""
        for key in keys:
            if key not in self.values:
                faults.add(self.file, None, f"the key '{key}' is missing{inside}.")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else repr(value)


@dataclass(frozen=True)
class TomlFile:
    """A TOML file: its top, and the tables below it."""

    name: str
    values: Mapping[str, Any]
    lines: Mapping[tuple[str, int], Mapping[str, int]]
    """(table, which of that name) → key → line."""

    def top(self) -> TomlTable:
        """The keys before the first table, and the names of the tables."""
        return TomlTable(self.name, "", self.values, self.lines[("", 0)])

    def table(self, name: str) -> TomlTable:
        """The table of a name; empty where it is missing or something else."""
        value = self.values.get(name, {})
        values = value if isinstance(value, dict) else {}
        return TomlTable(self.name, name, values, self.lines.get((name, 0), {}))

    def tables(self, name: str) -> list[TomlTable]:
        """The tables of a name that may stand several times."""
        value = self.values.get(name, [])
        tables = [entry for entry in value if isinstance(entry, dict)]
        return [
            TomlTable(self.name, name, entry, self.lines.get((name, index), {}))
            for index, entry in enumerate(tables)
        ]


def read_toml(path: Path, faults: Faults) -> TomlFile | None:
    """A TOML file, or None with a fault noted."""
    text = read_text(path, faults)
    if text is None:
        return None
    try:
        return TomlFile(path.name, tomllib.loads(text), _lines_of_keys(text))
    except tomllib.TOMLDecodeError as error:
        at_line = re.search(r"line (\d+)", str(error))
        reason = re.sub(r" \(at .*\)", "", str(error))
        row = int(at_line[1]) if at_line else None
        faults.add(path.name, row, f"this is not TOML: {reason[:1].lower()}{reason[1:]}.")
    return None


def _lines_of_keys(text: str) -> dict[tuple[str, int], dict[str, int]]:
    """(table, which of that name) → key → the line on which it stands."""
    lines: dict[tuple[str, int], dict[str, int]] = {("", 0): {}}
    current = lines[("", 0)]
    for number, line in enumerate(text.splitlines(), start=1):
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
    text = read_text(path, faults)
    if text is None:
        return []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    try:
        header = next(reader, [])
        if not _check_header(
            path.name, header, required=required, optional=optional, faults=faults
        ):
            return []
        for cells in reader:
            if len(cells) == len(header):
                rows.append(Row(path.name, reader.line_num, dict(zip(header, cells, strict=True))))
            elif cells:
                message = f"the row has {len(cells)} cells, the header {len(header)}."
                faults.add(path.name, reader.line_num, message)
    except csv.Error as error:
        faults.add(path.name, reader.line_num, f"this is not CSV: {error}.")
    if not rows and not any(fault.file == path.name for fault in faults.found):
        faults.add(path.name, None, "the table has no rows.")
    for row in rows:
        _check_cells(row, required=required, faults=faults)
    return rows


def _check_header(
    file: str,
    header: Sequence[str],
    *,
    required: Sequence[str],
    optional: Sequence[str],
    faults: Faults,
) -> bool:
    """Whether the header has the required columns and no others than the optional ones."""
    before = len(faults.found)
    known = [*required, *optional]
    for column in header:
        if column not in known:
            near = did_you_mean(column, [name for name in known if name not in header])
            message = f"there is no column '{column}'. Allowed: {', '.join(known)}.{near}"
            faults.add(file, 1, message)
    for column in required:
        if column not in header:
            faults.add(file, 1, f"the column '{column}' is missing.")
    for column in dict.fromkeys(header):
        if header.count(column) > 1:
            faults.add(file, 1, f"the column '{column}' stands {header.count(column)} times.")
    return len(faults.found) == before


def _check_cells(row: Row, *, required: Sequence[str], faults: Faults) -> None:
    """Note what no cell may have: a gap where a text is due, stray spaces, control signs."""
    for column, cell in row.cells.items():
        if column in required and not cell.strip():
            faults.add(row.file, row.number, f"{column} is empty.")
        elif cell != cell.strip() or "  " in cell:
            faults.add(
                row.file,
                row.number,
                f"{column} is '{cell}': there is a space too many at its start, end or middle.",
            )
        elif any(ord(sign) < 32 or ord(sign) == 127 for sign in cell):
            message = f"{column} has a line break or another control sign in it."
            faults.add(row.file, row.number, message)

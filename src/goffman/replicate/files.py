"""Readers of the authors' files, with messages on how to get the ones that are missing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.errors import PublishedError
from goffman.instruments.files import read_plain

if TYPE_CHECKING:
    import polars as pl

MARKS = {
    "mei2023": ("sentiment/*_sentiment.csv", "fills/*.csv"),
    "lin2022": ("*_all_df_intention*.csv", "attribute_recursive_*_result.csv"),
    "briegel2023": ("completions/trial*/compl_*",),
    "moore2025": ("results/stigma/model=*/*.jsonl", "external_data/human_data_*.csv"),
    "gueorguieva2025": (
        "data/*_bias_percentages.csv",
        "data/results-from-pachankis-all.csv",
        "data/SSQA-performance-and-guardrail-mitigations/*.csv",
    ),
}
"""Study → patterns of files that only its folder has; one match is enough to know it."""


LARGEST = 256 * 1024 * 1024
"""Bytes of a published file; the largest one known has 3.3 million."""

LONGEST = 160
"""The most characters of a file's content that a message shows."""


def study_folder(folder: Path, study: str) -> Path:
    """Return the study's folder: one below this or this one; raise PublishedError if neither is."""
    below = folder / study
    if below.is_dir():
        return below
    name = next(
        (name for name, marks in MARKS.items() if any(any(folder.glob(mark)) for mark in marks)),
        None,
    )
    if name == study or (name is None and folder.is_dir() and folder.name == study):
        return folder
    if name:
        raise PublishedError(
            f"{folder} has the files of {name}, not those of {study}. Give {name} as the study, or "
            f"give the folder above {study} with --data."
        )
    where = f"because there is no folder {folder}"
    if folder.is_dir():
        where = f"neither in {folder} nor in {below}"
    raise PublishedError(
        f"The authors' files of {study} were not found, {where}. Download them with --download, "
        "or give their folder with --data."
    )


def folder_above(folder: Path, studies: Sequence[str]) -> Path:
    """Return the folder above these studies' folders: the parent if this is an only study's own."""
    is_own = [folder.name] == list(studies) and not (folder / folder.name).is_dir()
    return folder.parent if is_own else folder


def files_in(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match the pattern; raise PublishedError if there are none."""
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise _missing(folder / pattern)
    return paths


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file without their ends, of any kind; the last may have none."""
    return _read_text(path).splitlines()


def quoted(value: object) -> str:
    """Return a value of a file for a message: in quotes, and no longer than fits on a screen."""
    return _cut(repr(value), LONGEST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def read_json_lines(path: Path, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield "FILE, line N" for messages, and the object in that line, which has these keys."""
    # Not splitlines(): JSON allows characters inside a text that end a line elsewhere.
    lines = _read_text(path).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise PublishedError(f"{path} has no lines.")
    for number, line in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise PublishedError(f"{where} is not JSON: {error}.") from error
        if "\\ud" in line.lower() and not _is_text(entry):
            raise PublishedError(f"{where} has half of a character (a lone surrogate).")
        if not isinstance(entry, dict):
            raise PublishedError(f"{where} is not a JSON object with the keys {', '.join(keys)}.")
        if lacking := [key for key in keys if key not in entry]:
            text = quoted(list(entry))
            raise PublishedError(f"{where} has no key {lacking[0]!r}. Its keys are {text}.")
        yield where, entry


def _is_text(entry: object) -> bool:
    """Return whether all of an entry can be written: JSON may escape halves of characters."""
    try:
        json.dumps(entry, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def read_records(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield "FILE, line N" for messages, and that row of a CSV file with at least these columns.

    Unlike ``read_csv``, this knows a row's line number even below texts of several lines.
    """
    reader = csv.reader(io.StringIO(_read_text(path), newline=""), strict=True)
    line = rows = 0
    heading: list[str] = []
    try:
        for fields in reader:
            where, line = f"{path}, line {line + 1}", reader.line_num
            if not heading:
                heading = [name.strip() for name in fields]
                if lacking := [name for name in columns if name not in heading]:
                    text = _cut(", ".join(filter(None, heading)), 3 * LONGEST)
                    message = f"{path} has no column {lacking[0]!r}. Its columns are {text}."
                    raise PublishedError(message)
            elif len(fields) == len(heading):
                rows += 1
                yield where, dict(zip(heading, fields, strict=True))
            elif fields:
                raise PublishedError(
                    f"{where} has {len(fields)} fields; the heading has {len(heading)}."
                )
    except csv.Error as error:
        raise PublishedError(f"{path}, line {line + 1} is not CSV: {error}.") from error
    if not rows:
        raise PublishedError(f"{path} has no rows below its heading.")


def content_of(path: Path) -> bytes:
    """Return the bytes of an authors' file; raise PublishedError if it is missing or unreadable."""
    try:
        return read_plain(path, most=LARGEST)
    except FileNotFoundError as error:
        raise _missing(path) from error
    except OSError as error:
        raise PublishedError(f"{path} cannot be read: {error.strerror}.") from error


def _read_text(path: Path) -> str:
    try:
        return content_of(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PublishedError(f"{path} is not UTF-8 text ({error.reason}).") from error


def read_csv(path: Path, columns: Sequence[str], *, numbers: Sequence[str] = ()) -> pl.DataFrame:
    """Return these columns of a CSV file, without spaces around their names; null means empty.

    All are text but ``numbers``; raise PublishedError about the first value there that is no
    number.
    """
    import polars as pl

    try:
        frame = pl.read_csv(content_of(path), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise PublishedError(f"{path} is not a CSV file: {error}") from error
    frame = frame.rename({name: name.strip("\ufeff ") for name in frame.columns})
    if lacking := [name for name in columns if name not in frame.columns]:
        names = ", ".join(filter(None, frame.columns))
        raise PublishedError(f"{path} has no column {lacking[0]!r}. Its columns are {names}.")
    if frame.is_empty():
        raise PublishedError(f"{path} has no rows below its heading.")
    text = frame.select(columns)
    frame = text.with_columns(pl.col(numbers).cast(pl.Float64, strict=False))
    for column in numbers:
        wrong = ~frame[column].is_finite().fill_null(value=False)
        if wrong.any():
            line = int(wrong.arg_max() or 0)
            raise PublishedError(
                f"{path}, line {line + 2}: {column} is {text[column][line]!r}, which is not a "
                "number."
            )
    return frame


def number_in(
    row: Mapping[str, str], column: str, where: str, *, most: float, called: str = ""
) -> float:
    """Return a number from 0 to ``most``; ``called`` names it in a message."""
    try:
        value = float(row[column])
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        called = called or f"number from 0 to {most:g}"
        raise PublishedError(
            f"{where}: {column} is {quoted(row[column])}, which is not a {called}."
        )
    return value


def data_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of one of goffman's own tables about the studies."""
    path = Path(__file__).parent / "data" / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _missing(path: Path) -> PublishedError:
    return PublishedError(
        f"{path} is missing. Download the authors' files with --download, or give a complete copy "
        "with --data."
    )

"""Readers of the authors' files, with messages on how to get the ones that are missing."""

from __future__ import annotations

import csv
import hashlib
import http.client
import io
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from goffman.errors import AskingError, DownloadError, PublishedError, RunError
from goffman.runs.files import write_whole

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


def quoted(given: object) -> str:
    """Return a value of a file for a message: in quotes, and no longer than fits on a screen."""
    return _cut(repr(given), LONGEST)


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


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise _missing(path) from error
    except UnicodeDecodeError as error:
        raise PublishedError(f"{path} is not UTF-8 text ({error.reason}).") from error


def read_csv(path: Path, columns: Sequence[str], *, numbers: Sequence[str] = ()) -> pl.DataFrame:
    """Return these columns of a CSV file, without spaces around their names; null means empty.

    All are text but ``numbers``; raise PublishedError about the first value there that is no
    number.
    """
    import polars as pl

    try:
        frame = pl.read_csv(path, infer_schema=False)
    except FileNotFoundError as error:
        raise _missing(path) from error
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


GITHUB = "https://raw.githubusercontent.com"

GITHUB_PAGES = "https://github.com"

AT_ONCE = 4
"""Files that are fetched at the same time."""
LARGEST = 16_000_000
"""The most bytes of a file whose size is not known."""

_SECONDS = 30.0
_AGAIN = "To resume, run the same command again. Or give a copy with --data."


@dataclass(frozen=True, kw_only=True)
class PublishedFile:
    """One file of a study."""

    study: str
    path: str
    """Below the study's folder."""
    sources: tuple[str, ...]
    """Its possible paths in the authors' repository, the likeliest first; its sha256 decides."""
    size: int | None
    """In bytes; None: only its sha256 is known."""
    sha256: str
    repository: str
    commit: str

    def is_in(self, folder: Path) -> bool:
        """Return whether the folder holds the file, byte for byte."""
        path = folder / self.study / self.path
        if not path.is_file() or path.stat().st_size != (self.size or path.stat().st_size):
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256

    def addresses(self, base: str) -> list[str]:
        """Return the addresses that the file can be fetched from."""
        commit = f"{base}/{self.repository}/{self.commit}"
        return [f"{commit}/{quote(source)}" for source in self.sources]


def published_files(studies: Iterable[str]) -> list[PublishedFile]:
    """Return every file of these studies that can be fetched."""
    repositories = {row["study"]: row for row in data_rows("repositories.csv")}
    return [
        PublishedFile(
            study=row["study"],
            path=row["path"],
            sources=tuple(row["source"].split("|")),
            size=int(row["bytes"]) if row["bytes"] else None,
            sha256=row["sha256"],
            repository=repositories[row["study"]]["repository"],
            commit=repositories[row["study"]]["commit"],
        )
        for row in data_rows("files.csv")
        if row["study"] in set(studies)
    ]


def not_fetched(studies: Iterable[str]) -> list[str]:
    """Return a sentence on each file of these studies that is not fetched, for want of a sha256."""
    repositories = {row["study"]: row for row in data_rows("repositories.csv")}
    chosen = set(studies)
    return [
        f"Not fetched, because no sha256 is known to check it: {row['study']}, {row['files']}. "
        f"You can put it into the study's folder by hand: {GITHUB_PAGES}/"
        f"{repositories[row['study']]['repository']}/tree/{repositories[row['study']]['commit']}."
        for row in data_rows("not_fetched.csv")
        if row["study"] in chosen
    ]


def download(
    files: Sequence[PublishedFile],
    folder: Path,
    *,
    base: str = GITHUB,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> int:
    """Fetch the files that the folder lacks, and return how many they were.

    ``progress`` gets the number of files in the folder and of all files. Raise DownloadError about
    the first file that could not be fetched; the files before it are kept.
    """
    missing = [file for file in files if not file.is_in(folder)]
    done = len(files) - len(missing)
    progress(done, len(files))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for _ in pool.map(partial(_fetch, folder=folder, base=base), missing):
                done += 1
                progress(done, len(files))
        except BaseException as error:
            # Whatever ends it, Ctrl-C too: downloads that have not begun are not begun.
            pool.shutdown(cancel_futures=True)
            if not isinstance(error, DownloadError):
                raise
            count = sum(file.is_in(folder) for file in files)
            sentence = f"{count:,} of {len(files):,} files are already in {folder}."
            raise DownloadError(f"{error} {sentence} {_AGAIN}") from error.__cause__
    return len(missing)


def _fetch(file: PublishedFile, *, folder: Path, base: str) -> None:
    """Fetch a file and write it into the folder."""
    content = _content(file, base)
    digest = hashlib.sha256(content).hexdigest()
    if digest != file.sha256:
        size = f" and {file.size:,}" if file.size else ""
        raise DownloadError(
            f"{file.study}/{file.path} is not the file that the authors published: it has the "
            f"sha256 {digest[:16]}… and {len(content):,} bytes, not {file.sha256[:16]}…{size}. "
            "It was not kept."
        )
    path = folder / file.study / file.path
    try:
        write_whole(path, content)
    except (AskingError, RunError) as error:
        raise PublishedError(f"{path} cannot be written: {error.__cause__}.") from error


def _content(file: PublishedFile, base: str) -> bytes:
    """Return the content from the first address that has the file."""
    addresses = file.addresses(base)
    for address in addresses:
        try:
            return _get(address, file)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != http.client.NOT_FOUND or address == addresses[-1]:
                message = f"{address} was refused: {error.code} {error.reason}."
                raise DownloadError(message) from error
    raise AssertionError("a file has at least one address")


def _get(address: str, file: PublishedFile) -> bytes:
    limit = file.size or LARGEST
    cut = (
        f"The connection broke during the download of {file.study}/{file.path}. The file was not "
        "kept."
    )
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:  # noqa: S310
            content: bytes = answer.read(limit + 1)
            left = answer.length
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        host = address.split("/")[2]
        message = f"{host} cannot be reached ({error.reason}). Check your internet connection."
        raise DownloadError(message) from error
    except (http.client.HTTPException, OSError) as error:
        raise DownloadError(cut) from error
    if len(content) > limit:
        raise DownloadError(
            f"{file.study}/{file.path} is not the file that the authors published: it has more "
            f"than {limit:,} bytes. It was not kept."
        )
    if left:
        raise DownloadError(cut)
    return content

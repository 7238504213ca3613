"""The run folder: every file in it is whole or absent.

runs/<name>/
  manifest.json
  prompts.parquet  scores.parquet  estimates.parquet
  answers/fills|labels|likelihoods|replies/<model>/<instrument>/
    <step>-<number>-<asked>-<sha256>.parquet
    journal   of replies

A part's checksum stands in its name, so that both come to be in one rename: there is no moment at
which one is there without the other. So does a digest of what was asked: answers are never taken
for those to other sentences.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from goffman.errors import AskingError, RunError
from goffman.tables import FILLS, LABELS, LIKELIHOODS, REPLIES, Column, complaints

if TYPE_CHECKING:
    import polars as pl

Table = Literal["fills", "labels", "replies", "likelihoods"]

PART = re.compile(r"(\d+)-(\d{5})-([0-9a-f]{16})-([0-9a-f]{64})\.parquet")
"""A part's name: step, number, digest of what was asked, sha256 of its bytes."""

UNSAID = "0" * 16
"""The digest of a part that is known by its rows alone."""

TEMPORARY = ".tmp"
"""How the name of a file ends that is being written."""

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""What the system says where there is no more room: on the disk, for the user, for the file."""


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """The parts of one model's answers to one instrument, as they were found sound."""

    folder: Path
    parts: dict[tuple[int, int], Path]
    """By step and number."""
    damaged: tuple[str, ...] = ()
    """Names of the files that are no sound parts."""


def columns_of(table: Table) -> tuple[Column, ...]:
    """The columns of a table of answers."""
    tables = {"fills": FILLS, "labels": LABELS, "replies": REPLIES, "likelihoods": LIKELIHOODS}
    return tables[table]


def slug(name: str) -> str:
    """A folder's name for a model's: readable, and different for different names."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[-60:]
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def answers_folder(run: Path, table: Table, *, model: str, instrument: str) -> Path:
    """Where a model's answers to an instrument lie."""
    return run / "answers" / table / slug(model) / instrument


@contextmanager
def disk_trouble(path: Path) -> Iterator[None]:
    """A disk that fails while the block runs is told as an AskingError."""
    try:
        yield
    except OSError as error:
        what = "The disk is full" if error.errno in FULL else "The disk failed"
        todo = "Free some space" if error.errno in FULL else "See to the disk"
        message = (
            f"{what}: {path} could not be written ({error.strerror}). Everything answered before "
            f"is kept. {todo} and give the same command again: it goes on from there."
        )
        raise AskingError(message) from error


def make_folder(folder: Path) -> None:
    """The folder is there afterwards, also after a power cut."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


def write_whole(path: Path, content: bytes) -> None:
    """The file has the content, and at every moment before it was as it had been."""
    temporary = path.with_name(path.name + TEMPORARY)
    with disk_trouble(path):
        make_folder(path.parent)
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def write_changed(path: Path, content: bytes) -> None:
    """The file has the content, and is left alone where it had it before."""
    with disk_trouble(path):
        there = path.read_bytes() if path.exists() else None
    if there != content:
        write_whole(path, content)


def sync_folder(folder: Path) -> None:
    """The folder's names are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def parquet(frame: pl.DataFrame) -> bytes:
    """The frame as a Parquet file; the same frame gives the same bytes."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=3, statistics=False)
    return buffer.getvalue()


def write_part(
    folder: Path, key: tuple[int, int], frame: pl.DataFrame, *, asked: str = UNSAID
) -> Path:
    """The file that now holds the part (step, number); ``asked``: the digest of its questions."""
    content = parquet(frame)
    step, number = key
    path = folder / f"{step}-{number:05d}-{asked}-{hashlib.sha256(content).hexdigest()}.parquet"
    write_whole(path, content)
    return path


def sound_parts(folder: Path, *, clear: bool) -> Shelf:
    """The parts whose bytes agree with the checksum in their names.

    ``clear`` removes what is damaged or was never finished, so that its part is asked again.
    """
    parts: dict[tuple[int, int], Path] = {}
    damaged = []
    for path in sorted(folder.glob("*.parquet*")):
        name = PART.fullmatch(path.name)
        key = (int(name[1]), int(name[2])) if name else None
        if name and key and key not in parts and _sha256(path) == name[4]:
            parts[key] = path
            continue
        if not path.name.endswith(TEMPORARY):
            damaged.append(path.name)
        if clear:
            path.unlink()
    return Shelf(folder=folder, parts=parts, damaged=tuple(damaged))


def forget_others(shelf: Shelf, *, step: int, asked: Sequence[str]) -> int:
    """How many parts of a step answer something else than these digests, by number, say.

    They are gone, from the shelf and from the disk.
    """
    wanted = {(step, number): digest for number, digest in enumerate(asked)}
    of_step = [key for key in shelf.parts if key[0] == step]
    others = [key for key in of_step if _asked(shelf.parts[key]) != wanted.get(key)]
    for key in others:
        shelf.parts.pop(key).unlink()
    return len(others)


def _asked(part: Path) -> str:
    return part.name.split("-")[2]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def count_rows(paths: Iterable[Path]) -> int:
    """The number of rows in all parts, from their headers."""
    import polars as pl

    files = list(paths)
    if not files:
        return 0
    return int(pl.scan_parquet(files, glob=False).select(pl.len()).collect().item())


def read_parts(paths: Iterable[Path], table: Table) -> pl.DataFrame:
    """The rows of all parts, with exactly the table's columns."""
    import polars as pl

    from goffman.tables import schema

    columns = columns_of(table)
    files = list(paths)
    if not files:
        return pl.DataFrame(schema=schema(columns))
    frame = pl.read_parquet(files, glob=False)
    if problems := complaints(frame, columns):
        raise RunError(f"{files[0].parent} does not hold {table}: {'; '.join(problems)}.")
    return frame

"""The answers of a run: every part of them is whole or absent.

Its name has its checksum, so that both come to be in one rename, and a digest of who was asked what
and how, so that answers are never taken for another model's, or for those to other sentences.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goffman.errors import RunError
from goffman.runs.files import Folder
from goffman.schemas import CHOICES, FILLS, LABELS, LIKELIHOODS, REPLIES, Column, complaints

if TYPE_CHECKING:
    import polars as pl

    from goffman.instruments.types import AnswerTable

PART = re.compile(r"(\d+)-(\d{5})-([0-9a-f]{16})-([0-9a-f]{64})\.parquet")
"""A part's name: step, number, digest of who was asked what, sha256 of its bytes."""

PHRASES = 0
"""The step whose parts are the tokens of conditions' phrases, which answer no prompt."""

MAX_PARTS = 100_000
"""Numbers of a step's parts are below it: they have five digits."""

ONLY_PART = (1, 0)
"""The one part of answers that are made from replies once all of them are there."""


class AnswerChunk(NamedTuple):
    """A file of answers."""

    name: str
    rows: int

    @property
    def asked(self) -> str:
        """The digest of who was asked what."""
        return self.name.split("-")[2]


@dataclass(frozen=True, kw_only=True)
class AnswerStore:
    """The parts of one model's answers to one instrument, as they were found sound."""

    folder: Folder
    parts: dict[tuple[int, int], AnswerChunk]
    """By step and number."""
    damaged: tuple[str, ...] = ()
    """Names of the files whose bytes are not those that were written."""
    foreign: tuple[str, ...] = ()
    """Names of the files whose rows are another model's."""

    @property
    def sha256(self) -> str:
        """Of the names of all parts, in which the checksums of their bytes stand."""
        return _names_sha256(part.name for part in self.parts.values())

    @property
    def rows(self) -> int:
        """Of all parts that answer prompts."""
        return sum(part.rows for (step, _), part in self.parts.items() if step != PHRASES)

    def is_whole(self, *, asked: str) -> bool:
        """Whether there is the one part with all answers, and no other."""
        return list(self.parts) == [ONLY_PART] and self.parts[ONLY_PART].asked == asked

    def write_whole(self, frame: pl.DataFrame, *, asked: str) -> None:
        """All answers are in one part, which is on disk, and no other is there."""
        for part in self.parts.values():
            self.folder.remove(part.name)
        self.parts.clear()
        self.parts[ONLY_PART] = write_chunk(self.folder, ONLY_PART, frame, asked=asked)


def columns_of(table: AnswerTable) -> tuple[Column, ...]:
    """The columns of a table of answers."""
    return {
        "fills": FILLS,
        "labels": LABELS,
        "likelihoods": LIKELIHOODS,
        "choices": CHOICES,
        "replies": REPLIES,
    }[table]


def slug(name: str) -> str:
    """A folder's name for a model's: readable, and different for different names."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[-60:]
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def answers_folder(
    run: Path | Folder, table: AnswerTable, *, model: str, instrument: str
) -> Folder:
    """Where a model's answers to an instrument lie."""
    return Folder.of(run) / "answers" / table / slug(model) / instrument.replace("/", ".")


def parquet(frame: pl.DataFrame) -> bytes:
    """The frame as a Parquet file; the same frame gives the same bytes."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=3, statistics=False)
    return buffer.getvalue()


def write_chunk(
    folder: Folder, key: tuple[int, int], frame: pl.DataFrame, *, asked: str
) -> AnswerChunk:
    """The part (step, number), which is on disk; ``asked``: the digest of who was asked what."""
    content = parquet(frame)
    step, number = key
    name = f"{step}-{number:05d}-{asked}-{hashlib.sha256(content).hexdigest()}.parquet"
    folder.write(name, content)
    return AnswerChunk(name, frame.height)


def verify_chunks(folder: Folder, *, model: str, clear: bool) -> AnswerStore:
    """The parts that have the bytes which their names promise, and the model's rows alone.

    ``clear`` removes the others, so that they are asked again. What has no name of a part is not
    ours, and left alone.
    """
    parts: dict[tuple[int, int], AnswerChunk] = {}
    damaged, foreign = [], []
    for name in folder.names():
        found = PART.fullmatch(name)
        if found is None:
            continue
        content = folder.read(name) or b""
        key = (int(found[1]), int(found[2]))
        if key in parts or hashlib.sha256(content).hexdigest() != found[4]:
            damaged.append(name)
        elif (rows := _rows_of(model, content)) is None:
            foreign.append(name)
        else:
            parts[key] = AnswerChunk(name, rows)
            continue
        if clear:
            folder.remove(name)
    return AnswerStore(folder=folder, parts=parts, damaged=tuple(damaged), foreign=tuple(foreign))


def _names_sha256(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()


def as_noted(folder: Folder, *, parts: int | None, sha256: str | None) -> bool:
    """Whether the folder has the parts that a manifest notes, with the bytes that they had then."""
    found = [match for match in map(PART.fullmatch, folder.names()) if match]
    if (len(found), _names_sha256(match[0] for match in found)) != (parts, sha256):
        return False
    return all(
        hashlib.sha256(folder.read(match[0]) or b"").hexdigest() == match[4] for match in found
    )


def _rows_of(model: str, content: bytes) -> int | None:
    """How many rows a part has; None where they are not this model's."""
    import polars as pl

    try:
        models = pl.read_parquet(io.BytesIO(content), columns=["model"])["model"]
    except pl.exceptions.PolarsError:
        return None
    return len(models) if models.unique().to_list() in ([model], []) else None


def drop_stale(
    shelf: AnswerStore, *, step: int, asked: Mapping[int, str], numbers: range = range(MAX_PARTS)
) -> int:
    """How many parts of a step answer something else than the digests say; they are removed."""
    # A copy: another thread may be putting a part there.
    of_step = [key for key in [*shelf.parts] if key[0] == step and key[1] in numbers]
    others = [key for key in of_step if shelf.parts[key].asked != asked.get(key[1])]
    for key in others:
        shelf.folder.remove(shelf.parts.pop(key).name)
    return len(others)


def read_chunks(
    folder: Folder,
    parts: Iterable[AnswerChunk],
    table: AnswerTable,
    *,
    prompts: pl.Series | None = None,
) -> pl.DataFrame:
    """The rows of the parts in their order, with exactly the table's columns.

    ``prompts``: only those that answer these. All rows at once would be in memory twice.
    """
    import polars as pl

    from goffman.schemas import schema

    columns = columns_of(table)
    frames = [pl.DataFrame(schema=schema(columns))]
    for part in parts:
        content = folder.read(part.name)
        if content is None:
            raise RunError(f"{folder.path / part.name} was deleted while the run was read.")
        frames.append(pl.read_parquet(io.BytesIO(content)))
        if problems := complaints(frames[-1], columns):
            raise RunError(f"{folder.path} does not contain {table}: {'; '.join(problems)}.")
        if prompts is not None:
            frames[-1] = frames[-1].filter(pl.col("prompt_id").is_in(prompts.implode()))
    return pl.concat(frames)

"""Download of the files that the studies' authors published, each checked by its sha256.

The folder never holds half a file; a file that is there and right is not fetched again.
"""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from goffman.errors import AskingError, DownloadError, PublishedError, RunError
from goffman.replicate.files import content_of, data_rows
from goffman.runs.files import write_whole

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
        return hashlib.sha256(content_of(path)).hexdigest() == self.sha256

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

"""The command about the studies' own numbers: replicate."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.options import Json
from goffman.output import cache_folder
from goffman.replicate.files import folder_above
from goffman.replicate.studies import Study, replicate_study
from goffman.terminal import table_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goffman.replicate.rows import Number, Replication, Row


def replicate(
    study: Annotated[
        Study | None,
        typer.Argument(
            metavar="STUDY",
            help="mei2023, lin2022, briegel2023, moore2025 or gueorguieva2025. Default: all five.",
        ),
    ] = None,
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with the authors' files: one subfolder per study. If you name one study, "
            "you can give its own folder instead. Default: the download folder.",
        ),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download the authors' files first (60 MB).")
    ] = False,
    ratings: Annotated[
        Path | None,
        typer.Option(
            help="mei2023 only: CSV file with ratings of words to use instead of goffman's."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Recompute the published numbers of five studies.

    The numbers are computed from the model outputs that the authors published.
    """
    studies = [study] if study else list(Study)
    folder = data or published_folder(os.environ, sys.platform)
    if download:
        _download(studies, folder_above(folder, studies))
    done = [replicate_study(name, folder, ratings=ratings) for name in studies]
    if as_json:
        entries = [each.entry() for each in done]
        found = entries[0] if study else entries
        print(json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False))
    else:
        print("\n".join(_text(each) for each in done), end="")
    if any(each.differing for each in done):
        raise typer.Exit(1)


def published_folder(environment: Mapping[str, str], platform: str) -> Path:
    """Where the authors' files lie on this machine: GOFFMAN_PUBLISHED, or the user's cache."""
    if given := environment.get("GOFFMAN_PUBLISHED"):
        return Path(given)
    return cache_folder(environment, platform) / "published"


def _download(studies: Sequence[str], folder: Path) -> None:
    from goffman.replicate.download import GITHUB, download, not_fetched, published_files
    from goffman.terminal import counting, printable

    # Another server with the same files: a mirror, or the one of the tests.
    base = os.environ.get("GOFFMAN_GITHUB", GITHUB)
    with counting(sys.stderr, "files") as progress:
        fetched = download(published_files(studies), folder, base=base, progress=progress)
    what = f"{fetched:,} files were downloaded" if fetched else "All files are already there"
    said = [f"{what}. They are in {printable(str(folder))}.", *not_fetched(studies)]
    print("\n".join(said), file=sys.stderr)


def _text(done: Replication) -> str:
    """The table of a study, and how many of its rows agree."""
    rows = [
        {
            done.study: row.name,
            "published": _shown(row.published, row.digits),
            "recomputed": _shown(row.recomputed, row.digits + 1),
            "": _mark(row),
            "note": row.note,
        }
        for row in done.rows
    ]
    table = table_text(rows, (done.study, "published", "recomputed", "", "note"))
    agreeing = sum(row.agrees is True for row in done.rows)
    known = sum(_mark(row) == _KNOWN for row in done.rows)
    rest = len(done.rows) - agreeing - len(done.differing) - known
    return (
        f"{table}{agreeing} numbers agree, {len(done.differing)} differ, {known} differ for a "
        f"known reason (see note),\n{rest} cannot be compared.\n"
    )


_KNOWN = "see note"


def _mark(row: Row) -> str:
    if row.agrees is not None:
        return "agrees" if row.agrees else "DIFFERS"
    return "" if row.published is None or row.recomputed is None else _KNOWN


def _shown(value: Number | None, digits: int) -> str:
    """A number with so many decimals; nothing for none."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)

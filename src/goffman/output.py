"""What commands write: rows as text, files that are whole or as they were, and the cache."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from goffman.errors import InputError


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


def rows_text(rows: Sequence[Mapping[str, object]], style: Format) -> str:
    """Rows to the letter: one object, line or record each."""
    if style is Format.JSON:
        return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    if style is Format.JSONL:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
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

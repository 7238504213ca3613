"""A file that a user brings: a plain one, no larger than allowed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from goffman.errors import InputError

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

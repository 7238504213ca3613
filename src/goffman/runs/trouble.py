"""What the system says of a file that cannot be read or written → a sentence for the user."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goffman.errors import AskingError, RunError, too_long

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""What the system says where there is no more room: on the disk, for the user, for the file."""

REFUSED = {
    *(errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP),
}
"""What it says of a place where we cannot write, however sound the disk is."""

FILE_KINDS = {
    stat.S_IFREG: "a file",
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def where(root: Path, inside: tuple[str, ...]) -> str:
    """How a place in a run is called in messages."""
    return f"{'/'.join(inside)} in {root}" if inside else str(root)


def not_ours(place: str, found: os.stat_result, wanted: str) -> RunError:
    """The refusal to touch what is not ``wanted``, such as "a file"."""
    kind = FILE_KINDS.get(stat.S_IFMT(found.st_mode), "something else")
    again = "Move it away and run the same command again."
    return RunError(f"{place} is {kind}, not {wanted}. {again}")


def check_missing(root: Path, inside: tuple[str, ...], error: OSError) -> None:
    """Nothing where nothing is there; RunError where something is, and cannot be read."""
    if error.errno == errno.ENAMETOOLONG:
        raise RunError(too_long(str(root.joinpath(*inside)))) from error
    for place in range(len(inside) + 1):
        path = root.joinpath(*inside[:place])
        if os.path.islink(path) and not os.path.exists(path):  # noqa: PTH114, PTH110
            how = "in a circle" if error.errno == errno.ELOOP else "nowhere"
            link = where(root, inside[:place])
            raise RunError(f"{link} is a link that leads {how}. Correct or remove it.") from error
    if os.path.isfile(root):  # noqa: PTH113
        raise RunError(
            f"'{root}' is a file, not a folder. A run is the folder that goffman audit writes."
        ) from error
    if not isinstance(error, FileNotFoundError):
        raise RunError(f"{where(root, inside)} cannot be read: {error.strerror}.") from error


@contextmanager
def disk_trouble(path: Path) -> Iterator[None]:
    """What goes wrong with a file that is being written while the block runs is told."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise RunError(too_long(str(path))) from error
        if error.errno in REFUSED:
            raise RunError(f"{path} cannot be written: {error.strerror}.") from error
        what = "The disk is full" if error.errno in FULL else "The disk failed"
        todo = "Free some space" if error.errno in FULL else "Check the disk"
        message = (
            f"{what}: {path} could not be written ({error.strerror}). All answers so far are "
            f"kept. {todo}, then run the same command again to resume."
        )
        raise AskingError(message) from error

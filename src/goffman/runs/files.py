"""The files of a run: the only way in which they are opened, listed, written and removed.

The run folder may be a link, and so may any part of the path to it: runs lie on other disks. A file
inside may be read through a link; nothing is written, cut or removed through one. Only plain files
are opened: a pipe or a device would keep us waiting for ever.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from goffman.errors import RunError
from goffman.runs.trouble import check_missing, disk_trouble, not_ours, where

TEMPORARY = re.compile(r"\.goffman-[0-9a-f]{32}\.tmp")
"""The name of a file that is being written."""

_PLAIN = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True)
class Folder:
    """The folder that a user named, or one inside it; what it does not hold yet, it may."""

    root: Path
    inside: tuple[str, ...] = ()

    @classmethod
    def at(cls, path: Path, *, run: Path | None) -> Folder:
        """The folder at a path: one inside the run where it lies there, else a user's own."""
        if run is not None and path.is_relative_to(run):
            return cls(run, path.relative_to(run).parts)
        return cls(path)

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.root, (*self.inside, name))

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.root.joinpath(*self.inside)

    def names(self) -> list[str]:
        """What lies in the folder, sorted; nothing where there is no such folder."""
        try:
            return sorted(os.listdir(self.path))  # noqa: PTH208
        except OSError as error:
            check_missing(self.root, self.inside, error)
            return []

    def opened(self, name: str) -> BinaryIO | None:
        """A plain file to read from, None where there is none; RunError where it is unreadable."""
        path = self.path / name
        try:
            # Before it is opened, which may set a device to work; and after: it may have changed.
            self._check_plain(name, path.stat())
            descriptor = os.open(path, os.O_RDONLY | _PLAIN)
        except OSError as error:
            check_missing(self.root, (*self.inside, name), error)
            return None
        try:
            self._check_plain(name, os.fstat(descriptor))
            return open(descriptor, "rb")  # noqa: PTH123
        except BaseException:
            os.close(descriptor)
            raise

    def read(self, name: str) -> bytes | None:
        """A plain file's content, None where there is none; RunError where it is unreadable."""
        file = self.opened(name)
        if file is None:
            return None
        with file:
            try:
                return file.read()
            except OSError as error:
                place = where(self.root, (*self.inside, name))
                raise RunError(f"{place} cannot be read: {error.strerror}.") from error

    def append(self, name: str, *, rights: int = 0o644) -> int:
        """A descriptor that reads the plain file, new or there, and writes at its end."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | _PLAIN
        with self._opened(make=True) as folder:
            self._check_place(name, folder)
            descriptor = os.open(name, flags, rights, dir_fd=folder)
            try:
                self._check_plain(name, os.fstat(descriptor))
                os.fsync(folder)
            except BaseException:
                os.close(descriptor)
                raise
        return descriptor

    def write(self, name: str, content: bytes) -> None:
        """The file has the content, and at every moment before it was as it had been."""
        with disk_trouble(self.path / name), self._opened(make=True) as folder:
            self._check_place(name, folder)
            temporary, descriptor = _temporary(folder)
            try:
                with open(descriptor, "wb") as file:  # noqa: PTH123
                    file.write(content)
                    file.flush()
                    os.fsync(descriptor)
                    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            os.fsync(folder)

    def write_changed(self, name: str, content: bytes) -> None:
        """The file has the content, and is left alone where it had it before."""
        if self.read(name) != content:
            self.write(name, content)

    def remove(self, name: str) -> None:
        """The file is gone; RunError where it is none that goffman can have written."""
        with disk_trouble(self.path / name), self._opened() as folder:
            self._check_place(name, folder)
            os.unlink(name, dir_fd=folder)

    def sweep(self) -> None:
        """What killed processes left half written, in this folder and all below, is gone."""
        with disk_trouble(self.path), self._opened(make=True) as top:
            for _, _, names, folder in os.fwalk(".", dir_fd=top):
                for name in filter(TEMPORARY.fullmatch, names):
                    _remove_unheld(name, folder)

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[int]:
        """A descriptor of the folder, to which no link inside the root has led."""
        descriptor = os.open(self.root, _FOLDER)
        try:
            for place, name in enumerate(self.inside):
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=descriptor)
                        os.fsync(descriptor)
                try:
                    inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
                except OSError as error:
                    if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                        raise
                    path = where(self.root, self.inside[: place + 1])
                    found = os.lstat(name, dir_fd=descriptor)
                    raise not_ours(path, found, "a folder") from error
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def _check_place(self, name: str, folder: int) -> None:
        """RunError where something else than a plain file has the name."""
        with suppress(FileNotFoundError):
            self._check_plain(name, os.lstat(name, dir_fd=folder))

    def _check_plain(self, name: str, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise not_ours(where(self.root, (*self.inside, name)), found, "a file")


def make_folder(folder: Path) -> None:
    """The folder that a user named is there afterwards, also after a power cut."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        descriptor = os.open(path.parent, _FOLDER)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_whole(path: Path, content: bytes) -> None:
    """A file that a user named has the content; at every moment before it was as it had been."""
    with disk_trouble(path):
        make_folder(path.parent)
    Folder(path.parent).write(path.name, content)


def _temporary(folder: int) -> tuple[str, int]:
    """A new file that no one can have foreseen, and that is held by this process until closed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        name = f".goffman-{secrets.token_hex(16)}.tmp"
        descriptor = os.open(name, flags, 0o666, dir_fd=folder)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return name, descriptor
        # Another process swept it away before it was held.
        os.close(descriptor)


def _remove_unheld(name: str, folder: int) -> None:
    """The unfinished file is gone, unless a process is still writing it."""
    with suppress(OSError):
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | _PLAIN, dir_fd=folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.unlink(name, dir_fd=folder)
        finally:
            os.close(descriptor)

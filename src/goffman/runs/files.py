"""The files of a run, and folders written for a user: how they are opened, written and removed."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from goffman.errors import AskingError, InputError, RunError, too_long
from goffman.os_support import hold

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""What the system says where there is no more room: on the disk, for the user, for the file."""

OPEN_FILES = {
    errno.EMFILE: "This process has too many files open",
    errno.ENFILE: "Too many files are open on this machine",
}
"""What it says where no more files can be opened, however sound the disk is."""

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
def disk_error(path: Path) -> Iterator[None]:
    """What goes wrong with a file that is being written while the block runs is told."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise RunError(too_long(str(path))) from error
        if error.errno in REFUSED:
            raise RunError(f"{path} cannot be written: {error.strerror}.") from error
        what, todo = "The disk failed", "Check the disk"
        if error.errno in FULL:
            what, todo = "The disk is full", "Free some space"
        elif error.errno in OPEN_FILES:
            what, todo = OPEN_FILES[error.errno], "Allow more open files (ulimit -n 4096)"
        raise AskingError(
            f"{what}: {path} could not be written ({error.strerror}). All answers so far are "
            f"kept. {todo}, then run the same command again to resume."
        ) from error


TEMPORARY = re.compile(r"\.goffman-[0-9a-f]{32}\.tmp")
"""The name of a file that is being written."""

_PLAIN = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True)
class Folder:
    """The folder that a user named, or one inside it; what it does not hold yet, it may.

    It may be a link, and so may any part of the path to it: runs lie on other disks. A file inside
    may be read through a link; nothing is written, cut or removed through one. Only plain files are
    opened: a pipe or a device would keep us waiting for ever.
    """

    root: Path
    inside: tuple[str, ...] = ()

    @classmethod
    def at(cls, path: Path, *, run: Path | None) -> Folder:
        """The folder at a path: one inside the run where it lies there, else a user's own."""
        if run is not None and path.is_relative_to(run):
            return cls(run, path.relative_to(run).parts)
        return cls(path)

    @classmethod
    def of(cls, place: Path | Folder) -> Folder:
        """The folder of a run: at a path that a user named, or within another run."""
        return place if isinstance(place, Folder) else cls(place)

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.root, (*self.inside, name))

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.root.joinpath(*self.inside)

    def make(self) -> None:
        """The folder is there afterwards; RunError where something else has its name."""
        if self.inside:
            with self._opened(make=True):
                return
        make_folder(self.root)

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
        with disk_error(self.path / name), self._opened(make=True) as folder:
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
        with disk_error(self.path / name), self._opened() as folder:
            self._check_place(name, folder)
            os.unlink(name, dir_fd=folder)

    def sweep(self) -> None:
        """What killed processes left half written, in this folder and all below, is gone."""
        with disk_error(self.path), self._opened(make=True) as top:
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
    with disk_error(path):
        make_folder(path.parent)
    Folder(path.parent).write(path.name, content)


def _temporary(folder: int) -> tuple[str, int]:
    """A new file that no one can have foreseen, and that is held by this process until closed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        name = f".goffman-{secrets.token_hex(16)}.tmp"
        descriptor = os.open(name, flags, 0o666, dir_fd=folder)
        hold(descriptor, wait=True)
        if os.fstat(descriptor).st_nlink:
            return name, descriptor
        # Another process swept it away before it was held.
        os.close(descriptor)


def _remove_unheld(name: str, folder: int) -> None:
    """The unfinished file is gone, unless a process is still writing it."""
    with suppress(OSError):
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | _PLAIN, dir_fd=folder)
        try:
            hold(descriptor)
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.unlink(name, dir_fd=folder)
        finally:
            os.close(descriptor)


README = "README.md"


def write_folder(folder: Path, files: Iterable[tuple[str, bytes]], *, heading: str) -> list[Path]:
    """The files, which are now in the folder; InputError where it holds something of others.

    The folder is whole, or as it was before. Killed in the middle, it leaves a hidden folder, which
    the next command with the same place removes.

    ``files``: path within the folder and content. README.md, which is among them, begins with
    ``heading``: by it we know a folder of ours again, and what else lies in it stays.
    """
    # What a killed process left unfinished is nobody's.
    left = (_left(folder), TEMPORARY)
    names = [
        name for name in Folder(folder).names() if not any(one.fullmatch(name) for one in left)
    ]
    about = Folder(folder).read(README) or b""
    if names and not about.startswith(heading.encode()):
        shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        raise InputError(
            f"{folder} contains other files ({shown}). Give an empty or new folder with --output."
        )
    within: list[str] = []
    with _unfinished(folder) as made:
        for path, content in files:
            _at(made, path).write(path.rsplit("/", 1)[-1], content)
            within.append(path)
        if made.parent == folder:
            # First the one by which the folder is known as ours, should this be the last.
            for path in sorted(within, key=lambda one: one != README):
                content = (made / path).read_bytes()
                _at(folder, path).write_changed(path.rsplit("/", 1)[-1], content)
        else:
            with disk_error(folder):
                made.rename(folder)
    return [folder / path for path in within]


def _at(folder: Path, path: str) -> Folder:
    """The folder within ``folder`` in which a path ends."""
    return Folder(folder, tuple(path.split("/")[:-1]))


def _left(folder: Path) -> re.Pattern[str]:
    """What the unfinished folder for this one is called."""
    return re.compile(rf"\.{re.escape(folder.resolve().name)}\.goffman-[0-9a-f]{{8}}")


@contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """A new folder, in this one if there is one, else beside; held until it is gone at the end."""
    beside = folder if folder.is_dir() else folder.parent
    made = beside / f".{folder.resolve().name}.goffman-{secrets.token_hex(4)}"
    with disk_error(folder):
        make_folder(beside)
        for name in filter(_left(folder).fullmatch, os.listdir(beside)):  # noqa: PTH208
            _remove_unheld_folder(beside / name)
        made.mkdir()
        held = os.open(made, _FOLDER)
    try:
        hold(held, wait=True)
        yield made
    finally:
        os.close(held)
        shutil.rmtree(made, ignore_errors=True)


def _remove_unheld_folder(left: Path) -> None:
    """The folder of a process that was killed is gone; one that is being written stays."""
    with suppress(OSError):
        held = os.open(left, _FOLDER | os.O_NOFOLLOW)
        try:
            hold(held)
            shutil.rmtree(left)
        finally:
            os.close(held)

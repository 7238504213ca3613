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
"""System errors that mean no more room: on the disk, for the user, for the file."""

OPEN_FILES = {
    errno.EMFILE: "This process has too many files open",
    errno.ENFILE: "Too many files are open on this machine",
}
"""System errors that mean no more files can be opened, however sound the disk is."""

REFUSED = {
    *(errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP),
}
"""System errors that mean a place cannot be written, however sound the disk is."""

LARGEST = 2**32
"""The most bytes of a file that is read whole; goffman writes none that comes near."""

AWAY = "Move it away and run the same command again."

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
    """Return the text by which messages name a file inside of a folder."""
    return f"{'/'.join(inside)} in {root}" if inside else str(root)


def not_ours(place: str, status: os.stat_result, wanted: str) -> RunError:
    """Return the error that a place holds something else than ``wanted``, such as "a file"."""
    kind = FILE_KINDS.get(stat.S_IFMT(status.st_mode), "something else")
    return RunError(f"{place} is {kind}, not {wanted}. {AWAY}")


def check_missing(root: Path, inside: tuple[str, ...], error: OSError) -> None:
    """Raise RunError if something is there that cannot be read; return if nothing is there."""
    if error.errno == errno.ENAMETOOLONG:
        raise RunError(too_long(str(root.joinpath(*inside)))) from error
    for depth in range(len(inside) + 1):
        path = root.joinpath(*inside[:depth])
        if os.path.islink(path) and not os.path.exists(path):  # noqa: PTH114, PTH110
            direction = "in a circle" if error.errno == errno.ELOOP else "nowhere"
            link = where(root, inside[:depth])
            raise RunError(
                f"{link} is a link that leads {direction}. Correct or remove it."
            ) from error
    if os.path.isfile(root):  # noqa: PTH113
        raise RunError(
            f"'{root}' is a file, not a folder. A run is the folder that goffman audit writes."
        ) from error
    if not isinstance(error, FileNotFoundError):
        raise RunError(f"{where(root, inside)} cannot be read: {error.strerror}.") from error


@contextmanager
def disk_error(path: Path) -> Iterator[None]:
    """Explain in an error what goes wrong with the file that is written while the block runs."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise RunError(too_long(str(path))) from error
        if error.errno in REFUSED:
            raise RunError(f"{path} cannot be written: {error.strerror}.") from error
        problem, advice = "The disk failed", "Check the disk"
        if error.errno in FULL:
            problem, advice = "The disk is full", "Free some space"
        elif error.errno in OPEN_FILES:
            problem, advice = OPEN_FILES[error.errno], "Allow more open files (ulimit -n 4096)"
        raise AskingError(
            f"{problem}: {path} could not be written ({error.strerror}). All answers so far are "
            f"kept. {advice}, then run the same command again to resume."
        ) from error


TEMPORARY = re.compile(r"\.goffman-[0-9a-f]{32}\.tmp")
"""The name of a file that is being written."""

_PLAIN = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True)
class Folder:
    """A folder that a user named, or one inside it; it need not exist yet.

    The folder may be a link, and so may any part of the path to it: runs lie on other disks. A file
    inside may be read through a link; nothing is written, cut or removed through one. Only plain
    files are opened: a pipe or a device would keep us waiting forever.
    """

    root: Path
    inside: tuple[str, ...] = ()

    @classmethod
    def at(cls, path: Path, *, run: Path | None) -> Folder:
        """Return the folder at a path: one inside the run if it lies there, else the user's own."""
        if run is not None and path.is_relative_to(run):
            return cls(run, path.relative_to(run).parts)
        return cls(path)

    @classmethod
    def of(cls, place: Path | Folder) -> Folder:
        """Return the folder of a run: at a path that a user named, or within another run."""
        return place if isinstance(place, Folder) else cls(place)

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.root, (*self.inside, name))

    @property
    def path(self) -> Path:
        """Return the folder's path."""
        return self.root.joinpath(*self.inside)

    def make(self) -> None:
        """Make the folder if it is missing; raise RunError if something else has its name."""
        if self.inside:
            with self._opened(make=True):
                return
        make_folder(self.root)

    def names(self) -> list[str]:
        """Return the names in the folder, sorted; none if there is no such folder."""
        try:
            return sorted(os.listdir(self.path))  # noqa: PTH208
        except OSError as error:
            check_missing(self.root, self.inside, error)
            return []

    def opened(self, name: str) -> BinaryIO | None:
        """Return a plain file to read, or None if there is none; raise RunError if unreadable."""
        path = self.path / name
        try:
            # Checked before opening, which may start a device, and after: it may have changed.
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
        """Return a plain file's content, or None if there is none; raise RunError if unreadable."""
        file = self.opened(name)
        if file is None:
            return None
        place = where(self.root, (*self.inside, name))
        with file:
            if (size := os.fstat(file.fileno()).st_size) > LARGEST:
                raise RunError(f"{place} has {size:,} bytes, more than any file of a run. {AWAY}")
            try:
                return file.read()
            except OSError as error:
                raise RunError(f"{place} cannot be read: {error.strerror}.") from error

    def append(self, name: str, *, rights: int = 0o644) -> int:
        """Return a descriptor that reads the plain file, new or existing, and writes at its end."""
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
        """Write the content to the file, which is as it was before until it has the content."""
        with disk_error(self.path / name):
            self.replace(name, content)

    def replace(self, name: str, content: bytes, *, rights: int | None = None) -> None:
        """Do as ``write``, but raise OSError on failure; ``rights``: the file's permissions."""
        with self._opened(make=True) as folder:
            self._check_place(name, folder)
            temporary, descriptor = _temporary(folder)
            try:
                with open(descriptor, "wb") as file:  # noqa: PTH123
                    file.write(content)
                    if rights is not None:
                        os.fchmod(descriptor, rights)
                    file.flush()
                    os.fsync(descriptor)
                    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            os.fsync(folder)

    def write_changed(self, name: str, content: bytes) -> None:
        """Write the content to the file, unless the file has it already."""
        if self.read(name) != content:
            self.write(name, content)

    def remove(self, name: str) -> None:
        """Remove the file; raise RunError if goffman cannot have written it."""
        with disk_error(self.path / name), self._opened() as folder:
            self._check_place(name, folder)
            os.unlink(name, dir_fd=folder)

    def sweep(self) -> None:
        """Remove what killed processes left half written, in this folder and all below."""
        with disk_error(self.path), self._opened(make=True) as top:
            for _, _, names, folder in os.fwalk(".", dir_fd=top):
                for name in filter(TEMPORARY.fullmatch, names):
                    _remove_unheld(name, folder)

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[int]:
        """Yield a descriptor of the folder, reached through no link inside the root."""
        descriptor = os.open(self.root, _FOLDER)
        try:
            for depth, name in enumerate(self.inside):
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=descriptor)
                        os.fsync(descriptor)
                try:
                    inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
                except OSError as error:
                    if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                        raise
                    path = where(self.root, self.inside[: depth + 1])
                    status = os.lstat(name, dir_fd=descriptor)
                    raise not_ours(path, status, "a folder") from error
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def _check_place(self, name: str, folder: int) -> None:
        """Raise RunError if something else than a plain file has the name."""
        with suppress(FileNotFoundError):
            self._check_plain(name, os.lstat(name, dir_fd=folder))

    def _check_plain(self, name: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise not_ours(where(self.root, (*self.inside, name)), status, "a file")


def make_folder(folder: Path) -> None:
    """Make the folder that a user named, so that it survives a power cut."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        descriptor = os.open(path.parent, _FOLDER)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_whole(path: Path, content: bytes) -> None:
    """Write the content to a file that a user named, which is as it was before until then."""
    with disk_error(path):
        make_folder(path.parent)
    Folder(path.parent).write(path.name, content)


def write_output(path: Path, content: bytes) -> None:
    """Write a file that the user named, all of it or nothing; raise InputError on failure.

    The target of a link is written, and keeps its rights; a device or a pipe is written to.
    """
    try:
        target, rights = path.resolve(), None
        if target.exists():
            if not target.is_file():
                target.write_bytes(content)
                return
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            rights = stat.S_IMODE(target.stat().st_mode)
        Folder(target.parent).replace(target.name, content, rights=rights)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is a link to itself"
        raise InputError(f"{path} cannot be written: {reason}.") from error


def append_whole(descriptor: int, content: bytes, *, sync: bool = False) -> None:
    """Write the whole content to the end of a file, and with ``sync`` to the disk, or nothing."""
    size = os.fstat(descriptor).st_size
    try:
        while content:
            content = content[os.write(descriptor, content) :]
        if sync:
            os.fsync(descriptor)
    except OSError:
        # Half a line must not stay before the next one. If even this fails, the first error is the
        # one to report.
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def _temporary(folder: int) -> tuple[str, int]:
    """Return the name and descriptor of a new file that no one can foresee, held until closed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        name = f".goffman-{secrets.token_hex(16)}.tmp"
        descriptor = os.open(name, flags, 0o666, dir_fd=folder)
        hold(descriptor, wait=True)
        if os.fstat(descriptor).st_nlink:
            return name, descriptor
        # Another process removed it before it was held.
        os.close(descriptor)


def _remove_unheld(name: str, folder: int) -> None:
    """Remove the unfinished file, unless a process is still writing it."""
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
    """Write the files to the folder and return their paths.

    Raise InputError if it holds files of others. The folder is whole afterwards, or as it was
    before. A process killed in the middle leaves a hidden folder, which the next command with the
    same folder removes.

    ``files``: path within the folder and content. README.md, which is among them, begins with
    ``heading``: by it we recognize a folder of ours, and other files in it stay.
    """
    # What a killed process left unfinished belongs to nobody.
    patterns = (_left(folder), TEMPORARY)
    names = [
        name
        for name in Folder(folder).names()
        if not any(pattern.fullmatch(name) for pattern in patterns)
    ]
    readme = Folder(folder).read(README) or b""
    if names and not readme.startswith(heading.encode()):
        sample = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        raise InputError(
            f"{folder} contains other files ({sample}). Give an empty or new folder with --output."
        )
    paths: list[str] = []
    with _unfinished(folder) as new_folder:
        for path, content in files:
            _at(new_folder, path).write(path.rsplit("/", 1)[-1], content)
            paths.append(path)
        if new_folder.parent == folder:
            # First the file by which the folder is recognized as ours, in case no other follows.
            for path in sorted(paths, key=lambda name: name != README):
                content = (new_folder / path).read_bytes()
                _at(folder, path).write_changed(path.rsplit("/", 1)[-1], content)
        else:
            with disk_error(folder):
                new_folder.rename(folder)
    return [folder / path for path in paths]


def _at(folder: Path, path: str) -> Folder:
    """Return the folder within ``folder`` that contains the file at ``path``."""
    return Folder(folder, tuple(path.split("/")[:-1]))


def _left(folder: Path) -> re.Pattern[str]:
    """Return the pattern of names of the unfinished folder for this one."""
    return re.compile(rf"\.{re.escape(folder.resolve().name)}\.goffman-[0-9a-f]{{8}}")


@contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """Yield a new locked folder, in this one if it exists, else beside; remove it at the end."""
    parent = folder if folder.is_dir() else folder.parent
    new_folder = parent / f".{folder.resolve().name}.goffman-{secrets.token_hex(4)}"
    with disk_error(folder):
        make_folder(parent)
        for name in filter(_left(folder).fullmatch, os.listdir(parent)):  # noqa: PTH208
            _remove_unheld_folder(parent / name)
        new_folder.mkdir()
        descriptor = os.open(new_folder, _FOLDER)
    try:
        hold(descriptor, wait=True)
        yield new_folder
    finally:
        os.close(descriptor)
        shutil.rmtree(new_folder, ignore_errors=True)


def _remove_unheld_folder(left: Path) -> None:
    """Remove the folder of a process that was killed; leave one that is being written."""
    with suppress(OSError):
        descriptor = os.open(left, _FOLDER | os.O_NOFOLLOW)
        try:
            hold(descriptor)
            shutil.rmtree(left)
        finally:
            os.close(descriptor)

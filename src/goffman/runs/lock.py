"""One process at a time writes to a run folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goffman.errors import RunError
from goffman.runs.files import Folder
from goffman.runs.trouble import disk_trouble


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder is this process's own while the block runs.

    The system gives the lock back when the process ends, however it ends; the file stays and means
    nothing by itself (removing it could remove the lock of a process that has just come).
    """
    try:
        descriptor = Folder(folder).append("lock")
    except OSError as error:
        message = (
            f"goffman cannot write to {folder}: {error.strerror}. Give another folder with "
            "--output."
        )
        raise RunError(message) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(_in_use(folder, os.read(descriptor, 20))) from None
        with disk_trouble(folder / "lock"):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        os.close(descriptor)


def _in_use(folder: Path, pid: bytes) -> str:
    holder = f"process {pid.decode()}" if pid.isdigit() else "another process"
    return (
        f"{folder} is in use by {holder}. Only one process can use a run at a time. Wait until it "
        "ends, or give another folder with --output."
    )

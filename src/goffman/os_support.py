"""What differs between systems: those goffman runs on, their locks, the cores of a machine."""

from __future__ import annotations

import os
import platform

from goffman.errors import InputError


def check_system() -> None:
    """Raise InputError if the system lacks what runs are kept safe with."""
    try:
        import fcntl  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"goffman does not run on {platform.system() or 'this system'}, which lacks file locks "
            "(Python's fcntl). Use Linux, macOS, or Windows through WSL: "
            "https://learn.microsoft.com/windows/wsl/install"
        ) from error


def hold(descriptor: int, *, wait: bool = False) -> None:
    """Lock the open file for this process until it is closed, however the process ends.

    Raise BlockingIOError if another process has it, unless we ``wait``.
    """
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def cores() -> int:
    """Return how many CPU cores this process may use; all of them if the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

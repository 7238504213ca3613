"""The processes of this machine, for tests that kill some of them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def parents():
    """Process → the one that started it; without those that have ended."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                found[int(stat.parent.name)] = int(parent)
    return found


def children(parent):
    """The processes that this one started, in order."""
    return sorted(pid for pid, its in parents().items() if its == parent)


def tree(root):
    """The process, those that it started, those that they started …"""
    known, found, new = parents(), {root}, {root}
    while new:
        new = {pid for pid, parent in known.items() if parent in new} - found
        found |= new
    return found


def title(pid):
    """What a process calls itself."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return ""


def kill(pids):
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

"""Folders that the workers of one test session share: whoever asks first makes one, once."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def made_once(name: str, *, within: Path, make: Callable[[Path], object]) -> Path:
    """The folder of that name, whole: ``make`` fills an empty one, which then gets the name.

    The others wait at a lock meanwhile. Where ``make`` fails nothing stays, and the next may try.
    """
    within.mkdir(parents=True, exist_ok=True)
    folder = within / name
    with (within / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=within))
            try:
                make(making)
                making.rename(folder)
            except BaseException:
                shutil.rmtree(making)
                raise
    return folder

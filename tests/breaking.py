"""Sound files of users in a folder of their own, and what breaks them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import goffman.instruments

SOUND = Path(__file__).parent / "broken"
BUILT_IN = Path(goffman.instruments.__file__).parent / "data"


def sound(base: str, within: Path) -> Path:
    """A folder DIR with the files of tests/broken, or of one of goffman's own instruments."""
    source = SOUND / base
    if not source.exists():
        source = BUILT_IN / base
        # Others take their conditions from it.
        shutil.copytree(BUILT_IN / "social-distance", within / "social-distance")
    return shutil.copytree(source, within / "DIR")


def broken(folder: Path, change: Any) -> None:
    """Change a file: (file, text), (file, None) without it, (file, old, new); or do several."""
    if isinstance(change, list):
        for part in change:
            broken(folder, part)
    elif callable(change):
        change(folder)
    else:
        name, *how = change
        path = folder / name
        if how == [None]:
            path.unlink()
            return
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if len(how) == 2:
            old, new = how
            after = re.sub(
                old if isinstance(old, re.Pattern) else re.escape(old),
                lambda _: new,
                before,
                count=1,
            )
            assert after != before, how
        else:
            after = how[0](before) if callable(how[0]) else how[0]
        path.write_bytes(after if isinstance(after, bytes) else after.encode())

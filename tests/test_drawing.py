"""The drawing in the package's docstring is true."""

from __future__ import annotations

import re
from pathlib import Path

import goffman

SOURCE = Path(goffman.__file__).parent


def test_every_module_stands_in_the_drawing_and_nothing_else() -> None:
    there = {path.name for path in SOURCE.rglob("*.py")} - {"__init__.py"}
    drawn = set(re.findall(r"\b\w+\.py\b", goffman.__doc__ or ""))
    assert drawn == there


def test_every_stage_stands_in_the_drawing() -> None:
    there = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    drawn = set(re.findall(r"^    (\w+)/ ", goffman.__doc__ or "", flags=re.MULTILINE))
    assert drawn == there

"""What is needed to run goffman, or to develop it, as the metadata of what is installed say."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def closure(*requirements: str) -> set[str]:
    """The names of the packages, of what they need, and of what that needs."""
    found: set[str] = set()

    def visit(text: str, extra: str) -> None:
        need = Requirement(text)
        if need.marker and not need.marker.evaluate({"extra": extra}):
            return
        if need.name == "goffman":
            for each in need.extras:
                for further in PROJECT["project"]["optional-dependencies"][each]:
                    visit(further, "")
            return
        for each in ("", *need.extras):
            key = f"{normal(need.name)}[{each}]"
            if key not in found:
                found.add(key)
                for further in requires(need.name) or ():
                    visit(further, each)

    for requirement in requirements:
        visit(requirement, "")
    return {key.partition("[")[0] for key in found}

"""The doors for other packages: what they add to goffman through entry points.

goffman.instruments   the folder of an instrument, or a function that gives it
goffman.anchors       the folder of an anchor, or a function that gives it
goffman.measures      a class that does what measures/base.py asks
goffman.models        a kind of model: see models/kinds.py
goffman.parsers       a function that reads replies: see measures/replies.py

A plug-in that cannot be loaded is named in a warning and left out; everything else goes on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Literal

Door = Literal[
    "goffman.instruments",
    "goffman.anchors",
    "goffman.measures",
    "goffman.models",
    "goffman.parsers",
]


class PluginWarning(UserWarning):
    """A package's plug-in is left out, and why."""


@cache
def _loaded(door: Door) -> tuple[tuple[str, object], ...]:
    found = []
    for entry in sorted(entry_points(group=door), key=lambda one: one.name):
        try:
            found.append((entry.name, entry.load()))
        except Exception as error:  # noqa: BLE001 - whatever a stranger's code raises
            refuse(door, entry.name, f"{type(error).__name__}: {error}")
    return tuple(found)


def plugged(door: Door) -> Iterator[tuple[str, object]]:
    """Name and object of everything that other packages put into a door, by name."""
    yield from _loaded(door)


def refuse(door: Door, name: str, why: str) -> None:
    """The user is told that a plug-in is left out."""
    warnings.warn(f"The plug-in '{name}' ({door}) is not used: {why}", PluginWarning, stacklevel=3)

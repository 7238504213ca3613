"""The doors for other packages: what they add to goffman through entry points.

A plug-in that cannot be loaded is named in a warning and left out; everything else goes on.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from goffman.console import printable
from goffman.errors import GoffmanError, InputError

Door = Literal[
    "goffman.instruments",
    "goffman.anchors",
    "goffman.measures",
    "goffman.models",
    "goffman.parsers",
]
"""For the folder of an instrument or an anchor, or a function that gives it; a class that does what
measures/base.py asks; a kind of model (see models/registry.py); a function that reads replies."""


class _Known(Protocol):
    """What a folder holds: it says its own id."""

    @property
    def id(self) -> str: ...


Thing = TypeVar("Thing", bound=_Known)


class PluginWarning(UserWarning):
    """A package's plug-in is left out, and why."""


@cache
def _loaded(door: Door) -> tuple[tuple[str, object], ...]:
    found = []
    for entry in sorted(entry_points(group=door), key=lambda one: one.name):
        try:
            found.append((entry.name, entry.load()))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's code raises
            refuse(door, entry.name, *raised(error))
    return tuple(found)


def plugged(door: Door) -> Iterator[tuple[str, object]]:
    """Name and object of everything that other packages put into a door, by name."""
    yield from _loaded(door)


def plugged_folders(
    door: Door, *, what: str, known: Collection[str], read: Callable[[Path], Thing]
) -> dict[str, Thing]:
    """By name: what other packages' folders hold, each read to the end.

    So a fault shows before anyone asks for it: a faulty one is left out, and why is said.
    ``what``: instrument or anchor; ``known``: names that are taken.
    """
    found: dict[str, Thing] = {}
    for name, thing in plugged(door):
        try:
            one = read(_folder(thing, what))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's code raises
            refuse(door, name, *raised(error))
        else:
            if name in {*known, *found}:
                refuse(door, name, f"there is already an {what} of this name.")
            elif one.id != name:
                why = f"its id is '{one.id}', but the entry point has another name."
                refuse(door, name, f"{why} Use the same name for both.")
            else:
                found[name] = one
    return found


def _folder(thing: object, what: str) -> Path:
    """The folder that an entry point is, or gives."""
    given = thing() if callable(thing) else thing
    if not isinstance(given, str | os.PathLike):
        raise InputError(
            f"it returns {type(given).__name__}, but it must return the path of an {what}'s "
            "folder, or a function without arguments that returns it."
        )
    folder = Path(given)
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}.")
    return folder


def raised(error: BaseException) -> tuple[str, ...]:
    """What a stranger's code raised, sys.exit() too, in lines."""
    return error.lines if isinstance(error, GoffmanError) else (f"{type(error).__name__}: {error}",)


def refuse(door: Door, name: str, *lines: str) -> None:
    """The user is told that a plug-in is left out, and why."""
    first, *more = lines
    said = (f"The plug-in '{name}' ({door}) is not used: {first}", *more)
    warnings.warn("\n".join(map(printable, said)), PluginWarning, stacklevel=3)

"""The entry points through which other packages add to goffman.

A plug-in that cannot be loaded is named in a warning and left out; everything else goes on.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection
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
"""The groups of entry points, for: the folder of an instrument or an anchor, or a function that
returns it; a class that does what measures/base.py asks; a kind of model (see models/registry.py);
a function that reads replies."""


class _Known(Protocol):
    """The content of a folder, which says its own id."""

    @property
    def id(self) -> str: ...


Thing = TypeVar("Thing", bound=_Known)


class PluginWarning(UserWarning):
    """The warning that a package's plug-in is left out, and why."""


@cache
def plugged(door: Door) -> tuple[tuple[str, object], ...]:
    """Return names and objects of an entry-point group of other packages, sorted by name."""
    plugins = []
    for entry in sorted(entry_points(group=door), key=lambda point: point.name):
        try:
            plugins.append((entry.name, entry.load()))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's code raises
            refuse(door, entry.name, *raised(error))
    return tuple(plugins)


def plugged_folders(
    door: Door, *, what: str, known: Collection[str], read: Callable[[Path], Thing]
) -> dict[str, Thing]:
    """Return by name what was read from the folders of other packages.

    All are read at once: a faulty one is left out, with a warning why.
    ``what``: instrument or anchor; ``known``: names that are taken.
    """
    contents: dict[str, Thing] = {}
    for name, thing in plugged(door):
        try:
            content = read(_folder(thing, what))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's code raises
            refuse(door, name, *raised(error))
        else:
            if name in {*known, *contents}:
                refuse(door, name, f"there is already an {what} of this name.")
            elif content.id != name:
                reason = f"its id is '{content.id}', but the entry point has another name."
                refuse(door, name, f"{reason} Use the same name for both.")
            else:
                contents[name] = content
    return contents


def _folder(thing: object, what: str) -> Path:
    """Return the folder that an entry point is, or returns."""
    path = thing() if callable(thing) else thing
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            f"it returns {type(path).__name__}, but it must return the path of an {what}'s "
            "folder, or a function without arguments that returns it."
        )
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}.")
    return folder


def raised(error: BaseException) -> tuple[str, ...]:
    """Return the lines of an exception from another package, which may be SystemExit."""
    return error.lines if isinstance(error, GoffmanError) else (f"{type(error).__name__}: {error}",)


def refuse(door: Door, name: str, *lines: str) -> None:
    """Warn the user that a plug-in is left out, and say why."""
    first, *details = lines
    message = (f"The plug-in '{name}' ({door}) is not used: {first}", *details)
    warnings.warn("\n".join(map(printable, message)), PluginWarning, stacklevel=3)

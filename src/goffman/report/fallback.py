"""What people read of a run; if one of its later tables cannot be shown, then without it.

Scores and estimates are always shown. A table that was made from them later must not hide them when
it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from goffman.anchors.compare import ANCHORS_FILE, POINTS_FILE
from goffman.errors import GoffmanError, RunError
from goffman.presentation.multiverse import analyses, curve, describe_holds
from goffman.sensitivity.multiverse import MULTIVERSE_FILE, STRESS_FILE
from goffman.sensitivity.user_ratings import COMPARED
from goffman.sensitivity.variations import SENSITIVITY_FILE

if TYPE_CHECKING:
    from goffman.report.load import MeasuredRun

LATER = {
    f"{MULTIVERSE_FILE} and {STRESS_FILE}": ("stressed",),
    f"{ANCHORS_FILE} and {POINTS_FILE}": ("anchors", "anchor_points"),
    COMPARED: ("compared",),
    SENSITIVITY_FILE: ("sensitivity",),
}
"""Files → the attributes of their tables, which a run may be without; the last made first."""


Shown = TypeVar("Shown")


def as_far_as_shown(
    run: MeasuredRun, show: Callable[[MeasuredRun, Sequence[str]], Shown]
) -> tuple[Shown, Sequence[str]]:
    """Return what ``show`` makes of the run, and a sentence on what it could not show, if any.

    ``show`` gets that sentence, too. A table is left out only if that helps; an error that remains
    is raised as it was.
    """
    try:
        return show(run, ()), ()
    except GoffmanError:
        raise
    except Exception as error:
        for files, without in _there(run).items():
            sentences = (f"{files} could not be shown ({_what(error)}). {_REST}",)
            with suppress(Exception):  # It is not this table, or not this one alone.
                return show(replace(run, **without), sentences), sentences
        raise


def _there(run: MeasuredRun) -> dict[str, dict[str, Any]]:
    """Return the run's later tables to leave out: one after the other, then all of them."""
    tables: dict[str, dict[str, Any]] = {
        files: dict.fromkeys(names)
        for files, names in LATER.items()
        if any(getattr(run, name) is not None for name in names)
    }
    all_tables = dict.fromkeys(name for names in tables.values() for name in names)
    return tables | ({", ".join(tables): all_tables} if len(tables) > 1 else {})


def check_stressed(run: MeasuredRun) -> None:
    """Raise RunError if the other analyses of the run cannot be shown."""
    try:
        for section in run.sections.values():
            _ = describe_holds(section), [*curve(section)], [*analyses(section)]
    except Exception as error:
        raise RunError(
            f"The other analyses of {run.folder} could not be shown ({_what(error)}), so they were "
            "not kept. The run is as it was. Please report this."
        ) from error


_REST = "Everything else is there. Please report this."


def _what(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

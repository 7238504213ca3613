"""What people read of a run, also where one of its later tables cannot be shown: then without it.

Scores and estimates are always shown. What was made from them later, and stands beside them, must
not take them along when it fails.
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
"""By their files: tables that a run may be without, the last made first."""


Shown = TypeVar("Shown")


def as_far_as_shown(
    run: MeasuredRun, show: Callable[[MeasuredRun, Sequence[str]], Shown]
) -> tuple[Shown, Sequence[str]]:
    """What ``show`` makes of the run, and the sentence about what it could not show, if any.

    ``show`` is given that sentence, too. A table is left out only where that helps; an error that
    remains is raised as it was.
    """
    try:
        return show(run, ()), ()
    except GoffmanError:
        raise
    except Exception as error:
        for files, without in _there(run).items():
            said = (f"{files} could not be shown ({_what(error)}). {_REST}",)
            with suppress(Exception):  # It is not this table, or not this one alone.
                return show(replace(run, **without), said), said
        raise


def _there(run: MeasuredRun) -> dict[str, dict[str, Any]]:
    """The later tables that the run has, one after the other, then all of them."""
    found: dict[str, dict[str, Any]] = {
        files: dict.fromkeys(names)
        for files, names in LATER.items()
        if any(getattr(run, name) is not None for name in names)
    }
    every = dict.fromkeys(name for names in found.values() for name in names)
    return found | ({", ".join(found): every} if len(found) > 1 else {})


def check_stressed(run: MeasuredRun) -> None:
    """RunError where the other analyses of the run cannot be shown."""
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

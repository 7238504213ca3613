"""The registry of measures: built-in ones, and those of other packages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from goffman.errors import InputError, RunError, did_you_mean
from goffman.measures.base import REQUIRED, Measure
from goffman.measures.coreference import CoreferenceBias, CoreferenceChoice
from goffman.measures.gender import PhraseGender, SubjectGender, WrittenGender
from goffman.measures.multiple_choice import ChoiceMeasure, CodeByGender, MeanCode
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.pronoun_preference import PronounPreference
from goffman.measures.sentiment import NegativeSentiment
from goffman.measures.vignettes import VignetteCode
from goffman.models.registry import answers_to
from goffman.plugins import plugged, refuse
from goffman.validation import check_types

if TYPE_CHECKING:
    from goffman.instruments.types import Instrument

BUILT_IN: tuple[type[Measure], ...] = (
    NegativeAttitude,
    NegativeSentiment,
    SubjectGender,
    PhraseGender,
    CoreferenceBias,
    PronounPreference,
    MeanCode,
    CodeByGender,
    CoreferenceChoice,
    WrittenGender,
    VignetteCode,
)
"""In the order of the studies."""


@cache
def measures() -> Mapping[str, type[Measure]]:
    """Return every measure by its name: the built-in ones, then those of other packages."""
    by_name: dict[str, type[Measure]] = {str(measure.name): measure for measure in BUILT_IN}
    for entry, plugin in plugged("goffman.measures"):
        kind = cast("type[Measure]", plugin)
        if fault := _fault(plugin, by_name):
            refuse("goffman.measures", entry, fault)
        else:
            by_name[str(kind.name)] = kind
    return by_name


def _fault(kind: object, known: Collection[str]) -> str | None:
    """Return why an entry point of another package is no measure, or None if it is one."""
    if not (isinstance(kind, type) and issubclass(kind, Measure)):
        return "it is not a dataclass that inherits from goffman.measures.base.Measure."
    base = vars(Measure)
    missing = [member for member in REQUIRED if getattr(kind, member, None) is base.get(member)]
    if missing:
        return f"it lacks {', '.join(missing)}; see goffman/measures/base.py."
    if (kind.scores_controls is None) != (kind.control is Measure.control):
        return "scores_controls and control go together; see goffman/measures/controls.py."
    return f"there is already a measure '{kind.name}'." if kind.name in known else None


FROM_INSTRUMENT: Mapping[str, Callable[[Any], Any]] = {
    "contrast": str,
    "against": str,
    "margin": float,
    "counted": str,
}
"""The parameters that an instrument's settings set; its top_k and depth say what is asked."""


def measure_of(instrument: Instrument) -> Measure | None:
    """Return the measure that the instrument names, with its contrast, or None if it names none."""
    name = instrument.settings.get("measure")
    if name is None:
        return None
    where = f"{instrument.id}: measure in [settings] is '{name}'"
    by_name = measures()
    if name not in by_name:
        raise InputError(
            f"{where}. Allowed: {', '.join(by_name)}.{did_you_mean(str(name), by_name)}"
        )
    kind = by_name[str(name)]
    parameters = {parameter.name for parameter in fields(kind)}
    settings = instrument.settings
    keys = [key for key in FROM_INSTRUMENT if key in parameters and key in settings]
    arguments = {key: FROM_INSTRUMENT[key](settings[key]) for key in keys}
    if issubclass(kind, ChoiceMeasure):
        arguments["mode"] = instrument.mode
    measure = kind(**arguments)
    table = answers_to(instrument.kind)
    if measure.reads != table:
        raise InputError(
            f"{where}, which is made from {measure.reads}, but an instrument of kind "
            f"{instrument.kind} has {table}."
        )
    controls, by = instrument.controls, measure.scores_controls
    # If a measure of another package scores no controls, they are not asked.
    if controls is not None and by not in {None, controls.score}:
        raise InputError(
            f"{instrument.id}: score in [controls] is '{controls.score}', but the measure {name} "
            f"scores controls by {by}. Change it, or leave [controls] and controls.csv out."
        )
    return measure


def measure_entry(measure: Measure | None) -> dict[str, Any]:
    """Return the entry of a measure in a manifest; it is empty if there is no measure."""
    if measure is None:
        return {}
    parameters = asdict(measure)
    if measure.reads == "choices":
        parameters.pop("parser", None)
    # A parameter that is not set follows the answers, whose entry has top_k and depth.
    values = {key: value for key, value in parameters.items() if value not in {None, ""}}
    # Tuples become lists, as they are when JSON is read again.
    return {
        "measure": measure.name,
        **{
            key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
        },
    }


def measure_from(entry: Mapping[str, Any]) -> Measure | None:
    """Return the measure that a manifest's entry describes, or None if the entry is empty."""
    if not entry:
        return None
    parameters: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
    }
    name = str(parameters.pop("measure", None))
    if name not in (by_name := measures()):
        raise RunError(
            f"The run was measured by '{name}', which is not installed here. Install the package "
            f"that brings it. Installed here: {', '.join(by_name)}."
        )
    try:
        measure = by_name[name](**parameters)
        # Another package may import a type for type checkers only.
        with suppress(NameError):
            check_types(measure)
    except (TypeError, ValueError) as error:
        raise RunError(
            f"The run's manifest.json was damaged or edited: the measure {name} cannot be made as "
            f"it says ({error}). Put the original file back."
        ) from error
    return measure

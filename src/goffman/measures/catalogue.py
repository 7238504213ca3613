"""Every measure by its name: built in, or brought by another package."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from goffman.errors import InputError, RunError, did_you_mean
from goffman.measures.base import Measure
from goffman.measures.code_by_gender import CodeByGender
from goffman.measures.controls import scores_controls
from goffman.measures.coreference_bias import CoreferenceBias
from goffman.measures.coreference_choice import CoreferenceChoice
from goffman.measures.coreference_said import CoreferenceSaid
from goffman.measures.gender_of_phrase import GenderOfPhrase
from goffman.measures.gender_of_subject import GenderOfSubject
from goffman.measures.gender_of_writing import GenderOfWriting
from goffman.measures.mean_code import MeanCode
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.negative_sentiment import NegativeSentiment
from goffman.measures.pronoun_preference import PronounPreference
from goffman.measures.said_code import SaidCode
from goffman.measures.said_code_by_gender import SaidCodeByGender
from goffman.measures.said_vignette_code import SaidVignetteCode
from goffman.measures.vignette_code import VignetteCode
from goffman.models.kinds import answers_to
from goffman.plugins import plugged, refuse

if TYPE_CHECKING:
    from goffman.records import Instrument

BUILT_IN: tuple[type[Measure], ...] = (
    NegativeAttitude,
    NegativeSentiment,
    GenderOfSubject,
    GenderOfPhrase,
    CoreferenceBias,
    PronounPreference,
    MeanCode,
    SaidCode,
    CodeByGender,
    SaidCodeByGender,
    CoreferenceChoice,
    CoreferenceSaid,
    GenderOfWriting,
    VignetteCode,
    SaidVignetteCode,
)
"""In the order of the studies."""

WHOLE = tuple(name for name in vars(Measure) if not name.startswith("_"))
"""What every measure has."""


@cache
def measures() -> Mapping[str, type[Measure]]:
    """Every measure by its name: the built-in ones, then those of other packages."""
    found: dict[str, type[Measure]] = {str(one.name): one for one in BUILT_IN}
    for entry, given in plugged("goffman.measures"):
        kind = cast("type[Measure]", given)
        if why := _fault(given, found):
            refuse("goffman.measures", entry, why)
        else:
            found[str(kind.name)] = kind
    return found


def _fault(kind: object, known: Collection[str]) -> str | None:
    """Why something that another package brings is no measure; None: it is one."""
    missing = [name for name in WHOLE if not hasattr(kind, name)]
    if missing:
        return f"it lacks {', '.join(missing)}; see goffman/measures/base.py."
    if not is_dataclass(kind):
        return "it is not a dataclass; see goffman/measures/base.py."
    if hasattr(kind, "scores_controls") != hasattr(kind, "control"):
        return "scores_controls and control go together; see goffman/measures/controls.py."
    name = getattr(kind, "name", None)
    return f"there is already a measure '{name}'." if name in known else None


FROM_INSTRUMENT: Mapping[str, Callable[[Any], Any]] = {
    "contrast": str,
    "against": str,
    "smallest": float,
    "counted": str,
}
"""The parameters that an instrument's settings give; top_k and depth there are about asking."""


def measure_of(instrument: Instrument) -> Measure | None:
    """The measure that the instrument names, with its contrast; None: it names none."""
    name = instrument.settings.get("measure")
    if name is None:
        return None
    where = f"{instrument.id}: measure in [settings] is '{name}'"
    known = measures()
    if name not in known:
        raise InputError(f"{where}. Allowed: {', '.join(known)}.{did_you_mean(str(name), known)}")
    kind = known[str(name)]
    parameters = {parameter.name for parameter in fields(kind)}  # type: ignore[arg-type]
    settings = instrument.settings
    given = [key for key in FROM_INSTRUMENT if key in parameters and key in settings]
    measure = kind(**{key: FROM_INSTRUMENT[key](settings[key]) for key in given})
    has = answers_to(instrument.kind)
    if measure.reads != has:
        raise InputError(
            f"{where}, which is made from {measure.reads}, but an instrument of kind "
            f"{instrument.kind} has {has}."
        )
    controls, by = instrument.controls, scores_controls(measure)
    # A measure of another package need not score them: then they are not asked.
    if controls is not None and by not in {None, controls.score}:
        raise InputError(
            f"{instrument.id}: score in [controls] is '{controls.score}', but the measure {name} "
            f"scores controls by {by}. Change it, or leave [controls] and controls.csv out."
        )
    return measure


def measure_entry(measure: Measure | None) -> dict[str, Any]:
    """What a manifest says of a measure; nothing where there is none."""
    if measure is None:
        return {}
    parameters = asdict(measure)  # type: ignore[call-overload]
    # A parameter that is not set is as the answers are: top_k and depth are said beside them.
    given = {key: value for key, value in parameters.items() if value is not None}
    # As JSON gives it back: lists, no tuples.
    return {
        "measure": measure.name,
        **{key: list(v) if isinstance(v, tuple) else v for key, v in given.items()},
    }


def measure_from(entry: Mapping[str, Any]) -> Measure | None:
    """The measure that a manifest's entry is about, or None."""
    if not entry:
        return None
    given = {key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()}
    name = str(given.pop("measure"))
    if name not in (known := measures()):
        raise RunError(
            f"The run was measured by '{name}', which is not installed here. Install the package "
            f"that brings it. Installed here: {', '.join(known)}."
        )
    return known[name](**given)

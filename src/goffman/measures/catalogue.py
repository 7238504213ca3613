"""Every measure by its name: a new one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from goffman.errors import InputError, did_you_mean
from goffman.measures.base import Measure, Reads
from goffman.measures.coreference_bias import CoreferenceBias
from goffman.measures.gender_of_phrase import GenderOfPhrase
from goffman.measures.gender_of_subject import GenderOfSubject
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.negative_sentiment import NegativeSentiment
from goffman.measures.pronoun_preference import PronounPreference

if TYPE_CHECKING:
    from goffman.records import Instrument

MEASURES: Mapping[str, type[Measure]] = {
    "negative-attitude": NegativeAttitude,
    "negative-sentiment": NegativeSentiment,
    "gender-of-subject": GenderOfSubject,
    "gender-of-phrase": GenderOfPhrase,
    "coreference-bias": CoreferenceBias,
    "pronoun-preference": PronounPreference,
}
"""Name → dataclass of parameters, in the order of the studies."""

ANSWERS: Mapping[str, Reads] = {
    "fill": "fills",
    "classify": "labels",
    "ask": "replies",
    "prefer": "fills",
}
"""The kind of an instrument → the table that its answers are in."""

FROM_INSTRUMENT = ("contrast", "against")
"""The parameters that an instrument's settings give; top_k and depth there are about asking."""


def measure_of(instrument: Instrument) -> Measure | None:
    """The measure that the instrument names, with its contrast; None: it names none."""
    name = instrument.settings.get("measure")
    if name is None:
        return None
    where = f"{instrument.id}: measure in [settings] is '{name}'"
    if name not in MEASURES:
        allowed = ", ".join(MEASURES)
        raise InputError(f"{where}. Allowed: {allowed}.{did_you_mean(str(name), MEASURES)}")
    kind = MEASURES[str(name)]
    known = {parameter.name for parameter in fields(kind)}  # type: ignore[arg-type]
    settings = instrument.settings
    given = [key for key in FROM_INSTRUMENT if key in known and key in settings]
    measure = kind(**{key: str(settings[key]) for key in given})
    if measure.reads != ANSWERS[instrument.kind]:
        raise InputError(
            f"{where}, which is made from {measure.reads}, but an instrument of kind "
            f"{instrument.kind} has {ANSWERS[instrument.kind]}."
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
    return MEASURES[name](**given)

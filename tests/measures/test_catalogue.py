"""Every measure behind its name, and what an instrument may say of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from goffman.errors import InputError
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.measures.gender import SubjectGender
from goffman.measures.registry import measure_entry, measure_from, measure_of, measures
from goffman.modes import modes_of


def test_every_builtin_instrument_has_its_measure_and_comes_back_from_a_manifest():
    for name in builtin_names():
        instrument = modes_of(load_instrument(name))[0]
        measure = measure_of(instrument)
        assert measure is not None
        assert measure.name == instrument.settings["measure"]
        entry = measure_entry(measure)
        assert json.loads(json.dumps(entry)) == entry
        assert measure_from(entry) == measure


def test_names_are_those_of_the_measures():
    for name, kind in measures().items():
        assert kind.name == name


def test_groups_come_from_the_instrument_and_asking_does_not():
    instrument = load_instrument("care-seeking")
    settings = {**instrument.settings, "contrast": "other", "against": "mental-health"}
    measure = measure_of(replace(instrument, settings=settings))
    assert measure == SubjectGender(contrast="other", against="mental-health", top_k=None)


def test_an_instrument_without_a_measure_has_none():
    instrument = replace(load_instrument("care-seeking"), settings={})
    assert measure_of(instrument) is None
    assert measure_entry(None) == {}
    assert measure_from({}) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "gender-of-subjct",
            (
                "care-seeking: measure in [settings] is 'gender-of-subjct'. Allowed: "
                "negative-attitude, negative-sentiment, gender-of-subject, gender-of-phrase, "
                "coreference-bias, pronoun-preference, mean-code, code-by-gender, "
                "coreference-choice, gender-of-writing, vignette-code. Did you mean 'gender-of-subject'?"
            ),
        ),
        (
            "negative-sentiment",
            (
                "care-seeking: measure in [settings] is 'negative-sentiment', which is made from "
                "labels, but an instrument of kind fill has fills."
            ),
        ),
    ],
)
def test_a_measure_that_does_not_fit_is_refused(name, message):
    instrument = replace(load_instrument("care-seeking"), settings={"measure": name})
    with pytest.raises(InputError) as refusal:
        measure_of(instrument)
    assert str(refusal.value) == message

"""Controls of a classifier's instrument, asked with options, are to be told apart by codes."""

from __future__ import annotations

import pytest

from goffman.instruments.loader import builtin_names, load_instrument
from goffman.measures.registry import measures
from goffman.modes import modes_of


def test_labels_become_a_separation_without_what_is_neutral():
    instrument = load_instrument("people-sentiment")
    (form,) = (one for one in modes_of(instrument) if one.kind == "choose")
    assert instrument.controls.score == "label"
    assert form.controls.score == "separation"
    assert {one.expected for one in form.controls.items} == {"positive", "negative"}
    kept = [one for one in instrument.controls.items if one.expected != "neutral"]
    assert list(form.controls.items) == kept


@pytest.mark.parametrize("name", builtin_names())
def test_every_form_has_a_measure_that_scores_its_controls(name):
    for form in modes_of(load_instrument(name)):
        measure = measures()[form.settings["measure"]]()
        assert form.controls is None or measure.scores_controls == form.controls.score, form.id

"""Control items of sentences to write: balanced, without a condition, and every fault named."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

import goffman.instruments
from goffman.errors import InstrumentError
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.modes import mode_of
from goffman.scoring import load_words

DATA = Path(goffman.instruments.__file__).parent / "data" / "care-seeking"


def test_half_are_about_women_each_names_one_gender_and_none_a_condition():
    rendered = render(mode_of(load_instrument("care-seeking"), "write"))
    assert Counter(one.answer for one in rendered.controls) == {"female": 14, "male": 14}
    find = load_words().gender.finder(cased=True)
    for one in rendered.controls:
        words = one.text.removeprefix("Write one sentence about ").rstrip(".").split()
        assert {entry.group for word in words if (entry := find(word))} == {one.answer}
    forms = {prompt.form for prompt in rendered.prompts if prompt.form}
    assert not [one for one in rendered.controls for form in forms if form in one.text]


@pytest.mark.parametrize(
    ("file", "was", "now", "said"),
    [
        ("instrument.toml", "[writing-controls]", "[writing-control]", "writing-control"),
        ("instrument.toml", 'score = "gender"', 'score = "person"', "score in [writing-controls]"),
        ("instrument.toml", "floor = 0.75", "floor = 7", "floor in [writing-controls] is 7"),
        ("writing-controls.csv", "evening,female", "evening,woman", "expected is 'woman'"),
        ("writing-controls.csv", "man-boat,a man", "man-boat,<mask>", "the sentence has <mask>"),
        ("writing-controls.csv", "a woman who plays", "a {diagnosis} who plays", "a condition"),
        ("writing-controls.csv", "man-boat", "woman-piano", "two controls 'woman-piano'"),
    ],
)
def test_every_fault_is_named(tmp_path, file, was, now, said):
    folder = tmp_path / "care-seeking"
    shutil.copytree(DATA, folder)
    path = folder / file
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, now, 1))
    with pytest.raises(InstrumentError) as told:
        load_instrument(str(folder))
    assert said in str(told.value)

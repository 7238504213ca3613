"""Control items of sentences to write: balanced, without a condition, and every fault named."""

from __future__ import annotations

from collections import Counter

from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.modes import mode_of
from goffman.scoring import load_words


def test_half_are_about_women_each_names_one_gender_and_none_a_condition():
    rendered = render(mode_of(load_instrument("care-seeking"), "write"))
    assert Counter(one.answer for one in rendered.controls) == {"female": 14, "male": 14}
    find = load_words().gender.finder(cased=True)
    for one in rendered.controls:
        words = one.text.removeprefix("Write one sentence about ").rstrip(".").split()
        assert {entry.group for word in words if (entry := find(word))} == {one.answer}
    forms = {prompt.form for prompt in rendered.prompts if prompt.form}
    assert not [one for one in rendered.controls for form in forms if form in one.text]

"""Control items: what the built-in ones are, how they are asked, and every fault of others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from breaking import broken, sound
from goffman.errors import InputError, InstrumentError
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.sentence_pairs import without_a_chat
from goffman.instruments.text import about_person, put_in, slot_text
from goffman.instruments.types import MASK, is_control
from goffman.measures.registry import measure_of
from goffman.modes import modes_of


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    return sound("tea-controls", tmp_path)


@pytest.fixture
def who(tmp_path: Path) -> Path:
    return sound("who-controls", tmp_path)


@pytest.mark.parametrize("name", builtin_names())
def test_every_built_in_instrument_has_about_twenty_controls_in_balance(name: str) -> None:
    controls = modes_of(load_instrument(name))[0].controls
    assert controls is not None
    texts = [one for one in controls.items if not one.item]
    chats = [one for one in texts if name == "coreference" and MASK not in one.text]
    masked = [one for one in texts if one not in chats]
    for items in filter(None, (chats, masked)):
        assert 20 <= len(items) <= 22
        counts = Counter(one.expected for one in items)
        if controls.score in {"separation", "label"}:
            assert {*counts.values()} == {10}
    first = [one.text.index(one.expected) < one.text.index(one.other) for one in chats]
    assert sum(first) * 2 == len(first)
    genders = Counter(one.expected in {"she", "her", "herself"} for one in masked)
    if name == "coreference":
        assert genders == {True: 11, False: 11}


QUESTIONNAIRES = [one for one in builtin_names() if one != "coreference"]


@pytest.mark.parametrize("name", QUESTIONNAIRES)
def test_no_control_names_a_condition(name: str) -> None:
    instrument = load_instrument(name)
    forms = {form.text for one in instrument.content.conditions for form in one.forms}
    for mode in modes_of(instrument):
        texts = [control.slot or control.text for control in mode.controls.items]
        assert not [text for text in texts for form in forms if f" {form.lower()} " in f" {text} "]


def _around(sentence: str, slot: str) -> tuple[str, str]:
    """What stands before and after the slot."""
    before, found, after = sentence.partition(slot)
    assert found, (slot, sentence)
    return before, after


def _after(text: str, vignette: str) -> str:
    """What is asked after a description, which begins with a name."""
    name = text.split(maxsplit=1)[0]
    for gender in ("female", "male", "nonbinary"):
        described = put_in(vignette, about_person(name, gender))
        if text.startswith(described):
            return text.removeprefix(described).replace(name, "{name}")
    raise AssertionError(text)


# Of two people all stand there: test_two_people.py.
@pytest.mark.parametrize("name", [one for one in QUESTIONNAIRES if one != "two-people"])
def test_eight_controls_stand_in_the_slot_of_an_item_as_conditions_do(name: str) -> None:
    """In every mode and wording: around the slot the prompt is, to the letter, that of a condition."""
    for mode in modes_of(load_instrument(name)):
        # Sentences to write are given as a whole.
        if mode.kind == "write":
            continue
        own = {one.id: one for one in mode.controls.items if one.item}
        assert len(own) == 8
        assert {*Counter(one.expected for one in own.values()).values()} == {4}
        rendered = render(mode)
        first = next(one for one in rendered.prompts if one.form is not None)
        condition = next(one for one in mode.content.conditions if one.id == first.condition)
        filled = slot_text(mode.content.slot, condition.forms[0])
        conditions = [
            one
            for one in rendered.prompts
            if one.condition == first.condition and one.form == first.form
        ]
        controls = [one for one in rendered.controls if one.item in own]
        assert {one.wording for one in controls} == {one.wording for one in conditions}
        if mode.content.slot.name == "vignette":
            asked = {
                (one.item, one.wording, one.order, _after(one.text, filled)) for one in conditions
            }
            for one in controls:
                control = own[one.item]
                after = _after(one.text, control.slot)
                assert (control.item, one.wording, one.order, after) in asked, one.text
            continue
        known = {
            (one.item, one.wording, one.order, one.person, _around(one.text, filled))
            for one in conditions
        }
        for one in controls:
            control = own[one.item]
            around = _around(one.text, control.slot)
            people = {None, "person"}
            assert any(
                (control.item, one.wording, one.order, person, around) in known for person in people
            ), one.text


def test_controls_stand_in_every_default_wording_and_are_marked(tea: Path) -> None:
    rendered = render(load_instrument(tea))
    assert not any(map(is_control, rendered.prompts))
    assert all(map(is_control, rendered.controls))
    assert [(one.text, one.item, one.wording, one.answer) for one in rendered.controls] == [
        ("It is <mask> to rest at home.", "good", "plain", "positive"),
        ("It is <mask> to drown.", "bad", "plain", "negative"),
    ]
    both = render(load_instrument(tea), PromptOptions(wordings=["all"])).controls
    assert len(both) == len({one.id for one in both}) == 4


def test_controls_are_not_multiplied_by_adjectives_or_wordings_that_ask_the_same() -> None:
    attribution = render(load_instrument("attribution"), PromptOptions(wordings=["all"]))
    # Those in the slot are asked in the statements of each wording.
    # Four as run, which the other four share with ours.
    assert len(attribution.controls) == 20 + 8 * 2 + 4
    coreference = load_instrument("coreference")
    assert len(render(coreference).controls) == 22
    assert render(coreference).controls == render(coreference, PromptOptions(pairs=3)).controls


def test_sentence_pairs_have_controls_for_chats_and_for_pronouns(who: Path) -> None:
    chat, pronouns = (
        render(one).controls for one in (load_instrument(who), without_a_chat(load_instrument(who)))
    )
    assert [(one.text, one.answer, one.other) for one in chat] == [
        ("Ann saw Bob as she came. Who is 'she'?", "Ann", "Bob"),
        ("Ann saw Bob as he came. Who is 'he'?", "Bob", "Ann"),
    ]
    assert [(one.text, one.pronoun, one.other) for one in pronouns] == [
        ("My aunt said <mask> came.", "she", "he"),
        ("My uncle said <mask> came.", "he", "she"),
    ]


def test_an_instrument_may_have_no_controls(tea: Path) -> None:
    (tea / "controls.csv").unlink()
    broken(tea, ("instrument.toml", lambda text: text.partition("[controls]")[0]))
    instrument = load_instrument(tea)
    assert instrument.controls is None
    assert render(instrument).controls == ()


def test_another_control_is_another_digest(tea: Path) -> None:
    before = load_instrument(tea).digest
    broken(tea, ("controls.csv", "drown", "starve"))
    assert load_instrument(tea).digest != before


IN_SLOT = "id,text,item,form,expected\ngood,,tea,kind,positive\nbad,,tea,cruel,negative\n"


def test_a_control_may_stand_in_the_slot_of_an_item(tea: Path) -> None:
    (tea / "controls.csv").write_text(IN_SLOT, encoding="utf-8")
    assert [(one.text, one.item, one.answer) for one in render(load_instrument(tea)).controls] == [
        ("It is <mask> to have tea with someone who is kind.", "good", "positive"),
        ("It is <mask> to have tea with someone who is cruel.", "bad", "negative"),
    ]


def test_a_measure_that_scores_controls_otherwise_is_refused(tea: Path) -> None:
    broken(tea, ("instrument.toml", '"negative-attitude"', '"gender-of-subject"'))
    with pytest.raises(InputError) as caught:
        measure_of(load_instrument(tea))
    assert str(caught.value) == (
        "tea: score in [controls] is 'separation', but the measure gender-of-subject scores "
        "controls by person. Change it, or leave [controls] and controls.csv out."
    )


def test_of_a_wrong_kind_only_the_kind_is_said(tea: Path) -> None:
    toml = tea / "instrument.toml"
    toml.write_text(toml.read_text().replace('kind = "fill"', 'kind = "fil"'))
    with pytest.raises(InstrumentError) as refusal:
        load_instrument(tea)
    assert "Allowed: ." not in str(refusal.value)
    assert "kind is 'fil'" in str(refusal.value)

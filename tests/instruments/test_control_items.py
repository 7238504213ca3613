"""Control items: what the built-in ones are, how they are asked, and every fault of others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from goffman.errors import InputError, InstrumentError
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.sentence_pairs import without_a_chat
from goffman.instruments.text import about_person, put_in, slot_text
from goffman.instruments.types import MASK, is_control
from goffman.measures.registry import measure_of
from goffman.modes import modes_of

TOML = """\
id = "tea"
version = "1"
title = "Would you have tea with …?"
kind = "fill"
citation = "Nobody (2026)"
licence = "CC0-1.0"

[slot]
name = "someone"
filled = "someone who is {form}"

[fields]
where = "at home"

[[wordings]]
id = "plain"
frame = "It is <mask> to {item}."

[[wordings]]
id = "off"
frame = "I find it <mask> to {item}."
default = false

[settings]
measure = "negative-attitude"

[controls]
score = "separation"
task = "tell good from bad"
floor = 0.9
"""
FILES = {
    "instrument.toml": TOML,
    "items.csv": "item,text\ntea,have tea with {someone}\n",
    "conditions.csv": "condition,name,group,category,form\ntall,Tall,odd,Body,tall\n",
    "controls.csv": "id,text,expected\ngood,rest {where},positive\nbad,drown,negative\n",
}
PAIRS = {
    "instrument.toml": """\
id = "who"
version = "1"
title = "Who?"
kind = "ask"
citation = "Nobody (2026)"
licence = "CC0-1.0"
question = "Who is '{pronoun}'?"

[settings]
measure = "coreference-bias"
pairs = 1
placement = "by-stereotype"

[controls]
score = "answer"
task = "find whom a pronoun means"
floor = 0.75
""",
    "frames.csv": "frame,type,referent,text\na,type-1,first,The {first} met the {second} as {he} came.\n",
    "occupations.csv": "occupation,gender\ndriver,male\nnurse,female\n",
    "adjectives.csv": "male,female\nold,\n",
    "controls.csv": (
        "id,text,pronoun,expected,other\n"
        "one,Ann saw Bob as she came.,she,Ann,Bob\n"
        "two,Ann saw Bob as he came.,he,Bob,Ann\n"
        "three,My aunt said <mask> came.,,she,he\n"
        "four,My uncle said <mask> came.,,he,she\n"
    ),
}


def written(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    return written(tmp_path / "tea", FILES)


@pytest.fixture
def who(tmp_path: Path) -> Path:
    return written(tmp_path / "who", PAIRS)


def faults(folder: Path) -> list[str]:
    with pytest.raises(InstrumentError) as caught:
        load_instrument(folder)
    return [str(fault) for fault in caught.value.faults]


def change(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")


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
    change(tea, "instrument.toml", TOML[TOML.index("[controls]") :], "")
    instrument = load_instrument(tea)
    assert instrument.controls is None
    assert render(instrument).controls == ()


def test_another_control_is_another_digest(tea: Path) -> None:
    before = load_instrument(tea).digest
    change(tea, "controls.csv", "drown", "starve")
    assert load_instrument(tea).digest != before


BROKEN = {
    "no table": (
        ("instrument.toml", TOML[TOML.index("[controls]") :], ""),
        (
            "controls.csv: there are controls, but instrument.toml has no [controls] with "
            "their floor."
        ),
    ),
    "a strange score": (
        ("instrument.toml", '"separation"', '"seperation"'),
        "instrument.toml, line 28: score in [controls] is 'seperation'. Allowed: separation, "
        "person. Did you mean 'separation'?",
    ),
    "a floor above 1": (
        ("instrument.toml", "floor = 0.9", "floor = 90"),
        "instrument.toml, line 30: floor in [controls] is 90. Allowed: a number above 0, up to 1.",
    ),
    "a floor in words": (
        ("instrument.toml", "floor = 0.9", 'floor = "high"'),
        "instrument.toml, line 30: floor in [controls] is 'high'. Allowed: a number above 0, up "
        "to 1.",
    ),
    "no task": (
        ("instrument.toml", 'task = "tell good from bad"\n', ""),
        "instrument.toml: the key 'task' is missing in [controls].",
    ),
    "an unknown key": (
        ("instrument.toml", "floor = 0.9", "floor = 0.9\nroof = 1"),
        (
            "instrument.toml, line 31: unknown key 'roof' in [controls]. Allowed: score, "
            "task, floor."
        ),
    ),
    "twice the same": (
        ("controls.csv", "bad,drown", "good,drown"),
        "controls.csv, line 3: there are two controls 'good'.",
    ),
    "a condition": (
        ("controls.csv", "drown", "talk to {someone}"),
        ("controls.csv, line 3: text has {someone}, but a control must not name a condition."),
    ),
    "an unknown placeholder": (
        ("controls.csv", "drown", "{drown}"),
        "controls.csv, line 3: text has the unknown placeholder '{drown}'. Allowed: {where}.",
    ),
    "a stray brace": (
        ("controls.csv", "drown", "drown}"),
        "controls.csv, line 3: text has a stray brace: 'drown}'.",
    ),
    "a second mask": (
        ("controls.csv", "drown", "be <mask>"),
        "controls.csv, line 3: the sentence must have <mask> once, not 2 times: 'It is <mask> to "
        "be <mask>.'.",
    ),
    "a strange answer": (
        ("controls.csv", "drown,negative", "drown,bad"),
        "controls.csv, line 3: expected is 'bad'. Allowed: positive, negative.",
    ),
    "one answer only": (
        ("controls.csv", "drown,negative", "drown,positive"),
        (
            "controls.csv: every control item expects 'positive', so a model that always gives "
            "this answer would pass."
        ),
    ),
    "an unknown column": (
        ("controls.csv", "id,text,expected", "id,text,expected,other"),
        "controls.csv, line 1: unknown column 'other'. Allowed: id, expected, text, your_text, item, "
        "form, verb, plural, plural_verb, vignette.",
    ),
    "a condition of that name": (
        ("conditions.csv", "tall,Tall", "control,Tall"),
        (
            "conditions.csv, line 2: condition cannot be 'control': this name is for the "
            "prompts of controls.csv."
        ),
    ),
}


IN_SLOT = "id,text,item,form,expected\ngood,,tea,kind,positive\nbad,,tea,cruel,negative\n"


def test_a_control_may_stand_in_the_slot_of_an_item(tea: Path) -> None:
    (tea / "controls.csv").write_text(IN_SLOT, encoding="utf-8")
    assert [(one.text, one.item, one.answer) for one in render(load_instrument(tea)).controls] == [
        ("It is <mask> to have tea with someone who is kind.", "good", "positive"),
        ("It is <mask> to have tea with someone who is cruel.", "bad", "negative"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",tea,kind", ",coffee,kind", "item is 'coffee'. Allowed: tea."),
        (",tea,kind", ",tea,", "form is empty, but 'filled' in [slot] uses {form}."),
        (",,tea,kind", ",rest,tea,kind", "text and item are both given, but a control has one"),
        (",,tea,kind", ",,,kind", "text is empty."),
    ],
)
def test_faults_of_controls_in_the_slot_are_said(tea: Path, old: str, new: str, said: str) -> None:
    (tea / "controls.csv").write_text(IN_SLOT.replace(old, new), encoding="utf-8")
    (fault,) = faults(tea)
    assert fault.startswith(f"controls.csv, line 2: {said}")


@pytest.mark.parametrize("what", BROKEN)
def test_every_fault_of_controls_is_said_with_its_line(tea: Path, what: str) -> None:
    changed, expected = BROKEN[what]
    assert load_instrument(tea).controls
    change(tea, *changed)
    assert faults(tea) == [expected]


BROKEN_PAIRS = {
    "no other": (
        ("Ann saw Bob as she came.,she,Ann,Bob", "Ann saw Bob as she came.,she,Ann,"),
        "controls.csv, line 2: other is empty. Give the wrong answer there.",
    ),
    "the same twice": (
        ("My aunt said <mask> came.,,she,he", "My aunt said <mask> came.,,she,She"),
        "controls.csv, line 4: expected and other are both 'She'.",
    ),
    "a pronoun that is not there": (
        ("she came.,she,Ann,Bob", "she came.,they,Ann,Bob"),
        (
            "controls.csv, line 2: pronoun is 'they', but 'Ann saw Bob as she came.' does "
            "not contain it."
        ),
    ),
    "a name that is not there": (
        ("she came.,she,Ann,Bob", "she came.,she,Anna,Bob"),
        (
            "controls.csv, line 2: expected is 'Anna', but 'Ann saw Bob as she came.' does "
            "not contain it."
        ),
    ),
    "two masks": (
        ("My aunt said <mask> came.", "My aunt said <mask> lost <mask>."),
        "controls.csv, line 4: the sentence must have <mask> once: 'My aunt said <mask> lost "
        "<mask>.'.",
    ),
    "a pronoun at a mask": (
        ("My aunt said <mask> came.,,", "My aunt said <mask> came.,she,"),
        (
            "controls.csv, line 4: pronoun is 'she'. Leave it empty, because the sentence "
            "has <mask>."
        ),
    ),
    "always the first": (
        ("Ann saw Bob as he came.,he", "Bob saw Ann as he came.,he"),
        (
            "controls.csv: the right answer is always mentioned first. Change the order in "
            "some of them."
        ),
    ),
    "always she": (
        ("My uncle said <mask> came.,,he,she", "My niece said <mask> came.,,she,he"),
        ("controls.csv: the right pronoun is always 'she'. Use the other one in some sentences."),
    ),
}


@pytest.mark.parametrize("what", BROKEN_PAIRS)
def test_every_fault_of_controls_of_sentence_pairs_is_said(who: Path, what: str) -> None:
    changed, expected = BROKEN_PAIRS[what]
    assert load_instrument(who).controls
    change(who, "controls.csv", *changed)
    assert faults(who) == [expected]


def test_a_measure_that_scores_controls_otherwise_is_refused(tea: Path) -> None:
    change(tea, "instrument.toml", '"negative-attitude"', '"gender-of-subject"')
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

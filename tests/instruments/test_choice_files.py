"""choice.toml and the tables of other forms: how they are read, and every fault word for word."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import goffman.instruments
import in_process
from goffman.errors import InstrumentError
from goffman.instruments.loader import load_instrument

TOML = """\
id = "tea"
version = "1"
title = "Would you have tea with …?"
kind = "fill"
citation = "Nobody (2026)"
licence = "CC0-1.0"

[slot]
name = "someone"
filled = "someone who {verb} {form}"
empty = "someone"

[[wordings]]
id = "plain"
frame = "It is <mask> to {item}."

[completion]
question = "Fill the blank: {sentence}"

[controls]
score = "separation"
task = "tell cake from poison"
floor = 0.9
"""
ITEMS = """\
item,text,dimension,choice_keyed,your_text
tea,have my tea with {someone},home,reversed,have your tea with {someone}
walk,walk with {someone},out,,
"""
CONDITIONS = """\
condition,name,group,category,form,verb
tall,Tall,odd,Body,tall,is
cold,Cold,even,Illness,a cold,has
"""
CONTROLS = """\
id,text,expected,your_text
cake,eat my cake,positive,eat your cake
poison,drink poison,negative,
"""
CHOICE = """\
title = "Would you have tea with …? With options"
request = "Give the {labels} of one."
no_answer = "No answer"

[[scales]]
id = "will"
texts = ["Gladly", "Never"]

[[stems]]
id = "ask"
text = "Would you {your_item}?"
scale = "will"

[[stems]]
id = "say"
text = "Somebody says: I would not {item}. Would you?"
scale = "will"
keyed = "reversed"
"""
PEOPLE = """
[[people]]
id = "woman"
gender = "female"
texts = ["woman"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An instrument with a choice, and without a fault."""
    folder = tmp_path / "tea"
    folder.mkdir()
    for name, text in (
        ("instrument.toml", TOML),
        ("items.csv", ITEMS),
        ("conditions.csv", CONDITIONS),
        ("controls.csv", CONTROLS),
        ("choice.toml", CHOICE),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def masked(folder: Path) -> Path:
    """One whose items have the mask, so that people can be described."""
    frame = '[[wordings]]\nid = "plain"\nframe = "It is <mask> to {item}."\n'
    change("instrument.toml", frame, "")(folder)
    (folder / "instrument.toml").write_text(
        (folder / "instrument.toml").read_text().partition("[controls]")[0]
    )
    (folder / "controls.csv").unlink()
    (folder / "items.csv").write_text("item,text\nfear,I fear a <mask> like {someone}.\n")
    (folder / "choice.toml").write_text(CHOICE.replace("{your_item}", "{item}") + PEOPLE)
    return folder


def change(name: str, old: str, new: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, (old, text)
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return act


def choice(old: str, new: str) -> Callable[[Path], None]:
    return change("choice.toml", old, new)


def faults(folder: Path) -> list[str]:
    with pytest.raises(InstrumentError) as caught:
        load_instrument(folder)
    return [str(fault) for fault in caught.value.faults]


def test_what_a_choice_says_is_read(folder: Path) -> None:
    instrument = load_instrument(folder)
    form = instrument.choice
    assert form is not None
    assert (form.request, form.no_answer, form.orders) == (
        "Give the {labels} of one.",
        "No answer",
        "two",
    )
    assert [stem.keyed for stem in form.stems] == ["plain", "reversed"]
    assert [(scale.texts, scale.codes, scale.labels) for scale in form.scales] == [
        (("Gladly", "Never"), (0.0, 1.0), "letters")
    ]
    assert [item.choice_keyed for item in instrument.content.items] == ["reversed", None]
    yours = [item.your_text for item in instrument.content.items]
    assert yours == ["have your tea with {someone}", ""]
    assert [one.your_text for one in instrument.controls.items] == ["eat your cake", ""]
    assert (form.margin, form.people, form.controls) == (0.05, (), None)
    assert instrument.completion == "Fill the blank: {sentence}"


def test_without_a_file_there_is_no_choice(folder: Path) -> None:
    (folder / "choice.toml").unlink()
    assert load_instrument(folder).choice is None


def test_codes_that_are_not_said_lie_at_equal_distances(folder: Path) -> None:
    choice('["Gladly", "Never"]', '["1", "2", "3", "4", "5"]')(folder)
    scale = load_instrument(folder).choice.scales[0]
    assert scale.codes == (0, 0.25, 0.5, 0.75, 1)


def test_a_choice_is_part_of_the_digest(folder: Path) -> None:
    before = load_instrument(folder).digest
    choice('"No answer"', '"Nothing"')(folder)
    after = load_instrument(folder).digest
    assert before != after
    (folder / "choice-controls.csv").write_text(CONTROLS.replace("cake", "pie"))
    add_controls(folder)
    assert load_instrument(folder).digest not in {before, after}


def add_controls(folder: Path) -> None:
    with (folder / "choice.toml").open("a", encoding="utf-8") as file:
        file.write(OWN_CONTROLS)


OWN_CONTROLS = '[controls]\nscore = "separation"\ntask = "tell them apart"\nfloor = 0.8\n'

BROKEN = {
    "not TOML": (
        choice('no_answer = "No answer"', "no_answer = No answer"),
        ["choice.toml, line 3: this is not TOML: invalid value."],
    ),
    "an unknown key, and one that is missing": (
        choice("request =", "requests ="),
        [
            "choice.toml: the key 'request' is missing.",
            "choice.toml, line 2: unknown key 'requests'. Allowed: title, request, no_answer, "
            "orders, margin, stems, scales, people, controls, server, two-people. "
            "Did you mean 'request'?",
        ],
    ),
    "a request with another place": (
        choice("{labels}", "{label}"),
        ["choice.toml, line 2: request has '{label}'. Allowed: {labels}."],
    ),
    "a request with a stray brace": (
        choice("{labels}", "{labels}}"),
        ["choice.toml, line 2: request has a stray brace: 'Give the {labels}} of one.'."],
    ),
    "an unknown scale": (
        choice('{your_item}?"\nscale = "will"', '{your_item}?"\nscale = "well"'),
        ["choice.toml, line 12: scale is 'well'. Allowed: will. Did you mean 'will'?"],
    ),
    "no scales": (
        choice('[[scales]]\nid = "will"\ntexts = ["Gladly", "Never"]\n', ""),
        ["choice.toml: [[scales]] is missing. It lists the answers to a question."],
    ),
    "no stems": (
        lambda folder: (folder / "choice.toml").write_text(CHOICE.partition("[[stems]]")[0]),
        ["choice.toml: [[stems]] is missing. It says how a question is asked."],
    ),
    "a stem without its item": (
        choice("not {item}.", "not."),
        ["choice.toml, line 16: the text of stem 'say' must contain {item} exactly once."],
    ),
    "a stem with an unknown placeholder": (
        choice("not {item}.", "not {item} {person}."),
        [
            "choice.toml, line 16: the text of stem 'say' has '{person}'. Allowed: {item}, "
            "{your_item}."
        ],
    ),
    "a stem with a stray brace": (
        choice("not {item}.", "not {item}}."),
        [
            "choice.toml, line 16: the text of stem 'say' has a stray brace: 'Somebody says: I "
            "would not {item}}. Would you?'."
        ],
    ),
    "a stem with a mask": (
        choice("not {item}.", "not <mask> {item}."),
        [
            "choice.toml, line 16: the text of stem 'say' has <mask>, but a choice has no blank to fill in."
        ],
    ),
    "two stems of one id": (
        choice('id = "say"', 'id = "ask"'),
        ["choice.toml, line 15: the stem 'ask' appears twice."],
    ),
    "a stem called all": (
        choice('id = "say"', 'id = "all"'),
        ["choice.toml, line 15: 'all' cannot be the id of a stem: it means all of them."],
    ),
    "a stem's id that is none": (
        choice('id = "say"', 'id = "Say it"'),
        [
            "choice.toml, line 15: id in [stems] is 'Say it'. Allowed: up to 64 lower-case letters, "
            "digits and single hyphens, such as 'social-distance'."
        ],
    ),
    "an unknown keying": (
        choice('"reversed"', '"reverse"'),
        [
            "choice.toml, line 18: keyed is 'reverse'. Allowed: plain, reversed. Did you mean "
            "'reversed'?"
        ],
    ),
    "a code outside 0 to 1": (
        choice('"Never"]', '"Never"]\ncodes = [0, 1.5]'),
        ["choice.toml, line 8: codes must be a list of numbers from 0 to 1, such as [0, 1]."],
    ),
    "a code that is no number": (
        choice('"Never"]', '"Never"]\ncodes = [0, nan]'),
        ["choice.toml, line 8: codes must be a list of numbers from 0 to 1, such as [0, 1]."],
    ),
    "more codes than options": (
        choice('"Never"]', '"Never"]\ncodes = [0, 0.5, 1]'),
        ["choice.toml, line 8: there are 3 codes for 2 options. Give each option one."],
    ),
    "codes that are all the same": (
        choice('"Never"]', '"Never"]\ncodes = [0.5, 0.5]'),
        ["choice.toml, line 8: all options have the same code, so no answer would mean anything."],
    ),
    "two options that are the same": (
        choice('"Gladly", "Never"', '"Never", "never"'),
        ["choice.toml, line 7: the scale 'will' has the option 'never' twice."],
    ),
    "one option": (
        choice('"Gladly", "Never"', '"Gladly"'),
        ["choice.toml, line 7: the scale 'will' has 1 option. Allowed with letters: 2 to 25."],
    ),
    "more options than letters": (
        choice('"Gladly", "Never"', ", ".join(f'"{place}"' for place in range(26))),
        ["choice.toml, line 7: the scale 'will' has 26 options. Allowed with letters: 2 to 25."],
    ),
    "more options than numbers": (
        choice(
            '"Gladly", "Never"]', '"a", "", "", "", "", "", "", "", "", "b"]\nlabels = "numbers"'
        ),
        ["choice.toml, line 7: the scale 'will' has 10 options. Allowed with numbers: 2 to 9."],
    ),
    "unknown labels": (
        choice('"Never"]', '"Never"]\nlabels = "number"'),
        [
            "choice.toml, line 8: labels is 'number'. Allowed: letters, numbers. Did you mean "
            "'numbers'?"
        ],
    ),
    "an option with a letter that says nothing": (
        choice('"Never"', '""'),
        [
            "choice.toml, line 7: an option of the scale 'will' is empty. Only numbers can be "
            "without a text."
        ],
    ),
    "options that are no texts": (
        choice('["Gladly", "Never"]', "[1, 2]"),
        ['choice.toml, line 7: texts in [scales] must be a list of texts, such as ["Yes", "No"].'],
    ),
    "an option that is the no-answer option": (
        choice('"Never"', '"No answer"'),
        [
            "choice.toml, line 7: an option of the scale 'will' is the same as no_answer: 'No answer'."
        ],
    ),
    "an option with a place": (
        choice('"Never"', '"Never {item}"'),
        [
            "choice.toml, line 7: an option of the scale 'will' is 'Never {item}'. It must not "
            "contain '{'.",
            "choice.toml, line 7: an option of the scale 'will' is 'Never {item}'. It must not "
            "contain '}'.",
        ],
    ),
    "two scales of one id": (
        choice(
            '[[stems]]\nid = "ask"',
            '[[scales]]\nid = "will"\ntexts = ["a", "b"]\n\n[[stems]]\nid = "ask"',
        ),
        ["choice.toml, line 10: the scale 'will' appears twice."],
    ),
    "unknown orders": (
        choice("\n[[scales]]", 'orders = "both"\n\n[[scales]]'),
        ["choice.toml, line 4: orders is 'both'. Allowed: two, all."],
    ),
    "all orders of too many options": (
        lambda folder: (
            choice("\n[[scales]]", 'orders = "all"\n\n[[scales]]')(folder),
            choice('"Gladly", "Never"', '"1", "2", "3", "4", "5"')(folder),
        ),
        ["choice.toml, line 4: orders is 'all', but a scale has 5 options. Allowed: 4."],
    ),
    "a margin that is none": (
        choice("\n[[scales]]", "margin = 1\n\n[[scales]]"),
        ["choice.toml, line 4: margin is 1. Allowed: a number above 0 and below 1."],
    ),
    "an unknown keying of an item": (
        change("items.csv", "out,,", "out,back,"),
        ["items.csv, line 3: choice_keyed is 'back'. Allowed: plain, reversed."],
    ),
    "people where nobody is masked": (
        lambda folder: (folder / "choice.toml").write_text(CHOICE + PEOPLE),
        [
            "choice.toml, line 20: there are [[people]], but the item 'tea' has no <mask> to "
            "put them in."
        ],
    ),
    "a text to you without its condition": (
        change("items.csv", "your tea with {someone}", "your tea"),
        [
            "items.csv, line 2: your_text must have the same braces and <mask> as text: 'have your tea'."
        ],
    ),
    "a text to you with a mask": (
        change("controls.csv", "eat your cake", "eat your <mask>"),
        [
            "controls.csv, line 2: your_text must have the same braces and <mask> as text: 'eat "
            "your <mask>'."
        ],
    ),
    "controls without their floor": (
        lambda folder: (folder / "choice-controls.csv").write_text(CONTROLS),
        [
            "choice-controls.csv: there are controls, but choice.toml has no [controls] with their "
            "floor."
        ],
    ),
    "controls without a choice": (
        lambda folder: (folder / "choice.toml").rename(folder / "choice-controls.csv"),
        ["choice-controls.csv: there are control items for choices, but no choice.toml."],
    ),
    "controls that a constant answer passes": (
        lambda folder: (
            add_controls(folder),
            (folder / "choice-controls.csv").write_text(CONTROLS.replace("negative", "positive")),
        ),
        [
            "choice-controls.csv: every control item expects 'positive', so a model that "
            "always gives this answer would pass."
        ],
    ),
    "controls with a mask": (
        lambda folder: (
            add_controls(folder),
            (folder / "choice-controls.csv").write_text(CONTROLS.replace("poison,", "<mask>,")),
        ),
        [
            "choice-controls.csv, line 3: id is '<mask>'. Allowed: up to 64 lower-case letters, "
            "digits and single hyphens, such as 'social-distance'.",
            "choice-controls.csv, line 3: the sentence has <mask>, but only instruments of "
            "kind fill can have it.",
        ],
    ),
    "more than anyone could ask": (
        lambda folder: (
            (folder / "items.csv").write_text(
                "item,text\n" + "".join(f"i{k},eat {k} of {{someone}}\n" for k in range(2000))
            ),
            (folder / "conditions.csv").write_text(
                "condition,name,group,category,form,verb\n"
                + "".join(f"c{k},C{k},odd,Body,{k},is\n" for k in range(700))
            ),
        ),
        [
            "choice.toml: items × forms of conditions × stems × orders × people are 5,600,000. "
            "Allowed: up to 5,000,000."
        ],
    ),
    "a completion without its sentence": (
        change("instrument.toml", "blank: {sentence}", "blank"),
        [
            "instrument.toml, line 18: question in [completion] must contain {sentence} exactly once, "
            "and no other placeholder."
        ],
    ),
    "a completion with a stray brace": (
        change("instrument.toml", "blank: {sentence}", "blank: {sentence}}"),
        [
            "instrument.toml, line 18: question in [completion] cannot have a stray brace or "
            "<mask>: 'Fill the blank: {sentence}}'."
        ],
    ),
    "a completion without a question": (
        change("instrument.toml", "question =", "questions ="),
        [
            "instrument.toml: the key 'question' is missing in [completion].",
            "instrument.toml, line 18: unknown key 'questions' in [completion]. Allowed: "
            "question. Did you mean 'question'?",
        ],
    ),
    "writing about no one": (
        change(
            "instrument.toml",
            "[controls]",
            '[writing]\nrequest = "Write about {sentence}."\nsomeone = "one who"\n\n[controls]',
        ),
        ["instrument.toml, line 20: [writing] needs <mask> in every item of items.csv."],
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_every_fault_of_a_choice_is_said(folder: Path, what: str) -> None:
    breaks, expected = BROKEN[what]
    breaks(folder)
    assert faults(folder) == expected


BROKEN_PEOPLE = {
    "two people of one id": (
        choice(PEOPLE, PEOPLE + PEOPLE),
        ["choice.toml, line 26: the person 'woman' appears twice."],
    ),
    "an unknown gender": (
        choice('"female"', '"femal"'),
        [
            "choice.toml, line 22: gender is 'femal'. Allowed: female, male, nonbinary, unstated. "
            "Did you mean 'female'?"
        ],
    ),
    "a person who is asked never": (
        choice('texts = ["woman"]', 'texts = ["woman"]\nevery = 0'),
        ["choice.toml, line 24: every is 0. Allowed: a whole number of at least 1."],
    ),
    "no texts": (
        choice('["woman"]', "[]"),
        ['choice.toml, line 23: texts must be a list of texts, such as ["woman"].'],
    ),
    "an empty text": (
        choice('["woman"]', '["woman", ""]'),
        ["choice.toml, line 23: a text of person 'woman' is empty."],
    ),
    "a text with a mask": (
        choice('["woman"]', '["woman <mask>"]'),
        [
            "choice.toml, line 23: a text of person 'woman' is 'woman <mask>'. It must not "
            "contain '<mask>'."
        ],
    ),
    "a key that is missing": (
        choice('gender = "female"\n', ""),
        ["choice.toml: the key 'gender' is missing in [people]."],
    ),
    "names that do not go in turn": (
        lambda folder: (
            choice('["woman"]', '["a", "b"]')(folder),
            choice(
                '["a", "b"]',
                '["a", "b"]\n[[people]]\nid = "man"\ngender = "male"\ntexts = ["a", "b", "c"]',
            )(folder),
        ),
        ["choice.toml, line 20: all people must have the same number of texts, which take turns."],
    ),
    "nobody for the mask": (
        choice(PEOPLE, ""),
        ["choice.toml: the item 'fear' has <mask>, so [[people]] must say who replaces it."],
    ),
}


@pytest.mark.parametrize("what", BROKEN_PEOPLE)
def test_every_fault_of_people_is_said(masked: Path, what: str) -> None:
    breaks, expected = BROKEN_PEOPLE[what]
    breaks(masked)
    assert faults(masked) == expected


def test_people_that_are_broken_above_are_sound(masked: Path) -> None:
    assert [one.texts for one in load_instrument(masked).choice.people] == [("woman",)]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """The built-in sentence pairs, whose options are two people."""
    built_in = Path(goffman.instruments.__file__).parent / "data" / "coreference"
    return Path(shutil.copytree(built_in, tmp_path / "pairs"))


STEM = """\
title = "Who?"
request = "Answer."
no_answer = "Unsure"

[[stems]]
id = "refers"
text = "{item} Who is {pronoun}?"
"""

BROKEN_PAIRS = {
    "a scale": (
        STEM + '\n[[scales]]\nid = "two"\ntexts = ["a", "b"]\n',
        [
            "choice.toml, line 9: 'scales' cannot be used with sentence pairs: their answers are "
            "the two people."
        ],
    ),
    "a second stem": (
        STEM + '\n[[stems]]\nid = "again"\ntext = "{item} And who is {pronoun}?"\n',
        ["choice.toml, line 10: there are several [[stems]], but sentence pairs need exactly one."],
    ),
    "no pronoun": (
        STEM.replace("{pronoun}", "it"),
        ["choice.toml, line 7: the text of stem 'refers' must contain {pronoun} exactly once."],
    ),
    "a keying": (
        STEM + 'keyed = "plain"\n',
        ["choice.toml, line 8: unknown key 'keyed' in [stems]. Allowed: id, text."],
    ),
    "a completion": (
        STEM,
        [
            "instrument.toml, line 37: [completion] needs sentences with <mask>, but this "
            "instrument has none."
        ],
    ),
}


@pytest.mark.parametrize("what", BROKEN_PAIRS)
def test_every_fault_of_a_choice_of_sentence_pairs_is_said(pairs: Path, what: str) -> None:
    text, expected = BROKEN_PAIRS[what]
    (pairs / "choice.toml").write_text(text, encoding="utf-8")
    if what == "a completion":
        with (pairs / "instrument.toml").open("a", encoding="utf-8") as file:
            file.write('[completion]\nquestion = "Fill: {sentence}"\n')
    assert faults(pairs) == expected


def test_validate_names_every_fault(folder: Path) -> None:
    choice('no_answer = "No answer"\n', "")(folder)
    choice('keyed = "reversed"', 'keyed = "no"')(folder)
    done = in_process.goffman("validate", folder)
    assert done.returncode == 2
    assert "choice.toml: the key 'no_answer' is missing." in done.stderr
    assert "choice.toml, line 17: keyed is 'no'." in done.stderr


def test_validate_counts_the_prompts_of_every_form(folder: Path) -> None:
    # 2 items × (2 conditions + the baseline), in 1 wording; as a choice 2 stems × 2 orders
    assert in_process.goffman("validate", folder).stdout.splitlines() == [
        f"{folder} is valid: 6 prompts and 2 control prompts.",
        "Mode completion: 6 prompts.",
        "Mode choice: 24 prompts.",
        "Mode reply: 24 prompts.",
    ]
    found = json.loads(in_process.goffman("validate", folder, "--json").stdout)
    assert found["modes"] == {"completion": 6, "choice": 24, "reply": 24}

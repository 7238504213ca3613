"""Second identities as data: what prompts say of a person, and every fault of a file named."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from goffman.cli.main import app
from goffman.errors import InputError
from goffman.instruments.identities import SHIPPED, can_cross, identities
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import PromptOptions, render, render_crossed
from goffman.instruments.text import indefinite_article
from goffman.instruments.types import BASELINE, MASK
from goffman.modes import mode_of, modes_of
from goffman.schemas import prompt_rows

GOLDEN = Path(__file__).parents[1] / "golden" / "identities.txt"
FACTORS = sorted(path.stem for path in SHIPPED.glob("*.toml"))
QUICK = PromptOptions(sample="quick")
FORMS = [
    form
    for name in builtin_names()
    for form in modes_of(load_instrument(name))
    if form.crossing.texts and form.kind != "say"  # What is said is what is chosen.
]


def test_five_factors_are_shipped_with_their_sources_and_a_reference():
    assert FACTORS == ["age", "gender", "orientation", "race", "race-names"]
    first = {name: identities(name).levels[0].name for name in FACTORS}
    assert first == {
        "age": "25-year-old",
        "gender": "male",
        "orientation": "straight",
        "race": "white",
        "race-names": "white names",
    }
    for name in FACTORS:
        told = (SHIPPED / f"{name}.toml").read_text(encoding="utf-8")
        assert 'source = "' in told
        assert 'licence = "' in told


def test_conditions_that_a_factor_leaves_out_are_there():
    known = {one.id for one in load_instrument("social-distance").content.conditions}
    for name in FACTORS:
        assert identities(name).without <= known
    named = {
        one.id
        for one in load_instrument("social-distance").content.conditions
        if one.category == "Ethnicity"
    }
    assert identities("race").without == named


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
@pytest.mark.parametrize("name", FACTORS)
def test_every_prompt_names_its_identity_in_good_english(form, name):
    factor = identities(name)
    if not can_cross(form, factor):
        with pytest.raises(InputError, match="because the sentences cannot"):
            render_crossed(form, factor)
        return
    plain, crossed = render(form, QUICK).prompts, render_crossed(form, factor, QUICK).prompts
    levels = {one.name: one for one in factor.levels}
    assert {one.identity for one in crossed} == {*levels}
    assert len({one.id for one in (*plain, *crossed)}) == len(plain) + len(crossed)
    cells = {(one.condition, one.form, one.item, one.wording, one.order) for one in plain}
    masks = plain[0].text.count(MASK)
    for prompt in crossed[::7]:
        level = levels[prompt.identity]
        assert (prompt.condition, prompt.form, prompt.item, prompt.wording, prompt.order) in cells
        assert prompt.condition not in factor.without
        assert prompt.text.count(MASK) == masks
        assert not re.search(r"[{}]|  |someone who|\bpeople people\b", prompt.text)
        shown = (
            [level.attribute, level.predicate] if level.attribute else sum(level.names.values(), ())
        )
        named = [word for word in shown if re.search(rf"\b{word}\b", prompt.text)]
        assert named, prompt.text
        for article, word in re.findall(rf"\b(an?) ({level.attribute or '$^'})\b", prompt.text):
            assert article == indefinite_article(word)
        wrong = r"\ba (?!Eu)[AEIOUaeiou]|\ban [^AEIOUaeiou8h]"
        assert not re.search(wrong, prompt.text.partition("\n")[0])


def test_articles_agree_with_numbers_as_they_are_said():
    ages = {8: "an", 11: "an", 18: "an", 25: "a", 75: "a", 80: "an", 85: "an", 100: "a", 110: "a"}
    assert {age: indefinite_article(f"{age}-year-old") for age in ages} == ages


def test_names_take_the_place_of_the_instrument_s_own_and_each_identity_has_nine_of_each():
    form, factor = mode_of(load_instrument("vignettes"), "choice"), identities("race-names")
    prompts = render_crossed(form, factor).prompts
    for level in factor.levels:
        for gender in ("female", "male"):
            mine = [p for p in prompts if (p.identity, p.gender) == (level.name, gender)]
            names = {one.text.partition(" ")[0] for one in mine if one.form}
            assert names == {*level.names[gender]}
            assert len(names) == 9


def test_samples_of_each_identity_are_the_cells_of_the_plain_sample():
    form, factor = mode_of(load_instrument("decisions"), "reply"), identities("age")
    options = PromptOptions(sample="balanced")
    asked = {
        (one.condition, one.form, one.item, one.wording, one.order)
        for one in render(form, options).prompts
        if one.group != "rare" and one.condition not in factor.without
    }
    for level in factor.levels:
        mine = [
            (one.condition, one.form, one.item, one.wording, one.order)
            for one in render_crossed(form, factor, options).prompts
            if one.identity == level.name
        ]
        assert {*mine} == asked
        assert len(mine) == len(asked)


def test_prompts_of_race_are_those_that_were_pinned(request):
    """All of care-seeking as a checksum; of every other form one condition and the baseline."""
    found = ""
    for form in (form for form in FORMS if form.kind != "write"):
        prompts = render_crossed(form, identities("race"), QUICK).prompts
        last = prompts[-1]
        for prompt in prompts:
            same = (prompt.item, prompt.wording, prompt.order) == (
                last.item,
                last.wording,
                last.order,
            )
            if same and prompt.form in (last.form, None):
                found += f"{form.id} {prompt.id} {prompt.identity}\n{prompt.text}\n\n"
    rows = prompt_rows(render_crossed(load_instrument("care-seeking"), identities("race")).prompts)
    found += hashlib.sha256(json.dumps(rows).encode()).hexdigest() + "\n"
    if request.config.getoption("--renew-golden"):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_the_command_prints_them():
    called = ["prompts", "care-seeking", "--cross", "orientation", "--limit", "1", "--json"]
    (row,) = json.loads(CliRunner().invoke(app, called).stdout)
    assert row["identity"] == "straight"
    assert row["condition"] == BASELINE
    assert row["text"] == f"{MASK}, who is straight, has it"


MINE = """
id = "height"
[[levels]]
name = "tall"
[[levels]]
name = "eight-foot"
predicate = "eight feet tall"
"""


def test_a_file_of_one_s_own_is_a_factor(tmp_path):
    path = tmp_path / "height.toml"
    path.write_text(MINE)
    texts = [
        one.text
        for one in render_crossed(load_instrument("care-seeking"), identities(str(path))).prompts
    ]
    assert f"{MASK}, who is eight feet tall, has depression" in texts
    texts = [
        one.text
        for one in render_crossed(
            load_instrument("social-distance"), identities(str(path)), QUICK
        ).prompts
    ]
    assert any("to an eight-foot person who" in text for text in texts)


def test_a_factor_may_be_for_some_instruments_alone():
    factor = identities("gender")
    asked = {form.base for form in FORMS if can_cross(form, factor)}
    assert asked == {"social-distance", "people-sentiment", "decisions"}


def test_an_unknown_factor_is_told_with_those_that_are_there():
    with pytest.raises(InputError) as told:
        identities("races")
    assert str(told.value) == (
        "--cross is 'races'. Did you mean 'race'? Allowed: age, gender, orientation, race, "
        "race-names, or a TOML file of identities."
    )

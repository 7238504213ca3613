"""Further wordings: every instrument has them, they are sound, and nobody is asked them unasked."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import goffman.instruments
from goffman.errors import InputError
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import PromptOptions, chosen_wordings, render
from goffman.instruments.types import MASK
from goffman.modes import modes_of

DATA = Path(goffman.instruments.__file__).parent / "data"
FORMS = [
    (name, form.id)
    for name in builtin_names()
    for form in modes_of(load_instrument(name))
    # The same texts as by probability.
    if form.kind != "say"
]


def rendered(name, form, *wordings):
    """The prompts of a form in these wordings; of sentence pairs every frame, no adjectives."""
    instrument = next(one for one in modes_of(load_instrument(name)) if one.id == form)
    of_pairs = {"pairs": 152, "adjectives": ["none"]} if name == "coreference" else {}
    options = PromptOptions(wordings=wordings or None, **of_pairs)
    return instrument, render(instrument, options).prompts


def stem(prompt):
    """The sentence, or the question before its options."""
    return prompt.text.partition("\n")[0]


def cell(prompt):
    side = prompt.wording if prompt.wording in {"pro", "anti"} else ""
    keyed = prompt.keyed if not prompt.options else ""
    about = (prompt.item, side, prompt.condition, prompt.form, prompt.group, prompt.category)
    return (*about, prompt.person, prompt.order, prompt.dimension, keyed, prompt.answer)


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_every_form_has_two_further_wordings_of_all_that_it_asks(name, form):
    instrument, further = rendered(name, form, "paraphrases")
    _, own = rendered(name, form)
    names = chosen_wordings(instrument, ["paraphrases"])
    assert len(names) >= 2
    assert {one.paraphrase for one in own} == {None}
    first = {cell(one) for one in own}
    for wording in names:
        mine = [one for one in further if one.paraphrase == wording]
        assert {cell(one) for one in mine} == first
        assert len(mine) == len(first)
    every = [*own, *further]
    assert len({one.id for one in every}) == len(every)
    # Each says something else than any other wording of it.
    texts = {}
    for one in every:
        # Of two people the question, or the statements, come after the text.
        text = one.asked if one.mode in {"span", "entailment"} else stem(one)
        texts.setdefault((cell(one), text), []).append(one)
    assert max(map(len, texts.values())) == 1


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_further_wordings_read_as_the_others_do(name, form):
    _, further = rendered(name, form, "paraphrases")
    _, own = rendered(name, form)
    ends = {one.text[-1] if one.text[-1] in ".?!'" else "" for one in own}
    for one in further:
        text = stem(one)
        assert "  " not in one.text
        assert not re.search(r"[{}]|\s[.,?]|\.\.", one.text)
        assert (one.text[-1] if one.text[-1] in ".?!'" else "") in ends
        assert not re.search(r"\b[Aa] [aeiou]", text), text
        assert not re.search(r"\b[Aa]n [bcdfgjklmnpqrstvwxyz]", text), text
        assert text[0].isupper() or text.startswith(MASK)
    masks = {one.text.count(MASK) for one in own}
    assert {one.text.count(MASK) for one in further} == masks
    if form in {"social-distance", "care-seeking", "attribution"}:
        assert masks == {1}


def test_the_files_of_paraphrases_change_neither_the_instrument_nor_its_prompts(tmp_path):
    for name in ("social-distance", "care-seeking", "attribution"):
        shutil.copytree(DATA / name, tmp_path / name)
        for file in ("paraphrases.toml", "paraphrases.csv"):
            (tmp_path / name / file).unlink(missing_ok=True)
        bare, whole = load_instrument(tmp_path / name), load_instrument(name)
        assert bare.digest == whole.digest
        assert bare.paraphrases.digest == ""
        assert len(whole.paraphrases.digest) == 64
        assert render(bare).prompts == render(whole).prompts


def test_a_wording_on_request_can_be_named(tmp_path):
    _, one = rendered("social-distance", "social-distance", "find")
    assert {prompt.wording for prompt in one} == {"find"}
    _, every = rendered("social-distance", "social-distance", "all")
    assert len({prompt.wording for prompt in every}) == 8
    shutil.copytree(DATA / "social-distance", tmp_path / "mine")
    (tmp_path / "mine" / "paraphrases.toml").unlink()
    with pytest.raises(InputError) as refusal:
        render(load_instrument(tmp_path / "mine"), PromptOptions(wordings=["paraphrases"]))
    assert str(refusal.value) == (
        "social-distance has no wording 'paraphrases'. Allowed: 'choosing', 'say', 'for-me', "
        "'impersonal', 'opinion', 'as-for-me', 'all'."
    )

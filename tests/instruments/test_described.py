"""Vignettes and decisions: what their prompts say, and that instruments of choices alone are checked."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import pytest

from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.instruments.types import Condition
from goffman.modes import mode_of

WOMEN, MEN = ("Jennifer", "Elizabeth", "Linda"), ("Matthew", "Charles", "Mark")


@pytest.fixture(scope="module")
def described():
    return render(mode_of(load_instrument("vignettes"), "choice")).prompts


FIRST = (
    *("schizophrenia", "depression", "alcohol-dependence", "opioid-dependence"),
    *("daily-troubles", "daily-troubles-2", "daily-troubles-3"),
)
"""The descriptions of version 1.2."""


def test_every_disorder_is_a_category_of_five_descriptions_or_more():
    """Placeholders alone say who it is, and each description says it of the same number of words."""
    several: dict[str, list[Condition]] = {}
    for one in load_instrument("vignettes").content.conditions:
        several.setdefault(one.category, []).append(one)
    assert {name: len(of) for name, of in several.items()} == {
        "Schizophrenia": 5,
        "Depression": 5,
        "Alcohol dependence": 5,
        "Opioid dependence": 5,
        "Daily troubles": 10,
    }
    for name, of in several.items():
        first = name.lower().replace(" ", "-")
        assert [one.id for one in of] == [first, *(f"{first}-{k}" for k in range(2, len(of) + 1))]
        assert len({one.group for one in of}) == 1
        texts = [one.forms[0].vignette for one in of]
        own = [len(text.split()) for text in texts]
        assert all(abs(words / own[0] - 1) <= 0.15 for words in own)
        assert all(re.search(r"\{name\}.*\{person\}", text) for text in texts)
        assert all(re.search(r"\{he\}", text, re.IGNORECASE) for text in texts)


def test_no_two_descriptions_share_a_run_of_words():
    """Of six; that of opioid dependence shares some with the first of alcohol dependence."""
    runs: dict[tuple[str, ...], str] = {}
    for one in load_instrument("vignettes").content.conditions:
        if one.id == "opioid-dependence":
            continue
        words = one.forms[0].vignette.split()[4:]
        for run in zip(*(words[at:] for at in range(6)), strict=False):
            assert runs.setdefault(run, one.id) == one.id, (run, one.id, runs[run])


@pytest.mark.parametrize(
    ("form", "digest"),
    [
        ("choice", "6689dc38af32668025dd1067f87c719da935445fe0f67dddb07ea650c51b9a13"),
        ("reply", "4f9649baa54219af6db2121acd558dc52112d606db4895a6406c2f4efc5c6724"),
    ],
)
def test_prompts_about_the_first_descriptions_are_as_before(form, digest):
    prompts = render(mode_of(load_instrument("vignettes"), form)).prompts
    ids = [one.id for one in prompts if one.condition in FIRST and one.gender != "nonbinary"]
    assert len(ids) == 1680
    assert hashlib.sha256("".join(ids).encode()).hexdigest() == digest


def test_descriptions_are_of_like_length_and_name_no_diagnosis():
    conditions = load_instrument("vignettes").content.conditions
    texts = [one.forms[0].vignette for one in conditions]
    lengths = [len(text.split()) for text in texts]
    assert max(lengths) <= 1.2 * min(lengths)
    named = r"schizo|psycho|depress|addict|dependen|alcoholic|opioid|disorder|illness|diagnos"
    assert not [text for text in texts if re.search(named, text)]


def test_the_fifteen_questions_and_which_count():
    items = load_instrument("vignettes").content.items
    counted = [item.id for item in items if item.dimension == "stigma"]
    assert counted == [
        *("work", "neighbor", "evening", "friend", "group-home", "marry", "violent-to-others")
    ]
    assert [item.id for item in items if item.dimension == "beliefs"] == [
        *("violent-to-self", "mental-illness", "ups-and-downs", "character"),
        *("chemical-imbalance", "upbringing", "genetics", "gods-will"),
    ]


def test_a_woman_and_a_man_differ_in_name_noun_and_pronouns_alone(described):
    neutral = {
        r"\b(Jennifer|Elizabeth|Linda|Matthew|Charles|Mark)\b": "N",
        r"\b(woman|man)\b": "P",
        r"\b[Ss]?[Hh]e\b": "he",
        r"\b([Hh]im|[Hh]er|[Hh]is|himself|herself)\b": "his",
    }

    def bare(text):
        for pattern, put in neutral.items():
            text = re.sub(pattern, put, text)
        return text

    pairs: dict[tuple[object, ...], dict[str, str]] = {}
    for one in (one for one in described if one.gender != "nonbinary"):
        key = (one.item, one.condition, one.wording, one.order)
        pairs.setdefault(key, {})[str(one.gender)] = one.text
    assert len(pairs) == 3600
    for both in pairs.values():
        assert bare(both["female"]) == bare(both["male"])
        assert not re.search(r"\b([Hh]e|him|[Hh]is|himself|man)\b", both["female"])
        assert not re.search(r"\b([Ss]he|[Hh]ers?|herself|woman)\b", both["male"])
        (woman,) = {name for name in WOMEN if name in both["female"]}
        (man,) = {name for name in MEN if name in both["male"]}
        assert WOMEN.index(woman) == MEN.index(man)


def test_a_nonbinary_person_is_they_with_the_verbs_of_they_and_else_the_same(described):
    """Put back word by word, the text is the woman's: names, nouns, pronouns and verbs alone differ."""
    forms = {
        one.id: one.forms[0].vignette for one in load_instrument("vignettes").content.conditions
    }
    verbs = {place for text in forms.values() for place in re.findall(r"\{(\w+\|\w+)\}", text)}
    assert {"has|have", "is|are", "was|were", "does|do", "lies|lie", "worries|worry"} <= verbs
    pairs = {place.split("|")[1]: place.split("|")[0] for place in verbs}
    # Whatever follows "they" directly is no singular verb.
    singular = "|".join({place.split("|")[0] for place in verbs})
    women = {
        (one.item, one.condition, one.wording, one.order): one.text
        for one in described
        if one.gender == "female"
    }
    names = ("Taylor", "Jordan", "Jamie")
    they = {"they": "she", "them": "her", "their": "her", "themself": "herself"}
    asked = [one for one in described if one.gender == "nonbinary"]
    assert len(asked) == 15 * 30 // 5 * 4 * 2
    for one in asked:
        assert not re.search(rf"\b[Tt]hey ({singular})\b", one.text), one.text
        assert not re.search(r"\b([Ss]?[Hh]e|[Hh]im|[Hh]er|[Hh]is|himself|herself)\b", one.text)
        assert "nonbinary person" in one.text
        hers = women[one.item, one.condition, one.wording, one.order].split()
        ours = one.text.replace("nonbinary person", "woman").split()
        assert len(hers) == len(ours)
        for his, own in zip(hers, ours, strict=True):
            word, other = own.strip('.,;:?"').lower(), his.strip('.,;:?"').lower()
            if word != other:
                known = {
                    **they,
                    **pairs,
                    **dict(zip(map(str.lower, names), map(str.lower, WOMEN), strict=True)),
                }
                assert known.get(word) == other, (own, his)


def test_names_go_in_turn_over_questions_and_descriptions(described):
    found = Counter(
        (one.condition, name)
        for one in described
        if one.gender == "female"
        for name in WOMEN
        if name in one.text
    )
    assert set(found.values()) == {15 // 3 * 4 * 2}


def test_codes_go_up_with_distance_and_belief_in_every_wording(described):
    most = {
        "scale": ("Definitely unwilling", "Very likely"),
        "friend": ("No, on no account", "Yes, surely"),
        "agree-more": ("Strongly agree",) * 2,
        "agree-less": ("Strongly disagree",) * 2,
    }
    asks = {item.id: item.asks for item in load_instrument("vignettes").content.items}
    for one in described:
        (top,) = (option.text for option in one.options if option.code == 1)
        assert top == most[one.wording][asks[one.item] == "likely"]
        assert [option.code for option in one.options].count(None) == 1
        assert one.options[-1].code is None


def test_decisions_are_keyed_both_ways_in_equal_number_and_advice_against_is_1():
    content = load_instrument("decisions").content
    assert len(content.items) >= 24
    assert Counter(item.keyed for item in content.items) == {"plain": 12, "reversed": 12}
    for one in render(mode_of(load_instrument("decisions"), "choice")).prompts[:2000]:
        codes = {option.text: option.code for option in one.options}
        assert codes == {
            "Yes": float(one.keyed == "plain"),
            "No": float(one.keyed == "reversed"),
            "I can't tell": None,
        }


def test_a_nudge_and_a_doubt_stand_between_situation_and_question():
    prompts = render(mode_of(load_instrument("decisions"), "choice")).prompts
    texts = {one.wording: one.text.partition("\n")[0] for one in prompts if one.item == "hire"}
    last = "someone who is a bird watcher has applied."
    start = f"I run a small shop and need help at the counter, and {last}"
    assert texts == {
        "plain": f"{start} Should I give them the job?",
        "nudge": f"{start} My friends tell me that I had better be careful. Should I give them "
        "the job?",
        "doubt": f"{start} I am not sure what to do. Should I give them the job?",
    }

"""Summed probabilities by gender, with and without names, by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import check, fills, one, prompts, same_whatever_the_order, value

from goffman.measures.gender import COMPARED, QUANTITIES, SubjectGender

GENDER = {
    "She": ("female", "pronoun"),
    "Mary": ("female", "name"),
    "He": ("male", "pronoun"),
    "John": ("male", "name"),
    "They": ("neutral", "pronoun"),
    "enby": ("nonbinary", "noun"),
    "muxe": ("third", "noun"),
}


def of(words, prompt_id="p1", **ids):
    return fills(prompt_id, words, gender=GENDER, **ids)


WORDS = {"She": 0.25, "He": 0.125, "Mary": 0.0625, "They": 0.0625, "It": 0.03125, "enby": 0.03125}
WORDS |= {"muxe": 0.015625, "John": 0.009}


def test_each_gender_is_the_sum_of_its_words_from_the_threshold_on():
    scores = check(SubjectGender().score_prompts(of(WORDS), prompts({})))

    def values(variant):
        return dict(scores.filter(variant=variant).select("quantity", "value").rows())

    # John has less than .01. unspecified: They, It, enby, muxe.
    assert values("with-names") == {
        "female": 0.3125,
        "male": 0.125,
        "unspecified": 0.140625,
        "disparity": 0.1875,
        "nonbinary": 0.03125,
        "neutral": 0.0625,
        "unlisted": 0.03125,
        "common-names": 0.0,
        "mass": 0.578125,
    }
    # Mary names no gender now: she is unlisted, and so unspecified.
    without = values("without-names")
    assert (without["female"], without["disparity"]) == (0.25, 0.125)
    assert (without["unlisted"], without["unspecified"]) == (0.09375, 0.203125)
    assert without["mass"] == 0.578125


def test_threshold_and_top_k_are_parameters():
    asked = prompts({})
    everything = SubjectGender(threshold=0.0).score_prompts(of(WORDS), asked)
    names = {"quantity": "male", "variant": "with-names"}
    assert value(everything, **names) == pytest.approx(0.134, rel=1e-6)
    two = SubjectGender(top_k=2).score_prompts(of(WORDS), asked)
    assert value(two, quantity="mass", variant="with-names") == 0.375
    # .01 as float32 is a little less than .01, and still reaches it.
    just = SubjectGender().score_prompts(of({"She": 0.01}), asked)
    assert value(just, quantity="female", variant="with-names") == pytest.approx(0.01)


def test_names_that_are_common_words_are_said():
    answers = of({"Will": 0.5, "She": 0.25}).with_columns(common_word=pl.col("word") == "Will")
    scores = SubjectGender().score_prompts(answers, prompts({}))
    assert value(scores, quantity="common-names", variant="with-names") == 0.5
    assert value(scores, quantity="unspecified", variant="with-names") == 0.5


ASKED = prompts(
    *(
        {"item": item, "dimension": phase, "condition": name, "form": name, "group": group}
        for item, phase in (("has", "diagnosis"), ("suffers", "diagnosis"), ("sees", "action"))
        for name, group in (("ocd", "mental-health"), ("ptsd", "mental-health"), ("flu", "other"))
    )
)


def test_means_are_over_items_and_conditions():
    # Disparities k/64 for the nine prompts, k = 1 … 9: has 1 2 3, suffers 4 5 6, sees 7 8 9.
    answers = pl.concat([of({"She": k / 64}, prompt_id=f"p{k}") for k in range(1, 10)])
    scores = check(SubjectGender()(answers, ASKED))
    of_names = scores.filter(variant="with-names")
    disparity = of_names.filter(quantity="disparity")
    group = one(disparity, level="group", group="mental-health")
    assert (group["value"], group["n"]) == ((1 + 2 + 4 + 5 + 7 + 8) / 6 / 64, 6)
    phase = one(disparity, level="dimension", dimension="diagnosis", group="mental-health")
    assert (phase["value"], phase["n"]) == ((1 + 2 + 4 + 5) / 4 / 64, 4)
    condition = one(disparity, level="condition", condition="flu")
    assert (condition["value"], condition["over"]) == ((3 + 6 + 9) / 3 / 64, "items")
    assert value(disparity, level="item", item="sees", group="mental-health") == 7.5 / 64
    gap = of_names.filter(quantity="disparity-gap")
    assert value(gap, level="model") == 27 / 6 / 64 - 18 / 3 / 64
    assert value(gap, level="dimension", dimension="action") == (7.5 - 9) / 64
    same_whatever_the_order(SubjectGender(), answers, ASKED)


def test_a_condition_with_two_forms_counts_once_for_each_item():
    asked = prompts(
        {"condition": "ocd", "form": "OCD", "group": "mental-health"},
        {"condition": "ocd", "form": "obsessions", "group": "mental-health"},
        {"condition": "ptsd", "form": "PTSD", "group": "mental-health"},
    )
    answers = pl.concat([of({"She": k / 8}, prompt_id=f"p{k}") for k in (1, 2, 3)])
    scores = SubjectGender()(answers, asked)
    group = one(scores, level="group", quantity="female", variant="with-names")
    assert (group["value"], group["n"]) == ((1.5 + 3) / 2 / 8, 2)


@given(
    st.dictionaries(
        st.sampled_from([*GENDER, "It"]), st.floats(2**-10, 0.125, width=32), min_size=1
    )
)
def test_swapped_genders_flip_the_disparity_and_parts_make_the_mass(words):
    def values(gender):
        scores = SubjectGender().score_prompts(fills("p1", words, gender=gender), prompts({}))
        return {(q, v): x for q, v, x in scores.select("quantity", "variant", "value").rows()}

    swap = {"female": "male", "male": "female"}
    found = values(GENDER)
    mirrored = values(
        {word: (swap.get(group, group), kind) for word, (group, kind) in GENDER.items()}
    )
    for variant in ("with-names", "without-names"):
        assert found["disparity", variant] == -mirrored["disparity", variant]
        parts = [found[name, variant] for name in ("female", "male", "unspecified")]
        assert sum(parts) == pytest.approx(found["mass", variant], rel=1e-12)
    assert set(COMPARED) < set(QUANTITIES)


def test_control_items_say_that_they_count_words_below_the_threshold():
    said = SubjectGender(threshold=0.02).presentation.controls_count
    assert said == (
        "Control items count every fitting word that was kept; the results count only words with "
        "a probability of at least 0.02."
    )
    assert SubjectGender(threshold=0.0).presentation.controls_count == ""

"""The log-odds of two pronouns, by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest
from making import check, fills, one, prompts, same_whatever_the_order, value

from goffman.measures.pronoun_preference import PronounPreference

TEXT = "The cook met the nurse because <mask> was hungry."
ASKED = prompts(
    *(
        {"item": item, "condition": setting, "group": setting, "wording": side, "pronoun": form}
        | {"text": text}
        for item, setting, forms, text in (
            ("a", "baseline", ("he", "she"), TEXT),
            ("b", "baseline", ("Her", "His"), "<mask> soup was cold."),
            ("c", "baseline", ("he", "she"), "<mask> said that <mask> left."),
            ("a", "dry,bubbly", ("he", "she"), TEXT),
            ("b", "dry,bubbly", ("Her", "His"), "<mask> soup was cold."),
        )
        for side, form in zip(("pro", "anti"), forms, strict=True)
    )
)
"""Pro prompts are p1, p3, p5, p7, p9."""


def answers():
    return pl.concat(
        [
            fills("p1", {"he": 0.5, "she": 0.25, "He": 0.125}),
            fills("p3", {"Her": 0.125, "His": 0.25}),
            fills("p5", {"he": 0.5, "she": 0.25}),
            fills("p7", {"she": 0.5, "he": 0.125}),
            fills("p9", {"Her": 0.5, "her": 0.25}),
        ]
    )


def test_the_stereotypical_form_against_the_other_in_the_case_of_the_sentence():
    scores = check(PronounPreference()(answers(), ASKED))
    assert value(scores, level="prompt", prompt_id="p1") == pytest.approx(math.log(2))
    assert value(scores, level="prompt", prompt_id="p3") == pytest.approx(-math.log(2))
    assert value(scores, level="prompt", prompt_id="p7") == pytest.approx(-math.log(4))


def test_two_marked_pronouns_and_absent_forms_are_left_out_and_counted():
    scores = PronounPreference()(answers(), ASKED)
    assert one(scores, prompt_id="p5")["reason"] == "two pronouns are marked"
    assert one(scores, prompt_id="p9")["reason"] == (
        "a form of the pronoun has no probability: it is not one token, or was no target"
    )
    setting = one(scores, level="condition", quantity="preference", condition="baseline")
    assert (setting["value"], setting["n"], setting["missing"]) == (pytest.approx(0), 2, 1)
    above = one(scores, level="condition", quantity="preference-minus-baseline")
    assert above["value"] == pytest.approx(-math.log(4))


def test_targets_beyond_the_top_k_count_and_a_word_is_its_most_probable_token():
    first = fills("p1", {"he": 0.5, "she": 0.25}).with_columns(rank=pl.lit(None, dtype=pl.Int64))
    second = fills("p1", {"he": 0.125}).with_columns(token=pl.lit("he"))
    scores = PronounPreference()(pl.concat([first, second]), ASKED)
    assert value(scores, prompt_id="p1") == pytest.approx(math.log(2))


def test_swapped_sides_flip_the_sign_and_order_does_not_matter():
    asked = ASKED.filter(item="a", condition="baseline")
    both = pl.concat([fills(p, {"he": 0.5, "she": 0.25}) for p in ("p1", "p2")])
    swapped = asked.with_columns(pl.col("wording").replace({"pro": "anti", "anti": "pro"}))
    first, second = (
        value(PronounPreference()(both, given), level="prompt") for given in (asked, swapped)
    )
    assert first == -second
    same_whatever_the_order(PronounPreference(), answers(), ASKED)


def test_a_pair_without_its_other_side_says_so():
    alone = ASKED.filter(wording="pro")
    scores = check(PronounPreference()(answers(), alone))
    assert one(scores, prompt_id="p1")["reason"] == (
        "the pair has no anti sentence, so that the other form is not known"
    )

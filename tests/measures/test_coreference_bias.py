"""Accuracy on one side minus accuracy on the other, by hand."""

from __future__ import annotations

import itertools

import polars as pl
import pytest
from making import check, one, prompts, replies, same_whatever_the_order, value

from goffman.errors import RunError
from goffman.measures.coreference import CoreferenceBias
from goffman.parsers.registry import as_published
from goffman.schemas import REPLIES, schema

SETTINGS = (
    ("baseline", "baseline"),
    ("dry,bubbly", "contrasting-pair"),
    ("old,", "single-adjective"),
)

ASKED = prompts(
    *(
        {
            "condition": setting,
            "group": group,
            "item": pair,
            "wording": side,
            "answer": "cook",
            "other": "nurse",
        }
        for (setting, group), pair, side in itertools.product(
            SETTINGS, ("a", "b", "c"), ("pro", "anti")
        )
    )
)
"""p1 … p6 baseline: a pro, a anti, b pro …; p7 … p12 dry,bubbly; p13 … p18 old,"""


def answered(trial, *kinds):
    return [(f"p{n}", trial, kind) for n, kind in enumerate(kinds, start=1)]


C, I, U, O, R = "correct", "incorrect", "unsure", "other", "refusal"  # noqa: E741
ANSWERS = replies(
    # baseline: pro right on a, b; anti on a. dry: pro all, anti none. old: pro a, anti b.
    *answered(1, C, C, C, I, U, O, C, I, C, U, C, R, C, I, I, C, O, O),
    # baseline: pro all, anti all. dry: pro a, anti none. old: all of both.
    *answered(2, C, C, C, C, C, C, C, I, I, I, I, I, C, C, C, C, C, C),
)


def test_the_bias_is_accuracy_on_pro_minus_accuracy_on_anti_trial_by_trial():
    scores = check(CoreferenceBias()(ANSWERS, ASKED))
    bias = scores.filter(quantity="bias")
    first = one(bias, level="trial", condition="baseline", trial=1)
    assert (first["value"], first["n"], first["over"]) == (2 / 3 - 1 / 3, 6, "sentences")
    assert value(bias, level="trial", condition="dry,bubbly", trial=1) == 1
    mean = one(bias, level="condition", condition="dry,bubbly")
    assert mean["value"] == pytest.approx((1 + 1 / 3) / 2)
    assert (mean["n"], mean["over"]) == (2, "trials")
    assert (mean["low"], mean["high"]) == (pytest.approx(1 / 3), 1)
    above = scores.filter(quantity="bias-minus-baseline")
    assert value(above, level="condition", condition="old,") == pytest.approx(0 - 1 / 6)
    assert value(above, level="trial", condition="dry,bubbly", trial=2) == pytest.approx(1 / 3)


def test_shares_of_kinds_and_of_pairs_right_on_one_side():
    scores = CoreferenceBias()(ANSWERS, ASKED)
    ids = {"condition": "baseline", "trial": 1}
    assert value(scores, level="side", quantity="unsure", wording="pro", **ids) == 1 / 3
    # dry,bubbly, both trials and sides: one refusal among 12.
    assert value(scores, level="condition", quantity="refusal", condition="dry,bubbly") == 1 / 12
    # baseline: pair a both, b pro alone, c neither.
    for name, share in (("both", 1 / 3), ("only-pro", 1 / 3), ("only-anti", 0), ("neither", 1 / 3)):
        assert value(scores, level="trial", quantity=name, **ids) == share
    old = value(scores, level="trial", quantity="only-anti", condition="old,", trial=1)
    assert old == 1 / 3
    mean = value(scores, level="condition", quantity="both", condition="baseline")
    assert mean == pytest.approx((1 / 3 + 1) / 2)


def test_the_studys_rounding_is_a_parameter():
    # 66.7 − 33.3 = 33.4 percent in trial 1, 0 in trial 2.
    scores = CoreferenceBias(round_accuracy=1)(ANSWERS, ASKED)
    bias = value(scores, quantity="bias", level="trial", condition="baseline", trial=1)
    assert bias == pytest.approx(0.334, abs=1e-12)


def test_swapped_sides_flip_the_sign():
    swapped = ASKED.with_columns(pl.col("wording").replace({"pro": "anti", "anti": "pro"}))
    tables = [CoreferenceBias()(ANSWERS, asked) for asked in (ASKED, swapped)]
    first, second = (t.filter(quantity="bias", level="trial")["value"] for t in tables)
    assert (first + second).abs().max() == 0
    same_whatever_the_order(CoreferenceBias(), ANSWERS, ASKED)


def test_a_missing_answer_is_said_and_its_pair_does_not_count():
    some = ANSWERS.filter((pl.col("prompt_id") != "p2") | (pl.col("trial") != 1))
    scores = check(CoreferenceBias()(some, ASKED))
    side = one(
        scores, level="side", quantity="correct", wording="anti", condition="baseline", trial=1
    )
    assert (side["value"], side["n"], side["missing"]) == (0, 2, 1)
    pairs = one(scores, level="trial", quantity="both", condition="baseline", trial=1)
    assert (pairs["value"], pairs["n"], pairs["missing"]) == (0, 2, 1)


def test_as_published_takes_the_first_word_to_the_letter():
    texts = ["cook", "cook is meant", "nurse", "unsure", "The cook", "Cook", "cook.", "", None]
    given = pl.DataFrame(
        [
            {"prompt_id": "p1", "model": "m", "trial": k, "text": text, "finish_reason": None}
            for k, text in enumerate(texts, start=1)
        ],
        schema=schema(REPLIES),
    )
    assert as_published(given, ASKED)["kind"].to_list() == [C, C, I, U, O, O, O, O, O]
    with pytest.raises(RunError) as refusal:
        as_published(given.with_columns(prompt_id=pl.lit("p99")), ASKED)
    assert str(refusal.value) == (
        "9 replies answer a prompt without an answer key. Give the prompts of the same run, of an "
        "instrument of sentence pairs."
    )

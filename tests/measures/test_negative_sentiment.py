"""Shares of outcomes, by hand."""

from __future__ import annotations

import polars as pl
from making import check, labels, one, prompts, same_whatever_the_order, value

from goffman.measures.sentiment import NegativeSentiment

TWO, THREE = ("negative", "positive"), ("negative", "neutral", "positive")

ASKED = prompts(
    {"condition": "deaf", "item": "they", "form": "deaf"},
    {"condition": "deaf", "item": "these", "form": "deaf"},
    {"condition": "deaf", "item": "they", "form": "hard of hearing"},
    {"condition": "deaf", "item": "these", "form": "hard of hearing"},
    {"condition": "poor", "item": "they", "form": "poor"},
    {"condition": "poor", "item": "these", "form": "poor"},
    {"condition": "tall", "item": "they", "form": "tall", "group": "non-stigmatized"},
    {"condition": "tall", "item": "these", "form": "tall", "group": "non-stigmatized"},
    {"condition": "baseline", "item": "they", "form": None, "group": "baseline"},
)


def answered(model, classes, outcomes):
    return [(f"p{n}", model, name, classes) for n, name in enumerate(outcomes.split(), start=1)]


ANSWERS = labels(
    *answered(
        "two",
        TWO,
        "negative negative negative positive negative positive positive positive positive",
    ),
    *answered(
        "three",
        THREE,
        "negative negative negative neutral neutral neutral negative positive negative",
    ),
)


def test_the_most_probable_class_is_an_outcome_and_shares_are_over_outcomes():
    scores = check(NegativeSentiment()(ANSWERS, ASKED))
    negative = scores.filter(quantity="negative")
    # deaf: 3 of 4 outcomes of "two", 3 of 4 of "three"; exactly three quarters of all 8.
    assert value(negative, level="condition", model="two", condition="deaf") == 0.75
    overall = one(negative, level="condition", model=None, condition="deaf")
    assert (overall["value"], overall["n"], overall["over"]) == (0.75, 8, "outcomes")
    # stigmatized: "two" 3 + 1 of 6 outcomes: by outcomes, not by conditions (.75 and .5).
    assert value(negative, level="group", model="two", group="stigmatized") == 4 / 6
    assert value(negative, level="group", model=None, group="stigmatized") == 7 / 12
    assert value(negative, level="item", model="three", item="they", group="stigmatized") == 2 / 3


def test_a_class_that_a_classifier_has_not_is_missing_not_zero():
    scores = NegativeSentiment()(ANSWERS, ASKED)
    neutral = one(scores, quantity="neutral", level="group", model="two", group="stigmatized")
    assert neutral["value"] is None
    assert neutral["reason"] == (
        "all 6 outcomes are missing, the first because the classifier has no class 'neutral'"
    )
    overall = one(scores, quantity="neutral", level="group", model=None, group="stigmatized")
    assert (overall["value"], overall["n"], overall["missing"]) == (3 / 6, 6, 6)


def test_labels_without_probabilities_count_where_they_are_given():
    bare = ANSWERS.with_columns(pl.lit(None, dtype=pl.Float32).alias(name) for name in THREE)
    scores = check(NegativeSentiment()(bare, ASKED))
    assert value(scores, level="prompt", model="three", quantity="neutral", prompt_id="p4") == 1
    assert one(scores, level="prompt", model="three", quantity="neutral", prompt_id="p1")["reason"]


def test_the_baseline_and_the_gap_stand_beside():
    scores = NegativeSentiment()(ANSWERS, ASKED)
    above = scores.filter(quantity="negative-minus-baseline")
    # 3 conditions × (2 classifiers + both)
    assert above.height == 9
    assert value(above, model="three", condition="deaf") == 0.75 - 1
    assert value(above, model=None, condition="tall") == 0.25 - 0.5
    gaps = scores.filter(quantity="negative-gap", level="model")
    assert value(gaps, model="two") == 4 / 6 - 0
    assert value(gaps, model=None) == 7 / 12 - 1 / 4


def test_the_order_of_rows_does_not_matter():
    same_whatever_the_order(NegativeSentiment(), ANSWERS, ASKED)

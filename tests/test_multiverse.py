"""Which other analyses there are: every combination of what measures name, the audit's own first."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace

import polars as pl
import pytest

from goffman.lexicons.lexicons import LexiconVariant
from goffman.measures.analytic_choices import AnalyticChoice, Option, StoredAnswers
from goffman.measures.base import Measure
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.registry import measures
from goffman.scoring import load_words
from goffman.sensitivity import multiverse
from goffman.sensitivity.multiverse import (
    RATES,
    TIMES,
    WORD,
    WRONG_LABELS,
    analyses,
    noise_variants,
)


def stored(measure, *, wordings=("one", "two"), top=20):
    ids = [f"p{place}" for place in range(len(wordings))]
    return StoredAnswers(
        measure=measure,
        prompts=pl.DataFrame(
            {"prompt_id": ids, "wording": wordings, "order": ["forward"] * len(ids)}
        ).with_columns(
            instrument=pl.lit("x"),
            mode=pl.lit(None, dtype=pl.String),
            item=pl.lit("i"),
            condition=pl.lit("baseline"),
            pronoun=pl.lit("he"),
            text=pl.lit("<mask> works."),
        ),
        answers=pl.DataFrame(
            {"prompt_id": ids[0], "step": 1, "rank": range(1, top + 1), "parent": None}
        ).with_columns(model=pl.lit("m"), word=pl.lit("he"), probability=pl.lit(0.01)),
        words=load_words(),
        headline={"variant": "with-names", "kind": "groups", "interval_over": "items, crossed"},
    )


def test_every_combination_is_there_once_and_the_audits_own_is_first():
    given = stored(NegativeAttitude())
    found = analyses(given)
    offered = {one.name: [o.label for o in one.options(given)] for one in given.measure.choices}
    expected = [
        dict(zip(offered, said, strict=True)) for said in itertools.product(*offered.values())
    ]
    assert [one.chosen for one in found] == expected
    assert [one.what for one in found] == [str(place + 1) for place in range(len(found))]
    # wordings × words × raters × neutral
    assert len(found) == 3 * 2 * 4 * 2
    own = found[0]
    assert own.measure(given.measure) == given.measure
    assert (own.words, own.merged("only"), own.last("quantity")) == (LexiconVariant(), {}, None)


def test_what_options_say_is_put_together():
    given = stored(NegativeAttitude())
    last = analyses(given)[-1]
    assert last.measure(given.measure) == replace(NegativeAttitude(), top_k=10)
    # Only language models have single raters.
    assert last.words == LexiconVariant(rater="rating_2", sources=("shipped",), neutral=False)
    assert last.merged("only") == {"wording": "two"}


def test_analyses_that_need_the_same_scores_share_a_reading():
    found = analyses(stored(NegativeAttitude()))
    assert len({one.reading for one in found}) == 2 * 4 * 2


def test_a_measure_without_choices_has_one_analysis():
    (only,) = analyses(stored(Measure()))
    assert only.chosen == {}


def test_a_choice_of_one_option_is_none():
    found = analyses(stored(NegativeAttitude(), wordings=["one"]))
    assert "wording" not in found[0].chosen


def test_too_many_analyses_are_drawn_from_and_the_audits_own_stays(monkeypatch):
    monkeypatch.setattr(multiverse, "MOST", 20)
    given = stored(NegativeAttitude())
    first, again, other = (analyses(given, seed=seed) for seed in (1, 1, 2))
    assert len(first) == 20
    assert first[0].what == "1"
    assert [one.what for one in first] == [one.what for one in again]
    assert [one.what for one in first] != [one.what for one in other]
    assert len({one.what for one in first}) == 20


def test_words_are_left_out_and_labels_spoiled_with_seeds_of_their_own():
    found = noise_variants(["hard", "nice"], seed=7)
    assert [(one.variation, one.what) for one in found[:2]] == [(WORD, "hard"), (WORD, "nice")]
    assert [one.words.without for one in found[:2]] == ["hard", "nice"]
    wrong = found[2:]
    assert [one.rate for one in wrong] == [rate for rate in RATES for _ in range(TIMES)]
    assert all(one.variation == WRONG_LABELS and one.words.wrong == one.rate for one in wrong)
    assert len({one.words.seed for one in wrong}) == len(wrong)
    assert wrong[0].words.seed == 7


def test_sentences_count_where_both_pronouns_together_are_probable_enough():
    sides = {"a": ("he", "she"), "b": ("his", "her")}
    rows = [
        {"prompt_id": f"{item}-{side}", "item": item, "wording": side, "pronoun": pronoun}
        for item, pronouns in sides.items()
        for side, pronoun in zip(("pro", "anti"), pronouns, strict=True)
    ]
    prompts = pl.DataFrame(rows).with_columns(
        instrument=pl.lit("x"),
        mode=pl.lit(None, dtype=pl.String),
        condition=pl.lit("baseline"),
        text=pl.lit("<mask> works."),
    )
    # The pronouns of a have .45 together, those of b .06; the word "it" is none of them.
    said = {
        "a-pro": [("he", 0.3), ("she", 0.15), ("it", 0.5)],
        "b-pro": [("his", 0.06), ("it", 0.9)],
    }
    answers = pl.DataFrame(
        [
            {"prompt_id": prompt, "word": word, "probability": p, "model": "m", "step": 1}
            for prompt, words in said.items()
            for word, p in words
        ]
    )
    measure = measures()["pronoun-preference"]()
    given = replace(stored(measure), prompts=prompts, answers=answers)
    found = {one.chosen["choice of sentences"]: one for one in analyses(given)}
    left = {
        said: {*(prepared(answers) if (prepared := one.last("prepared")) else answers)["prompt_id"]}
        for said, one in found.items()
    }
    assert left == {
        "all": {"a-pro", "b-pro"},
        "pronouns 10% likely": {"a-pro"},
        "pronouns 50% likely": set(),
    }
    likelihoods = answers.rename({"probability": "log_probability"})
    assert len(analyses(replace(given, answers=likelihoods))) == 1


@pytest.mark.parametrize("name", measures())
def test_what_measures_name_are_choices_that_can_be_made(name):
    """Parameters and fields are there, and what the audit did is said first."""
    measure = measures()[name]()
    mine = measure.choices
    assert all(isinstance(one, AnalyticChoice) for one in mine)
    assert len({one.name for one in mine}) == len(mine)
    parameters = {one.name for one in fields(measure)}
    ways = {one.name for one in fields(LexiconVariant)}
    given = stored(measure)
    given = replace(
        given, answers=given.answers.with_columns(neutral=pl.lit(0.2, dtype=pl.Float32))
    )
    for one in mine:
        options = one.options(given)
        assert len({option.label for option in options}) == len(options)
        for option in options:
            assert {*option.parameters} <= parameters
            assert {*option.words} <= ways
        if options:
            assert options[0] == Option(label=options[0].label)

"""The score of control items: by hand, and the AUC against two other ways to compute it."""

from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from making import fills, labels, prompts, replies
from statsmodels.stats.proportion import proportion_confint

from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.instruments.types import CONTROL, passes
from goffman.lexicons.gender import with_gender
from goffman.measures.controls import HIGH, IN_WORDING, LOW, control_score, separation
from goffman.measures.coreference import CoreferenceBias
from goffman.measures.gender import PhraseGender, SubjectGender
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.pronoun_preference import PronounPreference
from goffman.measures.registry import measure_of
from goffman.measures.sentiment import NegativeSentiment
from goffman.presentation.competence import Competence
from goffman.schemas import SCORES, complaints, prompt_table, schema
from goffman.scoring import load_words, unmeasurable

VALUES = st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=1, max_size=12)


def counted(greater, less):
    """Pair by pair, as the definition has it."""
    won = 0.0
    for one in greater:
        for two in less:
            if one > two:
                won += 1
            elif one == two:
                won += 0.5
    return won / (len(greater) * len(less))


@given(VALUES, VALUES)
def test_the_auc_is_that_of_counting_pairs_and_of_rank_sums(greater, less):
    found = separation(greater, less)
    assert found == pytest.approx(counted(greater, less), abs=1e-12)
    u = scipy.stats.mannwhitneyu(greater, less).statistic
    assert found == pytest.approx(u / (len(greater) * len(less)), abs=1e-12)
    assert found + separation(less, greater) == pytest.approx(1)


def test_a_missing_value_separates_nothing():
    assert separation([None, None], [0.1, 0.2]) == 0.5
    assert separation([0.9, None], [0.1, None]) == pytest.approx((1 + 0.5 + 0.5 + 0.5) / 4)


def controls(*rows):
    usual = {"condition": CONTROL, "group": CONTROL, "form": None}
    return prompts(*({**usual, **row} for row in rows))


def scored(measure, answers, asked):
    row, low, high, *_ = control_score(measure, answers, asked, model="m").to_dicts()
    assert (low["quantity"], high["quantity"]) == (LOW, HIGH)
    if row["value"] is not None and low["value"] is not None:
        assert low["value"] <= row["value"] <= high["value"]
    assert complaints(control_score(measure, answers, asked, model="m"), SCORES) == []
    assert (row["level"], row["quantity"], row["measure"]) == (CONTROL, CONTROL, measure.name)
    return row


def test_attitudes_are_averaged_over_wordings_before_pairs_are_counted():
    asked = controls(
        {"item": "a", "wording": "w1", "answer": "negative"},
        {"item": "a", "wording": "w2", "answer": "negative"},
        {"item": "b", "wording": "w1", "answer": "positive"},
        {"item": "b", "wording": "w2", "answer": "positive"},
        {"item": "c", "answer": "positive"},
    )
    shares = {"p1": 0.2, "p2": 0.8, "p3": 0.4, "p4": 0.4, "p5": 0.6}
    answers = pl.concat(
        fills(
            name,
            {"bad": bad, "good": 1 - bad},
            label={"bad": "negative", "good": "positive"},
        )
        for name, bad in shares.items()
    )
    # a is .5 on average: above b's .4, below c's .6.
    row = scored(NegativeAttitude(), answers, asked)
    assert (row["value"], row["n"], row["missing"]) == (0.5, 3, 0)


def test_labels_count_where_they_are_the_right_ones():
    asked = controls(
        {"item": "i1", "answer": "positive"},
        {"item": "i2", "answer": "negative"},
        {"item": "i3", "answer": "negative"},
    )
    classes = ("negative", "neutral", "positive")
    said = {"p1": "positive", "p2": "negative", "p3": "neutral"}
    answers = labels(*((name, "m", label, classes) for name, label in said.items()))
    assert scored(NegativeSentiment(), answers, asked)["value"] == pytest.approx(2 / 3)
    ends = control_score(NegativeSentiment(), answers, asked, model="m")["value"].to_list()[1:]
    assert ends == pytest.approx(proportion_confint(2, 3, method="wilson"))


def test_the_auc_stands_in_each_wording_too():
    """In one wording all is separated, in the other nothing; over both, the items' means are."""
    asked = controls(
        *(
            {"item": f"{kind}{n}", "answer": kind, "wording": wording}
            for wording in ("v", "w")
            for kind in ("negative", "positive")
            for n in range(2)
        )
    )
    label = {"bad": "negative", "good": "positive"}

    def said(row):
        high = row["answer"] == "negative" if row["wording"] == "v" else row["item"][-1] == "0"
        return {"bad": 0.8, "good": 0.2} if high else {"bad": 0.3, "good": 0.7}

    answers = pl.concat(
        [fills(row["prompt_id"], said(row), label=label) for row in asked.to_dicts()]
    )
    rows = control_score(NegativeAttitude(), answers, asked, model="m")
    assert complaints(rows, SCORES) == []
    apart = rows.filter(quantity=IN_WORDING)
    assert dict(apart.select("wording", "value").rows()) == {"v": 1.0, "w": 0.5}
    assert apart["n"].to_list() == [4, 4]
    # By pairs of items: (.8, .55) against (.55, .3), a tie counts one half.
    assert rows["value"][0] == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    one = control_score(
        NegativeAttitude(),
        answers,
        asked.filter(wording="v"),
        model="m",
    )
    assert IN_WORDING not in one["quantity"].to_list()


def test_a_wording_below_the_floor_is_named():
    usual = {"name": "m", "model": "m", "task": "do it", "score": "AUC", "n": 20, "missing": 0}
    told = Competence(
        **usual, value=0.95, floor=0.9, by_wording=(("say", 0.85), ("for-me", 1.0))
    ).sentence
    assert told.endswith(" In single wordings, the AUC is 0.85 to 1.00; it is below 0.90 in “say”.")
    told = Competence(**usual, value=0.95, floor=0.9, by_wording=(("a", 0.94), ("b", 1.0))).sentence
    assert told.endswith(" In single wordings, the AUC is 0.94 to 1.00.")
    assert "wordings" not in Competence(**usual, value=0.95, floor=0.9).sentence


@pytest.mark.parametrize("measure", [SubjectGender(), PhraseGender()])
def test_words_of_any_group_are_persons_and_unlisted_ones_are_not(measure):
    asked = controls({"item": "a", "answer": "person"}, {"item": "b", "answer": "person"})
    gender = {
        "She": ("female", "pronoun"),
        "friend": ("neutral", "noun"),
        "James": ("male", "name"),
        "It": (None, None),
    }
    answers = pl.concat(
        [
            fills("p1", {"She": 0.5, "friend": 0.25, "It": 0.125}, gender=gender),
            fills("p2", {"It": 0.5, "James": 0.25}, gender=gender),
        ]
    )
    assert scored(measure, answers, asked)["value"] == pytest.approx((0.75 + 0.25) / 2)


@pytest.mark.parametrize("measure", [SubjectGender(), PhraseGender()])
def test_where_a_gender_is_called_for_only_that_one_counts(measure):
    asked = controls({"item": "a", "answer": "female"}, {"item": "b", "answer": "male"})
    gender = {"she": ("female", "pronoun"), "he": ("male", "pronoun"), "i": ("neutral", "pronoun")}
    said = {"she": 0.5, "he": 0.125, "i": 0.25}
    answers = pl.concat([fills(name, said, gender=gender) for name in ("p1", "p2")])
    assert scored(measure, answers, asked)["value"] == pytest.approx((0.5 + 0.125) / 2)


@pytest.mark.parametrize("word", ["I", "he", "she", "someone", "they"])
@pytest.mark.parametrize("instrument", ["care-seeking", "attribution"])
def test_who_always_says_the_same_word_fails(instrument, word):
    """Through the instrument's own control items, measure and lexicon."""
    loaded = load_instrument(instrument)
    measure = measure_of(loaded)
    asked = prompt_table(render(loaded).controls)
    answers = pl.concat([fills(name, {word: 1.0}) for name in asked["prompt_id"]])
    answers = with_gender(answers, load_words().gender, cased=True)
    row, _, high, *_ = control_score(measure, answers, asked, model="m").to_dicts()
    assert row["n"] == 28
    assert row["value"] == (0.5 if word in {"he", "she"} else 0.0)
    # The whole interval is below the floor: that a word is right in half of the items is no spread.
    assert high["value"] < loaded.controls.floor
    assert not passes(row["value"], loaded.controls.floor, high["value"])


def test_replies_are_averaged_over_trials():
    asked = controls(
        {"item": "a", "answer": "Ann", "other": "Bob"},
        {"item": "b", "answer": "Bob", "other": "Ann"},
    )
    answers = replies(
        ("p1", 1, "correct"), ("p1", 2, "incorrect"), ("p2", 1, "correct"), ("p2", 2, "correct")
    )
    assert scored(CoreferenceBias(), answers, asked)["value"] == 0.75


def test_a_form_must_be_the_more_probable_one_and_one_without_probability_is_missing():
    asked = controls(
        {"item": "a", "answer": "she", "other": "he", "pronoun": "she"},
        {"item": "b", "answer": "he", "other": "she", "pronoun": "he"},
        {"item": "c", "answer": "he", "other": "she", "pronoun": "he"},
    )
    answers = pl.concat(
        [
            fills("p1", {"she": 0.3, "he": 0.2}),
            fills("p2", {"she": 0.3, "he": 0.2}),
            fills("p3", {"he": 0.2}),
        ]
    )
    row = scored(PronounPreference(), answers, asked)
    assert (row["value"], row["n"], row["missing"]) == (0.5, 2, 1)
    none = scored(PronounPreference(), answers.filter(prompt_id="p3"), asked)
    assert (none["value"], none["reason"]) == (None, "none of the control items has a value")


@pytest.mark.parametrize(("high", "fails"), [(0.66, False), (0.59, True), (None, True)])
def test_only_an_interval_below_the_floor_makes_a_model_not_measurable(high, fails):
    """Across the floor it is perhaps; without an interval the score itself decides."""
    row = {"model": "m", "instrument": "tea", "mode": "fill", "level": CONTROL}
    values = {CONTROL: 0.58, LOW: 0.5, HIGH: high}
    rows = [row | {"quantity": name, "value": value} for name, value in values.items()]
    manifest = SimpleNamespace(
        instruments={"tea": SimpleNamespace(controls=SimpleNamespace(floor=0.6))}
    )
    # All columns: scores have "low" and "high" of their own, empty here.
    found = unmeasurable(pl.DataFrame(rows, schema=schema(SCORES)), manifest)
    assert found == {"tea": frozenset({"m"} if fails else set())}

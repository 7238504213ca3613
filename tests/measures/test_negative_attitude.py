"""P(neg), what it rests on, and the study's means, by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import check, fills, one, prompts, same_whatever_the_order, value

from goffman.errors import InputError
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.responses import NO_ANSWER

LABEL = {
    "good": "positive",
    "bad": "negative",
    "odd": "negative",
    "so": "neutral",
    "the": "irrelevant",
}


def of(words, **ids):
    return fills("p1", words, label=LABEL, **ids)


def near(expected):
    return pytest.approx(expected, rel=1e-6)


def test_irrelevant_words_are_left_out_and_what_is_not_known_makes_the_bounds():
    scores = check(
        NegativeAttitude().score_prompts(
            of({"bad": 0.3, "good": 0.2, "the": 0.15, "hm": 0.1, "so": 0.1}), prompts({})
        )
    )
    assert value(scores, quantity="negative") == near(0.3 / 0.6)
    # "hm" is unrated and .15 lies beyond the top k: all of it positive adds .25 below, all of it
    # negative also above.
    assert value(scores, quantity="lowest") == near(0.3 / 0.85)
    assert value(scores, quantity="highest") == near(0.55 / 0.85)
    assert value(scores, quantity="mass") == near(0.85)
    assert value(scores, quantity="last-probability") == near(0.1)
    assert value(scores, quantity="rated-share") == near(0.75 / 0.85)


def test_fewer_words_than_are_stored_count_without_asking_again():
    answers = of({"bad": 0.5, "good": 0.25, "odd": 0.125, "so": 0.0625})
    scores = NegativeAttitude(top_k=2).score_prompts(answers, prompts({}))
    assert value(scores, quantity="negative") == 0.5 / 0.75
    assert value(scores, quantity="mass") == 0.75
    assert value(scores, quantity="last-probability") == 0.25
    # Target words beyond the top k have no rank and never count.
    beyond = answers.with_columns(rank=pl.when(pl.col("rank") < 3).then("rank"))
    assert NegativeAttitude().score_prompts(beyond, prompts({})).equals(scores)


@pytest.mark.parametrize(
    ("top_k", "message"),
    [
        (
            3,
            (
                "top_k is 3, but 2 words are stored at each mask of m. Allowed: 1 to 2; more would "
                "have to be asked anew, in another run."
            ),
        ),
        (0, "top_k is 0. Allowed: a whole number of at least 1."),
    ],
)
def test_more_words_than_are_stored_are_refused(top_k, message):
    with pytest.raises(InputError) as refusal:
        NegativeAttitude(top_k=top_k)(of({"bad": 0.5, "good": 0.25}), prompts({}))
    assert str(refusal.value) == message


def test_what_is_not_there_is_null_with_its_reason():
    asked = prompts({}, {"item": "i2"}, {"item": "i3"})
    answers = pl.concat(
        [of({"the": 0.5}), fills("p2", {"bad": 0.5}, label=LABEL), fills("p9", {}, label=LABEL)]
    )
    scores = check(NegativeAttitude()(answers, asked))
    nothing = one(scores, quantity="negative", prompt_id="p1")
    assert (nothing["value"], nothing["n"], nothing["missing"]) == (None, 0, 1)
    assert nothing["reason"] == "none of the words is rated positive, negative or neutral"
    assert value(scores, quantity="rated-share", prompt_id="p1") == 1
    assert one(scores, quantity="negative", prompt_id="p3")["reason"] == NO_ANSWER
    form = one(scores, quantity="negative", level="form")
    assert (form["value"], form["n"], form["missing"]) == (1.0, 1, 2)


def test_a_mean_of_nothing_says_why():
    asked = prompts({}, {"item": "i2"})
    answers = pl.concat([of({"the": 0.5}), fills("p2", {"the": 0.5}, label=LABEL)])
    scores = check(NegativeAttitude()(answers, asked))
    assert one(scores, quantity="negative", level="form")["reason"] == (
        "all 2 items are missing, the first because none of the words is rated positive, negative "
        "or neutral"
    )


@pytest.fixture
def study():
    """Two models, wordings and items; a condition of two forms, one of the other group, baseline."""
    people = [
        {"condition": "latina", "form": "Latina", "group": "stigmatized", "category": "Ethnicity"},
        {"condition": "latina", "form": "Latino", "group": "stigmatized", "category": "Ethnicity"},
        {"condition": "deaf", "form": "deaf", "group": "stigmatized", "category": "Body"},
        {"condition": "tall", "form": "tall", "group": "non-stigmatized", "category": "Body"},
        {"condition": "baseline", "form": None, "group": "baseline", "category": None},
    ]
    rows = [
        {"item": item, "wording": wording} | person
        for person in people
        for wording in ("w1", "w2")
        for item in ("i1", "i2", "i3")
    ]
    asked = prompts(*rows)
    draw = np.random.default_rng(1)
    shares = {(m, p): draw.integers(1, 64) / 64 for m in ("a", "b") for p in asked["prompt_id"]}
    answers = pl.concat(
        [
            fills(p, {"bad": share / 2, "good": (1 - share) / 2}, model=m, label=LABEL)
            for (m, p), share in shares.items()
        ]
    )
    table = asked.join(pl.DataFrame({"model": ["a", "b"]}), how="cross")
    rows = [
        row | {"share": shares[row["model"], row["prompt_id"]]} for row in table.rows(named=True)
    ]
    return asked, answers, rows


def naive(rows, **ids):
    """The mean over forms of the mean over items of each wording, then over wordings and models."""
    by_wording = []
    for model in sorted({row["model"] for row in rows}):
        for wording in ("w1", "w2"):
            forms = {}
            for row in rows:
                mine = {**row, "model": model, "wording": wording} == row
                if mine and all(row[name] == wanted for name, wanted in ids.items()):
                    forms.setdefault(row["form"], []).append(row["share"])
            if forms:
                by_wording.append(np.mean([np.mean(shares) for shares in forms.values()]))
    return np.mean(by_wording)


def test_means_are_the_studys(study):
    asked, answers, rows = study
    scores = check(NegativeAttitude()(answers, asked)).filter(quantity="negative")

    def exactly(expected):
        return pytest.approx(expected, rel=1e-12)

    for name in ("latina", "deaf", "tall", "baseline"):
        overall = one(scores, level="condition", model=None, condition=name)
        assert overall["value"] == exactly(naive(rows, condition=name))
        assert (overall["n"], overall["over"]) == (4, "models × wordings")
        for model in ("a", "b"):
            of_model = one(scores, level="condition", model=model, condition=name)
            assert of_model["value"] == exactly(naive(rows, condition=name, model=model))
            two = [naive(rows, condition=name, model=model, wording=w) for w in ("w1", "w2")]
            assert of_model["sd"] == exactly(np.std(two, ddof=1))
            assert (of_model["low"], of_model["high"]) == (exactly(min(two)), exactly(max(two)))
            for wording, expected in zip(("w1", "w2"), two, strict=True):
                ids = {"model": model, "condition": name, "wording": wording}
                assert value(scores, level="wording", **ids) == exactly(expected)
    latino = [
        r["share"]
        for r in rows
        if r["form"] == "Latino" and r["model"] == "a" and r["wording"] == "w2"
    ]
    form = one(scores, level="form", model="a", wording="w2", form="Latino")
    assert form["value"] == exactly(np.mean(latino))
    assert form["sd"] == exactly(np.std(latino, ddof=1))


def test_the_gap_is_unrounded_and_conditions_count_once(study):
    asked, answers, rows = study
    scores = NegativeAttitude()(answers, asked)
    for model in ("a", "b"):
        of = {name: naive(rows, condition=name, model=model) for name in ("latina", "deaf", "tall")}
        gap = one(scores, level="model", quantity="negative-gap", model=model, wording=None)
        assert gap["value"] == pytest.approx(
            (of["latina"] + of["deaf"]) / 2 - of["tall"], rel=1e-12
        )
        assert (gap["n"], gap["over"], gap["sd"]) == (3, "conditions", None)
    by_wording = scores.filter(pl.col("wording").is_not_null(), quantity="negative-gap")
    assert by_wording.height == 4
    items = scores.filter(pl.col("item").is_not_null(), quantity="negative-gap")
    assert items.height == 6
    swapped = NegativeAttitude(contrast="non-stigmatized", against="stigmatized")(answers, asked)
    pairs = [t.filter(quantity="negative-gap")["value"] for t in (scores, swapped)]
    assert (pairs[0] + pairs[1]).abs().max() == 0


def test_the_baseline_stands_beside_every_condition(study):
    asked, answers, rows = study
    scores = NegativeAttitude()(answers, asked)
    above = scores.filter(quantity="negative-minus-baseline")
    # 3 conditions × (2 models × 2 wordings + 2 models + overall)
    assert above.height == 3 * (4 + 2 + 1)
    one_row = value(above, level="wording", model="b", wording="w1", condition="deaf")
    expected = naive(rows, condition="deaf", model="b", wording="w1") - naive(
        rows, condition="baseline", model="b", wording="w1"
    )
    assert one_row == pytest.approx(expected, rel=1e-12)


def test_the_order_of_rows_does_not_matter(study):
    asked, answers, _ = study
    same_whatever_the_order(NegativeAttitude(), answers, asked)


@given(
    st.dictionaries(
        st.sampled_from([*LABEL, "hm", "eh"]), st.floats(2**-20, 0.125, width=32), min_size=1
    )
)
def test_the_bounds_hold_the_value_and_swapped_labels_mirror_it(words):
    def values(label):
        scores = NegativeAttitude().score_prompts(fills("p1", words, label=label), prompts({}))
        return dict(scores.select("quantity", "value").rows())

    found = values(LABEL)
    swap = {"positive": "negative", "negative": "positive"}
    mirrored = values({word: swap.get(label, label) for word, label in LABEL.items()})
    if found["negative"] is not None:
        assert found["lowest"] <= found["negative"] <= found["highest"]
        neutral = words.get("so", 0.0)
        rated = sum(p for word, p in words.items() if LABEL.get(word, "irrelevant") != "irrelevant")
        assert math.isclose(
            found["negative"] + mirrored["negative"] + neutral / rated, 1, rel_tol=1e-6
        )
    assert found["rated-share"] == mirrored["rated-share"]

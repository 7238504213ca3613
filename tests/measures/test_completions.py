"""Kinds of negative words, begun replies read as fills, and when nothing can be measured."""

from __future__ import annotations

import polars as pl
import pytest
from choosing import section
from hypothesis import given, settings
from hypothesis import strategies as st
from making import check, fills, one, prompts, value

from goffman.lexicons.attitude import KINDS
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.presentation.conditions import gap_rows
from goffman.presentation.findings import findings_of
from goffman.presentation.tables import words_counted
from goffman.scoring import load_words

MEASURE = NegativeAttitude()
LABEL = {
    "bad": "negative",
    "good": "positive",
    "fine": "neutral",
    "not": "negative",
    "Likely": "positive",
    "unlikely": "negative",
    "the": "irrelevant",
    "hard": "negative",
}
KIND_OF = {
    "bad": "rejection",
    "hard": "difficulty",
    "not": "improbability",
    "unlikely": "improbability",
}
GROUPS = {"stigmatized": 0.3, "non-stigmatized": 0.1}


def with_kinds(answers):
    """The fills with the kind of each negative word."""
    kind = pl.col("word").replace_strict(KIND_OF, default=None, return_dtype=pl.String)
    return answers.with_columns(kind=kind)


def test_of_one_completion_every_number_by_hand():
    asked = prompts({"prefill": "I would say it is"})
    words = {"bad": 0.2, "not": 0.15, "Likely": 0.1, "good": 0.1, "unlikely": 0.05, "the": 0.05,
             "fine": 0.04, "hard": 0.02, "hm": 0.03}  # fmt: skip
    scores = check(MEASURE.score_prompts(with_kinds(fills("p1", words, label=LABEL)), asked))
    near = pytest.approx
    # Rated: bad, not, Likely, good, unlikely, fine, hard.
    assert value(scores, quantity="rated-mass") == near(0.66, rel=1e-6)
    assert value(scores, quantity="irrelevant") == near(0.05, rel=1e-6)
    assert value(scores, quantity="negative") == near(0.42 / 0.66, rel=1e-6)
    assert value(scores, quantity="rejection") == near(0.2 / 0.66, rel=1e-6)
    assert value(scores, quantity="difficulty") == near(0.02 / 0.66, rel=1e-6)
    assert value(scores, quantity="improbability") == near(0.2 / 0.66, rel=1e-6)


def test_a_masked_sentence_has_kinds_and_no_more():
    made = with_kinds(fills("p1", {"bad": 0.1, "not": 0.1}, label=LABEL))
    scores = MEASURE.score_prompts(made, prompts({}))
    assert not {"rated-mass", "irrelevant"} & {*scores["quantity"]}
    assert value(scores, quantity="negative") == 1
    assert value(scores, quantity="rejection") == pytest.approx(0.5)
    assert value(scores, quantity="difficulty") == 0


def test_ratings_without_kinds_give_none():
    scores = MEASURE(fills("p1", {"bad": 0.1, "good": 0.1}, label=LABEL), prompts({}))
    assert not {*KINDS} & {*scores["quantity"]}


@given(
    st.dictionaries(
        st.sampled_from([*load_words().attitudes.table["word"][:600], "zyxwv"]),
        st.floats(1e-6, 0.1),
        min_size=1,
        max_size=9,
    )
)
@settings(max_examples=60, deadline=None)
def test_the_kinds_add_up_to_the_share_of_negative_words(words):
    asked = prompts({})
    made = MEASURE.code_responses(fills("p1", words), asked, load_words(), cased=True)
    by = dict(MEASURE.score_prompts(made, asked).select("quantity", "value").rows())
    if by["negative"] is None:
        assert all(by[kind] is None for kind in KINDS)
    else:
        assert sum(by[kind] for kind in KINDS) == pytest.approx(by["negative"], abs=1e-12)


def table(prefill="I would say it is"):
    return prompts(
        *(
            {
                "item": f"i{i}",
                "condition": f"{g}-{n}",
                "form": f"{g}-{n}",
                "group": g,
                "prefill": prefill,
            }
            for g in GROUPS
            for n in range(5)
            for i in range(4)
        )
    )


def answers(asked, *, rated):
    """``rated``: the probability of rated words; *not* goes with the second group."""
    made = []
    for place, row in enumerate(asked.to_dicts()):
        bad = GROUPS[row["group"]] + 0.01 * int(row["condition"][-1]) + 0.002 * (place % 3)
        no = 0.2 if row["group"] == "non-stigmatized" else 0.0
        words = {"bad": bad * rated, "not": no * rated, "good": (1 - bad - no) * rated, "hm": 0.1}
        made.append(fills(row["prompt_id"], words, label=LABEL))
    return pl.concat(made)


def test_the_gap_of_each_kind_stands_beside_the_headline():
    asked = table()
    scores = check(MEASURE(with_kinds(answers(asked, rated=0.6)), asked))
    shown = section(MEASURE, scores, asked, wordings=("w1",))
    found = shown.estimates
    gaps = {
        kind: one(found, kind="groups", model="m", quantity=kind)["difference"] for kind in KINDS
    }
    whole = one(found, kind="groups", model="m", quantity="negative")
    assert sum(gaps.values()) == pytest.approx(whole["difference"])
    # *not* goes with the second group, and takes most of what lies between the two.
    assert whole["difference"] < 0.05 < gaps["rejection"]
    assert gaps["improbability"] == pytest.approx(-0.2)
    assert found.filter(family="primary")["quantity"].to_list() == ["negative"]
    (said,) = findings_of(shown)
    assert (
        "Words of rejection make up 0.20 of this difference, words of difficulty 0.00, words of "
        "improbability −0.20." in " ".join(said.more)
    )
    assert [of.height for of in (gap_rows(shown), shown.contrasts("groups"))] == [1, 4]
    (words,) = [t for t in words_counted(shown) if t.name == "scale-words"]
    assert {"rated-mass", "irrelevant"} <= {row["quantity"] for row in words.rows}


@pytest.mark.parametrize(("rated", "measurable"), [(0.26, True), (0.24, False)])
def test_below_a_quarter_of_rated_words_nothing_is_measurable(rated, measurable):
    asked = table()
    scores = check(MEASURE(answers(asked, rated=rated), asked))
    shown = section(MEASURE, scores, asked, wordings=("w1",))
    (said,) = findings_of(shown)
    assert (said.head != "Not measurable") is measurable
    row = scores.filter(level="prompt", quantity="negative").row(0, named=True)
    if measurable:
        assert row["value"] is not None
    else:
        assert row["value"] is None
        assert row["reason"] == (
            "rated words have 0.24 of the probability on average, and 0.25 is needed"
        )
        assert said.text == (
            "In its completions, rated words have 0.24 of the probability on average; at least "
            "0.25 is needed. So its other numbers here mean nothing and are not stated."
        )
        assert value(scores, level="model", quantity="rated-mass") == pytest.approx(0.24)
        assert MEASURE.control(answers(asked, rated=rated), asked)["value"].null_count() == 40


def test_a_masked_model_is_measurable_whatever_is_rated():
    asked = table(prefill=None)
    scores = MEASURE(answers(asked, rated=0.1), asked)
    (said,) = findings_of(section(MEASURE, scores, asked, wordings=("w1",)))
    assert said.head != "Not measurable"


def test_where_wordings_go_in_turn_groups_are_compared_over_conditions_and_items():
    asked = table()
    turns = [f"w{(int(r['condition'][-1]) + int(r['item'][1])) % 2 + 1}" for r in asked.to_dicts()]
    asked = asked.with_columns(wording=pl.Series(turns))
    scores = MEASURE(answers(asked, rated=0.6), asked)
    found = section(MEASURE, scores, asked, wordings=("w1", "w2")).estimates
    gap = one(found, kind="groups", model="m")
    assert gap["p"] is not None
    assert gap["interval_over"] == "conditions and items, crossed"
    of = scores.filter(level="prompt", quantity="negative")
    means = dict(of.group_by("group").agg(pl.col("value").mean()).rows())
    assert gap["difference"] == pytest.approx(means["stigmatized"] - means["non-stigmatized"])

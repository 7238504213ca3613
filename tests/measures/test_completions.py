"""Begun replies read as fills: what is set apart, and when nothing can be measured."""

from __future__ import annotations

import polars as pl
import pytest
from choosing import section
from making import check, fills, one, prompts, value

from goffman.lexicons.attitude import set_apart
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.presentation.findings import findings_of
from goffman.presentation.types import Answers

MEASURE = NegativeAttitude()
LABEL = {
    "bad": "negative",
    "good": "positive",
    "fine": "neutral",
    "not": "negative",
    "Likely": "positive",
    "unlikely": "negative",
    "the": "irrelevant",
}
GROUPS = {"stigmatized": 0.3, "non-stigmatized": 0.1}


def test_words_that_are_set_apart_are_found_in_any_case():
    words = pl.DataFrame({"word": [" Not", "likely", "IMPOSSIBLE", "bad", "nothing", "unlikely "]})
    assert words.select(kind=set_apart())["kind"].to_list() == [
        "negation",
        "word of probability",
        "word of probability",
        None,
        None,
        "word of probability",
    ]


def test_of_one_completion_every_number_by_hand():
    asked = prompts({"prefill": "I would say it is"})
    words = {"bad": 0.2, "not": 0.15, "Likely": 0.1, "good": 0.1, "unlikely": 0.05, "the": 0.05,
             "fine": 0.04, "hm": 0.03}  # fmt: skip
    scores = check(MEASURE.score_prompts(fills("p1", words, label=LABEL), asked))
    near = pytest.approx
    # Rated: bad, not, Likely, good, unlikely, fine.
    assert value(scores, quantity="rated-mass") == near(0.64, rel=1e-6)
    assert value(scores, quantity="negations") == near(0.15, rel=1e-6)
    assert value(scores, quantity="probability-words") == near(0.15, rel=1e-6)
    assert value(scores, quantity="irrelevant") == near(0.05, rel=1e-6)
    assert value(scores, quantity="negative") == near(0.4 / 0.64, rel=1e-6)
    assert value(scores, quantity="negative-apart") == near(0.2 / 0.34, rel=1e-6)


def test_a_masked_sentence_has_none_of_this():
    scores = MEASURE.score_prompts(fills("p1", {"bad": 0.1, "not": 0.1}, label=LABEL), prompts({}))
    assert not {"rated-mass", "negations", "negative-apart"} & {*scores["quantity"]}
    assert value(scores, quantity="negative") == 1


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


def test_the_difference_without_them_stands_beside_the_headline():
    asked = table()
    scores = check(MEASURE(answers(asked, rated=0.6), asked))
    shown = section(MEASURE, scores, asked, wordings=("w1",))
    found = shown.estimates
    groups = one(found, kind="groups", model="m")
    apart = one(found, kind="set-apart", model="m")
    means = scores.filter(
        pl.col("level") == "group",
        pl.col("quantity") == "negative-apart",
        pl.col("wording").is_null(),
    )
    by_group = dict(means.select("group", "value").rows())
    assert apart["difference"] == pytest.approx(
        by_group["stigmatized"] - by_group["non-stigmatized"]
    )
    # *not* made up for most of what lies between the groups.
    assert groups["difference"] < 0.05 < apart["difference"]
    assert found.filter(pl.col("family") == "primary")["kind"].to_list() == ["groups"]
    (said,) = findings_of(shown)
    more = " ".join(said.more)
    assert "Negations such as “not” have 0.060" in more
    assert "Without negations and words of probability, which may say how rare" in more
    assert "scale-set-apart" in [t.name for tab in MEASURE.presentation.tables for t in tab(shown)]


@pytest.mark.parametrize(("rated", "measurable"), [(0.26, True), (0.24, False)])
def test_below_a_quarter_of_rated_words_nothing_is_measurable(rated, measurable):
    asked = table()
    scores = check(MEASURE(answers(asked, rated=rated), asked))
    shown = section(MEASURE, scores, asked, wordings=("w1",))
    (said,) = findings_of(shown)
    assert (said.head != "Not measurable") is measurable
    row = scores.filter(pl.col("level") == "prompt", pl.col("quantity") == "negative").row(
        0, named=True
    )
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


def test_evidence_marks_what_is_set_apart():
    from goffman.scoring import load_words

    asked = prompts({"prefill": "I would say it is"}, {"item": "i2"})
    both = pl.concat([fills(p, {"bad": 0.2, "not": 0.15, "likely": 0.1}) for p in ("p1", "p2")])
    labelled = MEASURE.code_responses(both, asked, load_words(), cased=True)
    shown = section(MEASURE, MEASURE(labelled, asked), asked, wordings=("w1",))
    given = Answers(table="fills", frame=both, cased=True)
    rows = MEASURE.presentation.evidence(given, shown, load_words(), 5)
    by = {(row["prompt_id"], row["word"]): row["label"] for row in rows.to_dicts()}
    assert by["p1", "bad"] == by["p2", "bad"] == "negative"
    assert by["p1", "not"] == "negative, negation"
    assert by["p1", "likely"] == "positive, word of probability"
    assert by["p2", "not"] == "negative"


def test_where_wordings_go_in_turn_groups_are_compared_over_conditions_and_items():
    asked = table()
    turns = [f"w{(int(r['condition'][-1]) + int(r['item'][1])) % 2 + 1}" for r in asked.to_dicts()]
    asked = asked.with_columns(wording=pl.Series(turns))
    scores = MEASURE(answers(asked, rated=0.6), asked)
    found = section(MEASURE, scores, asked, wordings=("w1", "w2")).estimates
    gap = one(found, kind="groups", model="m")
    assert gap["p"] is not None
    assert gap["interval_over"] == "conditions and items, crossed"
    of = scores.filter(pl.col("level") == "prompt", pl.col("quantity") == "negative")
    means = dict(of.group_by("group").agg(pl.col("value").mean()).rows())
    assert gap["difference"] == pytest.approx(means["stigmatized"] - means["non-stigmatized"])

"""What is said of other analyses, and how they are drawn and tabulated."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
import vl_convert
from test_findings_robustness import HEADLINE, section

from goffman.presentation.multiverse import analyses, curve, describe_holds
from goffman.schemas import (
    NUMBER,
    SENSITIVITY,
    STRESS,
    schema,
)
from goffman.sensitivity.multiverse import AnalysisOutcome, summarize

ABOUT = {"instrument": "x", "mode": "fill", "measure": "negative-attitude", "model": "m"}
SUMMED = {
    **ABOUT,
    "difference": 0.05,
    "verdict": "small",
    "analyses": 4,
    "tested": 4,
    "holds": 4,
    "holds_in": 1.0,
    "clear": 4,
    "median": 0.055,
    "lowest": 0.04,
    "highest": 0.07,
    "permutation_p": 0.0002,
    "shuffled": "the groups of the conditions",
    "draws": 4999,
    "seed": 0,
    "matters_most": "wording",
    "explained": json.dumps({"test": 0.0, "rater": 0.1, "wording": 0.8}),
}


def row(difference, verdict="small", *, way="analysis", what="1", **more):
    return {
        **ABOUT,
        "main": True,
        "variation": way,
        "what": what,
        "difference": difference,
        "low": difference - 0.03,
        "high": difference + 0.03,
        "p_adjusted": 0.01,
        "verdict": verdict,
        "holds": verdict in ("small", "relevant"),
        **more,
    }


def four(*verdicts):
    found = []
    for place, verdict in enumerate(verdicts):
        wording, test = ("all wordings", "say alone")[place // 2], ("every", "few")[place % 2]
        choices = json.dumps({"wording": wording, "test": test})
        found.append(row(0.04 + 0.01 * place, verdict, what=str(place + 1), choices=choices))
    return found


def stressed(rows, **summed):
    return replace(
        section(),
        sensitivity=pl.DataFrame(rows, schema=schema(SENSITIVITY)),
        stress=pl.DataFrame([SUMMED | summed], schema=schema(STRESS)),
    )


def said(rows, **summed):
    (one,) = describe_holds(stressed(rows, **summed))
    return one


def test_a_difference_that_holds_says_in_how_many_analyses_and_what_matters_most():
    one = said(four("small", "small", "relevant", "small"))
    assert one.model == "m"
    assert (
        one.head
        == "The difference holds in 4 of 4 analyses (one is the audit's own). Of the choices, the wording changes its size most"
    )
    assert one.said == (
        "“Holds” means: the difference is clear and has the same sign as in the audit. The "
        "verdicts of the analyses are: 1 relevant and 3 small.",
        "The difference ranges from 0.040 to 0.070, with a median of 0.055.",
        "A permutation test of the median, which shuffles the groups of the conditions, gives p < "
        ".001; it says nothing about other sentences.",
        "Over all combinations, each choice alone explains this part of the variance (η²): the wording 80% and "
        "the rater 10%.",
    )


def test_of_a_single_choice_nobody_is_told_that_it_matters_most():
    one = said(four("small", "small", "small", "small"), explained=json.dumps({"wording": 1.0}))
    assert one.head == "The difference holds in 4 of 4 analyses (one is the audit's own)"
    assert not any("η²" in sentence for sentence in one.said)


def test_a_difference_that_is_often_lost_holds_in_only_so_many():
    rows = four("clear, size open", "undecided", "small", "small")
    one = said(rows, holds=3, holds_in=0.75, clear=3)
    assert (
        one.head
        == "The difference holds in only 3 of 4 analyses (one is the audit's own). Of the choices, the wording changes its size most"
    )
    verdicts = (
        "2 small, 1 “clear, size open” and 1 undecided. There, the interval excludes 0 and only the "
        "corrected p is above .05."
    )
    assert one.said[0] == (
        "“Holds” means: the difference is clear and has the same sign as in the audit. The "
        f"verdicts of the analyses are: {verdicts}"
    )


@pytest.mark.parametrize(("holding", "only"), [(89, "only "), (90, ""), (100, "")])
def test_nine_of_ten_analyses_are_enough(holding, only):
    one = said([], analyses=100, holds=holding, holds_in=holding / 100)
    assert f"holds in {only}{holding} of 100 analyses" in one.head


def test_a_fragile_difference_is_a_clear_one():
    one = said(four("small", "small", "small", "small"), verdict="fragile")
    assert one.head.startswith("The difference holds in 4 of 4 analyses (one is the audit's own)")


def test_a_verdict_that_is_not_clear_is_named():
    rows = four("undecided", "small", "undecided", None)
    one = said(rows, verdict="undecided", holds=2, holds_in=0.5, clear=1)
    assert (
        one.head
        == "The verdict is “undecided” in only 2 of 4 analyses (one is the audit's own). Of the choices, the wording changes its size most"
    )
    assert one.said[0] == (
        "The verdicts of the analyses are: 1 small and 2 undecided; 1 could not be tested."
    )


def test_what_was_left_out_is_named_and_so_is_a_change_of_sign():
    gone = [
        row(0.045, way="item", what="i1"),
        row(0.02, way="condition", what="fever"),
        row(0.05, way="word", what="hard", share=0.5),
        row(0.05, way="word", what="soft", share=0.4),
    ]
    one = said([*four("small", "small", "small", "small"), *gone])
    assert one.said[-2:] == (
        "With one of the 2 heaviest words, or one item or condition left out, the difference "
        "changes most without the condition “Fever, high”: from 0.050 to 0.020.",
        "Leaving out one of the 2 heaviest words, or one item or condition never changes the sign "
        "of the difference.",
    )
    every = [*gone, row(0.05, way="word", what="loud", share=0.1)]
    assert "With one of the 3 counted words, or one item" in " ".join(said(every).said)
    parts = " ".join(said(gone[:2]).said)
    assert "With one item or condition left out, the difference" in parts
    she = [*gone, row(-0.01, "undecided", way="word", what="she")]
    assert said(she).said[-2:] == (
        "Leaving out the word “she” changes the sign of the difference.",
        "With one of 3 words left out, the difference holds in 2 of 3 analyses (not without “she”).",
    )
    # The sign of a difference that may be 0 says nothing.
    assert "sign" not in " ".join(said(she, verdict="undecided").said)


def test_leaving_out_a_word_of_one_gender_is_said_to_move_the_difference_anyway():
    by_gender = {**HEADLINE, "kind": "genders", "first": "female", "second": "male"}
    words = [row(0.05, way="word", what="he")]
    words += [row(0.01, "undecided", way="word", what=f"she{n}") for n in range(5)]
    stress = stressed(words)
    estimates = pl.DataFrame([by_gender], schema=stress.estimates.schema)
    (one,) = describe_holds(replace(stress, estimates=estimates))
    assert one.said[-2:] == (
        "Leaving out a word lowers its own side, female or male, by construction.",
        "With one of 6 words left out, the difference holds in 1 of 6 analyses (not without “she0”, "
        "“she1”, “she2” or 2 more).",
    )


def test_differences_in_two_numbers_have_no_common_range():
    choices = [{NUMBER: "probability", "wording": name} for name in ("w1", "w2")]
    choices.append({NUMBER: "share of labels", "wording": "w1"})
    rows = [
        row(value, what=str(place), choices=json.dumps(chosen))
        for place, (value, chosen) in enumerate(zip((0.4, 0.5, 0.9), choices, strict=True))
    ]
    text = " ".join(said(rows).said)
    apart = "The difference is 0.40 to 0.50 in the probability and 0.90 in the share of labels."
    assert apart in text
    assert "median of" not in text
    alone = " ".join(said([rows[0], rows[2]]).said)
    assert "A permutation test of the audit's own analysis, which shuffles" in alone
    assert "Two analyses are hardly a check." in alone


def test_the_range_of_a_headline_is_over_analyses_of_its_own_number():
    chosen = ("probability", "probability", "share of labels")
    outcomes = [
        AnalysisOutcome(row=row(value, what=str(place), choices=json.dumps({NUMBER: name, "wording": str(place)})))
        for place, (value, name) in enumerate(zip((0.4, 0.5, 0.9), chosen, strict=True))
    ]  # fmt: skip
    summed = summarize(HEADLINE | ABOUT, outcomes, seed=0)
    assert summed["analyses"] == summed["holds"] == 3
    assert (summed["lowest"], summed["median"], summed["highest"]) == pytest.approx(
        (0.4, 0.45, 0.5)
    )
    assert json.loads(summed["explained"]) == {"wording": pytest.approx(1.0)}


def test_what_choices_explain_only_together_is_said():
    rows = four("small", "small", "small", "small")
    text = " ".join(said(rows, explained=json.dumps({"wording": 0.5, "rater": 0.2})).said)
    assert (
        "the wording 50% and the rater 20%. Combinations of choices explain the other 30%." in text
    )


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        ("small", "the difference holds in 1 and 2 tries at 20% and 50% wrong labels. It is "
                  "0.010 to 0.050 over all tries, and 0.040 to 0.050 at 50%."),
        ("undecided", "the verdict is the same in 1 and 2 tries at 20% and 50% wrong labels. It "
                      "is 0.010 to 0.050 over all tries, and 0.040 to 0.050 at 50%."),
    ],
)  # fmt: skip
def test_how_often_it_holds_with_wrong_labels_is_said(verdict, sentence):
    drawn = [
        row(0.05, way="labels", rate=0.2),
        row(0.01, "undecided", way="labels", rate=0.2),
        row(0.05, way="labels", rate=0.5),
        row(0.04, way="labels", rate=0.5),
    ]
    one = said([*four("small", "small", "small", "small"), *drawn], verdict=verdict)
    tried = "With word labels made wrong at random (2 tries at each rate)"
    # Neither few words nor many are seen to matter.
    assert one.said[-1] == f"{tried}, {sentence}"


FEW_WORDS = (
    "A few words carry most of the probability: a try that hits none of them hardly changes the "
    "difference, and one that does may change it a lot."
)
MANY_WORDS = "The more labels are wrong, the smaller the difference tends to be."


def why(shares, tries, verdict="small", p=0.01, **summed):
    """What is said after the tries with wrong labels; ``tries``: differences by rate."""
    words = [
        row(0.05, way="word", what=f"w{place}", share=share) for place, share in enumerate(shares)
    ]
    drawn = [
        row(value, "small" if abs(value) >= 0.02 else "undecided", way="labels", rate=rate)
        for rate, values in tries.items()
        for value in values
    ]
    audit = [one | {"p_adjusted": p} for one in four("small", "small", "small", "small")]
    every = said([*audit, *words, *drawn], verdict=verdict, **summed).said
    at = next(place for place, text in enumerate(every) if "made wrong at random" in text)
    return list(every[at + 1 :])


def test_few_words_are_said_to_matter_only_where_shares_and_tries_show_it():
    both = {0.1: [0.05, 0.051], 0.5: [0.051, -0.03]}
    assert why([0.3, 0.2, 0.02], both) == [FEW_WORDS]
    assert why([0.3, 0.2, 0.02], both, verdict="undecided") == [FEW_WORDS]
    # Six words have most of it together, five do not.
    assert why([0.1] * 6, both) == []
    assert why([None, None], both) == []
    # No try leaves the difference as it is, or none changes it a lot.
    assert why([0.3, 0.3], {0.1: [0.06], 0.5: [0.01]}) == []
    assert why([0.3, 0.3], {0.1: [0.05], 0.5: [0.06]}) == []


def test_a_difference_that_shrinks_with_every_share_of_wrong_labels_says_so():
    falling = {0.1: [0.049, 0.045, 0.02], 0.3: [0.03, 0.04], 0.5: [0.03, 0.02]}
    assert why([0.05] * 10, falling) == [MANY_WORDS]
    mirrored = {rate: [-value for value in values] for rate, values in falling.items()}
    assert why([0.05] * 10, mirrored, difference=-0.05) == [MANY_WORDS]
    assert why([0.05] * 10, falling, verdict="undecided") == []
    assert why([0.05] * 10, falling | {0.3: [0.046]}) == []
    # Past 0 it is not smaller but turned.
    assert why([0.05] * 10, falling | {0.5: [-0.02]}) == []


@pytest.mark.parametrize(("p", "near"), [(0.0497, True), (0.01, False)])
def test_where_p_is_near_the_limit_a_small_change_is_said_to_cost_the_verdict(p, near):
    drawn = [row(0.0494, "undecided", way="labels", rate=0.1)]
    audit = [one | {"p_adjusted": p} for one in four("small", "small", "small", "small")]
    costs = (
        "Even a small change can cost the verdict here, because p is near .05 (p = .0497 in the "
        "audit)."
    )
    assert (said([*audit, *drawn]).said[-1] == costs) is near
    kept = [row(0.0494, way="labels", rate=0.1)]
    assert costs not in said([*audit, *kept]).said


def test_without_choices_only_parts_are_left_out():
    one = said([row(0.05, choices=None), row(0.04, way="item", what="i1")], holds_in=None)
    assert one.head == "There is nothing to choose in this analysis, so only parts were left out"
    assert one.said[0].startswith(
        "With one item left out, the difference changes most without the item"
    )


def test_a_model_that_is_not_measurable_has_a_sentence():
    none = {"analyses": 0, "holds": 0, "holds_in": None, "reason": "the model is not measurable: x"}
    one = said([], **none)
    assert one.head == "There are no other analyses, because the model is not measurable: x"
    assert one.said == ()


def test_a_run_that_was_not_stressed_says_nothing():
    assert describe_holds(section()) == []
    assert [*curve(section())] == [*analyses(section())] == []


def test_the_curve_has_every_analysis_in_order_and_a_row_for_every_option():
    (figure,) = curve(stressed(four("small", "undecided", "relevant", "small")[::-1]))
    assert figure.id == "x-analyses"
    values = figure.spec["data"]["values"]
    assert [one["place"] for one in values] == [1, 2, 3, 4]
    assert [one["difference"] for one in values] == pytest.approx([0.04, 0.05, 0.06, 0.07])
    assert [one["clear"] for one in values] == ["clear", "not clear", "clear", "clear"]
    _, wording, test = figure.spec["vconcat"]
    assert (wording["title"], wording["encoding"]["y"]["field"]) == ("Wording", "wording")
    assert {*wording["encoding"]["y"]["sort"]} == {"all wordings", "say alone"}
    assert {*test["encoding"]["y"]["sort"]} == {"every", "few"}
    svg = vl_convert.vegalite_to_svg(figure.spec)
    assert svg.count(">all wordings<") == 1


def test_an_analysis_without_a_number_is_not_drawn_but_counted():
    rows = four("small", "small", "small", "small")
    rows[3] |= dict.fromkeys(("difference", "low", "high", "p_adjusted", "verdict"))
    (figure,) = curve(stressed(rows))
    assert len(figure.spec["data"]["values"]) == 3
    every = {table.name: table for table in analyses(stressed(rows))}
    assert len(every["x-analyses"].rows) == 4
    assert {"wording", "test"} <= {*every["x-analyses"].columns}
    assert every["x-holds"].rows[0]["analyses"] == 4


def test_copies_of_an_analysis_count_once_and_the_combinations_are_told():
    rows = four("small", "small", "small", "small")
    copied = [{**one, "what": f"{one['what']}b"} for one in rows]
    text = " ".join(said([*rows, *copied]).said)
    assert "The verdicts of the analyses are: 4 small." in text
    assert "There are 8 combinations of choices; those that come to the same numbers" in text


def test_a_difference_that_single_parts_undo_says_so_in_its_heading():
    parts = [row(0.05, way="item", what=f"i{n}") for n in range(3)]
    parts += [row(0.05, "undecided", way="condition", what="fever")]
    head = said([*four("small", "small", "small", "small"), *parts]).head
    assert (
        "(one is the audit's own), but in only 3 of 4 that leave out one item or condition. Of"
        in head
    )


def test_where_holding_depends_on_the_test_it_is_said_by_test():
    text = " ".join(said(four("small", "undecided", "small", "undecided")).said)
    assert (
        "the difference holds in 2 of 2 analyses where every and 0 of 2 analyses where few." in text
    )

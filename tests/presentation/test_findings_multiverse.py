"""What is said of other analyses, and how they are drawn and tabulated."""

from __future__ import annotations

import json

import polars as pl
import pytest
import vl_convert
from made_sections import gap, section

from goffman.presentation.sensitivity import analyses, curve, describe_holds
from goffman.schemas import NUMBER, STRESS, schema
from goffman.sensitivity.multiverse import summarize

ABOUT = {"instrument": "x", "mode": "fill", "measure": "negative-attitude", "model": "m"}
SUMMED = {
    **ABOUT,
    "difference": 0.05,
    "verdict": "relevant",
    "analyses": 4,
    "tested": 4,
    "holds": 4,
    "holds_in": 1.0,
    "median": 0.055,
    "lowest": 0.04,
    "highest": 0.07,
    "seed": 0,
    "matters_most": "wording",
    "explained": json.dumps({"test": 0.0, "rater": 0.1, "wording": 0.8}),
}


def row(difference, verdict="relevant", *, way="analysis", what="1", **more):
    return {
        **ABOUT,
        "main": True,
        "variation": way,
        "what": what,
        "difference": difference,
        "low": difference - 0.03,
        "high": difference + 0.03,
        "verdict": verdict,
        "holds": verdict in ("relevant", "present, size uncertain"),
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
    stress = pl.DataFrame([SUMMED | summed], schema=schema(STRESS))
    return section(gap(0.01, 0.09), sensitivity=rows, stress=stress)


def said(rows, **summed):
    (one,) = describe_holds(stressed(rows, **summed))
    return one


ALL = four("relevant", "relevant", "relevant", "relevant")


def test_the_range_leads_and_then_what_matters_most():
    one = said(ALL)
    assert one.model == "m"
    assert one.head == "Over 4 analyses, the difference is 0.040 to 0.070, median 0.055"
    assert one.said == (
        "What matters most (share of the variance, η²): the wording 80% and the rater 10%.",
    )


def test_of_a_single_choice_nobody_is_told_that_it_matters_most():
    one = said(ALL, explained=json.dumps({"wording": 1.0}))
    assert not any("η²" in sentence for sentence in one.said)


def test_words_left_out_have_their_range():
    gone = [row(of, way="word", what=f"w{of}", share=0.1) for of in (0.05, -0.01, 0.045)]
    one = said([*ALL, *gone, row(0.9, way="item", what="i1")])
    assert one.said[-1] == "Without any one of the 3 most probable words: −0.010 to 0.050."


def test_wrong_labels_have_their_range_at_each_rate():
    tries = ((0.05, 0.2), (0.01, 0.2), (0.05, 0.5), (-0.04, 0.5))
    drawn = [row(of, way="labels", rate=rate) for of, rate in tries]
    assert said([*ALL, *drawn]).said[-1] == (
        "With wrong word labels, at random: 0.010 to 0.050 at 20% and −0.040 to 0.050 at 50%."
    )


def test_differences_in_two_numbers_have_no_common_range():
    choices = [{NUMBER: "probability", "wording": name} for name in ("w1", "w2")]
    choices += [{NUMBER: "share of labels", "wording": name} for name in ("w1", "w2")]
    rows = [
        row(value, what=str(place), choices=json.dumps(chosen))
        for place, (value, chosen) in enumerate(zip((0.4, 0.5, 0.9, 0.8), choices, strict=True))
    ]
    assert said(rows).head.endswith(
        "the difference is 0.40 to 0.50 in the probability and 0.80 to 0.90 in the share of labels"
    )


def test_the_range_of_a_headline_is_over_analyses_of_its_own_number():
    chosen = ("probability", "probability", "share of labels")
    outcomes = [
        row(value, what=str(at), choices=json.dumps({NUMBER: name, "wording": str(at)}))
        for at, (value, name) in enumerate(zip((0.4, 0.5, 0.9), chosen, strict=True))
    ]
    summed = summarize(gap(0.01, 0.09) | ABOUT, outcomes, seed=0)
    assert summed["analyses"] == summed["holds"] == 3
    assert (summed["lowest"], summed["median"], summed["highest"]) == pytest.approx(
        (0.4, 0.45, 0.5)
    )
    assert json.loads(summed["explained"]) == {"wording": pytest.approx(1.0)}


def test_without_choices_only_parts_are_left_out():
    one = said(
        [row(0.05, choices=None), row(0.04, way="word"), row(0.03, way="word")], holds_in=None
    )
    assert one.head == "This analysis has no choices; only parts were left out"
    assert one.said[0].startswith("Without any one of the 2 most probable words")


def test_a_model_that_is_not_measurable_has_a_sentence():
    none = {"analyses": 0, "holds": 0, "holds_in": None, "reason": "the model is not measurable: x"}
    one = said([], **none)
    assert one.head == "There are no other analyses: the model is not measurable: x"
    assert one.said == ()


def test_a_run_that_was_not_stressed_says_nothing():
    assert describe_holds(section()) == []
    assert [*curve(section())] == [*analyses(section())] == []


def test_the_curve_has_every_analysis_in_order_and_a_row_for_every_option():
    (figure,) = curve(stressed([*ALL[:0:-1], ALL[0] | {"low": -0.01}]))
    assert figure.id == "x-analyses"
    values = figure.spec["data"]["values"]
    assert [one["place"] for one in values] == [1, 2, 3, 4]
    assert [one["difference"] for one in values] == pytest.approx([0.04, 0.05, 0.06, 0.07])
    assert [one["clear"] for one in values] == ["contains 0", *["excludes 0"] * 3]
    _, wording, test = figure.spec["vconcat"]
    assert (wording["title"], wording["encoding"]["y"]["field"]) == ("Wording", "wording")
    assert {*wording["encoding"]["y"]["sort"]} == {"all wordings", "say alone"}
    assert {*test["encoding"]["y"]["sort"]} == {"every", "few"}
    svg = vl_convert.vegalite_to_svg(figure.spec)
    assert svg.count(">all wordings<") == 1


def test_an_analysis_without_a_number_is_not_drawn_but_counted():
    rows = [*ALL[:3], ALL[3] | dict.fromkeys(("difference", "low", "high", "verdict"))]
    (figure,) = curve(stressed(rows))
    assert len(figure.spec["data"]["values"]) == 3
    every = {table.name: table for table in analyses(stressed(rows))}
    assert len(every["x-analyses"].rows) == 4
    assert {"wording", "test"} <= {*every["x-analyses"].columns}
    assert every["x-holds"].rows[0]["analyses"] == 4

"""How other analyses of a headline are summed up, drawn and tabulated."""

from __future__ import annotations

import json

import pytest
import vl_convert
from made_sections import FOUR, analysis, gap, section, stressed

from goffman.presentation.sensitivity import analyses, curve, describe_holds
from goffman.schemas import NUMBER
from goffman.sensitivity.multiverse import summarize


def test_the_range_of_a_headline_is_over_analyses_of_its_own_number():
    chosen = ("probability", "probability", "share of labels")
    outcomes = [
        analysis(value, what=str(at), choices={NUMBER: name, "wording": str(at)}) | {"main": True}
        for at, (value, name) in enumerate(zip((0.4, 0.5, 0.9), chosen, strict=True))
    ]
    about = {"instrument": "x", "mode": "fill", "measure": "negative-attitude", "model": "m"}
    summed = summarize(gap(0.01, 0.09) | about, outcomes, seed=0)
    assert summed["analyses"] == summed["holds"] == 3
    assert (summed["lowest"], summed["median"], summed["highest"]) == pytest.approx(
        (0.4, 0.45, 0.5)
    )
    assert json.loads(summed["explained"]) == {"wording": pytest.approx(1.0)}


def test_a_run_that_was_not_stressed_says_nothing():
    assert describe_holds(section()) == []
    assert [*curve(section())] == [*analyses(section())] == []


def test_the_curve_has_every_analysis_in_order_and_a_row_for_every_option():
    (figure,) = curve(stressed([*FOUR[:0:-1], FOUR[0] | {"low": -0.01}]))
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
    rows = [*FOUR[:3], FOUR[3] | dict.fromkeys(("difference", "low", "high", "verdict"))]
    (figure,) = curve(stressed(rows))
    assert len(figure.spec["data"]["values"]) == 3
    every = {table.name: table for table in analyses(stressed(rows))}
    assert len(every["x-analyses"].rows) == 4
    assert {"wording", "test"} <= {*every["x-analyses"].columns}
    assert every["x-holds"].rows[0]["analyses"] == 4

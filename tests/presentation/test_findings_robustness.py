"""What is said of a verdict that holds, and of one that does not."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from goffman.analysis.summary import summary
from goffman.formatting import Labels
from goffman.measures.registry import measures
from goffman.presentation.findings import findings_of
from goffman.presentation.robustness_findings import describe_occupations
from goffman.presentation.section import Section
from goffman.schemas import (
    CONTRASTS,
    ESTIMATES,
    SCORES,
    SENSITIVITY,
    VERDICTS,
    schema,
)
from goffman.sensitivity.leave_one_out import mark_fragile

NAMES = Labels(
    models={"m": "m"},
    instruments={},
    conditions={("x", "fever"): "Fever, high"},
    items={("x", "i1"): "____ has …"},
)
HEADLINE = {
    "kind": "groups",
    "quantity": "negative",
    "model": "m",
    "first": "stigmatized",
    "second": "non-stigmatized",
    "n": 20,
    "n_first": 10,
    "n_second": 10,
    "mean_first": 0.4,
    "mean_second": 0.35,
    "difference": 0.05,
    "low": 0.01,
    "high": 0.09,
    "level": 0.95,
    "p": 0.01,
    "p_adjusted": 0.01,
    "family_size": 1,
    "margin": 0.05,
    "verdict": "clear, size open",
}


def made(way, what, difference, verdict="clear, size open"):
    low, high = (difference - 0.03, difference + 0.03)
    p = 0.02 if verdict == "clear, size open" else 0.2
    return {
        "variation": way,
        "what": what,
        "difference": difference,
        "low": low,
        "high": high,
        "p": p,
        "p_adjusted": p,
        "verdict": verdict,
    }


def section(*rows, **also):
    by = measures()["negative-attitude"]()
    about = {"instrument": "x", "measure": by.name, "model": "m"}
    main = about | {"contrast": "the headline", "main": True}
    return Section(
        instrument="x",
        measure=by.name,
        unit="condition",
        presentation=by.presentation,
        scores=pl.DataFrame([about], schema=schema(SCORES)),
        estimates=pl.DataFrame(
            [HEADLINE | also], schema=schema((*CONTRASTS, *ESTIMATES, *VERDICTS))
        ),
        names=NAMES,
        contrast="stigmatized",
        against="non-stigmatized",
        sensitivity=pl.DataFrame([main | row for row in rows], schema=schema(SENSITIVITY)),
    )


def found(*rows, **also):
    (one,) = findings_of(section(*rows, **also))
    return one


def test_a_verdict_that_holds_says_how_far_the_difference_moves():
    one = found(
        made("condition", "fever", 0.048), made("item", "i1", 0.06), made("wording", "w", 0.045)
    )
    assert one.robust == (
        "Leaving out any one condition, item or wording does not change the verdict. "
        "The difference then ranges from 0.045 (without the wording “w”) to 0.060 (without the "
        "item “____ has …”)."
    )
    assert one.aside == ""


def test_a_verdict_that_one_condition_carries_says_so_beside_the_heading():
    rows = [made("condition", "fever", 0.02, "undecided"), made("condition", "cough", 0.051)]
    one = found(*rows)
    assert one.robust == (
        "With one condition left out at a time, the verdict changes in 1 of 2 analyses without one "
        "condition. The difference then "
        "ranges from 0.020 (without the condition “Fever, high”) to 0.051 (without the condition "
        "“cough”)."
    )
    assert one.aside == "Leaving out the condition “Fever, high” makes the verdict undecided."
    assert one.heading == f"{one.head}. {one.aside}"
    lines = summary({"x": section(*rows)}, ())
    assert f"  {one.heading}" in lines


def test_several_of_a_kind_are_counted():
    one = found(
        made("item", "i1", 0.02, "undecided"),
        made("item", "i2", 0.03, "undecided"),
        made("item", "i3", 0.05),
    )
    assert one.aside == (
        "The verdict becomes undecided in 2 of the 3 analyses that each leave out one item."
    )


def test_a_threshold_that_matters_is_said_with_its_numbers():
    one = found(
        made("parameter", "without the threshold of 0.01", 0.02, "undecided"),
        made("parameter", "if words counted from a probability of 0.02", 0.05),
    )
    assert one.robust == (
        "Without the threshold of 0.01, the difference is 0.020 (95% interval −0.010 to "
        "0.050, p = .200), which is undecided. The verdict would be the same if "
        "words counted from a probability of 0.02."
    )
    assert one.aside == "The verdict becomes undecided without the threshold of 0.01."


def test_a_clear_difference_that_variations_lose_is_called_fragile():
    held = [made("item", f"i{n}", 0.05) for n in range(9)]
    one = found(*held, made("item", "i9", 0.02, "undecided"))
    assert (one.fragile, one.shown) == ("", "clear, size open")
    one = found(*held[1:], *(made("item", f"x{n}", 0.02, "undecided") for n in range(2)))
    assert one.head.startswith("Fragile: more negative about stigmatized conditions")
    assert (one.shown, one.verdict) == ("fragile", "clear, size open")
    assert one.fragile == "clear, but not in 2 of 10 analyses that leave out one thing"
    one = found(*held, made("parameter", "if all words counted", 0.02, "equivalent"))
    assert one.fragile == "clear, but not in 1 of 1 analyses with another parameter"
    one = found(*held, made("parameter", "if all words counted", 0.2, "relevant"))
    assert one.fragile == ""


def test_a_fragile_difference_has_its_permutation_test_beside_it():
    held = [made("item", f"i{n}", 0.05) for n in range(8)]
    lost = [made("item", f"x{n}", 0.02, "undecided") for n in range(2)]
    check = {"permutation_p": 0.0042, "check_over": "conditions, means over items"}
    one = found(*held, *lost, **check)
    said = (
        "A permutation test over conditions, with these sentences treated as fixed, gives p = .004 "
        "(not corrected)."
    )
    assert one.robust.endswith(said)
    plain = found(*held, *lost, permutation_p=0.0042, check_over="conditions").robust
    assert plain.endswith("A permutation test over conditions gives p = .004 (not corrected).")
    assert "permutation" not in found(*held, **check).robust
    assert "permutation" not in found(*held, *lost).robust


def test_each_contrast_is_fragile_by_its_own_analyses():
    columns = schema((*CONTRASTS, *ESTIMATES, *VERDICTS))
    names = ("lost", "held", "not made again", "not clear")
    rows = [HEADLINE | {"instrument": "x", "contrast": name} for name in names]
    rows[3]["verdict"] = "undecided"
    held = [made("item", f"i{n}", 0.05) for n in range(8)]
    lost = [made("item", f"x{n}", 0.02, "undecided") for n in range(2)]
    again = {"lost": [*held, *lost], "held": held, "not clear": lost}
    about = {"instrument": "x", "measure": "y", "model": "m", "main": False}
    table = pl.DataFrame(
        [about | {"contrast": name} | row for name, some in again.items() for row in some],
        schema=schema(SENSITIVITY),
    )
    judged = mark_fragile(pl.DataFrame(rows, schema=columns), table)["verdict"].to_list()
    size = "clear, size open"
    assert judged == ["fragile", size, size, "undecided"]


def test_what_is_said_of_a_headline_is_not_of_the_contrasts_beside_it():
    headline = [made("item", f"i{n}", 0.05) for n in range(3)]
    beside = [made("item", f"i{n}", 0.9, "undecided") | {"main": False} for n in range(3)]
    assert found(*headline, *beside) == found(*headline)


def test_an_analysis_that_only_its_corrected_p_leaves_undecided_says_so():
    lost = [made("item", f"x{n}", 0.05, "undecided") for n in range(2)]
    one = found(*lost, made("item", "x2", 0.02, "undecided"), made("item", "x3", 0.06))
    by_p = "the interval excludes 0 and only the corrected p is above .05."
    assert one.depends == (
        "The verdict becomes undecided in 3 of the 4 analyses that each leave out one item. "
        f"In 2 of these 3 undecided analyses, {by_p}"
    )
    assert f" In 2 of these 3 undecided analyses, {by_p} " in one.robust
    assert found(*lost).depends.endswith(f" In both undecided analyses, {by_p}")
    assert found(lost[0]).depends.endswith(f" There, {by_p}")
    assert by_p not in found(made("item", "x2", 0.02, "undecided")).depends
    otherwise = found(made("parameter", "with a minimum of 2", 0.05, "undecided"))
    assert otherwise.robust.endswith("which is undecided only because of the corrected p.")


def test_what_could_not_be_tested_and_what_was_not_computed_is_not_spoken_of():
    gone = made("condition", "fever", 0.02) | {"verdict": None, "p_adjusted": None}
    assert found(gone).robust == found().robust == ""
    assert replace(found(), depends="").aside == ""


def test_without_an_occupation_says_which_sentences_are_gone():
    rows = pl.DataFrame({"variation": ["frame", "occupation"]})
    assert "whose pronoun refers to it" in describe_occupations(rows)
    assert describe_occupations(rows.head(1)) == ""

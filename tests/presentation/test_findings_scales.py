"""What is said of a scale's reliability, of single conditions, and of what a bias rests on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_sections import against
from made_sections import section as made

from goffman.presentation.conditions import above_reference, confound
from goffman.presentation.coreference import beside_bias
from goffman.presentation.gender import over_baseline, uncounted
from goffman.presentation.reliability import reliability, reliability_rows, reliability_table


def section(measure="negative-attitude", *, estimates=(), wordings=("one",), **more):
    items = ("a", "b", "c", "d")
    return made(*estimates, measure=measure, items=items, wordings=wordings, **more)


def scale(g, phi, **more):
    values = {"generalizability": g, "dependability": phi, "alpha": 0.9}
    return [
        {"level": "scale", "group": "stigmatized", "quantity": name, "value": value} | more
        for name, value in values.items()
    ]


def ranked(*ends):
    """Conditions with the lowest and the highest of their ranks."""
    return [
        {"level": "condition", "group": "stigmatized", "condition": f"c{n}"} | of
        for n, (low, high) in enumerate(ends)
        for of in (
            {"quantity": "negative", "value": 0.5},
            {"quantity": "rank-low", "value": float(low)},
            {"quantity": "rank-high", "value": float(high)},
        )
    ]


def test_of_few_conditions_a_high_g_says_nothing_of_their_order():
    """One of four that lies apart makes G high; the order of the others is not known by that."""
    scores = [*scale(0.95, 0.9), *ranked((1, 3), (1, 3), (2, 3), (4, 4))]
    (text,) = reliability(section(scores=scores, wordings=("one", "two")), "m")
    assert text.endswith("Cronbach’s α = 0.90.")


@pytest.mark.parametrize(
    ("g", "phi", "said"),
    [
        (0.95, 0.19, "the conditions would rank much the same, but their values could change."),
        (0.95, 0.85, "the conditions would rank much the same."),
        (0.5, 0.4, "the conditions could rank quite differently."),
    ],
)
def test_what_g_and_phi_mean_is_said(g, phi, said):
    scores = [*scale(g, phi), *ranked(*((n, n) for n in range(1, 11)))]
    (text,) = reliability(section(scores=scores, wordings=("one", "two")), "m")
    assert text.startswith(
        f"Reliability for stigmatized conditions: relative G = {g:.2f}, absolute Φ = "
    )
    assert f"Φ = {phi:.2f}, Cronbach’s α = 0.90." in text
    assert text.endswith(f"With other items and wordings, {said}")


def test_one_wording_says_nothing_of_wordings():
    scores = [*scale(0.95, 0.9), *ranked(*((n, n) for n in range(1, 11)))]
    (text,) = reliability(section(scores=scores), "m")
    assert "With other items, the conditions would rank" in text
    assert text.endswith("Only one wording was asked, so the effect of wording is unknown.")


def test_reliability_of_a_keyed_number_is_not_that_of_the_main_result():
    of = section(scores=scale(0.95, 0.9))
    keyed = replace(of, presentation=replace(of.presentation, keyed=True))
    (text,) = reliability(keyed, "m")
    assert text.startswith("Reliability for stigmatized conditions (reverse-keyed): ")
    assert text.endswith(" The main result is not reverse-keyed, so this is not its reliability.")


def test_no_reliability_has_its_reason():
    (text,) = reliability(section(scores=scale(None, None, value=None, reason="one item")), "m")
    assert text == "G and Φ cannot be computed: one item."


def test_conditions_are_counted_on_both_sides_of_the_reference():
    found = section(
        estimates=[
            against("reference", "blind", 0.2, 0.001),
            against("reference", "deaf", 0.1, 0.04),
            against("reference", "old", 0.1, 0.2),
            against("reference", "rich", -0.1, 0.01),
        ]
    )
    assert above_reference(found, "m") == (
        "2 of 4 stigmatized conditions are clearly above the non-stigmatized mean and 1 clearly "
        "below it. Highest of 4, so probably overestimated: “blind” (0.20), “deaf” (0.10). Lowest "
        "of 4, so probably overestimated: “rich” (−0.10)."
    )
    assert above_reference(section(), "m") == ""


def test_the_references_own_conditions_are_counted_too():
    found = section(
        estimates=[
            against("reference", "blind", 0.2, 0.001),
            against("own-reference", "tall", 0.1, 0.01),
            against("own-reference", "short", -0.1, 0.01),
            against("own-reference", "thin", 0.1, 0.2),
        ]
    )
    assert (
        "The same test sets 2 of the 3 non-stigmatized conditions apart from their own mean, so "
        "one condition alone is no sign of stigma."
    ) in above_reference(found, "m")


def test_conditions_that_lack_a_question_are_counted():
    estimates = [
        against("reference", "blind", 0.2, 0.001, left_out=1),
        against("reference", "deaf", 0.1, 0.04, left_out=0),
        against("reference", "old", 0.1, None, left_out=1),
    ]
    said = above_reference(section(estimates=estimates), "m")
    assert (
        "; 1 could not be tested; 1 is compared over fewer questions, because values are missing."
    ) in said


SHORTENED = "In shortened sentences that name no condition, female minus male is"


@pytest.mark.parametrize("verdict", ["relevant", "inconclusive"])
def test_a_disparity_is_compared_with_that_without_a_diagnosis(verdict):
    row = against("over-baseline", "stigmatized", 0.05, 0.01, mean_first=0.25, mean_second=0.2)
    row |= {"second": "baseline", "group": "stigmatized", "variant": "with-names"}
    of = section("gender-of-subject", estimates=[row | {"verdict": verdict}])
    text, caveat = over_baseline(of, "m")
    first = "inconclusive; " if verdict == "inconclusive" else ""
    assert text.startswith(f"{SHORTENED} 0.20; with stigmatized conditions, 0.25 ({first}change ")
    assert caveat == confound(of)
    assert "leaves out other words, too" in caveat


def test_what_does_not_count_is_said_with_how_far_it_could_move_the_difference():
    row = {"model": "m", "group": "stigmatized", "variant": "with-names", "difference": 0.05}
    mass = {"level": "prompt", "group": "stigmatized", "quantity": "mass", "value": 0.48}
    mass |= {"variant": "with-names", "wording": "one"}
    others = [
        mass | {"group": "non-stigmatized", "value": 0.9},
        mass | {"variant": "without-names", "value": 0.1},
    ]
    (text,) = uncounted(section("gender-of-subject", scores=[mass, *others]), row)
    # .05 − .52 and .05 + .52.
    assert text == (
        "For stigmatized conditions, 0.52 of the probability belongs to words too "
        "rare to count. If they all named men, female minus male would be −0.47; if "
        "they all named women, 0.57."
    )
    outside = mass | {"quantity": "outside", "value": 0.3}
    ends = mass | {"quantity": "unseen-end", "value": 0.1}
    _, ended = uncounted(section("gender-of-phrase", scores=[outside, ends]), row)
    assert ended == (
        "0.20 of this belongs to phrases that end in a word without a gender, such as “person”."
    )
    # A run that an earlier goffman measured does not say how these phrases end.
    (text,) = uncounted(section("gender-of-phrase", scores=[outside]), row)
    assert text.endswith("if they all named women, 0.35.")


def test_shortened_sentences_of_which_less_is_counted_are_no_measure():
    row = against("over-baseline", "stigmatized", 0.02, 0.2, mean_first=0.22, mean_second=0.2)
    row |= {
        "verdict": "inconclusive",
        "second": "baseline",
        "group": "stigmatized",
        "variant": "with-names",
    }
    mass = {"level": "prompt", "quantity": "mass", "variant": "with-names", "wording": "one"}
    masses = [
        mass | {"group": "baseline", "value": 0.2},
        mass | {"group": "stigmatized", "value": 0.45},
    ]
    text, hardly, _ = over_baseline(
        section("gender-of-subject", scores=masses, estimates=[row]), "m"
    )
    assert "(inconclusive; change 0.020" in text
    assert hardly == (
        "In the shortened sentences, 0.20 of the probability counts, in the others 0.45, so the "
        "two are hardly comparable."
    )


def test_what_could_put_a_bias_in_doubt_is_said():
    values = {
        "accuracy-pro": 0.9,
        "accuracy-anti": 0.3,
        "above-chance": 0.1,
        "bias-lowest": 0.2,
        "bias-highest": 0.7,
        "bias-answered": 0.4,
        "first-mentioned-above-half": 0.25,
        "log-odds": 2.0,
    }
    rows = [
        {"level": "condition", "condition": "baseline", "quantity": name, "value": value}
        for name, value in values.items()
    ]
    said = list(beside_bias(section("coreference-bias", scores=rows), "m"))
    assert said[0].endswith("on average 0.10 above guessing.")
    assert said[1].endswith("the bias lies between 0.20 and 0.70; among answers it is 0.40.")
    assert said[2].startswith("0.75 of the replies name the person mentioned first;")
    assert said[3].endswith("the bias is 2.00.")


def test_the_table_has_a_row_for_the_whole_and_each_subscale():
    part = {"level": "scale", "group": "stigmatized", "quantity": "alpha", "dimension": "fear"}
    found = section(scores=[*scale(0.95, 0.19), part | {"value": None, "reason": "one item"}])
    whole, fear = reliability_rows(found)
    assert (whole["dimension"], whole["generalizability"], whole["alpha"]) == (
        "all items",
        0.95,
        0.9,
    )
    assert (fear["dimension"], fear["alpha"], fear["reason"]) == ("fear", None, "one item")
    (table,) = reliability_table(found)
    assert table.name == "x-reliability"

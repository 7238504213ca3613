"""What stands out says no more than interval and corrected p allow, in words for everyone."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

from goffman.correlations import correlations, correlations_said
from goffman.measures.catalogue import measures
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Section
from goffman.presentation.shown import About, Names
from goffman.records import Noun
from goffman.tables import CONTRASTS, ESTIMATES, SCORES, schema

NAMES = Names(
    models={"mini-one": "mini-one", "/x/mini-two": "mini-two"},
    instruments={},
    conditions={},
    items={},
)


def estimates(*rows, **common):
    """A table of estimates; what is not given is null."""
    usual = {"level": 0.95, "n": 122, "n_first": 93, "n_second": 29, "model": "mini-one"}
    return pl.DataFrame(
        [usual | common | row for row in rows], schema=schema((*CONTRASTS, *ESTIMATES))
    )


def section(measure, found, scores=(), models=("mini-one",)):
    rows = [
        {"model": model, "instrument": "x", "measure": measure} | row
        for row in (scores or [{}])
        for model in models
    ]
    by = measures()[measure]()
    return Section(
        instrument="x",
        measure=measure,
        unit=by.unit,
        presentation=by.presentation,
        scores=pl.DataFrame(rows, schema=schema(SCORES)),
        estimates=found,
        names=NAMES,
        contrast="stigmatized",
        against="non-stigmatized",
    )


def gap(low, high, p, tests=1):
    """A contrast of two groups with this interval and corrected p."""
    return {
        "kind": "groups",
        "first": "stigmatized",
        "second": "non-stigmatized",
        "mean_first": 0.4,
        "mean_second": 0.3,
        "difference": (low + high) / 2,
        "low": low,
        "high": high,
        "p_adjusted": p,
        "family_size": tests,
    }


@pytest.mark.parametrize(
    ("low", "high", "p", "head"),
    [
        (0.01, 0.2, 0.001, "More negative about stigmatized conditions"),
        (-0.2, -0.01, 0.04, "More negative about non-stigmatized conditions"),
        (-0.01, 0.2, 0.2, "No clear difference between stigmatized and non-stigmatized conditions"),
        # The interval of this contrast alone leaves 0 out, the corrected p does not.
        (
            0.01,
            0.2,
            0.072,
            "No clear difference between stigmatized and non-stigmatized conditions",
        ),
        (
            -0.01,
            0.2,
            0.03,
            "No clear difference between stigmatized and non-stigmatized conditions",
        ),
        # Without a p nothing is clear, and nothing is not clear.
        (
            0.01,
            0.2,
            None,
            "The difference between stigmatized and non-stigmatized conditions could not be tested",
        ),
    ],
)
def test_a_difference_is_clear_where_interval_and_corrected_p_say_so(low, high, p, head):
    (found,) = findings_of(section("negative-attitude", estimates(gap(low, high, p))))
    assert found.head == head


def test_the_sentence_has_p_and_for_how_many_tests_it_is_corrected():
    (found,) = findings_of(section("negative-attitude", estimates(gap(0.01, 0.2, 0.072, tests=2))))
    assert "95% interval 0.010 to 0.20, p = .072 corrected for 2 tests." in found.text
    assert (
        "The interval leaves out 0, but p does not stay below .05 when it is corrected."
        in found.text
    )
    (alone,) = findings_of(section("negative-attitude", estimates(gap(0.01, 0.2, 0.0004))))
    assert "0.010 to 0.20, p < .001." in alone.text


def test_women_are_not_said_to_be_named_more_where_the_correction_takes_it_away():
    row = gap(0.0044, 0.12, 0.072, tests=2) | {"kind": "genders", "group": "stigmatized"}
    (found,) = findings_of(section("gender-of-subject", estimates(row)))
    assert found.head == "No clear difference between women and men, for stigmatized conditions"


def called(noun, one):
    """The section with an instrument whose conditions are called so."""
    about = About(title="", citation="", version="", noun=noun)
    return replace(one, names=replace(NAMES, instruments={"x": about}))


def test_conditions_are_called_what_the_instrument_calls_them():
    row = gap(0.0044, 0.12, 0.072, tests=2)
    of_women = section("gender-of-subject", estimates(row | {"kind": "genders", "group": "odd"}))
    of_words = section("negative-attitude", estimates(row, above("tall", 0.2, 0.001)))
    for one, many in (("diagnosis", "diagnoses"), ("illness", "illnesses")):
        noun = Noun(one=one, many=many)
        (women,) = findings_of(called(noun, replace(of_women, contrast="odd")))
        assert women.head == f"No clear difference between women and men, for odd {many}"
        assert women.more[0].startswith(f"Odd {many}, counting all words: female 0.40, male 0.30; ")
        (words,) = findings_of(called(noun, of_words))
        assert words.head == (f"No clear difference between stigmatized and non-stigmatized {many}")
        assert f"0.40 for 93 stigmatized {many} and 0.30 for 29 non-stigmatized ones" in words.text
        baseline = f"the baseline (the same sentences without a {one})"
        assert f"1 of 1 {many} has a higher share than {baseline}." in words.text
        assert called(noun, of_words).called("baseline") == f"(no {one} named)"
    assert section("coreference-bias", estimates()).noun == Noun(one="setting", many="settings")


HIGHER = "higher share than the baseline (the same sentences without a condition)"


def above(name, difference, p):
    """A condition against the baseline, with an interval that lies on one side of 0."""
    ends = {"low": difference - 0.05, "high": difference + 0.05}
    return {"kind": "baseline", "first": name, "difference": difference, "p_adjusted": p, **ends}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [
                above("a", 1.0, None) | {"reason": "all differences are equal"},
                above("b", 1.0, None) | {"reason": "all differences are equal"},
                above("c", 0.5, 1.0),
            ],
            f" 3 of 3 conditions have a {HIGHER}. The difference is clear for none of them. Only "
            "1 of 3 could be tested, because all differences are equal.",
        ),
        (
            [above("a", 0.2, 0.01), above("b", 0.3, 0.2), above("c", -0.1, 0.01)],
            f" 2 of 3 conditions have a {HIGHER}. The difference is clear for 1 of them. "
            "Furthest above it: a (+0.20).",
        ),
        (
            [above("a", -0.2, 0.01), above("b", 0.0, 1.0)],
            f" None of 2 conditions has a {HIGHER}.",
        ),
    ],
)
def test_conditions_that_cannot_be_tested_are_not_said_to_be_no_different(rows, said):
    (found,) = findings_of(section("negative-sentiment", estimates(gap(0.01, 0.2, 0.001), *rows)))
    assert found.text.endswith(said)


def relation(first, second, low, high, p, effect=0.6):
    return {
        "kind": "measures",
        "first": first,
        "second": second,
        "effect": effect,
        "effect_low": low,
        "effect_high": high,
        "p_adjusted": p,
        "family_size": 2,
        "model": None,
    }


def related(*rows):
    """The correlations of a run in which two models of each measure answered."""
    models = ("mini-one", "/x/mini-two")
    two = {
        name: section(name, estimates(), models=models)
        for name in ("negative-attitude", "negative-sentiment")
    }
    by = {name: measures()[name]() for name in two}
    return correlations(estimates(*rows), two, by)


def test_a_correlation_names_models_as_they_are_shown_and_says_which_way():
    sides = "negative-attitude of mini-one", "negative-sentiment of /x/mini-two"
    found = related(
        relation(*sides, 0.49, 0.69, 0.0001), relation(*sides, -0.69, -0.49, 0.0001, effect=-0.6),
        relation(*sides, -0.1, 0.3, 0.3, effect=0.1), relation(*sides, 0.1, 0.3, None, effect=0.2),
    )  # fmt: skip
    assert correlations_said(found) == [
        "Over 122 conditions, the higher the negative attitude of mini-one, the higher the negative "
        "sentiment of mini-two: r = 0.60, 95% interval 0.49 to 0.69, p < .001 corrected for 2 "
        "tests.",
        "Over 122 conditions, the higher the negative attitude of mini-one, the lower the negative "
        "sentiment of mini-two: r = −0.60, 95% interval −0.69 to −0.49, p < .001 corrected for 2 "
        "tests.",
        "Over 122 conditions, negative attitude of mini-one and negative sentiment of mini-two show "
        "no clear relation: r = 0.10, 95% interval −0.10 to 0.30, p = .300 corrected for 2 tests.",
        "Over 122 conditions, negative attitude of mini-one and negative sentiment of mini-two show "
        "no clear relation: r = 0.20, 95% interval 0.10 to 0.30, no p-value.",
    ]


def test_a_correlation_over_all_models_is_said_once_where_there_is_one_model_of_each():
    over_all = relation("negative-attitude", "negative-sentiment", 0.49, 0.69, 0.0001)
    sides = "negative-attitude of mini-one", "negative-sentiment of /x/mini-two"
    of_two = relation(*sides, 0.49, 0.69, 0.0001)
    said_once = related(over_all, of_two)
    assert [one.first.text() for one in said_once] == [sides[0]]
    (said,) = correlations_said(said_once)
    assert said.endswith(
        "p < .001 corrected for 2 tests (one is over all models and has the same result)."
    )
    assert len(related(over_all, of_two | {"effect": 0.5})) == 2


def preference(value, sd, n):
    return {
        "level": "condition",
        "quantity": "preference",
        "condition": "baseline",
        "value": value,
        "sd": sd,
        "n": n,
        "over": "pairs",
    }


@pytest.mark.parametrize(
    ("value", "head"),
    [
        (
            -0.066,
            "No clear preference for the pronoun that fits the stereotype or for the other one",
        ),
        (0.3, "The pronoun that fits the stereotype is preferred"),
        (-0.3, "The pronoun that goes against the stereotype is preferred"),
    ],
)
def test_a_preference_is_said_with_its_interval_and_as_how_many_times(value, head):
    of = section("pronoun-preference", estimates(), [preference(value, 1.47, 395)])
    (found,) = findings_of(of)
    assert found.head == head
    # t(.975, 394) = 1.96601 (tables), so that the half width is 1.96601 · 1.47 / √395.
    half = 1.96601 * 1.47 / math.sqrt(395)
    assert math.isclose(found.low, value - half, abs_tol=1e-5)
    assert math.isclose(found.high, value + half, abs_tol=1e-5)
    assert f"is typically {math.exp(value):.2f} times as probable as the other one." in found.text

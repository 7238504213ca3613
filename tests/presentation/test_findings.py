"""What stands out says no more than the interval allows, in words for everyone."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

from goffman.formatting import InstrumentInfo, Labels
from goffman.instruments.types import Noun
from goffman.measures.registry import measures
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Section
from goffman.report.summary import correlations, describe_correlations
from goffman.schemas import CONTRASTS, ESTIMATES, SCORES, VERDICTS, schema

NAMES = Labels(
    models={"mini-one": "mini-one", "/x/mini-two": "mini-two"},
    instruments={},
    conditions={},
    items={},
)


def estimates(*rows, **common):
    """A table of estimates; what is not given is null."""
    usual = {"level": 0.95, "n": 122, "n_first": 93, "n_second": 29, "model": "mini-one"}
    return pl.DataFrame(
        [usual | common | row for row in rows], schema=schema((*CONTRASTS, *ESTIMATES, *VERDICTS))
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


def gap(low, high, p, tests=1, verdict=None):
    """A contrast of two groups with this interval, p and verdict."""
    present = low is not None and low * high > 0
    return {
        "kind": "groups",
        "quantity": "negative",
        "first": "stigmatized",
        "second": "non-stigmatized",
        "mean_first": 0.4,
        "mean_second": 0.3,
        "difference": 0.1 if low is None else (low + high) / 2,
        "low": low,
        "high": high,
        "p": p and p / tests,
        "correction": "benjamini-hochberg" if tests > 1 else None,
        "p_adjusted": p,
        "family_size": tests,
        "margin": 0.05,
        "verdict": verdict or ("present, size uncertain" if present else "inconclusive"),
        "low_90": low and low * 0.8,
        "high_90": high and high * 0.8,
        "detectable": 0.12,
    }


BETWEEN = "between stigmatized and non-stigmatized conditions"
WHETHER = "it fills in more negative words about stigmatized conditions"


@pytest.mark.parametrize(
    ("low", "high", "p", "verdict", "head"),
    [
        (0.06, 0.2, 0.001, "relevant", "Fills in more negative words about stigmatized conditions"),
        (
            -0.2,
            -0.06,
            0.04,
            "relevant",
            "Fills in more negative words about non-stigmatized conditions",
        ),
        (
            0.01,
            0.2,
            0.001,
            "present, size uncertain",
            "Fills in more negative words about stigmatized conditions, by an uncertain amount",
        ),
        # What is there and too small to matter is no relevant difference.
        (0.01, 0.04, 0.001, "negligible", f"No relevant difference {BETWEEN}"),
        (
            -0.01,
            0.2,
            0.2,
            "inconclusive",
            f"Inconclusive: cannot tell whether {WHETHER}",
        ),
        (
            0.06,
            0.2,
            0.001,
            "these sentences only",
            f"In these sentences only: {WHETHER.removeprefix('it ')}",
        ),
        # Without an interval there is no verdict.
        (None, None, None, None, f"Not tested whether {WHETHER}"),
    ],
)
def test_the_heading_follows_the_verdict(low, high, p, verdict, head):
    row = gap(low, high, p, verdict=verdict)
    (found,) = findings_of(section("negative-attitude", estimates(row)))
    assert found.head == head


@pytest.mark.parametrize(
    ("low", "high", "p", "verdict", "said"),
    [
        (
            0.06,
            0.2,
            0.001,
            "relevant",
            "The whole interval lies above 0.050, the smallest difference",
        ),
        (
            0.01,
            0.2,
            0.001,
            "present, size uncertain",
            "The interval excludes 0, but holds differences smaller than 0.050, the smallest",
        ),
        (
            -0.025,
            0.025,
            0.9,
            "negligible",
            "The 90% interval (−0.020 to 0.020) lies within 0.050, the smallest difference",
        ),
        (
            -0.1,
            0.2,
            0.3,
            "inconclusive",
            "The interval holds 0, and differences larger than 0.050, the smallest difference that "
            "counts as relevant here. An audit like this finds a true difference of 0.12 in 80 of 100 cases.",
        ),
        (
            0.06,
            0.2,
            0.001,
            "these sentences only",
            "Fewer than three sentences were asked, which say nothing about others.",
        ),
    ],
)
def test_the_sentence_gives_the_reason_of_the_verdict(low, high, p, verdict, said):
    row = gap(low, high, p, verdict=verdict)
    (found,) = findings_of(section("negative-attitude", estimates(row)))
    assert said in found.why


def test_the_sentence_has_p_and_for_how_many_tests_it_is_corrected():
    row = gap(-0.01, 0.2, 0.072, tests=2) | {"level": 0.975}
    (found,) = findings_of(section("negative-attitude", estimates(row)))
    assert "97.5% interval −0.010 to 0.20, p = .072 corrected for 2 tests." in found.text
    (alone,) = findings_of(section("negative-attitude", estimates(gap(0.01, 0.2, 0.0004))))
    assert "95% interval 0.010 to 0.20, p < .001." in alone.text


def test_women_are_not_said_to_be_named_more_where_the_interval_contains_0():
    row = gap(-0.0044, 0.12, 0.072) | {"kind": "genders", "group": "stigmatized"}
    (found,) = findings_of(section("gender-of-subject", estimates(row)))
    whether = "it leans toward women or men for stigmatized conditions"
    assert found.short == f"Cannot tell whether {whether}"
    assert found.head == f"Inconclusive: cannot tell whether {whether}"


def called(noun, one):
    """The section with an instrument whose conditions are called so."""
    about = InstrumentInfo(title="", citation="", version="", noun=noun)
    return replace(one, names=replace(NAMES, instruments={"x": about}))


def test_conditions_are_called_what_the_instrument_calls_them():
    row = gap(-0.0044, 0.12, 0.072)
    of_women = section("gender-of-subject", estimates(row | {"kind": "genders", "group": "odd"}))
    of_words = section("negative-attitude", estimates(row, above("tall", 0.2, 0.001)))
    for one, many in (("diagnosis", "diagnoses"), ("illness", "illnesses")):
        noun = Noun(one=one, many=many)
        (women,) = findings_of(called(noun, replace(of_women, contrast="odd")))
        assert women.head.endswith(f" leans toward women or men for odd {many}")
        assert not any(f"Odd {many}" in line for line in women.more)
        (words,) = findings_of(called(noun, of_words))
        assert words.head.endswith(f" more negative words about stigmatized {many}")
        shares = "0.40 of the rated probability"
        assert f"{shares} for 93 stigmatized {many} and 0.30 for 29 non-" in words.text
        assert words.rest.startswith(
            f"1 of 1 {many} is above shortened sentences that name no {one}, 1 clearly."
        )
        assert called(noun, of_words).called("baseline") == f"(no {one} named)"
    assert section("coreference-bias", estimates()).noun == Noun(one="setting", many="settings")


ABOVE = "above shortened sentences that name no condition"


def above(name, difference, p):
    """A condition against the baseline, whose interval contains 0 where p is above .05."""
    half = None if p is None else 0.05 if p < 0.05 else 1.0
    ends = {} if half is None else {"low": difference - half, "high": difference + half}
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
            f" 3 of 3 conditions are {ABOVE}, none clearly; 2 could not be tested, because all "
            "differences are equal.",
        ),
        (
            [above("a", 0.2, 0.01), above("b", 0.3, 0.2), above("c", -0.1, 0.01)],
            f" 2 of 3 conditions are {ABOVE}, 1 clearly.",
        ),
        (
            [above("a", -0.2, 0.01), above("b", 0.0, 1.0)],
            f" None of 2 conditions is {ABOVE}.",
        ),
    ],
)
def test_conditions_that_cannot_be_tested_are_not_said_to_be_no_different(rows, said):
    (found,) = findings_of(section("negative-sentiment", estimates(gap(0.01, 0.2, 0.001), *rows)))
    assert f"{said} Leaving out the condition leaves out other words, too" in found.said


def relation(first, second, low, high, p, effect=0.6):
    return {
        "kind": "measures",
        "first": first,
        "second": second,
        "effect": effect,
        "effect_low": low,
        "effect_high": high,
        "p": p,
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
        relation(*sides, -0.1, 0.3, 0.3, effect=0.1),
        relation(*sides, None, None, None, effect=0.1),
    )  # fmt: skip
    one = "mini-one's P(negative)"
    other = "mini-two's probability of negative sentiment"
    error = (
        "mini-two was made from mini-one, so they are not independent. Measurement error lowers r, "
        "shared causes raise it; we correct for neither."
    )
    covers = f"{error} The interval covers other conditions, not other sentences or wordings."
    assert describe_correlations(found) == [
        f"{one} and {other} rise together across 122 conditions: r = 0.60, 95% interval 0.49 to "
        f"0.69, p < .001 corrected for 2 tests. {covers}",
        f"As {one} rises, {other} falls across 122 conditions: r = −0.60, 95% interval −0.69 to "
        f"−0.49, p < .001 corrected for 2 tests. {covers}",
        f"{one} and {other} show no clear relation across 122 conditions: r = 0.10, 95% interval "
        f"−0.10 to 0.30, p = .300 corrected for 2 tests. {covers}",
        f"{one} and {other} show no clear relation across 122 conditions: r = 0.10, no p-value. "
        f"{error}",
    ]


def test_a_correlation_is_said_within_groups_too():
    sides = "negative-attitude of mini-one", "negative-sentiment of /x/mini-two"
    within = relation(*sides, 0.1, 0.5, 0.01, effect=0.3) | {"kind": "measures-within", "n": 93}
    rare = within | {"group": "rare", "n": 12, "effect": 0.1}
    several = related(relation(*sides, 0.49, 0.69, 0.0001), within | {"group": "stigmatized"}, rare)
    (said,) = describe_correlations(several)
    assert " Within groups, r is 0.30 for 93 stigmatized and 0.10 for 12 rare ones. The " in said


@pytest.mark.parametrize(
    ("value", "verdict", "head"),
    [
        (
            -0.066,
            "inconclusive",
            "Inconclusive: cannot tell whether it prefers the stereotyped pronoun",
        ),
        (
            0.3,
            "relevant",
            "Prefers the pronoun that fits the stereotype of the occupation",
        ),
        (
            -0.3,
            "relevant",
            "Prefers the pronoun that goes against the stereotype of the occupation",
        ),
    ],
)
def test_a_preference_is_said_with_its_interval_and_as_how_many_times(value, verdict, head):
    row = gap(value - 0.07, value + 0.07, 0.001 if verdict == "relevant" else 0.1, verdict=verdict)
    row |= {"kind": "level", "first": "baseline", "second": "zero", "unit": "sentences", "n": 395}
    (found,) = findings_of(section("pronoun-preference", estimates(row)))
    assert found.head == head
    assert (found.low, found.high) == pytest.approx((row["low"], row["high"]))
    low, high = (f"{math.exp(row[end]):.2f}" for end in ("low", "high"))
    assert (
        f"is typically {math.exp(value):.2f} times as probable as the other one (95% interval "
        f"{low} to {high}), adjusted for "
    ) in found.text
    assert "On the log scale, over 395 sentences: " in found.text


def test_settings_that_change_nothing_are_counted():
    level = gap(-0.3, 0.3, 0.9) | {"kind": "level", "first": "baseline", "second": "zero"}
    settings = [
        gap(-0.02, 0.02, 1.0, tests=2, verdict="negligible")
        | {"kind": "baseline", "first": name, "second": "baseline"}
        for name in ("old|", "|mean")
    ]
    (found,) = findings_of(section("pronoun-preference", estimates(level, *settings)))
    assert found.rest == (
        "None of 2 adjective settings clearly change the preference for the pronoun that fits the "
        "stereotype. Whether adjectives favor “she” or “he” in general, whatever the occupation, is "
        "not tested here; the numbers are adjusted for it."
    )
    changes = "the settings change the log preference for the pronoun that fits the stereotype by "
    assert changes in " ".join(found.more)

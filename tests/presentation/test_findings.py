"""What stands out says no more than the interval allows, in words for everyone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from made_sections import NAMES, against, estimates, found, gap, section

from goffman.formatting import InstrumentInfo
from goffman.instruments.types import Noun
from goffman.measures.registry import measures
from goffman.presentation.findings import findings_of
from goffman.report.summary import correlations, describe_correlations

BETWEEN = "between stigmatized and non-stigmatized conditions"
MORE = "ills in more negative words about stigmatized conditions"
WHETHER = f"it f{MORE}"
LEAST = "0.050, the smallest difference"


@pytest.mark.parametrize(
    ("low", "high", "verdict", "head", "why"),
    [
        (0.06, 0.2, "relevant", f"F{MORE}", f"The whole interval lies above {LEAST}"),
        (-0.2, -0.06, "relevant", f"F{MORE.replace('stig', 'non-stig')}", f"lies below −{LEAST}"),
        (
            *(0.01, 0.2, "present, size uncertain", f"F{MORE}, by an uncertain amount"),
            f"The interval excludes 0, but holds differences smaller than {LEAST}",
        ),
        # What is there and too small to matter is no relevant difference.
        (
            *(0.01, 0.04, "negligible", f"No relevant difference {BETWEEN}"),
            f"The 90% interval (0.008 to 0.032) lies within {LEAST}",
        ),
        (
            *(-0.1, 0.2, "inconclusive", f"Inconclusive: cannot tell whether {WHETHER}"),
            f"The interval holds 0, and differences larger than {LEAST} that counts as relevant "
            "here. An audit like this finds a true difference of 0.12 in 80 of 100 cases.",
        ),
        (
            *(0.06, 0.2, "these sentences only", f"In these sentences only: f{MORE}"),
            "Fewer than three sentences were asked, which say nothing about others.",
        ),
        # Without an interval there is no verdict.
        (None, None, None, f"Not tested whether {WHETHER}", "This could not be tested."),
    ],
)
def test_heading_and_reason_follow_the_verdict(low, high, verdict, head, why):
    result = found(gap(low, high, low and 0.001, verdict=verdict))
    assert result.head == head
    assert why in result.why


def test_the_sentence_has_p_and_for_how_many_tests_it_is_corrected():
    result = found(gap(-0.01, 0.2, 0.072, tests=2, level=0.975))
    assert "97.5% interval −0.010 to 0.20, p = .072 corrected for 2 tests." in result.text
    assert "95% interval 0.010 to 0.20, p < .001." in found(gap(0.01, 0.2, 0.0004)).text


def test_women_are_not_said_to_be_named_more_where_the_interval_contains_0():
    row = gap(-0.0044, 0.12, 0.072, kind="genders", group="stigmatized")
    result = found(row, measure="gender-of-subject")
    whether = "it leans toward women or men for stigmatized conditions"
    assert result.short == f"Cannot tell whether {whether}"
    assert result.head == f"Inconclusive: cannot tell whether {whether}"


def called(noun, one):
    """The section with an instrument whose conditions are called so."""
    about = InstrumentInfo(title="", citation="", version="", noun=noun)
    return replace(one, names=replace(NAMES, instruments={"x": about}))


def test_conditions_are_called_what_the_instrument_calls_them():
    row = gap(-0.0044, 0.12, 0.072)
    odd = row | {"kind": "genders", "group": "odd"}
    of_women = section(odd, measure="gender-of-subject", contrast="odd")
    of_words = section(row, above("tall", 0.2, 0.001))
    for one, many in (("diagnosis", "diagnoses"), ("illness", "illnesses")):
        noun = Noun(one=one, many=many)
        (women,) = findings_of(called(noun, of_women))
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
    assert section(measure="coreference-bias").noun == Noun(one="setting", many="settings")


ABOVE = "above shortened sentences that name no condition"


def above(name, difference, p, **more):
    return against("baseline", name, difference, p, **more)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [
                above("a", 1.0, None, reason="all differences are equal"),
                above("b", 1.0, None, reason="all differences are equal"),
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
    result = found(gap(0.01, 0.2, 0.001), *rows, measure="negative-sentiment")
    assert f"{said} Leaving out the condition leaves out other words, too" in result.said


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
        name: section(measure=name, models=models)
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
        (0.3, "relevant", "Prefers the pronoun that fits the stereotype of the occupation"),
        (
            -0.3,
            "relevant",
            "Prefers the pronoun that goes against the stereotype of the occupation",
        ),
    ],
)
def test_a_preference_is_said_with_its_interval_and_as_how_many_times(value, verdict, head):
    row = gap(value - 0.07, value + 0.07, verdict=verdict, kind="level", unit="sentences", n=395)
    result = found(row, measure="pronoun-preference")
    assert result.head == head
    assert (result.low, result.high) == pytest.approx((row["low"], row["high"]))
    low, high = (f"{math.exp(row[end]):.2f}" for end in ("low", "high"))
    assert (
        f"is typically {math.exp(value):.2f} times as probable as the other one (95% interval "
        f"{low} to {high}), adjusted for "
    ) in result.text
    assert "On the log scale, over 395 sentences: " in result.text


def test_settings_that_change_nothing_are_counted():
    settings = [
        gap(-0.02, 0.02, 1.0, verdict="negligible", kind="baseline", first=name)
        for name in ("old|", "|mean")
    ]
    result = found(gap(-0.3, 0.3, 0.9, kind="level"), *settings, measure="pronoun-preference")
    assert result.rest == (
        "None of 2 adjective settings clearly change the preference for the pronoun that fits the "
        "stereotype. Whether adjectives favor “she” or “he” in general, whatever the occupation, is "
        "not tested here; the numbers are adjusted for it."
    )
    changes = "the settings change the log preference for the pronoun that fits the stereotype by "
    assert changes in " ".join(result.more)


# Women and men: the two groups compared, one group alone, first names.

GROUPS = {"quantity": "disparity", "variant": "with-names", "contrast": "groups"}
WOMEN = GROUPS | {"kind": "genders", "contrast": "alone", "group": "stigmatized"}
PAIR = "for stigmatized than for non-stigmatized conditions"


def of_gender(*rows, low=0.01, high=0.08, verdict=None, measure="gender-of-subject"):
    return found(gap(low, high, verdict=verdict, **GROUPS), *rows, measure=measure)


@pytest.mark.parametrize(
    ("low", "high", "verdict", "said"),
    [
        (0.06, 0.2, "relevant", f"Leans more toward women {PAIR}"),
        (-0.2, -0.06, "relevant", f"Leans more toward men {PAIR}"),
        (-0.01, 0.01, "negligible", f"No relevant difference {BETWEEN}"),
    ],
)
def test_the_heading_is_about_the_difference_between_the_groups(low, high, verdict, said):
    result = of_gender(low=low, high=high, verdict=verdict)
    assert (result.short, result.verdict) == (said, verdict)
    assert result.text.startswith("Female minus male is 0.40 for stigmatized and 0.30 for non-")


def test_the_second_line_is_women_and_men_in_the_first_group():
    women = gap(0.01, 0.08, **WOMEN)
    assert of_gender(women).rest.startswith(
        "For stigmatized conditions, female words have a total probability of 0.40"
    )
    phrases = of_gender(women, measure="gender-of-phrase").rest
    assert "probability of 0.40, male phrases 0.30" in phrases


def test_without_first_names_a_difference_that_is_the_same_is_called_so():
    other = gap(0.01, 0.08, 0.02, tests=2, **GROUPS)
    other |= {"variant": "without-names", "contrast": "other", "family": "groups"}
    assert of_gender(other).rest == "Not counting first names, it is the same."
    moved = of_gender(other | {"difference": 0.03}).rest
    assert moved.startswith("Not counting first names, the difference is 0.030, 95% interval ")


def test_in_which_subscales_women_and_men_differ_is_counted():
    part = WOMEN | {"contrast": "part"}
    parts = [gap(0.01, 0.07, **part, dimension="action")]
    parts += [gap(-0.02, 0.07, 0.3, **part, dimension="diagnosis")]
    said = " ".join(of_gender(*parts).more)
    assert (
        "Women and men clearly differ in 1 of 2 combinations of subscale (action and diagnosis) "
        "and group." in said
    )
    assert "subscale" not in " ".join(of_gender().more)

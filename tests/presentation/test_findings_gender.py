"""What is said of women and men: the two groups compared, one group alone, first names."""

from __future__ import annotations

import pytest
from test_findings import estimates, gap, section

from goffman.presentation.findings import findings_of

GROUPS = {"quantity": "disparity", "variant": "with-names", "contrast": "groups"}
WOMEN = {"kind": "genders", "quantity": "probability", "group": "stigmatized"}
WOMEN |= {"first": "female", "second": "male", "variant": "with-names", "contrast": "alone"}


def found(*rows, measure="gender-of-subject", **main):
    of = section(measure, estimates(gap(0.01, 0.08, 0.01) | GROUPS | main, *rows))
    (one,) = findings_of(of)
    return one


PAIR = "for stigmatized than for non-stigmatized conditions"


@pytest.mark.parametrize(
    ("low", "high", "verdict", "said"),
    [
        (0.06, 0.2, "relevant", f"Leans more toward women {PAIR}"),
        (-0.2, -0.06, "relevant", f"Leans more toward men {PAIR}"),
        (
            -0.01, 0.01, "negligible",
            "No relevant difference between stigmatized and non-stigmatized conditions",
        ),
    ],
)  # fmt: skip
def test_the_heading_is_about_the_difference_between_the_groups(low, high, verdict, said):
    one = found(**gap(low, high, 0.01, verdict=verdict) | GROUPS)
    assert one.short == said
    assert one.text.startswith("Female minus male is 0.40 for stigmatized and 0.30 for non-")
    assert one.verdict == verdict


def test_the_second_line_is_women_and_men_in_the_first_group():
    rest = found(gap(0.01, 0.08, 0.01) | WOMEN).rest
    assert rest.startswith(
        "For stigmatized conditions, female words have a total probability of 0.40"
    )
    phrases = found(gap(0.01, 0.08, 0.01) | WOMEN, measure="gender-of-phrase").rest
    assert "probability of 0.40, male phrases 0.30" in phrases


def test_without_first_names_a_difference_that_is_the_same_is_called_so():
    other = gap(0.01, 0.08, 0.02, tests=2) | GROUPS
    other |= {"variant": "without-names", "contrast": "other", "family": "groups"}
    same = "Not counting first names, it is the same."
    assert found(other).rest == same
    moved = found(other | {"difference": 0.03}).rest
    assert moved.startswith("Not counting first names, the difference is 0.030, 95% interval ")


def test_in_which_subscales_women_and_men_differ_is_counted():
    part = WOMEN | {"contrast": "part"}
    parts = [gap(0.01, 0.07, 0.01) | part | {"dimension": "action"}]
    parts += [gap(-0.02, 0.07, 0.3) | part | {"dimension": "diagnosis"}]
    said = " ".join(found(*parts).more)
    assert (
        "Women and men clearly differ in 1 of 2 combinations of subscale (action and diagnosis) "
        "and group." in said
    )
    assert "subscale" not in " ".join(found().more)

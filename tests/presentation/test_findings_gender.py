"""What is said beside a headline about women and men: the other group, first names, subscales."""

from __future__ import annotations

import pytest
from test_findings import estimates, gap, section

from goffman.presentation.findings import findings_of

WOMEN = {"kind": "genders", "quantity": "probability", "group": "stigmatized"}
WOMEN |= {"first": "female", "second": "male", "variant": "with-names", "contrast": "main"}
GROUPS = {"quantity": "disparity", "variant": "with-names", "contrast": "groups"}


def found(*rows, measure="gender-of-subject"):
    of = section(measure, estimates(gap(0.01, 0.08, 0.01) | WOMEN, *rows))
    (one,) = findings_of(of)
    return one


@pytest.mark.parametrize(
    ("low", "high", "p", "said"),
    [
        (-0.02, 0.06, 0.3, "It is not shown that this is specific to stigmatized conditions ("),
        (0.01, 0.07, 0.01, "This is clearly stronger than for non-stigmatized conditions ("),
        (-0.07, -0.01, 0.01, "This is clearly weaker than for non-stigmatized conditions ("),
    ],
)
def test_beside_the_heading_stands_whether_the_other_group_differs(low, high, p, said):
    one = found(gap(low, high, p) | GROUPS)
    assert one.caveat.startswith(f"{said}stigmatized minus non-stigmatized: ")
    assert one.caveat in one.heading


def test_without_first_names_a_difference_that_is_the_same_is_called_so():
    other = gap(0.01, 0.08, 0.02, tests=2) | WOMEN
    other |= {"variant": "without-names", "contrast": "other", "family": "genders"}
    same = "Not counting first names, the difference and its interval are the same"
    assert found(other).rest.startswith(f"{same}.")
    assert found(other | {"low": 0.01001}).rest.startswith(f"{same} to the digits shown.")
    moved = found(other | {"difference": 0.03}).rest
    assert moved.startswith("Not counting first names, the difference is 0.030, 95% interval ")


def test_in_which_subscales_the_groups_differ_is_said():
    part = GROUPS | {"contrast": "part"}
    parts = [gap(0.01, 0.07, 0.01) | part | {"dimension": "action"}]
    parts += [gap(-0.02, 0.07, 0.3) | part | {"dimension": "diagnosis"}]
    said = "between stigmatized and non-stigmatized conditions in"
    more = " ".join(found(*parts).more)
    assert f"The female−male difference clearly differs {said} 1 of 2 subscales (action)." in more
    more = " ".join(found(*parts[1:]).more)
    assert f"{said} none of 1 subscales." in more
    assert "subscales" not in " ".join(found().more)


def test_phrases_are_called_phrases():
    assert "on counted female words and" in found().text
    assert "on counted female phrases and" in found(measure="gender-of-phrase").text

"""What is said beside a headline about women and men: the other group, first names, subscales."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from test_findings import estimates, gap, section

from goffman.presentation.findings import findings_of
from goffman.schemas import SENSITIVITY, schema

WOMEN = {"kind": "genders", "quantity": "probability", "group": "stigmatized"}
WOMEN |= {"first": "female", "second": "male", "variant": "with-names", "contrast": "main"}
GROUPS = {"quantity": "disparity", "variant": "with-names", "contrast": "groups"}


def again(contrast, kept, lost):
    """Other analyses of a contrast: so many in which it is clear, and in which it is not."""
    about = {"instrument": "x", "measure": "y", "model": "mini-one", "main": False}
    about |= {
        "contrast": contrast,
        "variation": "item",
        "low": -0.1,
        "high": 0.1,
        "difference": 0.0,
    }
    words = ["clear, size open"] * kept + ["undecided"] * lost
    return [about | {"what": str(n), "verdict": word} for n, word in enumerate(words)]


def found(*rows, held=(), measure="gender-of-subject"):
    of = section(measure, estimates(gap(0.01, 0.08, 0.01) | WOMEN, *rows))
    table = pl.DataFrame([*held], schema=schema(SENSITIVITY))
    (one,) = findings_of(replace(of, sensitivity=table))
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
    assert "analyses" not in one.caveat
    assert one.caveat in one.heading


def test_how_far_the_difference_between_the_groups_holds_is_said_with_it():
    groups = gap(0.01, 0.07, 0.01) | GROUPS
    one = found(groups, held=again("groups", 10, 1))
    counted = "analyses that leave out or change one thing)."
    alone = ", uncorrected p = .010; without correction, clear in"
    assert one.caveat.endswith(f"{alone} 10 of 11 {counted}")
    one = found(groups | {"verdict": "fragile"}, held=again("groups", 9, 2))
    assert one.caveat.endswith(f"{alone} only 9 of 11 {counted}")
    one = found(groups | {"family_size": 2}, held=again("groups", 10, 1))
    assert one.caveat.endswith(f", p = .010 corrected for 2 tests; clear in 10 of 11 {counted}")


def test_without_first_names_a_difference_has_its_own_analyses_and_correction():
    other = gap(0.01, 0.08, 0.02, tests=2) | WOMEN
    other |= {"variant": "without-names", "contrast": "other", "family": "genders"}
    held = again("other", 31, 0)
    checked = "Corrected for 2 tests, it is clear in 31 of 31 analyses that leave out or change"
    same = "Not counting first names, the difference and its interval are the same."
    assert f"{same} {checked}" in found(other, held=held).rest
    nearly = "the difference and its interval are the same to the digits shown. Corrected"
    assert nearly in found(other | {"low": 0.01001}, held=held).rest
    assert found(other).rest.startswith(same)
    assert "analyses" not in found(other).rest


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

"""How far a main result moves with one thing left out, and when that is flagged."""

from __future__ import annotations

import pytest
from made_sections import found as finding
from made_sections import gap, section

from goffman.report.summary import summarize

HEADLINE = gap(0.01, 0.09)


def made(way, what, difference):
    ends = {"low": difference - 0.03, "high": difference + 0.03}
    return {"variation": way, "what": what, "difference": difference, **ends}


def found(*rows, **also):
    return finding(HEADLINE | also, sensitivity=rows)


def test_the_range_is_said_with_what_lies_at_either_end():
    one = found(
        made("condition", "fever", 0.048), made("item", "i1", 0.06), made("wording", "w", 0.045)
    )
    assert one.robust == (
        "With any one condition, item or wording left out, the difference is 0.045 (without the "
        "wording “w”) to 0.060 (without the item “____ has …”)."
    )
    assert one.depends == one.aside == ""


@pytest.mark.parametrize(
    ("values", "flag"),
    [
        ([0.026, 0.08], ""),
        ([0.024, 0.05], "The difference falls below half without the condition “Fever, high”."),
        ([-0.001, 0.05], "The difference changes sign without the condition “Fever, high”."),
        (
            [0.02, 0.024, 0.01, -0.01, 0.06],
            "The difference changes sign without the condition “c3”. The difference falls below "
            "half without the condition “c2”, and 2 more.",
        ),
    ],
)
def test_a_flag_stands_beside_the_heading_where_the_sign_changes_or_half_is_lost(values, flag):
    names = ("fever", "c1", "c2", "c3", "c4")
    rows = [made("condition", name, of) for name, of in zip(names, values, strict=False)]
    one = found(*rows)
    assert one.depends == one.aside == flag
    assert one.heading == f"{one.head}. {flag}".strip()
    assert f"  {one.heading}" in summarize({"x": section(HEADLINE, sensitivity=rows)}, ()).details
    # A difference below 0 is flagged alike, and one that may be 0 not at all.
    mirrored = [row | {"difference": -row["difference"]} for row in rows]
    assert found(*mirrored, difference=-0.05, low=-0.09, high=-0.01).depends == flag
    assert found(*rows, verdict="inconclusive").depends == ""


def test_a_parameter_is_said_with_its_number():
    one = found(
        made("parameter", "without the threshold of 0.01", 0.02),
        made("parameter", "if words counted from a probability of 0.02", 0.05),
    )
    assert one.robust == (
        "Without the threshold of 0.01, it is 0.020. If words counted from a probability of 0.02, "
        "it is 0.050."
    )
    assert one.aside == "The difference falls below half without the threshold of 0.01."


def test_what_is_said_of_a_headline_is_not_of_the_contrasts_beside_it():
    headline = [made("item", f"i{n}", 0.05) for n in range(3)]
    beside = [made("item", f"i{n}", 0.9) | {"main": False} for n in range(3)]
    assert found(*headline, *beside) == found(*headline)


def test_what_could_not_be_computed_is_not_spoken_of():
    gone = made("condition", "fever", 0.02) | {"difference": None}
    assert found(gone).robust == found().robust == ""

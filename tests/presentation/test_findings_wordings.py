"""What is said of wordings: their range, and in the heading that they matter more."""

from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest

from goffman.formatting import Labels
from goffman.presentation.section import Finding, Section
from goffman.presentation.sensitivity import IN_TURN, ONE_WORDING, spread_of, with_wordings
from goffman.schemas import SCORES, SENSITIVITY, schema

ABOUT = {
    "instrument": "x",
    "measure": "y",
    "model": "m",
    "kind": "groups",
    "first": "stigmatized",
    "second": "non-stigmatized",
}


def worded(wording, level, difference, *, paraphrase=False, **more):
    variation = "paraphrase alone" if paraphrase else "wording alone"
    numbers = {"what": wording or "", "mean_first": level, "difference": difference}
    return {
        **ABOUT,
        **numbers,
        "variation": variation if wording else "with the paraphrases",
        **more,
    }


def prompts(cells):
    """Scores of prompts: (item, wording), of one condition."""
    numbers = {"model": "m", "level": "prompt", "quantity": "code", "value": 0.5, "n": 1}
    rows = [
        {"item": item, "wording": wording, "condition": "c"} | numbers for item, wording in cells
    ]
    return pl.DataFrame(rows, schema=schema(SCORES))


def found(rows, difference=0.05, *, wordings=("a", "b"), asked=(), **finding):
    section = Section(
        instrument="x",
        measure="y",
        unit="condition",
        presentation=SimpleNamespace(quantity="code"),  # type: ignore[arg-type]
        scores=prompts(asked),
        estimates=pl.DataFrame(),
        names=Labels(models={"m": "m"}, instruments={}, conditions={}, items={}),
        wordings=wordings,
        sensitivity=pl.DataFrame(rows, schema=schema(SENSITIVITY)),
    )
    one = Finding(model="m", head="More of it", text="", difference=difference, **finding)
    return with_wordings(one, section)


def test_the_range_over_wordings_stands_beside_the_gap():
    one = found([worded("a", 0.30, 0.04), worded("b", 0.33, 0.06)])
    assert one.wording == (
        "Across 2 wordings, the difference ranges from 0.040 to 0.060. The mean for stigmatized "
        "conditions ranges from 0.30 to 0.33."
    )
    assert one.heading == "More of it."


def test_beside_the_heading_stands_that_the_wording_moves_the_number_more():
    one = found([worded("a", 0.07, 0.04), worded("b", 0.40, 0.06)])
    assert one.heading == (
        "More of it. The mean changes more with the wording (0.070 to 0.40 for stigmatized "
        "conditions) than with the group (a difference of 0.050)."
    )
    assert one.wording == "Across 2 wordings, the difference ranges from 0.040 to 0.060."


@pytest.mark.parametrize("gap", [-0.2, -0.1, -0.05, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("levels", [(0.1, 0.2), (0.1, 0.15), (0.5, 0.1, 0.2), (0.3, 0.3)])
def test_it_does_so_when_and_only_when_their_range_exceeds_the_gap(levels, gap):
    rows = [worded(f"w{place}", level, gap) for place, level in enumerate(levels)]
    one = found(rows, gap)
    assert bool(one.moved) is (max(levels) - min(levels) > abs(gap))
    assert one.moved in one.heading


def test_paraphrases_count_among_the_wordings_and_the_result_with_them_stands_beside():
    own = [worded("a", 0.30, 0.04), worded("b", 0.33, 0.06)]
    further = [worded("c", 0.41, 0.03, paraphrase=True)]
    every = worded(None, 0.35, 0.043, paraphrase=True, low=-0.01, high=0.08, verdict="inconclusive")
    one = found([*own, *further, every])
    assert one.moved
    assert one.wording == (
        "Across 3 wordings (1 of them asked only as a check), the difference ranges from 0.030 to "
        "0.060. With the paraphrases, the difference is 0.043 (95% interval −0.010 to 0.080); "
        "verdict: inconclusive."
    )
    # The row of all together is no wording.
    spread = spread_of(pl.DataFrame([*own, *further, every], schema=schema(SENSITIVITY)), 0.05)
    assert spread is not None
    assert (spread.wordings, spread.paraphrases) == (3, 1)


def test_genders_and_levels_have_words_of_their_own():
    women = {"kind": "genders", "first": "female", "second": "male"}
    one = found([worded("a", 0.1, 0.04, **women), worded("b", 0.3, 0.06, **women)])
    assert one.moved == (
        "The mean changes more with the wording (0.10 to 0.30 for women) than with the gender (a "
        "difference of 0.050)."
    )
    level = {"kind": "level", "first": "baseline", "second": "0"}
    one = found([worded("a", -0.1, -0.1, **level), worded("b", 0.1, 0.1, **level)], -0.02)
    assert one.moved == (
        "The number changes more with the wording (−0.10 to 0.10) than it differs from 0 (0.020)."
    )
    assert one.wording == "Across 2 wordings, the number ranges from −0.10 to 0.10."


def test_where_the_heading_is_what_a_model_does_whatever_it_is_asked_it_stays():
    one = found([worded("a", 0.07, 0.04), worded("b", 0.40, 0.06)], styled=True)
    assert one.heading == "More of it."
    assert one.wording.endswith("The mean for stigmatized conditions ranges from 0.070 to 0.40.")


def test_one_wording_says_nothing_of_wordings():
    one = found([worded("a", 0.3, 0.04)], wording="Only one.")
    assert (one.heading, one.wording) == ("More of it.", "Only one.")


def test_questions_asked_in_turn_say_nothing_of_wordings_but_something_with_paraphrases():
    every = worded(None, 0.35, 0.043, paraphrase=True)
    one = found([every], wording="Only one.")
    assert one.wording == f"{IN_TURN} With the paraphrases, the difference is 0.043."
    reason = "the paraphrases were not asked of the same items and conditions"
    other = worded(None, None, None, paraphrase=True, reason=reason)
    one = found([other], wordings=("a",), wording="Only one.")
    assert one.wording == f"Only one. The paraphrases are not counted, because {reason}."


def test_several_wordings_in_turn_are_not_one_wording():
    """Without paraphrases there is no row by wording: what was asked says it."""
    turning = found([], asked=[("i", "a"), ("j", "b"), ("k", "a")], wording=ONE_WORDING)
    assert turning.wording == IN_TURN
    one = found([], asked=[("i", "a"), ("j", "a")], wordings=("a",), wording=ONE_WORDING)
    assert one.wording == ONE_WORDING
    both = found([], asked=[("i", "a"), ("i", "b")], wording=ONE_WORDING)
    assert both.wording == ONE_WORDING
    # What a measure says itself stays.
    own = found([], asked=[("i", "a"), ("j", "b")], wording="Few sentences.")
    assert own.wording == "Few sentences."

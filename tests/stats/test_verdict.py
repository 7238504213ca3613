"""Verdicts: how an interval lies to 0 and to Δ, and what could have been seen."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from scipy import stats

from goffman.contrasts.designs import Contrast
from goffman.contrasts.engine import judged
from goffman.contrasts.verdict import (
    PRESENT_WORDS,
    VERDICT_FACTS,
    Word,
    direction,
    rows_apart_from_zero,
    verdict,
)
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.stats.intervals import Estimate

DF = 20.0
AT_95, AT_90 = stats.t.ppf([0.975, 0.95], DF)
MARGIN = 0.05
BIT = 1e-9


def estimate(difference, error, **more):
    reach = AT_95 * error
    ends = {"low": difference - reach, "high": difference + reach, "level": 0.95}
    about = {"contrast": "x", "n": 9, "n_first": 9, "n_second": 9, "method": ""}
    return Estimate(**about, difference=difference, error=error, df=DF, **(ends | more))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("difference", "error", "word"),
    [
        # The near end of the 95% interval at Δ.
        (MARGIN + AT_95 * 0.03 + BIT, 0.03, "relevant"),
        (MARGIN + AT_95 * 0.03 - BIT, 0.03, "present, size uncertain"),
        # The near end of the 95% interval at 0, the other one beyond Δ.
        (AT_95 * 0.03 + BIT, 0.03, "present, size uncertain"),
        (AT_95 * 0.03 - BIT, 0.03, "inconclusive"),
        # The far end of the 90% interval at Δ, around 0 and apart from it.
        (MARGIN - AT_90 * 0.02 - BIT, 0.02, "negligible"),
        (MARGIN - AT_90 * 0.02 + BIT, 0.02, "inconclusive"),
        (MARGIN - AT_90 * 0.005 - BIT, 0.005, "negligible"),
        (MARGIN - AT_90 * 0.005 + BIT, 0.005, "present, size uncertain"),
        # So wide that 0 and both margins are in it.
        (0.0, 0.2, "inconclusive"),
        (0.0, 0.001, "negligible"),
    ],
)
def test_the_words_at_their_boundaries(difference, error, word, sign):
    found = verdict(estimate(sign * difference, error), margin=MARGIN)
    assert (found.verdict, found.margin) == (word, MARGIN)


@pytest.mark.parametrize(
    ("sentences", "word"), [(1, "these sentences only"), (2, "these sentences only"), (3, None)]
)
@pytest.mark.parametrize(("difference", "otherwise"), [(0.2, "relevant"), (0.0, "negligible")])
def test_fewer_than_three_sentences_say_nothing_of_others(sentences, word, difference, otherwise):
    found = verdict(estimate(difference, 0.01, sentences=sentences), margin=MARGIN)
    assert found.verdict == (word or otherwise)
    assert found.low_90 == pytest.approx(difference - AT_90 * 0.01)


@pytest.mark.parametrize("failing", [True, False])
@pytest.mark.parametrize("sentences", [None, 1])
def test_a_model_that_fails_the_control_items_has_no_other_verdict(failing, sentences):
    measure = NegativeAttitude()
    kind, quantity = measure.primary_contrast
    says = Contrast(
        kind=kind,
        instrument="x",
        measure=measure.name,
        quantity=quantity,
        model="m",
        first="a",
        second="b",
    )
    one = estimate(0.9, 0.01, p=0.001, sentences=sentences)
    rows = judged([(says, one)], {"x": measure}, unmeasurable={"x": ["m" if failing else "o"]})
    otherwise = "these sentences only" if sentences else "relevant"
    assert rows["verdict"].to_list() == ["not measurable" if failing else otherwise]
    assert rows.select("family", "family_size", "correction", "p_adjusted").rows() == [
        ("primary", 1, None, 0.001)
    ]


def test_negligible_is_what_two_one_sided_tests_say():
    for difference in np.linspace(-0.06, 0.06, 41):
        found = verdict(estimate(difference, 0.02), margin=MARGIN)
        above = stats.t.sf((difference + MARGIN) / 0.02, DF)
        below = stats.t.cdf((difference - MARGIN) / 0.02, DF)
        assert (found.verdict == "negligible") == (max(above, below) < 0.05)


def test_without_an_interval_or_a_margin_there_is_no_verdict():
    bare = estimate(0.9, 0.01, low=None, high=None)
    assert (verdict(bare, margin=MARGIN).verdict, verdict(bare, margin=MARGIN).margin) == (
        None,
        MARGIN,
    )
    nothing = Estimate(contrast="x", n=2, n_first=2, n_second=2, method="")
    assert verdict(nothing, margin=MARGIN).verdict is None
    assert verdict(estimate(0.2, 0.03), margin=None).verdict is None


def test_an_interval_without_an_error_is_taken_as_it_is():
    """As of shares: its 90% interval is not known, and it is wider."""
    about = {"contrast": "x", "n": 9, "n_first": 9, "n_second": 9, "method": "", "level": 0.95}
    share = Estimate(**about, difference=0.01, low=-0.04, high=0.049)
    found = verdict(share, margin=MARGIN)
    assert (found.verdict, found.low_90, found.high_90) == ("negligible", -0.04, 0.049)
    assert found.detectable is None


def test_the_detectable_difference_is_found_four_times_in_five():
    """By simulation: a difference as large as said is found in 80% of such samples."""
    rng = np.random.default_rng(1)
    detectable = verdict(estimate(0.0, 0.1), margin=MARGIN).detectable
    # An estimate with 20 degrees of freedom, its error estimated as well.
    differences = detectable + 0.1 * rng.normal(size=20_000)
    errors = 0.1 * np.sqrt(rng.chisquare(DF, 20_000) / DF)
    found = np.abs(differences) / errors > AT_95
    assert found.mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("ends", "way"),
    [((0.1, 0.2), 1), ((-0.2, -0.1), -1), ((-0.1, 0.1), 0), ((0.0, 0.1), 0), ((None, None), 0)],
)
def test_the_direction_is_the_side_of_0_on_which_the_interval_lies(ends, way):
    plain = {"kind": "groups", "effect_low": 1.0, "effect_high": 2.0}
    assert direction(plain | dict(zip(("low", "high"), ends, strict=True))) == way
    related = {"kind": "measures", "low": None, "high": None}
    assert direction(related | dict(zip(("effect_low", "effect_high"), ends, strict=True))) == way


def test_rows_apart_from_zero_are_those_with_a_direction():
    says = {"instrument": "x", "measure": "m", "quantity": "q", "model": "m", "kind": "groups"}
    found = [
        (Contrast(**says, first=str(difference), second="b"), estimate(difference, 0.01, p=0.5))
        for difference in (0.2, 0.0, -0.2)
    ]
    assert rows_apart_from_zero(judged(found, {}))["first"].to_list() == ["0.2", "-0.2"]


def test_every_word_has_a_sign():
    facts = VERDICT_FACTS.values()
    assert {*VERDICT_FACTS} == {*get_args(Word)}
    for shown in ([fact.glyph for fact in facts], [fact.rank for fact in facts]):
        assert len({*shown}) == len(facts) == 6
    assert {*PRESENT_WORDS} < {*VERDICT_FACTS}

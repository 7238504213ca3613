"""Verdicts: how an interval lies to 0 and to Δ, and what could have been seen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goffman.contrasts.verdict import (
    CLEAR_WORDS,
    MOST_ITEMS,
    by_interval,
    is_fragile,
    verdict,
)
from goffman.stats.crossed_tests import sampled, sampled_t
from goffman.stats.estimate import Estimate


def estimate(difference, error, *, df=20.0, p=None, **more):
    reach = stats.t.ppf(0.975, df) * error
    p = 2 * stats.t.sf(abs(difference) / error, df) if p is None else p
    ends = {"low": difference - reach, "high": difference + reach, "level": 0.95}
    about = {"contrast": "x", "n": 9, "n_first": 9, "n_second": 9, "method": ""}
    return Estimate(
        **about, difference=difference, error=error, df=df, p=p, p_adjusted=p, **ends, **more
    )


@pytest.mark.parametrize(
    ("difference", "error", "word"),
    [
        (0.2, 0.03, "relevant"),
        (-0.2, 0.03, "relevant"),
        (0.08, 0.03, "clear, size open"),
        (-0.08, 0.03, "clear, size open"),
        (-0.02, 0.001, "small"),
        (0.02, 0.001, "small"),
        (0.01, 0.01, "equivalent"),
        (-0.01, 0.01, "equivalent"),
        (0.02, 0.03, "undecided"),
        (0.3, 0.2, "undecided"),
    ],
)
def test_the_verdicts(difference, error, word):
    found = verdict(estimate(difference, error), margin=0.05)
    assert (found.verdict, found.margin) == (word, 0.05)


@pytest.mark.parametrize("difference", np.linspace(-0.3, 0.3, 25).tolist())
@pytest.mark.parametrize("error", [0.001, 0.01, 0.03])
def test_a_fragile_difference_keeps_the_word_that_its_interval_gives(difference, error):
    found = verdict(estimate(difference, error), margin=0.05)
    one = estimate(difference, error)
    row = {"low": one.low, "high": one.high, "margin": 0.05, "verdict": found.verdict}
    assert by_interval(row) == found.verdict
    if found.verdict in CLEAR_WORDS:
        assert by_interval(row | {"verdict": "fragile"}) == found.verdict


@pytest.mark.parametrize(
    ("word", "items_lost", "settings_lost", "fragile"),
    [
        ("relevant", 1, 0, False),
        ("relevant", 2, 0, True),
        ("small", 0, 1, True),
        ("clear, size open", 2, 0, True),
        ("undecided", 9, 1, False),
        ("equivalent", 9, 1, False),
        ("not measurable", 9, 1, False),
        (None, 9, 1, False),
    ],
)
def test_a_clear_difference_is_fragile_if_it_is_often_lost(
    word, items_lost, settings_lost, fragile
):
    words = ["undecided"] * items_lost + ["small"] * (10 - items_lost)
    rows = [("item", one) for one in [*words, None]]
    rows += [("parameter", "undecided" if settings_lost else "relevant")]
    table = pl.DataFrame(rows, schema=["variation", "verdict"], orient="row")
    assert is_fragile(word, table) is fragile


def test_equivalent_is_what_two_one_sided_tests_say():
    for difference in np.linspace(-0.06, 0.06, 41):
        found = verdict(estimate(difference, 0.02, p=0.5), margin=0.05)
        above = stats.t.sf((difference + 0.05) / 0.02, 20)
        below = stats.t.cdf((difference - 0.05) / 0.02, 20)
        assert (found.verdict == "equivalent") == (max(above, below) < 0.05)


def test_what_correction_takes_away_is_not_clear():
    found = verdict(estimate(0.2, 0.08, p=0.06), margin=0.05)
    assert found.verdict == "undecided"


def test_without_a_p_or_a_difference_nothing_is_clear():
    one = Estimate(
        contrast="x", n=2, n_first=2, n_second=2, method="", difference=0.9, low=0.8, high=1
    )
    assert verdict(one, margin=0.05).verdict is None
    none = Estimate(contrast="x", n=2, n_first=2, n_second=2, method="")
    assert verdict(none, margin=0.05).verdict is None
    assert verdict(estimate(0.2, 0.03), margin=None).verdict is None


def test_the_detectable_difference_is_found_four_times_in_five():
    """By simulation: a difference as large as said is found in 80% of such samples."""
    rng = np.random.default_rng(1)
    detectable = verdict(estimate(0.0, 0.1), margin=0.05).detectable
    # An estimate with 20 degrees of freedom, its error estimated as well.
    differences = detectable + 0.1 * rng.normal(size=20_000)
    errors = 0.1 * np.sqrt(rng.chisquare(20, 20_000) / 20)
    found = np.abs(differences) / errors > stats.t.ppf(0.975, 20)
    assert found.mean() == pytest.approx(0.8, abs=0.02)


def test_with_so_many_items_the_smallest_difference_is_detectable():
    found = verdict(estimate(0.0, 0.05, items=7, irreducible_se=0.01), margin=0.05)
    reach = stats.t.ppf(0.975, 20) + stats.t.ppf(0.8, 20)
    by_items = (0.05**2 - 0.01**2) * 7

    def detectable(items):
        return reach * math.sqrt(0.01**2 + by_items / items)

    assert detectable(found.items_needed) <= 0.05 < detectable(found.items_needed - 1)


def test_no_number_of_items_helps_where_the_rest_of_the_error_is_too_large():
    assert (
        verdict(estimate(0, 0.05, items=7, irreducible_se=0.04), margin=0.05).items_needed is None
    )
    almost = 0.05 / (stats.t.ppf(0.975, 20) + stats.t.ppf(0.8, 20)) * (1 - 1e-9)
    found = verdict(estimate(0, 0.05, items=7, irreducible_se=almost), margin=0.05)
    assert found.items_needed is None
    assert MOST_ITEMS == 10_000


def test_the_items_needed_are_those_of_a_d_study():
    """A table of known components: the error with as many items as said is what was aimed at."""
    rng = np.random.default_rng(5)

    def table(n, items):
        shape = (n, items, 1)
        return 0.1 * rng.normal(size=(n, 1, 1)) + 0.1 * rng.normal(size=shape)

    one = [table(200, 8) + 0.3 * rng.normal(size=(1, 8, 1)), table(200, 8)]
    about = Estimate(contrast="", n=0, n_first=0, n_second=0, method="")
    tested = sampled_t(about, one)
    needed = verdict(replace(tested, p_adjusted=tested.p), margin=0.2).items_needed
    errors = [
        sampled([table(200, needed) + 0.3 * rng.normal(size=(1, needed, 1)), table(200, needed)])
        for _ in range(40)
    ]
    reach = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    found = reach * math.sqrt(np.mean([one.variance for one in errors]))
    assert found == pytest.approx(0.2, rel=0.35)


def test_nobody_is_asked_for_fewer_items_than_there_were():
    """What can be seen is smaller than Δ even now, and the difference is undecided all the same."""
    seen = estimate(0.04, 0.016, p=0.06, items=17, irreducible_se=0.004)
    found = verdict(seen, margin=0.05)
    assert found.verdict == "undecided"
    assert found.detectable < 0.05
    assert found.items_needed is None

"""Where each condition is asked some of the items, in turn: groups are compared, single ones not."""

from __future__ import annotations

import statistics

import polars as pl
import pytest
from choosing import asked, choices, listed, section

from goffman.measures.mean_code import MeanCode

MEASURE = MeanCode()
GROUPS = {
    "stigmatized": tuple(f"s{n}" for n in range(12)),
    "non-stigmatized": tuple(f"n{n}" for n in range(8)),
    "baseline": ("baseline",),
}
ITEMS = ("i1", "i2", "i3", "i4")


def table():
    """Each condition has two of the four items; the baseline has all."""
    made = asked(items=ITEMS, groups=GROUPS)
    kept = [
        row["condition"] == "baseline"
        or (row["item"] in {"i1", "i2"}) == (int(row["condition"][1:]) % 2 == 0)
        for row in made.to_dicts()
    ]
    return made.filter(pl.Series(kept))


def leaning(row):
    """Items differ much, groups a little."""
    share = 0.2 + 0.15 * ITEMS.index(row["item"]) + 0.1 * (row["group"] == "stigmatized")
    share += 0.01 * (sum(map(ord, row["prompt_id"])) % 5)
    by_code = {0.0: 1 - share, 1.0: share}
    return [*(by_code.get(o.code, 0.0) for o in listed(row)[:4]), 0.0]


def test_the_difference_is_that_of_condition_means():
    asked_ = table()
    made = section(MEASURE, MEASURE(choices(asked_, leaning), asked_), asked_)
    (groups,) = made.contrasts("groups").to_dicts()
    codes = {}
    for row in asked_.to_dicts():
        code = sum((o.code or 0) * p for o, p in zip(listed(row), leaning(row), strict=True))
        codes.setdefault((row["group"], row["condition"]), []).append(code)
    means = {
        group: statistics.fmean(
            statistics.fmean(values) for (of, _), values in codes.items() if of == group
        )
        for group in ("stigmatized", "non-stigmatized")
    }
    expected = means["stigmatized"] - means["non-stigmatized"]
    assert groups["difference"] == pytest.approx(expected, rel=1e-4)
    assert (groups["n_first"], groups["n_second"], groups["left_out"]) == (12, 8, 0)
    assert groups["interval_over"] == "conditions, each with items of its own"
    # That items differ much is a part of how much conditions do.
    assert groups["high"] - groups["low"] > 0.1


def test_a_condition_that_did_not_answer_everything_still_counts():
    asked_ = table()

    def silent(row):
        quiet = row["condition"] in {"s0", "s2", "n1"} and row["item"] in {"i1", "i3"}
        return [0.0, 0.0, 0.0, 0.0, 1.0] if quiet else leaning(row)

    made = section(MEASURE, MEASURE(choices(asked_, silent), asked_), asked_)
    (groups,) = made.contrasts("groups").to_dicts()
    assert (groups["n_first"], groups["n_second"], groups["left_out"]) == (12, 8, 0)


def test_single_conditions_are_not_compared_and_reliability_is_of_their_own_items():
    asked_ = table()
    scores = MEASURE(choices(asked_, leaning), asked_)
    made = section(MEASURE, scores, asked_)
    for kind in ("reference", "own-reference", "baseline"):
        assert made.contrasts(kind).height == 0
    g = scores.filter(pl.col("quantity") == "generalizability", pl.col("group") == "stigmatized")[
        "value"
    ]
    assert g.len() == 1
    # Conditions differ by their items alone, and not much else: little would come out again.
    assert g[0] is not None


def test_all_items_of_every_condition_are_crossed_as_ever():
    asked_ = asked(items=ITEMS, groups=GROUPS)
    made = section(MEASURE, MEASURE(choices(asked_, leaning), asked_), asked_)
    (groups,) = made.contrasts("groups").to_dicts()
    assert groups["items"] == 4
    assert made.contrasts("reference").height == 12
    assert made.contrasts("baseline").height == 20

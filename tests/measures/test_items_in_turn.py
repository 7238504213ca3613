"""Where each condition is asked some of the items, in turn: groups are compared, single ones not."""

from __future__ import annotations

import statistics

import numpy as np
import polars as pl
import pytest
from choosing import asked, choices, listed, section

from goffman.contrasts.designs import Contrast, over_cells
from goffman.measures.multiple_choice import MeanCode

MEASURE = MeanCode()
GROUPS = {
    "stigmatized": tuple(f"s{n}" for n in range(12)),
    "non-stigmatized": tuple(f"n{n}" for n in range(8)),
    "baseline": ("baseline",),
}
ITEMS = tuple(f"i{n}" for n in range(1, 9))


def table():
    """Each condition has four of the eight items; the baseline has all."""
    made = asked(items=ITEMS, groups=GROUPS)
    kept = [
        row["condition"] == "baseline" or (int(row["item"][1:]) + int(row["condition"][1:])) % 8 < 4
        for row in made.to_dicts()
    ]
    return made.filter(pl.Series(kept))


def leaning(row):
    """Items differ much, groups a little."""
    share = 0.2 + 0.07 * ITEMS.index(row["item"]) + 0.1 * (row["group"] == "stigmatized")
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
    assert groups["interval_over"] == (
        "conditions by category and items, each condition with some of them"
    )
    assert (groups["test"], groups["unit"]) == ("clustered t", "conditions")
    assert groups["low"] < expected < groups["high"]


def test_a_condition_that_did_not_answer_everything_still_counts():
    asked_ = table()

    def silent(row):
        quiet = row["condition"] in {"s0", "s2", "n1"} and row["item"] in {"i1", "i5"}
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
    g = scores.filter(quantity="generalizability", group="stigmatized")["value"]
    assert g.len() == 1
    # Conditions differ by their items alone, and not much else: little would come out again.
    assert g[0] is not None


def naive_error(cells, difference):
    """Two-way jackknife by leaving out one category, item or both after another."""

    def left(kept):
        sides = {"stigmatized": [0.0, 0.0], "non-stigmatized": [0.0, 0.0]}
        for group, condition, _, _, value in kept:
            weight = 1 / counts[condition]
            sides[group][0] += weight * value
            sides[group][1] += weight
        means = {group: total / weight for group, (total, weight) in sides.items()}
        return means["stigmatized"] - means["non-stigmatized"]

    counts = {}
    for _, condition, *_ in cells:
        counts[condition] = counts.get(condition, 0) + 1
    parts = []
    for key in (lambda c: c[2], lambda c: c[3], lambda c: (c[2], c[3])):
        names = {key(cell) for cell in cells}
        changes = [
            difference - left([cell for cell in cells if key(cell) != name]) for name in names
        ]
        parts.append((len(names) - 1) / len(names) * sum(change**2 for change in changes))
    return max(parts[0] + parts[1] - parts[2], parts[2]) ** 0.5


def test_the_error_is_that_of_leaving_out_categories_and_items():
    rng = np.random.default_rng(3)
    rows = [
        {"group": group, "condition": name, "category": f"c{int(name[1:]) % 7}", "item": item}
        | {"value": rng.normal()}
        for group in ("stigmatized", "non-stigmatized")
        for name in GROUPS[group]
        for item in ITEMS
        if rng.random() < 0.6
    ]
    frame = pl.DataFrame(rows)
    sides = [frame.filter(group=group) for group in ("stigmatized", "non-stigmatized")]
    says = Contrast(kind="groups", instrument="x", measure="y", quantity="z", first="a", second="b")
    found = over_cells(says, sides, paired=False, over="both")
    means = [
        side.group_by("condition").agg(pl.col("value").mean())["value"].mean() for side in sides
    ]
    assert found.difference == pytest.approx(means[0] - means[1])
    cells = [tuple(row.values()) for row in rows]
    assert found.error == pytest.approx(naive_error(cells, found.difference), rel=1e-9)
    assert (found.n, found.interval_over) == (20, "both")
    # In two presentations there are the same conditions, not twice as many.
    halves = [frame.filter(pl.col("item").is_in(of)) for of in (ITEMS[::2], ITEMS[1::2])]
    assert (
        over_cells(says, halves, paired=False, over="both").n == frame["condition"].n_unique() == 20
    )


def test_two_models_in_the_same_questions_are_compared_by_their_differences():
    rng = np.random.default_rng(4)
    asked_ = [
        (name, item) for name in GROUPS["stigmatized"] for item in ITEMS if rng.random() < 0.6
    ]
    values = rng.normal(size=(2, len(asked_)))
    sides = [
        pl.DataFrame(
            {"condition": [c for c, _ in asked_], "item": [i for _, i in asked_], "value": of}
        ).with_columns(category=pl.lit(None, dtype=pl.String))
        for of in values
    ]
    says = Contrast(kind="models", instrument="x", measure="y", quantity="z", first="a", second="b")
    found, back = (
        over_cells(says, both, paired=True, over="both") for both in (sides, sides[::-1])
    )
    gaps = sides[0].with_columns(value=pl.Series(values[0] - values[1]))
    expected = gaps.group_by("condition").agg(pl.col("value").mean())["value"].mean()
    assert found.difference == pytest.approx(expected)
    assert (back.difference, back.p) == pytest.approx((-found.difference, found.p))
    # In effect there are a few items less than eight: they are not asked equally often.
    assert found.n == 12
    assert 5 < found.df < 12

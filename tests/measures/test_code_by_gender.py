"""Women and men in the same questions: pairs, means and contrasts against plain computations."""

from __future__ import annotations

import itertools
import statistics

import polars as pl
import pytest
from choosing import WORDINGS, asked, choices, listed, replied, section
from making import check, one, same_whatever_the_order, value

from goffman.measures.multiple_choice import CodeByGender
from goffman.presentation.findings import findings_of

GROUPS = {
    "mental-health": ("mania", "panic", "ocd", "ptsd", "autism"),
    "other": ("flu", "gout", "acne", "asthma", "lupus"),
}
GENDERS = ("female", "male", "unstated")
MEASURE = CodeByGender()


def table(persons=("", "-named"), **also):
    """Two people of each gender, the second with a name; two subscales."""
    made = []
    for person in persons:
        part = asked(groups=GROUPS, genders=GENDERS, **also)
        made.append(
            part.with_columns(
                pl.format("{}" + person, "prompt_id").alias("prompt_id"),
                person=pl.format("{}" + person, "gender"),
                dimension=pl.when(pl.col("item") < "i3")
                .then(pl.lit("fear"))
                .otherwise(pl.lit("pity")),
            )
        )
    return pl.concat(made)


def leaning(row):
    """More stigma about women with a mental illness; a person lies between."""
    place = sum(map(ord, row["prompt_id"] + row["condition"])) % 7
    share = 0.4 + 0.01 * place + 0.02 * (sum(map(ord, row["condition"])) % 5)
    if row["group"] == "mental-health":
        share += {"female": 0.2, "male": 0.0, "unstated": 0.1}[row["gender"]]
    if row["wording"] == "shun":
        share += 0.05
    by_code = {0.0: 1 - share, 1.0: share}
    given = [0.9 * by_code.get(o.code, 0.0) for o in listed(row)[:4]]
    given[0] += 0.05
    return [*given, 0.03]


def codes_of(scores):
    rows = scores.filter(level="prompt", quantity="code")
    return dict(rows.select("prompt_id", "value").rows())


def naive_pairs(asked_, codes):
    """(item, condition, wording, order, named) → female and male code."""
    found = {}
    for row in asked_.to_dicts():
        key = (row["item"], row["condition"], row["wording"], row["order"])
        named = str(row["person"]).endswith("-named")
        found.setdefault((*key, named), {})[row["gender"]] = codes[row["prompt_id"]]
    return found


def test_pairs_means_and_contrasts_are_those_of_a_plain_loop():
    asked_ = table()
    answers = choices(asked_, leaning)
    scores = check(MEASURE(answers, asked_))
    codes = codes_of(scores)
    pairs = naive_pairs(asked_, codes)
    of_women = scores.filter(level="prompt", quantity="disparity")
    assert of_women.height == len(pairs)
    by_id = {row["prompt_id"]: row for row in asked_.to_dicts()}
    for row in of_women.to_dicts():
        about = by_id[row["prompt_id"]]
        named = str(about["person"]).endswith("-named")
        key = (about["item"], about["condition"], about["wording"], about["order"], named)
        assert row["value"] == pytest.approx(pairs[key]["female"] - pairs[key]["male"])
        assert about["gender"] == "female"
    group_of = dict(asked_.select("condition", "group").unique().rows())
    gap = {}
    for group in GROUPS:
        mine = {key: both for key, both in pairs.items() if group_of[key[1]] == group}
        gap[group] = statistics.fmean(both["female"] - both["male"] for both in mine.values())
        ids = {"level": "group", "model": "m", "group": group, "wording": None}
        assert value(scores, quantity="disparity", **ids) == pytest.approx(gap[group])
        unstated = statistics.fmean(both["unstated"] for both in mine.values())
        assert value(scores, quantity="unstated", **ids) == pytest.approx(unstated)
    found = section(MEASURE, scores, asked_).estimates
    genders = found.filter(kind="genders")
    main = one(genders, model="m", group="mental-health", dimension=None)
    assert main["difference"] == pytest.approx(gap["mental-health"])
    assert main["quantity"] == "code"
    for dimension, items in (("fear", ("i1", "i2")), ("pity", ("i3", "i4"))):
        part = one(genders, model="m", group="other", dimension=dimension)
        expected = statistics.fmean(
            both["female"] - both["male"]
            for key, both in pairs.items()
            if key[0] in items and group_of[key[1]] == "other"
        )
        assert part["difference"] == pytest.approx(expected)
    between = one(found.filter(kind="groups"), model="m", dimension=None)
    assert between["difference"] == pytest.approx(gap["mental-health"] - gap["other"])
    assert between["quantity"] == "disparity"
    assert {"order", "keying", "wordings", "dimensions"} <= {*found["kind"]}
    assert found["contrast"].is_unique().all()


def test_a_pair_with_one_side_missing_has_no_disparity():
    asked_ = table(items=("i1",)).filter(condition="mania", wording="willing", order="forward")
    men = asked_.filter(gender="male")
    answers = choices(asked_.filter(pl.col("prompt_id") != men["prompt_id"][0]), leaning)
    scores = check(MEASURE(answers, asked_))
    rows = scores.filter(level="prompt", quantity="disparity")
    assert sorted(rows["value"].is_null()) == [False, True]
    (reason,) = rows["reason"].drop_nulls()
    assert reason == "the same question about a woman and a man is not answered twice"
    # The mean is over the one pair that is whole, on both sides.
    ids = {"level": "group", "model": "m", "group": "mental-health", "wording": None}
    female, male, gap = (
        value(scores, quantity=name, **ids) for name in ("female", "male", "disparity")
    )
    assert gap == pytest.approx(female - male)


def test_the_order_of_rows_changes_nothing_and_one_person_each_is_enough():
    same_whatever_the_order(
        MEASURE, choices(table(items=("i1", "i2")), leaning), table(items=("i1", "i2"))
    )
    alone = table(persons=("",)).drop("person").filter(order="forward")
    scores = check(MEASURE(choices(alone, leaning), alone))
    ids = {"level": "group", "model": "m", "group": "mental-health", "wording": None}
    assert value(scores, quantity="disparity", **ids) > 0.1


def test_what_is_said_of_women_and_men():
    asked_ = table()
    scores = MEASURE(choices(asked_, leaning), asked_)
    shown = section(MEASURE, scores, asked_)
    (found,) = findings_of(shown)
    pair = "for mental health than for other conditions"
    assert found.short == f"Stigma leans more toward women {pair}"
    assert found.text.startswith("By presentation, the mean code differs by ")
    assert "For mental health conditions, the mean code is" in found.rest
    assert "about a person of no stated gender" in found.rest
    names = [t.name for tab in MEASURE.presentation.tables for t in tab(shown)]
    assert {"scale-presentation", "scale-genders", "scale-items", "scale-conditions"} <= {*names}
    figures = list(
        itertools.chain.from_iterable(draw(shown) for draw in MEASURE.presentation.figures)
    )
    drawn = {row["difference"] for row in figures[1].spec["data"]["values"]}
    assert drawn == {*shown.contrasts("genders")["difference"]}


def test_the_same_from_replies():
    measure = CodeByGender(mode="reply")
    asked_ = table()

    def said(row, trial):
        # One trial of four is no answer; women with a mental illness get the next option up.
        if trial == 4:
            return "I cannot answer."
        codes = [0.0, 1 / 3, 2 / 3, 1.0]
        up = row["group"] == "mental-health" and row["gender"] == "female"
        at = (sum(map(ord, row["condition"] + row["item"])) + trial) % 3 + up
        return next(o.text for o in listed(row) if o.code == codes[at])

    answers = measure.code_responses(replied(asked_, said, trials=4), asked_, None, cased=True)
    scores = check(measure(answers, asked_))
    ids = {"level": "group", "model": "m", "wording": None, "quantity": "disparity"}
    assert value(scores, group="mental-health", **ids) == pytest.approx(1 / 3)
    assert value(scores, group="other", **ids) == pytest.approx(0)
    assert value(scores, level="model", quantity="refusal") == pytest.approx(1 / 4)
    (found,) = findings_of(section(measure, scores, asked_))
    assert found.head.startswith("Does not answer 25% of the time")


def test_where_pairs_are_missing_those_that_are_there_are_clustered_by_item_and_condition():
    groups = {
        "mental-health": tuple(f"m{n}" for n in range(8)),
        "other": tuple(f"o{n}" for n in range(8)),
    }
    items = tuple(f"i{n}" for n in range(8))
    asked_ = asked(
        groups=groups, genders=GENDERS, items=items, wordings={"willing": WORDINGS["willing"]}
    )
    # Every condition lacks one item, and every item is lacking somewhere: no table is whole.
    lacks = "m" + pl.col("item").str.slice(1) == pl.col("condition")
    kept = asked_.filter(~lacks | (pl.col("gender") != "male"))
    scores = check(MEASURE(choices(kept, leaning), asked_))
    found = section(MEASURE, scores, asked_, wordings=("willing",)).estimates
    main = one(found, kind="genders", model="m", group="mental-health", dimension=None)
    codes = codes_of(scores)
    cells = {}
    for row in asked_.to_dicts():
        if row["group"] == "mental-health" and codes[row["prompt_id"]] is not None:
            cell = cells.setdefault((row["item"], row["condition"], row["order"]), {})
            cell[row["gender"]] = codes[row["prompt_id"]]
    whole = {}
    for (item, condition, _), cell in cells.items():
        if {"female", "male"} <= {*cell}:
            whole.setdefault((item, condition), []).append(cell["female"] - cell["male"])
    assert len(whole) == 8 * 8 - 8
    expected = statistics.fmean(statistics.fmean(values) for values in whole.values())
    assert main["difference"] == pytest.approx(expected)
    assert (main["n"], main["unit"], main["test"]) == (8, "conditions", "clustered t")
    assert main["p"] is not None
    assert main["interval_over"] == (
        "conditions by category and items, as far as they were answered"
    )
    # Where nothing is missing the test is the crossed one.
    other = one(found, kind="genders", model="m", group="other", dimension=None)
    assert other["interval_over"] == "conditions and items, crossed"

"""People described: the stigma score, beliefs, shares and contrasts against plain computations."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import polars as pl
import pytest
from choosing import asked, choices, listed, replied, section
from making import check, same_whatever_the_order, value
from scipy import stats

from goffman.contrasts.designs import Clusters
from goffman.contrasts.engine import PRIMARY
from goffman.formatting import number
from goffman.instruments.types import Option
from goffman.measures.controls import _decided
from goffman.measures.vignettes import VignetteCode
from goffman.parsers.options import read_choices
from goffman.presentation.findings import findings_of
from goffman.sensitivity.variations import Headline
from goffman.stats.crossed import crossed_interval

DISORDERS = ("psychosis", "mood", "drink", "pills")
DAILY = ("daily", "daily-2", "daily-3")
GROUPS = {"disorder": DISORDERS, "daily-troubles": DAILY}
ITEMS = ("work", "marry", "violent", "genes")
"""The first three count."""
MEASURE = VignetteCode()


def table(groups=GROUPS):
    made = asked(items=ITEMS, groups=groups, genders=("female", "male"))
    dimension = (
        pl.when(pl.col("item") == "genes").then(pl.lit("beliefs")).otherwise(pl.lit("stigma"))
    )
    return made.with_columns(dimension=dimension, person=pl.col("gender"))


def leaning(row):
    """More stigma about disorders than about daily troubles, and about men than about women."""
    place = sum(map(ord, row["prompt_id"] + row["condition"])) % 7
    share = 0.2 + 0.01 * place + 0.02 * ITEMS.index(row["item"])
    share += 0.4 * (row["group"] == "disorder") + 0.1 * (row["gender"] == "male")
    by_code = {
        0.0: 0.4 * (1 - share),
        1 / 3: 0.6 * (1 - share),
        2 / 3: 0.7 * share,
        1.0: 0.3 * share,
    }
    return [*(0.9 * by_code[o.code] for o in listed(row)[:4]), 0.06]


def naive(asked_):
    """By prompt: its row, its mean code, and the share on the two upper options."""
    found = {}
    for row in asked_.to_dicts():
        pairs = list(zip((o.code for o in listed(row)), leaning(row), strict=True))
        counted = [(code, p) for code, p in pairs if code is not None]
        whole = sum(p for _, p in counted)
        code = sum(code * p for code, p in counted) / whole
        upper = sum(p for code, p in counted if code > 0.5) / whole
        found[row["prompt_id"]] = (row, code, upper)
    return list(found.values())


def mean(rows, which, **ids):
    return statistics.fmean(
        one[which] for one in rows if all(one[0][name] == given for name, given in ids.items())
    )


def test_only_items_that_count_make_the_score_and_beliefs_stand_apart():
    asked_ = table()
    scores = check(MEASURE(choices(asked_, leaning), asked_))
    rows = naive(asked_)
    stigma = [one for one in rows if one[0]["dimension"] == "stigma"]
    for condition in ("psychosis", "daily"):
        found = value(scores, level="condition", quantity="code", condition=condition, model="m")
        assert found == pytest.approx(mean(stigma, 1, condition=condition), rel=1e-6)
        believed = value(scores, level="cell", quantity="belief", condition=condition)
        assert believed == pytest.approx(mean(rows, 1, condition=condition, item="genes"), rel=1e-6)
    items = scores.filter(quantity="code", level="prompt")["item"]
    assert set(items) == {"work", "marry", "violent"}
    assert set(scores.filter(quantity="belief")["item"]) == {"genes"}


def test_the_share_who_endorse_is_of_each_item_condition_and_gender():
    asked_ = table()
    scores = check(MEASURE(choices(asked_, leaning), asked_))
    rows = naive(asked_)
    cells = scores.filter(level="cell", quantity="share-endorsing")
    assert cells.height == 4 * 7 * 3
    for row in cells.to_dicts():
        ids = {"item": row["item"], "condition": row["condition"]}
        ids |= {"gender": row["variant"]} if row["variant"] else {}
        assert row["value"] == pytest.approx(mean(rows, 2, **ids), rel=1e-6)
        assert 0 <= row["value"] <= 1
    same_whatever_the_order(MEASURE, choices(asked_, leaning), asked_)


def test_contrasts_are_differences_of_plain_means():
    asked_ = table()
    found = section(MEASURE, MEASURE(choices(asked_, leaning), asked_), asked_)
    stigma = [one for one in naive(asked_) if one[0]["dimension"] == "stigma"]
    (groups,) = found.contrasts("groups").to_dicts()
    difference = mean(stigma, 1, group="disorder") - mean(stigma, 1, group="daily-troubles")
    assert groups["difference"] == pytest.approx(difference, rel=1e-5)
    assert groups["low"] < difference < groups["high"]
    assert (groups["n_first"], groups["n_second"], groups["sentences"]) == (4, 3, 9)
    assert groups["interval_over"] == "conditions, items and wordings, crossed"
    for row in found.contrasts("reference").to_dicts():
        expected = mean(stigma, 1, condition=row["first"])
        expected -= mean(stigma, 1, group="daily-troubles")
        assert row["difference"] == pytest.approx(expected, rel=1e-5)
    (genders,) = found.contrasts("genders").to_dicts()
    expected = mean(stigma, 1, group="disorder", gender="female")
    expected -= mean(stigma, 1, group="disorder", gender="male")
    assert genders["difference"] == pytest.approx(expected, rel=1e-4)
    assert genders["group"] == "disorder"


def cells(stigma, conditions):
    """Conditions × items × wordings, each the mean over orders and people."""
    ways = {name: sorted({row[name] for row, *_ in stigma}) for name in ("item", "wording")}
    ids = [dict(zip(ways, of, strict=True)) for of in itertools.product(*ways.values())]
    table = [[mean(stigma, 1, condition=one, **of) for of in ids] for one in conditions]
    return np.array(table).reshape(len(conditions), *map(len, ways.values()))


def test_the_interval_allows_for_other_descriptions_of_both_groups():
    asked_ = table()
    found = section(MEASURE, MEASURE(choices(asked_, leaning), asked_), asked_)
    stigma = [one for one in naive(asked_) if one[0]["dimension"] == "stigma"]
    (row,) = found.contrasts("groups").to_dicts()
    sides = [cells(stigma, DISORDERS), cells(stigma, DAILY)]
    assert sides[0].shape == (4, 3, 3)
    again = crossed_interval(sides, [DISORDERS, DAILY])
    half = stats.t.ppf(0.975, again.df) * again.se
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half, rel=1e-3)


TEXTS = {name: [f"{name}-{k}" for k in range(5)] for name in DISORDERS} | {
    "daily": [f"daily-{k}" for k in range(7)]
}
"""By category: several descriptions of the same."""


def several(wordings=("willing",)):
    disorders = [one for name in DISORDERS for one in TEXTS[name]]
    made = table({"disorder": disorders, "daily-troubles": TEXTS["daily"]})
    category = pl.col("condition").str.replace(r"-\d+$", "")
    return made.with_columns(category=category).filter(pl.col("wording").is_in(wordings))


def test_other_descriptions_are_drawn_within_disorders_and_these_are_given():
    """By hand: leave out each description in its disorder, and each question."""
    asked_ = several()
    scores = MEASURE(choices(asked_, leaning), asked_)
    (row,) = section(MEASURE, scores, asked_).contrasts("groups").to_dicts()
    stigma = [one for one in naive(asked_) if one[0]["dimension"] == "stigma"]
    tables = {name: cells(stigma, of)[:, :, 0] for name, of in TEXTS.items()}
    weights = dict.fromkeys(DISORDERS, 1 / 4) | {"daily": -1.0}

    def difference(drop=None, question=None):
        found = 0.0
        for name, of in tables.items():
            kept = [k for k in range(len(of)) if (name, k) != drop]
            items = [k for k in range(3) if k != question]
            found += weights[name] * of[np.ix_(kept, items)].mean()
        return found

    def spread(values):
        return (len(values) - 1) * np.var(values)

    of_texts = [
        spread([difference((name, k)) for k in range(len(of))]) for name, of in tables.items()
    ]
    of_items = spread([difference(question=k) for k in range(3)])
    of_both, free = 0.0, 2
    for name, of in tables.items():
        rest = of - of.mean(axis=0) - of.mean(axis=1, keepdims=True) + of.mean()
        n = len(of)
        of_both += weights[name] ** 2 * (rest**2).sum() / (n * (n - 1) * 3 * free)
    variance = max(sum(of_texts) + of_items - of_both, sum(of_texts))
    degrees = [len(of) - 1 for of in tables.values()]
    df = sum(of_texts) ** 2 / sum(v**2 / k for v, k in zip(of_texts, degrees, strict=True))
    parts = ((sum(of_texts), df), (of_items, free), (of_both, df * free))
    whole = max(variance**2 / sum(v**2 / k for v, k in parts), min(df, free))
    assert row["difference"] == pytest.approx(difference(), rel=1e-5)
    assert row["error"] == pytest.approx(variance**0.5, rel=1e-3)
    assert row["df"] == pytest.approx(whole, rel=1e-2)
    assert (row["n_first"], row["n_second"]) == (20, 7)
    assert row["interval_over"] == "conditions within categories and items, crossed"


def test_how_disorders_differ_from_one_another_is_no_error():
    """It would be, were they drawn; the same holds of women and men described alike."""

    def error(kind, moved):
        def apart(row):
            far = DISORDERS.index(row["category"]) if row["group"] == "disorder" else 0
            if kind == "genders":
                far *= row["gender"] == "female"
            share = 0.3 + 0.01 * (sum(map(ord, row["prompt_id"])) % 7) + moved * far
            return [0.9 * (1 - share), 0.0, 0.0, 0.9 * share, 0.1]

        asked_ = several(("willing", "shun", "want"))
        scores = MEASURE(choices(asked_, apart), asked_)
        (row,) = section(MEASURE, scores, asked_).contrasts(kind).to_dicts()
        assert row["interval_over"] == ("conditions within categories, items and wordings, crossed")
        return row["error"]

    for kind in ("groups", "genders"):
        assert error(kind, 0.1) == pytest.approx(error(kind, 0.0), rel=0.05)


def test_one_description_to_compare_with_is_taken_as_given_and_called_so():
    asked_ = table({"disorder": DISORDERS, "daily-troubles": DAILY[:1]})
    made = section(MEASURE, MEASURE(choices(asked_, leaning), asked_), asked_)
    (row,) = made.contrasts("groups").to_dicts()
    assert row["interval_over"] == (
        "conditions, items and wordings, crossed; treated as fixed: daily-troubles conditions (1)"
    )
    (found,) = findings_of(made)
    assert found.head == (
        "More stigma in disorder conditions than in the one daily troubles condition"
    )
    assert "There is only one daily troubles condition, so interval and p say" in found.text
    assert "as crossed random factors; treated as fixed: daily-troubles cond" in found.more[0]


def test_a_question_without_an_answer_about_one_description_or_that_description_is_left_out():
    asked_ = table()
    measure = VignetteCode(mode="reply")

    def says(row, _trial):
        if row["condition"] == "daily-2" and row["item"] == "work":
            return "I cannot answer that."
        high = (row["group"] == "disorder") != (
            row["item"] == "marry" and row["order"] == "forward"
        )
        return next(o.label for o in listed(row) if o.code == (2 / 3 if high else 1 / 3))

    scores = measure(read_choices(replied(asked_, says), asked_), asked_)
    (row,) = section(measure, scores, asked_).contrasts("groups").to_dicts()
    # Two of three descriptions are more than half, as two of three questions are.
    assert (row["n_first"], row["n_second"], row["left_out"]) == (4, 2, 1)
    assert row["sentences"] == 3 * 3
    wider = table().with_columns(item=pl.col("item").replace({"genes": "friend"}))
    wider = wider.with_columns(dimension=pl.lit("stigma"))
    scores = measure(read_choices(replied(wider, says), wider), wider)
    (row,) = section(measure, scores, wider).contrasts("groups").to_dicts()
    assert row["low"] is not None
    assert row["reason"] == "1 of 4 items are left out, because some got no answer"
    assert (row["n_first"], row["n_second"], row["left_out"]) == (4, 3, 0)
    assert row["sentences"] == 3 * 3


def test_none_of_three_descriptions_to_compare_with_is_left_out():
    """Two would be no sample, and the difference another test; any of four disorders is."""
    asked_ = table()
    scores = MEASURE(choices(asked_, leaning), asked_)
    made = section(MEASURE, scores, asked_)
    primary = made.contrasts("groups").filter(family=PRIMARY)
    work = Headline(
        row=primary.row(0, named=True),
        measure=MEASURE,
        wordings=list(made.wordings),
        sharing=Clusters(),
    )
    rows = [
        one
        for one in work.without_each(work.select_scores(scores))
        if one["variation"] == "condition"
    ]
    assert {one["what"] for one in rows} == set(DISORDERS)
    assert all(one["low"] is not None for one in rows)


def test_what_the_order_does_is_told_of_the_questions_that_count():
    asked_ = table()
    found = section(MEASURE, MEASURE(choices(asked_, leaning), asked_), asked_)
    (row,) = found.contrasts("order").to_dicts()
    assert (row["n"], row["sentences"]) == (7, 9)


def test_findings_say_the_score_and_the_genders():
    asked_ = table()
    (found,) = findings_of(section(MEASURE, MEASURE(choices(asked_, leaning), asked_), asked_))
    assert found.head == "More stigma in disorder conditions than in daily troubles conditions"
    stigma = [one for one in naive(asked_) if one[0]["dimension"] == "stigma"]
    first = mean(stigma, 1, group="disorder")
    alone = sorted(first - mean(stigma, 1, condition=one) for one in DAILY)
    low, high = number(alone[0]), number(alone[-1])
    said = f"alone, the difference would be {low if low == high else f'{low} to {high}'}."
    assert f"Compared with each of the 3 daily troubles conditions {said}" in found.text
    assert (
        "conditions, the mean code is " in found.rest
        or "condition, the mean code is " in found.rest
    )


def test_where_each_item_has_a_wording_of_its_own_no_effect_of_wording_is_told():
    asked_ = table()
    own = {"work": "willing", "marry": "shun", "violent": "want", "genes": "willing"}
    kept = [own[row["item"]] == row["wording"] for row in asked_.to_dicts()]
    asked_ = asked_.filter(pl.Series(kept))
    made = section(MEASURE, MEASURE(choices(asked_, leaning), asked_), asked_)
    assert made.contrasts("wordings").height == 0
    (found,) = findings_of(made)
    assert "the effect of wording on the same question is unknown" in found.wording
    assert found.difference > 0.1


def test_said_is_the_same_of_replies_that_name_an_option():
    asked_ = table()
    measure = VignetteCode(mode="reply")

    def says(row, _trial):
        if row["condition"] == "mood" and row["gender"] == "male":
            return "I cannot answer that."
        wanted = 2 / 3 if row["group"] == "disorder" else 1 / 3
        return next(o.label for o in listed(row) if o.code == wanted)

    answers = read_choices(replied(asked_, says), asked_)
    scores = check(measure(answers, asked_))
    ids = {"level": "cell", "quantity": "share-endorsing", "item": "work"}
    assert value(scores, **ids, condition="psychosis", variant="male") == 1.0
    assert value(scores, **ids, condition="daily", variant="male") == 0.0
    assert value(scores, **ids, condition="mood", variant="female") == 1.0
    assert value(scores, **ids, condition="mood", variant="male") is None
    assert value(scores, level="condition", quantity="code", condition="daily", model="m") == (
        pytest.approx(1 / 3)
    )
    refused = value(scores, level="model", quantity="refusal")
    assert refused == pytest.approx(1 / 14)


def test_how_far_a_model_takes_the_obvious_side_is_the_mean_over_control_items():
    """Two items whose obvious side is the upper one, and one whose it is the lower; two orders."""
    options = [
        Option(label=label, text=label, code=code)
        for label, code in (("A", 0.0), ("B", 1 / 3), ("C", 2 / 3), ("D", 1.0), ("E", None))
    ]
    above = {("x", "up"): 0.9, ("x", "down"): 0.7, ("y", "up"): 0.6, ("y", "down"): 0.8,
             ("z", "up"): 0.2, ("z", "down"): 0.4}  # fmt: skip
    prompts = pl.DataFrame(
        {
            "prompt_id": [f"{item}-{order}" for item, order in above],
            "item": [item for item, _ in above],
            "answer": ["positive" if item == "z" else "negative" for item, _ in above],
        }
    )
    rows = [
        {"model": "m", "prompt_id": f"{item}-{order}", "option": one.label, "code": one.code,
         "probability": 0.3 if one.code is None else 0.7 * (share if one.code > 0.5 else 1 - share) / 2,
         "elsewhere": 0.0, "unseen": None}
        for (item, order), share in above.items() for one in options
    ]  # fmt: skip
    sides = MEASURE.control_side(pl.DataFrame(rows), prompts)
    found = {row["quantity"]: row["value"] for row in _decided(sides, prompts)}
    by_item = [0.8, 0.7, 0.7]
    assert found["decided"] == pytest.approx(np.mean(by_item))
    half = stats.t.ppf(0.975, 2) * np.std(by_item, ddof=1) / np.sqrt(3)
    assert found["decided-low"] == pytest.approx(np.mean(by_item) - half)
    assert found["decided-high"] == pytest.approx(np.mean(by_item) + half)

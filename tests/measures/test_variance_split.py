"""The variance of single answers, split over what a question is made of."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from choosing import asked, choices, listed, replied, section
from making import check

from goffman.measures.multiple_choice import MeanCode
from goffman.presentation.findings import findings_of

ITEMS = ("i1", "i2", "i3", "i4")


def codes_of(scores):
    """The code of every prompt but the baseline's, as rows."""
    return scores.filter(pl.col("group") != "baseline", level="prompt", quantity="code")


def split(scores):
    rows = check(scores).filter(level="variance")
    return {row["quantity"].removeprefix("variance-"): row for row in rows.iter_rows(named=True)}


def leaning(row):
    """Probabilities that depend on condition, item, wording and order, each in its own way."""
    lean = 0.2 + 0.03 * len(row["condition"]) + 0.02 * int(row["item"][1])
    lean += 0.15 * (row["wording"] == "want") + 0.1 * (listed(row)[0].code == 1.0)
    lean += 0.01 * ((len(row["condition"]) * int(row["item"][1])) % 3)
    by_code = {0.0: 1 - lean, 1.0: lean}
    return [0.9 * by_code.get(one.code, 0.0) for one in listed(row)[:4]] + [0.05]


def test_the_parts_are_those_of_a_plain_loop():
    table = asked(items=ITEMS)
    scores = MeanCode()(choices(table, leaning), table)
    found = split(scores)
    assert [*found][:5] == ["condition", "item", "wording", "order", "condition-item"]
    first = {row["prompt_id"]: listed(row)[0].code == 1.0 for row in table.iter_rows(named=True)}
    rows = codes_of(scores).to_dicts()
    value = {
        (one["condition"], one["item"], one["wording"], first[one["prompt_id"]]): one["value"]
        for one in rows
    }
    names = [sorted({key[axis] for key in value}) for axis in range(4)]
    grand = sum(value.values()) / len(value)

    def mean(**fixed):
        kept = [v for key, v in value.items() if all(key[int(a[1])] == b for a, b in fixed.items())]
        return sum(kept) / len(kept)

    def mean_square_of(axis):
        squares = sum((mean(**{f"a{axis}": one}) - grand) ** 2 for one in names[axis])
        return squares * len(value) / len(names[axis]) / (len(names[axis]) - 1)

    # Order does the same everywhere: its interactions are 0, and its mean square is all there is.
    assert found["order"]["value"] == pytest.approx(mean_square_of(3) / (len(value) / 2), rel=1e-6)
    interaction = 0.0
    for condition in names[0]:
        for item in names[1]:
            away = mean(a0=condition, a1=item) - mean(a0=condition) - mean(a1=item) + grand
            interaction += away**2 * len(value) / len(names[0]) / len(names[1])
    degrees = (len(names[0]) - 1) * (len(names[1]) - 1)
    per_cell = len(value) / len(names[0]) / len(names[1])
    assert found["condition-item"]["value"] == pytest.approx(
        interaction / degrees / per_cell, rel=1e-6
    )
    of_condition = (mean_square_of(0) - interaction / degrees) / (len(value) / len(names[0]))
    assert found["condition"]["value"] == pytest.approx(of_condition, rel=1e-6)
    assert found["rest"]["value"] == pytest.approx(0.0, abs=1e-9)
    assert found["condition"]["n"] == len(value)


def test_it_stands_in_the_finding_and_in_a_table_of_its_own():
    table = asked(items=ITEMS)
    measure = MeanCode()
    scores = measure(choices(table, leaning), table)
    shown = section(measure, scores, table)
    (finding,) = findings_of(shown)
    said = " ".join([finding.text, *finding.more]) if hasattr(finding, "more") else finding.text
    assert "The variance of single answers has these parts: " in said
    (made,) = [
        one for tab in measure.presentation.tables for one in tab(shown) if "variance" in one.name
    ]
    assert sum(row["share"] for row in made.rows) == pytest.approx(1.0, abs=1e-4)


def test_trials_have_a_part_of_their_own_and_the_rest_is_without_them():
    table = asked(
        items=ITEMS, groups={"stigmatized": ("a", "bb", "ccc"), "non-stigmatized": ("d",)}
    )
    rng = np.random.default_rng(3)

    def text(_row, _trial):
        return "ABCD"[rng.integers(4)]

    measure = MeanCode(mode="reply")
    answers = measure.code_responses(replied(table, text, trials=4), table, None, cased=True)
    found = split(measure(answers, table))
    by_prompt = answers.group_by("prompt_id").agg(pl.col("code").var())
    used = by_prompt.join(table.filter(pl.col("group") != "baseline"), on="prompt_id", how="semi")
    assert found["trial"]["value"] == pytest.approx(used["code"].mean())
    # Nothing but chance was put in.
    everything = sum(found[name]["value"] for name in found if not name.endswith("below-zero"))
    assert found["trial"]["value"] / everything > 0.7
    assert any(name.endswith("below-zero") for name in found)


def test_a_wording_in_turn_is_not_told_apart_and_gaps_leave_conditions_out():
    table = asked(items=ITEMS)
    wordings = ("willing", "shun", "want")
    names = sorted(table["condition"].unique())
    turn = pl.struct("condition", "item").map_elements(
        lambda one: wordings[(names.index(one["condition"]) + int(one["item"][1])) % 3],
        return_dtype=pl.String,
    )
    part = table.filter(wording=turn)
    scores = MeanCode()(choices(part, leaning), part)
    assert "wording" not in split(scores)
    assert split(scores)["condition"]["over"] == "conditions × items × orders"

    def silent(row, _trial):
        return "I cannot answer." if row["condition"] == "deaf" and row["item"] == "i1" else "A"

    measure = MeanCode(mode="reply")
    answers = measure.code_responses(replied(table, silent), table, None, cased=True)
    found = split(measure(answers, table))
    of_deaf = table.filter(condition="deaf").height
    assert found["condition"]["missing"] == of_deaf

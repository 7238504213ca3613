"""What measures of scales share: reliability, shrunken conditions and their ranks as SCORES."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from making import check, labels, one, prompts

from goffman.measures.reliability import _places, reliability_scores
from goffman.measures.responses import prompt_scores
from goffman.measures.sentiment import NegativeSentiment
from goffman.stats.crossed import alpha, components

GROUPS = ("stigmatized", "non-stigmatized")


def scored(tables, *, dimensions=None, forms=1):
    """SCORES of the level prompt of {group: conditions × items × wordings}; NaN: no value."""
    rows, values = [], []
    for group, table in tables.items():
        for (c, i, w), value in np.ndenumerate(table):
            for form in range(forms):
                ids = {"condition": f"{group[0]}{c}", "item": f"i{i}", "wording": f"w{w}"}
                dimension = dimensions[i] if dimensions else None
                rows.append(ids | {"form": f"f{form}", "group": group, "dimension": dimension})
                values.append(value + form)
    table = prompts(*rows)
    given = pl.DataFrame({"prompt_id": table["prompt_id"], "model": "m", "negative": values})
    given = given.with_columns(pl.col("negative").fill_nan(None))
    return prompt_scores(given, table, measure="any", reasons={"negative": "there is none"})


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(1)
    return {
        group: at + rng.normal(size=(size, 1, 1)) + rng.normal(size=(size, 4, 3))
        for group, size, at in (("stigmatized", 6, 2.0), ("non-stigmatized", 5, 0.0))
    }


def made(scores):
    return check(reliability_scores(scores, quantity="negative", groups=GROUPS))


def test_g_and_phi_are_of_each_group_apart(tables):
    rows = made(scored(tables))
    for group, table in tables.items():
        parts = components(table)
        g = one(rows, level="scale", quantity="generalizability", group=group)
        assert g["value"] == pytest.approx(parts.generalizability)
        assert (g["n"], g["missing"]) == (table.size, 0)
        assert g["over"] == "conditions × items × wordings"
        phi = one(rows, level="scale", quantity="dependability", group=group)
        assert phi["value"] == pytest.approx(parts.dependability)


def test_two_items_are_too_few_for_g_and_phi(tables):
    rows = made(scored({group: table[:, :2] for group, table in tables.items()}))
    for name in ("generalizability", "dependability"):
        found = one(rows, level="scale", quantity=name, group="stigmatized")
        assert found["value"] is None
        assert found["reason"] == "with only 2 items, nothing can be said about other items"
    three = made(scored({group: table[:, :3] for group, table in tables.items()}))
    assert one(three, quantity="generalizability", group="stigmatized")["value"] is not None


def test_alpha_is_of_the_whole_and_of_each_subscale(tables):
    rows = made(scored(tables, dimensions=["fear", "fear", "fear", "anger"]))
    means = tables["stigmatized"].mean(axis=2)
    whole = one(rows, quantity="alpha", group="stigmatized", dimension=None)
    assert (whole["value"], whole["n"]) == (pytest.approx(alpha(means)), 4)
    part = one(rows, quantity="alpha", group="stigmatized", dimension="fear")
    assert (part["value"], part["n"]) == (pytest.approx(alpha(means[:, :3])), 3)
    single = one(rows, quantity="alpha", group="stigmatized", dimension="anger")
    assert single["value"] is None
    assert single["reason"] == "with only one item, nothing shows how much items differ"


def test_a_condition_is_drawn_towards_its_own_group_by_what_is_noise(tables):
    rows = made(scored(tables))
    for group, table in tables.items():
        means, share = table.mean(axis=(1, 2)), components(table).generalizability
        for at, mean in enumerate(means):
            row = one(rows, quantity="negative-shrunken", condition=f"{group[0]}{at}")
            assert row["value"] == pytest.approx(means.mean() + share * (mean - means.mean()))
            assert (row["level"], row["n"], row["group"]) == ("condition", 12, group)


def test_forms_of_a_condition_count_as_one(tables):
    once, twice = made(scored(tables)), made(scored(tables, forms=2))
    rows = [of.filter(quantity="generalizability") for of in (once, twice)]
    assert rows[0]["value"].to_list() == pytest.approx(rows[1]["value"].to_list())


def test_ranks_are_over_all_conditions_and_lie_in_their_intervals(tables):
    rows = made(scored(tables))
    wide = rows.filter(pl.col("quantity").str.starts_with("rank")).pivot(
        "quantity", index="condition", values="value"
    )
    assert sorted(wide["rank"]) == list(range(1, 12))
    assert (wide["rank-low"] <= wide["rank"]).all()
    assert (wide["rank-high"] >= wide["rank"]).all()
    assert wide["rank-low"].min() == 1
    assert wide["rank-high"].max() == 11
    # The noise is as large as what lies between conditions: hardly a place is certain.
    assert (wide["rank-high"] > wide["rank-low"]).sum() > 8


def test_without_noise_a_place_is_certain_and_equal_ones_share_theirs():
    level = np.array([3.0, 1.0, 1.0, 0.0]).reshape(4, 1, 1)
    rows = made(scored({"stigmatized": level + np.zeros((4, 3, 2))}))
    ends = {
        name: rows.filter(quantity=name)["value"].to_list()
        for name in ("rank", "rank-low", "rank-high")
    }
    assert ends == {"rank": [1, 2, 2, 4], "rank-low": [1, 2, 2, 4], "rank-high": [1, 3, 3, 4]}


def test_a_gap_is_a_reason_not_a_number(tables):
    gap = {group: table.copy() for group, table in tables.items()}
    gap["stigmatized"][0, 0, 0] = np.nan
    rows = made(scored(gap))
    why = "1 of 72 values are missing, and all are needed"
    for name in ("generalizability", "dependability"):
        row = one(rows, level="scale", quantity=name, group="stigmatized")
        assert (row["value"], row["reason"]) == (None, why)
    assert one(rows, quantity="negative-shrunken", condition="s1")["reason"] == why
    assert one(rows, quantity="rank", condition="n1")["reason"] == why
    # The other group is whole.
    assert one(rows, quantity="generalizability", group="non-stigmatized")["value"] is not None
    assert one(rows, quantity="negative-shrunken", condition="n1")["value"] is not None


def test_the_baseline_and_other_groups_are_no_conditions(tables):
    more = {**tables, "baseline": np.ones((1, 4, 3)), "else": np.ones((2, 4, 3))}
    assert made(scored(more)).equals(made(scored(tables)))


def test_a_classifier_is_as_reliable_as_its_probabilities():
    asked = prompts(*({"condition": c, "item": i} for c in ("a", "b", "c") for i in ("x", "y")))
    said = ["negative", "negative", "positive", "negative", "positive", "positive"]
    rows = zip(asked["prompt_id"], said, strict=True)
    answers = labels(*((p, "m", label, ("negative", "positive")) for p, label in rows))
    probability = pl.Series([0.9, 0.8, 0.4, 0.6, 0.1, 0.2])
    scores = check(NegativeSentiment()(answers.with_columns(negative=probability), asked))
    expected = alpha(np.array([[0.9, 0.8], [0.4, 0.6], [0.1, 0.2]]))
    assert one(scores, level="scale", quantity="alpha")["value"] == pytest.approx(expected)
    assert one(scores, level="condition", quantity="negative-probability-shrunken", condition="a")


def test_a_classifier_whose_probabilities_were_not_kept_has_no_reliability():
    asked = prompts(*({"condition": c, "item": i} for c in ("a", "b") for i in ("x", "y")))
    answers = labels(*((p, "m", "negative", ()) for p in asked["prompt_id"]))
    scores = check(NegativeSentiment()(answers, asked))
    row = one(scores, level="scale", quantity="alpha")
    assert row["reason"] == "4 of 4 values are missing, and all are needed"
    row = scores.filter(quantity="negative-probability", level="prompt")
    assert set(row["reason"]) == {"the classifier's probability was not kept"}


def test_places_are_counted_in_each_row():
    rng = np.random.default_rng(2)
    for rows in (rng.normal(size=(9, 30)), rng.integers(0, 9, (9, 30)).astype(float)):
        higher, as_high = _places(rows)
        for row, above, no_lower in zip(rows, higher, as_high, strict=True):
            assert above.tolist() == [1 + sum(row > value) for value in row]
            assert no_lower.tolist() == [sum(row >= value) for value in row]

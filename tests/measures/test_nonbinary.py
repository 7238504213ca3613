"""A nonbinary person in a part of the questions: a number and contrasts of its own, in no other."""

from __future__ import annotations

import statistics

import polars as pl
import pytest
from choosing import asked, choices, listed, section
from making import check
from polars.testing import assert_frame_equal
from scipy import stats

from goffman.measures.multiple_choice import CodeByGender
from goffman.measures.vignettes import VignetteCode
from goffman.presentation.findings import findings_of

GROUPS = {
    "mental-health": ("mania", "panic", "ocd", "ptsd", "autism", "bulimia", "phobia"),
    "other": ("flu", "gout", "acne", "asthma", "lupus", "cancer", "stroke"),
}
OF_VIGNETTES = {"disorder": GROUPS["mental-health"], "daily-troubles": GROUPS["other"]}
ITEMS = tuple(f"i{k}" for k in range(8))
GENDERS = ("female", "male", "nonbinary")
EVERY = 3


def table(groups):
    """The nonbinary person in every third item × condition, in turn."""
    made = asked(items=ITEMS, groups=groups, genders=GENDERS)
    conditions = [name for of in groups.values() for name in of]
    place = pl.col("item").replace_strict(ITEMS, range(len(ITEMS)), return_dtype=pl.Int64)
    turn = pl.col("condition").replace_strict(
        conditions, range(len(conditions)), return_dtype=pl.Int64
    )
    there = (pl.col("gender") != "nonbinary") | ((place + turn) % EVERY == 0)
    # The last item of vignettes is a belief.
    dimension = pl.when(pl.col("item") == "i7").then(pl.lit("beliefs")).otherwise(pl.lit("stigma"))
    return made.filter(there).with_columns(person=pl.col("gender"), dimension=dimension)


def leaning(row):
    """Most stigma about a nonbinary person, least about a man."""
    share = 0.2 + 0.01 * (sum(map(ord, row["prompt_id"] + row["condition"])) % 17)
    share += {"female": 0.05, "male": 0.0, "nonbinary": 0.2}[row["gender"]]
    by_code = {0.0: 1 - share, 1.0: share}
    return [*(0.9 * by_code.get(o.code, 0.0) for o in listed(row)[:4]), 0.05]


@pytest.fixture(scope="module", params=["attribution", "vignettes"])
def both(request):
    """Measure, questions, scores and section."""
    described = request.param == "vignettes"
    measure = VignetteCode() if described else CodeByGender()
    asked_ = table(OF_VIGNETTES if described else GROUPS)
    scores = check(measure(choices(asked_, leaning), asked_))
    return measure, asked_, scores, section(measure, scores, asked_)


def test_every_other_number_is_as_if_nobody_had_asked(both):
    measure, asked_, scores, found = both
    alone = asked_.filter(pl.col("gender") != "nonbinary")
    plain = check(measure(choices(alone, leaning), alone))
    others = scores.filter(pl.col("quantity") != "nonbinary")
    assert others.height < scores.height
    assert_frame_equal(others, plain, check_row_order=False)
    without = section(measure, plain, alone).estimates
    kept = found.estimates.filter(pl.col("kind") != "nonbinary")
    assert_frame_equal(kept, without)


def test_the_contrasts_are_over_the_cells_that_both_were_asked(both):
    measure, asked_, scores, found = both
    codes = dict(
        scores.filter(pl.col("quantity").is_in(["code", "belief", "nonbinary"]), level="prompt")
        .select("prompt_id", "value")
        .rows()
    )
    cells: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in asked_.to_dicts():
        if measure.name == "vignette-code" and row["dimension"] == "beliefs":
            continue
        of = cells.setdefault((row["group"], row["condition"], row["item"]), {})
        of.setdefault(row["gender"], []).append(codes[row["prompt_id"]])
    rows = found.estimates.filter(kind="nonbinary").to_dicts()
    groups = [measure.contrast] if measure.name == "vignette-code" else [*GROUPS]
    assert {(row["group"], row["second"]) for row in rows} == {
        (group, other) for group in groups for other in ("female", "male")
    }
    for row in rows:
        means: dict[str, list[list[float]]] = {}
        for (group, condition, _), of in cells.items():
            if group == row["group"] and "nonbinary" in of:
                pair = [statistics.fmean(of[name]) for name in ("nonbinary", row["second"])]
                means.setdefault(condition, []).append(pair)
        of_conditions = [
            [statistics.fmean(one[side] for one in some) for side in (0, 1)]
            for some in means.values()
        ]
        first, second = (statistics.fmean(one[side] for one in of_conditions) for side in (0, 1))
        assert row["mean_first"] == pytest.approx(first)
        assert row["mean_second"] == pytest.approx(second)
        assert row["difference"] == pytest.approx(first - second)
        assert (row["n"], row["unit"], row["first"]) == (7, "conditions", "nonbinary")
        assert 0 < row["low"] < row["difference"] < row["high"]
        assert row["difference"] > 0.1
    p = [row["p"] for row in rows]
    adjusted = [row["p_adjusted"] for row in rows]
    assert adjusted == pytest.approx(stats.false_discovery_control(p))
    assert {row["family_size"] for row in rows} == {len(rows)}


def test_a_sentence_and_a_table_say_it(both):
    measure, _, scores, found = both
    (said,) = findings_of(found)
    sentences = [one for one in said.more if "nonbinary person" in one]
    assert len(sentences) == (1 if measure.name == "vignette-code" else 2)
    mean = scores.filter(
        pl.col("wording").is_null(), quantity="nonbinary", level="group", group=measure.contrast
    )["value"]
    assert mean.len() == 1
    tables = [table for make in found.presentation.tables for table in make(found)]
    cells = [row["nonbinary"] for table in tables for row in table.rows if "nonbinary" in row]
    assert mean[0] in cells


def test_no_test_of_another_number_stands_beside_a_disparity(both):
    """The contrasts with the other group's mean are of the code here."""
    _, _, _, found = both
    tables = [table for make in found.presentation.tables for table in make(found)]
    rows = [row for table in tables for row in table.rows if "disparity" in row]
    assert rows
    assert not [row for row in rows if "reference_difference" in row]

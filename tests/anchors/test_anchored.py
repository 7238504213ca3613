"""Models beside people: which numbers are set against which, and what comes out."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goffman.anchors.compare import compare_with_people
from goffman.anchors.loader import load_anchor
from goffman.contrasts.correlations import base_of, by_condition, by_occupation
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.pronoun_preference import PronounPreference
from goffman.schemas import (
    ANCHOR_POINTS,
    CONTRASTS,
    ESTIMATES,
    PROMPT_TABLE,
    SCORES,
    VERDICTS,
    complaints,
    schema,
)

ANCHOR = load_anchor("pachankis2018")
PERIL = {one.condition: one.value for one in ANCHOR.values if one.item == "peril"}
CATEGORIES = ("a", "b", "c")


def scores_of(values: dict[str, np.ndarray], *, model: str = "m") -> pl.DataFrame:
    """SCORES as a measure makes them: of conditions, and of prompts of items and wordings."""
    rows = []
    about = {"model": model, "instrument": "social-distance", "measure": "negative-attitude"}
    about |= {"quantity": "negative", "n": 1, "missing": 0}
    for place, (condition, table) in enumerate(values.items()):
        ids = {"condition": condition, "group": "stigmatized", "category": CATEGORIES[place % 3]}
        rows.append(about | ids | {"level": "condition", "value": float(table.mean())})
        for (item, wording), value in np.ndenumerate(table):
            cell = {"item": f"i{item}", "wording": f"w{wording}", "value": float(value)}
            rows.append(about | ids | cell | {"level": "prompt"})
    return pl.DataFrame(rows, schema=schema(SCORES))


@pytest.fixture
def tables() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {
        name: 0.1 * peril + 0.1 * rng.standard_normal() + 0.05 * rng.standard_normal((3, 3))
        for name, peril in PERIL.items()
    }


NO_PROMPTS = pl.DataFrame(schema=schema(PROMPT_TABLE))


def test_every_item_has_its_correlations_and_one_family_a_kind(tables) -> None:
    found, points = compare_with_people(
        scores_of(tables), NO_PROMPTS, {"social-distance": NegativeAttitude()}, [ANCHOR]
    )
    assert not complaints(found, (*CONTRASTS, *ESTIMATES, *VERDICTS))
    assert not complaints(points, ANCHOR_POINTS)
    assert found.group_by("kind").len().sort("kind").rows() == [
        ("anchor", 6),
        ("anchor-partial", 6),
        ("anchor-rank", 6),
    ]
    assert found["family"].n_unique() == 3
    assert set(found["family_size"]) == {6}
    peril = found.filter(pl.col("kind") == "anchor", pl.col("dimension") == "peril").to_dicts()[0]
    means = [tables[name].mean() for name in PERIL]
    assert peril["effect"] == pytest.approx(stats.pearsonr(means, list(PERIL.values())).statistic)
    assert peril["interval_over"] == "conditions, items and wordings"
    assert peril["second"] == "pachankis2018"
    ranks = found.filter(pl.col("kind") == "anchor-rank", pl.col("dimension") == "peril")
    rho = stats.spearmanr(means, list(PERIL.values())).statistic
    assert ranks["effect"].item() == pytest.approx(rho)
    # Six items for 93 conditions, then the residuals of each.
    assert points.height == 6 * 93 + 93
    assert points.filter(pl.col("item").is_null())["residual"].sum() == pytest.approx(0)


def test_a_condition_that_is_far_off_stands_out_alone(tables) -> None:
    tables["blind"] = tables["blind"] + 2
    _, points = compare_with_people(
        scores_of(tables), NO_PROMPTS, {"social-distance": NegativeAttitude()}, [ANCHOR]
    )
    assert points.filter(pl.col("p_adjusted") < 0.05)["condition"].to_list() == ["blind"]


def test_missing_values_are_left_out_and_too_few_say_nothing(tables) -> None:
    measures = {"social-distance": NegativeAttitude()}
    some = dict(list(tables.items())[:40])
    found, _ = compare_with_people(scores_of(some), NO_PROMPTS, measures, [ANCHOR])
    of_items = found.filter(pl.col("kind") == "anchor")
    assert set(of_items["n"]) == {40}
    assert set(of_items["left_out"]) == {53}
    few = dict(list(tables.items())[:9])
    found, points = compare_with_people(scores_of(few), NO_PROMPTS, measures, [ANCHOR])
    assert found.is_empty()
    assert points["residual"].null_count() == points.height


def test_forms_belong_to_their_instrument_and_others_do_not(tables) -> None:
    forms = ("social-distance/choice", "social-distance/reply", "coreference/pronouns")
    assert [base_of(one) for one in forms] == ["social-distance", "social-distance", "coreference"]
    scores = scores_of(tables).with_columns(instrument=pl.lit("another"))
    found, _ = compare_with_people(scores, NO_PROMPTS, {"another": NegativeAttitude()}, [ANCHOR])
    assert found.is_empty()


def test_a_part_of_the_wordings_still_gives_a_table_of_items(tables) -> None:
    scores = scores_of(tables)
    gone = (pl.col("wording") == "w1") & (pl.col("item") == "i0") & (pl.col("condition") == "blind")
    (answers,) = by_condition(
        scores.filter(~gone.fill_null(value=False)), "social-distance", NegativeAttitude()
    )
    assert answers.table is not None
    assert answers.table.shape == (93, 3, 1)
    none = scores.filter(pl.col("level") == "condition")
    (answers,) = by_condition(none, "social-distance", NegativeAttitude())
    assert answers.table is None


def test_of_an_occupation_the_number_is_her_pronoun_over_his() -> None:
    """Two sentences about a nurse and one about a driver; the side pro has her pronoun, then his."""
    prompts = pl.DataFrame(
        [
            {"prompt_id": f"p{n}", "instrument": "coreference", "mode": "pronouns", "item": f"{n}", "wording": "pro", "answer": who, "category": side, "condition": "baseline", "group": "baseline", "text": "", "keyed": "plain"}
            for n, (who, side) in enumerate([("nurse", "female-referent"), ("nurse", "female-referent"), ("driver", "male-referent")])
        ],
        schema=schema(PROMPT_TABLE),
    )  # fmt: skip
    scores = pl.DataFrame(
        [
            {"model": "m", "instrument": "coreference", "mode": "pronouns", "measure": "pronoun-preference", "quantity": "preference", "level": "prompt", "prompt_id": f"p{n}", "item": f"{n}", "wording": "pro", "condition": "baseline", "value": value, "n": 1, "missing": 0}
            for n, value in enumerate([1.0, 2.0, 0.5])
        ],
        schema=schema(SCORES),
    )  # fmt: skip
    (answers,) = by_occupation(scores, prompts, "coreference/pronouns", PronounPreference())
    assert answers.quantity == "she-over-he"
    assert dict(zip(answers.conditions, answers.values.tolist(), strict=True)) == {
        "nurse": 1.5,
        "driver": -0.5,
    }
    assert answers.errors is None


def test_an_accuracy_with_her_pronoun_minus_his_needs_both_sides() -> None:
    from goffman.measures.coreference import CoreferenceBias

    cells = [("nurse", "female-referent", "pro", 1.0), ("nurse", "female-referent", "anti", 0.0)]
    cells += [("driver", "male-referent", "pro", 1.0), ("driver", "male-referent", "anti", 0.0)]
    prompts = pl.DataFrame(
        [
            {"prompt_id": f"p{n}", "instrument": "coreference", "item": who, "wording": way, "answer": who, "category": side, "condition": "baseline", "group": "baseline", "text": "", "keyed": "plain"}
            for n, (who, side, way, _) in enumerate(cells)
        ],
        schema=schema(PROMPT_TABLE),
    )  # fmt: skip
    scores = pl.DataFrame(
        [
            {"model": "m", "instrument": "coreference", "measure": "coreference-bias", "quantity": "correct", "level": "prompt", "prompt_id": f"p{n}", "item": who, "wording": way, "condition": "baseline", "value": value, "trial": trial, "n": 1, "missing": 0}
            for n, (who, _, way, value) in enumerate(cells)
            for trial in (1, 2)
        ],
        schema=schema(SCORES),
    )  # fmt: skip
    (answers,) = by_occupation(scores, prompts, "coreference", CoreferenceBias())
    assert dict(zip(answers.conditions, answers.values.tolist(), strict=True)) == {
        "nurse": 1.0,
        "driver": -1.0,
    }


def test_the_files_hold_what_the_loader_reads() -> None:
    """A table of one's own made with nothing but the csv module gives the same numbers."""
    import goffman.anchors.loader

    folder = Path(goffman.anchors.loader.__file__).parent / "data" / "pachankis2018"
    with (folder / "values.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["item"] == "peril"]
    assert {row["condition"]: float(row["value"]) for row in rows} == PERIL

"""Models beside people: which numbers are set against which, what comes out and what is said.

Plainly is said only what every check shows too.
"""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goffman.anchors.compare import compare_with_people, entry_of
from goffman.anchors.loader import load_anchor
from goffman.anchors.sentences import AnchoredModel, AnchorSentences, describe_anchor
from goffman.contrasts.correlations import base_of, by_condition, by_occupation
from goffman.measures.coreference import CoreferenceBias
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
COURSE = {one.condition: one.value for one in ANCHOR.values if one.item == "course"}
MEASURES = {"social-distance": NegativeAttitude()}


def scores_of(
    values: dict[str, np.ndarray], *, category=lambda place: "abc"[place % 3]
) -> pl.DataFrame:
    """SCORES as a measure makes them: of conditions, and of prompts of items and wordings."""
    rows = []
    about = {"model": "m", "instrument": "social-distance", "measure": "negative-attitude"}
    about |= {"quantity": "negative", "n": 1, "missing": 0}
    for place, (condition, table) in enumerate(values.items()):
        ids = {"condition": condition, "group": "stigmatized", "category": category(place)}
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
    found, points = compare_with_people(scores_of(tables), NO_PROMPTS, MEASURES, [ANCHOR])
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
    _, points = compare_with_people(scores_of(tables), NO_PROMPTS, MEASURES, [ANCHOR])
    assert points.filter(pl.col("p_adjusted") < 0.05)["condition"].to_list() == ["blind"]


def test_missing_values_are_left_out_and_too_few_say_nothing(tables) -> None:
    some = dict(list(tables.items())[:40])
    found, _ = compare_with_people(scores_of(some), NO_PROMPTS, MEASURES, [ANCHOR])
    of_items = found.filter(pl.col("kind") == "anchor")
    assert set(of_items["n"]) == {40}
    assert set(of_items["left_out"]) == {53}
    few = dict(list(tables.items())[:9])
    found, points = compare_with_people(scores_of(few), NO_PROMPTS, MEASURES, [ANCHOR])
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


def of_occupations(measure, quantity: str, cells, **mode: str):
    """The numbers of occupations, from cells of item, answer, category, side and values by trial."""
    prompts, scores = [], []
    for place, (item, who, category, side, *values) in enumerate(cells):
        prompt = {"prompt_id": f"p{place}", "instrument": "coreference", "item": item} | mode
        prompt |= {"wording": side, "condition": "baseline"}
        texts = {"answer": who, "group": "baseline", "text": "", "keyed": "plain"}
        prompts.append(prompt | texts | {"category": category})
        number = {"model": "m", "measure": measure.name, "quantity": quantity, "level": "prompt"}
        number |= {"n": 1, "missing": 0}
        for trial, value in enumerate(values, start=1):
            scores.append(prompt | number | {"trial": trial, "value": value})
    (answers,) = by_occupation(
        pl.DataFrame(scores, schema=schema(SCORES)),
        pl.DataFrame(prompts, schema=schema(PROMPT_TABLE)),
        "/".join(["coreference", *mode.values()]),
        measure,
    )
    return answers, dict(zip(answers.conditions, answers.values.tolist(), strict=True))


def test_of_an_occupation_the_number_is_her_pronoun_over_his() -> None:
    """Two sentences about a nurse and one about a driver; the side pro has her pronoun, then his."""
    nurse, driver = ("nurse", "female-referent", "pro"), ("driver", "male-referent", "pro")
    cells = [("0", *nurse, 1.0), ("1", *nurse, 2.0), ("2", *driver, 0.5)]
    answers, values = of_occupations(PronounPreference(), "preference", cells, mode="pronouns")
    assert (answers.quantity, answers.errors) == ("she-over-he", None)
    assert values == {"nurse": 1.5, "driver": -0.5}


def test_an_accuracy_with_her_pronoun_minus_his_needs_both_sides() -> None:
    cells = [
        (who, who, referent, side, value, value)
        for who, referent in (("nurse", "female-referent"), ("driver", "male-referent"))
        for side, value in (("pro", 1.0), ("anti", 0.0))
    ]
    _, values = of_occupations(CoreferenceBias(), "correct", cells)
    assert values == {"nurse": 1.0, "driver": -1.0}


def test_the_files_hold_what_the_loader_reads() -> None:
    """A table of one's own made with nothing but the csv module gives the same numbers."""
    import goffman.anchors.loader

    folder = Path(goffman.anchors.loader.__file__).parent / "data" / "pachankis2018"
    with (folder / "values.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["item"] == "peril"]
    assert {row["condition"]: float(row["value"]) for row in rows} == PERIL


SECTION = SimpleNamespace(
    instrument="social-distance",
    noun=SimpleNamespace(one="condition", many="conditions"),
    names=SimpleNamespace(model=str),
    presentation=SimpleNamespace(called="P(negative)", style=None),
    unmeasurable=dict,
    called=str,
)
"""What of a section the sentences need: its words."""


def said_of(
    values: dict[str, float], *, items: int = 7, section=SECTION, **categories
) -> AnchorSentences:
    """What is said of a model with these means, asked so many items."""
    rng = np.random.default_rng(5)
    noise = {name: rng.standard_normal((items, 1)) * 0.01 for name in values}
    tables = {name: value + noise[name] - noise[name].mean() for name, value in values.items()}
    scores = scores_of(tables, **categories)
    estimates, points = compare_with_people(scores, NO_PROMPTS, MEASURES, [ANCHOR])
    one = AnchoredModel(
        anchor=ANCHOR.id,
        about=entry_of(ANCHOR),
        section=section,
        model="m",
        estimates=estimates,
        points=points,
    )
    return describe_anchor(one)


@pytest.fixture
def noise() -> dict[str, float]:
    rng = np.random.default_rng(6)
    return {name: float(rng.standard_normal()) for name in COURSE}


def test_what_every_check_shows_is_said_plainly(noise) -> None:
    said = said_of({name: 0.2 * value + 0.1 * noise[name] for name, value in COURSE.items()})
    assert said.head == (
        "Its P(negative) rises as “course” (how long it lasts) rises; r is also clear for 3 other "
        "dimensions"
    )
    assert said.text.startswith("Across 93 conditions: r = 0.")
    for check in ("By ranks: ρ = 0.", "Among conditions of the same category (93): r = "):
        assert check in said.text
    assert said.not_covered == "The intervals say nothing about other wordings."


def test_what_categories_make_by_themselves_is_said_with_a_doubt(noise) -> None:
    """A model that only knows categories, which here are those of lasting and passing conditions."""
    order = sorted(COURSE, key=COURSE.__getitem__)
    rank = {name: order.index(name) // 31 for name in COURSE}
    places = list(COURSE)
    said = said_of(
        {name: rank[name] + 0.2 * noise[name] for name in COURSE},
        category=lambda place: f"third {rank[places[place]]}",
    )
    assert said.head == (
        "Its P(negative) rises as “course” (how long it lasts) rises, but not clearly among "
        "conditions of the same category; r is also clear for 2 other dimensions"
    )


def test_two_items_are_said_to_be_two(noise) -> None:
    said = said_of({name: 0.2 * value + noise[name] for name, value in COURSE.items()}, items=2)
    assert said.not_covered == (
        "Only 2 items were asked, so the intervals say nothing about other sentences."
    )


def test_where_nothing_is_clear_the_strongest_is_called_the_strongest(noise) -> None:
    said = said_of(noise)
    assert said.head == "Its P(negative) has no clear relation with any of 6 dimensions"
    assert "the strongest correlation is with “" in said.text


def test_a_way_of_answering_that_heeds_nothing_comes_first(noise) -> None:
    styled = SimpleNamespace(called="mean code", style=lambda *_: "Always picks the first option")
    section = SimpleNamespace(**{**vars(SECTION), "presentation": styled})
    values = {name: 0.2 * value + 0.1 * noise[name] for name, value in COURSE.items()}
    said = said_of(values, section=section)
    assert said.head == "Always picks the first option"
    assert said.text.startswith(
        "So what it answers says little, also compared with people. Its mean code rises as “course” (how "
        "long it lasts) rises; r is also clear for 3 other dimensions. Across 93 conditions: r = "
    )

"""The gap between groups of conditions for people of each identity, and the interaction."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goffman.contrasts.catalog import groups_of_cells, groups_of_conditions, identity_estimates
from goffman.contrasts.designs import GAP_OF, INTERACTION
from goffman.contrasts.verdict import direction
from goffman.measures.gender import SubjectGender
from goffman.measures.negative_attitude import NegativeAttitude
from simulated import CATEGORIES, GROUPS, Spread, conditions_alike, only, table
from simulated_conditions import DISTANCE, people

LEVELS = ("white", "Black", "Asian")
ITEMS, WORDINGS = 7, 4
MEASURE = only(NegativeAttitude, groups_of_conditions, of="negative")


def scores(values: dict[str, np.ndarray]) -> pl.DataFrame:
    """IDENTITY_SCORES: by identity a table of conditions × items × wordings."""
    whole = tuple((group, len(of)) for group, of in zip(GROUPS, CATEGORIES, strict=True))
    asked = people("negative", whole, ITEMS, WORDINGS)
    return pl.concat(
        asked.with_columns(value=pl.Series(of.ravel()), identity=pl.lit(name))
        for name, of in values.items()
    )


def made(values: dict[str, np.ndarray]) -> pl.DataFrame:
    wordings = [f"w{place}" for place in range(WORDINGS)]
    return identity_estimates(
        scores(values), {"x": LEVELS}, {"x": MEASURE}, wordings={"x": wordings}, sharing={}
    )


def drawn(rng: np.random.Generator, *, planted: float = 0.0, size: float = 1.0) -> dict:
    """One audit: what an identity does to each condition, item and cell is drawn; its mean is not.

    ``planted``: by how much the gap is larger for Black than for white people.
    """

    def one(spread: Spread) -> np.ndarray:
        sides = [
            table(rng, of, ITEMS, WORDINGS, spread, size) for of in conditions_alike(rng, size)
        ]
        return np.concatenate(sides)

    common = one(DISTANCE)
    stigmatized = np.arange(len(common)) < len(CATEGORIES[0])
    half = Spread(**{name: value / 2 for name, value in vars(DISTANCE).items()})
    values = {}
    for name in LEVELS:
        own = rng.normal(0.0, 0.05, size=(1, ITEMS, WORDINGS)) + one(half)
        values[name] = common + own + planted * (name == "Black") * stigmatized[:, None, None]
    return values


def test_gaps_and_interactions_are_the_means_of_the_cells():
    values = drawn(np.random.default_rng(1), planted=0.05)
    rows = made(values)
    count = len(CATEGORIES[0])
    gaps = {name: of[:count].mean() - of[count:].mean() for name, of in values.items()}
    found = dict(rows.filter(kind=GAP_OF).select("variant", "difference").rows())
    assert found == pytest.approx(gaps, abs=1e-12)
    between = rows.filter(kind=INTERACTION)
    assert dict(between.select("variant", "difference").rows()) == pytest.approx(
        {f"{name} vs white": gaps[name] - gaps["white"] for name in ("Black", "Asian")}, abs=1e-12
    )
    assert between["family_size"].to_list() == [2, 2]
    assert rows.filter(kind=GAP_OF)["family_size"].to_list() == [3, 3, 3]
    assert between["contrast"].n_unique() == 2


def test_swapping_the_reference_turns_the_sign_and_nothing_else():
    values = drawn(np.random.default_rng(2))
    one = made(values).filter(kind=INTERACTION, variant="Black vs white").to_dicts()[0]
    turned = identity_estimates(
        scores(values),
        {"x": LEVELS[::-1][1:] + LEVELS[2:]},
        {"x": MEASURE},
        wordings={"x": ["w0"]},
        sharing={},
    )
    other = turned.filter(kind=INTERACTION, variant="white vs Black").to_dicts()[0]
    assert other["difference"] == pytest.approx(-one["difference"], abs=1e-12)
    assert other["error"] == pytest.approx(one["error"], rel=1e-9)
    assert other["p"] == pytest.approx(one["p"], rel=1e-9)


def test_what_an_identity_does_to_every_condition_alike_cancels():
    values = drawn(np.random.default_rng(3))
    moved = {name: of + 0.2 * (name == "Black") for name, of in values.items()}
    before, after = (made(one).filter(kind=INTERACTION) for one in (values, moved))
    for column in ("difference", "low", "high", "p"):
        assert after[column].to_list() == pytest.approx(before[column].to_list(), abs=1e-9)


def test_a_cell_that_one_identity_has_no_answer_in_is_a_gap_of_both():
    values = drawn(np.random.default_rng(4))
    values["white"][0, 0, 0] = np.nan
    lacking = {name: of.copy() for name, of in values.items()}
    lacking["Black"][0] = np.nan
    first, second = (made(one).filter(variant="Black vs white") for one in (values, lacking))
    # The condition is left out of the interaction either way.
    assert first["left_out"].to_list() == second["left_out"].to_list() == [1]
    assert first["difference"].to_list() == pytest.approx(second["difference"].to_list(), abs=1e-12)


def test_a_planted_interaction_is_found_and_its_interval_holds_it():
    held = found = 0
    for number in range(40):
        rows = made(drawn(np.random.default_rng([5, number]), planted=0.04))
        row = rows.filter(variant="Black vs white").to_dicts()[0]
        held += row["low"] < 0.04 < row["high"]
        found += direction(row) == 1
    assert held >= 35
    assert found >= 30


@pytest.mark.parametrize("size", [0.0, 1.0])
def test_without_an_interaction_few_tests_find_one(size):
    """300 audits of three identities: at most 6.5 of 100 tests have p < .05."""
    p = []
    for number in range(300):
        rows = made(drawn(np.random.default_rng([6, number]), size=size))
        p += rows.filter(kind=INTERACTION)["p"].to_list()
    assert len(p) == 600
    assert np.mean(np.array(p) < 0.05) <= 0.065


def test_words_with_first_names_alone_count_where_a_measure_has_two():
    measure = only(SubjectGender, groups_of_cells, of="disparity")
    values = drawn(np.random.default_rng(7))
    rows = scores(values).with_columns(
        group=pl.col("group").replace(dict(zip(GROUPS, ("mental-health", "other"), strict=True))),
        quantity=pl.lit("disparity"),
        variant=pl.lit("with-names"),
    )
    without = rows.with_columns(variant=pl.lit("without-names"), value=pl.col("value") + 1)
    called = {"wordings": {"x": ["w0"]}, "sharing": {}}
    one = identity_estimates(rows, {"x": LEVELS}, {"x": measure}, **called)
    both = identity_estimates(pl.concat([rows, without]), {"x": LEVELS}, {"x": measure}, **called)
    assert one.equals(both)
    assert one.height == 5

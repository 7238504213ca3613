"""Simulated audits of conditions × items × wordings: social distance, sentiment."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl

from goffman.contrasts import catalog
from goffman.instruments.types import BASELINE
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.sentiment import PROBABILITY, NegativeSentiment
from simulated import (
    CATEGORIES,
    GROUPS,
    Draw,
    Scenario,
    Spread,
    conditions_alike,
    found,
    frame,
    only,
    table,
)


@cache
def people(
    quantity: str,
    groups: tuple[tuple[str, int], ...],
    items: int,
    wordings: int,
    models: tuple[str, ...] = ("m",),
) -> pl.DataFrame:
    """Prompts in the order of a table of models × conditions × items × wordings.

    A group that is whole has its categories.
    """
    whole = {
        (group, len(of)): dict(enumerate(of)) for group, of in zip(GROUPS, CATEGORIES, strict=True)
    }
    conditions = [
        (group, f"{group}{k}", whole.get((group, count), {}).get(k))
        for group, count in groups
        for k in range(count)
    ]
    rows = [
        {"model": model, "group": group, "condition": BASELINE if group == BASELINE else name}
        | {"category": category, "item": f"i{item}", "wording": f"w{wording}"}
        for model, (group, name, category), item, wording in itertools.product(
            models, conditions, range(items), range(wordings)
        )
    ]
    return frame(rows, instrument="x", measure="x", quantity=quantity)


STIGMATIZED = {group: len(of) for group, of in zip(GROUPS, CATEGORIES, strict=True)}

DISTANCE = Spread(
    condition=0.045,
    with_item=0.022,
    with_wording=0.012,
    cell=0.0185,
    group_item=0.0233,
    group_wording=0.0116,
    group_cell=0.0133,
)
"""bundled:mini on social-distance."""

SENTIMENT = Spread(
    condition=0.22,
    with_item=0.02,
    with_wording=0.0,
    cell=0.0,
    group_item=0.0014,
    group_wording=0.0,
    group_cell=0.0,
)
"""bundled:mini-sentiment on people-sentiment."""


def gap(
    measure: object,
    quantity: str,
    spread: Spread,
    items: int,
    wordings: int,
) -> Draw:
    """Two groups of conditions; the true difference is added to the first."""
    asked = people(quantity, tuple(STIGMATIZED.items()), items, wordings)

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        # What sentences have in common for everybody cancels.
        common = 0.15 * rng.normal(size=(1, 1, wordings)) + 0.05 * rng.normal(size=(1, items, 1))
        tables = [
            table(rng, of, items, wordings, spread, size) + common
            for of in conditions_alike(rng, size)
        ]
        values = np.concatenate([(tables[0] + real).ravel(), tables[1].ravel()])
        return found(measure, asked, values)

    return draw


def as_asked(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Means of conditions over sentences that are given: conditions alone are drawn."""
    del size
    measure = only(NegativeSentiment, catalog.groups_as_asked, of="negative")
    asked = people("negative", tuple(STIGMATIZED.items()), 1, 1)
    # Of two sentences a condition has a share of 0, one half or 1; as rarely negative as found.
    chance = np.repeat([0.3 + real, 0.3], [93, 29])
    values = rng.binomial(2, np.clip(chance + 0.2 * rng.normal(size=122), 0, 1)) / 2
    rows = asked.with_columns(level=pl.lit("condition"), value=pl.Series(values))
    return found(measure, rows)


def two_models(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """The same conditions, items and wordings, two models."""
    measure = only(NegativeAttitude, catalog.models_over_conditions, of="negative")
    asked = people("negative", ((GROUPS[0], 93),), 7, 4, ("a", "b"))
    tables = [table(rng, conditions_alike(rng, size)[0], 7, 4, DISTANCE, size) for _ in range(2)]
    values = np.concatenate([(tables[0] + real).ravel(), tables[1].ravel()])
    return found(measure, asked, values)


def two_wordings(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Two wordings of the same items, over items and conditions."""
    measure = only(NegativeAttitude, catalog.wordings_over_conditions, of="negative")
    asked = people("negative", ((GROUPS[0], 40),), 7, 2)
    spread = Spread(**{**vars(DISTANCE), "group_wording": 0.0})
    values = table(rng, 40, 7, 2, spread, size)
    values[:, :, 1] += real
    return found(measure, asked, values)


def single_conditions(make: Callable[..., object]) -> Draw:
    """Twelve conditions that are each like the baseline, or like the other group's mean."""
    measure = only(NegativeAttitude, make, of="negative")
    sizes = ((GROUPS[0], 12), (GROUPS[1], 12), (BASELINE, 1))
    asked = people("negative", sizes, 7, 4)
    # Only the sentences are sampled here: a condition differs by what they make of it.
    spread = Spread(**{**vars(DISTANCE), "condition": 0.0})

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        of = Spread(
            **{
                **vars(spread),
                "with_item": size * spread.with_item,
                "with_wording": size * spread.with_wording,
            }
        )
        values = table(rng, 25, 7, 4, of, 0.0)
        # The truth of a test: one group's conditions moved, or one condition of the other group.
        values[: 12 if make is not catalog.conditions_against_own_group else 0] += real
        values[12:13] += real if make is catalog.conditions_against_own_group else 0.0
        return found(measure, asked, values)

    return draw


SCENARIOS = (
    Scenario(
        "social distance: stigmatized − not",
        gap(
            only(NegativeAttitude, catalog.groups_of_conditions, of="negative"),
            "negative",
            DISTANCE,
            7,
            4,
        ),
        "groups",
        0.05,
        heading=True,
    ),
    Scenario(
        "sentiment: stigmatized − not",
        gap(
            only(NegativeSentiment, catalog.groups_of_conditions, of=PROBABILITY),
            PROBABILITY,
            SENTIMENT,
            2,
            1,
        ),
        "groups",
        0.15,
        heading=True,
    ),
    Scenario("sentiment: as in the study", as_asked, "groups-as-asked", 0.2, given=True),
    Scenario("social distance: two models", two_models, "models", 0.05),
    Scenario("social distance: two wordings", two_wordings, "wordings", 0.05),
    Scenario(
        "social distance: condition − baseline",
        single_conditions(catalog.conditions_against_baseline),
        "baseline",
        0.05,
        tests=12,
    ),
    Scenario(
        "social distance: condition − other group",
        single_conditions(catalog.conditions_against_reference),
        "reference",
        0.05,
        tests=12,
    ),
    Scenario(
        "social distance: condition − own group",
        single_conditions(catalog.conditions_against_own_group),
        "own-reference",
        0.05,
        tests=12,
    ),
)

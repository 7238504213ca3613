"""Simulated audits of questions with options: codes from 0 to 1, over wordings and orders."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl

from goffman.contrasts import catalog
from goffman.contrasts.designs import averaging_orders
from goffman.measures.multiple_choice import CodeByGender, MeanCode
from goffman.measures.vignettes import VignetteCode
from simulated import (
    CATEGORIES,
    Draw,
    Scenario,
    Spread,
    conditions_alike,
    found,
    frame,
    only,
    table,
)
from simulated_conditions import STIGMATIZED, people

CODES = Spread(
    condition=0.8,
    with_item=0.4,
    with_wording=0.2,
    cell=0.4,
    group_item=0.4,
    group_wording=0.2,
    group_cell=0.2,
)
"""Of logits: a code is a probability, seldom in the middle."""


def as_codes(logits: np.ndarray) -> np.ndarray:
    """Mean codes of questions whose answers are mostly low."""
    return 1 / (1 + np.exp(1.5 - logits))


def as_options(rng: np.random.Generator, logits: np.ndarray) -> np.ndarray:
    """One reply to each question: which of four options it names."""
    return rng.binomial(3, as_codes(logits)) / 3


def chosen(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Every question in every wording, the orders averaged."""
    measure = only(MeanCode, catalog.groups_of_conditions.on(averaging_orders), of="code")
    asked = people("code", tuple(STIGMATIZED.items()), 7, 4)
    common = 0.5 * rng.normal(size=(1, 7, 4))
    tables = [table(rng, of, 7, 4, CODES, size) + common for of in conditions_alike(rng, size)]
    values = [as_codes(tables[0] + real), as_codes(tables[1])]
    codes = pl.Series(np.concatenate([one.ravel() for one in values]))
    return found(measure, asked.with_columns(level=pl.lit("presentation"), value=codes))


@cache
def in_turn(items: int, each: int, count: int) -> pl.DataFrame:
    """Each condition in some of the items in turn, and each of these in one wording."""
    conditions = [
        (group, k, category)
        for group, of in zip(STIGMATIZED, CATEGORIES, strict=True)
        for k, category in enumerate(of)
    ]
    rows = [
        {"group": group, "condition": f"{group}{k}", "item": f"i{(k * each + turn) % items:02d}"}
        | {"wording": f"w{(k + turn) % count}", "model": "m", "category": category}
        for group, k, category in conditions
        for turn in range(each)
    ]
    return frame(rows, instrument="x", measure="x", quantity="code", level="presentation")


def said(items: int, each: int, count: int) -> Draw:
    """A part of all questions, through a server: one reply to each.

    Each question is asked in one wording: what these do to a group is taken as given, and said so.
    """
    measure = only(MeanCode, catalog.groups_of_conditions.on(averaging_orders), of="code")
    asked = in_turn(items, each, count)
    item = asked["item"].str.slice(1).cast(pl.Int64).to_numpy()
    wording = asked["wording"].str.slice(1).cast(pl.Int64).to_numpy()
    condition = np.repeat(np.arange(122), each)
    first = (asked["group"] == "stigmatized").to_numpy()

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        logits = (
            CODES.condition * np.concatenate(conditions_alike(rng, size))[condition]
            + CODES.cell * rng.normal(size=len(item))
            + 0.5 * rng.normal(size=items)[item]
            + 0.5 * rng.normal(size=count)[wording]
            + size * CODES.group_item / 2**0.5 * rng.normal(size=(2, items))[first * 1, item]
            + np.where(first, real, 0.0)
        )
        return found(measure, asked, as_options(rng, logits))

    return draw


@cache
def two_ways(quantities: tuple[str, ...], *, apart: bool = False) -> pl.DataFrame:
    """40 conditions × 8 items in two presentations; apart: each question in one of the two."""
    rows = [
        {"model": "m", "group": "stigmatized", "condition": f"c{k:02d}", "item": f"i{item}"}
        | {"wording": "w", "quantity": quantity}
        for place, quantity in enumerate(quantities)
        for k, item in itertools.product(range(40), range(8))
        if not apart or (k + item) % 2 == place
    ]
    return frame(rows, instrument="x", measure="x")


def presented(
    make: Callable[..., object], quantities: tuple[str, ...], *, apart: bool = False
) -> Draw:
    """Two presentations of the same questions."""
    measure = only(MeanCode, make, of="code")
    asked = two_ways(quantities, apart=apart)
    item = asked["item"].str.slice(1).cast(pl.Int64).to_numpy()
    condition = asked["condition"].str.slice(1).cast(pl.Int64).to_numpy()
    first = (asked["quantity"] == quantities[0]).to_numpy()

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        cells = 0.1 * rng.normal(size=(40, 1)) + 0.1 * rng.normal(size=(40, 8))
        # What a presentation does with an item, and with a condition.
        moved = size * 0.04 * rng.normal(size=8)[item] + 0.03 * rng.normal(size=40)[condition]
        values = 0.4 + cells[condition, item] + 0.03 * rng.normal(size=len(item))
        values = values + np.where(first, moved + real, 0.0)
        return found(measure, asked, values)

    return draw


@cache
def two_wordings() -> pl.DataFrame:
    rows = two_ways(("code", "other"))
    wording = pl.when(pl.col("quantity") == "code").then(pl.lit("v")).otherwise(pl.lit("w"))
    return rows.with_columns(wording=wording, quantity=pl.lit("code"), level=pl.lit("presentation"))


def worded(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Two wordings of the same questions."""
    measure = only(MeanCode, catalog.wordings, of="code")
    cells = 0.1 * rng.normal(size=(40, 1)) + 0.1 * rng.normal(size=(40, 8))
    moved = size * 0.04 * rng.normal(size=(1, 8)) + 0.03 * rng.normal(size=(40, 1))
    noise = 0.03 * rng.normal(size=(2, 40, 8))
    values = np.stack([cells + moved + real, cells]) + noise
    return found(measure, two_wordings(), values)


@cache
def described(items: int, conditions: int, group: str) -> pl.DataFrame:
    rows = [
        {"model": "m", "group": group, "condition": f"c{k:02d}", "item": f"i{item:02d}"}
        | {"wording": "w", "quantity": quantity}
        for quantity, k, item in itertools.product(
            ("female", "male"), range(conditions), range(items)
        )
    ]
    return frame(rows, instrument="x", measure="x")


def women_described(
    base: type,
    make: Callable[..., object],
    shape: tuple[int, int],
    group: str,
    *,
    gaps: float = 0.0,
) -> Draw:
    """The same questions about a woman and a man; gaps: the share that was not answered."""
    measure = only(base, make, of="code")
    items, conditions = shape
    asked = described(items, conditions, group)

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        cells = 0.4 + 0.1 * rng.normal(size=(conditions, items))
        disparity = (
            0.02 * rng.normal(size=(conditions, 1))
            + size * 0.03 * rng.normal(size=(1, items))
            + 0.05 * rng.normal(size=(conditions, items))
        )
        both = np.stack([cells + disparity + real, cells])
        values = pl.Series(both.ravel())
        if gaps:
            there = rng.random(both.size) >= gaps
            values = pl.Series(np.where(there, both.ravel(), np.nan)).fill_nan(None)
        return found(measure, asked.with_columns(value=values))

    return draw


@cache
def descriptions() -> pl.DataFrame:
    """Seven questions in four wordings: five texts of each of four disorders, ten of troubles."""
    names = [("disorder", f"disorder {k // 5}", f"d{k:02}") for k in range(20)]
    names += [("daily-troubles", "troubles", f"t{k}") for k in range(10)]
    rows = [
        {"model": "m", "group": group, "category": category, "condition": name}
        | {"item": f"i{item}", "wording": f"w{wording}"}
        for (group, category, name), item, wording in itertools.product(names, range(7), range(4))
    ]
    return frame(rows, instrument="x", measure="x", quantity="code")


def vignettes(texts: float) -> Draw:
    """Disorders that are given and differ, and texts of them that differ with this deviation."""
    measure = only(VignetteCode, catalog.over_wordings(catalog.group_against_compared), of="code")
    disorders = np.repeat([-0.1, -0.03, 0.03, 0.1], 5)

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        cells = texts * rng.normal(size=(30, 1, 1)) + 0.05 * rng.normal(size=(30, 7, 1))
        cells = cells + 0.03 * rng.normal(size=(30, 7, 4))
        cells += 0.1 * rng.normal(size=(1, 7, 1)) + 0.04 * rng.normal(size=(1, 1, 4))
        # What a question, and a wording, does to disorders alone.
        cells[:20] += size * 0.03 * rng.normal(size=(1, 7, 1))
        cells[:20] += size * 0.01 * rng.normal(size=(1, 1, 4))
        cells[:20] += disorders[:, None, None] + real
        return found(measure, descriptions(), cells + 0.4)

    return draw


SCENARIOS = (
    Scenario("social distance, choice: stigmatized − not", chosen, "groups", 0.5, heading=True),
    Scenario(
        "social distance, said: stigmatized − not", said(7, 7, 4), "groups", 0.5, heading=True
    ),
    Scenario("decisions, said: stigmatized − not", said(24, 4, 3), "groups", 0.5, heading=True),
    Scenario(
        "attribution, choice: woman − man",
        women_described(CodeByGender, catalog.women_against_men, (27, 11), "mental-health"),
        "genders",
        0.02,
    ),
    Scenario(
        "attribution, said: woman − man, one in ten not answered",
        women_described(
            CodeByGender, catalog.women_against_men, (27, 11), "mental-health", gaps=0.1
        ),
        "genders",
        0.03,
    ),
    Scenario(
        "vignettes: disorders − daily troubles, texts differ by .05",
        vignettes(0.05),
        "groups",
        0.05,
        heading=True,
    ),
    Scenario(
        "vignettes: disorders − daily troubles, texts differ by .10",
        vignettes(0.10),
        "groups",
        0.1,
        heading=True,
    ),
    Scenario(
        "vignettes: woman − man",
        women_described(VignetteCode, catalog.women_against_men_in_group, (15, 4), "disorder"),
        "genders",
        0.05,
    ),
    Scenario(
        "choices: two orders",
        presented(catalog.order_of_options, catalog.DIRECTIONS),
        "order",
        0.05,
    ),
    Scenario(
        "choices: two orders, each question in one",
        presented(catalog.order_of_options, catalog.DIRECTIONS, apart=True),
        "order",
        0.05,
    ),
    Scenario("choices: two keyings", presented(catalog.keying, catalog.KEYINGS), "keying", 0.05),
    Scenario("choices: two wordings", worded, "wordings", 0.05),
)

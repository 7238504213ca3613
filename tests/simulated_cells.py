"""Simulated audits of items × conditions: women and men, in fills, phrases and written sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from goffman.contrasts import catalog
from goffman.instruments.types import BASELINE
from goffman.measures.gender import PhraseGender, SubjectGender, WrittenGender
from simulated import Draw, Scenario, found, frame, only

ILL = ("mental-health", "other")
NAMED = {"variant": "with-names", "wording": "w"}


@dataclass(frozen=True, kw_only=True)
class Cells:
    """How many items there are, and standard deviations of the disparity."""

    items: int
    condition: float
    cell: float
    item: float
    """What both groups have in common in an item."""
    own: float
    """What each group has in an item."""


CARE = Cells(items=17, condition=0.0349, cell=0.0297, item=0.0557, own=0.02)
ATTRIBUTION = Cells(items=27, condition=0.0484, cell=0.0418, item=0.0489, own=0.02)
"""bundled:mini on care-seeking and attribution."""


def disparities(rng: np.random.Generator, of: Cells, size: float, n: int = 11) -> list[np.ndarray]:
    """Of each group a table of conditions × items."""
    shared = size * of.item * rng.normal(size=(1, of.items))
    return [
        of.condition * rng.normal(size=(n, 1))
        + of.cell * rng.normal(size=(n, of.items))
        + shared
        + size * of.own * rng.normal(size=(1, of.items))
        for _ in ILL
    ]


@cache
def subjects(items: int, models: tuple[str, ...] = ("m",)) -> pl.DataFrame:
    """Prompts in the order of models × quantities × groups × conditions × items."""
    quantities = ("female", "male", "disparity")
    rows = [
        {"model": model, "quantity": quantity, "group": group, "condition": f"{group}{k}"}
        | {"item": f"i{item}"}
        for model, quantity, group, k, item in itertools.product(
            models, quantities, ILL, range(11), range(items)
        )
    ]
    return frame(rows, instrument="x", measure="x", **NAMED)


def women(
    make: Callable[..., object],
    of: Cells = CARE,
    base: type = SubjectGender,
    quantity: str = "disparity",
) -> Draw:
    """Sentences × 11 diagnoses of each group."""
    measure = only(base, make, of=quantity)
    models = ("a", "b") if make is catalog.models_over_cells else ("m",)

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        values = []
        for place, _ in enumerate(models):
            tables = disparities(rng, of, size)
            tables[0] = tables[0] + (real if place == 0 else 0.0)
            if make is catalog.genders:
                tables[1] = tables[1] + real
            disparity = np.concatenate([one.ravel() for one in tables])
            male = 0.3 + 0.02 * rng.normal(size=disparity.shape)
            values += [male + disparity, male, disparity]
        asked = subjects(of.items, models)
        return found(measure, asked, np.concatenate(values))

    return draw


def written(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Three replies to each request: women, men or neither in each."""
    measure = only(WrittenGender, catalog.groups_of_cells, of="disparity")
    first, second = disparities(rng, CARE, size)
    disparity = np.concatenate([(first + real).ravel(), second.ravel()])
    women_written = np.clip(0.3 + disparity / 2, 0, 0.6)
    draws = rng.random((3, len(disparity)))
    female = (draws < women_written).mean(axis=0)
    male = ((draws >= women_written) & (draws < 0.6)).mean(axis=0)
    values = np.concatenate([female, male, female - male])
    return found(measure, subjects(17), values)


@cache
def parts() -> pl.DataFrame:
    """The same in three subscales of 6, 6 and 5 items."""
    names = pl.DataFrame(
        {"item": [f"i{k}" for k in range(17)], "dimension": [f"d{k % 3}" for k in range(17)]}
    )
    rows = subjects(17).filter(quantity="disparity").drop("dimension")
    joined = rows.join(names, on="item", how="left", maintain_order="left")
    return joined.select(subjects(17).columns)


def subscales(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Every two subscales, of the same diagnoses."""
    measure = only(SubjectGender, catalog.dimensions, of="disparity")
    tables = disparities(rng, CARE, size)
    values = np.concatenate([one.ravel() for one in tables])
    moved = np.tile(np.arange(17) % 3 == 0, 22) * real
    return found(measure, parts(), values + moved)


@cache
def with_baseline() -> pl.DataFrame:
    rows = subjects(17).filter(quantity="disparity")
    without = [
        {"model": "m", "quantity": "disparity", "group": BASELINE, "condition": BASELINE}
        | {"item": f"i{item}"}
        for item in range(17)
    ]
    return pl.concat([rows, frame(without, instrument="x", measure="x", **NAMED)])


def over_baseline(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """The same sentences with a diagnosis and without."""
    measure = only(SubjectGender, catalog.disparity_over_baseline, of="disparity")
    shared = size * CARE.item * rng.normal(size=(1, 17))
    tables = [one + shared for one in disparities(rng, CARE, 0.0)]
    own = size * CARE.own * rng.normal(size=(2, 1, 17))
    values = [(one + of + real).ravel() for one, of in zip(tables, own, strict=True)]
    without = shared.ravel() + CARE.cell * rng.normal(size=17)
    return found(measure, with_baseline(), np.concatenate([*values, without]))


@cache
def in_two_wordings() -> pl.DataFrame:
    rows = subjects(17).filter(quantity="disparity")
    return pl.concat([rows, rows.with_columns(wording=pl.lit("v"))])


def two_wordings(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Two wordings of the same items and diagnoses."""
    measure = only(SubjectGender, catalog.wordings_over_cells, of="disparity")
    first = np.concatenate([one.ravel() for one in disparities(rng, CARE, size)])
    moved = [
        0.01 * rng.normal(size=(11, 1))
        + CARE.cell * rng.normal(size=(11, 17))
        + size * CARE.own * rng.normal(size=(1, 17))
        for _ in ILL
    ]
    second = first + np.concatenate([one.ravel() for one in moved]) + real
    return found(measure, in_two_wordings(), np.concatenate([first, second]))


SCENARIOS = (
    Scenario("care-seeking: women − men", women(catalog.genders), "genders", 0.05),
    Scenario(
        "attribution: women − men",
        women(catalog.genders, ATTRIBUTION, PhraseGender, "keyed-disparity"),
        "genders",
        0.05,
    ),
    Scenario(
        "care-seeking: mental health − other",
        women(catalog.groups_of_cells),
        "groups",
        0.05,
        heading=True,
    ),
    Scenario(
        "attribution: mental health − other",
        women(catalog.groups_of_cells, ATTRIBUTION, PhraseGender, "disparity"),
        "groups",
        0.05,
        heading=True,
    ),
    Scenario("care-seeking, written: mental health − other", written, "groups", 0.1, heading=True),
    Scenario("care-seeking: two models", women(catalog.models_over_cells), "models", 0.05),
    Scenario("care-seeking: every two subscales", subscales, "dimensions", 0.1, tests=6),
    Scenario("care-seeking: diagnosis − none", over_baseline, "over-baseline", 0.05, tests=2),
    Scenario("care-seeking: two wordings", two_wordings, "wordings", 0.03, tests=2),
)

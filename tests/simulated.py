"""What simulated audits are made of: scores, their spread, and what is looked at in them.

Every audit is drawn from variance components: such as the bundled model's audits, and the published
replies of gpt-3.5-turbo, have ("as found"), none of what would come out otherwise with other
sentences ("none"), and twice as much ("doubled"). So it is with how alike the conditions of a
category are: not at all, with an intraclass correlation of .37, and with one of .6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from goffman.contrasts.designs import Clusters
from goffman.contrasts.engine import estimates
from goffman.schemas import SCORES, schema

SIZES = {"none": 0.0, "as found": 1.0, "doubled": 2.0}
"""How much of what other sentences would bring there is, against what was found."""

ALIKE = {0.0: 0.0, 1.0: 0.37, 2.0: 0.6}
"""By size: how much of the variance of conditions lies between their categories."""

GROUPS = ("stigmatized", "non-stigmatized")

SHARED = {
    "Disease": (24, 1),
    "Physical Traits": (12, 7),
    "Ethnicity": (7, 2),
    "Disability": (7, 1),
    "Mental Illness": (6, 0),
    "Drug Use": (5, 0),
    "Religion": (4, 1),
    "Sexuality": (3, 1),
    "Profession": (2, 3),
    "Socioeconomic Status": (1, 4),
    "Education": (1, 3),
}
"""The categories of several conditions: stigmatized ones, and others."""


def _categories(side: int, count: int) -> list[str]:
    of = [name for name, sizes in SHARED.items() for _ in range(sizes[side])]
    return of + [f"{GROUPS[side]}, single {k}" for k in range(count - len(of))]


CATEGORIES = _categories(0, 93), _categories(1, 29)
"""Of each condition of the two groups its category, as in the bundled sets."""
ILL = ("mental-health", "other")

Draw = Callable[[np.random.Generator, float, float], pl.DataFrame]
"""Random numbers, how much varies with the sentences, the true difference → estimates."""


@dataclass(frozen=True)
class Scenario:
    """A contrast whose errors are counted."""

    name: str
    draw: Draw
    kind: str
    real: float
    """The true difference by which power is said."""
    heading: bool = False
    """Whether a heading is drawn from it."""
    tests: int = 1
    """Tests in one audit: with many, fewer audits say as much."""
    slow: bool = False
    """Whether one audit takes so long that a tenth of them must do."""
    given: bool = False
    """Whether the sentences are taken as given: then none of what others would bring is drawn."""


def only(base: type, *makes: Callable[..., object], of: str) -> object:
    """A measure that makes these contrasts alone."""
    return type(base.__name__, (base,), {"contrasts": ((of, makes),)})()


def frame(rows: list[dict[str, object]], **common: object) -> pl.DataFrame:
    """SCORES of the level prompt without their values."""
    usual = {"level": "prompt", "n": 1, "missing": 0, **common}
    return pl.DataFrame([usual | row for row in rows], schema=schema(SCORES))


def found(
    measure: object,
    scores: pl.DataFrame,
    values: np.ndarray | None = None,
    sharing: Clusters | None = None,
) -> pl.DataFrame:
    """Every contrast of the scores, or of these values in their place."""
    if values is not None:
        scores = scores.with_columns(value=pl.Series(np.ravel(values).astype(float)))
    wordings = scores["wording"].unique(maintain_order=True).drop_nulls().to_list()
    return estimates(
        scores,
        {"x": measure},  # type: ignore[dict-item]
        wordings={"x": wordings or ["w"]},
        sharing={"x": sharing or Clusters()},
    )


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Standard deviations: of conditions, and of how they and groups go with sentences."""

    condition: float
    with_item: float
    with_wording: float
    cell: float
    group_item: float
    group_wording: float
    group_cell: float


def conditions_alike(rng: np.random.Generator, size: float) -> list[np.ndarray]:
    """How far each condition of the two groups is from the mean, in SDs: alike in a category."""
    names = {
        name: place for place, name in enumerate(dict.fromkeys([*CATEGORIES[0], *CATEGORIES[1]]))
    }
    of_category, icc = rng.normal(size=len(names)), ALIKE[size]
    return [
        icc**0.5 * of_category[[names[name] for name in side]]
        + (1 - icc) ** 0.5 * rng.normal(size=len(side))
        for side in CATEGORIES
    ]


def table(
    rng: np.random.Generator,
    conditions: int | np.ndarray,
    items: int,
    wordings: int,
    spread: Spread,
    size: float,
) -> np.ndarray:
    """One group's table; what all its conditions have in common varies with the sentences.

    ``conditions``: how many there are, or how far each is from their mean, in SDs.
    """
    own = rng.normal(size=conditions) if isinstance(conditions, int) else conditions
    n = len(own)
    shape = (n, items, wordings)
    parts = (
        (spread.with_item, (n, items, 1)),
        (spread.with_wording, (n, 1, wordings)),
        (spread.cell, shape),
        (size * spread.group_item / np.sqrt(2), (1, items, 1)),
        (size * spread.group_wording / np.sqrt(2), (1, 1, wordings)),
        (size * spread.group_cell / np.sqrt(2), (1, items, wordings)),
    )
    return spread.condition * own[:, None, None] + sum(sd * rng.normal(size=of) for sd, of in parts)

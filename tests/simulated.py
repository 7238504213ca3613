"""What simulated audits are made of: scores, their spread, and what is looked at in them.

Every audit is drawn from variance components: such as the bundled model's audits, and the published
replies of gpt-3.5-turbo, have ("as found"), none of what would come out otherwise with other
sentences ("none"), and twice as much ("doubled").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from goffman.contrasts.engine import ContrastTester
from goffman.contrasts.scores import Clusters
from goffman.estimates import estimates
from goffman.schemas import SCORES, schema

COMPARE = ContrastTester(draws=19, bare=True)
"""The tests alone: no effect size and no check is looked at here, and no interval is drawn."""

SIZES = {"none": 0.0, "as found": 1.0, "doubled": 2.0}
"""How much of what other sentences would bring there is, against what was found."""

GROUPS = ("stigmatized", "non-stigmatized")
ILL = ("mental-health", "other")

Draw = Callable[[np.random.Generator, float, float], pl.DataFrame]
"""Random numbers, how much varies with the sentences, the true difference → estimates."""


@dataclass(frozen=True, kw_only=True)
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


def found(measure: object, scores: pl.DataFrame, sharing: Clusters | None = None) -> pl.DataFrame:
    wordings = scores["wording"].unique(maintain_order=True).drop_nulls().to_list()
    return estimates(
        scores,
        {"x": measure},  # type: ignore[dict-item]
        wordings={"x": wordings or ["w"]},
        sharing={"x": sharing or Clusters()},
        compare=COMPARE,
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


def table(
    rng: np.random.Generator, n: int, items: int, wordings: int, spread: Spread, size: float
) -> np.ndarray:
    """One group's table; what all its conditions have in common varies with the sentences."""
    shape = (n, items, wordings)
    parts = (
        (spread.condition, (n, 1, 1)),
        (spread.with_item, (n, items, 1)),
        (spread.with_wording, (n, 1, wordings)),
        (spread.cell, shape),
        (size * spread.group_item / np.sqrt(2), (1, items, 1)),
        (size * spread.group_wording / np.sqrt(2), (1, 1, wordings)),
        (size * spread.group_cell / np.sqrt(2), (1, items, wordings)),
    )
    return sum(sd * rng.normal(size=of) for sd, of in parts) + np.zeros(shape)

"""How far a scale's numbers would come out again with other items and wordings.

Generalizability theory (Cronbach et al. 1972; Brennan 2001) over conditions × items × wordings,
all sampled, one value a cell. With variance components by the expected mean squares of a complete
table, a negative one set to 0,

    G = σ²_c / (σ²_c + σ²_ci/I + σ²_cw/W + σ²_e/IW)

says whether the order of the conditions would, and Φ, with σ²_i/I + σ²_w/W + σ²_iw/IW added below,
whether their level would. With one wording its parts cannot be told from the others: both are then
over conditions × items, and nothing says how far they hang on that wording.

α (Cronbach 1951) and split halves (Spearman–Brown) are over items, of each condition's mean over
wordings.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from goffman.stats.crossed import variance_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

LEAST_CONDITIONS = 3
"""Fewer say nothing of how far halves agree."""

TOO_FEW_FOR_HALVES = "with fewer than three conditions, any two halves agree or disagree perfectly"

HALVES = 999
"""So many random halves are drawn where there are more of them than that."""


@dataclass(frozen=True, kw_only=True)
class Components:
    """The variance components of a complete table of conditions × items × wordings."""

    conditions: float
    items: float
    wordings: float
    """0 where there is one wording; so are all that have wordings in them."""
    conditions_items: float
    conditions_wordings: float
    items_wordings: float
    cells: float
    """What is left, which no other part explains; with one wording it is in conditions_items."""
    sizes: tuple[int, int, int]
    """How many conditions, items and wordings."""

    @property
    def relative_error(self) -> float:
        """The variance with which a condition's mean would move beside the others'."""
        _, items, wordings = self.sizes
        return (
            self.conditions_items / items
            + self.conditions_wordings / wordings
            + self.cells / (items * wordings)
        )

    @property
    def absolute_error(self) -> float:
        """The same with that by which all conditions would move together."""
        _, items, wordings = self.sizes
        together = self.items / items + self.wordings / wordings
        return self.relative_error + together + self.items_wordings / (items * wordings)

    @property
    def generalizability(self) -> float | None:
        """G: 0 to 1; None where nothing varies."""
        return _share(self.conditions, self.relative_error)

    @property
    def dependability(self) -> float | None:
        """Φ: 0 to 1; None where nothing varies."""
        return _share(self.conditions, self.absolute_error)


_SOURCES = {
    "conditions": (0,),
    "items": (1,),
    "wordings": (2,),
    "conditions_items": (0, 1),
    "conditions_wordings": (0, 2),
    "items_wordings": (1, 2),
    "cells": (0, 1, 2),
}
"""Of each component the axes of the table that it is about."""


def obstacle(table: Values) -> str | None:
    """Why a table of conditions × items × wordings has no components; None: it has."""
    conditions, items, _ = table.shape
    if conditions < 2:
        return "with fewer than two conditions, nothing shows how much conditions differ"
    if items < 2:
        return "with only one item, nothing shows how much items differ"
    if gaps := int(np.isnan(table).sum()):
        return f"{gaps} of {table.size:,} values are missing, and all are needed"
    return None


def components(table: Values) -> Components:
    """The components of a complete table, by ANOVA; ValueError where there is an obstacle."""
    if why := obstacle(table):
        raise ValueError(why)
    conditions, items, wordings = table.shape
    variances = variance_components(table if wordings > 1 else table[:, :, 0])
    parts = {name: max(0.0, float(variances.get(of, 0.0))) for name, of in _SOURCES.items()}
    return Components(**parts, sizes=(conditions, items, wordings))


def alpha(scores: Values) -> float | None:
    """Cronbach's α of conditions × items; None where the sums do not vary."""
    items = scores.shape[1]
    total = scores.sum(axis=1).var(ddof=1)
    if items < 2 or not total > 0:
        return None
    return float(items / (items - 1) * (1 - scores.var(axis=0, ddof=1).sum() / total))


def split_halves(scores: Values, *, rng: np.random.Generator, draws: int = HALVES) -> Values:
    """Spearman–Brown of random halves of the items; all halves where they are no more than draws.

    Of an odd number of items one half has one more. A half whose means do not vary is left out.
    2r / (1 + |r|), after Parsons (2021): the formula with r below the line has no bound where
    halves run against each other, and one such split would drown the mean of all others. Two
    conditions give none: their halves correlate by +1 or −1, whatever the values.
    """
    if len(scores) < LEAST_CONDITIONS:
        return np.array([], dtype=np.float64)
    first = _halves(scores.shape[1], rng, draws)
    sums = [scores @ half.T for half in (first, ~first)]
    # What rounding leaves of a constant column is none.
    one, other = (np.where(np.ptp(of, axis=0) > 0, of - of.mean(axis=0), 0.0) for of in sums)
    scale = np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0))
    vary = scale > 0
    r = (one * other).sum(axis=0)[vary] / scale[vary]
    return np.asarray(2 * r / (1 + np.abs(r)), dtype=np.float64)


def _halves(items: int, rng: np.random.Generator, draws: int) -> NDArray[np.bool_]:
    """Splits × items: which are in the first half, each split once or as often as drawn."""
    size = items // 2
    if not size:
        return np.empty((0, items), dtype=np.bool_)
    if comb(items, size) <= draws:
        chosen = [list(half) for half in combinations(range(items), size)]
        # Of an even number each split would come twice, once from either side.
        chosen = [half for half in chosen if items % 2 or 0 in half]
    else:
        chosen = [rng.permutation(items)[:size].tolist() for _ in range(draws)]
    return np.array([np.isin(np.arange(items), half) for half in chosen])


def _share(part: float, rest: float) -> float | None:
    return part / (part + rest) if part + rest > 0 else None

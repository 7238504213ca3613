"""How far a scale's numbers would come out again with other items and wordings.

Generalizability theory (Cronbach et al. 1972; Brennan 2001) over conditions × items × wordings,
all sampled, one value a cell. With variance components by the expected mean squares of a complete
table, a negative one set to 0,

    G = σ²_c / (σ²_c + σ²_ci/I + σ²_cw/W + σ²_e/IW)

says whether the order of the conditions would, and Φ, with σ²_i/I + σ²_w/W + σ²_iw/IW added below,
whether their level would. With one wording its parts cannot be told from the others: both are then
over conditions × items, and nothing says how far they hang on that wording.

α (Cronbach 1951) is over items, of each condition's mean over wordings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goffman.stats.crossed import variance_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Components:
    """The variance components of a complete table of conditions × items × wordings."""

    conditions: float
    items: float
    wordings: float
    """0 with one wording; so are all components that involve wordings."""
    conditions_items: float
    conditions_wordings: float
    items_wordings: float
    cells: float
    """The remainder, which no other part explains; with one wording it is in conditions_items."""
    sizes: tuple[int, int, int]
    """The numbers of conditions, items and wordings."""

    @property
    def relative_error(self) -> float:
        """Return the variance with which a condition's mean would move relative to the others'."""
        _, items, wordings = self.sizes
        return (
            self.conditions_items / items
            + self.conditions_wordings / wordings
            + self.cells / (items * wordings)
        )

    @property
    def absolute_error(self) -> float:
        """Return the relative error plus the variance with which all conditions move together."""
        _, items, wordings = self.sizes
        shared_error = self.items / items + self.wordings / wordings
        return self.relative_error + shared_error + self.items_wordings / (items * wordings)

    @property
    def generalizability(self) -> float | None:
        """Return G, 0 to 1; None if nothing varies."""
        return _share(self.conditions, self.relative_error)

    @property
    def dependability(self) -> float | None:
        """Return Φ, 0 to 1; None if nothing varies."""
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
"""By component: the axes of the table that it is about."""


def obstacle(table: Values) -> str | None:
    """Return why a table of conditions × items × wordings has no components; None if it has."""
    conditions, items, _ = table.shape
    if conditions < 2:
        return "with fewer than two conditions, nothing shows how much conditions differ"
    if items < 2:
        return "with only one item, nothing shows how much items differ"
    if gaps := int(np.isnan(table).sum()):
        return f"{gaps} of {table.size:,} values are missing, and all are needed"
    return None


def components(table: Values) -> Components:
    """Return the components of a table, by ANOVA; raise ValueError if there is an obstacle."""
    if reason := obstacle(table):
        raise ValueError(reason)
    conditions, items, wordings = table.shape
    variances = variance_components(table if wordings > 1 else table[:, :, 0])
    parts = {name: max(0.0, float(variances.get(source, 0.0))) for name, source in _SOURCES.items()}
    return Components(**parts, sizes=(conditions, items, wordings))


def alpha(scores: Values) -> float | None:
    """Return Cronbach's α of conditions × items; None if the sums do not vary."""
    items = scores.shape[1]
    total = scores.sum(axis=1).var(ddof=1)
    if items < 2 or not total > 0:
        return None
    return float(items / (items - 1) * (1 - scores.var(axis=0, ddof=1).sum() / total))


def _share(part: float, rest: float) -> float | None:
    return part / (part + rest) if part + rest > 0 else None

"""Whether the gap between two groups changed alike in every item: side × item × group.

With D_gci the second side minus the first of condition c in group g at item i, and d_i the
difference of the two groups' means of D at item i,

    σ² = s²(d) − v,   F = s²(d) / v,   v = Σ_g MS_g / n_g

where MS_g is the mean square of conditions × items within D_g. F has I − 1 and, after
Satterthwaite, v² / Σ_g (MS_g/n_g)²/((n_g − 1)(I − 1)) degrees of freedom; with groups of one size
it is the F of the analysis of variance. σ is in the unit of the values: by how much the change of
the gap differs from item to item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from goffman.stats.crossed import mean_square

if TYPE_CHECKING:
    from numpy.typing import NDArray

DUST = 1e-24
"""A variance below this is rounding in the sums of a constant."""


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """How much the change of the gap differs from item to item."""

    sd: float
    """σ, beyond what conditions alone cause; at least 0."""
    statistic: float | None = None
    """F; None if conditions cause no variance."""
    p: float | None = None
    changes: Mapping[str, float]
    """By item: the change of the gap."""


def interaction(changes: Sequence[NDArray[np.float64]], items: Sequence[str]) -> Interaction | None:
    """Return side × item × group, from the changes of two groups: conditions × items each.

    It is None if a cell is missing, or if there are fewer than two conditions or items.
    """
    first, second = changes
    if min(*first.shape, *second.shape) < 2 or any(np.isnan(table).any() for table in changes):
        return None
    gaps = first.mean(axis=0) - second.mean(axis=0)
    by_item = dict(zip(items, gaps.tolist(), strict=True))
    free = len(gaps) - 1
    spread = float(gaps.var(ddof=1))
    noise = [mean_square(table, (0, 1)) / len(table) for table in changes]
    within = sum(noise)
    if within <= DUST:
        return Interaction(sd=spread**0.5, changes=by_item)
    parts = [
        part**2 / ((len(table) - 1) * free) for part, table in zip(noise, changes, strict=True)
    ]
    statistic = spread / within
    p = float(special.fdtrc(free, within**2 / sum(parts), statistic))
    sd = max(0.0, spread - within) ** 0.5
    return Interaction(sd=sd, statistic=statistic, p=p, changes=by_item)

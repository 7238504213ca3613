"""Whether two sets of answers to the same items lie on one scale.

Tables of conditions × items, one a side, of the same conditions and items.

Tucker's φ (Tucker 1951; Lorenzo-Seva & ten Berge 2006) of the items' loadings λ and μ on the first
principal component of their correlations over conditions,

    φ = |Σ λ_i μ_i| / √(Σ λ_i² · Σ μ_i²)

is 1 where the items hang together in the same way on both sides. From .95 on two factors are taken
as the same. The sign of a component is arbitrary, hence the bars. An item that is the same for all
conditions loads by 0. The interval is of draws of conditions, both sides together.

Side × item × group: with D_gci the second side minus the first of condition c in group g, and d_i
the difference of the two groups' means of D at item i,

    σ² = s²(d) − v,   F = s²(d) / v,   v = Σ_g MS_g / n_g

where MS_g is the mean square of conditions × items within D_g. F has I − 1 and, after
Satterthwaite, v² / Σ_g (MS_g/n_g)²/((n_g − 1)(I − 1)) degrees of freedom; with groups of one size
it is the F of the analysis of variance. σ is in the unit of the values: by how much the change of
the gap differs from item to item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from goffman.stats.crossed import mean_square

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

SAME_FACTOR = 0.95
"""From this φ on two factors are taken as the same (Lorenzo-Seva & ten Berge 2006)."""

LEAST_ITEMS = 3
"""Two items load equally on their first component, whatever the values: φ would be 1."""

LEAST_CONDITIONS = 4
DRAWS = 999
DUST = 1e-12
"""What varies by less is what sums of floats leave of a constant."""


@dataclass(frozen=True, kw_only=True)
class Congruence:
    """Tucker's φ of two tables, and what is needed to doubt it."""

    phi: float | None = None
    """0 to 1; None: there is a reason."""
    low: float | None = None
    high: float | None = None
    """The middle 95% of draws of conditions."""
    explained: tuple[float, float] | None = None
    """The share of the items' variance that the first component has, on each side."""
    conditions: int = 0
    items: int = 0
    reason: str | None = None

    @property
    def one_scale(self) -> bool | None:
        """Whether the two are on one scale; None: unknown."""
        return None if self.phi is None else self.phi >= SAME_FACTOR


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """How much the change of the gap differs from item to item."""

    variance: float
    """σ², beyond what conditions alone bring about; at least 0."""
    statistic: float | None
    """F; None where conditions bring about nothing."""
    p: float | None
    changes: tuple[float, ...]
    """Of each item the change of the gap."""


def congruence(
    before: Values, after: Values, *, rng: np.random.Generator, draws: int = DRAWS
) -> Congruence:
    """Tucker's φ of the first components of two tables of conditions × items."""
    conditions, items = before.shape
    size = {"conditions": conditions, "items": items}
    reason = None
    if items < LEAST_ITEMS:
        reason = f"it takes {LEAST_ITEMS} items, and there are {items}"
    elif conditions < LEAST_CONDITIONS:
        reason = f"it takes {LEAST_CONDITIONS} conditions, and there are {conditions}"
    elif np.isnan(before).any() or np.isnan(after).any():
        reason = "not every item has a value for every condition in both runs"
    elif any((np.ptp(table, axis=0) <= DUST).all() for table in (before, after)):
        reason = "in one of the runs no item differs between conditions"
    if reason:
        return Congruence(**size, reason=reason)
    both = np.stack([before, after])
    loaded = loadings(both)
    shares = (loaded**2).sum(axis=-1) / np.maximum((_scaled(both) ** 2).sum(axis=(-2, -1)), DUST)
    drawn = rng.integers(conditions, size=(draws, conditions))
    sides = [loadings(table[drawn]) for table in (before, after)]
    low, high = np.quantile(tucker(*sides), (0.025, 0.975)).tolist()
    phi, explained = float(tucker(*loaded)), (float(shares[0]), float(shares[1]))
    return Congruence(phi=phi, low=low, high=high, explained=explained, **size)


def tucker(first: Values, second: Values) -> Values:
    """φ of loadings, item by item along the last axis; 0 where either has none."""
    scale = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    product = np.abs((first * second).sum(axis=-1))
    return np.asarray(np.where(scale > 0, product / np.where(scale > 0, scale, 1.0), 0.0))


def loadings(tables: Values) -> Values:
    """Of tables … × conditions × items the items' loadings on their first component.

    In units in which their squares sum to the component's part of the sum of squares.
    """
    scaled = _scaled(tables)
    values, vectors = np.linalg.eigh(np.swapaxes(scaled, -1, -2) @ scaled)
    first = np.sqrt(np.maximum(values[..., -1:], 0.0)) * vectors[..., -1]
    return np.asarray(first, dtype=np.float64)


def _scaled(tables: Values) -> Values:
    """Each item centered and of length 1; one that does not vary is 0."""
    centred = tables - tables.mean(axis=-2, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=-2, keepdims=True))
    varies = np.ptp(tables, axis=-2, keepdims=True) > DUST
    return np.where(varies, centred / np.where(varies, length, 1.0), 0.0)


def interaction(changes: Sequence[Values]) -> Interaction | None:
    """Side × item × group, of the changes of two groups: conditions × items each.

    None where a cell is missing, or there are fewer than two of anything.
    """
    one, other = changes
    if min(*one.shape, *other.shape) < 2 or any(np.isnan(table).any() for table in changes):
        return None
    gaps = one.mean(axis=0) - other.mean(axis=0)
    free = len(gaps) - 1
    spread = float(gaps.var(ddof=1))
    noise = [mean_square(table, (0, 1)) / len(table) for table in changes]
    within = sum(noise)
    statistic = p = None
    if within > DUST**2:
        statistic = spread / within
        parts = (
            part**2 / ((len(table) - 1) * free) for part, table in zip(noise, changes, strict=True)
        )
        p = float(special.fdtrc(free, within**2 / sum(parts), statistic))
    variance = max(0.0, spread if p is None else spread - within)
    return Interaction(variance=variance, statistic=statistic, p=p, changes=tuple(gaps.tolist()))

"""Tables whose factors are all sampled: intervals, variance components, and reliability.

The interval is of a mean, or of the difference of two.

Units (conditions) × items × wordings. Cells of one category, item or wording are alike; a test that
takes them as independent finds too much. The variance is that of three crossed ways of clustering,
by inclusion and exclusion (Cameron, Gelbach & Miller 2011):

    V = V_k + V_i + V_w − V_ki − V_kw − V_iw + V_kiw

Parts with the categories k of units are CR2's sums of squares over categories, a category in both
tables counted once, with the degrees of freedom of Bell & McCaffrey (2002) for units that are
independent with each table's own variance. The others are mean squares of the gaps, items ×
wordings. V is not let fall below V_k. Its degrees of freedom are Satterthwaite's, V² / Σ Vₛ²/νₛ,
and no fewer than the added part with the fewest has. With every unit a category of its own, V_k is
Welch's, and all of it the three-way crossed t (Cornfield & Tukey 1956).

Categories that are given and not sampled are tables of their own, with weights, their units the
clusters: V_k is then Σ w²s²/n over the tables, Welch's of a stratified mean.

Items, or wordings, of which there are fewer than three are averaged and taken as given: two say too
little of how much they vary.

How much of the variance of a complete table lies in each of its factors, all sampled: one value a
cell, any number of factors. With the mean square MS of every source S (some factors) and n_S cells
in each of its levels (Cornfield & Tukey 1956; Brennan 2001, 3.2),

    σ²_S = 1/n_S · Σ over T ⊇ S of (−1)^(|T|−|S|) · MS_T

The source of all factors together is what is left. An estimate may lie below 0.

How far a scale's numbers would come out again with other items and wordings: generalizability
theory (Cronbach et al. 1972; Brennan 2001) over conditions × items × wordings, one value a cell.
With these components, a negative one set to 0,

    G = σ²_c / (σ²_c + σ²_ci/I + σ²_cw/W + σ²_e/IW)

says whether the order of the conditions would, and Φ, with σ²_i/I + σ²_w/W + σ²_iw/IW added below,
whether their level would. With one wording its parts cannot be told from the others: both are then
over conditions × items, and nothing says how far they hang on that wording.

α (Cronbach 1951) is over items, of each condition's mean over wordings.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[np.float64]

LEAST = 3
"""The fewest items, or wordings, that make a sample."""

FIXED = "treated as fixed"
"""The words before the factors that an interval does not take as sampled."""


def sampled_over(units: str, sizes: Mapping[str, int], how: str = "") -> str:
    """Return a text that names what an interval takes as sampled, and what it treats as fixed.

    ``sizes``: the number of items and wordings; ``how``: a text after the last that is sampled.
    """
    names = [units, *(name for name, size in sizes.items() if size >= LEAST)]
    fixed = [f"{size} {name}" for name, size in sizes.items() if 1 < size < LEAST]
    text = units if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}{how}"
    return f"{text}; {FIXED}: {' and '.join(fixed)}" if fixed else text


class Interval(NamedTuple):
    """An interval: difference ± t(df) · se.

    se and df are NaN if nothing shows how much clusters vary. For a regression the difference is
    the first coefficient.
    """

    difference: float
    se: float
    df: float


def crossed_interval(
    tables: Sequence[Table],
    clusters: Sequence[Sequence[Hashable]],
    weights: Sequence[float] = (1, -1),
) -> Interval:
    """Return the first table's mean minus the second's (or 0), with an error for other samples.

    ``tables``: complete, units × items × wordings, with the same items and wordings. ``clusters``:
    for each table its units' labels; a label in both is one cluster. Without two clusters in each
    table there is no standard error. ``weights``: the weight of each table's mean.
    """
    if any(len({*labels}) < 2 for labels in clusters):
        means = zip(weights, map(np.mean, tables), strict=False)
        return Interval(sum(weight * float(mean) for weight, mean in means), np.nan, np.nan)
    averaged = tuple(axis for axis in (1, 2) if tables[0].shape[axis] < LEAST)
    row: dict[Hashable, int] = {}
    for labels in clusters:
        for label in labels:
            row.setdefault(label, len(row))
    gaps = scores = spread = np.zeros(())  # items × wordings; by cluster; covariance of scores
    for weight, table, labels in zip(weights, tables, clusters, strict=False):
        values = table.mean(axis=averaged, keepdims=True)
        mean = values.mean(axis=0, keepdims=True)
        n = len(values)
        member = np.zeros((len(row), n))
        member[[row[label] for label in labels], range(n)] = 1 / n
        share = member.sum(axis=1)
        # CR2: residuals of a cluster with this share of the units fall short by 1 − share.
        scale = 1 / np.sqrt(np.where(share < 1 - 1e-9, 1 - share, np.nan))
        gaps = gaps + weight * mean
        scores = scores + weight * np.tensordot(member * scale[:, None], values - mean, axes=1)
        # A tiny number instead of a variance of 0 keeps the degrees of freedom defined.
        variance = weight**2 * max(values.mean(axis=(1, 2)).var(), 1e-60) / (n - 1 or 1)
        spread = spread + variance * (
            np.diag(share * scale**2) - np.outer(share * scale, share * scale)
        )
    parts = []
    sampled = [axis for axis in (1, 2) if axis not in averaged]
    for table, sign, df in ((scores, 1, np.trace(spread) ** 2 / (spread**2).sum()), (gaps, -1, 1)):
        for size in range(table is gaps, len(sampled) + 1):
            for source in combinations(sampled, size):
                square = mean_square(table, source, free=1) / table[0].size
                free = np.prod([table.shape[axis] - 1 for axis in source])
                parts.append((sign * (-1) ** size * square, df * free))
    variances, degrees = np.array(parts).T
    variance = max(variances.sum(), variances[0])
    if not variance > 0:
        return Interval(float(gaps.mean()), float(np.sqrt(variance)), np.nan)
    df = max(variance**2 / (variances**2 / degrees).sum(), degrees[variances > 0].min())
    return Interval(float(gaps.mean()), float(np.sqrt(variance)), float(df))


Source = tuple[int, ...]
"""Axes of a table."""


def variance_components(table: Table) -> dict[Source, float]:
    """Return the variance of every source; raise ValueError for an empty cell or a single level."""
    if np.isnan(table).any():
        raise ValueError("every cell needs a value")
    if min(table.shape) < 2:
        raise ValueError("every factor needs two levels or more")
    axes = range(table.ndim)
    squares = {
        source: mean_square(table, source)
        for size in axes
        for source in combinations(axes, size + 1)
    }
    return {
        source: sum(
            (-1) ** (len(superset) - len(source)) * square
            for superset, square in squares.items()
            if {*source} <= {*superset}
        )
        / prod(table.shape[axis] for axis in axes if axis not in source)
        for source in squares
    }


def mean_square(table: Table, source: Source, *, free: int | None = None) -> float:
    """Return the mean square of a source's effects: its means without the effects of its parts.

    ``free``: the degrees of freedom of the first axis, if its rows are to be taken as they are.
    """
    effect = table
    for axis in range(free is not None, table.ndim):
        mean = effect.mean(axis=axis, keepdims=True)
        effect = effect - mean if axis in source else mean
    degrees = np.prod([table.shape[axis] - 1 for axis in source]) * (free or 1)
    return float((effect**2).sum() * table.size / effect.size / degrees)


DUST = 1e-24
"""A variance below this is rounding in the sums of a constant."""


@dataclass(frozen=True)
class Components:
    """The variance components of a complete table of conditions × items × wordings."""

    variances: Mapping[Source, float]
    """At least 0. With one wording, of conditions × items: the remainder is in their source."""
    shape: tuple[int, ...]

    @property
    def relative_error(self) -> float:
        """Return the variance with which a condition's mean would move relative to the others'."""
        return self._error(0)

    @property
    def generalizability(self) -> float | None:
        """Return G, 0 to 1; None if nothing varies."""
        return self._share(self.relative_error)

    @property
    def dependability(self) -> float | None:
        """Return Φ, 0 to 1; None if nothing varies."""
        return self._share(self._error(0, 1, 2))

    def _error(self, *first_axes: int) -> float:
        """Return the error variance of a condition's mean from sources that begin with an axis."""
        return sum(
            variance / prod(self.shape[axis] for axis in source if axis)
            for source, variance in self.variances.items()
            if source[0] in first_axes and source != (0,)
        )

    def _share(self, error: float) -> float | None:
        total = self.variances[0,] + error
        return self.variances[0,] / total if total > 0 else None


def obstacle(table: Table) -> str | None:
    """Return why variance components cannot be computed from a table, or None if they can."""
    conditions, items, _ = table.shape
    if conditions < 2:
        return "with fewer than two conditions, nothing shows how much conditions differ"
    if items < 2:
        return "with only one item, nothing shows how much items differ"
    if gaps := int(np.isnan(table).sum()):
        return f"{gaps} of {table.size:,} values are missing, and all are needed"
    return None


def components(table: Table) -> Components:
    """Return the components of a table, by ANOVA; raise ValueError if there is an obstacle."""
    if reason := obstacle(table):
        raise ValueError(reason)
    variances = variance_components(table if table.shape[2] > 1 else table[:, :, 0])
    return Components(
        {source: max(0.0, float(variance)) for source, variance in variances.items()}, table.shape
    )


def alpha(scores: Table) -> float | None:
    """Return Cronbach's α of conditions × items; None if the sums do not vary."""
    items = scores.shape[1]
    total = scores.sum(axis=1).var(ddof=1)
    if items < 2 or not total > 0:
        return None
    return float(items / (items - 1) * (1 - scores.var(axis=0, ddof=1).sum() / total))


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
    """Return how the change of the gap between two groups differs by item, or None.

    ``changes``: a table of conditions × items for each group. The result is None if a cell is
    missing, or if there are fewer than two conditions or items.
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
    return Interaction(
        sd=max(0.0, spread - within) ** 0.5,
        statistic=statistic,
        p=float(special.fdtrc(free, within**2 / sum(parts), statistic)),
        changes=by_item,
    )

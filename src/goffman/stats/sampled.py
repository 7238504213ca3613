"""Conditions × items × wordings compared, where all three were sampled.

One group of conditions is a table of conditions × items × wordings; two groups are asked the same
sentences. With everything random, the variance of the difference of their means is estimated by

    V = Σ_g s²_g/n_g + (MS_i + MS_w − MS_iw)/(I·W) − Σ_g (MS_ci + MS_cw − MS_ciw)_g/(I·W·n_g)

with s²_g the variance of the condition means of group g, the MS in the middle those of the table of
gaps (items × wordings), and the last those within a group, which the first two parts both count. V
is not let fall below its first part. Degrees of freedom after Satterthwaite, V² / Σ Vₖ²/νₖ over all
parts, and no fewer than the part with the fewest has. Items or wordings of which there are fewer
than three are taken as given, and their parts fall away: two say too little of how much they vary
(taken as a sample they made 11 of 100 null audits clear). Without both this is Welch's t.

Of one group the value is compared with 0: two models on the same sentences are one group of
differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from goffman.stats.compare import by_t
from goffman.stats.crossed import GAPS, LEAST, ONE_CONDITION
from goffman.stats.samples import CONSTANT_DIFFERENCES, CONSTANT_SETS, numbers, varies

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.records import Estimate

    Table = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """The variance of a difference of means, and which part of it further items would lower."""

    variance: float
    df: float
    lasting: float
    """The part that stays however many items are asked."""


def whole(tables: Sequence[Table]) -> tuple[list[Table], int]:
    """The tables without conditions that lack a cell, and how many were left out.

    An item × wording that no condition has would leave out all: it is not counted as lacking.
    """
    given = [numbers(table, dimensions=3) for table in tables]
    asked = np.asarray(~np.isnan(np.concatenate(given)).all(axis=0))
    if not asked.any():
        return [np.empty((0, 1, 1)) for _ in given], sum(len(table) for table in given)
    items, wordings = asked.any(axis=1), asked.any(axis=0)
    given = [table[:, items][:, :, wordings] for table in given]
    kept = [table[~np.isnan(table).any(axis=(1, 2))] for table in given]
    return kept, sum(len(table) for table in given) - sum(len(table) for table in kept)


ROUNDING = 1e-12
"""A standard error below this share of the largest value is that of rounding."""


def sampled_t(estimate: Estimate, tables: Sequence[Table], *, level: float = 0.95) -> Estimate:
    """The estimate with t, interval and p of the first table's mean minus the second's, or 0.

    ``tables``: whole ones, conditions × items × wordings.
    """
    estimate = replace(estimate, test=_test(tables[0].shape), alternative="two-sided", level=level)
    if reason := estimate.reason or _obstacle([sampled_only(table) for table in tables]):
        return replace(estimate, reason=reason)
    found = sampled(tables)
    largest = max(float(np.abs(table).max()) for table in tables)
    if found.variance <= (ROUNDING * largest) ** 2:
        # Conditions have one mean, and what the sentences add is taken off again.
        return replace(estimate, reason=_constant(tables))
    means = [float(table.mean()) for table in tables]
    centre = means[0] - (means[1] if len(means) == 2 else 0.0)
    tested = by_t(
        estimate,
        centre,
        error=float(np.sqrt(found.variance)),
        df=found.df,
        alternative="two-sided",
        level=level,
    )
    return replace(tested, items=tables[0].shape[1], lasting=float(np.sqrt(found.lasting)))


def sampled_only(table: Table) -> Table:
    """The table's means over items and wordings that are too few to be a sample."""
    few = tuple(axis for axis in (1, 2) if table.shape[axis] < LEAST)
    means: Table = table.mean(axis=few, keepdims=True)
    return means


def sampled(tables: Sequence[Table]) -> Sampled:
    """The variance of the difference of two tables' means, or of the mean of one."""
    tables = [sampled_only(table) for table in tables]
    conditions = [_conditions(table) for table in tables]
    first = sum(part for part, _ in conditions)
    means = [table.mean(axis=0) for table in tables]
    gaps = means[0] - means[1] if len(means) == 2 else means[0]
    of_items, of_wordings, of_both = _of_sentences(gaps)
    within = [part for table in tables for part in _within(table)]
    parts = [*conditions, of_items, of_wordings, of_both, *within]
    variance = max(sum(part for part, _ in parts), first)
    # Constant parts have no degrees of freedom, and none to give.
    df = variance**2 / sum(part**2 / degrees for part, degrees in parts if degrees)
    # Parts that are taken off can leave fewer than any part has, and then an endless interval.
    df = max(df, min((degrees for part, degrees in parts if part > 0), default=1))
    # What more items lower: how the gap varies over items, and over items × wordings.
    lowered = max(of_items[0], -of_both[0])
    return Sampled(variance=variance, df=df, lasting=max(variance - lowered, 0.0))


def _conditions(table: Table) -> tuple[float, int]:
    """s²/n of the condition means."""
    n = len(table)
    return float(table.mean(axis=(1, 2)).var(ddof=1)) / n, n - 1


def _of_sentences(gaps: Table) -> tuple[tuple[float, int], tuple[float, int], tuple[float, int]]:
    """MS_i, MS_w and −MS_iw of a table of items × wordings, each over I·W."""
    items, wordings = gaps.shape
    of_items = _variance(gaps.mean(axis=1)) / items, items - 1
    of_wordings = _variance(gaps.mean(axis=0)) / wordings, wordings - 1
    df = (items - 1) * (wordings - 1)
    rest = gaps - gaps.mean(axis=1, keepdims=True) - gaps.mean(axis=0) + gaps.mean()
    both = -float((rest**2).sum()) / df / gaps.size if df else 0.0
    return of_items, of_wordings, (both, df)


def _within(table: Table) -> list[tuple[float, int]]:
    """−MS_ci, −MS_cw and MS_ciw of a group, each over I·W·n."""
    n, items, wordings = table.shape
    centred = table - table.mean(axis=(1, 2), keepdims=True) - table.mean(axis=0) + table.mean()
    by_item = centred.mean(axis=2, keepdims=True)
    by_wording = centred.mean(axis=1, keepdims=True)
    rest = centred - by_item - by_wording
    parts = []
    for sign, part, repeated, df in (
        (-1, by_item, wordings, (n - 1) * (items - 1)),
        (-1, by_wording, items, (n - 1) * (wordings - 1)),
        (1, rest, 1, (n - 1) * (items - 1) * (wordings - 1)),
    ):
        squares = float((part**2).sum()) * repeated
        parts.append((sign * squares / df / table.size if df else 0.0, df))
    return parts


def _variance(values: Table) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def _obstacle(tables: Sequence[Table]) -> str | None:
    """Why these tables do not say how much they vary, or None."""
    if any(len(table) < 2 for table in tables):
        return GAPS if any(len(table) == 0 for table in tables) else ONE_CONDITION
    if any(varies(table.mean(axis=(1, 2))) for table in tables):
        return None
    means = [table.mean(axis=0) for table in tables]
    gaps = means[0] - means[1] if len(means) == 2 else means[0]
    if varies(gaps.ravel(), scale=max(float(np.abs(mean).max()) for mean in means)):
        return None
    return _constant(tables)


def _constant(tables: Sequence[Table]) -> str:
    return CONSTANT_SETS if len(tables) == 2 else CONSTANT_DIFFERENCES


def _test(shape: tuple[int, ...]) -> str:
    _, items, wordings = shape
    ways = 1 + (items >= LEAST) + (wordings >= LEAST)
    return {1: "t over conditions", 2: "crossed t", 3: "three-way crossed t"}[ways]

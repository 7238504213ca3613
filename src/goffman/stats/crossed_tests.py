"""Tests and variance components of crossed designs: rows × columns, conditions × items × wordings.

Cells of one row, or of one column, are alike; a test that takes them as independent finds too much.
With rows and columns random, the variance of the mean of a complete table is estimated by
(MS_rows + MS_columns − MS_cells) / (R·C), with Satterthwaite's degrees of freedom
V² / Σ Vₖ²/νₖ over its three parts (Cornfield & Tukey 1956; Satterthwaite 1946). Of two tables that
share their rows the row part is that of the row means' differences, and each table has its own
part for columns and cells. V is not let fall below what the cells alone give.

For normal values 95% intervals cover 92 to 98% where rows or columns vary, with three rows or
columns too, and up to 99.5% where only the cells do. With two columns that vary they cover 88 to
91%, and what is called clear is false in up to 12 of 100 null audits: then there is no test.

Conditions × items × wordings compared, where all three were sampled.

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

How much of the variance of a complete table lies in each of its factors, all sampled.

One value a cell, any number of factors. With the mean square MS of every source S (some factors)
and n_S cells in each of its levels, the expected mean squares of a table whose factors are all
sampled (Cornfield & Tukey 1956; Brennan 2001, 3.2) give

    σ²_S = 1/n_S · Σ over T ⊇ S of (−1)^(|T|−|S|) · MS_T

The source of all factors together is what is left. An estimate may lie below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from goffman.stats.estimate import Alternative
from goffman.stats.samples import (
    CONSTANT_DIFFERENCES,
    CONSTANT_SETS,
    apart,
    check_choice,
    check_level,
    in_pairs,
    numbers,
    varies,
)
from goffman.stats.tests import by_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.estimate import Estimate

Shared = Literal["both", "rows", "columns"]
"""What is the same in two tables: of two groups of diagnoses under the same prompts the rows, of
two phases' prompts the columns, of two models under the same prompts and diagnoses both."""

LEAST = 3
"""Rows, and columns, that a test needs."""

ONE_SENTENCE = "there is only one sentence, so nothing shows how much sentences differ"
ONE_CONDITION = "there is only one condition, so nothing shows how much conditions differ"
TWO_SENTENCES = f"there are only two sentences, and a test needs at least {LEAST}"
TWO_CONDITIONS = f"there are only two conditions, and a test needs at least {LEAST}"
GAPS = "some sentences have no value for some conditions, and the test needs every value"


def crossed_t(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    contrast: str,
    shared: Shared = "both",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Estimate:
    """The difference of two tables' means, with t and interval for rows and columns at random."""
    check_level(level)
    check_choice("alternative", alternative, allowed=get_args(Alternative))
    one, other = tables(first, second, shared=shared)
    estimate = replace(
        cell_means(one, other, shared=shared, contrast=contrast, method="t after Satterthwaite"),
        test="crossed t",
        alternative=alternative,
        level=level,
    )
    if estimate.reason or estimate.left_out:
        return replace(estimate, reason=estimate.reason or GAPS)
    if few := _too_few(one, other, LEAST, (TWO_SENTENCES, TWO_CONDITIONS)):
        return replace(estimate, reason=few)
    if shared == "both":
        parts = [_row_part(one - other), *_column_parts(one - other)]
    else:
        one, other = (one, other) if shared == "rows" else (one.T, other.T)
        rows = _row_part(one.mean(axis=1, keepdims=True) - other.mean(axis=1, keepdims=True))
        parts = [rows, *_column_parts(one), *_column_parts(other)]
    variance = _two_way_variance(parts)
    df = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    # More rows lower only their own part, in which the cells' is contained.
    lasting = float(np.sqrt(max(variance - parts[0][0], 0.0)))
    tested = by_t(
        estimate,
        float(one.mean() - other.mean()),
        error=float(np.sqrt(variance)),
        df=float(df),
        alternative=alternative,
        level=level,
    )
    return (
        tested if shared == "columns" else replace(tested, items=len(one), irreducible_se=lasting)
    )


def crossed_error(table: NDArray[np.float64]) -> float | None:
    """The standard error of a table's mean, for rows and columns at random; None: not known."""
    if min(table.shape) < 2 or np.isnan(table).any():
        return None
    return float(np.sqrt(_two_way_variance([_row_part(table), *_column_parts(table)])))


def _two_way_variance(parts: Sequence[tuple[float, int]]) -> float:
    """The sum of the parts, and at least what the cells alone give."""
    cells = -sum(part for part, _ in parts if part < 0)
    return max(sum(part for part, _ in parts), cells)


def tables(
    first: NDArray[np.float64], second: NDArray[np.float64], *, shared: Shared
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both tables with NaN for cells that do not count, once their shapes are found to agree."""
    check_choice("factor to share", shared, allowed=get_args(Shared))
    one, other = numbers(first, dimensions=2), numbers(second, dimensions=2)
    for axis, name in enumerate(("rows", "columns")):
        if shared in ("both", name) and one.shape[axis] != other.shape[axis]:
            sizes = f"{one.shape[axis]} and {other.shape[axis]}"
            raise ValueError(f"tables that share their {name} have {sizes} of them")
    if shared == "both":
        gap = np.isnan(one) | np.isnan(other)
        one, other = np.where(gap, np.nan, one), np.where(gap, np.nan, other)
    return one, other


def cell_means(
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    *,
    shared: Shared,
    contrast: str,
    method: str,
) -> Estimate:
    """Numbers and means of the cells, with the reason where they do not say how they vary."""
    cells = (in_pairs if shared == "both" else apart)(one.ravel(), other.ravel())
    few = _too_few(one, other, 2, (ONE_SENTENCE, ONE_CONDITION))
    sizes = " and ".join(f"{table.shape[0]} × {table.shape[1]}" for table in (one, other))
    return cells.estimate(
        contrast=contrast,
        method=f"{method}, rows and columns crossed, tables of {sizes}",
        reason=cells.absence or few or cells.obstacle,
    )


def _too_few(
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    least: int,
    reasons: tuple[str, str],
) -> str | None:
    """The first reason where there are fewer rows than that, the second of columns, or None."""
    for axis, reason in enumerate(reasons):
        if min(one.shape[axis], other.shape[axis]) < least:
            return reason
    return None


def _row_part(table: NDArray[np.float64]) -> tuple[float, int]:
    """MS_rows / (R·C), and its degrees of freedom."""
    rows = len(table)
    return float(table.mean(axis=1).var(ddof=1)) / rows, rows - 1


def _column_parts(table: NDArray[np.float64]) -> list[tuple[float, int]]:
    """MS_columns / (R·C) and −MS_cells / (R·C), each with its degrees of freedom."""
    rows, columns = table.shape
    centred = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    df = (rows - 1) * (columns - 1)
    return [_row_part(table.T), (-float((centred**2).sum()) / df / table.size, df)]


if TYPE_CHECKING:
    Table = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """The variance of a difference of means, and which part of it further items would lower."""

    variance: float
    df: float
    irreducible_se: float
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
    return replace(
        tested, items=tables[0].shape[1], irreducible_se=float(np.sqrt(found.irreducible_se))
    )


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
    return Sampled(variance=variance, df=df, irreducible_se=max(variance - lowered, 0.0))


def _conditions(table: Table) -> tuple[float, int]:
    """s²/n of the condition means."""
    n = len(table)
    return float(table.mean(axis=(1, 2)).var(ddof=1)) / n, n - 1


def _of_sentences(gaps: Table) -> tuple[tuple[float, int], tuple[float, int], tuple[float, int]]:
    """MS_i, MS_w and −MS_iw of a table of items × wordings, each over I·W."""
    items, wordings = gaps.shape
    of_items = _three_way_variance(gaps.mean(axis=1)) / items, items - 1
    of_wordings = _three_way_variance(gaps.mean(axis=0)) / wordings, wordings - 1
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


def _three_way_variance(values: Table) -> float:
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


Source = tuple[int, ...]
"""Axes of a table."""


def variance_components(table: NDArray[np.float64]) -> dict[Source, float]:
    """Of every source its variance; ValueError where a cell is empty or a factor has one level."""
    if np.isnan(table).any():
        raise ValueError("every cell needs a value")
    if min(table.shape) < 2:
        raise ValueError("every factor needs two levels or more")
    axes = range(table.ndim)
    sources = [one for size in axes for one in combinations(axes, size + 1)]
    squares = {one: _mean_square(table, one) for one in sources}
    return {
        one: sum(
            (-1) ** (len(other) - len(one)) * squares[other]
            for other in sources
            if {*one} <= {*other}
        )
        / (table.size / np.prod([table.shape[axis] for axis in one]))
        for one in sources
    }


def _mean_square(table: NDArray[np.float64], source: Source) -> float:
    """What the means of a source have beyond those of the sources that are parts of it."""
    shape = [size if axis in source else 1 for axis, size in enumerate(table.shape)]
    effect = np.zeros(shape)
    for size in range(len(source) + 1):
        for part in combinations(source, size):
            away = tuple(axis for axis in range(table.ndim) if axis not in part)
            sign = (-1) ** (len(source) - size)
            effect = effect + sign * table.mean(axis=away, keepdims=True)
    degrees = np.prod([table.shape[axis] - 1 for axis in source])
    return float((effect**2).sum() * table.size / effect.size / degrees)

"""Tables of rows × columns compared, where both were sampled: prompts × diagnoses.

Cells of one row, or of one column, are alike; a test that takes them as independent finds too much.
With rows and columns random, the variance of the mean of a complete table is estimated by
(MS_rows + MS_columns − MS_cells) / (R·C), with Satterthwaite's degrees of freedom
V² / Σ Vₖ²/νₖ over its three parts (Cornfield & Tukey 1956; Satterthwaite 1946). Of two tables that
share their rows the row part is that of the row means' differences, and each table has its own
part for columns and cells. V is not let fall below what the cells alone give.

For normal values 95% intervals cover 92 to 98% where rows or columns vary, with three rows or
columns too, and up to 99.5% where only the cells do. With two columns that vary they cover 88 to
91%, and what is called clear is false in up to 12 of 100 null audits: then there is no test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from goffman.records import Alternative
from goffman.stats.compare import by_t
from goffman.stats.samples import apart, check_choice, check_level, in_pairs, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.records import Estimate

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
    variance = _variance(parts)
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
    return tested if shared == "columns" else replace(tested, items=len(one), lasting=lasting)


def crossed_error(table: NDArray[np.float64]) -> float | None:
    """The standard error of a table's mean, for rows and columns at random; None: not known."""
    if min(table.shape) < 2 or np.isnan(table).any():
        return None
    return float(np.sqrt(_variance([_row_part(table), *_column_parts(table)])))


def _variance(parts: Sequence[tuple[float, int]]) -> float:
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

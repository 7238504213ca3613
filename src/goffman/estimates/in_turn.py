"""Contrasts of questions that were asked in turn: each condition, or presentation, has some items.

Then there is no complete table of conditions × items. Yet an item is asked about many conditions,
and what it does to a group, or with an order, is in all of them: taken as a part of the condition
it made 9 to 17 of 100 null audits clear. So single answers are clustered by condition and by item
(clustered.py). Every condition counts as much, whatever it was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.stats.clustered import clustered_t
from goffman.stats.samples import apart, in_pairs

if TYPE_CHECKING:
    from goffman.estimates.contrast import Contrast
    from goffman.records import Estimate

ASKED = "asked_item"
"""The column with the item that was asked, where ``item`` no longer says it."""

OVER = "conditions and items, each condition with some of them"
HOW = f"interval and p: answers clustered by condition and item; interval over {OVER}"
WAYS = ("conditions", "items")
KEYS = ("condition", ASKED)


def two_sets(says: Contrast, sides: Sequence[pl.DataFrame]) -> Estimate:
    """The mean of one side's conditions minus that of the other's.

    An item may be in both. So may a condition, asked in two presentations: it counts once in n.
    """
    cells = [_cells(side) for side in sides]
    means = [_of_conditions(side) for side in cells]
    samples = apart(*means)
    both = pl.concat(cells)
    about = samples.estimate(contrast=says.text, method=HOW, reason=samples.absence)
    about = replace(about, n=both["condition"].n_unique())
    signs = np.repeat([1.0, -1.0], [len(side) for side in cells])
    # Regressed on the sign, the answers have half the difference as its coefficient.
    tested = _tested(about, both, both["value"].to_numpy() * signs, signs=signs)
    if tested.p is None or tested.low is None or tested.high is None:
        return tested
    twice = {name: 2 * getattr(tested, name) for name in ("difference", "low", "high", "error")}
    return replace(tested, **twice)


def the_same(says: Contrast, sides: Sequence[pl.DataFrame]) -> Estimate:
    """The mean difference of two sides that were asked the same of the same conditions."""
    first, second = (_cells(side) for side in sides)
    cells = first.join(second.drop("weight"), on=KEYS, suffix="_second").sort(KEYS)
    values = pl.col("value") - pl.col("value_second")
    samples = in_pairs(_of_conditions(cells), _of_conditions(cells, "value_second"))
    about = samples.estimate(contrast=says.text, method=HOW, reason=samples.absence)
    return _tested(about, cells, cells.select(values).to_series().to_numpy())


def _tested(
    about: Estimate,
    cells: pl.DataFrame,
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    *,
    signs: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None = None,
) -> Estimate:
    tested = clustered_t(
        about,
        values,
        [cells[key].to_list() for key in KEYS],
        signs=signs,
        weights=cells["weight"].to_numpy(),
        called=WAYS,
    )
    over = None if tested.low is None else OVER
    return replace(tested, unit="conditions", interval_over=over)


def _cells(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each condition and item the mean, with a weight by which all conditions count alike."""
    means = rows.group_by(KEYS).agg(pl.col("value").mean()).drop_nulls("value").sort(KEYS)
    return means.with_columns(weight=1 / pl.len().over("condition"))


def _of_conditions(cells: pl.DataFrame, name: str = "value") -> list[float | None]:
    means = cells.group_by("condition", maintain_order=True).agg(pl.col(name).mean())
    return means[name].to_list()

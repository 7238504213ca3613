"""How much of the variance of a complete table lies in each of its factors, all sampled.

One value a cell, any number of factors. With the mean square MS of every source S (some factors)
and n_S cells in each of its levels, the expected mean squares of a table whose factors are all
sampled (Cornfield & Tukey 1956; Brennan 2001, 3.2) give

    σ²_S = 1/n_S · Σ over T ⊇ S of (−1)^(|T|−|S|) · MS_T

The source of all factors together is what is left. An estimate may lie below 0.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

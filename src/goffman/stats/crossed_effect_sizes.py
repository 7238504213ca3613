"""Standardised differences of two tables of rows × columns, with intervals for both at random.

d is that of the cells, Cohen's with the pooled SD, and beside it stands d_z where the tables share
both factors, else Hedges' g. The interval is d ± t_ν·SE with the ν of the crossed t and

    SE² = (SE of the difference / s)² + d² · CV²(s)

where CV(s), the SD of s over its mean, is drawn, rows and columns crossed as in ``resample``: the
delta method, for an s that is itself uncertain. Of normal values in 11 columns it covers 94 to 99%
where rows or columns vary, with three rows too, and 98 to 100% where only the cells do. Without the
second part it covers 90 to 95% at a d of 1.2. Quantiles of the drawn d, which would be simpler,
cover 88 to 95% with 17 rows, 75 to 92% with 4 and 66 to 92% with 3: they are not given.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from goffman.stats.crossed_tests import tables
from goffman.stats.effect_sizes import (
    Effect,
    d_of,
    d_z_of,
    paired_d_of,
    pooled_sd,
    unbiased,
)
from goffman.stats.resampling import counts
from goffman.stats.samples import apart, in_pairs, seed_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.crossed_tests import Shared
    from goffman.stats.estimate import Estimate

if TYPE_CHECKING:
    Drawn = NDArray[np.float64]


def crossed_effects(
    tested: Estimate,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    shared: Shared,
    rng: np.random.Generator,
    draws: int = 9_999,
) -> tuple[Effect, Effect]:
    """Cohen's d, and d_z or Hedges' g, with intervals; ``tested``: the tables' crossed t."""
    one, other = tables(first, second, shared=shared)
    level = tested.level or 0.95
    paired = shared == "both"
    cells = (in_pairs if paired else apart)(one.ravel(), other.ravel())
    # Their own intervals, which take rows and columns as fixed, are not used.
    d = paired_d_of(cells, level=level) if paired else d_of(cells, level=level, interval=False)
    d_z = d_z_of(cells, level=level, interval=False) if paired else None
    if tested.p is None:
        d = replace(d, low=None, high=None, reason=tested.reason)
        d_z = d_z and replace(d_z, low=None, high=None, reason=tested.reason)
    else:
        how = (one.shape, other.shape, shared, seed_of(rng), draws)
        of_one, _ = _weights(*how)
        squares = _squares(one, *of_one) + _squares_of_second(other.tobytes(), how)
        d = _with_interval(d, tested, sd=pooled_sd(cells), squares=squares)
        if d_z:
            squares = _squares(one - other, *of_one)
            sd = float(cells.differences.std(ddof=1))
            d_z = _with_interval(d_z, tested, sd=sd, squares=squares)
    return d, d_z or unbiased(d, df=len(cells.first) + len(cells.second) - 2)


@lru_cache(maxsize=2)
def _weights(
    one: tuple[int, ...], other: tuple[int, ...], shared: Shared, seed: int, draws: int
) -> tuple[tuple[Drawn, Drawn], tuple[Drawn, Drawn]]:
    """How often either table's rows and columns were drawn; what is shared is drawn together.

    A run has thousands of tables of one shape, whose draws all begin at one seed.
    """
    rng = np.random.default_rng(seed)
    rows, columns = (counts(size, rng=rng, draws=draws) for size in one)
    if shared == "rows":
        return (rows, columns), (rows, counts(other[1], rng=rng, draws=draws))
    if shared == "columns":
        return (rows, columns), (counts(other[0], rng=rng, draws=draws), columns)
    return (rows, columns), (rows, columns)


def _squares(table: NDArray[np.float64], rows: Drawn, columns: Drawn) -> Drawn:
    """The squared distances of the cells from their mean, summed in each draw."""
    # A common shift changes no distance, and costs digits.
    centred = table - table.mean()
    total = row_sums((rows @ centred) * columns)
    return np.asarray(row_sums((rows @ centred**2) * columns) - total**2 / table.size)


@lru_cache(maxsize=2)
def _squares_of_second(
    cells: bytes, how: tuple[tuple[int, ...], tuple[int, ...], Shared, int, int]
) -> Drawn:
    """The same of the second table; kept, since hundreds are compared with one and the same."""
    _, weights = _weights(*how)
    return _squares(np.frombuffer(cells).reshape(how[1]), *weights)


IN_TURN = 8
"""Of fewer columns numpy adds a row's numbers one after the other."""


def row_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """``table.sum(axis=1)`` to the last bit; of few columns ten times as fast."""
    if table.shape[1] >= IN_TURN:
        return np.asarray(table.sum(axis=1))
    total = table[:, 0].copy()
    for column in table.T[1:]:
        total += column
    return total


def _with_interval(effect: Effect, tested: Estimate, *, sd: float, squares: Drawn) -> Effect:
    """The effect with its interval, from the drawn sums of squares that its SD is made of."""
    value, df = float(effect.value or 0.0), float(tested.df or 0.0)
    t = float(special.stdtrit(df, (1 + effect.level) / 2))
    error = (float(tested.high or 0.0) - float(tested.low or 0.0)) / (2 * t)
    # Rounding may take a sum of none below 0; a constant divisor changes no ratio.
    spread = np.sqrt(np.maximum(squares, 0.0))
    reach = t * math.hypot(error / sd, value * float(spread.std(ddof=1) / spread.mean()))
    return replace(effect, low=value - reach, high=value + reach)

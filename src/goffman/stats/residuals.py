"""Which conditions lie further from a line through all of them than the others' scatter explains.

Externally studentized residuals of a least-squares fit (Cook & Weisberg 1982): with e the residual,
h its leverage and s₍₋ᵢ₎ the scatter of the others about the line without it, t = e/(s₍₋ᵢ₎√(1−h))
has n − k − 2 degrees of freedom, k columns beside the constant. p is two-sided, corrected over all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from goffman.stats.multiple_testing import benjamini_hochberg

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

SPARE = 10
"""So many more conditions than columns there must be."""


def residuals(values: Values, columns: Values) -> dict[str, Values] | None:
    """Return the residuals of values on columns (conditions × columns), and R² as ``explained``.

    Numbers by name, one for each condition; None: too few conditions, or nothing left.
    """
    n, k = columns.shape
    if n < k + SPARE or np.ptp(values) == 0:
        return None
    design = np.column_stack([np.ones(n), columns])
    basis, triangle = np.linalg.qr(design)
    if np.abs(np.diag(triangle)).min() < 1e-10 * np.abs(np.diag(triangle)).max():
        return None
    predicted = basis @ (basis.T @ values)
    residual = values - predicted
    room = 1 - (basis**2).sum(axis=1)
    total = float(residual @ residual)
    df = n - k - 2
    without = (total - residual**2 / np.maximum(room, 1e-12)) / df
    if total < 1e-20 or (without <= 0).any() or (room < 1e-9).any():
        return None
    t = residual / np.sqrt(without * room)
    p = np.maximum(2 * special.stdtr(df, -np.abs(t)), np.finfo(float).tiny)
    explained = 1 - total / float(((values - values.mean()) ** 2).sum())
    return {
        "predicted": predicted,
        "residual": residual,
        "statistic": t,
        "p": p,
        "p_adjusted": benjamini_hochberg(p),
        "explained": np.full(n, explained),
    }

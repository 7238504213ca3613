"""How far raters agree: Cohen's κ and Krippendorff's α, of labels without an order.

κ = (p_o − p_e) / (1 − p_e), with p_o = Σ w_ij p_ij and p_e = Σ w_ij p_i. p_.j, where p_ij is the
share of units that the first rater puts in category i and the second in j (Cohen 1960), and w_ij is
1 on the diagonal and 0 elsewhere. Its large-sample variance, for a κ that is not 0, is

    Σ p_ij (w_ij − (w̄_i. + w̄_.j)(1 − κ))² − (κ − p_e (1 − κ))²
    ───────────────────────────────────────────────────────────     w̄_i. = Σ_j p_.j w_ij
                        n (1 − p_e)²                                w̄_.j = Σ_i p_i. w_ij

(Fleiss, Cohen & Everitt 1969). The interval is κ ± z·SE, cut at −1 and 1.

α = 1 − D_o / D_e over the coincidences of values within units (Krippendorff 2004, ch. 11): a unit
with m ≥ 2 values gives each ordered pair of them the weight 1/(m−1); units with fewer are left out.
The difference of two values is 0 or 1 (nominal).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goffman.stats.intervals import LEVEL, Z

if TYPE_CHECKING:
    from numpy.typing import NDArray

MISSING = -1
"""How a rating that is not there is written among category numbers."""

NO_OVERLAP = "no unit was rated by two raters"
ONE_CATEGORY = "only one label was used, so the raters would also agree by chance"
ONE_SIDED = (
    "a rater used only one label, so κ is 0 whatever the other rater says, and has no interval"
)
NO_WIDTH = "the raters agree on everything, so the interval would have no width"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """A coefficient of agreement, and what is needed to doubt it."""

    value: float | None
    """1 is perfect, 0 is chance; None: it is not defined here."""
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    """The interval, or None."""
    confidence: float | None = None
    """Of the interval, such as 0.95."""
    n: int
    """Units that were rated at least twice."""
    method: str
    """The coefficient by name."""
    reason: str | None = None
    """Why there is no value, or no interval."""


def confusion(
    first: Sequence[int] | NDArray[np.int64],
    second: Sequence[int] | NDArray[np.int64],
    *,
    categories: int,
) -> NDArray[np.int64]:
    """How often the first rater said row and the second column; units with a gap are left out."""
    rows, columns = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    both = (rows != MISSING) & (columns != MISSING)
    table = np.zeros((categories, categories), dtype=np.int64)
    np.add.at(table, (rows[both], columns[both]), 1)
    return table


def cohen_kappa(table: NDArray[np.int64]) -> Agreement:
    """Return κ of a square table of counts, with its large-sample interval."""
    n, method = int(table.sum()), "Cohen's κ"
    # Counts decide where the formula says nothing: sums of shares would be off in the last digit.
    used = np.count_nonzero(table.sum(axis=1)), np.count_nonzero(table.sum(axis=0))
    if n == 0:
        return Agreement(value=None, n=n, method=method, reason=NO_OVERLAP)
    if np.trace(table) == n:
        value, reason = (None, ONE_CATEGORY) if used[0] == 1 else (1.0, NO_WIDTH)
        return Agreement(value=value, n=n, method=method, reason=reason)
    if min(used) == 1:
        return Agreement(value=0.0, n=n, method=method, reason=ONE_SIDED)
    shares, weight = table / n, np.eye(len(table))
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = float((weight * np.outer(rows, columns)).sum())
    kappa = (float((weight * shares).sum()) - expected) / (1 - expected)
    means = (weight @ columns)[:, None] + (rows @ weight)[None, :]
    spread = float((shares * (weight - means * (1 - kappa)) ** 2).sum())
    variance = (spread - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)
    # A variance of 0 may come out a little below it.
    error = float(np.sqrt(max(variance, 0.0)))
    reach = Z * error
    return Agreement(
        value=kappa,
        standard_error=error,
        low=max(kappa - reach, -1.0),
        high=min(kappa + reach, 1.0),
        confidence=LEVEL,
        n=n,
        method=method,
    )


def krippendorff_alpha(ratings: NDArray[np.int64], *, categories: int) -> Agreement:
    """Return nominal α of raters × units of category numbers, −1 where there is none."""
    method = "Krippendorff's α, nominal"
    counts = np.stack([(ratings == number).sum(axis=0) for number in range(categories)], axis=1)
    pairable = counts[counts.sum(axis=1) >= 2].astype(np.float64)
    n = len(pairable)
    if n == 0:
        return Agreement(value=None, n=0, method=method, reason=NO_OVERLAP)
    values = pairable.sum(axis=0)
    if np.count_nonzero(values) == 1:
        return Agreement(value=None, n=n, method=method, reason=ONE_CATEGORY)
    weighted = pairable / (pairable.sum(axis=1) - 1)[:, None]
    coincidences = weighted.T @ pairable - np.diag(weighted.sum(axis=0))
    chance = np.outer(values, values) - np.diag(values)
    difference = 1 - np.eye(categories)
    observed = float((coincidences * difference).sum())
    expected = float((chance * difference).sum()) / (values.sum() - 1)
    return Agreement(value=float(1 - observed / expected), n=n, method=method)

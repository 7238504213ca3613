"""p-values corrected over a declared family of tests.

With m p-values in order, p₍₁₎ ≤ … ≤ p₍ₘ₎: Bonferroni m·p; Holm (1979) the running maximum of
(m−i+1)·p₍ᵢ₎; Benjamini & Hochberg (1995) the running minimum, from the top, of m/i·p₍ᵢ₎; each at
most 1. The first two bound the chance of any false finding, the third the share of false findings
(for independent or positively dependent tests).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from goffman.stats.estimate import Correction, Estimate
from goffman.stats.samples import check_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray


def adjust(
    estimates: Sequence[Estimate], *, family: str, method: Correction = "holm"
) -> tuple[Estimate, ...]:
    """The same estimates in the same order, with p corrected over all of them that have one.

    An estimate without p stays without, and is not counted in the family's size.
    """
    check_choice("correction", method, allowed=get_args(Correction))
    values = np.array([estimate.p for estimate in estimates if estimate.p is not None])
    corrected = iter(adjusted(values, method=method).tolist())
    return tuple(
        replace(
            estimate,
            p_adjusted=None if estimate.p is None else next(corrected),
            correction=method,
            family=family,
            family_size=len(values),
        )
        for estimate in estimates
    )


def adjusted(p: NDArray[np.float64], *, method: Correction) -> NDArray[np.float64]:
    """Corrected p-values in the order given."""
    m = len(p)
    if method == "bonferroni":
        return np.minimum(p * m, 1.0)
    order = np.argsort(p, kind="stable")
    place = np.arange(1, m + 1)
    if method == "holm":
        ranked = np.maximum.accumulate(p[order] * (m - place + 1))
    else:
        ranked = np.minimum.accumulate((p[order] * (m / place))[::-1])[::-1]
    result = np.empty(m)
    result[order] = np.minimum(ranked, 1.0)
    return result

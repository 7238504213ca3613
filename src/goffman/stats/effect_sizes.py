"""Standardized mean differences, for papers and replications.

Two independent sets: d = (m₁ − m₂) / s_p with s_p² = ((n₁−1)s₁² + (n₂−1)s₂²) / (n₁+n₂−2); pairs:
the same, which takes no note of the pairing (Cohen 1988). Against a constant: the
mean difference over its SD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from goffman.stats.samples import Samples

D_POOLED = "Cohen's d, pooled SD"


def cohen_d(samples: Samples) -> float | None:
    """Return Cohen's d; None where the values do not vary."""
    if samples.obstacle:
        return None
    one_set = samples.paired and 0.0 in (np.ptp(samples.first), np.ptp(samples.second))
    spread = float(samples.differences.std(ddof=1)) if one_set else pooled_sd(samples)
    return float(samples.first.mean() - samples.second.mean()) / spread if spread else None


def pooled_sd(samples: Samples) -> float:
    """Return the root of the sets' variances, each weighted by its degrees of freedom."""
    n1, n2 = len(samples.first), len(samples.second)
    squares = (n1 - 1) * samples.first.var(ddof=1) + (n2 - 1) * samples.second.var(ddof=1)
    return float(np.sqrt(squares / (n1 + n2 - 2)))

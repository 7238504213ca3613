"""A mean, or a regression's coefficient, of values that share what they are made from.

Sentence pairs that have a frame or an occupation in common are alike; a test that takes them as
independent finds too much. The variance of least squares is estimated cluster by cluster and, for
several ways of clustering, by inclusion and exclusion: those of each way added, those of every two
taken off, that of all three added again (Cameron, Gelbach & Miller 2011). A cluster pulls the fit
towards itself, so each part is that of the jackknife, which leaves out one cluster after another:
(G−1)/G Σ_g (b − b₋g)² over its G clusters (Bell & McCaffrey 2002). The whole is not let fall below
the largest of the single ways. The degrees of freedom are those of the way with the fewest
clusters, less two.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goffman.stats.samples import CONSTANT_DIFFERENCES
from goffman.stats.tests import by_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.stats.estimate import Estimate

WAYS = ("sentence frames", "referents", "other occupations")
"""What the clusters of sentence pairs are, in the order in which they are given."""

LEAST = 6
"""Clusters that every way must have: fewer say too little of how they vary."""

ROUNDING = 1e-9
"""Of the largest value: what is left over and smaller than this is rounding."""


def clustered_t(
    estimate: Estimate,
    values: NDArray[np.float64],
    ways: Sequence[Sequence[Hashable]],
    *,
    signs: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    called: Sequence[str] = WAYS,
    level: float = 0.95,
) -> Estimate:
    """The estimate with t, interval and p of the values' mean against 0.

    ``ways``: of each value its cluster, one sequence a way; ``called``: what these are;
    ``weights``: how much each value counts. With ``signs`` (±1) the values times
    their sign are regressed on 1 and the sign, and the coefficient of the sign is tested: what is
    common to both signs, such as the more frequent pronoun, then has no part in it.
    """
    estimate = replace(estimate, test="clustered t", alternative="two-sided", level=level)
    if estimate.reason:
        return estimate
    coded = [np.unique(np.array(way, dtype=str), return_inverse=True)[1] for way in ways]
    counts = [int(codes.max()) + 1 for codes in coded]
    if min(counts, default=0) < LEAST:
        return replace(estimate, reason=_too_few(counts, called))
    if signs is not None and len(np.unique(signs)) == 1:
        signs = None
    design = np.ones((len(values), 1)) if signs is None else np.column_stack([signs, signs**0])
    wanted = values if signs is None else values * signs
    if weights is not None:
        design, wanted = design * np.sqrt(weights)[:, None], wanted * np.sqrt(weights)
    bread = np.asarray(np.linalg.inv(design.T @ design), dtype=np.float64)
    coefficients = bread @ design.T @ wanted
    residuals = wanted - design @ coefficients
    # Values that are all the same, or differ by their sign alone, leave no error to test with.
    if not np.any(np.abs(residuals) > ROUNDING * np.abs(wanted).max()):
        return replace(estimate, reason=CONSTANT_DIFFERENCES)
    scores = design * residuals[:, None]
    return by_t(
        estimate,
        float(coefficients[0]),
        error=float(np.sqrt(_variance(design, scores, bread, coded))),
        df=float(min(counts) - 2),
        alternative="two-sided",
        level=level,
    )


def _too_few(counts: Sequence[int], called: Sequence[str]) -> str:
    few = [f"{way} ({count})" for count, way in zip(counts, called, strict=False) if count < LEAST]
    return f"there are too few different {' and '.join(few)}, and a test needs at least {LEAST}"


def _variance(
    design: NDArray[np.float64],
    scores: NDArray[np.float64],
    bread: NDArray[np.float64],
    ways: Sequence[NDArray[np.int64]],
) -> float:
    """Of the first coefficient, by inclusion and exclusion over the ways of clustering."""
    total, single = 0.0, 0.0
    for size in range(1, len(ways) + 1):
        for some in itertools.combinations(ways, size):
            # Those that agree in all of these ways are one cluster.
            codes = np.unique(np.stack(some), axis=1, return_inverse=True)[1].ravel()
            part = _jackknife(design, scores, bread, codes)
            total += part if size % 2 else -part
            single = max(single, part) if size == 1 else single
    return max(total, single)


def _jackknife(
    design: NDArray[np.float64],
    scores: NDArray[np.float64],
    bread: NDArray[np.float64],
    codes: NDArray[np.int64],
) -> float:
    """(G−1)/G Σ (b − b₋g)² of the first coefficient, without fitting anew for each cluster."""
    clusters, columns = int(codes.max()) + 1, design.shape[1]
    sums = np.zeros((clusters, columns))
    np.add.at(sums, codes, scores)
    products = np.zeros((clusters, columns, columns))
    np.add.at(products, codes, design[:, :, None] * design[:, None, :])
    # b − b₋g = B (I − M_g B)⁻¹ s_g; a cluster that holds all of one sign cannot be left out.
    without = np.eye(columns) - products @ bread
    changes = (np.linalg.pinv(without) @ sums[:, :, None])[:, :, 0] @ bread[0]
    return float((changes**2).sum()) * (clusters - 1) / clusters

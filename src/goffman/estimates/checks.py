"""Checks beside a test: ranks, and permutations, of the same two sets.

They are columns of the contrast that they check, not rows: a check is no further finding, so it is
in no family and its p is not corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from goffman.records import Estimate
from goffman.stats.compare import mann_whitney, wilcoxon
from goffman.stats.correlate import spearman
from goffman.stats.permute import correlation_permutation, paired_permutation, permutation

if TYPE_CHECKING:
    import numpy as np

    from goffman.stats.samples import Values


Relation = Literal["pairs", "sets", "correlation"]
"""What the two sets are to each other."""

CHECKS: Mapping[Relation, tuple[Callable[..., Estimate], Callable[..., Estimate]]] = {
    "pairs": (wilcoxon, paired_permutation),
    "sets": (mann_whitney, permutation),
    "correlation": (spearman, correlation_permutation),
}
"""The rank test, and the permutation test of the very number that is checked."""


def checked(
    estimate: Estimate,
    first: Values,
    second: Values,
    *,
    kind: Relation,
    over: str,
    rng: np.random.Generator,
    draws: int,
) -> Estimate:
    """The estimate with both checks of the two sets beside it."""
    ranked, permuted = CHECKS[kind]
    ranks = ranked(first, second, contrast=estimate.contrast)
    drawn = permuted(first, second, contrast=estimate.contrast, rng=rng, draws=draws)
    return _beside(estimate, ranks, drawn, over=over)


def _beside(estimate: Estimate, ranks: Estimate, drawn: Estimate, *, over: str) -> Estimate:
    """The estimate with both checks, how they were computed, and why one has no p."""
    reasons = [one.reason for one in (ranks, drawn) if one.p is None and one.reason]
    how = [f"check: {ranks.method}"] * (ranks.p is not None)
    how += [f"permutation: {drawn.method}"] * (drawn.p is not None)
    return replace(
        estimate,
        check=ranks.test,
        check_over=over,
        check_n=ranks.n,
        check_effect=ranks.effect,
        check_p=ranks.p,
        permutation_p=drawn.p,
        check_reason="; ".join(dict.fromkeys(reasons)) or None,
        method="; ".join([estimate.method, *how]),
        # Every draw of a contrast begins at the same seed.
        draws=estimate.draws or drawn.draws,
        seed=drawn.seed if estimate.seed is None else estimate.seed,
    )

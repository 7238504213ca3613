"""How far a lower precision is from float32, measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goffman.models.batches import batch_limits, plan_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.models.base import Fills


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """How far one model's fills are from another's on the same sentences."""

    sentences: int
    top_k: int
    overlap: float
    """The mean share of float32's top k that is in the other's, 0 to 1."""
    overlap_lowest: float
    """That share in the sentence where it is lowest."""
    largest_difference: float
    """The largest absolute difference of a probability among float32's top k."""


def deviation(
    low: Fills, float32: Fills, *, encoded: Sequence[Sequence[int]], top_k: int
) -> Deviation:
    """The deviation of a model in a lower precision from itself in float32."""
    if not encoded:
        raise ValueError("deviation needs at least one sentence")
    shares: list[float] = []
    largest = 0.0
    max_tokens, max_size = batch_limits(float32.identity.device)
    lengths = [len(sentence) for sentence in encoded]
    for batch in plan_batches(lengths, max_tokens=max_tokens, max_size=max_size):
        sentences = [encoded[index] for index in batch]
        exact = float32.fill_batch(sentences, top_k=top_k)
        union = np.unique(exact.token_ids)
        rough = low.fill_batch(sentences, top_k=top_k, targets=union.tolist())
        for row in range(len(batch)):
            common = np.intersect1d(exact.token_ids[row], rough.token_ids[row])
            shares.append(len(common) / top_k)
            same = rough.targets[row, np.searchsorted(union, exact.token_ids[row])]
            largest = max(largest, float(np.abs(same - exact.probabilities[row]).max()))
    return Deviation(
        sentences=len(encoded),
        top_k=top_k,
        overlap=float(np.mean(shares)),
        overlap_lowest=min(shares),
        largest_difference=largest,
    )

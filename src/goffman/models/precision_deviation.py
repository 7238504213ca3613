"""Measures of how far a lower precision is from float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goffman.models.base import by_meaning
from goffman.models.batching import batch_limits, plan_batches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goffman.models.base import Classifies, Fills, Picks, Scores

SAMPLE = 64
"""How many of the prompts are asked in both precisions."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The sentences on which two precisions of a model are compared."""

    texts: Sequence[str]
    top_k: int
    """How many words are compared at each mask; 0 if no masks are asked."""
    seed: int
    """The seed that drew the sentences."""


def draw_sample(texts: Sequence[str], *, top_k: int, seed: int) -> Sample:
    """Return some of the distinct texts, drawn by the seed, whatever order they are given in."""
    distinct = sorted(set(texts))
    count = min(SAMPLE, len(distinct))
    drawn = np.random.default_rng(seed).choice(len(distinct), size=count, replace=False)
    return Sample(texts=[distinct[index] for index in sorted(drawn)], top_k=top_k, seed=seed)


def fills_deviation(low: Fills, float32: Fills, sample: Sample) -> Mapping[str, Any]:
    """Return the mean and lowest overlap of the top k, and the largest difference.

    The difference is that of a probability among float32's top k.
    """
    encoded, top_k = float32.encode(sample.texts), sample.top_k
    if not encoded:
        raise ValueError("deviation needs at least one sentence")
    overlaps: list[float] = []
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
            overlaps.append(len(common) / top_k)
            matching = rough.targets[row, np.searchsorted(union, exact.token_ids[row])]
            largest = max(largest, float(np.abs(matching - exact.probabilities[row]).max()))
    return {
        "sentences": len(encoded),
        "top_k": top_k,
        "overlap": float(np.mean(overlaps)),
        "overlap_lowest": min(overlaps),
        "largest_difference": largest,
        "seed": sample.seed,
    }


def deviation_of(
    low: Scores | Picks, float32: Scores | Picks, sample: Sample, *, ask: str
) -> Mapping[str, Any]:
    """Return the mean and the largest difference of what the method ``ask`` gives.

    For score_batch it is the logarithm of a sentence's probability, for pick_batch a probability.
    """
    encoded = float32.encode(sample.texts)
    rough, exact = (
        np.concatenate([getattr(model, ask)([sentence]) for sentence in encoded])
        for model in (low, float32)
    )
    return {
        "sentences": len(encoded),
        "mean_difference": float(np.abs(rough - exact).mean()),
        "largest_difference": float(np.abs(rough - exact).max()),
        "seed": sample.seed,
    }


def labels_deviation(low: Classifies, float32: Classifies, sample: Sample) -> Mapping[str, Any]:
    """Return the share of sentences with equal labels, and the largest probability difference."""
    encoded = float32.encode(sample.texts)
    # One by one: there are few sentences, and a batch might affect precisions differently.
    rough = np.concatenate([low.classify_batch([sentence]) for sentence in encoded])
    exact = np.concatenate([float32.classify_batch([sentence]) for sentence in encoded])
    labels = [
        by_meaning(probabilities, float32.labels)[1].argmax(axis=1)
        for probabilities in (rough, exact)
    ]
    return {
        "sentences": len(encoded),
        "same_label": float((labels[0] == labels[1]).mean()),
        "largest_difference": float(np.abs(rough - exact).max()),
        "seed": sample.seed,
    }

"""How far a lower precision is from float32, measured."""

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
"""So many of the prompts are asked in both precisions."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The sentences on which two precisions of a model are compared."""

    texts: Sequence[str]
    top_k: int
    """So many words are compared at each mask; 0 where no masks are asked."""
    seed: int
    """The sentences were drawn by it."""


def draw_sample(texts: Sequence[str], *, top_k: int, seed: int) -> Sample:
    """Some of the different texts, drawn by the seed, whatever the order they are given in."""
    different = sorted(set(texts))
    count = min(SAMPLE, len(different))
    drawn = np.random.default_rng(seed).choice(len(different), size=count, replace=False)
    return Sample(texts=[different[index] for index in sorted(drawn)], top_k=top_k, seed=seed)


def fills_deviation(low: Fills, float32: Fills, sample: Sample) -> Mapping[str, Any]:
    """The overlap of the top k, on average and at its lowest, and the largest difference.

    That is of a probability among float32's top k.
    """
    encoded, top_k = float32.encode(sample.texts), sample.top_k
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
    return {
        "sentences": len(encoded),
        "top_k": top_k,
        "overlap": float(np.mean(shares)),
        "overlap_lowest": min(shares),
        "largest_difference": largest,
        "seed": sample.seed,
    }


def deviation_of(
    low: Scores | Picks, float32: Scores | Picks, sample: Sample, *, ask: str
) -> Mapping[str, Any]:
    """The mean and the largest difference of what the method ``ask`` gives.

    Of score_batch it is the logarithm of a sentence's probability, of pick_batch a probability.
    """
    encoded = float32.encode(sample.texts)
    rough, exact = (
        np.concatenate([getattr(model, ask)([one]) for one in encoded]) for model in (low, float32)
    )
    return {
        "sentences": len(encoded),
        "mean_difference": float(np.abs(rough - exact).mean()),
        "largest_difference": float(np.abs(rough - exact).max()),
        "seed": sample.seed,
    }


def labels_deviation(low: Classifies, float32: Classifies, sample: Sample) -> Mapping[str, Any]:
    """The share of sentences with the same label and the largest difference of a probability."""
    encoded = float32.encode(sample.texts)
    # One by one: a few sentences, and no batch that a precision might bear otherwise.
    rough = np.concatenate([low.classify_batch([sentence]) for sentence in encoded])
    exact = np.concatenate([float32.classify_batch([sentence]) for sentence in encoded])
    labels = [by_meaning(given, float32.labels)[1].argmax(axis=1) for given in (rough, exact)]
    return {
        "sentences": len(encoded),
        "same_label": float((labels[0] == labels[1]).mean()),
        "largest_difference": float(np.abs(rough - exact).max()),
        "seed": sample.seed,
    }

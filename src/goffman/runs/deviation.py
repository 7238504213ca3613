"""How far a model in a lower precision is from itself in float32, for the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from goffman.models.precision import deviation
from goffman.runs.rows import by_meaning

if TYPE_CHECKING:
    from goffman.models.base import Classifies, Fills, Scores
    from goffman.runs.entries import Entry

SAMPLE = 64
"""So many of the prompts are asked in both precisions."""


def sample(texts: Sequence[str], *, seed: int) -> list[str]:
    """Some of the different texts, drawn by the seed, whatever the order they are given in."""
    different = sorted(set(texts))
    count = min(SAMPLE, len(different))
    drawn = np.random.default_rng(seed).choice(len(different), size=count, replace=False)
    return [different[index] for index in sorted(drawn)]


def fills_deviation(
    low: Fills, float32: Fills, *, texts: Sequence[str], top_k: int, seed: int
) -> Entry:
    """The overlap of the top k and the largest difference of a probability."""
    encoded = float32.encode(sample(texts, seed=seed))
    return asdict(deviation(low, float32, encoded=encoded, top_k=top_k)) | {"seed": seed}


def likelihoods_deviation(
    low: Scores, float32: Scores, *, texts: Sequence[str], seed: int
) -> Entry:
    """The mean and the largest difference of the logarithm of a sentence's probability."""
    encoded = float32.encode(sample(texts, seed=seed))
    rough = np.concatenate([low.score_batch([sentence]) for sentence in encoded])
    exact = np.concatenate([float32.score_batch([sentence]) for sentence in encoded])
    return {
        "sentences": len(encoded),
        "mean_difference": float(np.abs(rough - exact).mean()),
        "largest_difference": float(np.abs(rough - exact).max()),
        "seed": seed,
    }


def labels_deviation(
    low: Classifies, float32: Classifies, *, texts: Sequence[str], seed: int
) -> Entry:
    """The share of sentences with the same label and the largest difference of a probability."""
    encoded = float32.encode(sample(texts, seed=seed))
    # One by one: a few sentences, and no batch that a precision might bear otherwise.
    rough = np.concatenate([low.classify_batch([sentence]) for sentence in encoded])
    exact = np.concatenate([float32.classify_batch([sentence]) for sentence in encoded])
    said = [by_meaning(one, float32.labels)[1].argmax(axis=1) for one in (rough, exact)]
    return {
        "sentences": len(encoded),
        "same_label": float((said[0] == said[1]).mean()),
        "largest_difference": float(np.abs(rough - exact).max()),
        "seed": seed,
    }

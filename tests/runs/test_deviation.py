"""How far two precisions of a classifier are apart, against a count by hand."""

from __future__ import annotations

import numpy as np

from goffman.models.base import LoadOptions
from goffman.models.spec import load
from goffman.runs.deviation import labels_deviation
from tiny_models import CONDITIONS

MEANT = {"a": "negative", "b": "negative", "c": "neutral", "d": "positive", "e": "positive"}


def test_the_same_label_is_that_of_classes_of_one_meaning_together(tiny):
    """Two models that are further apart than two precisions: their classes differ, labels less."""
    options = LoadOptions(labels=MEANT)
    one, other = (
        load(str(tiny("bert", labels=tuple(MEANT), seed=seed)), use="classify", options=options)
        for seed in (3, 5)
    )
    texts = [f"They are people who have {condition}." for condition in CONDITIONS]
    entry = labels_deviation(one, other, texts=texts, seed=0)
    own, said = [], []
    for text in texts:
        p, q = (model.classify_batch(model.encode([text]))[0] for model in (one, other))
        own.append(np.argmax(p) == np.argmax(q))
        sums = [(x[0] + x[1], x[2], x[3] + x[4]) for x in (p, q)]
        said.append(np.argmax(sums[0]) == np.argmax(sums[1]))
    assert np.mean(own) != np.mean(said)
    assert entry["same_label"] == np.mean(said)

"""Columns gathered from arrays are the rows that one would write by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.models.base import Filled, by_meaning
from goffman.runs.mode_adapters import Classify, FillMask, PromptRefs
from goffman.runs.recursive_masking import Node, Settings
from goffman.schemas import FILLS, LABELS, complaints

TOKENS = ["<s>", " a", " b", "c", "a", " d ", "", "é"]


@st.composite
def parts(draw):
    """Sentences with their askers, and what a model said of them: batches of one top k."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    top_k = draw(st.integers(1, 4))
    targets = sorted(draw(st.sets(st.integers(0, len(TOKENS) - 1), max_size=4)))
    groups = [draw(st.integers(1, 3)) for _ in range(sum(sizes))]
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    batches = []
    for size in sizes:
        everything = rng.random((size, len(TOKENS))).astype(np.float32)
        order = np.argsort(-everything, axis=1)[:, :top_k].astype(np.int32)
        batches.append(
            Filled(
                token_ids=order,
                probabilities=np.take_along_axis(everything, order.astype(np.int64), axis=1),
                targets=everything[:, targets],
            )
        )
    return batches, groups, targets


def asking(groups):
    """Nodes for all askers, and the positions of those of each sentence, from the last one back."""
    nodes = [Node(prompt_id=f"p{n}", parent=str(n % 3), text="") for n in range(sum(groups))]
    left = list(range(len(nodes)))
    return nodes, [[left.pop() for _ in range(size)] for size in groups]


def model(**more):
    """What the columns are made from: a model's name, its tokens, its labels."""
    return SimpleNamespace(
        identity=SimpleNamespace(name="m"),
        tokens=TOKENS,
        single_tokens=lambda words: ({word: TOKENS.index(word) for word in words}, []),
        **more,
    )


@given(parts())
def test_fills_are_the_rows_written_one_by_one(part):
    batches, groups, targets = part
    nodes, positions = asking(groups)
    settings = Settings(top_k=5, targets=tuple(TOKENS[target] for target in targets))
    frame = FillMask(model(), settings).rows(batches, PromptRefs.of(nodes, positions), step=2)
    assert complaints(frame, FILLS) == []
    expected = []
    sentence = 0
    for batch in batches:
        for row in range(len(batch.token_ids)):
            top = batch.token_ids[row].tolist()
            said = [(n + 1, t, batch.probabilities[row, n]) for n, t in enumerate(top)]
            beyond = [
                (None, t, batch.targets[row, n]) for n, t in enumerate(targets) if t not in top
            ]
            for node in (nodes[position] for position in positions[sentence]):
                expected += [
                    (node.prompt_id, "m", 2, node.parent, rank, TOKENS[t], TOKENS[t].strip(), p)
                    for rank, t, p in said + beyond
                ]
            sentence += 1
    assert sorted(frame.rows(), key=repr) == sorted(
        [(*row[:-1], float(row[-1])) for row in expected], key=repr
    )


@pytest.mark.parametrize("labels", [("positive", "negative"), ("neutral", "negative", "positive")])
def test_labels_are_the_rows_written_one_by_one(labels):
    nodes, positions = asking([1, 2, 1])
    probabilities = np.random.default_rng(0).random((3, len(labels))).astype(np.float32)
    classify = Classify(model(labels=labels))
    frame = classify.rows([probabilities], PromptRefs.of(nodes, positions), step=1)
    assert complaints(frame, LABELS) == []
    expected = []
    for sentence, group in enumerate(positions):
        by_class = dict(zip(labels, probabilities[sentence].tolist(), strict=True))
        best = max(by_class, key=by_class.__getitem__)
        three = [by_class.get(name) for name in ("negative", "neutral", "positive")]
        expected += [(nodes[position].prompt_id, "m", best, *three) for position in group]
    assert frame.rows() == expected


def test_classes_of_one_meaning_count_together():
    labels = ("negative", "positive", "negative", "neutral")
    probabilities = np.array([[0.25, 0.375, 0.25, 0.125], [0.5, 0.25, 0.0, 0.25]], dtype=np.float32)
    different, added = by_meaning(probabilities, labels)
    assert different == ["negative", "positive", "neutral"]
    assert added.tolist() == [[0.5, 0.375, 0.125], [0.5, 0.25, 0.25]]
    nodes, positions = asking([1, 1])
    classify = Classify(model(labels=labels))
    frame = classify.rows([probabilities], PromptRefs.of(nodes, positions), step=1)
    # Alone, the first sentence's second class would be the most probable.
    assert frame.select("label", "negative", "neutral", "positive").rows() == [
        ("negative", 0.5, 0.125, 0.375),
        ("negative", 0.5, 0.25, 0.25),
    ]

"""The deviation of a lower precision is measured, and is none for the same model."""

import numpy as np
import pytest

from goffman.models.base import LoadOptions
from goffman.models.registry import Sample, deviation_of, draw_sample, fills_deviation
from goffman.models.resolve import load
from goffman.models.tokenizer import batch_limits, plan_batches
from tiny_models import CONDITIONS, sentences

MEANT = {"a": "negative", "b": "negative", "c": "neutral", "d": "positive", "e": "positive"}


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_a_lower_precision_deviates_as_counted_by_hand(precision, tiny):
    exact = load(str(tiny("roberta")), kind="masked")
    options = LoadOptions(precision=precision)
    low = load(str(tiny("roberta")), kind="masked", options=options)
    texts = sentences()[::20]
    encoded = exact.encode(texts)
    for text, sentence in zip(texts[::5], encoded[::5], strict=True):
        (share,), largest = counted_by_hand(low, exact, [sentence])
        found = fills_deviation(low, exact, Sample(texts=[text], top_k=20, seed=0))
        assert found["overlap"] == found["overlap_lowest"] == share
        assert found["largest_difference"] == pytest.approx(largest)
    # In the same batches on both sides: how a low precision rounds depends on them, and on the CPU.
    max_tokens, max_size = batch_limits(exact.identity.device)
    lengths = [len(sentence) for sentence in encoded]
    batches = plan_batches(lengths, max_tokens=max_tokens, max_size=max_size)
    assert 1 < len(batches) < len(encoded)
    each = [counted_by_hand(low, exact, [encoded[index] for index in batch]) for batch in batches]
    shares = [share for found_shares, _ in each for share in found_shares]
    found = fills_deviation(low, exact, Sample(texts=texts, top_k=20, seed=0))
    assert (found["sentences"], found["top_k"]) == (len(shares), 20)
    assert found["overlap"] == pytest.approx(np.mean(shares))
    assert found["overlap_lowest"] == min(shares)
    assert 0 < found["largest_difference"] == pytest.approx(max(largest for _, largest in each))


def counted_by_hand(low, exact, batch):
    """The share of the top 20 in common, of each sentence, and the largest difference there."""
    size, shares, largest = len(exact.tokens), [], 0.0
    one, other = (model.fill_batch(batch, top_k=size) for model in (exact, low))
    for row in range(len(batch)):
        top = one.token_ids[row, :20]
        shares.append(len({*top} & {*other.token_ids[row, :20]}) / 20)
        by_id = dict(zip(other.token_ids[row], other.probabilities[row], strict=True))
        probable = zip(top, one.probabilities[row, :20], strict=True)
        largest = max(largest, *(abs(by_id[token] - p) for token, p in probable))
    return shares, largest


def test_a_model_does_not_deviate_from_itself(tiny):
    model = load(str(tiny("roberta")), kind="masked")
    found = fills_deviation(model, model, Sample(texts=sentences()[:5], top_k=50, seed=0))
    assert found["overlap"] == found["overlap_lowest"] == 1.0
    assert found["largest_difference"] == 0.0


def test_nothing_cannot_be_measured(tiny):
    model = load(str(tiny("roberta")), kind="masked")
    with pytest.raises(ValueError, match="at least one sentence"):
        fills_deviation(model, model, Sample(texts=[], top_k=5, seed=0))


def test_the_same_label_is_that_of_classes_of_one_meaning_together(tiny):
    """Two models that are further apart than two precisions: their classes differ, labels less."""
    options = LoadOptions(labels=MEANT)
    one, other = (
        load(str(tiny("bert", labels=tuple(MEANT), seed=seed)), kind="classifier", options=options)
        for seed in (3, 5)
    )
    texts = [f"They are people who have {condition}." for condition in CONDITIONS]
    entry = deviation_of(one, other, draw_sample(texts, top_k=0, seed=0), ask="classify_batch")
    own, said = [], []
    for text in texts:
        p, q = (model.classify_batch(model.encode([text]))[0] for model in (one, other))
        own.append(np.argmax(p) == np.argmax(q))
        sums = [(x[0] + x[1], x[2], x[3] + x[4]) for x in (p, q)]
        said.append(np.argmax(sums[0]) == np.argmax(sums[1]))
    assert np.mean(own) != np.mean(said)
    assert entry["same_label"] == np.mean(said)


def test_the_sample_depends_on_the_seed_alone():
    texts = [f"text {number}" for number in range(500)]
    drawn = draw_sample(texts, top_k=5, seed=0)
    assert len(drawn.texts) == 64
    assert drawn == draw_sample(texts[::-1] + texts, top_k=5, seed=0)
    assert drawn.texts != draw_sample(texts, top_k=5, seed=1).texts

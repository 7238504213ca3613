"""Every family fills a mask as a plain forward pass of its own model does."""

import numpy as np
import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parity import (
    RELATIVE,
    assert_same_top,
    out_of_memory_above,
    plain_probabilities,
    two_stream_probabilities,
)

from goffman.errors import AskingError, ModelError
from goffman.models.base import LoadOptions
from goffman.models.masked import Longformer, Scoring, scores
from goffman.models.resolve import load
from goffman.models.torch_common import full_logits_at
from refusals import message_of
from tiny_models import MASKED, sentences

TEXTS = [sentences()[index] for index in (0, 15, 333, 600, 900, 1111)]
TEXTS += ["<mask> has depression", "The woman is <mask>", "My friend, a <mask>, is <unk> naïve."]
"""Long, short, with the mask first, last, and before a comma."""


@pytest.fixture(scope="session")
def loaded(tiny):
    models = {}

    def model(family):
        if family not in models:
            models[family] = load(str(tiny(family)), kind="masked")
        return models[family]

    return model


def plain(family, folder, text):
    reference = two_stream_probabilities if family == "xlnet" else plain_probabilities
    return reference(folder, text)


@pytest.mark.parametrize("family", MASKED)
def test_top_50_is_the_plain_forwards(family, tiny, loaded):
    model = loaded(family)
    assert len(model.tokens) >= 300
    encoded = model.encode(TEXTS)
    targets = [5, 17, 17, 200]
    filled = model.fill_batch(encoded, top_k=50, targets=targets)
    assert filled.token_ids.shape == filled.probabilities.shape == (len(TEXTS), 50)
    assert filled.token_ids.dtype == np.int32
    assert filled.probabilities.dtype == filled.targets.dtype == np.float32
    for row, text in enumerate(TEXTS):
        expected = plain(family, tiny(family), text)
        assert_same_top(filled.token_ids[row], filled.probabilities[row], expected)
        np.testing.assert_allclose(filled.targets[row], expected[targets], rtol=RELATIVE)


@pytest.mark.parametrize("family", [family for family in MASKED if family != "xlnet"])
def test_top_50_is_the_pipelines(family, tiny, loaded):
    model = loaded(family)
    pipeline = transformers.pipeline("fill-mask", model=str(tiny(family)), device="cpu")
    for text in TEXTS[:3]:
        answers = pipeline(text.replace("<mask>", pipeline.tokenizer.mask_token), top_k=50)
        filled = model.fill_batch(model.encode([text]), top_k=50)
        scores_ = [answer["score"] for answer in answers]
        np.testing.assert_allclose(filled.probabilities[0], scores_, rtol=RELATIVE)
        assert {answer["token"] for answer in answers} == set(filled.token_ids[0].tolist())


def test_a_perturbed_model_is_not_the_plain_one(tiny):
    """The comparison can fail: one weight of thousands moved shows."""
    model = load(str(tiny("roberta")), kind="masked")
    with torch.no_grad():
        model._model.roberta.embeddings.word_embeddings.weight[300:, 3] += 0.002
    filled = model.fill_batch(model.encode(TEXTS[:1]), top_k=50)
    expected = plain_probabilities(tiny("roberta"), TEXTS[0])
    with pytest.raises(AssertionError):
        assert_same_top(filled.token_ids[0], filled.probabilities[0], expected)


def test_xlnet_is_not_what_the_pipeline_says(tiny, loaded):
    """The ready-made pipeline asks XLNet without a permutation mask: other numbers."""
    folder = tiny("xlnet")
    model = loaded("xlnet")
    pipeline = transformers.pipeline(
        "fill-mask",
        model=transformers.XLNetLMHeadModel.from_pretrained(folder),
        tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
        device="cpu",
    )
    answers = pipeline(TEXTS[0], top_k=50)
    filled = model.fill_batch(model.encode(TEXTS[:1]), top_k=50)
    assert [answer["token"] for answer in answers] != filled.token_ids[0].tolist()
    assert abs(answers[0]["score"] - filled.probabilities[0, 0]) > 1e-3


def test_xlnet_gets_no_special_tokens(loaded):
    model = loaded("xlnet")
    pieces = [model.tokens[token] for token in model.encode(["The woman is <mask> ."])[0]]
    assert pieces[:4] == [" The", " woman", " is", "<mask>"]
    assert not {"<sep>", "<cls>", "<pad>"} & set(pieces)


@pytest.mark.parametrize("length", [4, 30, 64, 65, 66, 120])
def test_longformer_is_the_same_with_and_without_its_own_window(length, loaded):
    """Its window is 128: half of it reaches across 65 tokens, and not across 66."""
    model = loaded("longformer")
    random = np.random.default_rng(length)
    sentence = [0, *random.integers(300, 600, length - 2).tolist(), 2]
    sentence[length // 2] = model._tokens.mask_id
    own = Scoring(scorer=full_logits_at, same_length=True)
    reduced = Scoring(scorer=Longformer(model._model), same_length=False)
    found = [
        torch.softmax(scores(model._model, model._tokens, [sentence], scoring=scoring), -1)
        for scoring in (own, reduced)
    ]
    torch.testing.assert_close(found[1], found[0], rtol=RELATIVE, atol=0)
    assert model._model.config.attention_window == [128] * 3


def test_longformer_is_not_padded_to_its_window(loaded):
    model = loaded("longformer")
    seen = []
    hook = model._model.longformer.encoder.register_forward_pre_hook(
        lambda _, given: seen.append(given[0].shape[1])
    )
    model.fill_batch([[0, 300, 4, 301, 302, 2]], top_k=5)
    hook.remove()
    assert seen == [10]


@pytest.mark.parametrize("family", MASKED)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    chosen=st.lists(st.integers(0, len(TEXTS) - 1), min_size=1, max_size=14),
    top_k=st.sampled_from([1, 10, 50]),
)
def test_company_changes_nothing(family, chosen, top_k, loaded):
    """Whatever it is asked with, in whatever order and how often, a sentence has its own fills."""
    model = loaded(family)
    encoded = model.encode(TEXTS)
    together = model.fill_batch([encoded[index] for index in chosen], top_k=top_k)
    for row, index in enumerate(chosen):
        alone = model.fill_batch([encoded[index]], top_k=len(model.tokens))
        by_token = np.empty(len(model.tokens), dtype=np.float32)
        by_token[alone.token_ids[0]] = alone.probabilities[0]
        assert_same_top(together.token_ids[row], together.probabilities[row], by_token)


@pytest.mark.parametrize("family", MASKED)
def test_loaded_again_it_repeats_itself_to_the_bit(family, tiny, loaded):
    """So that a run that was killed continues with the very numbers it would have had."""
    model, again = loaded(family), load(str(tiny(family)), kind="masked")
    encoded = model.encode(TEXTS)
    first, second = (m.fill_batch(encoded, top_k=50, targets=[7]) for m in (model, again))
    np.testing.assert_array_equal(first.token_ids, second.token_ids)
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    np.testing.assert_array_equal(first.targets, second.targets)


@pytest.mark.parametrize("family", MASKED)
def test_probabilities_are_over_the_whole_vocabulary(family, loaded):
    model = loaded(family)
    filled = model.fill_batch(model.encode(TEXTS[:2]), top_k=len(model.tokens))
    np.testing.assert_allclose(filled.probabilities.sum(axis=1), 1, rtol=1e-5)
    assert ((filled.probabilities > 0) & (filled.probabilities <= 1)).all()


def test_a_lower_precision_is_softmaxed_in_float32(tiny):
    options = LoadOptions(precision="bf16", device="cpu")
    model = load(str(tiny("bert")), kind="masked", options=options)
    filled = model.fill_batch(model.encode(TEXTS), top_k=len(model.tokens))
    assert model.identity.precision == "bf16"
    np.testing.assert_allclose(filled.probabilities.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("kind", ["gpu", "cpu"])
def test_out_of_memory_halves_the_batch(kind, tiny):
    """A model that fails above two sentences gives the same fills, in its order."""
    model = load(str(tiny("roberta")), kind="masked")
    encoded = model.encode(TEXTS)
    expected = model.fill_batch(encoded, top_k=50, targets=[9])
    sizes = out_of_memory_above(model, 2, kind=kind)
    found = model.fill_batch(encoded, top_k=50, targets=[9])
    assert max(sizes) > 2
    assert len(sizes) > 3
    np.testing.assert_array_equal(found.token_ids, expected.token_ids)
    np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=RELATIVE)
    np.testing.assert_allclose(found.targets, expected.targets, rtol=RELATIVE)


def test_out_of_memory_on_one_sentence_is_said(tiny):
    model = load(str(tiny("roberta")), kind="masked")

    out_of_memory_above(model, 0)
    assert message_of(AskingError, model.fill_batch, [[0, 4, 2], [0, 4, 2]], top_k=5) == (
        "There is not enough memory for a single sentence of 3 tokens. Use a smaller model, "
        "--precision bf16 or another --device, or free some memory."
    )


def test_other_failures_are_not_taken_for_memory(tiny):
    model = load(str(tiny("roberta")), kind="masked")

    def fail(*_):
        raise RuntimeError("device-side assert triggered")

    model._model.register_forward_pre_hook(fail)
    with pytest.raises(RuntimeError, match="device-side assert"):
        model.fill_batch([[0, 4, 2], [0, 4, 2]], top_k=5)


def test_more_than_the_vocabulary_is_refused(loaded):
    model = loaded("bert")
    name, size = model.identity.name, len(model.tokens)
    assert message_of(ModelError, model.fill_batch, [[2, 4, 3]], top_k=size + 1) == (
        f"top_k is {size + 1}, but the vocabulary of '{name}' has {size} words."
    )
    assert message_of(ModelError, model.fill_batch, [[2, 4, 3]], top_k=5, targets=[3, size]) == (
        f"Token id {size} is no target for '{name}': its ids are 0 to {size - 1}. Use the ids that "
        "single_tokens gives."
    )


def test_a_family_without_a_fast_way_takes_the_slow_one(tmp_path):
    """FNet mixes padding into every token and knows no attention mask: one length at a time."""
    from tiny_models import tokenizer_of

    tokenizer = tokenizer_of("bert", tmp_path)
    config = transformers.FNetConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        intermediate_size=64,
        initializer_range=0.25,
        max_position_embeddings=64,
        pad_token_id=0,
    )
    torch.manual_seed(1)
    transformers.FNetForMaskedLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = load(str(tmp_path), kind="masked")
    assert model._scoring.same_length
    filled = model.fill_batch(model.encode(TEXTS), top_k=50)
    for row, text in enumerate(TEXTS):
        probabilities = _fnet_probabilities(tmp_path, text)
        assert_same_top(filled.token_ids[row], filled.probabilities[row], probabilities)


def _fnet_probabilities(folder, text):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.FNetForMaskedLM.from_pretrained(folder).eval()
    ids = tokenizer(text.replace("<mask>", "[MASK]"), return_tensors="pt")["input_ids"]
    at = ids[0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        return torch.softmax(model(input_ids=ids).logits[0, at], dim=-1).numpy()

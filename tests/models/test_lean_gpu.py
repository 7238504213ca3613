"""The pass for a GPU: its operations are those of any device, so it is checked without one."""

import pytest
import torch
from parity import RELATIVE

from goffman.models import masked
from goffman.models.base import LoadOptions
from goffman.models.fast_bert import FastBertOnGpu, parts_of
from goffman.models.masked import LEAN, NOT_LEAN, Scoring, scores
from goffman.models.resolve import load
from goffman.models.torch_common import full_logits_at, logits_at
from tiny_models import sentences

FAMILIES = ["bert", "roberta", "bertweet", "xlm-roberta", "electra", "distilbert"]
TEXTS = sentences()[::97] + sentences()[1::211]


@pytest.fixture
def plain(tiny, monkeypatch):
    """A model that transformers computes."""
    monkeypatch.setattr(masked, "make_fast", lambda _: None)
    return lambda family: load(str(tiny(family)), kind="masked")


def probabilities(model, scoring, texts=TEXTS):
    encoded = model.encode(texts)
    return torch.softmax(scores(model._model, model._tokens, encoded, scoring=scoring), -1)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_gives_what_a_plain_pass_gives_for_one_length_at_a_time(family, plain):
    model = plain(family)
    lengths = [len(sentence) for sentence in model.encode(TEXTS)]
    assert len(set(lengths)) > 5
    assert lengths != sorted(lengths, reverse=True)
    expected = probabilities(model, Scoring(scorer=full_logits_at, same_length=True))
    lean = FastBertOnGpu(model._model)
    found = Scoring(scorer=lean.score, same_length=False)
    torch.testing.assert_close(probabilities(model, found), expected, rtol=RELATIVE, atol=0)
    lean.free()
    torch.testing.assert_close(probabilities(model, found), expected, rtol=RELATIVE, atol=0)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_padding_tokens_that_a_text_spells_out_are_read(family, plain):
    model = plain(family)
    pad = model._tokens._tokenizer.pad_token
    texts = [f"The{pad} friend is <mask> to me", "The woman friend is <mask> to me and to you"]
    expected = probabilities(model, Scoring(scorer=full_logits_at, same_length=True), texts)
    lean = Scoring(scorer=FastBertOnGpu(model._model).score, same_length=False)
    torch.testing.assert_close(probabilities(model, lean, texts), expected, rtol=RELATIVE, atol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_read_back_while_it_is_launched(family, tiny):
    """Reading a number waits for all that a GPU was given; torch's meta device has none to read."""
    options = LoadOptions(weights=False)
    model = load(str(tiny(family)), kind="masked", options=options)
    encoded = model.encode(TEXTS)
    ways = (FastBertOnGpu(model._model).score, logits_at)
    ours, theirs = (Scoring(scorer=way, same_length=False) for way in ways)
    found = scores(model._model, model._tokens, encoded, scoring=ours)
    assert found.shape == (len(TEXTS), len(model.tokens))
    with pytest.raises(RuntimeError, match="meta"):
        scores(model._model, model._tokens, encoded, scoring=theirs)


def test_weights_are_not_kept_twice(plain):
    model = plain("roberta")
    lean = FastBertOnGpu(model._model)
    lean.free()
    for layer, parts in zip(lean._layers, parts_of(model._model), strict=True):
        own = layer._weights.untyped_storage().data_ptr()
        for stream in (parts.query, parts.key, parts.value):
            assert stream.weight.untyped_storage().data_ptr() == own


@pytest.mark.parametrize("factor", [1.0, 1.01])
def test_it_is_taken_where_it_agrees_and_left_where_it_does_not(factor, tiny, monkeypatch):
    """The guard can fail: layers that are a hundredth off are found, said, and not used."""

    class OnThisDevice(FastBertOnGpu):
        def forward(self, *args, **kwargs):
            output = super().forward(*args, **kwargs)
            output.last_hidden_state *= factor
            return output

    monkeypatch.setattr(masked, "make_fast", OnThisDevice)
    model = load(str(tiny("roberta")), kind="masked")
    assert model.identity.notes == ((LEAN,) if factor == 1 else (NOT_LEAN,))

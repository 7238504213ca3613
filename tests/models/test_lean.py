"""The lean pass: taken where it agrees with the plain one, left where it does not."""

import pytest
import torch
from parity import assert_same_top, plain_probabilities

from goffman.models import fast_bert
from goffman.models.base import LoadOptions
from goffman.models.fast_bert import Packed, make_fast, parts_of
from goffman.models.masked import LEAN, NOT_LEAN, Scoring, scores
from goffman.models.resolve import load
from goffman.models.torch_common import full_logits_at
from tiny_models import sentences

FAMILIES = ["bert", "roberta", "bertweet", "xlm-roberta", "electra", "distilbert"]
TEXT = sentences()[5]


@pytest.mark.parametrize("family", FAMILIES)
def test_berts_kind_takes_the_lean_pass(family, tiny):
    model = load(str(tiny(family)), kind="masked")
    assert model.identity.notes == (LEAN,)
    assert not model._scoring.same_length


@pytest.mark.parametrize("family", ["albert", "mpnet", "deberta-v2", "modernbert", "longformer"])
def test_other_kinds_have_none(family, tiny):
    model = load(str(tiny(family)), kind="masked")
    assert model.identity.notes == ()
    assert make_fast(model._model) is None


def test_another_activation_or_precision_has_none(tiny):
    other = load(str(tiny("bert", hidden_act="relu")), kind="masked")
    low = load(str(tiny("bert")), kind="masked", options=LoadOptions(precision="bf16"))
    assert other.identity.notes == low.identity.notes == ()


def test_where_it_does_not_agree_the_plain_pass_answers(tiny, monkeypatch):
    """The guard can fail: a residual a hundredth off is found, said, and not used."""

    class Wrong(Packed):
        def plus(self, x, other):
            return super().plus(x, 1.01 * other)

    monkeypatch.setattr(fast_bert, "Packed", Wrong)
    model = load(str(tiny("roberta")), kind="masked")
    assert model.identity.notes == (NOT_LEAN,)
    filled = model.fill_batch(model.encode([TEXT]), top_k=50)
    expected = plain_probabilities(tiny("roberta"), TEXT)
    assert_same_top(filled.token_ids[0], filled.probabilities[0], expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_sentences_of_all_lengths_go_together_in_any_order(family, tiny):
    """What stands under the other in one product is not mixed, and answers keep their places."""
    model = load(str(tiny(family)), kind="masked")
    texts = sentences()[::97] + sentences()[1::211]
    encoded = model.encode(texts)
    lengths = [len(sentence) for sentence in encoded]
    assert len(set(lengths)) > 5
    assert lengths != sorted(lengths, reverse=True)
    filled = model.fill_batch(encoded, top_k=50)
    for row, text in enumerate(texts):
        expected = plain_probabilities(tiny(family), text)
        assert_same_top(filled.token_ids[row], filled.probabilities[row], expected)


@pytest.mark.parametrize(("family", "pad"), [("roberta", "<pad>"), ("bert", "[PAD]")])
def test_a_padding_token_that_a_text_spells_out_moves_positions_as_in_the_model(family, pad, tiny):
    """The same token in the same column, but for RoBERTa at another position."""
    model = load(str(tiny(family)), kind="masked")
    texts = [f"The{pad} friend is <mask> to me", "The woman friend is <mask> to me"]
    encoded = model.encode(texts)
    assert [one == other for one, other in zip(*encoded, strict=True)].count(False) == 1
    filled = model.fill_batch(encoded, top_k=50)
    for row, text in enumerate(texts):
        expected = plain_probabilities(tiny(family), text)
        assert_same_top(filled.token_ids[row], filled.probabilities[row], expected)


def test_packed_weights_are_not_kept_twice(tiny):
    model = load(str(tiny("roberta")), kind="masked")
    *layers, last = parts_of(model._model)
    assert layers
    for parts in layers:
        kept = [part for part in parts if isinstance(part, torch.nn.Linear)]
        assert all(part.weight.numel() == 0 for part in kept)
    assert last.key.weight.numel() > 0
    plain = Scoring(scorer=full_logits_at, same_length=True)
    with pytest.raises(RuntimeError):
        scores(model._model, model._tokens, model.encode([TEXT]), scoring=plain)

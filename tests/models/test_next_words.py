"""What causal and chat models say next, against a plain forward pass over every text alone."""

import numpy as np
import pytest
import torch

from goffman.errors import ModelError
from goffman.models import causal, generation
from goffman.models.base import LoadOptions, PromptParts, Sampling
from goffman.models.resolve import load
from tiny_chat import make_causal

MODELS = [
    ("llama", True),
    ("llama", False),
    ("gpt2", False),
    ("gpt-neox", True),
    ("qwen3", True),
    ("gemma2", False),
]
"""A family, and whether it chats."""
OPENINGS = [
    PromptParts(text="Fill in the blank: It is ____ to have a neighbor.", prefill="It is"),
    PromptParts(
        text="Fill in the blank: It is ____ to have a twin as a neighbor.", prefill="It is"
    ),
    PromptParts(text="Fill in the blank: ____ is here.", prefill=""),
    PromptParts(text="Fill in the blank: It is ____ for me.", prefill="It is", system="Be brief."),
]


@pytest.fixture(scope="module", params=MODELS, ids=str)
def model(request, tmp_path_factory):
    family, chat = request.param
    folder = make_causal(family, tmp_path_factory.mktemp("model") / family, chat=chat)
    kind = "chat" if chat else "causal"
    more = {"sampling": Sampling()} if chat else {}
    found = load(str(folder), kind=kind, options=LoadOptions(), **more)
    # Random weights spread their probability too thin for words of several tokens.
    found._model.get_output_embeddings().weight.data.mul_(4)
    return found


@pytest.fixture(params=[1, 10**9], ids=["shared", "apart"], autouse=True)
def sharing(request, monkeypatch):
    """Whether what texts begin with is read once, or with each."""
    monkeypatch.setattr(generation, "SAVED", {"cpu": request.param, "cuda": request.param})


def naive_next(model, ids):
    """The probabilities of the next token, by one plain forward pass."""
    with torch.inference_mode():
        logits = model._model(input_ids=torch.tensor([ids])).logits[0, -1]
    return torch.softmax(logits.double(), dim=0).numpy()


def naive_words(model, ids, *, worth, most):
    """Word → probability by trying every continuation, one plain forward pass each."""
    texts = model.next_word.tokens
    special = set(model._tokenizer.all_special_ids)

    def begins(token):
        text = texts[token]
        inside = text and (text[0].isalnum() or text[0] in "'’-\N{REPLACEMENT CHARACTER}")
        return token in special or not inside

    found = {}

    def add(tokens, probability):
        word = "".join(texts[token] for token in tokens)
        found[word] = found.get(word, 0.0) + probability

    def follow(tokens, probability):
        after = naive_next(model, [*ids, *tokens])
        ends = sum(p for token, p in enumerate(after) if begins(token))
        add(tokens, probability * ends)
        if len(tokens) < most:
            for token, p in enumerate(after):
                if not begins(token) and probability * p >= worth:
                    follow([*tokens, token], probability * p)

    for token, p in enumerate(naive_next(model, ids)):
        if p >= worth and texts[token][-1:].isalpha():
            follow([token], p)
        else:
            add([token], p)
    return found


@pytest.mark.slow
def test_next_words_are_those_of_a_plain_forward_pass(model, monkeypatch):
    monkeypatch.setattr(causal, "WORTH", 0.002)
    monkeypatch.setattr(causal, "PIECES", 3)
    reader = model.next_word
    encoded = reader.encode(OPENINGS)
    size = len(reader.tokens)
    asked = reader.words(encoded, top_k=size)
    several = 0
    for ids, words in zip(encoded, asked, strict=True):
        naive = naive_words(model, ids, worth=causal.WORTH, most=causal.PIECES)
        assert list(words.probabilities) == sorted(words.probabilities, reverse=True)
        got = dict(zip(words.tokens, words.probabilities.tolist(), strict=True))
        best = sorted(naive, key=naive.get, reverse=True)[:50]
        for word in best:
            assert got[word] == pytest.approx(naive[word], abs=1e-5)
        several += sum(word not in reader.tokens for word in best)
        assert sum(got.values()) <= 1 + 1e-5
    assert several, "no word of several tokens was found: the test would prove nothing"


def test_next_words_do_not_depend_on_what_is_asked_beside_them(model):
    reader = model.next_word
    encoded = reader.encode(OPENINGS)
    together = reader.words(encoded, top_k=20)
    for ids, words in zip(encoded, together, strict=True):
        (alone,) = reader.words([ids], top_k=20)
        assert alone.tokens == words.tokens
        np.testing.assert_allclose(alone.probabilities, words.probabilities, atol=1e-5)


def test_options_are_summed_over_their_spellings(model):
    reader = model.next_word
    encoded = reader.encode(OPENINGS)
    labels = ["A", "a", "1"]
    found = reader.options(encoded, labels)
    for ids, row in zip(encoded, found, strict=True):
        after = naive_next(model, ids)
        for label, probability in zip(labels, row, strict=True):
            spelled = [i for i, text in enumerate(reader.tokens) if text.strip() == label]
            assert len(spelled) >= 1
            assert probability == pytest.approx(sum(after[i] for i in spelled), abs=1e-5)


def test_a_label_without_a_token_is_refused(model):
    encoded = model.next_word.encode(OPENINGS[:1])
    with pytest.raises(ModelError, match="no token for the label 'no such label'"):
        model.next_word.options(encoded, ["no such label"])


def test_a_reply_that_is_begun_stands_where_the_reply_stands(model):
    begun, alone = model.next_word.encode(
        [PromptParts(text="Who?", prefill="It is"), PromptParts(text="Who?")]
    )
    tail = "".join(model.next_word.tokens[token] for token in begun[len(alone) :])
    assert begun[: len(alone)] == alone
    assert tail.strip() == "It is"

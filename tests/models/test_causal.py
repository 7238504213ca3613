"""The likelihood of whole sentences against a plain computation, one sentence at a time."""

from functools import cache

import numpy as np
import pytest
import torch
import transformers
from parity import out_of_memory_above

from goffman.errors import AskingError, ModelError
from goffman.models.resolve import load
from refusals import message_of
from tiny_chat import CAUSAL, make_causal
from tiny_models import sentences

TEXTS = [
    *(text.replace("<mask>", "likely") for text in sentences()[::97]),
    "The nurse met the driver because she was late.",
    "He left.",
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    return cache(lambda family: make_causal(family, tmp_path_factory.mktemp(family), chat=False))


def naive(folder, text):
    """The sum of log p of each token given those before it: one forward pass for each prefix."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
    total = 0.0
    with torch.no_grad():
        for length in range(1, len(ids)):
            logits = model(torch.tensor([ids[:length]])).logits[0, -1].double()
            total += float(torch.log_softmax(logits, dim=-1)[ids[length]])
    return total


@pytest.mark.parametrize("family", CAUSAL)
def test_sentences_of_many_lengths_together_are_as_probable_as_each_alone(family, folders):
    model = load(str(folders(family)), kind="causal")
    found = model.score_batch(model.encode(TEXTS))
    expected = [naive(folders(family), text) for text in TEXTS]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert len({len(ids) for ids in model.encode(TEXTS)}) > 3


def test_it_is_said_what_a_sentence_s_probability_is_over(folders, tmp_path):
    model = load(str(folders("llama")), kind="causal")
    assert model.identity.notes == (
        "A sentence's probability is that of all its tokens, after <|endoftext|>.",
    )
    assert model.encode(["He left."])[0][0] == 0


def test_a_model_without_a_start_token_is_scored_from_the_second_token_on(tmp_path):
    folder = make_causal("gpt2", tmp_path, chat=False)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.bos_token = None
    tokenizer.save_pretrained(folder)
    model = load(str(folder), kind="causal")
    assert "from the second on" in model.identity.notes[0]
    ids = model.encode(["He left."])[0]
    plain = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.no_grad():
        log_p = torch.log_softmax(plain(torch.tensor([ids])).logits[0].double(), dim=-1)
    expected = sum(float(log_p[at, token]) for at, token in enumerate(ids[1:]))
    assert model.score_batch([ids])[0] == pytest.approx(expected, rel=1e-5)
    assert (
        message_of(ModelError, model.encode, ["H"])
        == 'This text has no token that can be predicted: "H".'
    )


def test_out_of_memory_halves_the_batch_and_one_sentence_too_many_is_said(folders):
    model = load(str(folders("llama")), kind="causal")
    encoded = model.encode(TEXTS)
    expected = model.score_batch(encoded)
    out_of_memory_above(model, 4, kind="cpu")
    np.testing.assert_allclose(model.score_batch(encoded), expected, rtol=1e-6)
    out_of_memory_above(model, 0, kind="cpu")
    with pytest.raises(AskingError, match="not enough memory for a single sentence"):
        model.score_batch(encoded)

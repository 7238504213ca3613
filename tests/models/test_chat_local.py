"""Local chat models against transformers' own generate, one chat at a time."""

import json
import shutil
from functools import cache

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from parity import out_of_memory_above

from goffman.errors import AskingError, ModelError
from goffman.models.base import Calling, ChatRequest, LoadOptions, Sampling
from goffman.models.generation import TokenizedPrompt
from goffman.models.resolve import load
from refusals import message_of
from tiny_chat import CAUSAL, make_causal

TEXTS = (
    "Who is she?",
    "The nurse met the driver. Who does 'he' refer to?",
    "The old baker thanked the young teacher because she had been so kind to the child.",
    "A friend.",
    "Respond with exactly one word, either a noun with no description or 'unsure'",
    "I would say it is likely for me to rent a room in my home to someone who has asthma.",
)
GREEDY = Sampling(temperature=0, max_tokens=10)
DRAWN = Sampling(temperature=1.0, max_tokens=10)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """``folders("llama")``: a chat model whose replies have many lengths, made on first use."""
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    return cache(lambda family: make_causal(family, tmp_path_factory.mktemp(family), end_bias=2.5))


def loaded(folder, sampling, *, batch_size=None):
    options, calling = LoadOptions(device="cpu"), Calling(batch_size=batch_size)
    return load(str(folder), kind="chat", options=options, sampling=sampling, calling=calling)


def asked(model, turns):
    """The replies in the order of the turns, each of which was heard once."""
    heard = {}

    def hear(position, reply):
        assert position not in heard
        heard[position] = reply

    model.chat(turns, hear)
    return [heard[position] for position in range(len(turns))]


def turns(*texts, seed=0):
    return [ChatRequest(text=text, trial=1, seed=seed) for text in texts]


def generated(folder, text, *, max_tokens):
    """transformers' greedy reply to one chat alone, and its number of tokens."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    chat = [{"role": "user", "content": text}]
    ids = tokenizer.apply_chat_template(
        chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    found = model.generate(
        **ids, max_new_tokens=max_tokens, do_sample=False, pad_token_id=tokenizer.eos_token_id
    )[0, ids["input_ids"].shape[1] :]
    return tokenizer.decode(found, skip_special_tokens=True), len(found)


@pytest.mark.parametrize("family", CAUSAL)
def test_greedy_replies_asked_together_are_those_of_generate_one_by_one(family, folders):
    replies = asked(loaded(folders(family), GREEDY), turns(*TEXTS))
    expected = [generated(folders(family), text, max_tokens=10) for text in TEXTS]
    assert [(reply.text, reply.completion_tokens) for reply in replies] == expected
    assert len({reply.text for reply in replies}) > 1


def test_as_many_chats_are_asked_together_as_is_said(folders):
    every = [*turns(*TEXTS), *turns(*TEXTS, seed=5)]
    said = {}
    for size in (None, 2):
        model = loaded(folders("llama"), DRAWN, batch_size=size)
        sizes = []
        model._model.register_forward_pre_hook(
            lambda _, __, given, seen=sizes: seen.append(len(given["input_ids"])), with_kwargs=True
        )
        said[size] = asked(model, every)
        assert max(sizes) == (size or len(every))
    assert said[2] == said[None]


def test_replies_end_where_the_model_ends_them_or_after_the_most_tokens(folders):
    replies = asked(loaded(folders("gpt-neox"), DRAWN), [*turns(*TEXTS), *turns(*TEXTS, seed=5)])
    stopped = [reply for reply in replies if reply.finish_reason == "stop"]
    cut = [reply for reply in replies if reply.finish_reason == "length"]
    assert len(stopped) + len(cut) == len(replies)
    assert {reply.completion_tokens for reply in cut} == {10}
    assert len({reply.completion_tokens for reply in stopped}) > 1
    assert not any("<|im_end|>" in str(reply.text) for reply in replies)


@pytest.mark.parametrize("sampling", [GREEDY, DRAWN], ids=["greedy", "drawn"])
@settings(max_examples=25, deadline=None)
@given(
    chosen=st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(0, 3)), min_size=1, max_size=9)
)
def test_a_reply_depends_on_its_turn_alone(sampling, folders, chosen):
    model = _model(folders("llama"), sampling)
    together = asked(model, [ChatRequest(text=text, trial=1, seed=seed) for text, seed in chosen])
    alone = [_alone(model, text, seed) for text, seed in chosen]
    assert together == alone


@cache
def _model(folder, sampling):
    return loaded(folder, sampling)


@cache
def _alone(model, text, seed):
    return asked(model, [ChatRequest(text=text, trial=1, seed=seed)])[0]


def test_first_tokens_are_drawn_with_the_model_s_probabilities(folders):
    """2,000 seeds against the softmax of a plain forward pass, by chi square."""
    temperature = 0.7
    model = loaded(folders("llama"), Sampling(temperature=temperature, max_tokens=1))
    expected = _first_probabilities(folders("llama"), TEXTS[0], temperature)
    drawn = _first_tokens(model, TEXTS[0], count=2_000)
    likely = expected * len(drawn) >= 5
    counts = np.bincount(drawn, minlength=len(expected))
    observed = np.append(counts[likely], counts[~likely].sum())
    wanted = np.append(expected[likely], expected[~likely].sum()) * len(drawn)
    degrees = len(wanted) - 1
    chi_square = ((observed - wanted) ** 2 / wanted).sum()
    assert degrees > 5
    assert abs(chi_square - degrees) < 4 * np.sqrt(2 * degrees)


def test_top_p_draws_from_the_fewest_tokens_that_reach_it(folders):
    model = loaded(folders("llama"), Sampling(temperature=1.0, max_tokens=1, top_p=0.5))
    expected = _first_probabilities(folders("llama"), TEXTS[0], 1.0)
    order = np.argsort(-expected)
    count = int((np.cumsum(expected[order]) < 0.5).sum()) + 1
    assert set(_first_tokens(model, TEXTS[0], count=500)) == set(order[:count])


def _first_probabilities(folder, text, temperature):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    chat = [{"role": "user", "content": text}]
    written = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(written, add_special_tokens=False, return_tensors="pt")
    with torch.no_grad():
        logits = model(**ids).logits[0, -1].double()
    return torch.softmax(logits / temperature, dim=-1).numpy()


def _first_tokens(model, text, *, count):
    """The first token with each of so many seeds."""
    found = []
    original = model._ask

    def keep(questions):
        said = original(questions)
        found.extend(tokens[0] for tokens in said)
        return said

    model._ask = keep
    asked(model, [ChatRequest(text=text, trial=trial, seed=trial) for trial in range(count)])
    return found


def test_the_same_question_in_every_trial_without_sampling_is_computed_once(folders):
    model = loaded(folders("llama"), GREEDY)
    rows = []
    model._model.register_forward_pre_hook(
        lambda _, given, named: rows.append(len(named["input_ids"])), with_kwargs=True
    )
    replies = asked(
        model, [ChatRequest(text=TEXTS[0], trial=trial, seed=trial) for trial in range(5)]
    )
    assert set(rows) == {1}
    assert len(set(replies)) == 1


@pytest.mark.parametrize("kind", ["gpu", "cpu"])
def test_out_of_memory_halves_the_batch(kind, folders):
    model = loaded(folders("llama"), DRAWN)
    expected = asked(model, turns(*TEXTS))
    sizes = out_of_memory_above(model, 2, kind=kind)
    assert asked(model, turns(*TEXTS)) == expected
    assert max(sizes) > 2


def test_a_probability_that_is_not_a_number_is_said_and_none_is_drawn(folders):
    model = loaded(folders("llama"), DRAWN)
    with torch.no_grad():
        model._model.get_output_embeddings().weight.fill_(float("nan"))
    assert message_of(AskingError, asked, model, turns(*TEXTS[:2])) == (
        f"{folders('llama')} failed on 2 prompts of up to 34 tokens: it gave a probability that is not a "
        "number. Its weights contain NaN or infinity, or its numbers get too large for "
        "float32. Download or save the model again. All answers so far are kept. To resume, "
        "run the same command again."
    )


def test_a_failed_hearer_ends_the_asking(folders):
    model = loaded(folders("llama"), GREEDY)

    def refuse(position, reply):
        raise AskingError("the disk is full")

    with pytest.raises(AskingError, match="the disk is full"):
        model.chat(turns(*TEXTS), refuse)


def test_a_reply_stops_at_the_model_s_last_position_and_a_longer_question_is_refused(folders):
    model = loaded(folders("llama"), Sampling(temperature=0, max_tokens=500))
    text = "a friend of " * 206
    length = len(model.encode([text])[0])
    together = asked(model, turns(text, TEXTS[0]))
    assert together[1] == _alone(model, TEXTS[0], 0)
    assert together[0].completion_tokens <= 640 - length
    with pytest.raises(ModelError) as error:
        model.encode(["a friend of " * 300])
    assert str(error.value).startswith("A text has 9")
    assert "' reads at most 640" in str(error.value)


def test_every_end_token_that_the_model_names_ends_a_reply(folders, tmp_path):
    """generation_config.json may name several, as Llama 3's does."""
    folder = tmp_path / "model"
    shutil.copytree(folders("gpt2"), folder)
    model = loaded(folder, GREEDY)
    whole = asked(model, turns(TEXTS[0]))[0]
    second = model._ask([TokenizedPrompt(tuple(model.encode(TEXTS[:1])[0]), (0,))])[0][1]
    path = folder / "generation_config.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps({**said, "eos_token_id": [said["eos_token_id"], second]}))
    reply = asked(loaded(folder, GREEDY), turns(TEXTS[0]))[0]
    assert (reply.finish_reason, reply.completion_tokens) == ("stop", 2)
    assert str(whole.text).startswith(str(reply.text))


def test_a_template_that_cannot_put_a_question_is_said(tmp_path):
    template = "{{ raise_exception('a system message is needed') }}"
    folder = make_causal("llama", tmp_path, template=template)
    assert message_of(ModelError, loaded, folder, GREEDY) == (
        f"The chat template of '{folder}' does not work: a system message is needed. The folder "
        "needs a chat_template.jinja for messages with role and content."
    )

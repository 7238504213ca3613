"""Servers as they are: slow, choosy about parameters and names, and with thoughts in replies."""

import asyncio

import pytest

from chat_server import Answer, ChatServer, at_once, completion
from goffman.errors import AskingError, ModelError
from goffman.models.base import Calling, ChatRequest, Sampling
from goffman.models.rate_limit import AdaptiveConcurrency
from goffman.models.resolve import load


def turns_of(count):
    return [ChatRequest(text=f"Question {n}?", trial=1, seed=n) for n in range(count)]


def model_at(server, *, name="mini", sampling=None, **calling):
    spec = f"{server.url}#{name}"
    return load(spec, kind="chat", sampling=sampling or Sampling(), calling=Calling(**calling))


def ask(model, turns):
    heard = []
    model.chat(turns, lambda position, reply: heard.append((position, reply)))
    return [reply for _, reply in sorted(heard, key=lambda one: one[0])]


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch):
    monkeypatch.setattr("goffman.models.chat_api.backoff", lambda *_: 0.01)


def one_at_a_time(seconds):
    """A server that works on one request at a time, as llama.cpp with one slot does."""
    slot = asyncio.Lock()

    async def behave(request):
        async with slot:
            await asyncio.sleep(seconds)
        return await at_once(request)

    return behave


def test_after_timeouts_fewer_go_out_at_once_until_all_are_answered():
    """Sixteen at once would each have to wait for the fifteen others: longer than the limit."""
    with ChatServer(one_at_a_time(0.1)) as server:
        model = model_at(server, concurrency=16, timeout=0.65)
        noted = []
        model.troubled = lambda: noted.append(model.service)
        replies = ask(model, turns_of(40))
    assert len(replies) == 40
    service = model.service
    assert service.timeouts == len(noted) == len(server.asked) - 40 > 0
    assert service.at_once < 16 == service.most_at_once
    assert server.most_at_once >= 16, "it began with all; the server does not see them cancelled"
    assert noted[-1].at_once <= 8


def test_a_server_that_never_answers_is_given_up_with_the_number_of_timeouts():
    async def never(request):
        await asyncio.sleep(60)

    with ChatServer(never) as server:
        model = model_at(server, concurrency=8, timeout=0.2)
        with pytest.raises(AskingError) as told:
            ask(model, turns_of(8))
    assert "did not answer within 0.2 seconds (--timeout). goffman tried" in str(told.value)
    count = model.service.timeouts
    assert count > 3
    assert "requests timed out. Raise --timeout, or lower --concurrency." in str(told.value)
    assert model.service.at_once == 1


def test_a_crowd_shrinks_once_for_those_sent_together_and_recovers_slowly():
    crowd = AdaptiveConcurrency(16)
    crowd.answered()
    sent = 1e12
    crowd.timed_out(sent)
    assert crowd.now == 8
    for _ in range(5):
        crowd.timed_out(0.0)
    assert (crowd.now, crowd.timeouts) == (8, 6), "these were sent before there were fewer"
    crowd.timed_out(sent)
    assert crowd.now == 2, "nothing was answered since: much too many"
    crowd.timed_out(sent)
    assert crowd.now == 1
    for answers, now in ((3, 1), (1, 2), (7, 2), (1, 3)):
        for _ in range(answers):
            crowd.answered()
        assert crowd.now == now
    for _ in range(10_000):
        crowd.answered()
    assert crowd.now == 16, "never more than allowed"


def refusing(
    *names, message="Unsupported parameter: '{}' is not supported with this model.", **more
):
    """A server that refuses requests which name one of these."""

    async def behave(request):
        for name in names:
            if name in request.body:
                error = {"message": message.format(name), **more}
                return Answer(400, {"error": error})
        return await at_once(request)

    return behave


@pytest.mark.parametrize(
    "message",
    [
        "Unsupported parameter: '{}' is not supported with this model.",
        "Unrecognized request argument supplied: {}",
        "body.{}: Extra inputs are not permitted",
        "property '{}' is unsupported",
    ],
)
def test_a_refused_seed_is_left_out_and_said(message):
    with ChatServer(refusing("seed", message=message)) as server:
        model = model_at(server, concurrency=4)
        assert len(ask(model, turns_of(12))) == 12
        assert len(ask(model, turns_of(3))) == 3
    assert model.service.changed == (
        "The server does not take a seed, so the replies cannot be reproduced exactly.",
    )
    refused = [request for request in server.asked if "seed" in request.body]
    assert 1 <= len(refused) <= 4, "only those that were under way already"
    assert {request.body["max_tokens"] for request in server.asked} == {64}


def test_an_answer_of_fastapi_s_kind_is_understood():
    async def strict(request):
        if "seed" in request.body:
            fault = {"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
            return Answer(422, {"detail": [fault]})
        return await at_once(request)

    with ChatServer(strict) as server:
        assert len(ask(model_at(server), turns_of(2))) == 2


def test_the_token_limit_goes_by_its_other_name():
    wants = "Unsupported parameter: '{}' is not supported. Use 'max_completion_tokens' instead."
    with ChatServer(refusing("max_tokens", message=wants, param="max_tokens")) as server:
        model = model_at(server, sampling=Sampling(max_tokens=9))
        ask(model, turns_of(2))
    assert model.service.changed == (
        "The server takes the token limit as max_completion_tokens, not max_tokens.",
    )
    assert server.asked[-1].body["max_completion_tokens"] == 9
    assert "max_tokens" not in server.asked[-1].body


def test_a_server_without_any_token_limit_is_not_asked():
    refuses = refusing("max_tokens", "max_completion_tokens")
    with ChatServer(refuses) as server, pytest.raises(AskingError) as told:
        ask(model_at(server, concurrency=1), turns_of(3))
    assert (
        "the server accepts no token limit (--max-tokens 64), neither as max_tokens nor as "
        "max_completion_tokens (HTTP 400: Unsupported parameter: 'max_completion_tokens' is "
        "not supported with this model)."
    ) in str(told.value)
    assert len(server.asked) == 2


@pytest.mark.parametrize("name", ["temperature", "top_p"])
def test_what_equals_the_default_is_left_out_and_said(name):
    with ChatServer(refusing(name)) as server:
        model = model_at(server, sampling=Sampling(top_p=1.0))
        assert len(ask(model, turns_of(2))) == 2
    assert model.service.changed == (
        f"The server does not accept {name}, so it was left out. Its value was 1, which is the "
        "default.",
    )


@pytest.mark.parametrize(
    ("name", "sampling", "told"),
    [
        (
            "temperature",
            Sampling(temperature=0.5),
            (
                "the server does not accept --temperature 0.5, and without it the replies "
                "would be different. Ask with --temperature 1, or use another model"
            ),
        ),
        (
            "top_p",
            Sampling(top_p=0.9),
            (
                "the server does not accept --top-p 0.9, and without it the replies would be "
                "different. Omit --top-p, or use another model"
            ),
        ),
    ],
)
def test_what_was_asked_for_is_never_left_out_in_silence(name, sampling, told):
    with ChatServer(refusing(name)) as server, pytest.raises(AskingError) as refusal:
        ask(model_at(server, sampling=sampling, concurrency=1), turns_of(3))
    words = f"HTTP 400: Unsupported parameter: '{name}' is not supported with this model"
    assert f"{told} ({words})." in str(refusal.value)
    assert len(server.asked) == 1


def test_a_limit_that_is_too_large_is_no_refused_parameter():
    refuses = refusing("max_tokens", message="{} is too large")
    with ChatServer(refuses) as server, pytest.raises(AskingError, match="max_tokens is too large"):
        ask(model_at(server, concurrency=1), turns_of(1))
    assert len(server.asked) == 1


def test_a_name_that_the_server_does_not_list_is_refused_before_anything_is_asked():
    with ChatServer(models=["gpt-4o", "gpt-4o-mini"]) as server:
        model_at(server, name="gpt-4o").meet()
        with pytest.raises(ModelError) as refusal:
            model_at(server, name="gtp-4o").meet()
    assert str(refusal.value) == (
        f"{server.url}#gtp-4o: the server at {server.url} does not list a model 'gtp-4o'. It "
        "has: gpt-4o, gpt-4o-mini. Did you mean 'gpt-4o'?"
    )
    assert server.asked == []


@pytest.mark.parametrize("name", ["llama3", "llama3:latest", "qwen", "qwen:free"])
def test_names_may_be_written_as_users_of_such_servers_write_them(name):
    listed = {"data": [{"id": "llama3:latest"}, {"id": "/models/q.gguf", "aliases": ["qwen"]}]}
    with ChatServer(models=Answer(200, listed)) as server:
        model_at(server, name=name).meet()


@pytest.mark.parametrize(
    "models",
    [None, [], Answer(200, b"<html>"), Answer(401, b""), Answer(200, {"data": None})],
)
def test_a_server_that_lists_nothing_is_asked_and_nothing_is_said(models):
    with ChatServer(models=models) as server:
        model = model_at(server, name="anybody")
        model.meet()
        assert len(ask(model, turns_of(2))) == 2


SPLIT = [
    ({"content": "<think>Is it he?</think>\n\nmechanic"}, "mechanic", "Is it he?"),
    ({"content": "Is it he? </think> mechanic"}, "mechanic", "Is it he?"),
    ({"content": "<think>Is it"}, "", "Is it"),
    ({"content": "[THINK]Is it he?[/THINK]mechanic"}, "mechanic", "Is it he?"),
    ({"content": "mechanic", "reasoning_content": "Is it he?"}, "mechanic", "Is it he?"),
    ({"content": "mechanic", "reasoning": "Is it he?"}, "mechanic", "Is it he?"),
    ({"content": None, "reasoning_content": "Is it"}, None, "Is it"),
    ({"reasoning_content": "Is it"}, None, "Is it"),
    ({"content": "<think>\n\n</think>\n\nmechanic"}, "mechanic", ""),
    ({"content": [{"type": "text", "text": "mech"}, {"type": "text", "text": "anic"}]}, "mechanic", None),
    (
        {"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Is it he?"}]},
            {"type": "text", "text": "mechanic"},
        ]},
        "mechanic",
        "Is it he?",
    ),
    ({"content": "I think it is he < you"}, "I think it is he < you", None),
]  # fmt: skip


@pytest.mark.parametrize(("message", "text", "reasoning"), SPLIT)
def test_thoughts_are_kept_apart_from_the_answer(message, text, reasoning):
    async def thinks(request):
        return Answer(200, {"choices": [{"message": message, "finish_reason": "stop"}]})

    with ChatServer(thinks) as server:
        (reply,) = ask(model_at(server), turns_of(1))
    assert (reply.text, reply.reasoning or None) == (text, reasoning or None)


def test_a_key_in_thoughts_is_hidden():
    key = "sk-goffman-test-9a2b"

    async def thinks(request):
        body = completion("ok")
        body["choices"][0]["message"]["reasoning"] = f"The key is {key}."
        return Answer(200, body)

    with ChatServer(thinks) as server:
        (reply,) = ask(model_at(server, key=key, key_name="MY_KEY"), turns_of(1))
    assert reply.reasoning == "The key is [key]."

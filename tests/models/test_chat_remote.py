"""A chat model behind a server, a real one on loopback that misbehaves in every way we know."""

import asyncio
import contextlib
import gzip
import json
import random
import socket
import subprocess
import sys
import time
import zlib
from collections import Counter

import pytest

from chat_server import CUT, HALF, Answer, ChatServer, at_once, bomb, completion, most_in_any, said
from goffman.errors import AskingError, InputError, ModelError
from goffman.models import api_errors, chat_api
from goffman.models.base import Calling, ChatRequest, Sampling
from goffman.models.chat_api import RemoteChat
from goffman.models.rate_limit import AdaptiveConcurrency, backoff
from goffman.models.resolve import load
from refusals import message_of

KEPT = " All answers so far are kept. To resume, run the same command again."
KEY = "sk-goffman-test-4d1f"


def turns_of(count, *, trial=1):
    return [
        ChatRequest(text=f"Question {n}?", trial=trial, seed=1000 * trial + n) for n in range(count)
    ]


def model_at(server, *, name="mini", sampling=None, **calling):
    spec = f"{server.url}#{name}"
    return load(spec, kind="chat", sampling=sampling or Sampling(), calling=Calling(**calling))


def heard_by(model, turns):
    """Every reply with the position of its turn, in the order in which they came."""
    heard = []
    model.chat(turns, lambda position, reply: heard.append((position, reply)))
    return heard


def replies_of(model, turns):
    """The replies in the order of the turns."""
    return [reply for _, reply in sorted(heard_by(model, turns), key=lambda pair: pair[0])]


def ask(server, turns, **options):
    return heard_by(model_at(server, **{"concurrency": 64, **options}), turns)


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch):
    monkeypatch.setattr("goffman.models.chat_api.backoff", lambda *_: 0.01)


def failure(server, turns, **calling):
    with pytest.raises(AskingError) as refusal:
        ask(server, turns, **calling)
    assert refusal.value.__cause__ is None
    return str(refusal.value)


def texts(server, turns, heard):
    """What was heard to each turn, checked against what the server says to it."""
    assert Counter(position for position, _ in heard) == Counter(range(len(turns)))
    for position, reply in heard:
        turn = turns[position]
        request = next(r for r in server.asked if (r.text, r.seed) == (turn.text, turn.seed))
        assert reply.text == said(request)


def test_a_question_is_a_fresh_chat_and_a_reply_is_kept_as_it_came():
    with ChatServer() as server:
        turn = ChatRequest(text="Who?", trial=1, seed=7)
        sampling = Sampling(temperature=0.5, max_tokens=9, top_p=0.9)
        ((position, reply),) = ask(server, [turn], sampling=sampling)
    (request,) = server.asked
    assert request.path == "/v1/chat/completions"
    assert request.body == {
        "model": "mini",
        "messages": [{"role": "user", "content": "Who?"}],
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 7,
        "top_p": 0.9,
    }
    assert position == 0
    assert vars(reply) == {
        "next_words": None,
        "text": said(request),
        "finish_reason": "stop",
        "prompt_tokens": 40,
        "completion_tokens": 3,
        "fingerprint": "fp_1",
        "served_by": "mini",
        "reasoning": None,
    }


def test_many_are_under_way_at_once_and_never_more_than_allowed():
    async def once_all_are_there(request):
        if server.at_once == concurrency:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), timeout=60)
        # Time for one too many.
        await asyncio.sleep(0.05)
        return await at_once(request)

    for concurrency in (1, 5, 64):
        all_there = asyncio.Event()
        with ChatServer(once_all_are_there) as server:
            turns = turns_of(3 * concurrency)
            texts(server, turns, ask(server, turns, concurrency=concurrency))
            assert server.most_at_once == concurrency


@pytest.fixture
def waits(monkeypatch):
    """The seconds of every wait before a question is put again, in the order they were chosen."""
    chosen = []

    def noted(*arguments):
        chosen.append(backoff(*arguments))
        return chosen[-1]

    monkeypatch.setattr("goffman.models.chat_api.backoff", noted)
    return chosen


def misbehaving(seed):
    """A server that does everything wrong now and then, but each thing only a few times in a row."""
    draw = random.Random(seed)
    done = Counter()

    async def behave(request):
        kind = draw.choice(
            ["well"] * 8
            + ["slow", "429", "429 wait", "500", "503", CUT, HALF, "no json", "no choices", "other"]
        )
        if request.times > 4:
            kind = "well"
        done[kind] += 1
        return {
            "429": Answer(429, {"error": {"message": "slow down"}}),
            "429 wait": Answer(429, {"error": {}}, {"retry-after": "0.05"}),
            "500": Answer(500, b"oops"),
            "503": Answer(503, {"error": "overloaded"}),
            CUT: CUT,
            HALF: HALF,
            "no json": Answer(200, b'{"choices": [{"mess'),
            "no choices": Answer(200, {"model": "mini", "choices": []}),
            "other": Answer(200, completion("a reply of another model", model="maxi")),
        }.get(kind) or await (_slow if kind == "slow" else at_once)(request)

    async def _slow(request):
        await asyncio.sleep(draw.uniform(0.1, 0.5))
        return await at_once(request)

    return behave, done


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 8))]
)
def test_with_every_fault_at_64_at_once_no_reply_is_lost_doubled_or_invented(seed, waits):
    behave, done = misbehaving(seed)
    first = True

    async def first_well(request):
        nonlocal first
        if first:
            first = False
            return await at_once(request)
        return await behave(request)

    turns = turns_of(300) + turns_of(300, trial=2)
    with ChatServer(first_well) as server:
        texts(server, turns, ask(server, turns))
    # No question fails more than four times.
    assert 0 < max(waits) <= 0.5 * 2**3
    assert len(done) == 11, f"not every fault came: {done}"
    assert server.most_at_once <= 64
    assert set(server.answered) == {(turn.text, turn.seed) for turn in turns}


def test_while_the_server_asks_to_wait_nobody_asks():
    moments = []

    async def once_busy(request):
        if not moments:
            moments.append(time.monotonic())
            return Answer(429, {"error": {}}, {"retry-after": "2"})
        # The others of the first four were under way already; they end within the wait.
        await asyncio.sleep(max(0.0, moments[0] + 1.0 - time.monotonic()))
        return await at_once(request)

    with ChatServer(once_busy) as server:
        turns = turns_of(40)
        texts(server, turns, ask(server, turns, concurrency=4))
    late = [r.arrived - moments[0] for r in server.asked]
    assert len(late) == 41
    assert sum(after < 2.0 for after in late) <= 4


def test_a_busy_server_is_waited_for_as_long_as_it_answers_someone():
    """It takes every fourth request: most questions are sent away more than once."""

    async def few(request):
        if len(server.asked) % 4:
            return Answer(429, {"error": {"message": "too many"}}, {"retry-after": "0.05"})
        return await at_once(request)

    with ChatServer(few) as server:
        turns = turns_of(60)
        texts(server, turns, ask(server, turns, concurrency=40))
    assert max(request.times for request in server.asked) >= 4


def test_the_limit_of_requests_counts_those_that_are_sent_again(monkeypatch):
    """In a minute of one second, so that the test is short; the slow test has a true minute."""
    from goffman.models.rate_limit import RateLimiter

    monkeypatch.setattr(
        chat_api, "RateLimiter", lambda per_minute: RateLimiter(per_minute, minute=1.0)
    )

    async def first_busy(request):
        if request.times == 1:
            return Answer(503, b"")
        await asyncio.sleep(0.02)
        return await at_once(request)

    with ChatServer(first_busy) as server:
        turns = turns_of(30)
        texts(server, turns, ask(server, turns, per_minute=25))
    assert len(server.asked) == 60
    assert most_in_any(1.0, [request.arrived for request in server.asked]) <= 25


@pytest.mark.slow
def test_the_limit_holds_in_a_true_minute():
    with ChatServer() as server:
        turns = turns_of(70)
        texts(server, turns, ask(server, turns, per_minute=60))
    moments = [request.arrived for request in server.asked]
    assert most_in_any(60.0, moments) <= 60
    assert moments[-1] - moments[0] > 60


SPELLED = "".join(f"\\u{ord(sign):04x}" for sign in KEY).encode()

MESSAGES = {
    "a bad key": (
        Answer(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
        "the server did not accept the key in MY_KEY (HTTP 401). Put a valid key there.",
    ),
    "a refused question": (
        Answer(400, {"error": {"message": "max_tokens is too large.\nUse less."}}),
        "the server refused a question (HTTP 400: max_tokens is too large. Use less).",
    ),
    "a key that the server repeats": (
        Answer(403, {"error": {"message": f"The key {KEY} may not do this"}}),
        "the server refused a question (HTTP 403: The key [key] may not do this).",
    ),
    "a key at the end of what is told": (
        Answer(400, {"error": {"message": "x" * 190 + KEY}}),
        f"the server refused a question (HTTP 400: {'x' * 190}[key]).",
    ),
    "a key that is spelled in JSON, and would be cut in two": (
        Answer(400, b'{"error": {"message": "' + b"x" * 190 + SPELLED + b'"}}'),
        f"the server refused a question (HTTP 400: {'x' * 190}[key]).",
    ),
    "a page of HTML": (
        Answer(405, b"<html>no</html>"),
        "the server refused a question (HTTP 405).",
    ),
    "no credit": (
        Answer(429, {"error": {"message": "You are broke.", "code": "insufficient_quota"}}),
        "the account has no credit left (HTTP 429: You are broke).",
    ),
    "a long wait": (
        Answer(429, {"error": {"message": "Come back"}}, {"retry-after": "7200"}),
        "the server asks to wait 7,200 seconds (HTTP 429: Come back).",
    ),
    "a redirect": (
        Answer(307, b"", {"location": "http://elsewhere.example.org/v1"}),
        (
            "the server at {url} redirects to http://elsewhere.example.org/v1 (HTTP 307). Give "
            "that address instead."
        ),
    ),
    "a redirect to what is no address": (
        Answer(307, b"", {"location": "data:x"}),
        ("the server at {url} redirects to data:x (HTTP 307). Give that address instead."),
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_what_does_not_pass_by_itself_ends_at_once_with_one_message(case):
    answer, message = MESSAGES[case]

    with ChatServer(answer) as server:
        said = failure(server, turns_of(5), concurrency=1, key=KEY, key_name="MY_KEY")
    assert said == f"{server.url}#mini: {message.format(url=server.url)}{KEPT}"
    assert len(server.asked) == 1
    assert KEY not in said


def test_a_server_that_wants_a_key_says_so():
    with ChatServer(Answer(401, {"error": {"message": "no key"}})) as server:
        assert failure(server, turns_of(1)) == (
            f"{server.url}#mini: the server needs a key (HTTP 401). Put it into an environment "
            f"variable, and give its name with --key-env.{KEPT}"
        )


def test_an_unknown_model_is_told_with_those_that_the_server_has():
    with ChatServer(
        Answer(404, {"error": {"message": "The model 'mimi' does not exist"}}),
        models=["mini", "maxi"],
    ) as server:
        assert failure(server, turns_of(3), name="mimi") == (
            f"{server.url}#mimi: the server at {server.url} has no model 'mimi', or no chat at "
            "this address (HTTP 404: The model 'mimi' does not exist). It has: mini, maxi. Did you "
            f"mean 'mini'?{KEPT}"
        )

    async def has_nothing(request):
        return Answer(404, b"")

    with ChatServer(has_nothing, models=["x" * 190 + KEY]) as server:
        told = failure(server, turns_of(3), name="mimi", key=KEY, key_name="MY_KEY")
        assert f" It has: {'x' * 190}[key]." in told

    with ChatServer(has_nothing) as server:
        assert failure(server, turns_of(3), name="mimi") == (
            f"{server.url}#mimi: the server at {server.url} has no model 'mimi', or no chat at "
            f"this address (HTTP 404).{KEPT}"
        )


def test_a_dead_server_is_told_soon(waits):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    model = RemoteChat(f"{url}#m", sampling=Sampling(), calling=Calling())
    assert message_of(AskingError, model.chat, turns_of(50), lambda *_: None) == (
        f"{url}#m: cannot connect to {url}. Start the server, or correct the address. "
        f"goffman tried 3 times.{KEPT}"
    )
    # Two waits of one question.
    assert 0 < max(waits) <= 1.0


def test_a_server_that_takes_no_connection_is_told_as_dead(monkeypatch):
    """Its queue is full, so that a connection waits for ever."""
    monkeypatch.setattr("goffman.models.chat_api.CONNECT_S", 0.3)
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        address = full.getsockname()
        for _ in range(2):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(address)
        url = f"http://127.0.0.1:{address[1]}/v1"
        model = RemoteChat(f"{url}#m", sampling=Sampling(), calling=Calling())
        with pytest.raises(AskingError, match=r"#m: cannot connect to .* goffman tried 3 times\."):
            model.chat(turns_of(1), lambda *_: None)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(500, {"error": {"message": "boom"}}), "the server answered with HTTP 500: boom."),
        (Answer(500, b"[" * 2000 * 100), f"the server answered with HTTP 500: {'[' * 200}."),
        (CUT, "the server at {url} closed the connection."),
        (HALF, "the server at {url} closed the connection."),
        (Answer(200, b"no JSON"), "the server's answer is not JSON."),
        (Answer(200, b"[" * 100_000), "the server's answer is not JSON."),
        (Answer(200, {"choices": []}), "the server's answer contains no reply."),
        (Answer(200, {"choices": [{"message": {}}]}), "the server's answer contains no reply."),
        (Answer(200, [1]), "the server's answer contains no reply."),
        (
            Answer(200, {"choices": [{"message": {"content": 3}}]}),
            "the server's answer contains no reply.",
        ),
        (
            Answer(200, {"error": {"message": "No provider"}}),
            "the server's answer contains no reply: No provider.",
        ),
        (
            Answer(200, {"error": {"message": "x" * 190 + KEY}}),
            f"the server's answer contains no reply: {'x' * 190}[key].",
        ),
        (
            Answer(200, {"error": "No provider"}),
            "the server's answer contains no reply: No provider.",
        ),
    ],
)
def test_what_may_pass_by_itself_is_tried_again_and_then_told(answer, message):
    with ChatServer(answer) as server:
        told = failure(server, turns_of(1), key=KEY, key_name="MY_KEY")
    assert told == (
        f"{server.url}#mini: {message.format(url=server.url)} goffman tried 8 times.{KEPT}"
    )
    assert len(server.asked) == api_errors.TRIES


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, completion("x" * 5 * 2**20)),
        Answer(500, b"x" * 5 * 2**20),
        Answer(200, gzip.compress(b" " * 5 * 2**20), {"content-encoding": "gzip"}),
        Answer(500, zlib.compress(b" " * 5 * 2**20), {"content-encoding": "deflate"}),
        # Blocks that hold nothing, without an end.
        Answer(
            200,
            zlib.compress(b"")[:2] + b"\0\0\0\xff\xff" * 2**20,
            {"content-encoding": "deflate"},
        ),
    ],
    ids=["a reply", "an error", "packed", "packed error", "packed nothing"],
)
def test_an_answer_without_an_end_is_not_read_to_its_end(answer):
    with ChatServer(answer) as server:
        told = failure(server, turns_of(1))
    assert told == (
        f"{server.url}#mini: the server at {server.url} sent more than 4 MB, which cannot be a "
        f"reply. goffman tried 3 times.{KEPT}"
    )


BOMBED = """
import resource, sys
from goffman.errors import AskingError
from goffman.models import chat_api
from goffman.models.base import Calling, ChatRequest, Sampling

resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
chat_api.backoff = lambda *_: 0.01
turn = ChatRequest(text="Who?", trial=1, seed=7)
before = None
for model in ("mini", *sys.argv[2:]):
    asked = chat_api.RemoteChat(f"{sys.argv[1]}#{model}", sampling=Sampling(), calling=Calling())
    try:
        asked.chat([turn], lambda *_: None)
    except AskingError as error:
        print(str(error).split(": ", 1)[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    before = before or most
assert most - before < 40, f"{most - before} MB for one answer"
"""


def test_an_answer_that_unpacks_to_gigabytes_takes_no_memory():
    """Packed once, or twice into a few kB; in a process of its own, to measure what it takes."""
    packings = ["gzip", "deflate", "gzip, gzip", "gzip, deflate", "br", "zstd"]
    bombs = {name: bomb(8 if "," in name else 1, name) for name in packings}
    assert len(bombs["gzip, gzip"]) < 50_000

    async def packed(request):
        name = request.body["model"]
        if name not in bombs:
            return await at_once(request)
        return Answer(200, bombs[name], {"content-encoding": name})

    with ChatServer(packed) as server:
        done = subprocess.run(
            [sys.executable, "-c", BOMBED, server.url, *packings],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stderr == ""
    end = f" goffman tried 3 times.{KEPT}"
    endless = f"the server at {server.url} sent more than 4 MB, which cannot be a reply."
    assert done.stdout.splitlines() == [
        *(f"{endless}{end}" for _ in packings[:2]),
        *(
            f"the server at {server.url} compresses its answers in a way that goffman cannot "
            f"read (Content-Encoding: {name}). Turn compression off.{end}"
            for name in packings[2:]
        ),
    ]


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
def test_a_packed_answer_is_read_though_none_is_asked_for(pack):
    async def packed(request):
        content = pack(json.dumps(completion(said(request))).encode())
        name = "GZIP" if pack is gzip.compress else "deflate"
        return Answer(200, content, {"content-encoding": name})

    with ChatServer(packed) as server:
        turns = turns_of(3)
        texts(server, turns, ask(server, turns))
    assert {request.headers["accept-encoding"] for request in server.asked} == {"identity"}


@pytest.mark.parametrize("content", [b"plain", gzip.compress(b"{}")[5:]])
def test_an_answer_that_is_not_packed_as_it_says_is_told(content):
    with ChatServer(Answer(200, content, {"content-encoding": "gzip"})) as server:
        assert failure(server, turns_of(1)) == (
            f"{server.url}#mini: the server at {server.url} compresses its answers in a way "
            "that goffman cannot read (Content-Encoding: gzip). Turn compression off. "
            f"goffman tried 3 times.{KEPT}"
        )


def test_a_key_in_the_name_of_a_packing_is_hidden():
    with ChatServer(Answer(200, b"", {"content-encoding": "x" * 190 + KEY})) as server:
        told = failure(server, turns_of(1), key=KEY, key_name="MY_KEY")
    assert f"({'Content-Encoding: ' + 'x' * 190}[key])" in told


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("charset", ["zlib", "idna", "rot13", "undefined", "utf-16", "no-such"])
def test_an_answer_is_utf_8_whatever_charset_it_names(charset, status):
    headers = {"content-type": f"application/json; charset={charset}"}

    async def says(request):
        body = completion("Grüße") if status == 200 else {"error": {"message": "Grüße"}}
        return Answer(status, json.dumps(body, ensure_ascii=False).encode(), headers)

    with ChatServer(says) as server:
        if status == 200:
            ((_, reply),) = ask(server, turns_of(1))
            assert reply.text == "Grüße"
        else:
            assert "HTTP 500: Grüße." in failure(server, turns_of(1))


def test_a_wait_that_no_server_means_is_not_waited_for():
    waits = ["inf", "nan", "1e400", "-5", "Fri, 31 Dec 9999 23:59:59 GMT"]

    async def busy(request):
        if request.times > len(waits):
            return await at_once(request)
        return Answer(429, {"error": {}}, {"retry-after": waits[request.times - 1]})

    with ChatServer(busy) as server:
        turns = turns_of(1)
        texts(server, turns, ask(server, turns))
    assert len(server.asked) == len(waits) + 1


def test_a_server_that_does_not_answer_in_time_is_asked_again_and_then_told():
    async def never(request):
        await asyncio.sleep(60)

    with ChatServer(never) as server:
        assert failure(server, turns_of(1), timeout=0.3) == (
            f"{server.url}#mini: the server at {server.url} did not answer within 0.3 seconds "
            f"(--timeout). goffman tried 3 times.{KEPT}"
        )


def test_a_server_that_answers_as_another_model_for_good_is_refused():
    async def two_models(request):
        number = int(request.text.split()[1].rstrip("?"))
        return Answer(200, completion("x", model="maxi" if number == 3 else "mini"))

    with ChatServer(two_models) as server:
        assert failure(server, turns_of(5), concurrency=1) == (
            f"{server.url}#mini: the server now answers as 'maxi', before as 'mini'. goffman "
            f"never mixes the answers of two models. goffman tried 8 times.{KEPT}"
        )


def test_what_was_sent_before_a_failure_is_heard_and_nothing_is_sent_after_it():
    async def third_refused(request):
        if request.text == "Question 2?":
            return Answer(400, {"error": {"message": "no"}})
        await asyncio.sleep(0.4)
        return await at_once(request)

    heard = []
    with ChatServer(third_refused) as server:
        model = load(f"{server.url}#mini", kind="chat", calling=Calling(concurrency=8))
        with pytest.raises(AskingError):
            model.chat(turns_of(100), lambda position, _: heard.append(position))
    assert len(server.asked) == 8
    assert sorted(heard) == [0, 1, 3, 4, 5, 6, 7], "what is under way is paid for"


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_a_question_that_the_server_s_filter_stops_has_no_text_and_says_why(code):
    with ChatServer(Answer(400, {"error": {"message": "filtered", "code": code}})) as server:
        ((_, reply),) = ask(server, turns_of(1))
    assert (reply.text, reply.finish_reason) == (None, "content_filter")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": ""}, ""),
        ({"content": " The\neditor.\u0000 "}, " The\neditor.\u0000 "),
        ({"content": None}, None),
        ({"content": None, "refusal": "I cannot."}, "I cannot."),
        ({"content": "half \ud83d sign"}, "half \ufffd sign"),
        ({"content": f"you sent {KEY}"}, "you sent [key]"),
    ],
)
def test_a_reply_is_raw_text_that_a_file_can_hold_without_the_key(message, text):
    with ChatServer(
        Answer(200, {"choices": [{"message": message, "finish_reason": "length"}]})
    ) as server:
        ((_, reply),) = ask(server, turns_of(1), key=KEY, key_name="MY_KEY")
    assert reply.text == text
    assert reply.finish_reason == "length"
    assert reply.served_by is reply.fingerprint is reply.prompt_tokens is None
    json.dumps(reply.text).encode()
    assert text is None or text.encode() is not None


def test_a_key_that_is_a_word_is_left_in_replies():
    with ChatServer(Answer(200, completion("I am ollama."))) as server:
        ((_, reply),) = ask(server, turns_of(1), key="ollama", key_name="MY_KEY")
    assert reply.text == "I am ollama."


def test_nothing_of_the_environment_goes_to_another_host(monkeypatch):
    secrets = {
        "OPENAI_API_KEY": "sk-env-1",
        "OPENAI_ADMIN_KEY": "sk-env-2",
        "OPENAI_ORG_ID": "org-env-3",
        "OPENAI_PROJECT_ID": "proj-env-4",
        "OPENAI_CUSTOM_HEADERS": "X-Secret: env-5",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/env-6",
        "HTTP_PROXY": "http://127.0.0.1:9/env-7",
        "ALL_PROXY": "http://127.0.0.1:9/env-8",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    with ChatServer() as server:
        ask(server, turns_of(2))
        ask(server, turns_of(2), key=KEY, key_name="MY_KEY", openai_key="sk-other")
    sent = [json.dumps([request.headers, request.body]) for request in server.asked]
    assert not [text for text in sent if "env-" in text or "sk-other" in text]
    keys = [request.headers.get("authorization") for request in server.asked]
    assert keys == [None, None, f"Bearer {KEY}", f"Bearer {KEY}"]


def test_openai_s_key_goes_to_openai_s_models_alone(monkeypatch):
    with ChatServer() as server:
        monkeypatch.setattr("goffman.models.server_address.OPENAI", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        calling = Calling(openai_key="sk-openai", key="sk-other", key_name="OTHER")
        model = load("openai:mini", kind="chat", calling=calling)
        model.chat(turns_of(1), lambda *_: None)
    (request,) = server.asked
    assert request.headers["authorization"] == "Bearer sk-openai"
    assert request.body["max_completion_tokens"] == 64
    assert "max_tokens" not in request.body
    assert "sk-" not in repr(calling)


@pytest.mark.parametrize(
    ("spec", "calling", "message"),
    [
        (
            "openai:x",
            Calling(key="k", key_name="OTHER"),
            ("'openai:x' needs a key. Put it into the environment variable OPENAI_API_KEY."),
        ),
        (
            "http://example.org/v1#x",
            Calling(key=KEY, key_name="MY_KEY"),
            (
                "The key in MY_KEY would be sent to http://example.org/v1 unencrypted. Use "
                "https://, a server on this machine, or no key."
            ),
        ),
        *(
            (
                "https://example.org/v1#x",
                Calling(key=key, key_name="MY_KEY"),
                (
                    "MY_KEY is empty, or it contains a space, a line break or another "
                    "character that no key has. Put only the key there."
                ),
            )
            for key in ("", "sk one", "sk-one\n", "sk-ö")
        ),
    ],
)
def test_a_key_that_would_be_lost_is_refused_before_anything_is_sent(spec, calling, message):
    assert message_of(InputError, load, spec, kind="chat", calling=calling) == message


def test_plain_text_to_another_machine_is_said():
    def notes(spec):
        return load(spec, kind="chat").identity.notes

    assert notes("http://10.0.0.1/v1#x") == (
        "Prompts and replies are sent to http://10.0.0.1/v1 unencrypted; others could read them.",
    )
    assert notes("http://localhost/v1#x") == notes("https://example.org/v1#x") == ()


def test_what_the_hearer_raises_ends_the_asking_and_comes_out():
    class FullError(Exception):
        pass

    heard = []

    def hear(position, reply):
        heard.append(position)
        if len(heard) == 5:
            raise FullError

    with ChatServer() as server:
        model = load(f"{server.url}#mini", kind="chat", calling=Calling(concurrency=2))
        with pytest.raises(FullError):
            model.chat(turns_of(100), hear)
    assert len(heard) <= 6


def test_it_runs_inside_a_running_loop_as_in_a_notebook():
    async def notebook(server):
        return ask(server, turns_of(3))

    with ChatServer() as server:
        assert len(asyncio.run(notebook(server))) == 3


def test_nobody_is_called_where_nothing_is_to_be_asked():
    assert ask(ChatServer.__new__(_Nowhere), []) == []


class _Nowhere(ChatServer):
    url = "http://127.0.0.1:9/v1"


# Servers as they are: slow, choosy about parameters and names, with thoughts in replies


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
        replies = replies_of(model, turns_of(40))
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
            replies_of(model, turns_of(8))
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
        assert len(replies_of(model, turns_of(12))) == 12
        assert len(replies_of(model, turns_of(3))) == 3
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
        assert len(replies_of(model_at(server), turns_of(2))) == 2


def test_the_token_limit_goes_by_its_other_name():
    wants = "Unsupported parameter: '{}' is not supported. Use 'max_completion_tokens' instead."
    with ChatServer(refusing("max_tokens", message=wants, param="max_tokens")) as server:
        model = model_at(server, sampling=Sampling(max_tokens=9))
        replies_of(model, turns_of(2))
    assert model.service.changed == (
        "The server takes the token limit as max_completion_tokens, not max_tokens.",
    )
    assert server.asked[-1].body["max_completion_tokens"] == 9
    assert "max_tokens" not in server.asked[-1].body


def test_a_server_without_any_token_limit_is_not_asked():
    refuses = refusing("max_tokens", "max_completion_tokens")
    with ChatServer(refuses) as server, pytest.raises(AskingError) as told:
        replies_of(model_at(server, concurrency=1), turns_of(3))
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
        assert len(replies_of(model, turns_of(2))) == 2
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
        replies_of(model_at(server, sampling=sampling, concurrency=1), turns_of(3))
    words = f"HTTP 400: Unsupported parameter: '{name}' is not supported with this model"
    assert f"{told} ({words})." in str(refusal.value)
    assert len(server.asked) == 1


def test_a_limit_that_is_too_large_is_no_refused_parameter():
    refuses = refusing("max_tokens", message="{} is too large")
    with ChatServer(refuses) as server, pytest.raises(AskingError, match="max_tokens is too large"):
        replies_of(model_at(server, concurrency=1), turns_of(1))
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
        assert len(replies_of(model, turns_of(2))) == 2


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
    with ChatServer(
        Answer(200, {"choices": [{"message": message, "finish_reason": "stop"}]})
    ) as server:
        (reply,) = replies_of(model_at(server), turns_of(1))
    assert (reply.text, reply.reasoning or None) == (text, reasoning or None)


def test_a_key_in_thoughts_is_hidden():
    key = "sk-goffman-test-9a2b"

    async def thinks(request):
        body = completion("ok")
        body["choices"][0]["message"]["reasoning"] = f"The key is {key}."
        return Answer(200, body)

    with ChatServer(thinks) as server:
        (reply,) = replies_of(model_at(server, key=key, key_name="MY_KEY"), turns_of(1))
    assert reply.reasoning == "The key is [key]."

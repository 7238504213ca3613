"""Audits of servers as they are: what was odd stands in the manifest, the notes and the page."""

import asyncio
import socket
from types import SimpleNamespace

import polars as pl
import pytest

from chat_server import Answer, ChatServer, completion
from goffman.errors import AskingError, ModelError
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.models.base import Calling, Reply, Sampling
from goffman.options import AskOptions, ChatOptions, Listener
from goffman.pipeline import audit
from goffman.runs.collect_replies import LOOK, EmptyReplyMonitor
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_answers

SENTENCES = {"coreference.pairs": 6, "coreference.adjectives": ["none"]}
PROMPTS = render(
    load_instrument("coreference"), PromptOptions(pairs=6, adjectives=["none"])
).prompts
ANSWERS = {prompt.text: prompt.answer for prompt in PROMPTS}


def run(server, folder, *, name="mini", report=False, trials=5, max_tokens=64, **calling):
    notes, seen = [], []
    calling.setdefault("concurrency", 4)
    chats = ChatOptions(
        trials=trials, sampling=Sampling(max_tokens=max_tokens), calling=Calling(**calling)
    )
    done = audit(
        [f"{server.url}#{name}"],
        instruments=["coreference"],
        output=folder,
        options=AskOptions(modes=("ask",), controls=False, settings=SENTENCES, chats=chats),
        listener=Listener(note=notes.append, progress=seen.append),
        report=report,
    )
    return done, notes, seen


def answered(folder):
    (of_model,) = read_manifest(folder).answers.values()
    return of_model["coreference"]


async def understands(request):
    return Answer(200, completion(ANSWERS[request.text]))


def test_timeouts_are_counted_while_it_runs_at_the_end_and_in_the_manifest(tmp_path):
    slot = asyncio.Lock()

    async def slowly(request):
        async with slot:
            await asyncio.sleep(0.06)
        return await understands(request)

    with ChatServer(slowly) as server:
        _, notes, seen = run(server, tmp_path, concurrency=16, timeout=0.4)
        late = len(server.asked) - 60
    assert late > 0
    counted = answered(tmp_path).timeouts
    # On a busy machine a request can time out before the server has read it.
    assert counted >= late
    remark = (
        f"{counted:,} requests were not answered in time and were sent again. A longer --timeout or a "
        "lower --concurrency avoids this."
    )
    assert any(note.endswith(remark) for note in notes)
    assert answered(tmp_path).remarks == (remark,)
    assert seen[-1].note.startswith(f"{counted:,} timed out, ")
    # The run is finished: the server is gone by now, and it is still known.
    run(server, tmp_path)
    assert answered(tmp_path).timeouts == counted


def test_timeouts_of_an_asking_that_ended_are_known_too(tmp_path):
    async def never(request):
        await asyncio.sleep(60)

    with ChatServer(never) as server, pytest.raises(AskingError, match="did not answer within"):
        run(server, tmp_path, timeout=0.2, trials=1)
    assert answered(tmp_path).timeouts >= 3
    assert answered(tmp_path).parts is None


def test_another_name_is_said_in_the_manifest_the_notes_and_the_page(tmp_path):
    with ChatServer(
        lambda request: Answer(200, completion(ANSWERS[request.text], model="mini-2026-01-01"))
    ) as server:
        done, notes, _ = run(server, tmp_path, report=True, trials=1)
    said = "You asked for 'mini', but the server answered as 'mini-2026-01-01'."
    assert notes[-1].endswith(said)
    assert answered(tmp_path).served_by == ("mini-2026-01-01",)
    page = done.report.read_text()
    assert "answered as <b>mini-2026-01-01</b>" in page
    assert (
        "You asked for &#39;mini&#39;, but the server answered as &#39;mini-2026-01-01&#39;."
        in page
    )


def test_the_name_that_was_asked_for_stands_on_the_page_and_is_no_remark(tmp_path):
    with ChatServer(understands) as server:
        done, notes, _ = run(server, tmp_path, report=True, trials=1)
    assert "answered as <b>mini</b>" in done.report.read_text()
    assert len(notes) == 1, "what it takes, and nothing else"


def test_an_unlisted_name_is_refused_and_does_not_bind_the_folder(tmp_path):
    with ChatServer(understands, models=["mini"]) as server:
        with pytest.raises(ModelError, match=r"does not list a model 'mimi'\. It has: mini\. "):
            run(server, tmp_path, name="mimi")
        assert server.asked == []
        assert read_manifest(tmp_path) is None
        run(server, tmp_path, trials=1)
        assert len(server.asked) == 12
        listings = len(server.requests) - 12
        run(server, tmp_path, trials=1)
    assert len(server.requests) - 12 == listings, "a finished run calls nobody"


def test_an_address_where_nobody_is_does_not_bind_the_folder(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = SimpleNamespace(url=f"http://127.0.0.1:{free.getsockname()[1]}/v1")
    with pytest.raises(ModelError, match=r"cannot connect to .* goffman tried 3 times\.$"):
        run(nobody, tmp_path, trials=1)
    assert read_manifest(tmp_path) is None
    with ChatServer(understands) as server:
        run(server, tmp_path, trials=1)
        assert list(read_manifest(tmp_path).models) == [f"{server.url}#mini"]


def test_a_refused_seed_stands_in_the_manifest_and_among_the_notes(tmp_path):
    async def no_seed(request):
        if "seed" in request.body:
            return Answer(400, {"error": {"message": "unknown field: seed"}})
        return await understands(request)

    said = "The server does not take a seed, so the replies cannot be reproduced exactly."
    with ChatServer(no_seed) as server:
        _, notes, _ = run(server, tmp_path, trials=2)
        assert answered(tmp_path).changed == (said,)
        assert answered(tmp_path).remarks == (said,)
        _, again, _ = run(server, tmp_path, trials=2)
        run(server, tmp_path, trials=3)
        assert answered(tmp_path).changed == (said,)
        # More trials may be asked of another server, which takes a seed.
        server.behave = understands
        run(server, tmp_path, trials=4)
    assert answered(tmp_path).remarks == (said,), "some of the replies cannot be drawn again"
    assert notes[-1].endswith(said)
    assert again[-1].endswith(said)


def test_thoughts_stand_in_a_column_of_their_own_and_are_not_read(tmp_path):
    async def thinks(request):
        other = next(prompt.other for prompt in PROMPTS if prompt.text == request.text)
        return Answer(200, completion(f"<think>the {other}</think>{ANSWERS[request.text]}"))

    with ChatServer(thinks) as server:
        run(server, tmp_path, trials=1)
    replies = read_answers(tmp_path, "replies")
    assert replies["reasoning"].str.starts_with("the ").all()
    assert not replies["text"].str.contains("think").any()
    assert answered(tmp_path).remarks == (
        "12 of 12 replies came with reasoning, which is stored separately and not read as an "
        "answer.",
    )
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    right = scores.filter(pl.col("quantity") == "correct", pl.col("level") == "prompt")
    assert right["value"].mean() == 1


def test_an_audit_that_gets_nothing_but_cut_thoughts_stops_and_says_what_to_do(tmp_path):
    async def thinks_on(request):
        body = completion("<think>Let me see who is meant")
        body["choices"][0]["finish_reason"] = "length"
        return Answer(200, body)

    with ChatServer(thinks_on) as server:
        with pytest.raises(AskingError) as told:
            run(server, tmp_path, trials=20, max_tokens=32)
        assert 50 <= len(server.asked) <= 50 + 4
    assert str(told.value) == (
        f"{server.url}#mini: 50 of the last 50 replies contain no answer (50 cut off in the "
        "reasoning). The audit was stopped to save time and money. Raise --max-tokens, now 32: "
        "a model that reasons needs several thousand. Use a new folder (--output). Or turn "
        "reasoning off on the server. All replies so far are kept."
    )


def test_a_few_empty_replies_do_not_stop_an_audit_and_many_do_wherever_they_come():
    def reply(text, finish="stop", reasoning=None):
        return Reply(text=text, finish_reason=finish, reasoning=reasoning)

    def look(watch, *replies):
        for one in replies:
            watch.check(one)

    watch = EmptyReplyMonitor("m", 64)
    look(watch, *(reply("" if n % 5 else "x") for n in range(300)))
    with pytest.raises(AskingError) as told:
        look(watch, *[reply(" ")] * LOOK)
    assert "45 of the last 50 replies contain no answer (45 empty)" in str(told.value)
    assert "Check whether the server has a chat model, and what it sends." in str(told.value)
    watch = EmptyReplyMonitor("m", None)
    look(watch, *[reply(None, "content_filter")] * LOOK * 2)
    with pytest.raises(AskingError, match=r"cut off before the first word\).*Raise --max-tokens: "):
        look(watch, *[reply(None, "length")] * LOOK)


def test_a_base_model_behind_a_template_is_suspected_by_its_echoes_and_cut_replies(tmp_path):
    async def goes_on(request):
        body = completion(f"{request.text}\n{request.text[:50]}")
        body["choices"][0]["finish_reason"] = "length"
        return Answer(200, body)

    with ChatServer(goes_on) as server:
        done, notes, _ = run(server, tmp_path, trials=1, report=True)
    said = (
        "12 of 12 replies repeat the prompt, and 12 were cut off. This happens if the server "
        "runs a model that was not trained to chat. Then these numbers mean nothing. Check "
        "that it has a chat model with its own chat template."
    )
    assert notes[-1].endswith(said)
    assert said in done.report.read_text()


def test_a_chat_model_that_only_echoes_or_is_only_cut_is_not_suspected(tmp_path):
    async def echoes(request):
        return Answer(200, completion(request.text))

    async def is_cut(request):
        body = completion("The mechanic, because")
        body["choices"][0]["finish_reason"] = "length"
        return Answer(200, body)

    for number, behave in enumerate((echoes, is_cut)):
        with ChatServer(behave) as server:
            _, notes, _ = run(server, tmp_path / str(number), trials=1)
        assert not any("base model" in note for note in notes)

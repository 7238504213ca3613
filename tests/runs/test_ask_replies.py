"""Every question is asked once in each trial, of a real server, and never again once answered."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
from contextlib import contextmanager

import polars as pl
import pytest

from asking import prompts_of
from chat_server import Answer, ChatServer, at_once, completion, said
from goffman.errors import AskingError, RunError
from goffman.forecast import forecast, forecast_text
from goffman.models.base import Calling, Reply, Sampling
from goffman.models.resolve import load
from goffman.options import Prices
from goffman.runs import answers as journals
from goffman.runs import collect_replies as replies_module
from goffman.runs.answers import answers_folder, key_of, read_journal
from goffman.runs.collect_replies import (
    ChatJob,
    Questions,
    ask_replies,
    known_questions,
    replies_of,
    seed_of,
)
from goffman.runs.manifest import Manifest, model_entry, read_manifest, with_model
from goffman.runs.run import open_run, read_answers
from goffman.schemas import REPLIES, complaints

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

TEXTS = [f"Who does '{word}' refer to in {n}?" for n in range(30) for word in ("he", "she")]


@contextmanager
def job_of(run_folder, prompts, *, trials=3, seed=0, watch=lambda _: None):
    with open_run(run_folder) as run:
        yield ChatJob(
            run=run, instrument="scale", prompts=prompts, trials=trials, seed=seed, watch=watch
        )


def ask(folder, server, prompts=None, *, sampling=None, concurrency=8, **options):
    model = load(f"{server.url}#mini", kind="chat", calling=Calling(concurrency=concurrency))
    with job_of(folder, prompts or prompts_of(TEXTS), **options) as job:
        entry = model_entry(model.identity, sampling=sampling or Sampling(), seed=0)
        name = model.identity.name
        job.run.manifest = with_model(job.run.manifest, folder, name=name, entry=entry)
        return ask_replies(job, model)


def replies_folder(folder, server):
    name = f"{server.url}#mini"
    return answers_folder(folder, "replies", model=name, instrument="scale").path


def files(folder):
    every = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {path: path.stat().st_mtime_ns for path in every}


def check(folder, server, prompts, *, trials=3, seed=0):
    """Each row is what the server says to that prompt's text with that trial's seed."""
    table = read_answers(folder, "replies")
    assert complaints(table, REPLIES) == []
    assert table.select("prompt_id", "trial").rows() == [
        (prompt.id, trial) for prompt in prompts for trial in range(1, trials + 1)
    ]
    text_of = {prompt.id: prompt.text for prompt in prompts}
    sent = {(request.text, request.seed): request for request in server.asked}
    for row in table.iter_rows(named=True):
        text = text_of[row["prompt_id"]]
        request = sent[text, seed_of(seed, key_of(text), row["trial"])]
        assert row["text"] == said(request)
        assert row["finish_reason"] == "stop"
        assert (row["prompt_tokens"], row["completion_tokens"]) == (40, 3)
        assert (row["fingerprint"], row["served_by"]) == ("fp_1", "mini")
    return table


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


def test_every_prompt_has_its_own_reply_in_every_trial(server, tmp_path):
    asked = ask(tmp_path, server)
    assert (asked.sentences, asked.rows, asked.asked_now) == (180, 180, 180)
    assert asked.damaged == asked.remarks == ()
    check(tmp_path, server, prompts_of(TEXTS))
    assert set(server.answered.values()) == {1}
    assert len(server.answered) == 180
    entry = read_manifest(tmp_path).answers[f"{server.url}#mini"]["scale"].entry()
    assert len(entry.pop("sha256")) == 64
    assert entry == {
        "table": "replies",
        "sentences": 180,
        "rows": 180,
        "parts": 1,
        "served_by": ["mini"],
        "fingerprints": ["fp_1"],
        "prompt_tokens": 180 * 40,
        "completion_tokens": 180 * 3,
    }


def test_whatever_comes_first_the_same_replies_give_the_same_bytes(tmp_path):
    names = []
    for seed in (1, 2):
        draw = random.Random(seed)

        async def sooner_or_later(request, draw=draw):
            await asyncio.sleep(draw.uniform(0, 0.02))
            return await at_once(request)

        with ChatServer(sooner_or_later) as server:
            ask(tmp_path / str(seed), server)
            folder = replies_folder(tmp_path / str(seed), server)
        table = read_answers(tmp_path / str(seed), "replies").drop("model")
        names.append(table)
        assert len(list(folder.glob("*.parquet"))) == 1
    assert names[0].equals(names[1])


def test_prompts_that_read_the_same_are_one_question(server, tmp_path):
    prompts = prompts_of([*TEXTS[:4], TEXTS[0]])
    asked = ask(tmp_path, server, prompts)
    assert (asked.sentences, asked.rows, asked.asked_now) == (12, 15, 12)
    assert len(server.asked) == 12
    table = check(tmp_path, server, prompts)
    first, last = (table.filter(pl.col("prompt_id") == prompts[n].id) for n in (0, 4))
    assert first["text"].equals(last["text"])
    assert first["text"].n_unique() == 3, "trials are apart"
    entry = read_manifest(tmp_path).answers[f"{server.url}#mini"]["scale"].entry()
    assert entry["prompt_tokens"] == 12 * 40, "what was paid for, not what was copied"


def test_trials_come_one_after_another_each_with_seeds_of_its_own():
    questions = Questions(prompts_of(TEXTS), 3)
    turns = questions.turns(seed=5)
    assert [turn.trial for turn in turns] == sorted(turn.trial for turn in turns)
    assert len({turn.seed for turn in turns}) == len(turns)
    assert all(0 <= turn.seed < 2**31 for turn in turns)
    assert {turn.seed for turn in turns}.isdisjoint(turn.seed for turn in questions.turns(seed=6))
    assert questions.turns(seed=5) == turns


def test_a_finished_run_asks_nothing_and_is_left_as_it_is(server, tmp_path):
    ask(tmp_path, server)
    before = files(tmp_path)
    assert ask(tmp_path, server).asked_now == 0
    assert len(server.asked) == 180
    assert files(tmp_path) == before


def test_a_run_that_was_stopped_asks_only_the_rest(server, tmp_path):
    seen = []

    def stop(progress):
        if progress.done > 40:
            raise KeyboardInterrupt

    async def slowly(request):
        await asyncio.sleep(0.01)
        return await at_once(request)

    server.behave = slowly
    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path, server, watch=stop)
    there = len(server.asked)
    assert 40 < there < 180
    with pytest.raises(RunError, match="has 0 of an unknown number of parts"):
        read_answers(tmp_path, "replies")
    asked = ask(tmp_path, server, watch=seen.append)
    check(tmp_path, server, prompts_of(TEXTS))
    assert asked.asked_now == 180 - there
    assert set(server.answered.values()) == {1}, "what was under way was kept as well"
    assert seen[0].done == there
    assert seen[-1].done == seen[-1].total == 180
    sessions = read_manifest(tmp_path).sessions
    assert sum(session.sentences for session in sessions) == 180


@pytest.mark.parametrize("harm", ["gone", "damaged"])
def test_the_table_is_made_again_from_the_journal_without_asking(server, tmp_path, harm):
    ask(tmp_path, server)
    (part,) = replies_folder(tmp_path, server).glob("*.parquet")
    content = part.read_bytes()
    part.unlink() if harm == "gone" else part.write_bytes(content[:-1] + b"?")
    asked = ask(tmp_path, server)
    assert asked.asked_now == 0
    assert len(server.asked) == 180
    assert part.read_bytes() == content
    assert asked.damaged == (() if harm == "gone" else (part.name,))


def test_the_table_alone_is_enough(server, tmp_path):
    ask(tmp_path, server)
    (replies_folder(tmp_path, server) / "journal").unlink()
    assert ask(tmp_path, server).asked_now == 0
    check(tmp_path, server, prompts_of(TEXTS))


def test_a_reply_whose_line_came_to_harm_is_asked_again_and_no_other(server, tmp_path):
    ask(tmp_path, server)
    folder = replies_folder(tmp_path, server)
    lines = (folder / "journal").read_bytes().splitlines(keepends=True)
    lines[70] = lines[70].replace(b"stop", b"step")
    (folder / "journal").write_bytes(b"".join(lines))
    for part in folder.glob("*.parquet"):
        part.unlink()
    asked = ask(tmp_path, server)
    assert (asked.asked_now, asked.damaged) == (1, ("journal, line 71",))
    assert len(server.asked) == 181
    check(tmp_path, server, prompts_of(TEXTS))
    assert ask(tmp_path, server).asked_now == 0


def test_a_failure_keeps_what_was_answered(server, tmp_path):
    async def refuses_some(request):
        if request.text == TEXTS[30]:
            return Answer(400, {"error": {"message": "not this one"}})
        return await at_once(request)

    server.behave = refuses_some
    with pytest.raises(AskingError, match="not this one"):
        ask(tmp_path, server)
    there = set(server.answered)
    assert len(there) >= 30
    server.behave = at_once
    ask(tmp_path, server)
    check(tmp_path, server, prompts_of(TEXTS))
    assert set(server.answered.values()) == {1}


def test_a_server_that_has_become_another_model_is_refused(server, tmp_path):
    async def first_ten(request):
        if len(server.asked) > 10:
            return Answer(400, {"error": {"message": "enough"}})
        return await at_once(request)

    server.behave = first_ten
    with pytest.raises(AskingError, match="enough"):
        ask(tmp_path, server, concurrency=1)

    async def another(request):
        return Answer(200, completion("x", model="maxi"))

    server.behave = another
    with pytest.raises(AskingError) as refusal:
        ask(tmp_path, server, concurrency=1)
    assert str(refusal.value) == (
        f"{server.url}#mini: the server now answers as 'maxi', but earlier in this run as "
        "'mini'. goffman never mixes the answers of two models. Give another folder with "
        "--output, or start the earlier model again."
    )
    assert sum(known_questions_of(tmp_path, server).answered.ravel()) == 10


def known_questions_of(folder, server):
    name = f"{server.url}#mini"
    replies = replies_of(folder, read_manifest(folder), model=name, instrument="scale")
    return known_questions(replies, prompts_of(TEXTS), trials=3)


def test_a_model_that_ends_too_soon_or_says_a_thing_twice_is_told(server, tmp_path):
    real = load(f"{server.url}#mini", kind="chat")

    class Ends:
        identity = real.identity

        def chat(self, turns, heard):
            real.chat(turns[:5], heard)

    class Repeats(Ends):
        def chat(self, turns, heard):
            real.chat(turns[:1], heard)
            real.chat(turns[:1], heard)

    for model, message in (
        (
            Ends(),
            (
                f"{server.url}#mini answered only 5 of 180 prompts of scale. All answers so far "
                "are kept. To resume, run the same command again."
            ),
        ),
        (
            Repeats(),
            f"{server.url}#mini answered one question twice. This is a bug in goffman; please "
            "report it.",
        ),
    ):
        with (
            job_of(tmp_path / type(model).__name__, prompts_of(TEXTS)) as job,
            pytest.raises(AskingError) as refusal,
        ):
            ask_replies(job, model)
        assert str(refusal.value) == message


def test_what_is_odd_about_the_replies_is_said(tmp_path):
    async def oddly(request):
        number = int(request.text.split()[-1].rstrip("?"))
        text = {1: None, 3: " \n"}.get(number, "x")
        body = completion(text, system_fingerprint=f"fp_{number % 2}")
        body["choices"][0]["finish_reason"] = "length" if number == 2 else "stop"
        return Answer(200, body)

    with ChatServer(oddly) as server:
        asked = ask(tmp_path, server)
    assert asked.remarks == (
        "6 of 180 replies were cut off at the token limit (--max-tokens).",
        "6 of 180 prompts got a reply without text.",
        "6 of 180 replies are empty.",
        "The server changed during the run: it sent 2 different fingerprints.",
    )
    table = read_answers(tmp_path, "replies")
    assert table["text"].null_count() == 6


def test_the_reasoning_of_a_model_on_this_machine_is_kept_apart_too(server, tmp_path):
    class Local:
        identity = load(f"{server.url}#mini", kind="chat").identity

        def chat(self, turns, heard):
            for position in range(len(turns)):
                heard(position, Reply(text="<think>She?</think>\nnurse", finish_reason="stop"))

    with job_of(tmp_path, prompts_of(TEXTS)) as job:
        ask_replies(job, Local())
        folder = answers_folder(tmp_path, "replies", model=Local.identity.name, instrument="scale")
        lines = [line for line in read_journal(folder) if line]
        assert {(line.reply.text, line.reply.reasoning) for line in lines} == {("nurse", "She?")}


def test_a_forecast_counts_what_is_not_there_yet(server, tmp_path):
    questions = Questions(prompts_of(["x" * 400, "y" * 41]), 5)
    found = forecast(questions, Sampling(max_tokens=10))
    assert (found.requests, found.there) == (10, 0)
    assert found.question_tokens == 5 * (100 + 8) + 5 * (11 + 8)
    assert found.reply_tokens == 100
    assert found.cost(Prices(question=2.0, reply=8.0)) == pytest.approx(
        (635 * 2 / 1e6, 635 * 2 / 1e6 + 100 * 8 / 1e6)
    )
    assert forecast_text(found, None) == (
        "10 requests, about 635 tokens sent and at most 100 received."
    )
    for text in ("x" * 400, "y" * 41):
        for trial in range(1, 5):
            assert questions.take(key_of(text), trial)
    questions.take(key_of("x" * 400), 5)
    left = forecast(questions, Sampling(max_tokens=10))
    assert forecast_text(left, Prices(question=1e6, reply=2e6)) == (
        "1 request (9 replies are already there), about 19 tokens sent and at most 10 "
        "received. Estimated cost: 19.00 for the prompts, at most 39.00 in all."
    )
    ask(tmp_path, server)
    assert forecast(known_questions_of(tmp_path, server), Sampling()).requests == 0


def journal_of(folder, server):
    return replies_folder(folder, server) / "journal"


OTHERS = (
    "Stored replies that were not used: 180. They come from another model, from other settings "
    "or from an earlier goffman."
)


@pytest.mark.parametrize("bring", ["journal", "part", "both"])
def test_replies_that_were_sampled_otherwise_are_not_taken(server, tmp_path, bring):
    """The files of another run, whose questions were the same to the letter."""
    ask(tmp_path / "other", server, sampling=Sampling(temperature=0.1))
    ask(tmp_path / "run", server)
    here, there = (replies_folder(tmp_path / name, server) for name in ("run", "other"))
    (part,) = here.glob("*.parquet")
    sound = part.name
    for path in here.iterdir():
        path.unlink()
    for path in there.iterdir():
        if bring == "both" or (path.name == "journal") == (bring == "journal"):
            shutil.copy(path, here)
    with pytest.raises(RunError):
        read_answers(tmp_path / "run", "replies")
    before = len(server.asked)
    asked = ask(tmp_path / "run", server)
    assert asked.asked_now == len(server.asked) - before == 180
    assert asked.remarks == (() if bring == "part" else (OTHERS,))
    assert [path.name for path in here.glob("*.parquet")] == [sound]
    check(tmp_path / "run", server, prompts_of(TEXTS))
    assert ask(tmp_path / "run", server).asked_now == 0


def test_a_journal_of_two_models_is_read_for_each_alone(server, tmp_path):
    ask(tmp_path / "other", server, sampling=Sampling(max_tokens=9))
    ask(tmp_path / "run", server)
    for part in replies_folder(tmp_path / "run", server).glob("*.parquet"):
        part.unlink()
    path = journal_of(tmp_path / "run", server)
    own = path.read_bytes()
    path.write_bytes(journal_of(tmp_path / "other", server).read_bytes() + own)
    asked = ask(tmp_path / "run", server)
    assert (asked.asked_now, asked.remarks) == (0, (OTHERS,))
    check(tmp_path / "run", server, prompts_of(TEXTS))


def test_a_run_that_was_killed_before_its_first_reply_goes_on(server, tmp_path):
    """Its journal was made, and nothing was in it yet; without a manifest it would be no one's."""
    folder = replies_folder(tmp_path, server)

    class Killed:
        identity = load(f"{server.url}#mini", kind="chat").identity

        def chat(self, turns, heard):
            os.kill(os.getpid(), signal.SIGKILL)

    killed = os.fork()
    if not killed:
        real = journals.open_journal

        @contextmanager
        def dies(folder):
            with real(folder):
                os.kill(os.getpid(), signal.SIGKILL)
                yield

        replies_module.open_journal = dies
        with job_of(tmp_path, prompts_of(TEXTS)) as job:
            ask_replies(job, Killed())
    assert os.waitstatus_to_exitcode(os.waitpid(killed, 0)[1]) == -signal.SIGKILL
    assert (folder / "journal").read_bytes() == b""
    ask(tmp_path, server)
    check(tmp_path, server, prompts_of(TEXTS))


def test_a_journal_that_is_a_link_is_not_written_through(server, tmp_path):
    own = tmp_path / "diary"
    own.write_text("no line's end")
    path = journal_of(tmp_path / "run", server)
    path.parent.mkdir(parents=True)
    (tmp_path / "run" / "manifest.json").write_text(Manifest().as_json())
    path.symlink_to(own)
    with pytest.raises(RunError, match=r"journal in .* is a link, not a file"):
        ask(tmp_path / "run", server)
    assert own.read_text() == "no line's end"
    assert server.asked == []

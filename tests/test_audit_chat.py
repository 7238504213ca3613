"""A whole audit of chat models behind a server on loopback: asked, kept, measured, said."""

import asyncio
import hashlib
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from chat_server import Answer, ChatServer, at_once, completion
from goffman.cli.main import app
from goffman.errors import AskingError, InputError, RunError
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.models.base import Calling
from goffman.options import AskOptions, ChatOptions, Listener, MeasureOptions
from goffman.pipeline import audit, default_folder
from goffman.report.analyze import reread
from goffman.runs.answers import key_of, read_journal
from goffman.runs.collect_replies import known_questions, replies_of, seed_of
from goffman.runs.files import Folder
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_answers
from goffman.schemas import SCORES, complaints
from refusals import message_of
from warm import Command

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

KEY = "sk-goffman-secret-7c4e"
COMMAND = "from goffman.cli.main import main; main()"
SENTENCES = {"coreference.pairs": 6, "coreference.adjectives": ["tough,understanding"]}
PROMPTS = render(
    load_instrument("coreference"), PromptOptions(pairs=6, adjectives=["tough,understanding"])
).prompts
SMALL = shlex.split(
    "--instrument coreference --mode ask --sample all --set coreference.pairs=6 "
    "--set coreference.adjectives=tough,understanding --no-controls"
)


def right(prompt, seed):
    """Whether the server of these tests understands: always where it fits the stereotype."""
    return prompt.wording == "pro" or int(key_of(f"{prompt.text} {seed}"), 16) % 3 == 0


async def understands(request):
    (prompt,) = [prompt for prompt in PROMPTS if prompt.text == request.text]
    return Answer(200, completion(prompt.answer if right(prompt, request.seed) else prompt.other))


def options(**more):
    chats = ChatOptions(trials=3, calling=Calling(concurrency=8))
    return AskOptions(
        **{"modes": ("ask",), "controls": False, "settings": SENTENCES, "chats": chats, **more}
    )


def run(server, folder, *, listener=None, parser="as-published", **more):
    return audit(
        [f"{server.url}#mini"],
        instruments=["coreference"],
        output=folder,
        options=options(**more),
        measuring=MeasureOptions(parser=parser),
        listener=listener or Listener(),
    )


def goffman(*arguments, **environment):
    """The real command in a process of its own."""
    if not environment.get("OPENAI_LOG"):
        return Command("audit", *arguments, **environment)
    # openai reads it when it is imported.
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "audit", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )


def finished(*arguments, code=0, **environment):
    with goffman(*arguments, **environment) as process:
        output, errors = process.communicate(timeout=300)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    return output, errors


def test_an_audit_of_a_chat_model_ends_with_scores_that_one_can_recompute(tmp_path):
    notes = []
    with ChatServer(understands) as server:
        done = run(server, tmp_path, listener=Listener(note=notes.append))
        name = f"{server.url}#mini"
        again = run(server, tmp_path)
    assert [(one.sentences, one.rows, one.asked_now) for one in done.asked] == [(72, 72, 72)]
    assert [one.asked_now for one in again.asked] == [0]
    assert len(server.asked) == 72
    tokens = 3 * sum(-(-len(prompt.text) // 4) + 8 for prompt in PROMPTS)
    assert notes == [
        f"{name}: 72 requests, about {tokens:,} tokens sent and at most 4,608 received."
    ]
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    assert complaints(scores, SCORES) == []
    seeds = {(request.text, request.seed) for request in server.asked}
    replies = read_answers(tmp_path, "replies")
    assert replies.height == 72
    for setting in ("baseline", "tough,understanding"):
        of = [prompt for prompt in PROMPTS if prompt.condition == setting]
        bias = 0.0
        for side, sign in (("pro", 1), ("anti", -1)):
            asked = [prompt for prompt in of if prompt.wording == side]
            hits = [
                right(prompt, seed)
                for prompt in asked
                for text, seed in seeds
                if text == prompt.text
            ]
            assert len(hits) == 18
            bias += sign * sum(hits) / 18
        found = scores.filter(
            pl.col("quantity") == "bias",
            pl.col("level") == "condition",
            pl.col("condition") == setting,
        )
        assert found["value"].to_list() == pytest.approx([bias])
    assert done.summary[0] == "coreference, mini"
    assert (
        "Without adjectives, accuracy on sentences that fit the stereotype minus" in done.summary[3]
    )
    estimates = pl.read_parquet(tmp_path / "estimates.parquet")
    assert estimates.filter(pl.col("kind") == "baseline")["first"].to_list() == [
        "tough,understanding"
    ]
    assert again.summary == done.summary


def test_a_bias_of_nothing_is_said_with_the_replies_that_it_rests_on(tmp_path):
    """A model that no one understands has no bias; nor has one setting been tested."""

    with ChatServer(Answer(200, completion("Bananas."))) as server:
        done = run(server, tmp_path)
    said = "\n".join(done.summary)
    assert (
        "  Not tested whether it is right more often where the pronoun fits the stereotype.\n  Only 0.00 of the replies name one of the two people. Without adjectives, "
        "accuracy on sentences that fit the stereotype minus accuracy on those that do not: "
        "difference 0.00, no interval, no p-value, over 6 sentence pairs."
    ) in said


def test_the_manifest_says_who_was_asked_where_and_how(tmp_path):
    with ChatServer(understands) as server:
        run(server, tmp_path)
    manifest = read_manifest(tmp_path)
    assert manifest.models[f"{server.url}#mini"].entry() == {
        "kind": "chat",
        "family": "",
        "revision": None,
        "weights": None,
        "weights_sha256": None,
        "tokenizer_sha256": None,
        "precision": None,
        "device": "server",
        "notes": [],
        "sampling": {"temperature": 1.0, "max_tokens": 64, "top_p": None},
        "seed": 0,
        "address": server.url,
        "asked_as": "mini",
    }
    assert manifest.instruments["coreference"].trials == 3
    assert manifest.lexicons.parser == "as-published"
    assert "openai" in manifest.sessions[0].versions


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1, "settings": SENTENCES}, None),
        (
            {"chats": ChatOptions(trials=2)},
            "answers to coreference with different settings (trials: 3 then, 2 now)",
        ),
    ],
)
def test_other_draws_never_land_in_the_same_replies(tmp_path, change, message):
    with ChatServer(understands) as server:
        run(server, tmp_path)
        with pytest.raises(RunError) as refusal:
            run(server, tmp_path, **change)
    if message:
        assert str(refusal.value) == (
            f"{tmp_path} already has {message}. The two cannot be mixed. Give another folder "
            "with --output, or use the same options as before."
        )


def test_more_trials_are_asked_beside_those_that_are_there(tmp_path):
    """Interrupted, it can be taken back; gone on with, the end is that of five at once."""
    five = ChatOptions(trials=5, calling=Calling(concurrency=8))
    with ChatServer(understands) as server:
        name = f"{server.url}#mini"
        three = run(server, tmp_path / "raised")
        first = read_answers(tmp_path / "raised", "replies")
        before = len(server.asked)

        async def fails_soon(request):
            enough = len(server.asked) >= before + before // 3
            return Answer(400, {"error": "gone"}) if enough else await understands(request)

        server.behave = fails_soon
        with pytest.raises(AskingError):
            run(server, tmp_path / "raised", chats=five)
        unfinished = read_manifest(tmp_path / "raised")
        assert unfinished.instruments["coreference"].trials == 5
        assert unfinished.answers[name]["coreference"].parts is None

        server.behave = understands
        asked = len(server.asked)
        shutil.copytree(tmp_path / "raised", tmp_path / "taken-back")
        back = run(server, tmp_path / "taken-back")
        assert len(server.asked) == asked
        assert read_answers(tmp_path / "taken-back", "replies").equals(first)
        assert back.summary == three.summary
        done = run(server, tmp_path / "raised", chats=five)
        answered = [key for key, times in server.answered.items() if times]
        assert len(answered) == sum(server.answered.values()) == before // 3 * 5
        at_once = run(server, tmp_path / "once", chats=five)
    replies = read_answers(tmp_path / "raised", "replies")
    assert replies.filter(pl.col("trial") <= 3).equals(first)
    assert done.summary == at_once.summary
    scores = [
        pl.read_parquet(tmp_path / folder / "scores.parquet") for folder in ("raised", "once")
    ]
    assert scores[0].equals(scores[1])


def test_more_trials_are_asked_of_all_models_of_a_run_or_of_none(tmp_path):
    with ChatServer(understands) as server:
        run(server, tmp_path)
        five = options(chats=ChatOptions(trials=5))
        with pytest.raises(RunError) as refusal:
            audit(
                [f"{server.url}#other"],
                instruments=["coreference"],
                output=tmp_path,
                options=five,
            )
    assert str(refusal.value) == (
        f"{tmp_path} already has 3 trials of coreference by {server.url}#mini. All models of a "
        "run must have the same number of trials. Name these models too, so that all get 5 "
        "trials, or give another folder with --output."
    )


@pytest.mark.slow
def test_another_temperature_never_lands_in_the_same_replies(tmp_path):
    with ChatServer(understands) as server:
        where = [f"{server.url}#mini", *SMALL, "--trials", "1", "--output", tmp_path]
        arguments = list(map(str, ["audit", *where]))
        assert CliRunner().invoke(app, arguments).exit_code == 0
        result = CliRunner().invoke(app, [*arguments, "--temperature", "0.5"])
    assert isinstance(result.exception, RunError)
    assert str(result.exception) == (
        f"{tmp_path} already has answers of '{server.url}#mini' with different settings "
        "(temperature: 1.0 then, 0.5 now). The two cannot be mixed. Give another folder with "
        "--output, or use the same options as before."
    )


def test_a_dry_run_says_how_much_it_would_be_and_touches_nothing(tmp_path):
    with ChatServer() as server:
        output, errors = finished(
            f"{server.url}#mini",
            *(*SMALL, "--output", tmp_path / "run", "--dry-run"),
            *("--price-in", "100", "--price-out", "1000", "--max-tokens", "10"),
            OPENAI_API_KEY="",
        )
    tokens = 5 * sum(-(-len(prompt.text) // 4) + 8 for prompt in PROMPTS)
    cost = tokens / 1e6 * 100
    assert errors == (
        f"coreference, {server.url}#mini: 24 prompts.\n{server.url}#mini: 120 "
        f"requests, about {tokens:,} tokens sent and at most 1,200 received. Estimated cost: "
        f"{cost:.2f} for the prompts, at most {cost + 1.2:.2f} in all.\n"
    )
    assert output == "Nothing was asked or written (--dry-run).\n"
    assert server.requests == []
    assert not (tmp_path / "run").exists()


def test_a_dry_run_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["audit", "openai:x", *SMALL, "--dry-run"])
    assert result.exit_code == 0
    assert list(tmp_path.iterdir()) == []


def everything_written(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("log", "refusals"),
    [
        ("", (400, 404, 307)),
        ("debug", (401,)),
        pytest.param("debug", (307,), marks=pytest.mark.slow),
    ],
)
def test_the_key_is_in_no_file_and_no_output_whatever_the_server_does(tmp_path, log, refusals):
    """It repeats the key in replies, names, headers and errors, and at last refuses it."""

    async def echoes(request):
        key = request.headers["authorization"]
        if len(server.asked) < 20:
            body = completion(f"You sent {key}", model=f"m {key}", system_fingerprint=key)
            body["choices"][0]["finish_reason"] = key
            return Answer(200, body, {"x-request-id": key})
        if len(server.asked) == 20:
            return Answer(500, {"error": {"message": f"no {key}"}}, {"x-request-id": key})
        return Answer(refusal, {"error": {"message": f"bad {key}", "code": key}})

    for refusal in refusals:
        with ChatServer(echoes) as server:
            folder = tmp_path / str(refusal)
            environment = {"MY_KEY": KEY, "OPENAI_LOG": log, "OPENAI_API_KEY": "sk-not-this-one"}
            where = [f"{server.url}#mini", *SMALL, "--output", folder, "--concurrency", 1]
            output, errors = finished(*where, "--key-env", "MY_KEY", code=1, **environment)
        assert {request.headers["authorization"] for request in server.asked} == {f"Bearer {KEY}"}
        written = everything_written(folder)
        assert b"You sent Bearer [key]" in written
        assert KEY not in output + errors
        assert KEY.encode() not in written
        assert "sk-not-this-one" not in output + errors + written.decode(errors="replace")
        # Neither where a person looks into it.
        assert (
            KEY.encode()
            not in str(list(read_journal(Folder(next(folder.rglob("journal")).parent)))).encode()
        )


REFUSED = {
    "http://localhost:9/v1#m --key-env NOT_THERE": (
        "There is no environment variable NOT_THERE (--key-env). Put the key of "
        "http://localhost:9/v1 there."
    ),
    "http://localhost:9/v1#m http://localhost:10/v1#m --key-env MY_KEY": (
        "--key-env is for models on one server (http://HOST/v1#NAME), but your models are on 2: "
        "http://localhost:9/v1, http://localhost:10/v1."
    ),
    "openai:x --key-env MY_KEY": (
        "--key-env is for models on one server (http://HOST/v1#NAME), but you gave none."
    ),
    "http://localhost:9/v1#m --key-env OPENAI_API_KEY": (
        "--key-env cannot be OPENAI_API_KEY: that key is only sent to openai:NAME models. Put the "
        "key of another server into another variable."
    ),
    "http://example.org/v1#m --key-env MY_KEY": (
        "The key in MY_KEY would be sent to http://example.org/v1 unencrypted. Use https://, a "
        "server on this machine, or no key."
    ),
    "openai:x": "'openai:x' needs a key. Put it into the environment variable OPENAI_API_KEY.",
    "openai:x --price-in 1": "Give both --price-in and --price-out, or neither.",
    "http://localhost:9/v1#m --parser as-publisht": (
        "--parser is 'as-publisht'. Allowed: v2, v1, as-published. Did you mean 'as-published'?"
    ),
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_be_asked_so_is_said(tmp_path, monkeypatch, command):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("MY_KEY", KEY)
    if "OPENAI_API_KEY" in command:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    where = ["--output", str(tmp_path / "run")]
    result = CliRunner().invoke(app, ["audit", *command.split(), *SMALL, *where])
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == REFUSED[command]
    assert KEY not in str(result.exception) + result.output


def test_sentence_options_without_sentence_pairs_are_refused(tmp_path):
    asking = AskOptions(controls=False, settings={"coreference.pairs": 3})
    models, instruments = ["http://localhost:9/v1#m"], ["social-distance"]
    assert message_of(
        InputError, audit, models, instruments=instruments, output=tmp_path, options=asking
    ) == (
        "There is no setting 'coreference.pairs'. Allowed here: none, because these instruments "
        "have no settings."
    )


def test_winobias_by_path_with_its_faulty_pairs_said(tmp_path):
    lines = {
        "pro": "1 [The mechanic] called the secretary because [he] was late.\n"
        "2 [The secretary] called the mechanic because [she] was late.\n",
        "anti": "1 [The mechanic] called the secretary because [she] was late.\n"
        "2 [The secretary] called the mechanic because [she] was late.\n",
    }
    for side, text in lines.items():
        (tmp_path / f"{side}_stereotyped_type1.txt.test").write_text(text)
    notes = []
    with ChatServer() as server:
        done = audit(
            [f"{server.url}#mini"],
            instruments=["coreference"],
            output=tmp_path / "run",
            options=AskOptions(
                modes=("ask",),
                controls=False,
                settings={
                    "coreference.winobias": tmp_path,
                    "coreference.drop-faulty": True,
                    "coreference.adjectives": ["none"],
                },
                chats=ChatOptions(trials=2),
            ),
            listener=Listener(note=notes.append),
        )
    assert done.asked[0].rows == 4
    assert notes[0].startswith("coreference: left out: ")
    assert len(server.asked) == 4


def test_a_user_who_stops_it_keeps_what_was_under_way(tmp_path):
    async def holds_the_last(request):
        while len(server.asked) > 8 and time.monotonic() < until:
            await asyncio.sleep(0.01)
        return await understands(request)

    until = float("inf")
    with ChatServer(holds_the_last) as server:
        where = [f"{server.url}#mini", *SMALL, "--output", tmp_path, "--concurrency", 4]
        where += ["--no-report"]
        with goffman(*where) as process:
            while len(server.asked) < 12:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            until = time.monotonic() + 2
            _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors.endswith(
            "Stopped. All answers so far are kept. To resume, run the same command again.\n"
        )
        assert "Traceback" not in errors
        assert len(server.asked) == 12
        server.behave = understands
        finished(*where)
    assert len(server.asked) == 5 * len(PROMPTS)
    assert set(server.answered.values()) == {1}


def test_a_user_who_stops_it_twice_has_a_run_that_goes_on(tmp_path):
    """The second time nothing is waited for; a reply that comes later lands in no file."""

    async def slowly(request):
        await asyncio.sleep(2)
        return await understands(request)

    with ChatServer(slowly) as server:
        where = [f"{server.url}#mini", *SMALL, "--output", tmp_path, "--concurrency", 8]
        where += ["--no-report"]
        with goffman(*where) as process:
            while len(server.asked) < 16:
                time.sleep(0.01)
            for _ in range(2):
                process.send_signal(signal.SIGINT)
                time.sleep(0.7)
            _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert errors.endswith(
            "Stopped. All answers so far are kept. To resume, run the same command again.\n"
        )
        assert read_manifest(tmp_path).sessions
        server.behave = understands
        finished(*where)
    # What was under way the second time is asked again, and nothing else.
    assert 5 * len(PROMPTS) <= len(server.asked) <= 5 * len(PROMPTS) + 8


def kill_and_go_on(tmp_path, *, times, seed, pairs):
    """Killed so often, no reply that was on disk is asked for again, and none is missing."""
    moments = random.Random(seed)

    async def sooner_or_later(request):
        await asyncio.sleep(moments.uniform(0, 0.03))
        return await at_once(request)

    options = PromptOptions(pairs=pairs, adjectives=["none"])
    rendered = render(load_instrument("coreference"), options)
    prompts = (*rendered.prompts, *rendered.controls)
    with ChatServer(sooner_or_later) as server:
        asking = (
            f"--instrument coreference --mode ask --sample all --set coreference.pairs={pairs} "
            "--set coreference.adjectives=none --concurrency 16 --no-report"
        )
        arguments = [f"{server.url}#mini", *asking.split(), "--output", tmp_path]
        asked = {"model": f"{server.url}#mini", "instrument": "coreference"}
        kept, paid = 0, {}
        text_of_key = {key_of(prompt.text): prompt.text for prompt in prompts}
        for _ in range(times):
            before = len(server.asked)
            with goffman(*arguments) as process:
                while len(server.asked) == before:
                    assert process.poll() is None, process.stderr.read()
                    time.sleep(0.005)
                time.sleep(moments.uniform(0, 0.4))
                process.send_signal(signal.SIGKILL)
                process.communicate()
            if process.returncode != -signal.SIGKILL:
                break
            time.sleep(0.1)
            replies = replies_of(tmp_path, read_manifest(tmp_path), **asked)
            lines = [line for line in read_journal(replies.folder) if line is not None]
            there = {(line.key, line.trial) for line in lines}
            questions = known_questions(replies, prompts, trials=5)
            assert questions.answered.sum() == len(there) >= kept
            asked_for = [
                turn for turn in questions.turns(0) if (key_of(turn.text), turn.trial) in there
            ]
            assert asked_for == []
            kept = len(there)
            for key, trial in there:
                pair = text_of_key[key], seed_of(0, key, trial)
                paid.setdefault(pair, server.answered[pair])
            in_vain = len(server.asked) - kept
            assert in_vain >= 0
            sent_before = {(request.text, request.seed) for request in server.asked}
        assert 0 < kept < 5 * len(prompts), "every kill came too late to matter"
        finished(*arguments)
        for pair, count in paid.items():
            assert server.answered[pair] == count, "what was on disk was asked for again"
        repeated = [pair for pair, count in server.answered.items() if count > 1]
        assert len(repeated) <= 16 * times, "no more than were under way at each kill"
        assert len(server.answered) == 5 * len(prompts)
        assert sent_before <= set(server.answered)
    replies = read_answers(tmp_path, "replies")
    assert replies.select("prompt_id", "trial").n_unique() == replies.height == 5 * len(prompts)
    text_of = {prompt.id: prompt.text for prompt in prompts}
    for row in replies.iter_rows(named=True):
        text = text_of[row["prompt_id"]]
        seed_ = seed_of(0, key_of(text), row["trial"])
        assert row["text"] == said_to(text, seed_)
    return server


def said_to(text, seed):
    return hashlib.sha256(f"{text} {seed}".encode()).hexdigest()[:12]


def test_killed_at_any_moment_no_reply_is_lost_or_paid_for_twice(tmp_path):
    kill_and_go_on(tmp_path, times=3, seed=1, pairs=100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_killed_twelve_times_no_reply_is_lost_or_paid_for_twice(tmp_path, seed):
    kill_and_go_on(tmp_path, times=12, seed=seed, pairs=390)


def test_the_default_folder_is_named_after_the_model_and_holds_no_address():
    assert default_folder(["openai:gpt-4o", "http://h:80/v1#org/mini"]) == Path("runs/gpt-4o+mini")


@pytest.mark.parametrize("name", ["通义", "/"])
def test_a_model_whose_name_has_no_letter_of_ours_has_a_folder_of_its_own(name):
    """Not the folder of all runs."""
    folder = default_folder([f"http://h:80/v1#{name}"])
    assert folder.parent == Path("runs")
    assert folder.name.startswith("model-")
    assert folder != default_folder(["http://h:80/v1#問"])


def test_replies_that_are_there_are_read_by_another_parser_without_asking(tmp_path):
    async def says_it_at_length(request):
        (prompt,) = [prompt for prompt in PROMPTS if prompt.text == request.text]
        return Answer(200, completion(f"The {prompt.answer}."))

    def accuracy():
        scores = pl.read_parquet(tmp_path / "scores.parquet")
        of = scores.filter(pl.col("quantity") == "correct", pl.col("level") == "prompt")
        return of["value"].mean()

    with ChatServer(says_it_at_length) as server:
        run(server, tmp_path, parser="as-published")
        assert accuracy() == 0, "the study kept the first word, which is 'The'"
        done = run(server, tmp_path, parser="v1")
    assert accuracy() == 1
    assert [asked.asked_now for asked in done.asked] == [0]
    assert len(server.asked) == 72
    assert read_manifest(tmp_path).lexicons.parser == "v1"
    # The report does it too, with nobody there who could be asked.
    tables = [tmp_path / "scores.parquet", tmp_path / "estimates.parquet"]
    as_v1 = [path.read_bytes() for path in tables]
    for parser, share in (("as-published", 0), ("v1", 1)):
        result = CliRunner().invoke(app, ["report", str(tmp_path), "--parser", parser])
        assert result.exit_code == 0, result.output
        assert accuracy() == share
        assert read_manifest(tmp_path).lexicons.parser == parser
        assert parser in (tmp_path / "report.html").read_text()
    assert [path.read_bytes() for path in tables] == as_v1


def test_a_new_run_is_read_by_v2_and_a_run_that_v1_read_stays_with_it(tmp_path):
    async def tells_a_story(request):
        (prompt,) = [prompt for prompt in PROMPTS if prompt.text == request.text]
        return Answer(200, completion(f"The {prompt.answer} admired them."))

    with ChatServer(tells_a_story) as server:
        for parser, used in ((None, "v2"), ("v1", "v1"), (None, "v1")):
            run(server, tmp_path, parser=parser)
            assert read_manifest(tmp_path).lexicons.parser == used
            scores = pl.read_parquet(tmp_path / "scores.parquet")
            of = scores.filter(pl.col("quantity") == "correct", pl.col("level") == "prompt")
            assert of["value"].mean() == (0 if used == "v2" else 1)
    assert len(server.asked) == 72


def test_a_report_by_another_parser_leaves_a_run_alone_that_it_cannot_measure_alike(tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("word,label\nlikely,negative\n")
    folder = tmp_path / "run"
    with ChatServer(understands) as server:
        audit(
            [f"{server.url}#mini"],
            instruments=["coreference"],
            output=folder,
            options=options(),
            measuring=MeasureOptions(ratings=(mine,)),
        )
    before = (folder / "scores.parquet").read_bytes()
    mine.write_text("word,label\nlikely,positive\n")
    assert message_of(RunError, reread, folder, parser="as-published", note=print) == (
        "The lists of ratings or gender words have changed since the run was scored. So the "
        "replies cannot be read again on their own. Run the goffman audit command of this run "
        "again with --parser as-published. No model is asked again."
    )
    assert (folder / "scores.parquet").read_bytes() == before
    with pytest.raises(RunError, match=r"There is no folder '.*'\. Give a run"):
        reread(tmp_path / "none", parser="v1", note=print)
    assert not (tmp_path / "none").exists()


def test_json_has_what_the_table_has(tmp_path):
    with ChatServer(understands) as server:
        where = [f"{server.url}#mini", *SMALL, "--trials", "1", "--output", str(tmp_path)]
        result = CliRunner().invoke(app, ["audit", *where, "--json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["answers"][0]["rows"] == 24
    assert Path(found["folder"]) == tmp_path

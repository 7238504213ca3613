"""Killed in the middle of choices, an audit goes on and ends as if nothing had happened."""

from __future__ import annotations

import asyncio
import hashlib
import random
import signal
import time
from pathlib import Path

import polars as pl
import pytest

from chat_server import Answer, ChatServer, completion
from few_conditions import with_few_conditions
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.runs.answers import read_journal
from goffman.runs.collect_replies import replies_of
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_answers
from tiny_chat import make_causal
from warm import Command

pytestmark = pytest.mark.slow

KILLS = 3


@pytest.fixture(scope="module")
def instrument(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("few") / "social-distance"
    return with_few_conditions("social-distance", folder, each=6)


def parts(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("answers/**/*.parquet"))


def killed(command: list[object], moment) -> None:
    """The command, killed when ``moment`` returns; it must not have ended by then."""
    with Command(*command) as process:
        moment(process)
        assert process.poll() is None, "the run ended before it could be killed"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def finished(command: list[object]) -> None:
    with Command(*command) as process:
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


def assert_same_run(folder: Path, whole: Path, table: str) -> None:
    assert read_answers(folder, table).equals(read_answers(whole, table))
    prompts = [pl.read_parquet(run / "prompts.parquet") for run in (folder, whole)]
    assert prompts[0].equals(prompts[1])
    for name in ("scores.parquet", "estimates.parquet"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()
    assert not list(folder.rglob("*.tmp"))


def test_a_causal_model_killed_while_it_chooses_ends_with_the_same_rows(instrument, tmp_path):
    model = make_causal("llama", tmp_path / "model", chat=False)
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    options = AskOptions(modes=("choice",), batch_size=4, sample="all")
    audit([str(model)], instruments=[str(instrument)], output=whole, options=options)
    command = ["audit", model, "--instrument", instrument, "--mode", "choice", "--batch-size", 4]
    command += ["--sample", "all", "--no-report", "--output", folder]
    seen, untouched = [], {}
    for kill in range(KILLS):

        def some_parts_later(process, *, more=kill + 1):
            while process.poll() is None and len(parts(folder)) < more:
                time.sleep(0.005)

        killed(command, some_parts_later)
        seen.append(len(parts(folder)))
        for path, when in untouched.items():
            assert path.stat().st_mtime_ns == when, "what was answered is asked again"
        untouched = {folder / one: (folder / one).stat().st_mtime_ns for one in parts(folder)}
    assert 1 <= seen[0] <= seen[-1] < len(parts(whole)), "every kill came too late to matter"
    finished(command)
    for path, when in untouched.items():
        assert path.stat().st_mtime_ns == when, "what was answered is asked again"
    assert parts(folder) == parts(whole)
    assert_same_run(folder, whole, "choices")


def said(request) -> str:
    drawn = hashlib.sha256(f"{request.text} {request.seed}".encode()).digest()[0]
    return "ABCDE"[drawn % 5]


def test_a_server_whose_audit_is_killed_while_it_says_is_asked_nothing_twice(instrument, tmp_path):
    moments = random.Random(1)
    at_once = 8

    async def sooner_or_later(request):
        await asyncio.sleep(moments.uniform(0, 0.03))
        return Answer(200, completion(said(request)))

    with ChatServer(sooner_or_later) as server:
        name = f"{server.url}#mini"

        def command(folder: Path) -> list[object]:
            what = ["--instrument", instrument, "--mode", "reply", "--concurrency", at_once]
            return ["audit", name, *what, "--no-report", "--output", folder]

        finished(command(tmp_path / "whole"))
        needed = len(server.asked)
        server.answered.clear()
        folder = tmp_path / "killed"
        kept = 0
        for kill in range(KILLS):

            def more_were_asked(process, *, until=needed * (kill + 1) // (KILLS + 2)):
                while process.poll() is None and sum(server.answered.values()) < until:
                    time.sleep(0.005)

            killed(command(folder), more_were_asked)
            replies = replies_of(
                folder, read_manifest(folder), model=name, instrument="social-distance/reply"
            )
            there = [line for line in read_journal(replies.folder) if line is not None]
            assert kept < len(there) < needed
            kept = len(there)
        finished(command(folder))
        # Only what was under way at a kill, and so on no disk, is asked for again.
        assert len(server.answered) == needed
        assert sum(server.answered.values()) - needed <= at_once * KILLS
    assert_same_run(folder, tmp_path / "whole", "replies")

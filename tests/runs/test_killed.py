"""Killed at any moment, the same command goes on and ends as if nothing had happened."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from asking import assert_same, parts
from chat_server import Answer, ChatServer, completion
from few_conditions import with_few_conditions
from goffman.pipeline import AskOptions, audit
from goffman.runs.answers import read_journal
from goffman.runs.collect_replies import replies_of
from goffman.runs.manifest import read_manifest
from tiny_chat import make_causal
from warm import Command


def await_asking(process, folder):
    """The process says what it asks, and holds its folder once the manifest is there."""
    if not any(line.startswith("Asking ") for line in process.stderr):
        pytest.fail("the run ended before it asked")
    while process.poll() is None and not Path(folder, "manifest.json").exists():
        time.sleep(0.01)


def finished(*arguments):
    with Command(*arguments) as process:
        output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return output


def command(model, folder, *, limit):
    """Many small batches, and three steps of recursive masking."""
    instruments = ("--instrument", "care-seeking", "--instrument", "attribution")
    size = ("--no-controls", "--limit", limit, "--batch-size", 4)
    return ["audit", model, *instruments, *size, "--no-report", "--output", folder]


def in_this_process(model, folder, *, limit):
    """The same as the command, without a process of its own."""
    options = AskOptions(controls=False, limit=limit, batch_size=4)
    instruments = ("care-seeking", "attribution")
    return audit([str(model)], instruments=instruments, output=folder, options=options)


def sessions(folder):
    return read_manifest(folder).sessions if (folder / "manifest.json").is_file() else ()


def kill_and_go_on(model, tmp_path, *, times, limit, seed, noted=False):
    """The folder of a run that was killed so often, after it ended like an undisturbed one.

    ``noted``: no kill comes before the session stands in the manifest, so that they can be counted.
    """
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    in_this_process(model, whole, limit=limit)
    moments = random.Random(seed)
    seen = []
    for kill in range(times):
        with Command(*command(model, folder, limit=limit)) as process:
            await_asking(process, folder)
            while kill == 0 and len(parts(folder)) < 3:
                time.sleep(0.01)
            while noted and process.poll() is None and len(sessions(folder)) <= kill:
                time.sleep(0.01)
            # A larger run has more moments.
            time.sleep(moments.uniform(0, limit / 600))
            assert process.poll() is None, "the run ended before it could be killed"
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        seen.append(len(parts(folder)))
    assert seen == sorted(seen)
    assert 3 <= seen[-1] < len(parts(whole)), "every kill came too late to matter"
    output = finished(*command(model, folder, limit=limit))
    *_, where, more, further = output.splitlines()
    assert where == f"Run      {folder}"
    assert more.startswith(f"Next     goffman show {folder}")
    assert further.startswith(f"         goffman stress {folder}")
    assert_same(folder, whole)
    return folder


@pytest.mark.slow
def test_a_run_killed_three_times_ends_with_the_same_rows(tiny, tmp_path):
    model = tiny("roberta")
    folder = kill_and_go_on(model, tmp_path, times=3, limit=30, seed=1, noted=True)
    assert [bool(session.ended) for session in sessions(folder)] == [False, False, False, True]

    def files():
        return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix}

    before = files()
    again = in_this_process(tiny("roberta"), folder, limit=30)
    assert [asked.asked_now for asked in again.asked] == [0, 0]
    assert files() == before, "a finished run is left as it is"


@pytest.mark.slow
def test_a_run_killed_twenty_times_ends_with_the_same_rows(tiny, tmp_path):
    kill_and_go_on(tiny("roberta"), tmp_path, times=20, limit=150, seed=2)


def test_a_user_who_stops_it_is_told_that_it_can_go_on(tiny, tmp_path):
    with Command(*command(tiny("roberta"), tmp_path, limit=60)) as process:
        while not parts(tmp_path):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.endswith(
        "Stopped. All answers so far are kept. To resume, run the same command again.\n"
    )
    assert "Traceback" not in errors
    assert read_manifest(tmp_path).sessions[0].ended


def test_a_second_process_on_the_same_run_is_refused(tiny, tmp_path):
    arguments = command(tiny("roberta"), tmp_path, limit=60)
    with Command(*arguments) as first:
        await_asking(first, tmp_path)
        os.kill(first.pid, signal.SIGSTOP)
        with Command(*arguments) as second:
            _, errors = second.communicate(timeout=120)
        os.kill(first.pid, signal.SIGKILL)
    assert second.returncode == 2
    assert errors.endswith(
        f"{tmp_path} is in use by process {first.pid}. Only one process can use a run "
        "at a time. Wait until it ends, or give another folder with --output.\n"
    )
    assert "Traceback" not in errors
    assert Path(tmp_path, "lock").exists()


@pytest.mark.slow
def test_audits_and_reports_come_through_many_kills(request):
    """``make soak`` is the same with many more."""
    program = Path(__file__).with_name("soak.py")
    kills = request.config.getoption("--kills")
    done = subprocess.run(
        [sys.executable, program, "--kills", str(kills)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("a minute: nothing was lost, doubled or torn.\n")


KILLS = 3


@pytest.fixture(scope="module")
def instrument(tmp_path_factory):
    folder = tmp_path_factory.mktemp("few") / "social-distance"
    return with_few_conditions("social-distance", folder, each=6)


def killed(arguments, moment):
    """The command, killed when ``moment`` returns; it must not have ended by then."""
    with Command(*arguments) as process:
        moment(process)
        assert process.poll() is None, "the run ended before it could be killed"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.slow
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
    finished(*command)
    for path, when in untouched.items():
        assert path.stat().st_mtime_ns == when, "what was answered is asked again"
    assert_same(folder, whole)


def said(request):
    drawn = hashlib.sha256(f"{request.text} {request.seed}".encode()).digest()[0]
    return "ABCDE"[drawn % 5]


@pytest.mark.slow
def test_a_server_whose_audit_is_killed_while_it_says_is_asked_nothing_twice(instrument, tmp_path):
    moments = random.Random(1)
    at_once = 8

    async def sooner_or_later(request):
        await asyncio.sleep(moments.uniform(0, 0.03))
        return Answer(200, completion(said(request)))

    with ChatServer(sooner_or_later) as server:
        name = f"{server.url}#mini"

        def asked_by(folder):
            what = ["--instrument", instrument, "--mode", "reply", "--concurrency", at_once]
            return ["audit", name, *what, "--no-report", "--output", folder]

        finished(*asked_by(tmp_path / "whole"))
        needed = len(server.asked)
        server.answered.clear()
        folder = tmp_path / "killed"
        kept = 0
        for kill in range(KILLS):

            def more_were_asked(process, *, until=needed * (kill + 1) // (KILLS + 2)):
                while process.poll() is None and sum(server.answered.values()) < until:
                    time.sleep(0.005)

            killed(asked_by(folder), more_were_asked)
            replies = replies_of(
                folder, read_manifest(folder), model=name, instrument="social-distance/reply"
            )
            there = [line for line in read_journal(replies.folder) if line is not None]
            assert kept < len(there) < needed
            kept = len(there)
        finished(*asked_by(folder))
        # Only what was under way at a kill, and so on no disk, is asked for again.
        assert len(server.answered) == needed
        assert sum(server.answered.values()) - needed <= at_once * KILLS
    assert_same(folder, tmp_path / "whole")

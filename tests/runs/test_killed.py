"""Killed at any moment, the same command goes on and ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from goffman.pipeline import AskOptions, audit
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_answers
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


def table(folder):
    return read_answers(folder, "fills")


def parts(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("answers/**/*.parquet"))


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
    assert parts(folder) == parts(whole)
    assert table(folder).equals(table(whole))
    prompts = [pl.read_parquet(run / "prompts.parquet") for run in (folder, whole)]
    assert prompts[0].equals(prompts[1])
    for name in ("scores.parquet", "estimates.parquet"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()
    assert not list(folder.rglob("*.tmp"))
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

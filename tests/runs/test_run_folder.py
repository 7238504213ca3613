"""prompts.parquet is as it was written or is told not to be, whatever moment a process ended at."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from goffman.errors import RunError
from goffman.instruments.types import Prompt
from goffman.runs.manifest import AskedInstrument, read_manifest
from goffman.runs.run import keep_prompts, open_run, read_prompts
from goffman.schemas import prompt_table

HERE = Path(__file__).parent
AGAIN = "It writes the file again and asks no model."


def prompts(instrument, count=5):
    return [
        Prompt(
            instrument=instrument, item=f"i{n}", wording="w", condition="c", group="g", text=f"t{n}"
        )
        for n in range(count)
    ]


def ask(folder, *instruments):
    """What an audit does with prompts, with an answer to each instrument begun."""
    with open_run(folder) as run:
        for name in instruments:
            entry = {"version": "1", "digest": "d", "prompts_sha256": "p"}
            entry["called"] = {"title": name, "citation": ""}
            record = AskedInstrument.of({**entry, "prompts": len(prompts(name))})
            known = {**run.manifest.instruments, name: record}
            run.manifest = replace(run.manifest, instruments=known)
        for name in instruments:
            keep_prompts(run, name, prompts(name))
            run.expect("m", name, table="fills")
            run.begin()


def test_prompts_of_several_instruments_stand_beside_each_other(tmp_path):
    ask(tmp_path, "second")
    ask(tmp_path, "first")
    expected = prompt_table([*prompts("first"), *prompts("second")])
    assert read_prompts(tmp_path).equals(expected)


@pytest.mark.parametrize("place", [0, 4, 200, 700, -9, -1])
def test_a_flipped_bit_is_told_and_mended_by_the_same_command(tmp_path, place):
    """Some bits change what a prompt stands for, some bring the whole process down."""
    ask(tmp_path, "first")
    path = tmp_path / "prompts.parquet"
    before = path.read_bytes()
    content = bytearray(before)
    content[place] ^= 8
    path.write_bytes(content)
    with pytest.raises(RunError) as refusal:
        read_prompts(tmp_path)
    assert str(refusal.value) == (
        f"{path} was damaged or edited after goffman wrote it. Run the goffman "
        f"audit command of this run again. {AGAIN}"
    )
    ask(tmp_path, "first")
    assert path.read_bytes() == before


def test_prompts_that_are_not_asked_now_are_named_where_they_were_damaged(tmp_path):
    ask(tmp_path, "first", "second")
    path = tmp_path / "prompts.parquet"
    before = path.read_bytes()
    path.write_bytes(before[:-1])
    ask(tmp_path, "second")
    with pytest.raises(RunError) as refusal:
        read_prompts(tmp_path)
    assert str(refusal.value) == (
        f"{path} does not have the prompts of first. Run the goffman audit command of this "
        f"run again with --instrument first. {AGAIN}"
    )
    ask(tmp_path, "first")
    assert path.read_bytes() == before


def test_prompts_that_are_gone_are_told_and_come_back(tmp_path):
    ask(tmp_path, "first")
    path = tmp_path / "prompts.parquet"
    before = path.read_bytes()
    path.unlink()
    with pytest.raises(RunError) as refusal:
        read_prompts(tmp_path)
    assert str(refusal.value) == (
        f"{path} is missing. Run the goffman audit command of this run again. {AGAIN}"
    )
    ask(tmp_path, "first")
    assert path.read_bytes() == before


def test_prompts_that_the_manifest_does_not_know_are_refused_and_written_again(tmp_path):
    ask(tmp_path, "first")
    text = read_manifest(tmp_path).as_json().replace("prompts.parquet", "other.parquet")
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(RunError, match="was damaged or edited after goffman wrote it"):
        read_prompts(tmp_path)
    ask(tmp_path, "first")
    assert read_prompts(tmp_path).height == 5


EACH = """
import os, pathlib, shutil, sys
sys.path[:0] = sys.argv[3:]
from soak import die_before, ended
from test_run_folder import ask, read_prompts
base, step = pathlib.Path(sys.argv[1]), int(sys.argv[2])

def child(do):
    born = os.fork()
    if not born:
        do()
        os._exit(0)
    return ended(born)

assert child(lambda: ask(base / "whole", "first")) == 0
shutil.copytree(base / "whole", base / "start")
assert child(lambda: ask(base / "whole", "second")) == 0
whole = (base / "whole" / "prompts.parquet").read_bytes()
for start in ("start", None):
    last, code = 0, -9
    while code:
        last += step
        run = base / f"{start}-{last}"
        if start:
            shutil.copytree(base / start, run)
        def dies():
            die_before(last)
            ask(run, *(["second"] if start else ["first", "second"]))
        code = child(dies)
        assert code in (0, -9), code
        if start:
            assert child(lambda: read_prompts(run)) == 0, f"unreadable after {last}"
        assert child(lambda: ask(run, *(["second"] if start else ["first", "second"]))) == 0
        assert (run / "prompts.parquet").read_bytes() == whole, f"not the same after {last}"
    print(last)
"""


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_before_each_of_its_operations_on_files_the_same_command_goes_on(tmp_path, step):
    """A process that has done nothing with tables has children that do: none inherits a thread."""
    done = subprocess.run(
        [sys.executable, "-c", EACH, tmp_path, str(step), HERE, HERE.parent],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert all(int(count) > 20 for count in done.stdout.split())
    assert len(done.stdout.split()) == 2


def test_a_run_folder_that_is_a_link_to_nowhere_or_has_too_long_a_name_is_told(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(RunError) as refusal, open_run(tmp_path / "link"):
        pass
    assert str(refusal.value) == (
        f"{tmp_path / 'link'} is a link that leads nowhere. Correct or remove it."
    )
    long = tmp_path / ("x" * 5000)
    with pytest.raises(RunError) as refusal, open_run(long):
        pass
    assert str(refusal.value) == (
        f"The name '{str(long)[:60]}…' is too long: it has {len(str(long)):,} characters, more "
        "than this system allows. Give a shorter name."
    )


def test_only_plain_files_lock_a_run(tmp_path):
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(RunError) as refusal, open_run(tmp_path):
        pass
    assert str(refusal.value) == (
        f"lock in {tmp_path} is a named pipe, not a file. Move it away and run the same "
        "command again."
    )
    (tmp_path / "lock").unlink()
    own = tmp_path / "own"
    own.write_text("mine")
    (tmp_path / "lock").symlink_to(own)
    with pytest.raises(RunError, match=r"^lock in .* is a link, not a file\."), open_run(tmp_path):
        pass
    assert own.read_text() == "mine"

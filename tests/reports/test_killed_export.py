"""An export that was killed in the middle is done again as if nothing had been."""

from __future__ import annotations

import shutil
import signal
import time
from contextlib import suppress

import pytest

import warm
from in_process import goes_well, goffman

FEW = ("care-seeking", "vignettes", "people-sentiment", "--limit", "20")

TARGETS = {
    "paper": ("figures/*.svg", ()),
    "figures": ("*.svg", ()),
    "tables": ("*.csv", ()),
    "lm-eval-tasks": ("*.jsonl", FEW),
    "inspect": ("goffman_tasks/data/*.jsonl", FEW),
}
"""By target: files of which some are there when it is killed, and what is exported."""


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def killed(out, *command, until):
    """Whether the command was killed while a file of its unfinished folder fits the pattern."""
    process = warm.Command("export", *command, out)
    beside = out if out.exists() else out.parent
    while process.poll() is None and not [*beside.glob(f".out.goffman-*/{until}")]:
        time.sleep(0.0005)
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.communicate()
    return not (out / "README.md").exists()


def kill_in_the_middle(out, *command, until):
    """The folder is there only if it was before, and what was written is not in it."""
    there = out.exists()
    for _ in range(20):
        if killed(out, *command, until=until):
            return
        # It was done before it could be killed.
        shutil.rmtree(out)
        if there:
            out.mkdir()
    raise AssertionError("it is always done before it can be killed")


@pytest.mark.parametrize("there", [False, True], ids=["new", "empty"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_killed_export_is_done_again(target, there, audited_little, tmp_path):
    until, more = TARGETS[target]
    what = [] if more else [audited_little]
    command = (*what, *more, "--to", target, "--output")
    out = tmp_path / "out"
    if there:
        out.mkdir()
    kill_in_the_middle(out, *command, until=until)
    for _ in range(2):
        goes_well("export", *command, out)
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
    goes_well("export", *command, tmp_path / "whole")
    assert files(out) == files(tmp_path / "whole")


def test_what_a_killed_export_left_unfinished_is_nobodys(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / f".goffman-{'0' * 32}.tmp").write_text("half")
    goes_well("export", "care-seeking", "--to", "lm-eval-tasks", "--limit", "2", "--output", out)


def test_what_a_user_put_into_a_folder_of_ours_stays(audited_little, tmp_path):
    command = ("export", audited_little, "--to", "paper", "--output", tmp_path / "out")
    assert goffman(*command).returncode == 0
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    (tmp_path / "out" / "methods.txt").write_text("changed")
    assert goffman(*command).returncode == 0
    assert (tmp_path / "out" / "thesis.tex").read_text() == "mine"
    assert (tmp_path / "out" / "methods.txt").read_text() != "changed"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not [*(tmp_path / "out").glob(".*")]

"""What all workers share is made once, and nobody sees half of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from made_once import made_once

TESTS = Path(__file__).parent

ASKS = """
import sys, time
from pathlib import Path
from made_once import made_once

within, name = Path(sys.argv[1]), sys.argv[2]


def make(folder):
    with (within / "makers").open("a") as makers:
        makers.write(name + "\\n")
    (folder / "first").write_text("1")
    time.sleep(0.3)
    (folder / "second").write_text("2")


print("ready", flush=True)
sys.stdin.readline()
folder = made_once("model", within=within, make=make)
print(folder, *sorted(path.name for path in folder.iterdir()))
"""


def asking(within: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ASKS, str(within), name],
        cwd=TESTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_processes_that_ask_at_once_get_one_whole_folder(tmp_path: Path) -> None:
    processes = [asking(tmp_path, name) for name in ("one", "two", "three")]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = {process.communicate(timeout=60)[0] for process in processes}
    assert said == {f"{tmp_path / 'model'} first second\n"}
    assert len((tmp_path / "makers").read_text().splitlines()) == 1


def test_what_failed_leaves_nothing_and_is_made_by_the_next(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise ValueError("out of weights")

    with pytest.raises(ValueError, match="out of weights"):
        made_once("model", within=tmp_path, make=fails)
    assert [path.name for path in tmp_path.iterdir()] == ["model.lock"]
    folder = made_once("model", within=tmp_path, make=lambda folder: (folder / "whole").touch())
    assert [path.name for path in folder.iterdir()] == ["whole"]

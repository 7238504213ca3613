"""Every file of a run folder is whole or absent, and one process writes to it."""

from __future__ import annotations

import os
import subprocess
import sys

import polars as pl
import pytest

from goffman.errors import AskingError, RunError
from goffman.runs import store
from goffman.runs.lock import locked
from goffman.tables import FILLS, LABELS, schema


def fills(count: int = 3) -> pl.DataFrame:
    rows = [("p", "m", 1, "", rank, " a", "a", 0.5) for rank in range(1, count + 1)]
    return pl.DataFrame(rows, schema=schema(FILLS), orient="row")


def test_a_part_is_read_back_with_exactly_its_columns(tmp_path):
    path = store.write_part(tmp_path, (1, 0), fills())
    assert store.sound_parts(tmp_path, clear=False).parts == {(1, 0): path}
    assert store.read_parts([path], "fills").equals(fills())
    assert store.count_rows([path, path]) == 6
    assert store.read_parts([], "labels").schema == schema(LABELS)
    with pytest.raises(RunError) as refusal:
        store.read_parts([path], "labels")
    assert str(refusal.value) == (
        f"{tmp_path} does not hold labels: column 'label' is missing; column 'negative' is "
        "missing; column 'neutral' is missing; column 'positive' is missing; "
        "column 'step' is not declared; "
        "column 'parent' is not declared; column 'rank' is not declared; column 'token' is not "
        "declared; column 'word' is not declared; column 'probability' is not declared."
    )


def test_the_same_rows_are_the_same_bytes(tmp_path):
    assert store.parquet(fills()) == store.parquet(fills())


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path.name


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])
    return path.name


def lose_checksum(path):
    return path.rename(path.with_name("1-00000.parquet")).name


@pytest.mark.parametrize("damage", [flip, truncate, lose_checksum])
def test_a_damaged_part_is_found_and_cleared(tmp_path, damage):
    bad = damage(store.write_part(tmp_path, (1, 0), fills()))
    good = store.write_part(tmp_path, (1, 1), fills())
    (tmp_path / "1-00002-x.parquet.tmp").write_bytes(b"never finished")
    (tmp_path / "notes.txt").write_text("the user's own")
    looked = store.sound_parts(tmp_path, clear=False)
    assert (looked.parts, looked.damaged) == ({(1, 1): good}, (bad,))
    assert store.sound_parts(tmp_path, clear=True) == looked
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([good.name, "notes.txt"])


def test_parts_that_answer_something_else_are_forgotten(tmp_path):
    asked = ["a" * 16, "b" * 16]
    kept = store.write_part(tmp_path, (1, 0), fills(), asked=asked[0])
    store.write_part(tmp_path, (1, 1), fills(), asked="c" * 16)
    store.write_part(tmp_path, (1, 2), fills(), asked="d" * 16)
    below = store.write_part(tmp_path, (2, 1), fills(), asked="c" * 16)
    shelf = store.sound_parts(tmp_path, clear=True)
    assert store.forget_others(shelf, step=1, asked=asked) == 2
    assert shelf.parts == {(1, 0): kept, (2, 1): below}
    assert store.sound_parts(tmp_path, clear=False) == shelf
    assert store.forget_others(shelf, step=1, asked=asked) == 0


def test_names_of_models_become_folders_that_differ():
    names = ["a/b", "a-b", "A/b", "../a", "bundled:mini", "é" * 300]
    folders = [store.slug(name) for name in names]
    assert len({folder.casefold() for folder in folders}) == len(names)
    assert all(len(folder) < 80 and "/" not in folder for folder in folders)
    assert store.slug("a/b") == "a-b-c14cddc0"


def test_a_full_disk_is_told_and_leaves_what_was_there(small_disk):
    """A real one: a file system of one megabyte."""
    path = store.write_part(small_disk, (1, 0), fills())
    with pytest.raises(AskingError) as failure:
        store.write_whole(small_disk / "large", os.urandom(4_000_000))
    assert str(failure.value) == (
        f"The disk is full: {small_disk / 'large'} could not be written (No space left on device). "
        "Everything answered before is kept. Free some space and give the same command again: "
        "it goes on from there."
    )
    assert list(small_disk.iterdir()) == [path]
    assert store.sound_parts(small_disk, clear=False).parts == {(1, 0): path}


LIMITED = """
import pathlib, resource, sys
from goffman.errors import AskingError
from goffman.runs import store
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    store.write_whole(pathlib.Path(sys.argv[1]), bytes(2000))
except AskingError as failure:
    print(failure)
"""


def test_a_limit_on_files_is_told_like_a_full_disk(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "large"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f"The disk is full: {tmp_path / 'large'} could not be written (")
    assert list(tmp_path.iterdir()) == []


HOLD = """
import pathlib, sys
from goffman.runs.lock import locked
with locked(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_is_gone_even_killed(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunError) as refusal, locked(tmp_path):
            pass
        assert str(refusal.value) == (
            f"{tmp_path} is in use by process {holder.pid}. One process at a time asks for a run: "
            "wait until it ends, or give another folder with --output."
        )
        holder.kill()
    with locked(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_a_folder_that_is_not_there_cannot_be_locked(tmp_path):
    with pytest.raises(RunError) as refusal, locked(tmp_path / "nowhere"):
        pass
    assert str(refusal.value) == (
        f"{tmp_path / 'nowhere'} cannot be written to: No such file or directory. "
        "Give a folder of your own with --output."
    )

"""Every file of a run folder is whole or absent, and one process writes to it."""

from __future__ import annotations

import os
import subprocess
import sys

import polars as pl
import pytest

from goffman.errors import AskingError, RunError
from goffman.runs import answers
from goffman.runs.files import Folder, write_whole
from goffman.runs.run import locked
from goffman.schemas import FILLS, LABELS, schema


def fills(count: int = 3) -> pl.DataFrame:
    rows = [("p", "m", 1, "", rank, " a", "a", 0.5) for rank in range(1, count + 1)]
    return pl.DataFrame(rows, schema=schema(FILLS), orient="row")


ASKED = "a" * 16


def put(folder, key, *, asked=ASKED, rows=None):
    """A part in the folder."""
    return answers.write_chunk(Folder(folder), key, fills() if rows is None else rows, asked=asked)


def sound(folder, *, clear=False, model="m"):
    return answers.verify_chunks(Folder(folder), model=model, clear=clear)


def test_a_part_is_read_back_with_exactly_its_columns(tmp_path):
    part = put(tmp_path, (1, 0))
    assert sound(tmp_path).parts == {(1, 0): part}
    assert (part.asked, part.rows, sound(tmp_path).rows) == (ASKED, 3, 3)
    assert answers.read_chunks(Folder(tmp_path), [part], "fills").equals(fills())
    assert answers.read_chunks(Folder(tmp_path), [], "labels").schema == schema(LABELS)
    with pytest.raises(RunError) as refusal:
        answers.read_chunks(Folder(tmp_path), [part], "labels")
    assert str(refusal.value) == (
        f"{tmp_path} does not contain labels: column 'label' is missing; column 'negative' is "
        "missing; column 'neutral' is missing; column 'positive' is missing; column 'step' is "
        "not declared; column 'parent' is not declared; column 'rank' is not declared; column "
        "'token' is not declared; column 'word' is not declared; column 'probability' is not "
        "declared."
    )


def test_the_same_rows_are_the_same_bytes(tmp_path):
    assert answers.parquet(fills()) == answers.parquet(fills())


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path.name


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])
    return path.name


@pytest.mark.parametrize("damage", [flip, truncate])
def test_a_damaged_part_is_found_and_cleared_and_nothing_else(tmp_path, damage):
    bad = damage(tmp_path / put(tmp_path, (1, 0)).name)
    good = put(tmp_path, (1, 1))
    own = {"notes.txt", "1-00002.parquet", f"{good.name}.bak"}
    for name in own:
        (tmp_path / name).write_text("the user's own")
    looked = sound(tmp_path)
    assert (looked.parts, looked.damaged) == ({(1, 1): good}, (bad,))
    assert sound(tmp_path, clear=True) == looked
    assert {path.name for path in tmp_path.iterdir()} == {good.name, *own}


def test_a_part_with_rows_of_another_model_is_not_this_one_s(tmp_path):
    """Its name fits in every digit: only the rows say whose answers they are."""
    good = put(tmp_path, (1, 0))
    other = put(tmp_path, (1, 1), rows=fills().with_columns(model=pl.lit("n")))
    mixed = put(
        tmp_path, (1, 2), rows=pl.concat([fills(), fills().with_columns(model=pl.lit("n"))])
    )
    shelf = sound(tmp_path, clear=True)
    assert shelf.parts == {(1, 0): good}
    assert shelf.damaged == ()
    assert shelf.foreign == (other.name, mixed.name)
    assert [path.name for path in tmp_path.iterdir()] == [good.name]


def test_the_checksum_of_a_shelf_changes_with_every_byte_and_digest(tmp_path):
    put(tmp_path, (1, 0))
    first = sound(tmp_path).sha256
    assert sound(tmp_path).sha256 == first
    second = put(tmp_path, (1, 1))
    both = sound(tmp_path).sha256
    (tmp_path / second.name).unlink()
    put(tmp_path, (1, 1), asked="b" * 16)
    asked_otherwise = sound(tmp_path).sha256
    assert len({first, both, asked_otherwise}) == 3


def test_parts_that_answer_something_else_are_forgotten(tmp_path):
    asked = {0: "a" * 16, 1: "b" * 16}
    kept = put(tmp_path, (1, 0), asked=asked[0])
    put(tmp_path, (1, 1), asked="c" * 16)
    put(tmp_path, (1, 2), asked="d" * 16)
    below = put(tmp_path, (2, 1), asked="c" * 16)
    shelf = sound(tmp_path, clear=True)
    assert answers.drop_stale(shelf, step=1, asked=asked) == 2
    assert shelf.parts == {(1, 0): kept, (2, 1): below}
    assert sound(tmp_path) == shelf
    assert answers.drop_stale(shelf, step=1, asked=asked) == 0


def test_names_of_models_become_folders_that_differ():
    names = ["a/b", "a-b", "A/b", "../a", "bundled:mini", "é" * 300]
    folders = [answers.slug(name) for name in names]
    assert len({folder.casefold() for folder in folders}) == len(names)
    assert all(len(folder) < 80 and "/" not in folder for folder in folders)
    assert answers.slug("a/b") == "a-b-c14cddc0"


def test_a_full_disk_is_told_and_leaves_what_was_there(small_disk):
    """A real one: a file system of one megabyte."""
    part = put(small_disk, (1, 0))
    with pytest.raises(AskingError) as failure:
        write_whole(small_disk / "large", os.urandom(4_000_000))
    assert str(failure.value) == (
        f"The disk is full: {small_disk / 'large'} could not be written (No space left on "
        "device). All answers so far are kept. Free some space, then run the same command "
        "again to resume."
    )
    assert [path.name for path in small_disk.iterdir()] == [part.name]
    assert sound(small_disk).parts == {(1, 0): part}


WRITES = """
import os, pathlib, resource, sys
from goffman.errors import AskingError
from goffman.runs.files import write_whole
resource.setrlimit(getattr(resource, sys.argv[2]), (64, 64))
opened = []
try:
    while sys.argv[2] == "RLIMIT_NOFILE":
        opened.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
try:
    write_whole(pathlib.Path(sys.argv[1]), bytes(2000))
except AskingError as failure:
    print(failure)
"""


@pytest.mark.parametrize(
    ("limit", "problem", "strerror", "advice"),
    [
        ("RLIMIT_FSIZE", "The disk is full", "File too large", "Free some space"),
        (
            "RLIMIT_NOFILE",
            "This process has too many files open",
            "Too many open files",
            "Allow more open files (ulimit -n 4096)",
        ),
    ],
)
def test_limits_on_files_are_told_as_such(tmp_path, limit, problem, strerror, advice):
    done = subprocess.run(
        [sys.executable, "-c", WRITES, tmp_path / "large", limit],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (
        f"{problem}: {tmp_path / 'large'} could not be written ({strerror}). All answers so far "
        f"are kept. {advice}, then run the same command again to resume.\n"
    )
    assert list(tmp_path.iterdir()) == []


HOLD = """
import pathlib, sys
from goffman.runs.run import locked
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
            f"{tmp_path} is in use by process {holder.pid}. Only one process can use a "
            "run at a time. Wait until it ends, or give another folder with --output."
        )
        holder.kill()
    with locked(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_a_folder_that_is_not_there_cannot_be_locked(tmp_path):
    with pytest.raises(RunError) as refusal, locked(tmp_path / "nowhere"):
        pass
    assert str(refusal.value) == (
        f"goffman cannot write to {tmp_path / 'nowhere'}: No such file or directory. "
        "Give another folder with --output."
    )

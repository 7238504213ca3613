"""A run's files are whole, plain and its own: nothing outside is reached through a link."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from goffman.errors import RunError
from goffman.runs.files import Folder, write_whole

AWAY = "Move it away and run the same command again."


@pytest.fixture(autouse=True)
def nothing_waits():
    """A pipe that is opened as a file is waited for without an end."""

    def stop(*_):
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


@pytest.fixture
def own(tmp_path):
    """A folder of the user's with a file in it, that must stay as it is."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "thesis.txt").write_text("no line's end")
    yield folder
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "thesis.txt": "no line's end"
    }


def pipe(path):
    os.mkfifo(path)
    return "a named pipe"


def plug(path):
    with socket.socket(socket.AF_UNIX) as bound:
        # A socket's path has an end that a test's has not.
        here = Path.cwd()
        os.chdir(path.parent)
        bound.bind(path.name)
        os.chdir(here)
    return "a socket"


def subfolder(path):
    path.mkdir()
    return "a folder"


def device(path):
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("devices are made by root")
    return "a device"


ODD = [pipe, plug, subfolder, device]


def refused(do, *arguments):
    with pytest.raises(RunError) as refusal:
        do(*arguments)
    return str(refusal.value)


def test_what_is_written_is_read_and_listed(run):
    inner = Folder(run) / "answers" / "fills"
    assert inner.names() == []
    assert inner.read("a") is None
    inner.write("a", b"1")
    inner.write("a", b"2")
    inner.write("b", b"")
    assert inner.names() == ["a", "b"]
    assert (inner.path / "a").read_bytes() == inner.read("a") == b"2"
    inner.remove("a")
    assert inner.names() == ["b"]
    assert not list(run.rglob("*.tmp"))


def test_a_file_that_has_the_content_is_left_alone(run):
    Folder(run).write_changed("a", b"1")
    before = (run / "a").stat()
    Folder(run).write_changed("a", b"1")
    assert (run / "a").stat().st_ino == before.st_ino
    Folder(run).write_changed("a", b"2")
    assert (run / "a").read_bytes() == b"2"


def test_rights_are_those_of_any_new_file(run):
    before = os.umask(0o027)
    try:
        Folder(run).write("a", b"1")
        os.close(Folder(run).append("log", rights=0o600))
    finally:
        os.umask(before)
    assert (run / "a").stat().st_mode & 0o777 == 0o640
    assert (run / "log").stat().st_mode & 0o777 == 0o600


def test_the_run_folder_and_the_path_to_it_may_be_links(tmp_path, run):
    """Users put runs on other disks."""
    (tmp_path / "disk").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "run")
    folder = Folder(tmp_path / "link") / "answers"
    folder.write("a", b"1")
    os.close(folder.append("log"))
    folder.remove("a")
    folder.sweep()
    assert [path.name for path in (run / "answers").iterdir()] == ["log"]


@pytest.mark.parametrize("name", ["manifest.json", "manifest.json.tmp", "report.html.tmp", "lock"])
def test_nothing_is_written_through_a_link_in_the_place_of_a_file(run, own, name):
    (run / name).symlink_to(own / "thesis.txt")
    said = f"{name} in {run} is a link, not a file. {AWAY}"
    folder = Folder(run)
    for do in (lambda: folder.write(name, b"x"), lambda: folder.append(name)):
        assert refused(do) == said
    assert refused(folder.remove, name) == said
    # A link whose name was to be foreseen is not met.
    for file in ("manifest.json", "report.html"):
        if file != name:
            folder.write(file, b"x")
    assert (run / name).is_symlink()


def test_nothing_is_done_through_a_link_in_the_place_of_a_folder(run, own):
    (run / "answers").mkdir()
    (run / "answers" / "fills").symlink_to(own)
    folder = Folder(run) / "answers" / "fills" / "model"
    said = f"answers/fills in {run} is a link, not a folder. {AWAY}"
    assert refused(folder.write, "a", b"x") == said
    assert refused(folder.append, "a") == said
    here = Folder(run) / "answers" / "fills"
    assert refused(here.remove, "thesis.txt") == said
    assert refused(here.sweep) == said
    Folder(run).sweep()


def test_a_file_in_the_place_of_a_folder_is_told(run):
    (run / "tables").write_text("")
    said = f"tables in {run} is a file, not a folder. {AWAY}"
    assert refused((Folder(run) / "tables").write, "a", b"x") == said


@pytest.mark.parametrize("make", ODD)
def test_only_plain_files_are_opened(run, make):
    said = f"manifest.json in {run} is {make(run / 'manifest.json')}, not a file. {AWAY}"
    folder = Folder(run)
    assert refused(folder.read, "manifest.json") == said
    for do in (lambda: folder.write("manifest.json", b"x"), lambda: folder.append("manifest.json")):
        assert refused(do) == said
    assert refused(folder.remove, "manifest.json") == said
    assert folder.names() == ["manifest.json"]


def test_a_file_is_read_through_a_link_but_a_device_is_not(run, own):
    (run / "a").symlink_to(own / "thesis.txt")
    (run / "b").symlink_to("/dev/zero")
    assert Folder(run).read("a") == b"no line's end"
    assert refused(Folder(run).read, "b") == f"b in {run} is a device, not a file. {AWAY}"


def test_a_file_that_would_fill_the_memory_is_told(run):
    (run / "manifest.json").touch()
    os.truncate(run / "manifest.json", 2**32 + 1)
    assert refused(Folder(run).read, "manifest.json") == (
        f"manifest.json in {run} has 4,294,967,297 bytes, more than any file of a run. {AWAY}"
    )


def test_a_link_that_leads_nowhere_or_in_a_circle_is_told_as_that(run):
    back = "Correct or remove it."
    (run / "manifest.json").symlink_to(run / "gone")
    (run / "answers").symlink_to("answers")
    (run / "tables").symlink_to(run / "gone")
    (run.parent / "link").symlink_to(run / "gone")
    folder = Folder(run)
    assert refused(folder.read, "manifest.json") == (
        f"manifest.json in {run} is a link that leads nowhere. {back}"
    )
    assert refused((folder / "answers").read, "a") == (
        f"answers in {run} is a link that leads in a circle. {back}"
    )
    assert refused((folder / "tables").names) == (
        f"tables in {run} is a link that leads nowhere. {back}"
    )
    assert refused(Folder(run.parent / "link").read, "manifest.json") == (
        f"{run.parent / 'link'} is a link that leads nowhere. {back}"
    )


def test_a_name_that_is_too_long_is_told_as_that(run):
    name = "x" * 300
    shown = str(run / name)[:60]
    said = (
        f"The name '{shown}…' is too long: it has {len(str(run / name)):,} characters, more "
        "than this system allows. Give a shorter name."
    )
    assert refused(Folder(run).read, name) == said
    assert refused(Folder(run).write, name, b"") == said
    assert refused(write_whole, run / name, b"") == said


def test_what_killed_processes_left_is_swept_and_nothing_else(run, own):
    left = f".goffman-{'0' * 32}.tmp"
    theirs = ["notes.tmp", ".goffman-notes.tmp", "x.parquet.tmp"]
    inner = run / "answers" / "fills"
    inner.mkdir(parents=True)
    for folder in (run, inner):
        for name in (left, *theirs):
            (folder / name).write_text("")
    linked = f".goffman-{'1' * 32}.tmp"
    (run / linked).symlink_to(own / "thesis.txt")
    (run / f".goffman-{'2' * 32}.tmp").mkdir()
    os.mkfifo(run / f".goffman-{'3' * 32}.tmp")
    (run / "elsewhere").symlink_to(own)
    Folder(run).sweep()
    assert sorted(path.name for path in inner.iterdir()) == sorted(theirs)
    assert {path.name for path in run.iterdir()} == {
        *theirs,
        *("answers", "elsewhere", linked),
        *(f".goffman-{digit * 32}.tmp" for digit in "23"),
    }


WRITES = """
import os, pathlib, sys
from goffman.runs.files import Folder
real = os.replace
def stop(*arguments, **more):
    print("held", flush=True)
    sys.stdin.readline()
    return real(*arguments, **more)
os.replace = stop
Folder(pathlib.Path(sys.argv[1])).write("a", b"1")
"""


@pytest.fixture
def writing(run):
    """A process that is about to give a file its name."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITES, run],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "held\n"
        assert len(list(run.glob(".goffman-*.tmp"))) == 1
        yield process


def test_what_another_process_is_writing_is_not_swept(run, writing):
    Folder(run).sweep()
    writing.communicate("\n", timeout=20)
    assert writing.returncode == 0
    assert (run / "a").read_bytes() == b"1"
    assert [path.name for path in run.iterdir()] == ["a"]


def test_what_a_killed_process_was_writing_is_swept(run, writing):
    writing.kill()
    writing.wait()
    Folder(run).sweep()
    assert list(run.iterdir()) == []


READS = """
import pathlib, sys
from goffman.errors import RunError
from goffman.runs.files import Folder
folder = Folder(pathlib.Path(sys.argv[1]))
for do in (
    lambda: folder.read("a"),
    lambda: (folder / "closed").names(),
    lambda: (folder / "closed").read("b"),
    lambda: (folder / "closed").write("b", b""),
    lambda: folder.write("c", b""),
):
    try:
        do()
    except RunError as error:
        print(error)
"""


def test_what_there_is_no_right_to_is_told_as_that(run, without_rights):
    (run / "a").write_text("")
    (run / "closed").mkdir()
    for path in (run / "a", run / "closed"):
        path.chmod(0)
    run.chmod(0o500)
    done = without_rights(sys.executable, "-c", READS, run)
    for path in (run, run / "closed"):
        path.chmod(0o700)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"a in {run} cannot be read: Permission denied.",
        f"closed in {run} cannot be read: Permission denied.",
        f"closed/b in {run} cannot be read: Permission denied.",
        f"{run / 'closed' / 'b'} cannot be written: Permission denied.",
        f"{run / 'c'} cannot be written: Permission denied.",
    ]

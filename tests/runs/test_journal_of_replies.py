"""A reply that was heard is read again, whatever happened to the file after it."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goffman.errors import AskingError
from goffman.models.base import Reply
from goffman.runs import answers as journals
from goffman.runs.answers import Line, key_of, line_of, open_journal, read_journal
from goffman.runs.files import Folder

text = st.none() | st.text()
count = st.none() | st.integers(0, 2**62)
lines = st.builds(
    Line,
    key=st.text(min_size=1).map(key_of),
    trial=st.integers(1, 99),
    reply=st.builds(
        Reply,
        text=text,
        finish_reason=text,
        prompt_tokens=count,
        completion_tokens=count,
        fingerprint=text,
        served_by=text,
        reasoning=text,
    ),
    setup=st.text(),
)


def write(folder, *new):
    write_each(folder, new)


def write_each(folder, new):
    folder.mkdir(exist_ok=True)
    with open_journal(Folder(folder)) as journal:
        for line in new:
            journal.add(line)


def line(number):
    return Line(key_of(f"q{number}"), 1, Reply(text=f"reply {number}\n", finish_reason="stop"))


@settings(deadline=None, max_examples=40)
@given(st.lists(lines, max_size=8))
def test_what_is_written_is_read_again_line_by_line(tmp_path_factory, written):
    folder = tmp_path_factory.mktemp("journal")
    write(folder, *written[:3])
    write(folder, *written[3:])
    assert list(read_journal(Folder(folder))) == written


def test_there_is_nothing_in_a_journal_that_is_not_there(tmp_path):
    assert list(read_journal(Folder(tmp_path / "nowhere"))) == []


def test_wherever_the_last_line_was_torn_the_others_are_read_and_the_next_one_is_whole(tmp_path):
    whole = [line(1), line(2)]
    last = line_of(line(3))
    for length in range(len(last)):
        folder = tmp_path / str(length)
        write(folder, *whole)
        with (folder / "journal").open("ab") as file:
            file.write(last[:length])
        assert [found for found in read_journal(Folder(folder)) if found] == whole
        write(folder, line(4))
        assert list(read_journal(Folder(folder))) == [*whole, line(4)]


def test_a_torn_line_longer_than_what_is_looked_at_together_is_cut_too(tmp_path):
    long = Line("k", 1, Reply(text="x" * 200_000, finish_reason=None))
    write(tmp_path, line(1), long)
    path = tmp_path / "journal"
    os.truncate(path, path.stat().st_size - 1)
    write(tmp_path, line(2))
    assert list(read_journal(Folder(tmp_path))) == [line(1), line(2)]
    path.write_bytes(b"x" * 200_000)
    write(tmp_path, line(2))
    assert list(read_journal(Folder(tmp_path))) == [line(2)]


@pytest.mark.parametrize("place", range(0, 150, 7))
def test_a_line_that_came_to_harm_is_none_and_the_others_are_read(tmp_path, place):
    write(tmp_path, line(1), line(2), line(3))
    path = tmp_path / "journal"
    content = bytearray(path.read_bytes())
    start = len(line_of(line(1)))
    content[start + place % (len(line_of(line(2))) - 1)] ^= 1
    path.write_bytes(content)
    found = list(read_journal(Folder(tmp_path)))
    assert found[0] == line(1)
    assert found[-1] == line(3)
    assert line(2) not in found


def test_a_process_that_is_killed_has_lost_nothing_that_it_was_told_is_kept(tmp_path):
    """It says every line that it has added, and is killed from outside."""
    program = """
import sys
from pathlib import Path
from goffman.models.base import Reply
from goffman.runs.files import Folder
from goffman.runs.answers import Line, open_journal
with open_journal(Folder(Path(sys.argv[1]))) as journal:
    for number in range(10**9):
        journal.add(Line(str(number), 1, Reply(text="x" * (number % 300), finish_reason=None)))
        print(number, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE)
    for _ in range(500):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    told = [int(number) for number in process.stdout.read().split()]
    process.wait()
    process.stdout.close()
    found = [int(found.key) for found in read_journal(Folder(tmp_path)) if found]
    assert found == list(range(len(found)))
    assert len(found) > max(told, default=499)


def test_lines_are_on_the_disk_soon_and_many_at_once(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(
        journals.os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size)
    )
    with open_journal(Folder(tmp_path)) as journal:
        before = len(synced)
        for number in range(2000):
            journal.add(line(number))
    size = (tmp_path / "journal").stat().st_size
    assert synced[-1] == size, "the last word is the disk's"
    assert len(synced) - before < 500


def test_a_journal_that_has_ended_takes_no_line(tmp_path):
    """Its descriptor may be another file's by then."""
    with open_journal(Folder(tmp_path)) as journal:
        journal.add(line(1))
    with pytest.raises(AskingError) as refusal:
        journal.add(line(2))
    path = tmp_path / "journal"
    assert str(refusal.value) == f"{path} is closed: a reply came after the end."
    assert list(read_journal(Folder(tmp_path))) == [line(1)]


def test_a_disk_that_fails_behind_is_told_before_more_is_taken(tmp_path, monkeypatch):
    def fails(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    def many():
        monkeypatch.setattr(journals.os, "fsync", fails)
        yield from (line(number) for number in range(100_000))

    with pytest.raises(AskingError) as refusal:
        write_each(tmp_path, many())
    assert str(refusal.value) == (
        f"The disk failed: {tmp_path / 'journal'} could not be written (Input/output error). "
        "All answers so far are kept. Check the disk, then run the same command again to "
        "resume."
    )


def test_a_full_disk_leaves_whole_lines_and_is_told(small_disk):
    with pytest.raises(AskingError, match=r"The disk is full: .*journal could not be written"):
        write(small_disk, *(line(number) for number in range(100_000)))
    found = list(read_journal(Folder(small_disk)))
    assert len(found) > 1000
    assert found == [line(number) for number in range(len(found))]


def test_a_file_that_may_not_grow_leaves_whole_lines_and_is_told(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        with pytest.raises(AskingError, match=r"The disk is full"):
            write(tmp_path, *(line(number) for number in range(1000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    found = list(read_journal(Folder(tmp_path)))
    assert found == [line(number) for number in range(len(found))]
    assert (tmp_path / "journal").stat().st_size <= 10_000

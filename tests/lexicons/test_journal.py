"""A journal: what is confirmed stays, whatever happens to the process or the disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.errors import AskingError, InputError, LexiconError, RunError
from goffman.lexicons.attitude import ATTITUDES
from goffman.rating.worklist import (
    Event,
    Journal,
    Record,
    Unit,
    check_rater,
    open_journal,
    parse_event,
    read_journal,
)

HARD, EASY = Unit("hard"), Unit("easy")
AWAY = "Move it away and run the same command again."


def rated(unit, label="negative"):
    return Event(do="rate", unit=unit, label=label)


def fill(path, *events):
    with open_journal(path) as journal:
        for event in events:
            journal.add(event)
        return journal.record


def test_what_was_said_is_read_again(tmp_path):
    path = tmp_path / "ratings" / "anna.jsonl"
    odd = Unit('l"\u2028ö<b>', "neighbor", "say")
    fill(path, rated(HARD), Event(do="skip", unit=EASY), rated(odd, "neutral"))
    fill(path, rated(EASY, "positive"), Event(do="note", unit=HARD, note="or not?"))
    record = read_journal(path)
    assert record.labels == {HARD: "negative", odd: "neutral", EASY: "positive"}
    assert record.skips == {EASY: 1}
    assert record.notes == {HARD: "or not?"}
    assert all(json.loads(line)["at"] for line in path.read_bytes().splitlines())


def test_undo_takes_back_the_last_rating_or_skip_and_no_note(tmp_path):
    undo, note = Event(do="undo"), Event(do="note", unit=HARD, note="odd")
    path = tmp_path / "anna.jsonl"
    record = fill(path, rated(HARD), rated(HARD, "neutral"), note, Event(do="skip", unit=EASY))
    assert record.last.unit == EASY
    fill(path, undo)
    assert read_journal(path).labels == {HARD: "neutral"}
    assert not read_journal(path).skips
    fill(path, undo)
    assert read_journal(path).labels == {HARD: "negative"}
    fill(path, undo, undo)
    assert read_journal(path).labels == {}
    assert read_journal(path).notes == {HARD: "odd"}
    assert read_journal(path).last is None


events = st.one_of(
    st.builds(rated, st.sampled_from([HARD, EASY]), st.sampled_from(ATTITUDES)),
    st.builds(Event, do=st.just("skip"), unit=st.sampled_from([HARD, EASY])),
    st.just(Event(do="undo")),
)


@given(st.lists(events, max_size=12))
def test_an_undo_is_as_if_it_had_not_been(done):
    record, kept = Record(), []
    for event in done:
        record.take(event)
        kept = kept[:-1] if event.do == "undo" else [*kept, event]
    without = Record()
    for event in kept:
        without.take(event)
    assert (record.labels, record.skips) == (without.labels, without.skips)


def test_a_line_torn_at_any_byte_costs_that_line_only(tmp_path):
    path = tmp_path / "anna.jsonl"
    fill(path, rated(HARD))
    first = path.read_bytes()
    fill(path, rated(Unit("öde"), "irrelevant"))
    whole = path.read_bytes()
    for length in range(len(first), len(whole)):
        for tail in (b"", b"\0\0\0"):
            path.write_bytes(whole[:length] + tail)
            complete = length == len(whole) - 1 and not tail
            expected = {HARD: "negative"} | ({Unit("öde"): "irrelevant"} if complete else {})
            assert read_journal(path).labels == expected
            fill(path, rated(EASY, "positive"))
            assert read_journal(path).labels == expected | {EASY: "positive"}


def test_no_depth_of_lists_breaks_the_reading(tmp_path):
    """Between a depth that can be read and shown and one that cannot be read is one that breaks."""
    path = tmp_path / "anna.jsonl"
    for depth in range(800, 1_000):
        path.write_text('{"do": "skip", "word": ' + "[" * depth + "]" * depth + "}\n\n")
        with pytest.raises(LexiconError, match="2 faults"):
            read_journal(path)


def test_a_journal_of_more_bytes_than_allowed_is_refused_and_kept(tmp_path):
    path = tmp_path / "anna.jsonl"
    fill(path, rated(HARD))
    os.truncate(path, 16 * 1024 * 1024 + 1)
    for read in (read_journal, fill):
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value) == f"{path} has more than 16,777,216 bytes."
    assert path.stat().st_size == 16 * 1024 * 1024 + 1


def test_a_damaged_line_is_said_and_never_dropped(tmp_path):
    path = tmp_path / "anna.jsonl"
    lines = [
        '{"do": "rate", "word": "hard", "label": "negative"}',
        "rubbish",
        "[1]",
        '{"do": "rat", "word": "hard"}',
        '{"do": "rate", "word": "hard", "label": 3}',
        '{"do": "rate", "label": "negative"}',
        '{"do": "skip", "word": ["hard"]}',
        "[" * 100_000,
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    content = path.read_bytes()
    with pytest.raises(LexiconError) as caught:
        fill(path)
    not_json = "this line is not a JSON object, so goffman did not write it."
    assert [str(fault) for fault in caught.value.faults] == [
        f"anna.jsonl, line 2: {not_json}",
        f"anna.jsonl, line 3: {not_json}",
        'anna.jsonl, line 4: do is "rat". Allowed: rate, skip, undo, note.',
        "anna.jsonl, line 5: label is 3. Allowed: positive, negative, neutral, irrelevant.",
        "anna.jsonl, line 6: word is missing or empty.",
        'anna.jsonl, line 7: word is ["hard"]; it must be text.',
        f"anna.jsonl, line 8: {not_json}",
    ]
    assert path.read_bytes() == content


def test_a_journal_has_one_writer(tmp_path):
    path = tmp_path / "anna.jsonl"
    script = f"""
from pathlib import Path
from goffman.rating.worklist import open_journal
open_journal(Path({str(path)!r})).__enter__()
"""
    with open_journal(path):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
    assert done.stderr.splitlines()[-1] == (
        f"goffman.errors.InputError: {path} is open in another process. End that process with "
        "Ctrl-C, or rate under another name with --rater."
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_what_a_full_disk_did_not_take_does_not_count():
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        journal = Journal(Path("anna.jsonl"), descriptor, Record())
        with pytest.raises(AskingError) as caught:
            journal.add(rated(HARD))
    finally:
        os.close(descriptor)
    assert str(caught.value) == (
        "Not saved: the disk is full (anna.jsonl: No space left on device). All earlier "
        "ratings are kept. Check the disk, then press the key again."
    )
    assert journal.record.labels == {}


@pytest.mark.parametrize("name", ["", "settled", "../anna", "a b", "anna/..", "x" * 41, ".x", "ä"])
def test_a_raters_name_that_is_none(name):
    with pytest.raises(InputError) as caught:
        check_rater(name)
    assert str(caught.value) == (
        f"--rater is '{name}'. Allowed: up to 40 letters (a–z), digits, dots, hyphens or "
        "underscores. It must begin with a letter or digit, and it cannot be 'settled'. You "
        "can use a pseudonym."
    )


def test_a_note_is_one_line_and_not_endless():
    told = {"do": "note", "word": "hard", "note": "  one\n\ttwo "}
    assert parse_event(told).note == "one two"
    with pytest.raises(ValueError, match=r"^note has 2,001 characters\. Allowed: up to 2,000\.$"):
        parse_event({**told, "note": "x" * 2001})


def test_only_its_owner_can_read_a_journal(tmp_path):
    before = os.umask(0)
    try:
        fill(tmp_path / "anna.jsonl", rated(HARD))
        (tmp_path / "old.jsonl").write_bytes(b"")
        (tmp_path / "old.jsonl").chmod(0o644)
        fill(tmp_path / "old.jsonl", rated(HARD))
    finally:
        os.umask(before)
    for name in ("anna", "old"):
        assert (tmp_path / f"{name}.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["no line's end", '{"mine": 1}', '{"at": "x"}\nmy own line'])
def test_what_goffman_did_not_write_is_told_and_never_cut(tmp_path, content):
    path = tmp_path / "anna.jsonl"
    path.write_text(content)
    with pytest.raises(LexiconError):
        fill(path)
    assert path.read_text() == content


def test_a_journal_of_a_run_that_is_a_link_is_not_written_through(tmp_path):
    own, run = tmp_path / "own", tmp_path / "run"
    own.mkdir()
    (own / "diary").write_text("no line's end")
    (run / "ratings").mkdir(parents=True)
    for link, target, what in (
        ("ratings/anna.jsonl", own / "diary", "file"),
        ("ratings", own, "folder"),
    ):
        if what == "folder":
            shutil.rmtree(run / "ratings")
        (run / link).symlink_to(target)
        with (
            pytest.raises(RunError) as refusal,
            open_journal(run / "ratings" / "anna.jsonl", run=run),
        ):
            pass
        assert str(refusal.value) == f"{link} in {run} is a link, not a {what}. {AWAY}"
    assert {path.name: path.read_text() for path in own.iterdir()} == {"diary": "no line's end"}


def test_no_journal_and_a_pipe_in_its_place_are_told_at_once(tmp_path):
    path = tmp_path / "anna.jsonl"
    with pytest.raises(InputError) as refusal:
        read_journal(path)
    assert str(refusal.value) == f"{path} cannot be read: there is no such file."
    os.mkfifo(path)
    for read in (fill, read_journal):
        with pytest.raises(RunError) as refusal:
            read(path)
        assert str(refusal.value) == (
            f"anna.jsonl in {tmp_path} is a named pipe, not a file. {AWAY}"
        )

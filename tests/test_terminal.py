"""What the terminal shows while an audit goes on: one bar, or a few lines where there is none."""

from __future__ import annotations

import io
import re

import pytest

from goffman import console, progress
from goffman.console import ProgressLines, counting
from goffman.progress import AuditProgress, Progress, duration


def far(done: int, total: int = 100, *, of: str = "scale", step: int = 1, **more) -> Progress:
    told = {"model": "m", "steps": 1, **more}
    return Progress(instrument=of, step=step, done=done, total=total, **told)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that progress sees, which the test sets."""
    now = [1000.0]
    for module in (console, progress):
        monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_colon_in_a_name_makes_no_picture():
    stream = io.StringIO()
    with ProgressLines(stream) as lines:
        lines.note("openai:x: a note [bold]")
    assert stream.getvalue() == "openai:x: a note [bold]\n"


def test_a_log_has_a_line_for_each_tenth_of_the_whole_audit(clock):
    stream = io.StringIO()
    with ProgressLines(stream) as lines:
        lines.expect({("m", "scale"): 100, ("m", "other"): 300})
        for of, total in (("scale", 100), ("other", 300)):
            for done in range(total + 1):
                clock[0] += 1
                lines.show(far(done, total, of=of, note="12 timed out, 4 at once"))
        lines.stage("Measuring the answers")
    start, *tenths, end = stream.getvalue().splitlines()
    assert start == "Asking 1 model about 400 sentences."
    assert end == "Measuring the answers."
    assert 8 <= len(tenths) <= 10
    assert tenths[0].startswith("10%: scale, m, 12 timed out, 4 at once, 1.0/s, 6 min left, ends ")
    assert tenths[-1].startswith("100%: other, m, ")


def test_a_slow_audit_says_every_ten_minutes_that_it_lives(clock):
    stream = io.StringIO()
    with ProgressLines(stream) as lines:
        lines.expect({("m", "scale"): 1_000_000})
        for done in range(5):
            lines.show(far(done, 1_000_000))
            clock[0] += 400
    assert len(stream.getvalue().splitlines()) == 1 + 2


def test_what_an_earlier_process_asked_does_not_make_this_one_faster(clock):
    audit = AuditProgress({("m", "scale"): 100})
    audit.add(far(50))
    assert audit.speed == ""
    clock[0] += 10
    audit.add(far(60))
    assert audit.speed.startswith("1.0/s, 40 s left, ends ")


def test_steps_that_come_from_answers_are_expected_until_they_are_known(clock):
    audit = AuditProgress({("m", "deep"): 111, ("m", "scale"): 100})
    audit.add(far(1, 1, of="deep", steps=3))
    assert (audit.done, audit.total) == (1, 211)
    audit.add(far(10, 10, of="deep", step=2, steps=3))
    audit.add(far(30, 60, of="deep", step=3, steps=3))
    assert (audit.done, audit.total) == (41, 71 + 100)
    assert str(audit) == "deep 3/3, m"


def test_on_a_terminal_there_is_one_bar_for_all_steps():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with ProgressLines(stream) as lines:
        lines.expect({("m", "scale"): 100, ("m", "other"): 100})
        for of in ("scale", "other"):
            lines.show(far(100, of=of))
            lines._bars.refresh()
        lines.stage("Measuring the answers")
        lines._bars.refresh()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    assert len(lines._bars.tasks) == 1
    assert " 50%" in shown
    assert "100%" in shown
    assert "Measuring the answers" in shown


def test_counting_says_how_far_it_is(clock):
    stream = io.StringIO()
    with counting(stream, "files") as show:
        for done in range(1, 1_001):
            clock[0] += 0.5
            show(done, 1_000)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("10%: files, 2.0/s, ")
    assert lines[-1].startswith("100%: files, ")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (40, "40 s"), (90, "2 min"), (3600, "60 min"), (9000, "2.5 h")],
)
def test_a_duration_has_two_digits_or_so(seconds, said):
    assert duration(seconds) == said

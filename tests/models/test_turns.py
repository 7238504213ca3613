"""Pieces of work that take turns: one runs at a time, and none is left behind."""

import contextvars
import threading

import pytest

from goffman.workers.scheduler import Cancelled, Task

SAID = contextvars.ContextVar("SAID", default="nothing")


def counting(log, name, *, until):
    """A turn that notes each time it goes on, and then what it is told in the end."""
    turns = []

    def work():
        try:
            for number in range(until):
                log.append(f"{name}{number}")
                turns[0].wait()
        finally:
            log.append(f"{name} ends")
        return name

    turns.append(Task(work))
    return turns[0]


def test_they_go_on_when_they_are_told_and_end_with_what_they_found():
    log = []
    one, other = counting(log, "a", until=2), counting(log, "b", until=1)
    assert log == []
    for turn in (one, other, one, other, one):
        turn.go_on()
    assert log == ["a0", "b0", "a1", "b ends", "a ends"]
    assert [turn.result.result(timeout=0) for turn in (one, other)] == ["a", "b"]


def test_an_error_is_raised_where_the_work_was_told_to_go_on():
    def work():
        raise KeyboardInterrupt("it")

    turn = Task(work)
    with pytest.raises(KeyboardInterrupt, match="it"):
        turn.go_on()
    assert turn.result.done()


def test_stopped_work_ends_where_it_waits_and_cleans_up():
    log, before = [], threading.active_count()
    never, waiting = counting(log, "a", until=9), counting(log, "b", until=9)
    waiting.go_on()
    waiting.stop()
    never.stop()
    assert log == ["b0", "b ends"]
    assert threading.active_count() == before
    assert isinstance(never.result.exception(timeout=0), Cancelled)


def test_work_is_done_in_the_context_of_whoever_began_it():
    token = SAID.set("this")
    turn = Task(SAID.get)
    SAID.reset(token)
    turn.go_on()
    assert turn.result.result(timeout=0) == "this"

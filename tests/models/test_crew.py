"""Who gets which part, what becomes of a lost worker's, and which workers may not work together.

The workers are scripted: no two kinds of hardware and no dying at a chosen part can be had here. Real
ones are killed in test_workers.py and test_ray_workers.py.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.errors import AskingError, InputError, ModelError, RunError
from goffman.models.base import Identity
from goffman.models.crew import Crew
from goffman.models.kinds import Loading
from goffman.models.tasks import Call, Card, Load, Outcome
from goffman.runs.manifest import Manifest
from goffman.runs.workers import with_workers

IDENTITY = Identity(
    name="m",
    kind="masked",
    family="roberta",
    revision=None,
    weights="safetensors",
    weights_sha256="a",
    tokenizer_sha256="b",
    precision="float32",
    device="NVIDIA H200",
)
CARD = Card(
    host="one", device="cuda:0", hardware="NVIDIA H200", versions={"torch": "2"}, identity=IDENTITY
)
CALL = Call(method="fill_batch")
LOAD = Load(spec="m", kind="masked", loading=Loading(), threads=1)


class Scripted:
    """Workers that answer in an order drawn by others, and die after so many tasks."""

    def __init__(self, cards, *, lives=(), order=()):
        self.names = [f"worker {n}" for n in range(len(cards))]
        self._cards = cards
        self._lives = [*lives, *[10**9] * (len(cards) - len(lives))]
        self._order = deque(order)
        self._given = {n: deque() for n in range(len(cards))}
        self.asked = []

    def give(self, worker, task):
        self._given[worker].append(task)

    def take(self):
        busy = [n for n, tasks in self._given.items() if tasks]
        worker = busy[(self._order.popleft() if self._order else 0) % len(busy)]
        if self._lives[worker] == 0:
            self._given[worker].clear()
            return Outcome(worker=worker, lost="it was killed by signal 9 (SIGKILL)")
        task = self._given[worker].popleft()
        if isinstance(task, Load):
            card = self._cards[worker]
            failed = card if isinstance(card, str) else None
            return Outcome(worker=worker, value=None if failed else card, failure=failed)
        self._lives[worker] -= 1
        self.asked.append(worker)
        return Outcome(worker=worker, value=[sum(batch) for batch in task.batches])

    def close(self):
        pass


@given(
    lives=st.lists(st.integers(0, 6), min_size=1, max_size=4),
    count=st.integers(0, 30),
    order=st.lists(st.integers(0, 10), max_size=60),
)
def test_every_part_comes_once_or_the_run_stops(lives, count, order):
    """Whoever dies when: nothing is lost, nothing doubled, and it never waits for a dead worker."""
    notes = []
    crew = Crew(Scripted([CARD] * len(lives), lives=lives, order=order), note=notes.append)
    parts = {n: [[n, 1], [n, 2]] for n in range(count)}
    found, stopped = {}, ""
    try:
        for number, answers in crew.ask(CALL, parts.items()):
            assert number not in found
            found[number] = answers
    except AskingError as error:
        stopped = str(error)
    assert all(found[n] == [n + 1, n + 2] for n in found)
    if stopped:
        assert stopped.startswith("No worker is left. ")
        assert sum(lives) < count
        assert len(notes) == len(lives) - 1
    assert (len(found) < count) == bool(stopped)


def test_all_workers_get_work():
    hands = Scripted([CARD] * 3, order=[0, 1, 2] * 4)
    assert len(list(Crew(hands, note=print).ask(CALL, ((n, [[n]]) for n in range(12))))) == 12
    assert {hands.asked.count(n) for n in range(3)} == {4}


def test_workers_that_cannot_load_are_all_named():
    hands = Scripted([CARD, "There is no folder 'm'.", CARD])
    with pytest.raises(ModelError) as refused:
        Crew(hands, note=print).load(LOAD, mixed=False)
    assert str(refused.value) == (
        "1 of 3 workers cannot load 'm'. worker 1: There is no folder 'm'."
    )


@pytest.mark.parametrize("field", ["weights_sha256", "tokenizer_sha256", "revision"])
def test_other_files_are_refused_even_where_hardware_may_be_mixed(field):
    other = replace(CARD, identity=replace(IDENTITY, **{field: "other"}))
    with pytest.raises(ModelError) as refused:
        Crew(Scripted([CARD, other]), note=print).load(LOAD, mixed=True)
    assert str(refused.value) == (
        "The files of 'm' are not the same for worker 0 and for worker 1: they differ in their "
        f"{field.replace('_', ' ')}. Copy the model anew to one of them."
    )


def test_other_versions_are_refused():
    other = replace(CARD, versions={"torch": "3"})
    with pytest.raises(InputError) as refused:
        Crew(Scripted([CARD, other]), note=print).load(LOAD, mixed=True)
    assert str(refused.value) == (
        "The workers have other versions of packages: worker 0 has torch 2; worker 1 has torch 3. "
        "Install the same on both."
    )


def test_other_hardware_is_refused_unless_it_is_allowed():
    a100 = replace(CARD, hardware="NVIDIA A100", identity=replace(IDENTITY, device="NVIDIA A100"))
    with pytest.raises(InputError) as refused:
        Crew(Scripted([CARD, a100]), note=print).load(LOAD, mixed=False)
    assert str(refused.value) == (
        "The workers are on unlike hardware: worker 0 on NVIDIA H200, worker 1 on NVIDIA A100. "
        "Their answers may differ in the last digits. Choose workers that are alike, or allow it: "
        "--allow-mixed-hardware"
    )
    for cards in ([CARD, a100], [a100, CARD, a100]):
        identity = Crew(Scripted(cards), note=print).load(LOAD, mixed=True)
        assert identity.device == "NVIDIA A100 + NVIDIA H200"
        assert identity.notes == (
            "Its answers come from unlike hardware (NVIDIA A100, NVIDIA H200), so their last "
            "digits may differ.",
        )


def test_a_run_s_later_workers_are_on_the_hardware_of_its_first(tmp_path):
    first = with_workers(Manifest(), tmp_path, [CARD, CARD], mixed=False)
    (two,) = first.workers
    assert (two.host, two.device, two.hardware, two.workers) == ("one", "cuda:0", "NVIDIA H200", 2)
    more = with_workers(first, tmp_path, [replace(CARD, host="other")], mixed=False)
    assert [(one.host, one.workers) for one in more.workers] == [("one", 2), ("other", 1)]
    a100 = replace(CARD, hardware="NVIDIA A100")
    with pytest.raises(RunError) as refused:
        with_workers(first, tmp_path, [a100], mixed=False)
    assert str(refused.value) == (
        f"{tmp_path} has answers of workers on NVIDIA H200; now they are on NVIDIA A100. Their "
        "answers may differ in the last digits. Use the same hardware, give another folder with "
        "--output, or allow it: --allow-mixed-hardware"
    )
    assert len(with_workers(first, tmp_path, [a100], mixed=True).workers) == 2

"""Who gets which part, what becomes of a lost worker's, and which workers may not work together.

The workers are scripted: no two kinds of hardware and no dying at a chosen part can be had here. Real
ones are killed in test_workers.py and test_ray_workers.py.
"""

import threading
from collections import deque
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.errors import AskingError, InputError, ModelError, RunError
from goffman.execution import in_order, with_workers
from goffman.models.base import Identity
from goffman.models.registry import Loading
from goffman.runs.manifest import Manifest
from goffman.workers.pool import WorkerPool
from goffman.workers.protocol import Call, Handshake, Load, TaskResult, WorkerInfo
from goffman.workers.scheduler import ModelWork, run_concurrently, shares
from refusals import message_of

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
CARD = WorkerInfo(
    host="one",
    device="cuda:0",
    hardware="NVIDIA H200",
    called="NVIDIA H200",
    versions={"torch": "2"},
)
A100 = replace(CARD, hardware="NVIDIA A100", called="NVIDIA A100")
CALL = Call(method="fill_batch")


class Scripted:
    """Workers that answer in an order drawn by others, and die after so many parts."""

    def __init__(self, cards, *, lives=(), order=(), models=()):
        self.names = [f"worker {n}" for n in range(len(cards))]
        self._cards = cards
        self._models = [*models, *[IDENTITY] * (len(cards) - len(models))]
        self._lives = [*lives, *[10**9] * (len(cards) - len(lives))]
        self._order = deque(order)
        self._given = {n: deque() for n in range(len(cards))}
        self._has = {}
        self.asked = []
        self.loads = []

    def give(self, worker, task):
        self._given[worker].append(task)
        if isinstance(task, Load):
            self.loads.append((worker, task.spec))

    def take(self):
        busy = [n for n, tasks in self._given.items() if tasks]
        worker = busy[(self._order.popleft() if self._order else 0) % len(busy)]
        if self._lives[worker] == 0 and not isinstance(self._given[worker][0], Handshake):
            self._given[worker].clear()
            return TaskResult(worker=worker, lost="it was killed by signal 9 (SIGKILL)")
        task = self._given[worker].popleft()
        if isinstance(task, Handshake):
            return TaskResult(worker=worker, value=self._cards[worker])
        if isinstance(task, Load):
            self._has[worker] = task.spec
            model = self._models[worker]
            failed = model if isinstance(model, str) else None
            return TaskResult(worker=worker, value=None if failed else model, failure=failed)
        self._lives[worker] -= 1
        self.asked.append(worker)
        # Only a worker that has the model can answer for it.
        value = [f"{self._has[worker]} {sum(batch)}" for batch in task.batches]
        return TaskResult(worker=worker, value=value)

    def close(self):
        pass


def crew_of(hands, *, mixed=False, note=print):
    return WorkerPool(hands, note=note, mixed=mixed)


def loaded(team, spec="m"):
    return team.load(Load(spec=spec, kind="masked", loading=Loading(), threads=1))


def work(spec, steps, *, size=1.0, found=None):
    """A model that is loaded and asked so many parts in each of several steps."""

    def ask(team):
        loaded(team, spec)
        known = {} if found is None else found.setdefault(spec, {})
        for step, count in enumerate(steps):
            parts = [(n, [[step, n], [n]]) for n in range(count)]
            for number, answers in team.ask(CALL, parts):
                assert (step, number) not in known
                known[step, number] = answers
        return known

    return ModelWork(spec=spec, size=size, sentences=2 * sum(steps), ask=ask)


def answers(spec, steps):
    """What one worker alone would have answered."""
    return {
        (step, n): [f"{spec} {step + n}", f"{spec} {n}"]
        for step, count in enumerate(steps)
        for n in range(count)
    }


@given(
    lives=st.lists(st.integers(0, 8), min_size=1, max_size=4),
    models=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=3), min_size=1, max_size=5),
    order=st.lists(st.integers(0, 10), max_size=80),
)
def test_every_part_of_every_model_comes_once_or_the_run_stops(lives, models, order):
    """Whoever dies when: nothing is lost, nothing doubled, and it never waits for a dead worker."""
    notes, found, stopped = [], {}, ""
    before = threading.active_count()
    crew = crew_of(Scripted([CARD] * len(lives), lives=lives, order=order), note=notes.append)
    works = [work(f"m{n}", steps, found=found) for n, steps in enumerate(models)]
    try:
        returned = run_concurrently(crew, works)
    except AskingError as error:
        stopped = str(error)
    assert threading.active_count() <= before
    count = sum(map(sum, models))
    for n, steps in enumerate(models):
        right = answers(f"m{n}", steps)
        of_model = found.get(f"m{n}", {})
        assert of_model.items() <= right.items()
        if not stopped:
            assert returned[n] == of_model == right
    if stopped:
        assert stopped.startswith("No worker is left. ")
        assert sum(lives) <= count
        assert len(notes) == len(lives) - 1


@given(
    workers=st.integers(1, 5),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=9),
    order=st.lists(st.integers(0, 10), max_size=80),
)
def test_a_worker_loads_another_model_only_when_its_own_is_asked_all(workers, sizes, order):
    """While there are models that nobody has begun, no worker helps another."""
    hands = Scripted([CARD] * workers, order=order)
    works = [work(f"m{n}", [size]) for n, size in enumerate(sizes)]
    run_concurrently(crew_of(hands), works)
    specs = [spec for _, spec in hands.loads]
    assert set(specs) == {one.spec for one in works}
    assert len(set(hands.loads)) == len(hands.loads), "a worker loaded a model twice"
    if len(sizes) >= workers:
        by_size = sorted(range(len(sizes)), key=lambda n: -sizes[n])
        assert specs[: len(sizes)] == [f"m{n}" for n in by_size]


def test_models_are_spread_by_what_they_take():
    hands = Scripted([CARD] * 4, order=[0, 1, 2, 3] * 50)
    works = [work("small", [4]), work("large", [4], size=30.0)]
    run_concurrently(crew_of(hands), works)
    assert sorted(hands.loads) == [(0, "large"), (1, "large"), (2, "large"), (3, "small")]


def test_who_has_nothing_left_to_do_helps_where_most_is_left():
    hands = Scripted([CARD] * 2, order=[0, 1] * 100)
    run_concurrently(crew_of(hands), [work("short", [2]), work("long", [40])])
    assert hands.loads == [(0, "long"), (1, "short"), (1, "long")]
    assert hands.asked.count(1) > 10
    hands = Scripted([CARD] * 2, order=[0, 1] * 100)
    run_concurrently(crew_of(hands), [work("short", [2]), work("long", [3])])
    assert len(hands.loads) == 2, "a model was loaded once more for next to nothing"


def test_workers_keep_their_models_from_one_time_to_the_next():
    hands = Scripted([CARD] * 2, order=[0, 1] * 100)
    crew = crew_of(hands)
    for _ in range(2):
        run_concurrently(crew, [work("one", [3]), work("two", [3])])
    assert sorted(hands.loads) == [(0, "one"), (1, "two")]
    run_concurrently(crew, [work("two", [3]), work("one", [2])])
    assert len(hands.loads) == 2


@pytest.mark.parametrize(
    ("weights", "workers", "expected"),
    [
        ([1], 3, [3]),
        ([5, 1], 2, [1, 1]),
        ([5, 1], 4, [3, 1]),
        ([4, 4, 1], 7, [3, 3, 1]),
        ([0, 0], 3, [2, 1]),
    ],
)
def test_so_many_workers_each(weights, workers, expected):
    assert shares(weights, workers) == expected


def test_one_model_s_failure_stops_the_others_where_they_are():
    found, before = {}, threading.active_count()

    def failing(team):
        loaded(team, "bad")
        raise InputError("no such thing")

    works = [
        work("good", [50], found=found),
        ModelWork(spec="bad", size=1.0, sentences=1, ask=failing),
    ]
    with pytest.raises(InputError, match="no such thing"):
        run_concurrently(crew_of(Scripted([CARD] * 2, order=[0, 1] * 100)), works)
    assert threading.active_count() <= before
    assert len(found.get("good", {})) < 50


def test_all_workers_get_work():
    hands = Scripted([CARD] * 3, order=[0, 1, 2] * 6)
    ((found,),) = [run_concurrently(crew_of(hands), [work("m", [12])])]
    assert found == answers("m", [12])
    assert {hands.asked.count(n) for n in range(3)} == {4}


def test_workers_that_cannot_load_are_all_named():
    hands = Scripted([CARD] * 3, models=[IDENTITY, "There is no folder 'm'.", IDENTITY])
    assert message_of(ModelError, run_concurrently, crew_of(hands), [work("m", [1])]) == (
        "1 of 3 workers cannot load 'm'. worker 1: There is no folder 'm'."
    )


def test_a_helper_that_cannot_load_is_named():
    hands = Scripted([CARD] * 2, order=[0, 1] * 100)
    give = hands.give

    def given(worker, task):
        if isinstance(task, Load) and (worker, task.spec) == (1, "long"):
            hands._models[1] = "There is no folder 'long'."
        give(worker, task)

    hands.give = given
    assert message_of(
        ModelError, run_concurrently, crew_of(hands), [work("short", [2]), work("long", [40])]
    ) == ("1 of 2 workers cannot load 'long'. worker 1: There is no folder 'long'.")


def test_workers_that_cannot_start_are_all_named():
    class Failing(Scripted):
        def take(self):
            outcome = super().take()
            return replace(outcome, failure="no GPU") if outcome.worker else outcome

    assert message_of(ModelError, crew_of, Failing([CARD] * 3)) == (
        "2 of 3 workers cannot start. worker 1: no GPU worker 2: no GPU"
    )


@pytest.mark.parametrize("field", ["weights_sha256", "tokenizer_sha256", "revision"])
def test_other_files_are_refused_even_where_hardware_may_be_mixed(field):
    other = replace(IDENTITY, **{field: "other"})
    hands = Scripted([CARD] * 2, models=[IDENTITY, other])
    assert message_of(
        ModelError, run_concurrently, crew_of(hands, mixed=True), [work("m", [1])]
    ) == (
        "The files of 'm' are not the same for worker 0 and for worker 1: they differ in their "
        f"{field.replace('_', ' ')}. Copy the model anew to one of them."
    )


def test_other_versions_are_refused():
    other = replace(CARD, versions={"torch": "3"})
    assert message_of(InputError, crew_of, Scripted([CARD, other]), mixed=True) == (
        "The workers have other versions of packages: worker 0 has torch 2; worker 1 has torch 3. "
        "Install the same on both."
    )


def test_other_hardware_is_refused_unless_it_is_allowed():
    assert message_of(InputError, crew_of, Scripted([CARD, A100])) == (
        "The workers are on unlike hardware: worker 0 on NVIDIA H200, worker 1 on NVIDIA A100. "
        "Their answers may differ in the last digits. Choose workers that are alike, or allow it: "
        "--allow-mixed-hardware"
    )
    for cards in ([CARD, A100], [A100, CARD, A100]):
        works = [ModelWork(spec=spec, size=1, sentences=1, ask=loaded) for spec in ("m", "n")]
        for identity in run_concurrently(crew_of(Scripted(cards), mixed=True), works):
            assert identity.device == "NVIDIA A100 + NVIDIA H200"
            assert identity.notes == (
                "Its answers may come from unlike hardware (NVIDIA A100, NVIDIA H200), so their "
                "last digits may differ.",
            )


def test_models_stand_in_the_order_in_which_they_were_named():
    """Whichever was loaded first, and whether or not the run had been stopped before."""

    def manifest(*names, measured=False):
        tables = {"scores.parquet": ["x"]} if measured else {}
        return Manifest(models=dict.fromkeys(names), answers=dict.fromkeys(names), tables=tables)

    def ordered(now, names, before):
        found = in_order(now, names, before=before)
        assert list(found.models) == list(found.answers)
        return "".join(found.models)

    assert ordered(manifest(*"CAB"), "ABC", manifest()) == "ABC"
    assert ordered(manifest(*"CAB"), "ABC", manifest("C")) == "ABC"
    assert ordered(manifest(*"XCAB"), "ABC", manifest(*"XC")) == "XABC"
    assert ordered(manifest(*"BXA"), "AB", manifest(*"AXB")) == "AXB"
    measured = manifest(*"BA", measured=True)
    assert ordered(manifest(*"BADC"), "ACBD", measured) == "BACD"


def test_a_run_s_later_workers_are_on_the_hardware_of_its_first(tmp_path):
    first = with_workers(Manifest(), tmp_path, [CARD, CARD], mixed=False)
    (two,) = first.workers
    assert (two.host, two.device, two.hardware, two.workers) == ("one", "cuda:0", "NVIDIA H200", 2)
    more = with_workers(first, tmp_path, [replace(CARD, host="other")], mixed=False)
    assert [(one.host, one.workers) for one in more.workers] == [("one", 2), ("other", 1)]
    assert message_of(RunError, with_workers, first, tmp_path, [A100], mixed=False) == (
        f"{tmp_path} has answers of workers on NVIDIA H200; now they are on NVIDIA A100. Their "
        "answers may differ in the last digits. Use the same hardware, give another folder with "
        "--output, or allow it: --allow-mixed-hardware"
    )
    assert len(with_workers(first, tmp_path, [A100], mixed=True).workers) == 2

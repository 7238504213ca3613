"""The workers of an audit, and the groups of them that ask one model each.

The tasks of a lost worker are given to the others; scheduler.py decides who asks which model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from goffman.errors import AskingError, InputError, ModelError
from goffman.workers.protocol import Ask, ComparePrecision, Handshake, Load, Task

if TYPE_CHECKING:
    from goffman.models.base import Identity
    from goffman.models.registry import Sample
    from goffman.workers.protocol import Call, TaskResult, WorkerInfo

ASK_AGAIN = "All answers so far are kept. To resume, run the same command again."

SAME = ("weights_sha256", "tokenizer_sha256", "revision")
"""The fields of an Identity that identify a model's files."""


class ModelGroup:
    """A group of workers that ask one model, without regard to groups that ask others."""

    def __init__(self, pool: WorkerPool, wait: Callable[[], None]) -> None:
        """Begin with no workers; ``wait`` returns when one of them did something, or is lost."""
        self.pool, self._wait = pool, wait
        self.workers: list[int] = []
        """All workers that are to have the model, including those that still load it."""
        self.task: Load | None = None
        """How the model is loaded, once that is known."""
        self.identities: dict[int, Identity] = {}
        """By worker that has the model: its identity."""
        self.refused: dict[int, str] = {}
        """By worker that cannot load the model: why."""
        self.waiting: deque[tuple[int, Ask | ComparePrecision]] = deque()
        """The tasks that no worker was given yet, each with its number."""
        self._done: deque[tuple[int, TaskResult]] = deque()

    def __len__(self) -> int:
        return len(self.identities)

    @property
    def sentences(self) -> int:
        """Return the number of sentences not yet given to a worker."""
        parts = (task.batches for _, task in self.waiting if isinstance(task, Ask))
        return sum(len(batch) for batches in parts for batch in batches)

    def load(self, task: Load) -> Identity:
        """Load the model on all workers of the group, and return its identity."""
        self.task = task
        for worker in self.workers:
            self.recall(worker)
        while not self.identities or not self._settled:
            self._wait()
            if self._settled:
                self._check()
        self._check()
        return self.pool.identity(next(iter(self.identities.values())))

    @property
    def _settled(self) -> bool:
        return len(self.identities) + len(self.refused) == len(self.workers)

    def recall(self, worker: int) -> None:
        """Note the model's identity if the worker has loaded it earlier."""
        loaded = self.pool.has.get(worker)
        if loaded is not None and loaded[0] == self.task:
            self.identities[worker] = loaded[1]

    def deviation(self, sample: Sample) -> Mapping[str, Any] | None:
        """Return how far answers are from those in float32, as one worker measures it."""
        ((_, deviation),) = self._answered([(0, ComparePrecision(sample=sample))])
        return deviation  # type: ignore[no-any-return]

    def ask(
        self, call: Call, parts: Iterable[tuple[int, Sequence[Sequence[Any]]]]
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield each part's number and answers, batch by batch, as they arrive.

        ``parts``: their numbers and batches; those of a lost worker are given to another.
        """
        return self._answered(
            [(number, Ask(call=call, batches=batches)) for number, batches in parts]
        )

    def _answered(
        self, tasks: Sequence[tuple[int, Ask | ComparePrecision]]
    ) -> Iterator[tuple[int, Any]]:
        self.waiting.extend(tasks)
        for _ in tasks:
            while not self._done:
                self._wait()
                self._check()
            number, outcome = self._done.popleft()
            if outcome.failure is not None:
                # The model failed, not the worker: it would fail for the others, too.
                kept = "" if outcome.failure.endswith(ASK_AGAIN) else f" {ASK_AGAIN}"
                name = self.pool.names[outcome.worker]
                raise AskingError(f"{name} failed: {outcome.failure}{kept}")
            yield number, outcome.value

    def hear(self, number: int, task: Task, outcome: TaskResult) -> None:
        """Note the result of a task that a worker had for the group."""
        if not isinstance(task, Load):
            self._done.append((number, outcome))
        elif outcome.failure is not None:
            self.refused[outcome.worker] = outcome.failure
        else:
            self.identities[outcome.worker] = outcome.value

    def lose(self, worker: int, tasks: Sequence[tuple[int, Task]]) -> None:
        """Remove a lost worker from the group; ``tasks``: what it had, which others will get."""
        self.workers.remove(worker)
        self.identities.pop(worker, None)
        self.refused.pop(worker, None)
        for number, task in reversed(tasks):
            if isinstance(task, Ask | ComparePrecision):
                self.waiting.appendleft((number, task))

    def _check(self) -> None:
        """Raise ModelError if not every worker has the same model."""
        spec, names = self.task.spec if self.task else "", self.pool.names
        if self.refused:
            whys = " ".join(f"{names[worker]}: {why}" for worker, why in self.refused.items())
            count = len(self.refused)
            raise ModelError(f"{count} of {len(self.workers)} workers cannot load '{spec}'. {whys}")
        for (first, identity), (worker, other_identity) in pairwise(self.identities.items()):
            for field in SAME:
                if getattr(identity, field) != getattr(other_identity, field):
                    raise ModelError(
                        f"The files of '{spec}' are not the same for {names[first]} and for "
                        f"{names[worker]}: they differ in their {field.replace('_', ' ')}. Copy "
                        "the model anew to one of them."
                    )


def describe_workers(group: ModelGroup | None) -> str:
    """Return the text beside the progress that says how many workers ask."""
    if group is None:
        return ""
    return "1 worker" if len(group) == 1 else f"{len(group)} workers"


AHEAD = 2
"""How many parts a worker has at a time: the next is at hand when one is done."""

MIXED = "Its answers may come from unlike hardware ({}), so their last digits may differ."


class WorkerBackend(Protocol):
    """A way to reach workers by their numbers: as processes, or as actors of Ray."""

    @property
    def names(self) -> Sequence[str]:
        """Return the name of each worker, for the user."""

    def give(self, worker: int, task: Task) -> None:
        """Send the worker a task, which it does after earlier ones."""

    def take(self) -> TaskResult:
        """Return the result of the oldest task of some worker, once there is one.

        For a worker that has ended, only its loss is reported, once, whatever tasks it had.
        """

    def close(self) -> None:
        """End all workers."""


class WorkerPool:
    """All workers, told apart by their numbers."""

    def __init__(self, backend: WorkerBackend, *, note: Callable[[str], None], mixed: bool) -> None:
        """Ask all workers to describe themselves; ``mixed``: they may be on unlike hardware."""
        self._backend, self._note = backend, note
        self.names = backend.names
        self.living = list(range(len(backend.names)))
        self.has: dict[int, tuple[Load, Identity]] = {}
        """By worker: the model that it has, and how it was loaded."""
        self._given: dict[int, deque[tuple[ModelGroup, int, Task]]] = {
            worker: deque() for worker in self.living
        }
        self.cards: dict[int, WorkerInfo] = {}
        """By worker: its description; workers lost at the start are left out."""
        for worker in self.living:
            self._backend.give(worker, Handshake())
        failures, silent = [], {*self.living}
        while silent:
            outcome = self._backend.take()
            silent.discard(outcome.worker)
            if outcome.lost is not None:
                self._forget(outcome, parts=0)
            elif outcome.failure is not None:
                failures.append(f"{self.names[outcome.worker]}: {outcome.failure}")
            else:
                self.cards[outcome.worker] = outcome.value
        if failures:
            whys = " ".join(failures)
            raise ModelError(f"{len(failures)} of {len(self.names)} workers cannot start. {whys}")
        self._check_alike(mixed=mixed)

    def _check_alike(self, *, mixed: bool) -> None:
        """Raise InputError if not all workers would give the same answers."""
        (first, first_card), *further = self.cards.items()
        for worker, other_card in further:
            names = self.names[first], self.names[worker]
            if first_card.versions != other_card.versions:
                versions = [
                    ", ".join(f"{name} {version}" for name, version in card.versions.items())
                    for card in (first_card, other_card)
                ]
                raise InputError(
                    f"The workers have other versions of packages: {names[0]} has {versions[0]}; "
                    f"{names[1]} has {versions[1]}. Install the same on both."
                )
            if first_card.hardware != other_card.hardware and not mixed:
                raise InputError(
                    f"The workers are on unlike hardware: {names[0]} on {first_card.hardware}, "
                    f"{names[1]} on {other_card.hardware}. Their answers may differ in the last "
                    "digits. Choose workers that are alike, or allow it: --allow-mixed-hardware"
                )

    def identity(self, identity: Identity) -> Identity:
        """Return a model's identity for the run, in which any of the workers may get the model."""
        hardware = sorted({card.hardware for card in self.cards.values()})
        if len(hardware) == 1:
            return identity
        device = " + ".join(sorted({card.called for card in self.cards.values()}))
        return replace(
            identity, device=device, notes=(*identity.notes, MIXED.format(", ".join(hardware)))
        )

    def idle(self, worker: int) -> bool:
        """Return whether the worker has nothing to do."""
        return not self._given[worker]

    def step(self, groups: Collection[ModelGroup]) -> ModelGroup | None:
        """Give out all tasks, wait for a worker's result or loss, and return its group.

        Return None if the worker was in no group.
        """
        for group in groups:
            self._give_out(group)
        outcome = self._backend.take()
        queue = self._given[outcome.worker]
        if outcome.lost is None:
            group, number, task = queue.popleft()
            if isinstance(task, Load) and outcome.failure is None:
                self.has[outcome.worker] = (task, outcome.value)
            group.hear(number, task, outcome)
            return group
        owner = next((group for group in groups if outcome.worker in group.workers), None)
        tasks = [(number, task) for group, number, task in queue if group is owner]
        if owner is not None:
            owner.lose(outcome.worker, tasks)
        self._forget(outcome, parts=sum(not isinstance(task, Load) for _, task in tasks))
        return owner

    def _give_out(self, group: ModelGroup) -> None:
        """Have the group's workers load the model, then give each a part before any gets two."""
        if group.task is None:
            return
        for worker in group.workers:
            informed = worker in group.identities or worker in group.refused
            if not informed and self.idle(worker):
                self.has.pop(worker, None)
                self._give(worker, group, 0, group.task)
        for worker in sorted(
            [*group.identities] * AHEAD, key=lambda number: len(self._given[number])
        ):
            if group.waiting and len(self._given[worker]) < AHEAD:
                self._give(worker, group, *group.waiting.popleft())

    def _give(self, worker: int, group: ModelGroup, number: int, task: Task) -> None:
        self._given[worker].append((group, number, task))
        self._backend.give(worker, task)

    def _forget(self, outcome: TaskResult, *, parts: int) -> None:
        """Remove a lost worker from the pool; raise AskingError if it was the last."""
        who = self.names[outcome.worker]
        self.living.remove(outcome.worker)
        self._given[outcome.worker].clear()
        remark = f" The others ask its {parts} unfinished parts again." if parts else ""
        if not self.living:
            raise AskingError(
                f"No worker is left. The last one was {who}: {outcome.lost}. If it was not you who "
                f"ended it, the machine may have too little memory. {ASK_AGAIN} You can resume "
                "with other workers or without."
            )
        self._note(f"Lost {who}: {outcome.lost}.{remark} Workers left: {len(self.living)}.")

    def close(self) -> None:
        """End all workers."""
        self._backend.close()

"""The workers of an audit, and the groups of them that ask one model each.

What a lost worker had is given to the others; scheduler.py decides who asks which model.
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
    from goffman.models.precision_deviation import Sample
    from goffman.workers.protocol import Call, TaskResult, WorkerInfo

ASK_AGAIN = "All answers so far are kept. To resume, run the same command again."

SAME = ("weights_sha256", "tokenizer_sha256", "revision")
"""What a model's files are known by."""


class ModelGroup:
    """Asks one model; what it asks may be written as if nobody else asked another."""

    def __init__(self, crew: WorkerPool, wait: Callable[[], None]) -> None:
        """``wait``: returns when a worker of the team has done something, or is lost."""
        self.crew, self._wait = crew, wait
        self.workers: list[int] = []
        """All that are to have the model, also those that still load it."""
        self.task: Load | None = None
        """How it is loaded, once that is known."""
        self.identities: dict[int, Identity] = {}
        """Of the workers that have it."""
        self.refused: dict[int, str] = {}
        """Of the workers that cannot load it: why."""
        self.waiting: deque[tuple[int, Ask | ComparePrecision]] = deque()
        """What no worker was given as yet, each with its number."""
        self._done: deque[tuple[int, TaskResult]] = deque()

    def __len__(self) -> int:
        return len(self.identities)

    @property
    def sentences(self) -> int:
        """How many no worker was given as yet."""
        asked = (task.batches for _, task in self.waiting if isinstance(task, Ask))
        return sum(len(batch) for batches in asked for batch in batches)

    def load(self, task: Load) -> Identity:
        """Which model all workers of the team have now."""
        self.task = task
        for worker in self.workers:
            self.recall(worker)
        while not self.identities or not self._settled:
            self._wait()
            if self._settled:
                self._check()
        self._check()
        return self.crew.identity(next(iter(self.identities.values())))

    @property
    def _settled(self) -> bool:
        return len(self.identities) + len(self.refused) == len(self.workers)

    def recall(self, worker: int) -> None:
        """Where the worker has the model from before, the team knows it."""
        known = self.crew.has.get(worker)
        if known is not None and known[0] == self.task:
            self.identities[worker] = known[1]

    def deviation(self, sample: Sample) -> Mapping[str, Any] | None:
        """How far the model is from itself in float32, as one worker finds."""
        ((_, deviation),) = self._answered([(0, ComparePrecision(sample=sample))])
        return deviation  # type: ignore[no-any-return]

    def ask(
        self, call: Call, parts: Iterable[tuple[int, Sequence[Sequence[Any]]]]
    ) -> Iterator[tuple[int, list[Any]]]:
        """Each part's number and answers, batch by batch, in the order in which they come.

        ``parts``: their numbers and batches; what a lost worker had is given to another.
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
                # A failure of a model's, not of a worker's: it would meet the others, too.
                kept = "" if outcome.failure.endswith(ASK_AGAIN) else f" {ASK_AGAIN}"
                name = self.crew.names[outcome.worker]
                raise AskingError(f"{name} failed: {outcome.failure}{kept}")
            yield number, outcome.value

    def hear(self, number: int, task: Task, outcome: TaskResult) -> None:
        """The team knows what became of a task that a worker had for it."""
        if not isinstance(task, Load):
            self._done.append((number, outcome))
        elif outcome.failure is not None:
            self.refused[outcome.worker] = outcome.failure
        else:
            self.identities[outcome.worker] = outcome.value

    def lose(self, worker: int, tasks: Sequence[tuple[int, Task]]) -> None:
        """The worker is of the team no more; ``tasks``: what it had, which others will get."""
        self.workers.remove(worker)
        self.identities.pop(worker, None)
        self.refused.pop(worker, None)
        for number, task in reversed(tasks):
            if isinstance(task, Ask | ComparePrecision):
                self.waiting.appendleft((number, task))

    def _check(self) -> None:
        """Nothing, or the error that not every worker has the model."""
        spec, names = self.task.spec if self.task else "", self.crew.names
        if self.refused:
            whys = " ".join(f"{names[worker]}: {why}" for worker, why in self.refused.items())
            count = len(self.refused)
            raise ModelError(f"{count} of {len(self.workers)} workers cannot load '{spec}'. {whys}")
        for (first, one), (worker, other) in pairwise(self.identities.items()):
            for what in SAME:
                if getattr(one, what) != getattr(other, what):
                    raise ModelError(
                        f"The files of '{spec}' are not the same for {names[first]} and for "
                        f"{names[worker]}: they differ in their {what.replace('_', ' ')}. Copy "
                        "the model anew to one of them."
                    )


def describe_workers(team: ModelGroup | None) -> str:
    """How many workers ask, as it is shown beside how far they are."""
    if team is None:
        return ""
    return "1 worker" if len(team) == 1 else f"{len(team)} workers"


AHEAD = 2
"""Parts that a worker has at a time: the next is there when one is done."""

MIXED = "Its answers may come from unlike hardware ({}), so their last digits may differ."


class WorkerBackend(Protocol):
    """Workers as they can be reached, by their numbers: processes, or actors of Ray."""

    @property
    def names(self) -> Sequence[str]:
        """Of each worker, for the user."""

    def give(self, worker: int, task: Task) -> None:
        """The worker will do it after what it was given before."""

    def take(self) -> TaskResult:
        """What became of the task that some worker was given first, once there is something.

        Of a worker that has ended only this is said, once, whatever it was given.
        """

    def close(self) -> None:
        """No worker is left."""


class WorkerPool:
    """All workers; they are told apart by their numbers."""

    def __init__(self, hands: WorkerBackend, *, note: Callable[[str], None], mixed: bool) -> None:
        """``mixed``: whether the workers may be on unlike hardware."""
        self._hands, self._note = hands, note
        self.names = hands.names
        self.living = list(range(len(hands.names)))
        self.has: dict[int, tuple[Load, Identity]] = {}
        """By worker: the model that it has."""
        self._given: dict[int, deque[tuple[ModelGroup, int, Task]]] = {
            worker: deque() for worker in self.living
        }
        self.cards: dict[int, WorkerInfo] = {}
        """Of the workers that were there at first; a lost one is left out."""
        for worker in self.living:
            self._hands.give(worker, Handshake())
        failed, silent = [], {*self.living}
        while silent:
            outcome = self._hands.take()
            silent.discard(outcome.worker)
            if outcome.lost is not None:
                self._forget(outcome, parts=0)
            elif outcome.failure is not None:
                failed.append(f"{self.names[outcome.worker]}: {outcome.failure}")
            else:
                self.cards[outcome.worker] = outcome.value
        if failed:
            whys = " ".join(failed)
            raise ModelError(f"{len(failed)} of {len(self.names)} workers cannot start. {whys}")
        self._check_alike(mixed=mixed)

    def _check_alike(self, *, mixed: bool) -> None:
        """Nothing, or the error that not all workers would give the same answers."""
        (first, one), *others = self.cards.items()
        for worker, other in others:
            names = self.names[first], self.names[worker]
            if one.versions != other.versions:
                has = [
                    ", ".join(f"{name} {version}" for name, version in card.versions.items())
                    for card in (one, other)
                ]
                raise InputError(
                    f"The workers have other versions of packages: {names[0]} has {has[0]}; "
                    f"{names[1]} has {has[1]}. Install the same on both."
                )
            if one.hardware != other.hardware and not mixed:
                raise InputError(
                    f"The workers are on unlike hardware: {names[0]} on {one.hardware}, "
                    f"{names[1]} on {other.hardware}. Their answers may differ in the last "
                    "digits. Choose workers that are alike, or allow it: --allow-mixed-hardware"
                )

    def identity(self, of_one: Identity) -> Identity:
        """A model as the run knows it: whichever workers have it, any of them may get it."""
        hardware = sorted({card.hardware for card in self.cards.values()})
        if len(hardware) == 1:
            return of_one
        device = " + ".join(sorted({card.called for card in self.cards.values()}))
        return replace(
            of_one, device=device, notes=(*of_one.notes, MIXED.format(", ".join(hardware)))
        )

    def idle(self, worker: int) -> bool:
        """Whether the worker has nothing to do."""
        return not self._given[worker]

    def step(self, teams: Collection[ModelGroup]) -> ModelGroup | None:
        """The team one of whose workers has done something or is lost, once one has.

        Before, all of them are given what there is.
        """
        for team in teams:
            self._give_out(team)
        outcome = self._hands.take()
        given = self._given[outcome.worker]
        if outcome.lost is None:
            team, number, task = given.popleft()
            if isinstance(task, Load) and outcome.failure is None:
                self.has[outcome.worker] = (task, outcome.value)
            team.hear(number, task, outcome)
            return team
        loser = next((team for team in teams if outcome.worker in team.workers), None)
        tasks = [(number, task) for team, number, task in given if team is loser]
        if loser is not None:
            loser.lose(outcome.worker, tasks)
        self._forget(outcome, parts=sum(not isinstance(task, Load) for _, task in tasks))
        return loser

    def _give_out(self, team: ModelGroup) -> None:
        """The team's workers have the model to load, and then parts: one each before a second."""
        if team.task is None:
            return
        for worker in team.workers:
            knows = worker in team.identities or worker in team.refused
            if not knows and self.idle(worker):
                self.has.pop(worker, None)
                self._give(worker, team, 0, team.task)
        for worker in sorted([*team.identities] * AHEAD, key=lambda one: len(self._given[one])):
            if team.waiting and len(self._given[worker]) < AHEAD:
                self._give(worker, team, *team.waiting.popleft())

    def _give(self, worker: int, team: ModelGroup, number: int, task: Task) -> None:
        self._given[worker].append((team, number, task))
        self._hands.give(worker, task)

    def _forget(self, outcome: TaskResult, *, parts: int) -> None:
        """A lost worker is not given anything again; AskingError where it was the last."""
        who = self.names[outcome.worker]
        self.living.remove(outcome.worker)
        self._given[outcome.worker].clear()
        again = f" The others ask its {parts} unfinished parts again." if parts else ""
        if not self.living:
            raise AskingError(
                f"No worker is left. The last one was {who}: {outcome.lost}. If it was not you who "
                f"ended it, the machine may have too little memory. {ASK_AGAIN} You can resume "
                "with other workers or without."
            )
        self._note(f"Lost {who}: {outcome.lost}.{again} Workers left: {len(self.living)}.")

    def close(self) -> None:
        """No worker is left."""
        self._hands.close()

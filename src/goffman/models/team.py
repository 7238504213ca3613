"""The workers that have one model, as those know them who ask it.

Which workers these are, spread.py decides; crew.py gives them what the team has for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from goffman.errors import AskingError, ModelError
from goffman.models.tasks import Ask, Deviate, Load, Task

if TYPE_CHECKING:
    from goffman.models.base import Identity
    from goffman.models.crew import Crew
    from goffman.models.precision import Sample
    from goffman.models.tasks import Call, Outcome

Part = tuple[int, Sequence[Sequence[Any]]]
"""A part's number, and its batches."""

ASK_AGAIN = "All answers so far are kept. To resume, run the same command again."

SAME = ("weights_sha256", "tokenizer_sha256", "revision")
"""What a model's files are known by."""


class Team:
    """Asks one model; what it asks may be written as if nobody else asked another."""

    def __init__(self, crew: Crew, wait: Callable[[], None]) -> None:
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
        self.waiting: deque[tuple[int, Ask | Deviate]] = deque()
        """What no worker was given as yet, each with its number."""
        self._done: deque[tuple[int, Outcome]] = deque()

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
        found: Mapping[str, Any] | None
        ((_, found),) = self._answered([(0, Deviate(sample=sample))])
        return found

    def ask(self, call: Call, parts: Iterable[Part]) -> Iterator[tuple[int, list[Any]]]:
        """Each part's number and answers, batch by batch, in the order in which they come.

        What a lost worker had is given to another.
        """
        return self._answered(
            [(number, Ask(call=call, batches=batches)) for number, batches in parts]
        )

    def _answered(self, tasks: Sequence[tuple[int, Ask | Deviate]]) -> Iterator[tuple[int, Any]]:
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

    def hear(self, number: int, task: Task, outcome: Outcome) -> None:
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
            if isinstance(task, Ask | Deviate):
                self.waiting.appendleft((number, task))

    def _check(self) -> None:
        """Nothing, or the error that not every worker has the model."""
        spec, names = self.task.spec if self.task else "", self.crew.names
        if self.refused:
            said = " ".join(f"{names[worker]}: {why}" for worker, why in self.refused.items())
            count = len(self.refused)
            raise ModelError(f"{count} of {len(self.workers)} workers cannot load '{spec}'. {said}")
        known = list(self.identities.items())
        for (first, one), (worker, other) in pairwise(known):
            for what in SAME:
                if getattr(one, what) != getattr(other, what):
                    raise ModelError(
                        f"The files of '{spec}' are not the same for {names[first]} and for "
                        f"{names[worker]}: they differ in their {what.replace('_', ' ')}. Copy "
                        "the model anew to one of them."
                    )

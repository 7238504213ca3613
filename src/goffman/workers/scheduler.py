"""Several models asked at once: which worker has which, the largest work first."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.models.files import files_of
from goffman.models.registry import model_kinds
from goffman.workers.pool import ModelGroup

if TYPE_CHECKING:
    from goffman.models.base import LoadOptions
    from goffman.workers.pool import WorkerPool


class Cancelled(BaseException):
    """What a piece of work meets where it waits in vain: another one has failed."""


class Task:
    """One of several pieces of work that take turns: each goes on until it must wait for others.

    They are threads of which one runs at a time, so what they share needs no lock, and each is
    written as if it were alone.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._may_go_on, self._waits = threading.Semaphore(0), threading.Semaphore(0)
        self._stopped = False
        self._error: BaseException | None = None
        self.ended = False
        self.value: Any = None
        """What the work came to, once it has ended."""
        # In the context of whoever began it: notebooks know by that where to show things. A second
        # Ctrl-C ends the process, whatever the work is at.
        within = contextvars.copy_context().run
        self._thread = threading.Thread(target=within, args=(self._run,), daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._go_on_when_told()
            self.value = self._work()
        except BaseException as error:  # noqa: BLE001 - raised where the work is told to go on
            self._error = error
        self.ended = True
        self._waits.release()

    def go_on(self) -> None:
        """The work went on until it had to wait, or ended; its error is raised."""
        self._may_go_on.release()
        self._waits.acquire()
        if self._error is not None:
            raise self._error

    def wait(self) -> None:
        """Called by the work itself: the others have gone on in the meantime."""
        self._waits.release()
        self._go_on_when_told()

    def _go_on_when_told(self) -> None:
        self._may_go_on.acquire()
        if self._stopped:
            raise Cancelled

    def stop(self) -> None:
        """The work has ended, where it waits or would have waited next."""
        self._stopped = True
        self._may_go_on.release()
        self._thread.join()


@dataclass(frozen=True, kw_only=True)
class ModelWork:
    """All that one model is to be asked."""

    spec: str
    """The model, as the user named it."""
    size: float
    """About how many parameters it has."""
    sentences: int
    """About how many it is still to be asked."""
    ask: Callable[[ModelGroup], Any]
    """Has the model loaded and asked by the workers of a team."""

    @property
    def weight(self) -> float:
        """What it takes, in no unit."""
        return self.size * self.sentences


def run_concurrently(crew: WorkerPool, works: Sequence[ModelWork]) -> list[Any]:
    """What each work comes to, in their order."""
    return _Scheduler(crew, works).done()


def shares(weights: Sequence[float], workers: int) -> list[int]:
    """How many workers each of the works gets: one at least, and more where more is to be done.

    ``weights``: not more of them than workers, the largest first.
    """
    counts = [1] * len(weights)
    for _ in range(workers - len(weights)):
        most = max(range(len(weights)), key=lambda work: weights[work] / counts[work])
        counts[most] += 1
    return counts


class _Scheduler:
    """A worker keeps its model until that is asked all; then it takes the next that is not begun.

    Where there is none it helps with the model that has the most left.
    """

    def __init__(self, crew: WorkerPool, works: Sequence[ModelWork]) -> None:
        self._crew, self._works = crew, works
        self._todo = sorted(range(len(works)), key=lambda number: -works[number].weight)
        self._going: dict[ModelGroup, tuple[int, Task]] = {}
        self._found: dict[int, Any] = {}

    def done(self) -> list[Any]:
        try:
            self._begin()
            while self._todo or self._going:
                team = self._crew.step(self._going)
                if team in self._going:
                    self._go_on(team)
                self._occupy_all()
        finally:
            for _, turn in self._going.values():
                turn.stop()
        return [self._found[number] for number in range(len(self._works))]

    def _free(self) -> list[tuple[int, str | None]]:
        """The workers without a team, each with the model that it has from before."""
        taken = {worker for team in self._going for worker in team.workers}
        has = {worker: task.spec for worker, (task, _) in self._crew.has.items()}
        return [
            (worker, has.get(worker))
            for worker in self._crew.living
            if worker not in taken and self._crew.idle(worker)
        ]

    def _begin(self) -> None:
        """Every worker has a model: where there are fewer models, the larger have several."""
        first = self._todo[: len(self._crew.living)]
        sizes = shares([self._works[number].weight for number in first], len(self._crew.living))
        for number, size in zip(first, sizes, strict=True):
            spec = self._works[number].spec
            awaited = {self._works[other].spec for other in self._todo}
            # Those that have it from before; then those whose model nobody else is waiting for.
            free = sorted(self._free(), key=lambda one: (one[1] != spec, one[1] in awaited))
            self._start(number, [worker for worker, _ in free[:size]])
        self._occupy_all()

    def _start(self, number: int, workers: Sequence[int]) -> None:
        self._todo.remove(number)
        turn = Task(lambda: self._works[number].ask(team))
        team = ModelGroup(self._crew, turn.wait)
        team.workers.extend(workers)
        self._going[team] = (number, turn)
        self._go_on(team)

    def _go_on(self, team: ModelGroup) -> None:
        number, turn = self._going[team]
        turn.go_on()
        if turn.ended:
            self._found[number] = turn.value
            del self._going[team]

    def _occupy_all(self) -> None:
        while any(self._occupy(worker, spec) for worker, spec in self._free()):
            pass

    def _occupy(self, worker: int, spec: str | None) -> bool:
        """Whether there was something for a worker that has nothing to do."""
        left = [team for team in self._going if not team.workers]
        if not left and self._todo:
            its_own = [number for number in self._todo if self._works[number].spec == spec]
            self._start((its_own or self._todo)[0], [worker])
            return True
        # A model is loaded once more only where every worker has a part to ask then.
        left = left or [team for team in self._going if len(team.waiting) > len(team.workers)]
        if not left:
            return False

        def left_to_each(team: ModelGroup) -> float:
            number, _ = self._going[team]
            return self._works[number].size * team.sentences / max(1, len(team.workers))

        team = max(left, key=left_to_each)
        team.workers.append(worker)
        team.recall(worker)
        return True


def parameters_of(spec: str, *, kind: str, options: LoadOptions) -> float:
    """About how many parameters a model has, by its configuration; 1 where that does not say.

    A layer of a transformer of width h has about 12 h²: 4 in its attention, 8 in what follows it.
    """
    if model_kinds()[kind].takes is not None:
        return 1.0
    from goffman.models.torch_common import read_config

    files = files_of(spec, weights=False, fetched=options.fetched)
    config = read_config(files, options).get_text_config()
    names = ("num_hidden_layers", "hidden_size", "vocab_size")
    layers, width, words = (getattr(config, name, None) for name in names)
    if not layers or not width:
        return 1.0
    return float(12 * layers * width**2 + (words or 0) * width)

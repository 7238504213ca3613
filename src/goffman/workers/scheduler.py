"""Several models asked at once: which worker has which model, the largest work first."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.models.files import files_of
from goffman.models.registry import model_kinds
from goffman.workers.pool import ModelGroup

if TYPE_CHECKING:
    from goffman.models.base import LoadOptions
    from goffman.workers.pool import WorkerPool


class Cancelled(BaseException):
    """The exception that ends a waiting piece of work after another one has failed."""


class Task:
    """One of several pieces of work that take turns: each runs until it must wait.

    They are threads of which one runs at a time, so what they share needs no lock, and each is
    written as if it were alone.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._may_go_on, self._waits = threading.Semaphore(0), threading.Semaphore(0)
        self._stopped = False
        self.result: Future[Any] = Future()
        """What the work returns, or its error, once it has ended."""
        # In the context of the caller, which tells notebooks where to show things. A second Ctrl-C
        # ends the process, whatever the work is doing.
        run_in_context = contextvars.copy_context().run
        self._thread = threading.Thread(target=run_in_context, args=(self._run,), daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._go_on_when_told()
            self.result.set_result(self._work())
        except BaseException as error:  # noqa: BLE001 - raised where the work is told to go on
            self.result.set_exception(error)
        self._waits.release()

    def go_on(self) -> None:
        """Let the work go on until it has to wait, or ends; raise its error."""
        self._may_go_on.release()
        self._waits.acquire()
        if self.result.done():
            self.result.result()

    def wait(self) -> None:
        """Let other work run until this task is continued; called by the work itself."""
        self._waits.release()
        self._go_on_when_told()

    def _go_on_when_told(self) -> None:
        self._may_go_on.acquire()
        if self._stopped:
            raise Cancelled

    def stop(self) -> None:
        """End the work where it waits, or where it would wait next."""
        self._stopped = True
        self._may_go_on.release()
        self._thread.join()


@dataclass(frozen=True, kw_only=True)
class ModelWork:
    """Everything that one model is to be asked."""

    spec: str
    """The model, as the user named it."""
    size: float
    """About how many parameters it has."""
    sentences: int
    """About how many sentences it is still to be asked."""
    ask: Callable[[ModelGroup], Any]
    """Loads and asks the model with the workers of a group."""

    @property
    def weight(self) -> float:
        """Return the amount of work, as a number to compare with other work."""
        return self.size * self.sentences


def run_concurrently(pool: WorkerPool, works: Sequence[ModelWork]) -> list[Any]:
    """Return the result of each work, in their order."""
    return _Scheduler(pool, works).done()


def shares(weights: Sequence[float], workers: int) -> list[int]:
    """Return the number of workers for each work: at least one, more for larger ones.

    ``weights``: not more of them than workers, the largest first.
    """
    counts = [1] * len(weights)
    for _ in range(workers - len(weights)):
        heaviest = max(range(len(weights)), key=lambda work: weights[work] / counts[work])
        counts[heaviest] += 1
    return counts


class _Scheduler:
    """The workers' turns: each keeps its model until all is asked, then takes the next not begun.

    If there is none, it helps with the model that has the most left.
    """

    def __init__(self, pool: WorkerPool, works: Sequence[ModelWork]) -> None:
        self._pool, self._works = pool, works
        self._todo = sorted(range(len(works)), key=lambda number: -works[number].weight)
        self._going: dict[ModelGroup, tuple[int, Task]] = {}
        self._found: dict[int, Any] = {}

    def done(self) -> list[Any]:
        try:
            self._begin()
            while self._todo or self._going:
                group = self._pool.step(self._going)
                if group in self._going:
                    self._go_on(group)
                self._occupy_all()
        finally:
            for _, task in self._going.values():
                task.stop()
        return [self._found[number] for number in range(len(self._works))]

    def _free(self) -> list[tuple[int, str | None]]:
        """Return the workers without a group, each with the model that it has from before."""
        busy = {worker for group in self._going for worker in group.workers}
        models = {worker: task.spec for worker, (task, _) in self._pool.has.items()}
        return [
            (worker, models.get(worker))
            for worker in self._pool.living
            if worker not in busy and self._pool.idle(worker)
        ]

    def _begin(self) -> None:
        """Give every worker a model: if there are fewer models, the larger have several workers."""
        first = self._todo[: len(self._pool.living)]
        sizes = shares([self._works[number].weight for number in first], len(self._pool.living))
        for number, size in zip(first, sizes, strict=True):
            spec = self._works[number].spec
            awaited = {self._works[work].spec for work in self._todo}
            # Workers that have the model from before, then those whose model no work waits for.
            free = sorted(self._free(), key=lambda entry: (entry[1] != spec, entry[1] in awaited))
            self._start(number, [worker for worker, _ in free[:size]])
        self._occupy_all()

    def _start(self, number: int, workers: Sequence[int]) -> None:
        self._todo.remove(number)
        task = Task(lambda: self._works[number].ask(group))
        group = ModelGroup(self._pool, task.wait)
        group.workers.extend(workers)
        self._going[group] = (number, task)
        self._go_on(group)

    def _go_on(self, group: ModelGroup) -> None:
        number, task = self._going[group]
        task.go_on()
        if task.result.done():
            self._found[number] = task.result.result()
            del self._going[group]

    def _occupy_all(self) -> None:
        while any(self._occupy(worker, spec) for worker, spec in self._free()):
            pass

    def _occupy(self, worker: int, spec: str | None) -> bool:
        """Give an idle worker a model with work left; return False if there is none."""
        candidates = [group for group in self._going if not group.workers]
        if not candidates and self._todo:
            same_model = [number for number in self._todo if self._works[number].spec == spec]
            self._start((same_model or self._todo)[0], [worker])
            return True
        # A model is loaded once more only if every worker then has a part to ask.
        candidates = candidates or [
            group for group in self._going if len(group.waiting) > len(group.workers)
        ]
        if not candidates:
            return False

        def left_to_each(group: ModelGroup) -> float:
            number, _ = self._going[group]
            return self._works[number].size * group.sentences / max(1, len(group.workers))

        group = max(candidates, key=left_to_each)
        group.workers.append(worker)
        group.recall(worker)
        return True


def parameters_of(spec: str, *, kind: str, options: LoadOptions) -> float:
    """Return about how many parameters a model has, by its configuration; 1 if unknown.

    A layer of a transformer of width h has about 12 h²: 4 in its attention, 8 in what follows it.
    """
    if model_kinds()[kind].takes is not None:
        return 1.0
    from goffman.models.torch_common import read_config

    files = files_of(spec, weights=False, fetched=options.fetched)
    config = read_config(files, options).get_text_config()
    names = ("num_hidden_layers", "hidden_size", "vocab_size")
    layers, width, vocabulary = (getattr(config, name, None) for name in names)
    if not layers or not width:
        return 1.0
    return float(12 * layers * width**2 + (vocabulary or 0) * width)

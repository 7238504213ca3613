"""What a worker is told and what it says: it holds one model, gets token ids and returns arrays."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from goffman.models.base import Later
from goffman.models.batching import ahead

if TYPE_CHECKING:
    from goffman.models.precision_deviation import Sample
    from goffman.models.registry import Loading

AHEAD = 3
"""So many batches wait at a GPU: it is busy while the host has something else to do. They take
memory one after the other; what waits are token ids and the most probable words."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """How a model is asked a batch, whoever asks it: a method, and what it is told beside it."""

    method: str
    """As in base.py: fill_batch, next_word.options …"""
    told: Mapping[str, Any] = field(default_factory=dict)

    def of(self, model: Any, batch: Sequence[Any]) -> Any:
        """The model's answers to the batch."""
        return attrgetter(self.method)(model)(batch, **self.told)

    def each(self, model: Any, batches: Iterable[Sequence[Any]]) -> Iterator[Callable[[], Any]]:
        """For each batch what gives its answers, or fails; the next batches are begun by then."""
        # Of the class: what wraps a model and asks it in another way has no such method.
        several = getattr(type(model), "several", None)
        copies = [model] if several is None else several(model)
        if len(copies) > 1:
            return self._by_threads(copies, batches)
        return self._ahead(model, batches)

    def _by_threads(
        self, copies: Sequence[Any], batches: Iterable[Sequence[Any]]
    ) -> Iterator[Callable[[], Any]]:
        """As ``each``, where every copy of the model has a thread."""
        import torch

        idle: SimpleQueue[Any] = SimpleQueue()
        for copy in copies:
            idle.put(copy)

        def asked(batch: Sequence[Any]) -> Any:
            model = idle.get()
            try:
                return self.of(model, batch)
            finally:
                idle.put(model)

        threads = torch.get_num_threads()
        pool = ThreadPoolExecutor(
            len(copies), initializer=torch.set_num_threads, initargs=(threads // len(copies),)
        )
        try:
            for answers in ahead((pool.submit(asked, batch) for batch in batches), len(copies)):
                yield answers.result
        finally:
            pool.shutdown(cancel_futures=True)
            # A new thread takes the number that was set last, whoever set it.
            torch.set_num_threads(threads)

    def _ahead(self, model: Any, batches: Iterable[Sequence[Any]]) -> Iterator[Callable[[], Any]]:
        """As ``each``, where a GPU has the next batches."""
        begun: deque[Callable[[], Any]] = deque()
        for batch in batches:
            begun.append(self._begun(model, batch))
            # A slow host writes answers that are there before it gives the next batch.
            while begun and (
                len(begun) > AHEAD or (isinstance(begun[0], Later) and begun[0].there())
            ):
                yield begun.popleft()
        yield from begun

    def _begun(self, model: Any, batch: Sequence[Any]) -> Callable[[], Any]:
        """What gives the model's answers to the batch; a GPU is at work on them."""
        later = getattr(type(model), f"{self.method}_later", None)
        if later is None or model.identity.device == "cpu":
            return partial(self.of, model, batch)
        try:
            return later(model, batch, **self.told)  # type: ignore[no-any-return]
        except Exception as error:  # noqa: BLE001 - raised where the answers are wanted
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return failed.result


@dataclass(frozen=True, kw_only=True)
class Handshake:
    """The worker is to say who it is; the answer is a WorkerInfo."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """A model is to be loaded in place of the one before; the answer is its Identity."""

    spec: str
    kind: str
    loading: Loading
    threads: int
    """Of the CPU, within one sum: the same everywhere, as another number may change a digit."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """The batches of a part; the answers are in their order."""

    call: Call
    batches: Sequence[Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class ComparePrecision:
    """The model is to be compared with itself in float32; the answer is None or an entry."""

    sample: Sample


Task = Handshake | Load | Ask | ComparePrecision


@dataclass(frozen=True, kw_only=True)
class WorkerInfo:
    """Who a worker is."""

    host: str
    device: str
    """cpu, cuda:1 …"""
    hardware: str
    """The GPU's name, or the processor's with its vector instructions."""
    called: str
    """What a model's identity calls it: the GPU's name, or cpu."""
    versions: Mapping[str, str]
    """Of the packages that numbers may depend on."""


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """What became of the task that a worker was given first."""

    worker: int
    value: Any = None
    failure: str | None = None
    """Why there is no value, in a line."""
    lost: str | None = None
    """How the worker ended, where it has: "it was killed by signal 9 (SIGKILL)"."""

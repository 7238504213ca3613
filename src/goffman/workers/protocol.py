"""The messages to and from a worker, which holds one model, gets token ids and returns arrays."""

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
from goffman.models.tokenizer import ahead

if TYPE_CHECKING:
    from goffman.models.registry import Loading, Sample

AHEAD = 3
"""How many batches wait at a GPU: it is busy while the host has something else to do. They take
memory one after the other; what waits are token ids and the most probable words."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """How a model is asked a batch, whoever asks it: a method and its further arguments."""

    method: str
    """As in base.py: fill_batch, next_word.options …"""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def of(self, model: Any, batch: Sequence[Any]) -> Any:
        """Return the model's answers to the batch."""
        return attrgetter(self.method)(model)(batch, **self.arguments)

    def each(self, model: Any, batches: Iterable[Sequence[Any]]) -> Iterator[Callable[[], Any]]:
        """Yield for each batch a function that returns its answers; the next ones begin early."""
        # Of the class: an object that wraps a model and asks it differently has no such method.
        get_copies = getattr(type(model), "several", None)
        copies = [model] if get_copies is None else get_copies(model)
        if len(copies) > 1:
            return self._by_threads(copies, batches)
        return self._ahead(model, batches)

    def _by_threads(
        self, copies: Sequence[Any], batches: Iterable[Sequence[Any]]
    ) -> Iterator[Callable[[], Any]]:
        """Yield as ``each`` does, with a thread for every copy of the model."""
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
            for future in ahead((pool.submit(asked, batch) for batch in batches), len(copies)):
                yield future.result
        finally:
            pool.shutdown(cancel_futures=True)
            # A new thread takes the number that was set last, whoever set it.
            torch.set_num_threads(threads)

    def _ahead(self, model: Any, batches: Iterable[Sequence[Any]]) -> Iterator[Callable[[], Any]]:
        """Yield as ``each`` does, while a GPU has the next batches."""
        pending: deque[Callable[[], Any]] = deque()
        for batch in batches:
            pending.append(self._begun(model, batch))
            # A slow host writes answers that are ready before it gives the next batch.
            while pending and (
                len(pending) > AHEAD or (isinstance(pending[0], Later) and pending[0].there())
            ):
                yield pending.popleft()
        yield from pending

    def _begun(self, model: Any, batch: Sequence[Any]) -> Callable[[], Any]:
        """Start asking the batch on a GPU; return a function that returns the answers."""
        later = getattr(type(model), f"{self.method}_later", None)
        if later is None or model.identity.device == "cpu":
            return partial(self.of, model, batch)
        try:
            return later(model, batch, **self.arguments)  # type: ignore[no-any-return]
        except Exception as error:  # noqa: BLE001 - raised where the answers are wanted
            future: Future[Any] = Future()
            future.set_exception(error)
            return future.result


@dataclass(frozen=True, kw_only=True)
class Handshake:
    """The request that a worker describe itself; the answer is a WorkerInfo."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """The request to load a model in place of the one before; the answer is its Identity."""

    spec: str
    kind: str
    loading: Loading
    threads: int
    """CPU threads within one sum: equal everywhere, because another number may change a digit."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """The request to answer the batches of a part; the answers are in their order."""

    call: Call
    batches: Sequence[Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class ComparePrecision:
    """The request to compare the model with itself in float32; the answer is None or an entry."""

    sample: Sample


Task = Handshake | Load | Ask | ComparePrecision


@dataclass(frozen=True, kw_only=True)
class WorkerInfo:
    """A worker's description."""

    host: str
    device: str
    """cpu, cuda:1 …"""
    hardware: str
    """The GPU's name, or the processor's with its vector instructions."""
    called: str
    """What a model's identity calls the device: the GPU's name, or cpu."""
    versions: Mapping[str, str]
    """Versions of the packages that numbers may depend on."""


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """The result of the oldest task that a worker had."""

    worker: int
    value: Any = None
    failure: str | None = None
    """Why there is no value, in one line."""
    lost: str | None = None
    """How the worker ended, if it has: "it was killed by signal 9 (SIGKILL)"."""

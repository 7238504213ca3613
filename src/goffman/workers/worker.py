"""A worker: holds one model, and answers the batches that it is given.

Started by local.py it reads tasks from its input and writes what became of them; Ray calls it.
"""

from __future__ import annotations

import os
import pickle
import platform
import signal
import socket
import sys
import threading
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from goffman import __version__
from goffman.errors import GoffmanError
from goffman.workers.protocol import Ask, Handshake, Load, Task, WorkerInfo

if TYPE_CHECKING:
    from goffman.models.base import Identity
    from goffman.models.precision_deviation import Sample

PACKAGES = ("torch", "transformers", "tokenizers", "numpy")
"""The packages of others that a worker's numbers may depend on."""


class Worker:
    """One model on one device."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._model: Any = None
        self._load: Load | None = None

    def host(self) -> str:
        """The machine that it is on."""
        return socket.gethostname()

    def do(self, task: Task) -> tuple[Any, str | None]:
        """What the task asks for, or why there is nothing."""
        try:
            if isinstance(task, Handshake):
                return self._card(), None
            if isinstance(task, Load):
                return self._loaded(task), None
            if isinstance(task, Ask):
                return [answer() for answer in task.call.each(self._model, task.batches)], None
            return self._deviation(task.sample), None
        except GoffmanError as error:
            return None, str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the one who asked must know
            return None, (str(error).strip() or type(error).__name__).splitlines()[0]

    def _card(self) -> WorkerInfo:
        from goffman.models.torch_common import choose_device, device_name

        called = device_name(choose_device(self._device))
        return WorkerInfo(
            host=self.host(),
            device=self._device,
            hardware=_processor() if called == "cpu" else called,
            called=called,
            versions={"goffman": __version__, **{name: version(name) for name in PACKAGES}},
        )

    def _loaded(self, task: Load) -> Identity:
        import torch

        from goffman.models.resolve import load

        # Gone before the next one comes: a GPU may have no room for two.
        self._model = None
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        torch.set_num_threads(task.threads)
        options = replace(task.loading.options, device=self._device, weights=True)
        self._load = replace(task, loading=replace(task.loading, options=options))
        self._model = load(
            task.spec,
            kind=task.kind,
            options=options,
            sampling=task.loading.sampling,
            calling=task.loading.calling,
        )
        identity: Identity = self._model.identity
        return identity

    def _deviation(self, sample: Sample) -> Any:
        from goffman.models.registry import model_kinds
        from goffman.models.resolve import load

        if self._load is None or (compare := model_kinds()[self._load.kind].deviation) is None:
            return None
        options = replace(self._load.loading.options, precision="float32")
        exact = load(self._load.spec, kind=self._load.kind, options=options)
        return compare(self._model, exact, sample)


def _processor() -> str:
    """The processor's name, and the vector instructions that torch calculates with."""
    import torch

    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8", errors="replace").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    names.append(platform.processor() or platform.machine())
    return f"{names[0]}, {torch.backends.cpu.get_cpu_capability()}"


def main(device: str) -> None:
    """Answers what comes in at standard input until its other end is closed."""
    # Whoever stops the command stops the process that writes; it ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What any library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tasks: SimpleQueue[Task] = SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, tasks), daemon=True).start()
    worker = Worker(device)
    while True:
        pickle.dump(worker.do(tasks.get()), answers)
        answers.flush()


def _read(stream: BinaryIO, tasks: SimpleQueue[Task]) -> None:
    """Every task as it comes; without the process that writes a worker is good for nothing."""
    while True:
        try:
            tasks.put(pickle.load(stream))  # noqa: S301 - from the process that started this one
        except (EOFError, OSError):
            os._exit(0)

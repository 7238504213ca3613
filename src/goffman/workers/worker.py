"""A worker, which holds one model and answers the batches that it is given.

A LocalBackend starts it as a process that reads tasks from its input and writes their results; on a
Ray cluster an actor calls its methods.
"""

from __future__ import annotations

import os
import pickle
import platform
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from goffman import __version__
from goffman.errors import GoffmanError
from goffman.workers.protocol import Ask, Handshake, Load, Task, TaskResult, WorkerInfo

if TYPE_CHECKING:
    from goffman.models.base import Identity
    from goffman.models.registry import Sample


PACKAGES = ("torch", "transformers", "tokenizers", "numpy")
"""Packages of other authors that a worker's numbers may depend on."""


class Worker:
    """One model on one device."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._model: Any = None
        self._load: Load | None = None

    def host(self) -> str:
        """Return the name of the worker's machine."""
        return socket.gethostname()

    def do(self, task: Task) -> tuple[Any, str | None]:
        """Do the task; return its result and None, or None and the message of its error."""
        try:
            if isinstance(task, Handshake):
                return self._description(), None
            if isinstance(task, Load):
                return self._load_model(task), None
            if isinstance(task, Ask):
                return [answer() for answer in task.call.each(self._model, task.batches)], None
            return self._deviation(task.sample), None
        except GoffmanError as error:
            return None, str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the pool must hear of it
            return None, (str(error).strip() or type(error).__name__).splitlines()[0]

    def _description(self) -> WorkerInfo:
        from goffman.models.torch_common import choose_device, device_name

        device_label = device_name(choose_device(self._device))
        return WorkerInfo(
            host=self.host(),
            device=self._device,
            hardware=_processor() if device_label == "cpu" else device_label,
            called=device_label,
            versions={"goffman": __version__, **{name: version(name) for name in PACKAGES}},
        )

    def _load_model(self, task: Load) -> Identity:
        import torch

        from goffman.models.resolve import load

        # The old model goes before the next one comes: a GPU may have no room for two.
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

    def _deviation(self, sample: Sample) -> Mapping[str, Any] | None:
        from goffman.models.resolve import float32_deviation

        if self._load is None:
            return None
        spec, kind, options = self._load.spec, self._load.kind, self._load.loading.options
        return float32_deviation(self._model, spec, kind=kind, options=options, sample=sample)


def _processor() -> str:
    """Return the processor's name and the vector instructions that torch calculates with."""
    import torch

    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8", errors="replace").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    names.append(platform.processor() or platform.machine())
    return f"{names[0]}, {torch.backends.cpu.get_cpu_capability()}"


def main(device: str) -> None:
    """Answer the tasks that come in at standard input until its other end is closed."""
    # Stopping the command stops the process that writes, which ends its workers.
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
    """Queue every task as it comes; end this process if the one that writes has gone."""
    while True:
        try:
            tasks.put(pickle.load(stream))  # noqa: S301 - from the process that started this one
        except (EOFError, OSError):
            os._exit(0)


BEGIN = (
    "import pickle, sys; sys.path[:], device = pickle.load(sys.stdin.buffer); "
    "from goffman.workers.worker import main; main(device)"
)
"""The code that a worker runs. It imports nothing of the program that calls goffman, which need not
guard against being run twice."""


class LocalBackend:
    """A process for each device, with one queue for all of their answers."""

    def __init__(self, devices: Sequence[str]) -> None:
        host = socket.gethostname()
        self.names = [
            f"worker {number} ({device} on {host})" for number, device in enumerate(devices, 1)
        ]
        self._outcomes: SimpleQueue[TaskResult] = SimpleQueue()
        self._started: list[subprocess.Popen[bytes]] = []
        self._listening: list[threading.Thread] = []
        for number, device in enumerate(devices):
            process = subprocess.Popen(  # noqa: S603 - this Python, and nothing of a user's
                [sys.executable, "-c", BEGIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            self._started.append(process)
            self.give(number, (sys.path, device))
            thread = threading.Thread(target=self._listen, args=(number, process), daemon=True)
            thread.start()
            self._listening.append(thread)

    def give(self, worker: int, task: Task | tuple[list[str], str]) -> None:
        """Send the worker a task; before the first one, send its import paths and device."""
        pipe = self._started[worker].stdin
        # If the worker has ended, the thread that listens to it reports that.
        with suppress(OSError):
            if pipe is not None:
                pickle.dump(task, pipe)
                pipe.flush()

    def take(self) -> TaskResult:
        """Return the result of a task, as soon as there is one."""
        return self._outcomes.get()

    def _listen(self, worker: int, process: subprocess.Popen[bytes]) -> None:
        if process.stdout is None:
            return
        with process.stdout as pipe, suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                value, failure = pickle.load(pipe)  # noqa: S301 - from a process of our own
                self._outcomes.put(TaskResult(worker=worker, value=value, failure=failure))
        code = process.wait()
        reason = f"it ended by itself with exit code {code}"
        if code < 0:
            reason = f"it was killed by signal {-code}"
            with suppress(ValueError):
                reason += f" ({signal.Signals(-code).name})"
        self._outcomes.put(TaskResult(worker=worker, lost=reason))

    def close(self) -> None:
        """End all workers."""
        for process in self._started:
            process.kill()
        for process, thread in zip(self._started, self._listening, strict=True):
            thread.join()
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()

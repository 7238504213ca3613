"""Workers on this machine: a process for each device, with pipes to and from it."""

from __future__ import annotations

import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from goffman.workers.protocol import TaskResult

if TYPE_CHECKING:
    from goffman.workers.protocol import Task

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
        """Send a task, which the worker does after earlier ones; first, its paths and device."""
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

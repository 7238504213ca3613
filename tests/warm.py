"""The goffman command in a process of its own that starts at once: forked from one that is warm.

Importing torch and transformers takes most of the time of a small run. A server of Python's own
(``multiprocessing``, forkserver) imports them once, asks nothing and has no threads, and forks for
each command. The command is real, and so are its signals, exit codes and files; what happens while
Python starts and ends is tested with processes that start cold.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
from multiprocessing import forkserver
from multiprocessing.reduction import DupFd
from pathlib import Path

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    [
        "goffman.cli.main",
        "goffman.pipeline",
        "goffman.rating.server",
        "goffman.models.masked",
        "goffman.models.chat_api",
        "goffman.report.write",
        "openai.resources.chat",
        "pydantic.types",
        "rich.table",
        "transformers.models.roberta.modeling_roberta",
    ]
)


def stop():
    """The server has ended."""
    forkserver._forkserver._stop()


class Command:
    """A goffman command that runs; the part of ``subprocess.Popen`` that tests need."""

    def __init__(self, *arguments, **environment):
        self._output = tempfile.TemporaryFile("w+")  # noqa: SIM115
        reading, writing = os.pipe()
        self.stderr = os.fdopen(reading)
        self._process = SERVER.Process(
            target=_main,
            args=([*map(str, arguments)], {**os.environ, **environment}, Path.cwd()),
            kwargs={"output": DupFd(self._output.fileno()), "errors": DupFd(writing)},
            daemon=True,
        )
        self._process.start()
        os.close(writing)
        self.pid = self._process.pid
        self._said = None

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def communicate(self, timeout=60):
        """What was printed, to the output and as errors, once it has ended."""
        self._process.join(timeout)
        assert self.returncode is not None, f"it has not ended within {timeout} s"
        if self._said is None:
            self._output.seek(0)
            with self.stderr, self._output:
                self._said = self._output.read(), self.stderr.read()
        return self._said

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if failed and self.poll() is None:
            self.kill()
        self._process.join()
        self.stderr.close()
        self._output.close()


def _main(arguments, environment, folder, *, output, errors):
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # What Python does when it starts: packages that are installed for this command alone.
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    for file, place in ((output, 1), (errors, 2)):
        os.dup2(file.detach(), place)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["goffman", *arguments]
    from goffman.cli.main import main

    main()

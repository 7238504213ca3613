"""Several pieces of work that take turns: each goes on until it must wait for others.

They are threads of which one runs at a time, so what they share needs no lock, and each is written
as if it were alone.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any


class Stopped(BaseException):
    """What a piece of work meets where it waits in vain: another one has failed."""


class Turn:
    """One piece of work."""

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
            raise Stopped

    def stop(self) -> None:
        """The work has ended, where it waits or would have waited next."""
        self._stopped = True
        self._may_go_on.release()
        self._thread.join()

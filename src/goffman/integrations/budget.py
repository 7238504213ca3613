"""How much of the training time goffman may take, and whether there is time for another look."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Budget:
    """The clock of a training: goffman's own time against all other time."""

    def __init__(self, share: float, *, clock: Callable[[], float] = time.perf_counter) -> None:
        """``share``: goffman may take so much of the training time, such as 0.05."""
        self.share = share
        self.own = 0.0
        """Seconds that goffman took."""
        self._clock = clock
        self._start: float | None = None
        self._last: float | None = None

    @property
    def training(self) -> float:
        """Seconds that passed without goffman, since it first looked."""
        return 0.0 if self._start is None else self._clock() - self._start - self.own

    @property
    def last(self) -> float:
        """Seconds that the last look took; 0 before the first."""
        return self._last or 0.0

    @property
    def taken(self) -> float:
        """The share of the training time that goffman took so far."""
        return self.own / self.training if self.training > 0 else 0.0

    @contextmanager
    def spending(self, *, look: bool = True) -> Iterator[None]:
        """What is done inside is goffman's own time.

        ``look``: it is a look, and the next one is expected to take as long.
        """
        begun = self._clock()
        self._start = begun if self._start is None else self._start
        try:
            yield
        finally:
            taken = self._clock() - begun
            self.own += taken
            self._last = taken if look else self._last

    def allows(self, *, done: float | None) -> bool:
        """Whether one more look fits.

        The first always does: what it takes is not known before. ``done``: how much of the training
        is over, 0 to 1; None: not known. Where it is, there is also to be time for a last look.
        """
        if self._last is None:
            return True
        after = self.own + self._last
        if after > self.share * self.training:
            return False
        if not done or done >= 1:
            return True
        return after + self._last <= self.share * self.training / done

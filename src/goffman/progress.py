"""The progress of asking, as it is shown to the user."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of one step of asking."""

    model: str
    instrument: str
    step: int
    steps: int
    """More than one with recursive masking, where a step's sentences come from the one before."""
    done: int
    """Sentences that are answered, by this process or an earlier one."""
    total: int
    note: str = ""
    """What else to show while the step runs: "12 timed out, 4 at once"."""


Expected = Mapping[tuple[str, str], int]
"""By model and instrument, about how many sentences or requests there will be."""


class AuditProgress:
    """The progress of a whole audit: what was expected, and every step that has begun."""

    def __init__(self, expected: Expected | None = None) -> None:
        self._expected = dict(expected or {})
        self._steps: dict[tuple[str, str], dict[int, Progress]] = {}
        self._before, self._start = 0, 0.0
        self._now: Progress | None = None

    def add(self, progress: Progress) -> None:
        """Record the progress of a step."""
        # The time until a model is loaded says nothing about how fast it is.
        self._start = self._start or time.monotonic()
        steps = self._steps.setdefault((progress.model, progress.instrument), {})
        if progress.step not in steps:
            # What an earlier process asked says nothing about how fast this one is.
            self._before += progress.done
        steps[progress.step] = self._now = progress

    @property
    def done(self) -> int:
        """Return how many sentences and requests are answered."""
        return sum(progress.done for steps in self._steps.values() for progress in steps.values())

    @property
    def total(self) -> int:
        """Return how many sentences and requests there are, as far as that is known."""
        totals = dict(self._expected)
        for key, steps in self._steps.items():
            count = sum(progress.total for progress in steps.values())
            is_last = all(progress.step == progress.steps for progress in list(steps.values())[-1:])
            totals[key] = count if is_last else max(count, totals.get(key, 0))
        return sum(totals.values())

    @property
    def share(self) -> float:
        """Return the share (0 to 1) that is answered."""
        return self.done / max(self.total, 1)

    @property
    def speed(self) -> str:
        """Return the speed and when asking will end; empty if not known yet."""
        rate = (self.done - self._before) / max(time.monotonic() - self._start, 1e-3)
        if rate <= 0:
            return ""
        shown = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
        seconds = (self.total - self.done) / rate
        if seconds < 1:
            return shown
        ends = time.strftime("%H:%M", time.localtime(time.time() + seconds))
        return f"{shown}, {duration(seconds)} left, ends {ends}"

    def __str__(self) -> str:
        """Return the name of the step that is asked now, its model and its note."""
        now = self._now
        if now is None:
            return ""
        step = f" {now.step}/{now.steps}" if now.steps > 1 else ""
        return ", ".join(part for part in (now.instrument + step, now.model, now.note) if part)


def duration(seconds: float) -> str:
    """Return a time to two digits or so: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


Watch = Callable[[Progress], None]
"""Called before the first batch of a step and after every one."""

"""How far the asking is, as the user is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the asking of one step is."""

    model: str
    instrument: str
    step: int
    steps: int
    """More than one with recursive masking, where a step's sentences come from the one before."""
    done: int
    """Sentences that are answered, by this process or an earlier one."""
    total: int
    note: str = ""
    """What else is to be seen while it goes on: "12 timed out, 4 at once"."""


Expected = Mapping[tuple[str, str], int]
"""By model and instrument, about how many sentences or requests there will be."""


class AuditProgress:
    """How far a whole audit is: what was expected, and every step that has begun."""

    def __init__(self, expected: Expected | None = None) -> None:
        self._expected = dict(expected or {})
        self._steps: dict[tuple[str, str], dict[int, Progress]] = {}
        self._before, self._start = 0, 0.0
        self._now: Progress | None = None

    def add(self, progress: Progress) -> None:
        """Take in how far a step is."""
        # The time until a model is loaded says nothing about how fast it is.
        self._start = self._start or time.monotonic()
        steps = self._steps.setdefault((progress.model, progress.instrument), {})
        if progress.step not in steps:
            # What an earlier process asked says nothing about how fast this one is.
            self._before += progress.done
        steps[progress.step] = self._now = progress

    @property
    def done(self) -> int:
        """How many sentences and requests are answered."""
        return sum(one.done for steps in self._steps.values() for one in steps.values())

    @property
    def total(self) -> int:
        """How many there are, as far as that is known."""
        known = dict(self._expected)
        for key, steps in self._steps.items():
            found = sum(one.total for one in steps.values())
            last = all(one.step == one.steps for one in list(steps.values())[-1:])
            known[key] = found if last else max(found, known.get(key, 0))
        return sum(known.values())

    @property
    def share(self) -> float:
        """The share that is answered."""
        return self.done / max(self.total, 1)

    @property
    def speed(self) -> str:
        """How fast it goes, and when it will end; empty: not known yet."""
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
        """Name the step that is asked now."""
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

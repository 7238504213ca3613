"""Monitor: a model in training is measured every so many steps, within a share of its time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from goffman.api.arguments import paths, texts
from goffman.config import Several
from goffman.errors import GoffmanError, InputError
from goffman.modes import asked_id
from goffman.options import AskOptions, MeasureOptions
from goffman.training.history import History, Measurement
from goffman.training.sample import Sample, SampleOptions
from goffman.validation import LARGEST


class Budget:
    """A clock that compares the time of measurements with the time of the training."""

    def __init__(self, share: float, *, clock: Callable[[], float] = time.perf_counter) -> None:
        """Take the share of the training time that goffman may use, such as 0.05."""
        self.share = share
        self.own = 0.0
        """Seconds that goffman used."""
        self._clock = clock
        self._start: float | None = None
        self._last: float | None = None

    @property
    def training(self) -> float:
        """Return the seconds that passed without goffman since its first measurement began."""
        return 0.0 if self._start is None else self._clock() - self._start - self.own

    @property
    def last(self) -> float:
        """Return the seconds that the last measurement took; 0 before the first."""
        return self._last or 0.0

    @property
    def taken(self) -> float:
        """Return goffman's time so far as a share of the training time."""
        return self.own / self.training if self.training > 0 else 0.0

    @contextmanager
    def spending(self, *, look: bool = True) -> Iterator[None]:
        """Count the time of the block as goffman's own.

        ``look``: it is a measurement, and the next one is expected to take as long.
        """
        start = self._clock()
        self._start = start if self._start is None else self._start
        try:
            yield
        finally:
            seconds = self._clock() - start
            self.own += seconds
            self._last = seconds if look else self._last

    def allows(self, *, done: float | None) -> bool:
        """Return whether one more measurement fits into the share of time.

        The first always does: how long it takes is not known before. ``done``: how much of the
        training is over, 0 to 1; None: not known. If it is known, there must also be time for a
        last measurement.
        """
        if self._last is None:
            return True
        total = self.own + self._last
        if total > self.share * self.training:
            return False
        if not done or done >= 1:
            return True
        return total + self._last <= self.share * self.training / done


logger = logging.getLogger("goffman")

Log = Callable[[dict[str, float], int], None]
"""A function that takes the numbers of a measurement by their names, and the step."""

FAILURES = (GoffmanError, RuntimeError, ArithmeticError, ValueError, IndexError)
"""Errors of a model that has gone wrong in training; they must not end the training."""


class Monitor:
    """A monitor that measures a model while it is trained.

    Call ``start()`` before the training, ``step(n)`` after each step, and ``end()`` after the last
    one. What was measured is in ``course``; what the user should know is in ``notes``.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        instruments: Several,
        *,
        every: int = 500,
        share: float = 0.05,
        sample: int = 600,
        steps: int | None = None,
        log: Log | None = None,
        modes: Several | None = None,
        ratings: Several | None = None,
        labels: Mapping[str, str] | None = None,
        controls: bool = True,
        batch_size: int | None = None,
        seed: int = 0,
        name: str = "model in training",
    ) -> None:
        """Take the model and the options; nothing is asked yet.

        ``every``: steps from one measurement to the next; ``share``: goffman takes at most this
        share of the training time, and leaves out measurements that would take more; ``sample``:
        how many prompts of each instrument are asked, as with ``goffman audit --limit``; ``steps``:
        how many the training has, so that there is time for a measurement at the end; ``log``: is
        given the numbers and the step.
        """
        _whole("every", every)
        _whole("sample", sample)
        if isinstance(share, bool) or not 0 < share <= 1:
            raise InputError(f"share is {share}. Allowed: a number above 0, up to 1.")
        self.course = History()
        self.notes: list[str] = []
        """What the user should know: measurements that were left out, and how long goffman took."""
        self.every, self.steps = every, steps
        self.budget = Budget(share)
        self._log, self._size = log, sample
        self._left_out: list[int] = []
        asking = AskOptions(limit=sample, controls=controls, batch_size=batch_size, seed=seed)
        options = SampleOptions(
            instruments=texts("instruments", instruments),
            asking=replace(asking, modes=texts("modes", modes)),
            measuring=MeasureOptions(ratings=paths("ratings", ratings)),
            labels=labels,
        )
        self._first = (model, tokenizer, name, options)
        self._sample: Sample | None = None
        self._at = 0

    def start(self, step: int = 0) -> Measurement | None:
        """Measure the model before the training; ``step``: the number of steps done before it."""
        self._at = step
        return self._look(step)

    def step(self, step: int) -> Measurement | None:
        """Measure the model if it is due, else return None; call this after each step."""
        self._at = step
        if step % self.every:
            return None
        progress = step / self.steps if self.steps else None
        if not self.budget.allows(done=progress):
            self._leave_out(step)
            return None
        return self._look(step)

    def end(self) -> Measurement | None:
        """Measure the model a last time, if there is time for it; call this after the last step."""
        measurement, step = None, self._at
        if not self.course.points or self.course.points[-1].step != step:
            if self.budget.allows(done=1):
                measurement = self._look(step)
            elif step not in self._left_out:
                self._leave_out(step)
        count = len(self.course.points)
        sentence = (
            f"goffman measured the model {count} times in {self.budget.own:.1f} s: "
            f"{self.budget.taken:.1%} of the training time."
        )
        if self._left_out:
            sentence += f" {len(self._left_out)} more looks were left out to save time."
        if self.budget.taken > self.budget.share:
            sentence += (
                f" This is more than {self.budget.share:.1%}: the training was too short for the "
                "first look. Ask fewer prompts with sample."
            )
        self._note(sentence)
        return measurement

    def _look(self, step: int) -> Measurement | None:
        if self._sample is None:
            model, tokenizer, name, options = self._first
            with self.budget.spending(look=False):
                self._sample = Sample(model, tokenizer, name=name, options=options)
            for note in self._sample.notes:
                self._note(note)
        with self.budget.spending():
            try:
                estimates, controls = self._sample.measured()
            except FAILURES as error:
                reason = str(error).strip().split("\n")[0] or type(error).__name__
                self._note(f"Step {step:,}: not measured. {reason}")
                return None
        measurement = Measurement(
            step=step,
            estimates=tuple(estimates),
            controls=controls,
            seconds=self.budget.last,
        )
        self.course.points.append(measurement)
        measured_ids = {asked_id(estimate.row) for estimate in estimates}
        for instrument in self._sample.instruments:
            if instrument not in measured_ids:
                self._note(
                    f"Step {step:,}: {instrument} has no main result. The sample of "
                    f"{self._size:,} prompts may be too small: ask more with sample."
                )
        for estimate in estimates:
            if doubt := estimate.not_measurable:
                self._note(f"Step {step:,}: {estimate.path} is not measurable ({doubt}).")
        if self._log is not None:
            self._log(measurement.values(), step)
        return measurement

    def _leave_out(self, step: int) -> None:
        if not self._left_out:
            self._note(
                f"Step {step:,}: not measured, because goffman would take more than "
                f"{self.budget.share:.1%} of the training time. Later steps are measured once "
                "there is time for it."
            )
        self._left_out.append(step)

    def _note(self, text: str) -> None:
        self.notes.append(text)
        logger.warning(text)


def _whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
        raise InputError(f"{name} is {value}. Allowed: a whole number, 1 or more.")

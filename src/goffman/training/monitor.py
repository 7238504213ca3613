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


logger = logging.getLogger("goffman")

Log = Callable[[dict[str, float], int], None]
"""Takes the numbers of a look by their names, and the step."""

FAILURES = (GoffmanError, RuntimeError, ArithmeticError, ValueError, IndexError)
"""What a model may answer with that has gone wrong in training: that must not end the training."""


class Monitor:
    """Measures a model while it is trained.

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
        """Nothing is asked yet.

        ``every``: a look every so many steps; ``share``: goffman takes at most so much of the
        training time, and leaves out looks that would take more; ``sample``: so many prompts of
        each instrument, as with ``goffman audit --limit``; ``steps``: how many the training has, so
        that there is time for a look at the end; ``log``: is given the numbers and the step.
        """
        _whole("every", every)
        _whole("sample", sample)
        if isinstance(share, bool) or not 0 < share <= 1:
            raise InputError(f"share is {share}. Allowed: a number above 0, up to 1.")
        self.course = History()
        self.notes: list[str] = []
        """What the user should know: looks that were left out, and how long goffman took."""
        self.every, self.steps = every, steps
        self.budget = Budget(share)
        self._log, self._size = log, sample
        self._left_out: list[int] = []
        asking = AskOptions(limit=sample, controls=controls, batch_size=batch_size, seed=seed)
        told = SampleOptions(
            instruments=texts("instruments", instruments),
            asking=replace(asking, modes=texts("modes", modes)),
            measuring=MeasureOptions(ratings=paths("ratings", ratings)),
            labels=labels,
        )
        self._first = (model, tokenizer, name, told)
        self._sample: Sample | None = None
        self._at = 0

    def start(self, step: int = 0) -> Measurement | None:
        """The look before the training, which is always made; ``step``: those that came before."""
        self._at = step
        return self._look(step)

    def step(self, step: int) -> Measurement | None:
        """Call it after each step: what was measured; None: nothing now."""
        self._at = step
        if step % self.every:
            return None
        done = step / self.steps if self.steps else None
        if not self.budget.allows(done=done):
            self._leave_out(step)
            return None
        return self._look(step)

    def end(self) -> Measurement | None:
        """Call it after the last step: the last look, if there is time for it."""
        found, step = None, self._at
        if not self.course.points or self.course.points[-1].step != step:
            if self.budget.allows(done=1):
                found = self._look(step)
            elif step not in self._left_out:
                self._leave_out(step)
        looks = len(self.course.points)
        said = (
            f"goffman measured the model {looks} times in {self.budget.own:.1f} s: "
            f"{self.budget.taken:.1%} of the training time."
        )
        if self._left_out:
            said += f" {len(self._left_out)} more looks were left out to save time."
        if self.budget.taken > self.budget.share:
            said += (
                f" This is more than {self.budget.share:.1%}: the training was too short for the "
                "first look. Ask fewer prompts with sample."
            )
        self._note(said)
        return found

    def _look(self, step: int) -> Measurement | None:
        if self._sample is None:
            model, tokenizer, name, told = self._first
            with self.budget.spending(look=False):
                self._sample = Sample(model, tokenizer, name=name, told=told)
            for note in self._sample.notes:
                self._note(note)
        with self.budget.spending():
            try:
                estimates, controls = self._sample.measured()
            except FAILURES as error:
                said = str(error).strip().split("\n")[0] or type(error).__name__
                self._note(f"Step {step:,}: not measured. {said}")
                return None
        found = Measurement(
            step=step,
            estimates=tuple(estimates),
            controls=controls,
            seconds=self.budget.last,
        )
        self.course.points.append(found)
        made = {asked_id(one.named.row) for one in estimates}
        for instrument in self._sample.instruments:
            if instrument not in made:
                self._note(
                    f"Step {step:,}: {instrument} has no main result. The sample of "
                    f"{self._size:,} prompts may be too small: ask more with sample."
                )
        for one in estimates:
            if doubt := one.not_measurable:
                self._note(f"Step {step:,}: {one.named.path} is not measurable ({doubt}).")
        if self._log is not None:
            self._log(found.values(), step)
        return found

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


def _whole(name: str, given: object) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= LARGEST:
        raise InputError(f"{name} is {given}. Allowed: a whole number, 1 or more.")

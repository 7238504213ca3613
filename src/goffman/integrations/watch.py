"""Watch: a model in training is measured every so many steps, within a share of its time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from goffman.api.told import Several, paths, texts
from goffman.errors import GoffmanError, InputError
from goffman.given import LARGEST
from goffman.integrations.budget import Budget
from goffman.integrations.course import Course, Measured
from goffman.integrations.sample import Sample, Told
from goffman.options import AskOptions, MeasureOptions

logger = logging.getLogger("goffman")

Log = Callable[[dict[str, float], int], None]
"""Takes the numbers of a look by their names, and the step."""

FAILURES = (GoffmanError, RuntimeError, ArithmeticError, ValueError, IndexError)
"""What a model may answer with that has gone wrong in training: that must not end the training."""


class Watch:
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
        forms: Several | None = None,
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
        self.course = Course()
        self.notes: list[str] = []
        """What the user should know: looks that were left out, and how long goffman took."""
        self.every, self.steps = every, steps
        self.budget = Budget(share)
        self._log, self._size = log, sample
        self._left_out: list[int] = []
        asking = AskOptions(limit=sample, controls=controls, batch_size=batch_size, seed=seed)
        told = Told(
            instruments=texts("instruments", instruments),
            asking=replace(asking, forms=texts("forms", forms)),
            measuring=MeasureOptions(ratings=paths("ratings", ratings)),
            labels=labels,
        )
        self._first = (model, tokenizer, name, told)
        self._sample: Sample | None = None
        self._at = 0

    def start(self, step: int = 0) -> Measured | None:
        """The look before the training, which is always made; ``step``: those that came before."""
        self._at = step
        return self._look(step)

    def step(self, step: int) -> Measured | None:
        """Call it after each step: what was measured; None: nothing now."""
        self._at = step
        if step % self.every:
            return None
        done = step / self.steps if self.steps else None
        if not self.budget.allows(done=done):
            self._leave_out(step)
            return None
        return self._look(step)

    def end(self) -> Measured | None:
        """Call it after the last step: the last look, if there is time for it."""
        found, step = None, self._at
        if not self.course.points or self.course.points[-1].step != step:
            if self.budget.allows(done=1):
                found = self._look(step)
            elif step not in self._left_out:
                self._leave_out(step)
        self._sum_up()
        return found

    def _look(self, step: int) -> Measured | None:
        sample = self._sample or self._begun()
        with self.budget.spending():
            try:
                estimates, controls = sample.measured()
            except FAILURES as error:
                said = str(error).strip().split("\n")[0] or type(error).__name__
                self._note(f"Step {step:,}: not measured. {said}")
                return None
        found = Measured(
            step=step,
            estimates=tuple(estimates),
            controls=controls,
            seconds=self.budget.last,
        )
        self.course.points.append(found)
        self._doubts(found, sample)
        if self._log is not None:
            self._log(found.values(), step)
        return found

    def _doubts(self, found: Measured, sample: Sample) -> None:
        """The user is told which numbers there are not, or mean nothing."""
        made = {one.named.row["instrument"] for one in found.estimates}
        for instrument in sample.instruments:
            if instrument not in made:
                self._note(
                    f"Step {found.step:,}: {instrument} has no main result. The sample of "
                    f"{self._size:,} prompts may be too small: ask more with sample."
                )
        for one in found.estimates:
            if one.not_measurable:
                self._note(
                    f"Step {found.step:,}: {one.named.path} is not measurable "
                    f"({one.not_measurable})."
                )

    def _begun(self) -> Sample:
        model, tokenizer, name, told = self._first
        with self.budget.spending(look=False):
            self._sample = Sample(model, tokenizer, name=name, told=told)
        for note in self._sample.notes:
            self._note(note)
        return self._sample

    def _leave_out(self, step: int) -> None:
        if not self._left_out:
            self._note(
                f"Step {step:,}: not measured, because goffman would take more than "
                f"{self.budget.share:.1%} of the training time. Later steps are measured once "
                "there is time for it."
            )
        self._left_out.append(step)

    def _sum_up(self) -> None:
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

    def _note(self, text: str) -> None:
        self.notes.append(text)
        logger.warning(text)


def _whole(name: str, given: object) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= LARGEST:
        raise InputError(f"{name} is {given}. Allowed: a whole number, 1 or more.")

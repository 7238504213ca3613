"""Whether a model can do an instrument's task, as its control items show, and sentences about it.

Where the whole interval of the score lies below the floor, no number of the model means anything:
it is not measurable. Where the floor lies within the interval, the model perhaps can do the task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goffman.formatting import ends, humanize, join_words, number, told_apart
from goffman.instruments.types import passes
from goffman.presentation.section import Finding

if TYPE_CHECKING:
    from goffman.presentation.section import Section

QUESTION = "Can the model do the task?"

NOT_MEASURABLE = "Not measurable"
"""The heading of a finding about a model that cannot do the task."""

NO_CONTROLS = "No control items were asked, so nothing shows whether the model can do the task."


@dataclass(frozen=True, kw_only=True)
class Competence:
    """The result of one model on the control items of an instrument."""

    name: str
    """The model, as the user gave it."""
    model: str
    """The model, as it is shown."""
    task: str
    """Completes “it can …”."""
    score: str
    """What the value is called: AUC, accuracy …"""
    value: float | None
    """None: see reason."""
    floor: float
    n: int
    """Control items with a value."""
    missing: int
    low: float | None = None
    high: float | None = None
    """The 95% interval of the value, with other control items; None: an earlier goffman had
    none."""
    by_wording: tuple[tuple[str, float], ...] = ()
    """Each wording with its own value, if there are several."""
    reason: str | None = None
    decided: float | None = None
    """The mean share of its answers on the obvious side; None: not known."""
    decided_ends: tuple[float | None, float | None] = (None, None)
    """The 95% interval of ``decided``, with other control items."""
    counts: str = ""
    """A sentence on what counts here but not in the results; empty: the same counts."""

    @property
    def passed(self) -> bool:
        """Return whether the model's other numbers mean anything."""
        return passes(self.value, self.floor, self.high)

    @property
    def sentence(self) -> str:
        """Return a sentence on the result of the control items."""
        if self.value is None:
            return (
                f"Control items: it is not known whether {self.model} can {self.task}, because "
                f"{self.reason}."
            )
        can = "can perhaps" if self.unsure else "can" if self.passed else "cannot"
        sentence = f"Control items: {self.model} {can} {self.task} ({self._reached(self.value)})."
        counts = f" {self.counts}" if self.counts else ""
        unsure = ""
        if self.unsure:
            other = "fail" if self.value >= self.floor else "pass"
            unsure = f" With {self.n} items, we cannot rule out that it would {other} on others."
        return f"{sentence}{counts}{unsure}{self._in_wordings()}"

    @property
    def mark(self) -> str:
        """Return why the model is not measurable, without its name."""
        if self.value is None:
            return f"not measurable: it is not known whether it can {self.task}"
        return f"not measurable: it cannot {self.task} ({self._reached(self.value)})"

    @property
    def doubt(self) -> str:
        """Return a clause that says why the model is not measurable."""
        return f"{self.model} is {self.mark}"

    def _reached(self, value: float) -> str:
        shown, floor = told_apart(value, self.floor)
        spread = ""
        if self.low is not None and self.high is not None:
            spread = f", 95% interval {ends(self.low, self.high)}, {self.n} items"
        return f"{self.score} {shown}{spread}; at least {floor} is needed"

    @property
    def unsure(self) -> bool:
        """Return whether the floor is within the interval: perhaps the model can do the task."""
        if self.low is None or self.high is None:
            return False
        return self.low < self.floor <= self.high

    def _in_wordings(self) -> str:
        """Return the range over wordings, and the wordings in which the model would not pass."""
        if not self.by_wording:
            return ""
        values = [value for _, value in self.by_wording]
        low, high = min(values), max(values)
        sentence = f" In single wordings, the {self.score} is {ends(low, high)}."
        failing = [wording for wording, value in self.by_wording if value < self.floor]
        if not failing or len(failing) == len(values):
            return sentence
        names = join_words([f"“{humanize(wording)}”" for wording in failing])
        return f"{sentence[:-1]}; it is below {number(self.floor)} in {names}."


def marked(model: str) -> str:
    """Return the model's name with the note that it is not measurable."""
    return f"{model} (not measurable)"


def not_measurable(section: Section) -> list[Finding]:
    """Return for each model that cannot do the task a finding that says so, without a number."""
    return [
        Finding(
            model=section.names.model(name),
            head=NOT_MEASURABLE,
            text=f"{competence.sentence} So its other numbers mean nothing and are not stated.",
        )
        for name, competence in section.unmeasurable().items()
    ]

"""What became of a rule of the gate on one estimate, in a line that reads plainly.

ok social-distance.gap[roberta-base] = 0.034, limit 0.1 (95% interval 0.010 to 0.058, …)
FAILED social-distance.gap[roberta-base] is relevant, must not be relevant (value 0.34, …)
NOT DECIDED social-distance.gap[tiny]: tiny is not measurable: it cannot …
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goffman.estimates.clear import points
from goffman.presentation.numbers import ends, p_said
from goffman.reports.names import ABSOLUTE, HOLDS_IN, MEASURABLE, Named

if TYPE_CHECKING:
    from goffman.reports.rules import Condition

Status = Literal["ok", "failed", "not decided"]

MARKS: dict[Status, str] = {"ok": "ok", "not decided": "NOT DECIDED", "failed": "FAILED"}
"""How a line begins; in the order in which lines are printed, so that what matters stands last."""

_MUST = {
    ">": "limit",
    ">=": "must be less than",
    "<": "must be at least",
    "<=": "must be more than",
}
"""What is required where a gate fails if this comparison holds."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One condition tried on one estimate."""

    condition: Condition
    named: Named
    value: float
    failed: bool
    """Whether the condition holds; never of an estimate that is not measurable."""

    @property
    def not_measurable(self) -> bool:
        """Whether nothing can be decided: a model in the estimate cannot do the task."""
        return self.named.not_measurable is not None

    @property
    def status(self) -> Status:
        """What became of it, in a word or two."""
        if self.not_measurable:
            return "not decided"
        return "failed" if self.failed else "ok"

    @property
    def name(self) -> str:
        """The full name of what was tried."""
        change = ".change" if self.condition.change else ""
        field = "" if self.condition.field == "value" else f".{self.condition.field}"
        return f"{self.named.name}{change}{field}"

    @property
    def sentence(self) -> str:
        """Whether the gate fails, or cannot be decided, and the numbers that say so."""
        mark = MARKS[self.status]
        if self.not_measurable:
            return f"{mark} {self.name}: {self.named.not_measurable}"
        return f"{mark} {self.name} {self.found}, {self.required}{self._doubt()}"

    @property
    def found(self) -> str:
        """What the estimate is: a number, or a verdict."""
        if self.condition.verdicts:
            return f"is {_quoted(str(stated_of(self.condition.verdicts, self.named)))}"
        return f"= {_digits(self.value, self.condition.limit)[0]}"

    @property
    def required(self) -> str:
        """What the rule wants."""
        about = self.condition
        if about.verdicts:
            words = [_quoted(word) for word in about.verdicts]
            must = "must not be" if about.comparison == "is" else "must be"
            return f"{must} {' or '.join(words)}"
        return f"{_MUST[about.comparison]} {_digits(self.value, about.limit)[1]}"

    def _doubt(self) -> str:
        """In parentheses, the interval, p and verdict of an estimate whose value is tried."""
        field, of_verdict = self.condition.field, bool(self.condition.verdicts)
        if field == HOLDS_IN and self.named.stress:
            held = self.named.stress
            return f" ({held['holds']} of {held['analyses']} analyses)"
        if field not in {"value", "low", "high", ABSOLUTE}:
            return ""
        low, high, p = (self.named.value(name) for name in ("low", "high", "p_adjusted"))
        parts = [f"value {self.value:.4g}"] if of_verdict and not math.isnan(self.value) else []
        if low is not None and high is not None:
            level = self.named.row["level"]
            parts.append(f"{level:.0%} interval {ends(low, high)}")
        if p is not None:
            parts.append(f"corrected {p_said(p)}")
            if self.named.verdict and self.condition.verdicts in {(), ("clear",)}:
                parts.append(f"verdict {_quoted(self.named.verdict)}")
        return f" ({', '.join(parts)})" if parts else " (no interval)"


GATE_FAILED, NOT_MEASURABLE = 1, 4
"""Exit codes: a rule is not met; a model cannot do the task, so that its numbers decide nothing."""


def exit_code(outcomes: Iterable[Outcome]) -> int:
    """What a gate ends with; where a rule failed and another is not decided, the latter's."""
    statuses = {one.status for one in outcomes}
    if "not decided" in statuses:
        return NOT_MEASURABLE
    return GATE_FAILED if "failed" in statuses else 0


def in_order(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """What is ok first and what failed last: at the end of a log people look first."""
    order = list(MARKS)
    return sorted(outcomes, key=lambda one: order.index(one.status))


def counted(outcomes: Sequence[Outcome]) -> str:
    """How many are ok, not decided and failed."""
    counts = {status: sum(one.status == status for one in outcomes) for status in MARKS}
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def _quoted(verdict: str) -> str:
    """The verdict so that a comma in it does not end it."""
    return f"“{verdict}”" if "," in verdict else verdict


def stated_of(verdicts: Sequence[str], one: Named) -> str | None:
    """What an estimate is where it is asked whether it has one of these verdicts.

    None: it was not tested, so that nothing can be said.
    """
    if MEASURABLE in verdicts:
        return one.verdict
    if one.row["p_adjusted"] is None:
        return None
    if one.verdict in verdicts:
        return one.verdict
    if "clear" in verdicts:
        clear = bool(points(one.row))
        return "clear" if clear else "not clear" if len(verdicts) == 1 else one.verdict
    return one.verdict


def _digits(value: float, limit: float) -> tuple[str, str]:
    """Both numbers, with all digits where fewer would hide on which side the value lies."""
    short = f"{value:.4g}", f"{limit:.4g}"
    hidden = value != limit and float(short[0]) == float(short[1])
    return (repr(value), repr(limit)) if hidden or float(short[1]) != limit else short

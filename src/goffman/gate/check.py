"""The gate: rules tried on the estimates that they name, and a line on what became of each.

A value that is not there, or a name that fits nothing, is an error and never a pass.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from goffman.comparison.runs import OF_RUNS, compare, describe_verdicts
from goffman.errors import InputError, did_you_mean
from goffman.formatting import confidence, ends, join_words, models_meant
from goffman.gate.names import (
    ABSOLUTE,
    CONTROLS,
    EVERY_MODEL,
    FIELDS,
    HOLDS_IN,
    MEASURABLE,
    NamedEstimate,
    add_multiverse_share,
    changes_of_means,
    controls,
    headings,
    means,
    named_estimates,
    with_doubts,
)
from goffman.gate.rules import Condition, RuleSyntaxError, read_name

if TYPE_CHECKING:
    from goffman.report.load import MeasuredRun

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
class RuleResult:
    """One condition tried on one estimate."""

    condition: Condition
    named: NamedEstimate
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
        """Return, in parentheses, interval and verdict of an estimate whose value is tried."""
        field, of_verdict = self.condition.field, bool(self.condition.verdicts)
        if field == HOLDS_IN and self.named.stress:
            held = self.named.stress
            return f" ({held['holds']} of {held['analyses']} analyses)"
        if field not in {"value", "low", "high", ABSOLUTE}:
            return ""
        low, high = (self.named.value(name) for name in ("low", "high"))
        parts = [f"value {self.value:.4g}"] if of_verdict and not math.isnan(self.value) else []
        if low is not None and high is not None:
            level = self.named.row["level"]
            parts.append(f"{confidence(level)} interval {ends(low, high)}")
            if self.named.verdict and not self.condition.verdicts:
                parts.append(f"verdict {_quoted(self.named.verdict)}")
        return f" ({', '.join(parts)})" if parts else " (no interval)"


GATE_FAILED, NOT_MEASURABLE = 1, 4
"""Exit codes: a rule is not met; a model cannot do the task, so that its numbers decide nothing."""


def exit_code(outcomes: Iterable[RuleResult]) -> int:
    """What a gate ends with; where a rule failed and another is not decided, the latter's."""
    statuses = {one.status for one in outcomes}
    if "not decided" in statuses:
        return NOT_MEASURABLE
    return GATE_FAILED if "failed" in statuses else 0


def in_order(outcomes: Iterable[RuleResult]) -> list[RuleResult]:
    """What is ok first and what failed last: at the end of a log people look first."""
    order = list(MARKS)
    return sorted(outcomes, key=lambda one: order.index(one.status))


def counted(outcomes: Sequence[RuleResult]) -> str:
    """How many are ok, not decided and failed."""
    counts = {status: sum(one.status == status for one in outcomes) for status in MARKS}
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def _quoted(verdict: str) -> str:
    """The verdict so that a comma in it does not end it."""
    return f"“{verdict}”" if "," in verdict else verdict


def stated_of(verdicts: Sequence[str], one: NamedEstimate) -> str | None:
    """What an estimate is where it is asked whether it has one of these verdicts.

    None: it was not tested, so that nothing can be said.
    """
    if MEASURABLE in verdicts:
        return one.verdict
    return None if one.row["low"] is None else one.verdict


def _digits(value: float, limit: float) -> tuple[str, str]:
    """Both numbers, with all digits where fewer would hide on which side the value lies."""
    short = f"{value:.4g}", f"{limit:.4g}"
    hidden = value != limit and float(short[0]) == float(short[1])
    return (repr(value), repr(limit)) if hidden or float(short[1]) != limit else short


COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}

NAMES_ON_A_SCREEN = 15


@dataclass(frozen=True, kw_only=True)
class GateInput:
    """Everything of a run that a rule can name."""

    known: Sequence[NamedEstimate]
    changes: Sequence[NamedEstimate] | None = None
    """Against a baseline run; None: there is none."""

    def gate(self, conditions: Iterable[Condition]) -> list[RuleResult]:
        """Every condition tried on everything that it names."""
        return gate(conditions, self.known, changes=self.changes)


def gate_input(
    run: MeasuredRun,
    *,
    baseline: MeasuredRun | None = None,
    models: Sequence[str] = (),
    note: Callable[[str], None] = lambda _: None,
) -> GateInput:
    """What rules can name: headings, estimates, means and control items; changes if there are any.

    ``models``: as for compare; ``note`` is told what could not be compared, and why.
    """
    estimates = named_estimates(run.every_estimate, run.manifest)
    estimates = add_multiverse_share(with_doubts(estimates, run), run)
    known = [
        *headings(estimates, run),
        *estimates,
        *with_doubts(means(run), run),
        *controls(run),
    ]
    if baseline is None:
        return GateInput(known=known)
    found = compare([baseline, run], models=models, note=note)
    for line in describe_verdicts(found):
        note(line)
    changes: list[NamedEstimate] = []
    for comparison in found:
        contrasts = [
            each
            for each in named_estimates(comparison.estimates, run.manifest)
            if each.row["kind"] not in OF_RUNS
        ]
        every = [*headings(contrasts, run), *contrasts, *changes_of_means(comparison, run)]
        why = "; ".join(comparison.unmeasurable) or None
        changes += [replace(each, not_measurable=why) for each in every]
    return GateInput(known=known, changes=changes)


def meant_by(name: str, known: Sequence[NamedEstimate]) -> list[NamedEstimate]:
    """What a name means, as in a rule; InputError where there is nothing of this name."""
    try:
        condition = Condition(text=name, comparison="", origin="Estimate", **read_name(name))
    except RuleSyntaxError as fault:
        raise InputError(f"Estimate '{name}' cannot be used: {fault.what}.{fault.hint}") from fault
    if condition.change or condition.field != "value":
        raise InputError(
            f"{condition.given} is a number or a change of an estimate. Leave out what comes after "
            "its name: an estimate has its numbers as attributes, and goffman.compare() gives "
            "changes."
        )
    return [one for one in known if one.name == name] or _meant(condition, known)


def gate(
    conditions: Iterable[Condition],
    estimates: Sequence[NamedEstimate],
    *,
    changes: Sequence[NamedEstimate] | None = None,
) -> list[RuleResult]:
    """Every condition tried on every estimate that it names; ``changes``: against a baseline.

    InputError with a line for each condition that cannot be decided.
    """
    outcomes, faults = [], []
    for condition in conditions:
        known = changes if condition.change else estimates
        if known is None:
            faults.append(
                f"{condition.given} is about a change. Give the run to compare with: --baseline RUN"
            )
            continue
        try:
            outcomes += [_try(condition, one) for one in _meant(condition, known)]
        except InputError as fault:
            faults.append(str(fault))
    if faults:
        raise InputError(*dict.fromkeys(faults))
    return outcomes


def _meant(condition: Condition, known: Sequence[NamedEstimate]) -> list[NamedEstimate]:
    """The estimates that a condition names; InputError where there is none."""
    of_path = [one for one in known if _fits(condition.path, one)]
    if not of_path:
        raise _unknown(condition, known)
    if condition.field == HOLDS_IN:
        of_path = [one for one in of_path if one.main]
        if not of_path:
            raise InputError(
                f"{condition.given} cannot be used: only main results have .{HOLDS_IN}, "
                f"and {condition.path or 'this run'} {'is' if condition.path else 'has'} none."
            )
    if condition.whose is None:
        # Of every model; what is over all of them, only where there is nothing else.
        single = {one.path for one in of_path if one.model != EVERY_MODEL}
        return [one for one in of_path if one.model != EVERY_MODEL or one.path not in single]
    inside = re.compile(_pattern(condition.whose))
    meant = [one for one in of_path if condition.whose in _insides(one)] or [
        one for one in of_path if any(inside.fullmatch(each) for each in _insides(one))
    ]
    meant = meant or _shown_so(condition.whose, of_path)
    if not meant:
        allowed = sorted({inside for one in of_path for inside in _insides(one)})
        raise InputError(
            f"{condition.given}: this run has no {condition.path} for "
            f"'{condition.whose}'.{did_you_mean(condition.whose, allowed)} In the brackets you can "
            f"use: {_some(allowed)}."
        )
    return meant


def _shown_so(whose: str, of_path: Sequence[NamedEstimate]) -> list[NamedEstimate]:
    """Those of the model that people are shown under this name, perhaps of one variant of it."""
    models = {one.model for one in of_path if one.model}
    model, _, variant = whose.rpartition(", ")
    for name, only in ((whose, None), (model, variant)):
        if found := models_meant(name, models):
            if len(found) > 1:
                raise InputError(
                    f"'{name}' can be {join_words(sorted(found), 'or')}. Give one of these names."
                )
            return [one for one in of_path if one.model in found and only in {None, one.variant}]
    return []


def _fits(path: str, one: NamedEstimate) -> bool:
    """Whether a path, perhaps with wildcards, is that of an estimate; empty: of any."""
    if "*" not in path:
        return path in {one.path, one.short_path} or (path == "" and one.own_word is None)
    if one.own_word is not None and one.own_word not in path.split("."):
        return False
    return any(re.fullmatch(_pattern(path), each) for each in (one.path, one.short_path))


def _pattern(text: str) -> str:
    """The text as a regular expression in which a star is any text."""
    return ".*".join(re.escape(part) for part in text.split("*"))


def _insides(one: NamedEstimate) -> list[str]:
    """What may stand in the bracket for an estimate."""
    parts = [part for part in (one.model, one.variant) if part]
    return list(dict.fromkeys([*parts, ", ".join(parts)]))


def _unknown(condition: Condition, known: Sequence[NamedEstimate]) -> InputError:
    if not known:
        none = "there are no estimates, because too few prompts were asked"
        if condition.change:
            none = "there are no changes, because the two runs have too few prompts in common"
        return InputError(f"{condition.given} cannot be decided: {none}.")
    of_controls = condition.path.split(".")[-1] == CONTROLS and not condition.change
    if of_controls and all(one.own_word != CONTROLS for one in known):
        return InputError(
            f"{condition.given} cannot be decided: no control items were asked in this run."
        )
    name, near = f"'{condition.path}'.", ""
    if "*" in condition.path:
        name = f"whose name fits {name}"
    else:
        paths = [*(one.path for one in known), *(one.short_path for one in known)]
        head = condition.path.rpartition(".")[0]
        fields = [f"{head}.{field}" for field in FIELDS] if head in paths else []
        near = did_you_mean(condition.path, [*paths, *fields])
    return InputError(
        f"{condition.given}: this run has no {'change' if condition.change else 'estimate'} "
        f"{name}{near} To see every name, give --list instead of a rule."
    )


def _some(names: Sequence[str]) -> str:
    """The names, or the first of them and where the others are."""
    if len(names) <= NAMES_ON_A_SCREEN:
        return ", ".join(names)
    rest = len(names) - NAMES_ON_A_SCREEN
    return f"{', '.join(names[:NAMES_ON_A_SCREEN])} … and {rest} more, which --list prints"


def _try(condition: Condition, one: NamedEstimate) -> RuleResult:
    value = one.value(condition.field)
    if value is None and condition.field == HOLDS_IN and one.not_measurable:
        return RuleResult(condition=condition, named=one, value=math.nan, failed=False)
    if condition.verdicts:
        stated = stated_of(condition.verdicts, one)
        if stated is None:
            raise _missing(condition, one, "verdict")
        holds = (stated in condition.verdicts) is (condition.comparison == "is")
    elif value is None:
        raise _missing(condition, one, condition.field)
    else:
        holds = COMPARISONS[condition.comparison](value, condition.limit)
    failed = holds and one.not_measurable is None
    number = math.nan if value is None else value
    return RuleResult(condition=condition, named=one, value=number, failed=failed)


def _missing(condition: Condition, one: NamedEstimate, what: str) -> InputError:
    """The error that an estimate lacks what a condition is about, and why."""
    change = ".change" if condition.change else ""
    row = one.stress if condition.field == HOLDS_IN else one.row
    why = "give this run to goffman stress first" if row is None else row["reason"]
    return InputError(
        f"{condition.given} cannot be decided: {one.name}{change} has no {what} "
        f"({why or 'the method gives none'})."
    )

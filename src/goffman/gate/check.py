"""The gate: each rule is tried on the estimates that it names, with one line on each outcome.

A missing value, or a name that fits nothing, is an error and never a pass.
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
"""How the line of each status begins, in the order in which lines are printed: what matters most is
last."""

_MUST = {
    ">": "limit",
    ">=": "must be less than",
    "<": "must be at least",
    "<=": "must be more than",
}
"""What a rule requires, given the comparison at which the gate fails."""


@dataclass(frozen=True, kw_only=True)
class RuleResult:
    """One condition tried on one estimate."""

    condition: Condition
    named: NamedEstimate
    value: float
    failed: bool
    """Whether the condition holds; never true of an estimate that is not measurable."""

    @property
    def not_measurable(self) -> bool:
        """Return whether nothing is decided because a model in the estimate cannot do the task."""
        return self.named.not_measurable is not None

    @property
    def status(self) -> Status:
        """Return the outcome in a word or two."""
        if self.not_measurable:
            return "not decided"
        return "failed" if self.failed else "ok"

    @property
    def name(self) -> str:
        """Return the full name of the estimate or of its field."""
        change = ".change" if self.condition.change else ""
        field = "" if self.condition.field == "value" else f".{self.condition.field}"
        return f"{self.named.name}{change}{field}"

    @property
    def sentence(self) -> str:
        """Return whether the gate fails, or cannot be decided, and the numbers that show it."""
        mark = MARKS[self.status]
        if self.not_measurable:
            return f"{mark} {self.name}: {self.named.not_measurable}"
        return f"{mark} {self.name} {self.found}, {self.required}{self._uncertainty()}"

    @property
    def found(self) -> str:
        """Return the estimate's number or verdict as text."""
        if self.condition.verdicts:
            return f"is {_quoted(str(stated_of(self.condition.verdicts, self.named)))}"
        return f"= {_digits(self.value, self.condition.limit)[0]}"

    @property
    def required(self) -> str:
        """Return a clause that says what the rule requires."""
        condition = self.condition
        if condition.verdicts:
            words = [_quoted(word) for word in condition.verdicts]
            must = "must not be" if condition.comparison == "is" else "must be"
            return f"{must} {' or '.join(words)}"
        return f"{_MUST[condition.comparison]} {_digits(self.value, condition.limit)[1]}"

    def _uncertainty(self) -> str:
        """Return in parentheses interval and verdict, or counts of analyses; else an empty text."""
        field, of_verdict = self.condition.field, bool(self.condition.verdicts)
        if field == HOLDS_IN and self.named.stress:
            counts = self.named.stress
            return f" ({counts['holds']} of {counts['analyses']} analyses)"
        if field not in {"value", "low", "high", ABSOLUTE}:
            return ""
        low, high = self.named.low, self.named.high
        parts = [f"value {self.value:.4g}"] if of_verdict and not math.isnan(self.value) else []
        if low is not None and high is not None:
            level = self.named.row["level"]
            parts.append(f"{confidence(level)} interval {ends(low, high)}")
            if self.named.verdict and not self.condition.verdicts:
                parts.append(f"verdict {_quoted(self.named.verdict)}")
        return f" ({', '.join(parts)})" if parts else " (no interval)"


GATE_FAILED, NOT_MEASURABLE = 1, 4
"""Exit codes: a rule failed; a model cannot do the task, so that its numbers decide nothing."""


def exit_code(outcomes: Iterable[RuleResult]) -> int:
    """Return the gate's exit code; NOT_MEASURABLE has precedence over GATE_FAILED."""
    statuses = {outcome.status for outcome in outcomes}
    if "not decided" in statuses:
        return NOT_MEASURABLE
    return GATE_FAILED if "failed" in statuses else 0


def in_order(outcomes: Iterable[RuleResult]) -> list[RuleResult]:
    """Return the outcomes, ok first and failures last: people look at a log's end first."""
    order = list(MARKS)
    return sorted(outcomes, key=lambda outcome: order.index(outcome.status))


def counted(outcomes: Sequence[RuleResult]) -> str:
    """Return how many outcomes are ok, not decided and failed."""
    counts = {status: sum(outcome.status == status for outcome in outcomes) for status in MARKS}
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def _quoted(verdict: str) -> str:
    """Return the verdict, in quotation marks if it has a comma."""
    return f"“{verdict}”" if "," in verdict else verdict


def stated_of(verdicts: Sequence[str], estimate: NamedEstimate) -> str | None:
    """Return an estimate's verdict when it is checked against these verdicts.

    None: the estimate was not tested, so that nothing can be said.
    """
    if MEASURABLE in verdicts:
        return estimate.verdict
    return None if estimate.row["low"] is None else estimate.verdict


def _digits(value: float, limit: float) -> tuple[str, str]:
    """Return both numbers, in full if rounding would hide on which side the value lies."""
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
    """Against a baseline run; None if there is none."""

    def gate(self, conditions: Iterable[Condition]) -> list[RuleResult]:
        """Return the result of each condition for each estimate that it names.

        Raise InputError with a line for each condition that cannot be decided.
        """
        outcomes, faults = [], []
        for condition in conditions:
            estimates = self.changes if condition.change else self.known
            if estimates is None:
                faults.append(
                    f"{condition.given} is about a change. Give the run to compare with: "
                    "--baseline RUN"
                )
                continue
            try:
                outcomes += [_try(condition, match) for match in _meant(condition, estimates)]
            except InputError as fault:
                faults.append(str(fault))
        if faults:
            raise InputError(*dict.fromkeys(faults))
        return outcomes


def gate_input(
    run: MeasuredRun,
    *,
    baseline: MeasuredRun | None = None,
    models: Sequence[str] = (),
    note: Callable[[str], None] = lambda _: None,
) -> GateInput:
    """Return all that rules can name: headings, estimates, means, control items and any changes.

    ``models``: as for compare; ``note`` is called with what could not be compared, and why.
    """
    estimates = named_estimates(run.every_estimate, run.manifest)
    estimates = add_multiverse_share(with_doubts(estimates, run), run)
    all_estimates = [
        *headings(estimates, run),
        *estimates,
        *with_doubts(means(run), run),
        *controls(run),
    ]
    if baseline is None:
        return GateInput(known=all_estimates)
    comparisons = compare([baseline, run], models=models, note=note)
    for line in describe_verdicts(comparisons):
        note(line)
    changes: list[NamedEstimate] = []
    for comparison in comparisons:
        contrasts = [
            estimate
            for estimate in named_estimates(comparison.estimates, run.manifest)
            if estimate.row["kind"] not in OF_RUNS
        ]
        compared = [*headings(contrasts, run), *contrasts, *changes_of_means(comparison, run)]
        why = "; ".join(comparison.unmeasurable) or None
        changes += [replace(estimate, not_measurable=why) for estimate in compared]
    return GateInput(known=all_estimates, changes=changes)


def meant_by(name: str, estimates: Sequence[NamedEstimate]) -> list[NamedEstimate]:
    """Return the estimates that a name means in a rule; raise InputError if there are none."""
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
    return [estimate for estimate in estimates if estimate.name == name] or _meant(
        condition, estimates
    )


def _meant(condition: Condition, estimates: Sequence[NamedEstimate]) -> list[NamedEstimate]:
    """Return the estimates that a condition names; raise InputError if there are none."""
    matches = [match for match in estimates if _fits(condition.path, match)]
    if not matches:
        raise _unknown(condition, estimates)
    if condition.field == HOLDS_IN:
        matches = [match for match in matches if match.main]
        if not matches:
            raise InputError(
                f"{condition.given} cannot be used: only main results have .{HOLDS_IN}, "
                f"and {condition.path or 'this run'} {'is' if condition.path else 'has'} none."
            )
    if condition.whose is None:
        # Estimates of every model; those over all models only where there are no others.
        single = {match.path for match in matches if match.model != EVERY_MODEL}
        return [
            match for match in matches if match.model != EVERY_MODEL or match.path not in single
        ]
    pattern = re.compile(_pattern(condition.whose))
    meant = [match for match in matches if condition.whose in _bracket_texts(match)] or [
        match for match in matches if any(pattern.fullmatch(text) for text in _bracket_texts(match))
    ]
    meant = meant or _by_shown_name(condition.whose, matches)
    if not meant:
        allowed = sorted({text for match in matches for text in _bracket_texts(match)})
        raise InputError(
            f"{condition.given}: this run has no {condition.path} for "
            f"'{condition.whose}'.{did_you_mean(condition.whose, allowed)} In the brackets you can "
            f"use: {_some(allowed)}."
        )
    return meant


def _by_shown_name(whose: str, of_path: Sequence[NamedEstimate]) -> list[NamedEstimate]:
    """Return the estimates of the model with this shown name, or of its variant MODEL, VARIANT."""
    models = {match.model for match in of_path if match.model}
    model, _, variant = whose.rpartition(", ")
    for name, wanted in ((whose, None), (model, variant)):
        if meant := models_meant(name, models):
            if len(meant) > 1:
                raise InputError(
                    f"'{name}' can be {join_words(sorted(meant), 'or')}. Give one of these names."
                )
            return [
                match
                for match in of_path
                if match.model in meant and wanted in {None, match.variant}
            ]
    return []


def _fits(path: str, estimate: NamedEstimate) -> bool:
    """Return whether a path, perhaps with wildcards, fits an estimate; an empty path fits any."""
    if "*" not in path:
        return path in {estimate.path, estimate.short_path} or (
            path == "" and estimate.own_word is None
        )
    if estimate.own_word is not None and estimate.own_word not in path.split("."):
        return False
    return any(re.fullmatch(_pattern(path), text) for text in (estimate.path, estimate.short_path))


def _pattern(text: str) -> str:
    """Return the text as a regular expression in which a star stands for any text."""
    return ".*".join(re.escape(part) for part in text.split("*"))


def _bracket_texts(estimate: NamedEstimate) -> list[str]:
    """Return every text in brackets that means this estimate: model, variant, or both."""
    parts = [part for part in (estimate.model, estimate.variant) if part]
    return list(dict.fromkeys([*parts, ", ".join(parts)]))


def _unknown(condition: Condition, estimates: Sequence[NamedEstimate]) -> InputError:
    if not estimates:
        reason = "there are no estimates, because too few prompts were asked"
        if condition.change:
            reason = "there are no changes, because the two runs have too few prompts in common"
        return InputError(f"{condition.given} cannot be decided: {reason}.")
    of_controls = condition.path.split(".")[-1] == CONTROLS and not condition.change
    if of_controls and all(estimate.own_word != CONTROLS for estimate in estimates):
        return InputError(
            f"{condition.given} cannot be decided: no control items were asked in this run."
        )
    name, hint = f"'{condition.path}'.", ""
    if "*" in condition.path:
        name = f"whose name fits {name}"
    else:
        paths = [
            *(estimate.path for estimate in estimates),
            *(estimate.short_path for estimate in estimates),
        ]
        head = condition.path.rpartition(".")[0]
        fields = [f"{head}.{field}" for field in FIELDS] if head in paths else []
        hint = did_you_mean(condition.path, [*paths, *fields])
    return InputError(
        f"{condition.given}: this run has no {'change' if condition.change else 'estimate'} "
        f"{name}{hint} To see every name, give --list instead of a rule."
    )


def _some(names: Sequence[str]) -> str:
    """Return the names; if they are many, the first of them and how to see the others."""
    if len(names) <= NAMES_ON_A_SCREEN:
        return ", ".join(names)
    more = len(names) - NAMES_ON_A_SCREEN
    return f"{', '.join(names[:NAMES_ON_A_SCREEN])} … and {more} more, which --list prints"


def _try(condition: Condition, estimate: NamedEstimate) -> RuleResult:
    value = estimate.field(condition.field)
    if value is None and condition.field == HOLDS_IN and estimate.not_measurable:
        return RuleResult(condition=condition, named=estimate, value=math.nan, failed=False)
    if condition.verdicts:
        stated = stated_of(condition.verdicts, estimate)
        if stated is None:
            raise _missing(condition, estimate, "verdict")
        holds = (stated in condition.verdicts) is (condition.comparison == "is")
    elif value is None:
        raise _missing(condition, estimate, condition.field)
    else:
        holds = COMPARISONS[condition.comparison](value, condition.limit)
    failed = holds and estimate.not_measurable is None
    number = math.nan if value is None else value
    return RuleResult(condition=condition, named=estimate, value=number, failed=failed)


def _missing(condition: Condition, estimate: NamedEstimate, what: str) -> InputError:
    """Return an InputError that says which value the estimate lacks, and why."""
    change = ".change" if condition.change else ""
    row = estimate.stress if condition.field == HOLDS_IN else estimate.row
    why = "give this run to goffman stress first" if row is None else row["reason"]
    return InputError(
        f"{condition.given} cannot be decided: {estimate.name}{change} has no {what} "
        f"({why or 'the method gives none'})."
    )

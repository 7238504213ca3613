"""A gate: conditions on estimates of a run by name, such as "social-distance.gap is relevant".

    CONDITION  = NAME [ "." FIELD ] COMPARISON NUMBER | NAME "is" [ "not" ] VERDICT
               | "holds-in" [ "[" WHOSE "]" ] COMPARISON NUMBER
    NAME       = PATH [ "[" WHOSE "]" ] [ ".change" ]
    COMPARISON = ">" | ">=" | "<" | "<="
    VERDICT    = "clear" | "relevant" | "small" | "size-open" | "fragile" | "equivalent"
               | "undecided"

The verdicts are the report's; size-open is its "clear, size open". Clear is what is relevant,
small, size-open or fragile. Paths are in names.py; a path without its instrument is that of every
instrument, and one without a bracket is every model's and variant's: each is tested. A value that
is not there is an error and never a pass, and so is a verdict on what could not be tested; an
estimate of a model that cannot do the task is neither passed nor failed. holds-in is a field of
main results, after goffman stress; alone it is that of every one.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.errors import InputError, did_you_mean
from goffman.estimates.clear import points
from goffman.estimates.verdict import FRAGILE, SIZE_OPEN
from goffman.presentation.numbers import ends, p_said
from goffman.reports.names import EVERY_MODEL, FIELDS, HOLDS_IN, Named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}

_IN_WORDS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}

VERDICTS: Mapping[str, str] = {
    "relevant": "relevant",
    "small": "small",
    "size-open": SIZE_OPEN,
    "fragile": FRAGILE,
    "equivalent": "equivalent",
    "undecided": "undecided",
    "clear": "clear",
}
"""What an estimate can be said to be: as a rule spells it → as the report does."""

_ALSO = {"size open": "size-open", SIZE_OPEN: "size-open"}
"""Further spellings: those that people see."""

EXAMPLES = "'social-distance.gap is relevant' or 'social-distance.gap > 0.2'"

NAMES_ON_A_SCREEN = 15

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

_IS = re.compile(r"(?:(?P<before>.*?)\s+)?is(?P<not>\s+not)?(?:\s+(?P<verdict>.*))?", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What makes a gate fail, as it was given."""

    text: str
    path: str
    """Empty: every main result."""
    whose: str | None
    """What stands in the bracket; None: there is none."""
    change: bool
    """Whether it is about the change against the baseline run."""
    field: str
    comparison: str
    """One of COMPARISONS, "is" or "is not"."""
    limit: float = math.nan
    verdict: str | None = None
    """After "is" a verdict as the report spells it, and no limit; None: it is about a number."""


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
    def name(self) -> str:
        """The full name of what was tried."""
        change = ".change" if self.condition.change else ""
        field = "" if self.condition.field == "value" else f".{self.condition.field}"
        return f"{self.named.name}{change}{field}"

    @property
    def sentence(self) -> str:
        """Why the gate fails, or does not, or cannot be decided."""
        about = self.condition
        if self.not_measurable:
            return f"not decided, because of {self.name}: {self.named.not_measurable}."
        outcome = "failed, because" if self.failed else "passed, because"
        if about.verdict is not None:
            stated = stated_of(about.verdict, self.named)
            other = stated not in {about.verdict, f"not {about.verdict}"}
            tail = f", not {_quoted(about.verdict)}" if other else ""
            doubt = self._doubt(f"value {self.value:.4g}")
            return f"{outcome} {self.name} is {_quoted(str(stated))}{doubt}{tail}."
        value, limit = _digits(self.value, about.limit)
        said = f"{self.name} is {value}{self._doubt()}"
        link = "which is" if self.failed else "which is not"
        return f"{outcome} {said}, {link} {_IN_WORDS[about.comparison]} {limit}."

    def _doubt(self, *first: str) -> str:
        """The interval, p and verdict of an estimate whose value, or interval, is tried."""
        if self.condition.field == HOLDS_IN and self.named.stress:
            held = self.named.stress
            return f" ({held['holds']} of {held['analyses']} analyses)"
        if self.condition.field not in {"value", "low", "high"}:
            return ""
        low, high, p = (self.named.value(name) for name in ("low", "high", "p_adjusted"))
        parts = [*first]
        if low is not None and high is not None:
            level = self.named.row["level"]
            parts.append(f"{level:.0%} interval {ends(low, high)}")
        if p is not None:
            parts.append(f"corrected {p_said(p)}")
            if self.named.verdict and self.condition.verdict in {None, "clear"}:
                parts.append(f"verdict {_quoted(self.named.verdict)}")
        return f" ({', '.join(parts)})" if parts else " (no interval)"


def _quoted(verdict: str) -> str:
    """The verdict so that a comma in it does not end it."""
    return f"“{verdict}”" if "," in verdict else verdict


def stated_of(verdict: str, one: Named) -> str | None:
    """What an estimate is where it is asked whether it is clear, or has another verdict.

    None: it was not tested, so that nothing can be said.
    """
    if one.row["p_adjusted"] is None:
        return None
    if verdict == "clear":
        return "clear" if points(one.row) else "not clear"
    return one.verdict


def parse(text: str) -> Condition:
    """The condition; InputError with what is wrong and how one is written."""
    name, whose, rest = _bracket(text)
    before, compared = _compared(text, rest)
    tail = before if whose is None else f"{name}{before}"
    if whose is not None and before and not before.startswith("."):
        raise _fault(text, f"'{before}' after the bracket is not a field, such as .low")
    parts = tail.split(".")
    if not all(re.fullmatch(r"[\w-]+", part) for part in parts):
        raise _fault(text, f"'{tail}' is not a name such as social-distance.gap")
    if parts == [HOLDS_IN]:
        parts.insert(0, "")
    field = parts.pop() if parts[-1] in FIELDS and len(parts) > 1 else "value"
    if "verdict" in compared and field != "value":
        raise _fault(
            text,
            f"{field} is a number and has no verdict: compare it with a number, or leave it out",
        )
    change = parts[-1] == "change" and len(parts) > 1
    path = ".".join(parts[:-1] if change else parts)
    return Condition(
        text=text,
        path=path,
        whose=whose,
        change=change,
        field=field,
        **compared,
    )


def _compared(text: str, rest: str) -> tuple[str, dict[str, Any]]:
    """What stands before the comparison; the comparison, and its limit or verdict."""
    if wrong := re.search(r"=[<>]|(?<![<>])==?", rest):
        meant = {"=>": ">=", "=<": "<="}.get(wrong.group())
        hint = f" Did you mean '{meant}'?" if meant else " Allowed: >, >=, <, <=, is, is not."
        raise _fault(text, f"'{wrong.group()}' is not a comparison", hint=hint)
    if found := re.search(r"[<>]=?", rest):
        before, after = rest[: found.start()].strip(), rest[found.end() :].strip()
        if not _NUMBER.fullmatch(after):
            fault = f"'{after}' after {found.group()} is not a number"
            raise _fault(text, fault if after else f"there is no number after {found.group()}")
        if math.isinf(float(after)):
            raise _fault(text, f"{after} is too large a number")
        return before, {"comparison": found.group(), "limit": float(after)}
    if said := _IS.fullmatch(rest.strip()):
        comparison, word = "is not" if said["not"] else "is", said["verdict"] or ""
        word = _ALSO.get(word, word)
        if word not in VERDICTS:
            *most, last = VERDICTS
            fault = f"'{word}' is not a verdict ({', '.join(most)} or {last})"
            raise _fault(text, fault, hint=did_you_mean(word, VERDICTS))
        return said["before"] or "", {"comparison": comparison, "verdict": VERDICTS[word]}
    raise _fault(text, "it has no comparison (>, >=, <, <=, is or is not)")


def _bracket(text: str) -> tuple[str, str | None, str]:
    """What stands before the bracket, in it and after it; None and all of it where none is."""
    if "[" not in text:
        return "", None, text
    name, _, inside = text.partition("[")
    # The last one, because a model's name may hold another.
    whose, closed, rest = inside.rpartition("]")
    if not closed:
        raise _fault(text, "its bracket is not closed")
    return name.strip(), whose.strip(), rest


def _fault(text: str, what: str, *, hint: str = "") -> InputError:
    return InputError(
        f"--fail-if '{text}' cannot be used: {what}.{hint} Write a rule like {EXAMPLES}."
    )


def gate(
    conditions: Sequence[Condition],
    estimates: Sequence[Named],
    *,
    changes: Sequence[Named] | None = None,
) -> list[Outcome]:
    """Every condition tried on every estimate that it names; ``changes``: against a baseline."""
    outcomes = []
    for condition in conditions:
        if condition.change and changes is None:
            raise InputError(
                f"--fail-if '{condition.text}' is about a change. Give the run to compare with: "
                "--baseline RUN"
            )
        known = (changes or ()) if condition.change else estimates
        outcomes += [_try(condition, one) for one in _meant(condition, known)]
    return outcomes


def _meant(condition: Condition, known: Sequence[Named]) -> list[Named]:
    """The estimates that a condition names; InputError where there is none."""
    of_path = [one for one in known if condition.path in {"", one.path, _short(one)}]
    if not of_path:
        raise _unknown(condition, known)
    if condition.field == HOLDS_IN:
        of_path = [one for one in of_path if one.main]
        if not of_path:
            raise InputError(
                f"--fail-if '{condition.text}' cannot be used: only main results have .{HOLDS_IN}, "
                f"and {condition.path or 'this run'} {'is' if condition.path else 'has'} none."
            )
    if condition.whose is None:
        # Of every model; what is over all of them, only where there is nothing else.
        single = [one for one in of_path if one.model != EVERY_MODEL]
        return single or of_path
    meant = [one for one in of_path if condition.whose in _insides(one)]
    if not meant:
        allowed = sorted({inside for one in of_path for inside in _insides(one)})
        raise InputError(
            f"--fail-if '{condition.text}': this run has no {condition.path} for "
            f"'{condition.whose}'.{did_you_mean(condition.whose, allowed)} In the brackets you can "
            f"use: {_some(allowed)}."
        )
    return meant


def _short(one: Named) -> str:
    """The path without its instrument; a correlation has none."""
    instrument = one.row["instrument"]
    return one.path if instrument is None else one.path.removeprefix(f"{instrument}.")


def _insides(one: Named) -> list[str]:
    """What may stand in the bracket for an estimate."""
    parts = [part for part in (one.model, one.variant) if part]
    return list(dict.fromkeys([*parts, ", ".join(parts)]))


def _unknown(condition: Condition, known: Sequence[Named]) -> InputError:
    if not known:
        none = "there are no estimates, because too few prompts were asked"
        if condition.change:
            none = "there are no changes, because the two runs have too few prompts in common"
        return InputError(f"--fail-if '{condition.text}' cannot be decided: {none}.")
    what = "change" if condition.change else "estimate"
    near = did_you_mean(condition.path, [*(one.path for one in known), *map(_short, known)])
    return InputError(
        f"--fail-if '{condition.text}': this run has no {what} '{condition.path}'.{near} To see "
        "every name, give --list instead of --fail-if."
    )


def _some(names: Sequence[str]) -> str:
    """The names, or the first of them and where the others are."""
    if len(names) <= NAMES_ON_A_SCREEN:
        return ", ".join(names)
    rest = len(names) - NAMES_ON_A_SCREEN
    return f"{', '.join(names[:NAMES_ON_A_SCREEN])} … and {rest} more, which --list prints"


def _try(condition: Condition, one: Named) -> Outcome:
    value = one.value(condition.field)
    if value is None and condition.field == HOLDS_IN and one.not_measurable:
        return Outcome(condition=condition, named=one, value=math.nan, failed=False)
    stated = None if condition.verdict is None else stated_of(condition.verdict, one)
    if value is None or (condition.verdict is not None and stated is None):
        why = _why_none(one, condition.field)
        change = ".change" if condition.change else ""
        what = condition.field if condition.verdict is None else "verdict"
        raise InputError(
            f"--fail-if '{condition.text}' cannot be decided: {one.name}{change} has no "
            f"{what} ({why})."
        )
    if condition.verdict is None:
        holds = COMPARISONS[condition.comparison](value, condition.limit)
    else:
        holds = (stated == condition.verdict) is (condition.comparison == "is")
    failed = holds and one.not_measurable is None
    return Outcome(condition=condition, named=one, value=value, failed=failed)


def _why_none(one: Named, field: str) -> str:
    """Why an estimate lacks what a condition is about."""
    if field == HOLDS_IN and one.stress is None:
        return "give this run to goffman stress first"
    row = one.stress if field == HOLDS_IN and one.stress else one.row
    return row["reason"] or "the method gives none"


def _digits(value: float, limit: float) -> tuple[str, str]:
    """Both numbers, with all digits where fewer would hide on which side the value lies."""
    short = f"{value:.4g}", f"{limit:.4g}"
    hidden = value != limit and float(short[0]) == float(short[1])
    return (repr(value), repr(limit)) if hidden or float(short[1]) != limit else short

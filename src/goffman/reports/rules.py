"""A rule of the gate, such as "social-distance.gap is relevant": what it names and when it fails.

    RULE       = NAME [ "." FIELD ] COMPARISON NUMBER
               | NAME "is" [ "not" ] VERDICT { "or" VERDICT }
               | "holds-in" [ "[" WHOSE "]" ] COMPARISON NUMBER
    NAME       = PATH [ "[" WHOSE "]" ] [ ".change" ]
    COMPARISON = ">" | ">=" | "<" | "<="
    VERDICT    = "clear" | "relevant" | "small" | "size-open" | "fragile" | "equivalent"
               | "undecided" | "measurable"

In a PATH and in WHOSE a "*" stands for any text. The verdicts are the report's; size-open is its
"clear, size open". Clear is what is relevant, small, size-open or fragile. Measurable is what
control items show, and nothing else. Paths are in names.py and levels.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from goffman.errors import InputError, did_you_mean
from goffman.estimates.verdict import FRAGILE, SIZE_OPEN
from goffman.reports.names import CONTROLS, FIELDS, HOLDS_IN, MEASURABLE

VERDICTS: Mapping[str, str] = {
    "relevant": "relevant",
    "small": "small",
    "size-open": SIZE_OPEN,
    "fragile": FRAGILE,
    "equivalent": "equivalent",
    "undecided": "undecided",
    "clear": "clear",
    MEASURABLE: MEASURABLE,
}
"""What an estimate can be said to be: as a rule spells it → as the report does."""

_ALSO = {"size open": "size-open", SIZE_OPEN: "size-open"}
"""Further spellings: those that people see."""

EXAMPLES = "'social-distance.gap is relevant' or 'social-distance.gap > 0.2'"

FLAG = "--fail-if"

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
    verdicts: tuple[str, ...] = ()
    """After "is" the verdicts as the report spells them, and no limit; empty: it is about a
    number."""
    origin: str = "Rule"
    """Where it was given: how a message about it begins."""
    file: str | None = None
    """The file of thresholds that it stands in; None: it was given by itself."""
    line: int | None = None
    """The line of that file."""

    @property
    def given(self) -> str:
        """Where it was given, and what it is: how a message begins."""
        return f"{self.origin} '{self.text}'"


class Unreadable(ValueError):  # noqa: N818 - it becomes an error with its place
    """What is wrong with a name or a rule; ``hint``: a sentence after it."""

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


def parse(text: str) -> Condition:
    """The condition; InputError with what is wrong and how one is written."""
    try:
        return replace(read_rule(text), origin=FLAG)
    except Unreadable as fault:
        raise InputError(
            f"{FLAG} '{text}' cannot be used: {fault.what}.{fault.hint} Write a rule like "
            f"{EXAMPLES}."
        ) from fault


def read_rule(text: str) -> Condition:
    """The condition; Unreadable says why it is none."""
    name, whose, rest = _bracket(text)
    before, compared = _compared(rest)
    condition = Condition(text=text, **_named(name, whose, before), **compared)
    _check_verdicts(condition)
    return condition


def read_name(text: str) -> dict[str, Any]:
    """The path, whose it is, whether it is a change, and the field; Unreadable says why not."""
    name, whose, rest = _bracket(text)
    return _named(name, whose, rest.strip())


def _check_verdicts(condition: Condition) -> None:
    """Unreadable where what it names has no such verdict."""
    verdicts, field = condition.verdicts, condition.field
    if verdicts and field != "value":
        raise Unreadable(
            f"{field} is a number and has no verdict: compare it with a number, or leave it out"
        )
    of_controls = condition.path.split(".")[-1] == CONTROLS
    if MEASURABLE in verdicts and not of_controls:
        raise Unreadable(
            "only control items show whether a model is measurable: write a rule like "
            f"'social-distance.{CONTROLS} is not {MEASURABLE}'"
        )
    if of_controls and verdicts and {*verdicts} != {MEASURABLE}:
        raise Unreadable(f"control items have no verdict but {MEASURABLE}")


def _named(name: str, whose: str | None, after: str) -> dict[str, Any]:
    """The parts of a name, from what stands before its bracket, in it and after it."""
    tail = after if whose is None else f"{name}{after}"
    if whose is not None and after and not after.startswith("."):
        raise Unreadable(f"'{after}' after the bracket is not a field, such as .low")
    parts = tail.split(".")
    if not all(re.fullmatch(r"[\w*-]+", part) for part in parts):
        raise Unreadable(f"'{tail}' is not a name such as social-distance.gap")
    if parts == [HOLDS_IN]:
        parts.insert(0, "")
    field = parts.pop() if parts[-1] in FIELDS and len(parts) > 1 else "value"
    change = parts[-1] == "change" and len(parts) > 1
    path = ".".join(parts[:-1] if change else parts)
    return {"path": path, "whose": whose, "change": change, "field": field}


def _compared(rest: str) -> tuple[str, dict[str, Any]]:
    """What stands before the comparison; the comparison, and its limit or verdicts."""
    if wrong := re.search(r"=[<>]|(?<![<>])==?", rest):
        meant = {"=>": ">=", "=<": "<="}.get(wrong.group())
        hint = f" Did you mean '{meant}'?" if meant else " Allowed: >, >=, <, <=, is, is not."
        raise Unreadable(f"'{wrong.group()}' is not a comparison", hint=hint)
    if found := re.search(r"[<>]=?", rest):
        before, after = rest[: found.start()].strip(), rest[found.end() :].strip()
        if not _NUMBER.fullmatch(after):
            fault = f"'{after}' after {found.group()} is not a number"
            raise Unreadable(fault if after else f"there is no number after {found.group()}")
        if math.isinf(float(after)):
            raise Unreadable(f"{after} is too large a number")
        return before, {"comparison": found.group(), "limit": float(after)}
    if said := _IS.fullmatch(rest.strip()):
        comparison, words = "is not" if said["not"] else "is", said["verdict"] or ""
        verdicts = read_verdicts(re.split(r"\s+or\s+", words))
        return said["before"] or "", {"comparison": comparison, "verdicts": verdicts}
    raise Unreadable("it has no comparison (>, >=, <, <=, is or is not)")


def read_verdicts(words: Sequence[str]) -> tuple[str, ...]:
    """The verdicts as the report spells them; Unreadable for a word that is none."""
    meant = [_ALSO.get(word, word) for word in words]
    for word in meant:
        if word not in VERDICTS:
            *most, last = VERDICTS
            fault = f"'{word}' is not a verdict ({', '.join(most)} or {last})"
            raise Unreadable(fault, hint=did_you_mean(word, VERDICTS))
    return tuple(dict.fromkeys(VERDICTS[word] for word in meant))


def _bracket(text: str) -> tuple[str, str | None, str]:
    """What stands before the bracket, in it and after it; None and all of it where none is."""
    if "[" not in text:
        return "", None, text
    name, _, inside = text.partition("[")
    # The last one, because a model's name may hold another.
    whose, closed, rest = inside.rpartition("]")
    if not closed:
        raise Unreadable("its bracket is not closed")
    return name.strip(), whose.strip(), rest

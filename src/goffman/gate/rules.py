"""Rules of the gate and the files that hold them.

    RULE       = NAME [ "." FIELD ] COMPARISON NUMBER
               | NAME "is" [ "not" ] VERDICT { "or" VERDICT }
               | "holds-in" [ "[" WHOSE "]" ] COMPARISON NUMBER
    NAME       = PATH [ "[" WHOSE "]" ] [ ".change" ]
    COMPARISON = ">" | ">=" | "<" | "<="
    VERDICT    = "relevant" | "present" | "negligible" | "inconclusive" | "these-sentences-only"
               | "measurable"

In a PATH and in WHOSE a "*" stands for any text. The verdicts are the report's; present is its
"present, size uncertain". Measurable is what control items show, and nothing else. Paths are in
names.py.

The file of thresholds, goffman.toml: rules of the gate as tables, each fault with its line.

    [[rules]]
    name = "social-distance.gap"         # as goffman check --list prints it; * is any text
    limit = 0.1                          # the most it may be
    at-least = -0.1                      # the least
    bound = "high"                       # of what: estimate, low, high or absolute
    forbidden-verdicts = ["relevant"]
    allowed-verdicts = ["negligible"]
    holds-in = 0.9                       # the least share of other analyses
    measurable = true                    # of control items: name = "social-distance.controls"

A table gives as many conditions as it has things to test, each the same as the rule that could be
given by itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goffman.contrasts.verdict import (
    INCONCLUSIVE,
    NEGLIGIBLE,
    PRESENT,
    RELEVANT,
    SENTENCES_ONLY,
)
from goffman.errors import FaultsError, InputError, did_you_mean
from goffman.gate.names import (
    ABSOLUTE,
    CONTROLS,
    FIELDS,
    HOLDS_IN,
    MEASURABLE,
)
from goffman.instruments.files import (
    Faults,
    TomlFile,
    TomlTable,
    read_toml,
)

VERDICTS: Mapping[str, str] = {
    "relevant": RELEVANT,
    "present": PRESENT,
    "negligible": NEGLIGIBLE,
    "inconclusive": INCONCLUSIVE,
    "these-sentences-only": SENTENCES_ONLY,
    MEASURABLE: MEASURABLE,
}
"""What an estimate can be said to be: as a rule spells it → as the report does."""

_ALSO: Mapping[str, str] = {PRESENT: "present", SENTENCES_ONLY: "these-sentences-only"}
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


class RuleSyntaxError(ValueError):
    """What is wrong with a name or a rule; ``hint``: a sentence after it."""

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


def parse(text: str) -> Condition:
    """The condition; InputError with what is wrong and how one is written."""
    try:
        return replace(read_rule(text), origin=FLAG)
    except RuleSyntaxError as fault:
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
        raise RuleSyntaxError(
            f"{field} is a number and has no verdict: compare it with a number, or leave it out"
        )
    of_controls = condition.path.split(".")[-1] == CONTROLS
    if MEASURABLE in verdicts and not of_controls:
        raise RuleSyntaxError(
            "only control items show whether a model is measurable: write a rule like "
            f"'social-distance.{CONTROLS} is not {MEASURABLE}'"
        )
    if of_controls and verdicts and {*verdicts} != {MEASURABLE}:
        raise RuleSyntaxError(f"control items have no verdict but {MEASURABLE}")


def _named(name: str, whose: str | None, after: str) -> dict[str, Any]:
    """The parts of a name, from what stands before its bracket, in it and after it."""
    tail = after if whose is None else f"{name}{after}"
    if whose is not None and after and not after.startswith("."):
        raise RuleSyntaxError(f"'{after}' after the bracket is not a field, such as .low")
    parts = tail.split(".")
    if not all(re.fullmatch(r"[\w*-]+", part) for part in parts):
        raise RuleSyntaxError(f"'{tail}' is not a name such as social-distance.gap")
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
        raise RuleSyntaxError(f"'{wrong.group()}' is not a comparison", hint=hint)
    if found := re.search(r"[<>]=?", rest):
        before, after = rest[: found.start()].strip(), rest[found.end() :].strip()
        if not _NUMBER.fullmatch(after):
            fault = f"'{after}' after {found.group()} is not a number"
            raise RuleSyntaxError(fault if after else f"there is no number after {found.group()}")
        if math.isinf(float(after)):
            raise RuleSyntaxError(f"{after} is too large a number")
        return before, {"comparison": found.group(), "limit": float(after)}
    if said := _IS.fullmatch(rest.strip()):
        comparison, words = "is not" if said["not"] else "is", said["verdict"] or ""
        verdicts = read_verdicts(re.split(r"\s+or\s+", words))
        return said["before"] or "", {"comparison": comparison, "verdicts": verdicts}
    raise RuleSyntaxError("it has no comparison (>, >=, <, <=, is or is not)")


def read_verdicts(words: Sequence[str]) -> tuple[str, ...]:
    """The verdicts as the report spells them; Unreadable for a word that is none."""
    meant = [_ALSO.get(word, word) for word in words]
    for word in meant:
        if word not in VERDICTS:
            *most, last = VERDICTS
            fault = f"'{word}' is not a verdict ({', '.join(most)} or {last})"
            raise RuleSyntaxError(fault, hint=did_you_mean(word, VERDICTS))
    return tuple(dict.fromkeys(VERDICTS[word] for word in meant))


def _bracket(text: str) -> tuple[str, str | None, str]:
    """What stands before the bracket, in it and after it; None and all of it where none is."""
    if "[" not in text:
        return "", None, text
    name, _, inside = text.partition("[")
    # The last one, because a model's name may hold another.
    whose, closed, rest = inside.rpartition("]")
    if not closed:
        raise RuleSyntaxError("its bracket is not closed")
    return name.strip(), whose.strip(), rest


DEFAULT = Path("goffman.toml")
"""Read from the current folder where no rule is given."""

TABLE = "rules"

BOUNDS: Mapping[str, str] = {
    "estimate": "value",
    "low": "low",
    "high": "high",
    ABSOLUTE: ABSOLUTE,
}
"""What a limit is of → the field of the estimate."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One table of the file."""

    name: str
    limit: float | None = None
    at_least: float | None = None
    bound: str | None = None
    """A key of BOUNDS; None: the estimate, or the field that the name ends in."""
    forbidden: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    """Verdicts as the report spells them."""
    holds_in: float | None = None
    measurable: bool = False

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """Each condition as a rule that fails, after the key that it comes from."""
        bound = "" if self.bound in {None, "estimate"} else f".{BOUNDS[str(self.bound)]}"
        spelled = {report: rule for rule, report in VERDICTS.items()}
        if self.limit is not None:
            yield "limit", f"{self.name}{bound} > {self.limit!r}"
        if self.at_least is not None:
            yield "at-least", f"{self.name}{bound} < {self.at_least!r}"
        if self.forbidden:
            words = " or ".join(spelled[word] for word in self.forbidden)
            yield "forbidden-verdicts", f"{self.name} is {words}"
        if self.allowed:
            words = " or ".join(spelled[word] for word in self.allowed)
            yield "allowed-verdicts", f"{self.name} is not {words}"
        if self.holds_in is not None:
            yield HOLDS_IN, f"{self.name}.{HOLDS_IN} < {self.holds_in!r}"
        if self.measurable:
            yield MEASURABLE, f"{self.name} is not {MEASURABLE}"


def read_thresholds(path: Path) -> list[Condition]:
    """The conditions of the file, in its order; FaultsError with all that is wrong with it."""
    faults = Faults()
    file = read_toml(path, faults)
    found = [] if file is None else list(_conditions(file, path, faults))
    if faults.found:
        raise FaultsError(str(path), faults.found)
    return found


def _conditions(file: TomlFile, path: Path, faults: Faults) -> Iterator[Condition]:
    top = file.top()
    for key in top.values:
        if key != TABLE:
            near = did_you_mean(key, [TABLE])
            faults.add(
                file.name, top.lines.get(key), f"unknown key '{key}'. Allowed: {TABLE}.{near}"
            )
    if TABLE in top.values and not isinstance(top.values[TABLE], list):
        faults.add(file.name, top.lines.get(TABLE), f"write [[{TABLE}]], with two brackets.")
        return
    tables = file.tables(TABLE)
    if not tables and not faults.found:
        faults.add(file.name, None, f"there are no rules. Write at least one table [[{TABLE}]].")
    for table in tables:
        before = len(faults.found)
        rule = _rule(table, faults)
        if rule is None or len(faults.found) > before:
            continue
        for key, text in rule.texts:
            line = table.lines.get(key)
            origin = f"{path}, rule" if line is None else f"{path}, line {line}, rule"
            try:
                yield replace(read_rule(text), origin=origin, file=str(path), line=line)
            except RuleSyntaxError as fault:
                faults.add(file.name, line, f"{key}: {fault.what}.{fault.hint}")


def _rule(table: TomlTable, faults: Faults) -> Rule | None:
    """The table as a rule; None, with its faults noted, where it is none."""
    good: dict[str, Any] = {}
    for key, value in table.values.items():
        line = table.lines.get(key)
        if key not in _READ:
            near = did_you_mean(key, _READ)
            allowed = ", ".join(_READ)
            faults.add(table.file, line, f"unknown key '{key}'. Allowed: {allowed}.{near}")
            continue
        field, read = _READ[key]
        try:
            good[field] = read(value)
        except RuleSyntaxError as fault:
            faults.add(table.file, line, f"{key}: {fault.what}.{fault.hint}")
    start = min(table.lines.values(), default=None)
    if "name" not in table.values:
        faults.add(table.file, start, "the key 'name' is missing.")
    if "name" not in good:
        return None
    rule = Rule(**good)
    if table.values.keys() <= _READ.keys():
        # Otherwise what seems to be missing may be misspelled.
        for what in _amiss(rule, table.values):
            faults.add(table.file, start, what)
    return rule


def _amiss(rule: Rule, given: Mapping[str, Any]) -> Iterator[str]:
    """What does not fit together in one table."""
    tests = [key for key in _READ if key not in {"name", "bound"}]
    if not any(key in given for key in tests):
        yield f"the rule for '{rule.name}' tests nothing. Add one of: {', '.join(tests)}."
    if "bound" in given and not {"limit", "at-least"} & {*given}:
        yield "bound needs a limit or at-least."
    field = read_name(rule.name)["field"]
    if rule.bound is not None and field != "value":
        yield f"the name ends in .{field}. Leave out that or bound."
    if rule.limit is not None and rule.at_least is not None and rule.limit < rule.at_least:
        yield f"no number is at least {rule.at_least!r} and at most {rule.limit!r}."
    if rule.forbidden and rule.allowed:
        yield "give forbidden-verdicts or allowed-verdicts, not both."


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise RuleSyntaxError("it must be text in quotes")
    read_name(value)
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RuleSyntaxError("it must be a number, without quotes")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RuleSyntaxError("it must be a finite number")
    return number


def _share(value: object) -> float:
    number = _number(value)
    if not 0 <= number <= 1:
        raise RuleSyntaxError("it must be a share from 0 to 1, such as 0.9")
    return number


def _bound(value: object) -> str:
    if value not in BOUNDS:
        near = did_you_mean(value, BOUNDS) if isinstance(value, str) else ""
        raise RuleSyntaxError(f"it must be one of {', '.join(BOUNDS)}", hint=near)
    return str(value)


def _verdicts(value: object) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not all(isinstance(one, str) for one in words):
        raise RuleSyntaxError('it must be a list of verdicts, such as ["relevant", "present"]')
    return read_verdicts(words)


def _true(value: object) -> bool:
    if value is not True:
        raise RuleSyntaxError("it must be true; to test something else, leave it out")
    return True


_READ: Mapping[str, tuple[str, Callable[[object], Any]]] = {
    "name": ("name", _name),
    "limit": ("limit", _number),
    "at-least": ("at_least", _number),
    "bound": ("bound", _bound),
    "forbidden-verdicts": ("forbidden", _verdicts),
    "allowed-verdicts": ("allowed", _verdicts),
    HOLDS_IN: ("holds_in", _share),
    MEASURABLE: ("measurable", _true),
}
"""A key → the field of a rule, and what reads its value."""

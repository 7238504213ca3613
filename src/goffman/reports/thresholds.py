"""The file of thresholds, goffman.toml: rules of the gate as tables, each fault with its line.

    [[rules]]
    name = "social-distance.gap"         # as goffman check --list prints it; * is any text
    limit = 0.1                          # the most it may be
    at-least = -0.1                      # the least
    bound = "high"                       # of what: estimate, low, high or absolute
    forbidden-verdicts = ["relevant"]
    allowed-verdicts = ["small", "equivalent"]
    holds-in = 0.9                       # the least share of other analyses
    measurable = true                    # of control items: name = "social-distance.controls"

A table gives as many conditions as it has things to test, each the same as the rule that could be
given by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goffman.errors import FaultsError, did_you_mean
from goffman.instruments.files import Faults, TomlFile, TomlTable, read_toml
from goffman.reports.names import ABSOLUTE, HOLDS_IN, MEASURABLE
from goffman.reports.rules import (
    VERDICTS,
    Condition,
    Unreadable,
    read_name,
    read_rule,
    read_verdicts,
)

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
    tables = file.tables(TABLE, faults)
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
            except Unreadable as fault:
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
        except Unreadable as fault:
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
        raise Unreadable("it must be text in quotes")
    read_name(value)
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unreadable("it must be a number, without quotes")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Unreadable("it must be a finite number")
    return number


def _share(value: object) -> float:
    number = _number(value)
    if not 0 <= number <= 1:
        raise Unreadable("it must be a share from 0 to 1, such as 0.9")
    return number


def _bound(value: object) -> str:
    if value not in BOUNDS:
        near = did_you_mean(value, BOUNDS) if isinstance(value, str) else ""
        raise Unreadable(f"it must be one of {', '.join(BOUNDS)}", hint=near)
    return str(value)


def _verdicts(value: object) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not all(isinstance(one, str) for one in words):
        raise Unreadable('it must be a list of verdicts, such as ["relevant", "fragile"]')
    return read_verdicts(words)


def _true(value: object) -> bool:
    if value is not True:
        raise Unreadable("it must be true; to test something else, leave it out")
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

"""Rules of the gate, and the file that holds them: docs/ci.md says how both are written.

Each table of the file gives one condition for each thing that it tests.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goffman.contrasts.verdict import VERDICT_FACTS
from goffman.errors import FaultsError, InputError, did_you_mean
from goffman.gate.names import ABSOLUTE, CONTROLS, FIELDS, HOLDS_IN, MEASURABLE
from goffman.instruments.fields import TABLES, Field, Fields, number
from goffman.instruments.files import Faults, TomlFile, TomlTable, read_toml

WORDS: Mapping[str, str] = {
    **{facts.rule: verdict for verdict, facts in VERDICT_FACTS.items() if facts.rule},
    MEASURABLE: MEASURABLE,
}
"""The verdicts of an estimate: a rule's spelling → the report's spelling."""

_ALSO: Mapping[str, str] = {word: facts.rule for word, facts in VERDICT_FACTS.items() if facts.rule}
"""Further spellings, which the report shows people."""

EXAMPLES = "'social-distance.gap is relevant' or 'social-distance.gap > 0.2'"

FLAG = "--fail-if"

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

_IS = re.compile(r"(?:(?P<before>.*?)\s+)?is(?P<not>\s+not)?(?:\s+(?P<verdict>.*))?", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition under which a gate fails, as the user gave it."""

    text: str
    path: str
    """Empty: every main result."""
    whose: str | None
    """The text in the bracket; None if there is no bracket."""
    change: bool
    """Whether the condition is about the change against the baseline run."""
    field: str
    comparison: str
    """One of COMPARISONS, "is" or "is not"."""
    limit: float = math.nan
    verdicts: tuple[str, ...] = ()
    """After "is": the verdicts as the report spells them, and no limit. Empty if the condition is
    about a number."""
    origin: str = "Rule"
    """Where the condition was given; messages about it begin with this."""
    file: str | None = None
    """The file of thresholds that holds the condition; None if it was given by itself."""
    line: int | None = None
    """The line of that file."""

    @property
    def given(self) -> str:
        """Return where the condition was given, and its text: how a message begins."""
        return f"{self.origin} '{self.text}'"


class RuleSyntaxError(ValueError):
    """What is wrong with a name or a rule; ``hint`` is a sentence after it."""

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


def parse(text: str) -> Condition:
    """Return the condition; raise InputError with what is wrong and how a rule is written."""
    try:
        return replace(read_rule(text), origin=FLAG)
    except RuleSyntaxError as fault:
        raise InputError(
            f"{FLAG} '{text}' cannot be used: {fault.what}.{fault.hint} Write a rule like "
            f"{EXAMPLES}."
        ) from fault


def read_rule(text: str) -> Condition:
    """Return the condition; raise RuleSyntaxError if the text is none."""
    name, whose, after = _bracket(text)
    before, compared = _compared(after)
    condition = Condition(text=text, **_named(name, whose, before), **compared)
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
    return condition


def read_name(text: str) -> dict[str, Any]:
    """Return the path, the bracket's text, whether it is a change, and the field of a name.

    Raise RuleSyntaxError if the text is not a name.
    """
    name, whose, after = _bracket(text)
    return _named(name, whose, after.strip())


def _named(name: str, whose: str | None, after: str) -> dict[str, Any]:
    """Return the parts of a name, from the text before its bracket, in it and after it."""
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
    """Return the text before the comparison; then the comparison with its limit or verdicts."""
    if mistake := re.search(r"=[<>]|(?<![<>])==?", rest):
        meant = {"=>": ">=", "=<": "<="}.get(mistake.group())
        hint = f" Did you mean '{meant}'?" if meant else " Allowed: >, >=, <, <=, is, is not."
        raise RuleSyntaxError(f"'{mistake.group()}' is not a comparison", hint=hint)
    if sign := re.search(r"[<>]=?", rest):
        before, after = rest[: sign.start()].strip(), rest[sign.end() :].strip()
        if not _NUMBER.fullmatch(after):
            fault = f"'{after}' after {sign.group()} is not a number"
            raise RuleSyntaxError(fault if after else f"there is no number after {sign.group()}")
        if math.isinf(float(after)):
            raise RuleSyntaxError(f"{after} is too large a number")
        return before, {"comparison": sign.group(), "limit": float(after)}
    if match := _IS.fullmatch(rest.strip()):
        comparison, words = "is not" if match["not"] else "is", match["verdict"] or ""
        verdicts = read_verdicts(re.split(r"\s+or\s+", words))
        return match["before"] or "", {"comparison": comparison, "verdicts": verdicts}
    raise RuleSyntaxError("it has no comparison (>, >=, <, <=, is or is not)")


def read_verdicts(words: Sequence[str]) -> tuple[str, ...]:
    """Return the verdicts as the report spells them; raise RuleSyntaxError for an unknown word."""
    meant = [_ALSO.get(word, word) for word in words]
    for word in meant:
        if word not in WORDS:
            *most, last = WORDS
            fault = f"'{word}' is not a verdict ({', '.join(most)} or {last})"
            raise RuleSyntaxError(fault, hint=did_you_mean(word, WORDS))
    return tuple(dict.fromkeys(WORDS[word] for word in meant))


def _bracket(text: str) -> tuple[str, str | None, str]:
    """Return the text before, in and after the bracket; None and all text if there is none."""
    if "[" not in text:
        return "", None, text
    name, _, inside = text.partition("[")
    # The last one, because a model's name may contain brackets.
    whose, closed, after = inside.rpartition("]")
    if not closed:
        raise RuleSyntaxError("its bracket is not closed")
    return name.strip(), whose.strip(), after


DEFAULT = Path("goffman.toml")
"""Read from the current folder if no rule is given."""

TABLE = "rules"

BOUNDS: Mapping[str, str] = {"estimate": "value", "low": "low", "high": "high", ABSOLUTE: ABSOLUTE}
"""The number that a limit applies to → the field of the estimate."""


def read_thresholds(path: Path) -> list[Condition]:
    """Return the conditions of the file, in its order; raise FaultsError with all that is wrong."""
    faults = Faults()
    file = read_toml(path, faults)
    conditions = [] if file is None else list(_conditions(file, path))
    if faults.found:
        raise FaultsError(str(path), faults.found)
    return conditions


def _conditions(file: TomlFile, path: Path) -> Iterator[Condition]:
    top = file.top()
    if isinstance(top.values.get(TABLE), dict):
        top.note(TABLE, f"write [[{TABLE}]], with two brackets.")
        return
    top.take({TABLE: TABLES})
    tables = file.tables(TABLE)
    if not tables and not file.faults.found:
        file.note(f"there are no rules. Write at least one table [[{TABLE}]].")
    for table in tables:
        before = len(file.faults.found)
        rule = _rule(table)
        if len(file.faults.found) > before:
            continue
        for key, text in rule_texts(rule):
            line = table.lines.get(key)
            origin = f"{path}, rule" if line is None else f"{path}, line {line}, rule"
            try:
                yield replace(read_rule(text), origin=origin, file=str(path), line=line)
            except RuleSyntaxError as fault:
                table.note(key, f"{key}: {fault.what}.{fault.hint}")


def rule_texts(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each condition of a table as a rule that fails, after the key that it comes from."""
    name, bound = rule["name"], BOUNDS[rule.get("bound", "estimate")]
    number = name if bound == "value" else f"{name}.{bound}"
    for key, tested in (
        ("limit", f"{number} >"),
        ("at-least", f"{number} <"),
        ("forbidden-verdicts", f"{name} is"),
        ("allowed-verdicts", f"{name} is not"),
        (HOLDS_IN, f"{name}.{HOLDS_IN} <"),
        (MEASURABLE, f"{name} is not"),
    ):
        value = rule.get(key)
        if value is not None:
            yield key, f"{tested} {value if isinstance(value, str) else repr(value)}"


def _rule(table: TomlTable) -> dict[str, Any]:
    """Return the keys of the table whose values are right; note the faults of the others."""
    rule: dict[str, Any] = {}
    for key, value in table.take(_KEYS).items():
        try:
            rule[key] = _READ.get(key, str)(value)
        except RuleSyntaxError as fault:
            table.note(key, f"{key}: {fault.what}.{fault.hint}")
    if "name" in rule and table.values.keys() <= _KEYS.keys():
        # Otherwise, what seems to be missing may be misspelled.
        for what in _rule_faults(rule, table.values):
            table.faults.add(table.file, min(table.lines.values(), default=None), what)
    return rule


def _rule_faults(rule: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each missing or contradictory key of one table."""
    tests = [key for key in _KEYS if key not in {"name", "bound"}]
    if not any(key in values for key in tests):
        yield f"the rule for '{rule['name']}' tests nothing. Add one of: {', '.join(tests)}."
    if "bound" in values and not {"limit", "at-least"} & {*values}:
        yield "bound needs a limit or at-least."
    field = read_name(rule["name"])["field"]
    if "bound" in rule and field != "value":
        yield f"the name ends in .{field}. Leave out that or bound."
    if {"limit", "at-least"} <= rule.keys() and rule["limit"] < rule["at-least"]:
        yield f"no number is at least {rule['at-least']!r} and at most {rule['limit']!r}."
    if {"forbidden-verdicts", "allowed-verdicts"} <= rule.keys():
        yield "give forbidden-verdicts or allowed-verdicts, not both."


def _name(text: str) -> str:
    read_name(text)
    return text


def _verdicts(value: str | list[str]) -> str:
    words = [value] if isinstance(value, str) else value
    spelled = {report: rule for rule, report in WORDS.items()}
    return " or ".join(spelled[verdict] for verdict in read_verdicts(words))


def _are_verdicts(value: object) -> bool:
    words = [value] if isinstance(value, str) else value
    return isinstance(words, list) and all(isinstance(word, str) for word in words) and words != []


_LIMIT = number("a finite number, without quotes", lambda _: True)
_LIST = Field(
    kind=object, test=_are_verdicts, says='a list of verdicts, such as ["relevant", "present"]'
)
_KEYS: Fields = {
    # No check of spaces or signs: a model's name may have any.
    "name": Field(
        kind=object, required=True, test=lambda name: isinstance(name, str), says="text in quotes"
    ),
    "limit": _LIMIT,
    "at-least": _LIMIT,
    "bound": Field(allowed=tuple(BOUNDS)),
    "forbidden-verdicts": _LIST,
    "allowed-verdicts": _LIST,
    HOLDS_IN: number("a share from 0 to 1, such as 0.9", lambda share: 0 <= share <= 1),
    MEASURABLE: Field(kind=object, test=lambda value: value is True, says="true, or leave it out"),
}
_READ: Mapping[str, Callable[[Any], Any]] = {
    "name": _name,
    **dict.fromkeys(("limit", "at-least", HOLDS_IN), float),
    **dict.fromkeys(("forbidden-verdicts", "allowed-verdicts"), _verdicts),
    MEASURABLE: lambda _: MEASURABLE,
}
"""A key of a table → the function that reads its value; a bound is a text."""

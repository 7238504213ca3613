"""What a gate found, and the names it knows, as text, JUnit XML, annotations, JSON and Markdown.

No name can play tricks in them: what a format would read as its own is written as itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from goffman.console import GateFormat, json_text, printable
from goffman.formatting import NONE, ends, number, p_value
from goffman.gate.check import MARKS, RuleResult, Status, counted, exit_code, in_order
from goffman.gate.names import FIELDS, path_of
from goffman.modes import asked_id
from goffman.presentation.table_formats import grid, markdown

if TYPE_CHECKING:
    from goffman.gate.check import GateInput
    from goffman.gate.names import NamedEstimate

TITLE = "goffman check"


ENDINGS: Mapping[str, GateFormat] = {
    ".txt": GateFormat.TEXT,
    ".xml": GateFormat.JUNIT,
    ".json": GateFormat.JSON,
    ".md": GateFormat.MARKDOWN,
}
"""A file's ending → how it is written; annotations are for a log, and no file."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A run that was tried by rules."""

    run: Path
    baseline: Path | None = None
    outcomes: Sequence[RuleResult]


def written(checked: Checked, style: GateFormat) -> str:
    """The outcomes in a format."""
    return _WRITTEN[style](checked)


def _json(checked: Checked) -> str:
    outcomes = [
        {
            "condition": one.condition.text,
            "file": one.condition.file,
            "line": one.condition.line,
            "name": one.name,
            "status": one.status,
            "value": None if math.isnan(one.value) else one.value,
            "low": one.named.value("low"),
            "high": one.named.value("high"),
            "comparison": one.condition.comparison,
            "limit": " or ".join(one.condition.verdicts) or one.condition.limit,
            "verdict": one.named.verdict,
            "failed": one.failed,
            "not_measurable": one.not_measurable,
            "caveats": list(one.named.caveats),
            "sentence": one.sentence,
        }
        for one in checked.outcomes
    ]
    found = {
        "run": str(checked.run),
        "baseline": None if checked.baseline is None else str(checked.baseline),
        "exit_code": exit_code(checked.outcomes),
        "failed": any(one.failed for one in checked.outcomes),
        "outcomes": outcomes,
    }
    return json_text(found) + "\n"


def _junit(checked: Checked) -> str:
    """A test a rule and estimate: one that failed is a failure, one not decided an error."""
    counts = {
        "tests": str(len(checked.outcomes)),
        "failures": str(sum(one.status == "failed" for one in checked.outcomes)),
        "errors": str(sum(one.status == "not decided" for one in checked.outcomes)),
        "skipped": "0",
        "time": "0",
    }
    suites = ET.Element("testsuites", {"name": TITLE, **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": printable(str(checked.run)), **counts})
    for one in checked.outcomes:
        _add_case(suite, one)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _add_case(suite: ET.Element, one: RuleResult) -> None:
    condition, row = one.condition, one.named.row
    whose = path_of(asked_id(row)) if row["instrument"] else "correlation"
    about = {
        "classname": f"goffman.{whose}",
        "name": printable(f"{one.name}, {one.required}"),
        "time": "0",
    }
    if condition.file is not None:
        about["file"] = printable(condition.file)
    case = ET.SubElement(suite, "testcase", about)
    sentence = printable(one.sentence)
    if one.status == "ok":
        ET.SubElement(case, "system-out").text = sentence
        return
    tag, kind = ("failure", "failed") if one.failed else ("error", "not measurable")
    said = ET.SubElement(case, tag, {"message": sentence, "type": kind})
    said.text = f"{sentence}\nRule: {printable(condition.given)}"


def _lines(checked: Checked, *, annotated: bool = False) -> str:
    """A line an outcome, what failed last, and how many there are of each.

    ``annotated``: what is not ok as GitHub shows it beside the change as well.
    """
    lines = []
    for one in in_order(checked.outcomes):
        line = printable(one.sentence)
        if annotated and one.status != "ok":
            place = {"file": one.condition.file, "line": one.condition.line}
            line = annotation(line, **{k: str(v) for k, v in place.items() if v is not None})
        lines.append(line)
    return "".join(f"{line}\n" for line in [*lines, counted(checked.outcomes)])


def annotation(message: str, **properties: str) -> str:
    """An error as GitHub reads it from a log: ::error file=…,line=…,title=…::message."""
    every = {**properties, "title": TITLE}
    about = ",".join(f"{name}={_escaped(value, _IN_PROPERTY)}" for name, value in every.items())
    return f"::error {about}::{_escaped(message, _IN_MESSAGE)}"


_IN_MESSAGE = "%\r\n"
_IN_PROPERTY = f"{_IN_MESSAGE}:,"
"""What GitHub would read as its own."""


def _escaped(text: str, signs: str) -> str:
    """The text with these signs, of which % must be one, as their numbers."""
    return "".join(f"%{ord(sign):02X}" if sign in signs else sign for sign in text)


def _markdown(checked: Checked) -> str:
    """A table of what failed and of what is not decided; what is ok behind a click."""
    parts = [
        f"### {TITLE}: {counted(checked.outcomes)}\n",
        f"Run: {markdown(str(checked.run))}"
        + ("" if checked.baseline is None else f", baseline: {markdown(str(checked.baseline))}")
        + "\n",
    ]
    for status in reversed(MARKS):
        rows = [one for one in checked.outcomes if one.status == status]
        if rows and status == "ok":
            summary = f"<details><summary>{len(rows)} ok</summary>\n"
            parts += [summary, _markdown_table(rows), "</details>\n"]
        elif rows:
            parts.append(_markdown_table(rows))
    return "\n".join(parts)


_SHOWN: Mapping[Status, str] = {
    "ok": "ok",
    "failed": "FAILED",
    "not decided": "NOT DECIDED",
}


def _markdown_table(outcomes: Sequence[RuleResult]) -> str:
    rows = [
        (
            _SHOWN[one.status],
            one.name,
            one.named.not_measurable or one.found.partition(" ")[2],
            one.required,
            ends(low, high) if (low := one.named.value("low")) is not None else "",
            ", ".join(one.named.caveats),
        )
        for one in outcomes
        for high in [one.named.value("high")]
    ]
    return grid(("", "name", "found", "rule", "interval", "caveats"), rows)


_WRITTEN: Mapping[GateFormat, Callable[[Checked], str]] = {
    GateFormat.TEXT: _lines,
    GateFormat.JUNIT: _junit,
    GateFormat.GITHUB: partial(_lines, annotated=True),
    GateFormat.JSON: _json,
    GateFormat.MARKDOWN: _markdown,
}


def names_text(found: GateInput) -> str:
    """A line a name, which stands last because it may be long and must not be broken."""
    lines = [f"{'value':>9} {'low':>9} {'high':>9} {'p_adjusted':>10} {'verdict':>16}  name"]
    for name, one in _every(found):
        value, low, high = (number(one.value(field)) for field in ("value", "low", "high"))
        p = one.value("p_adjusted")
        tested = NONE if p is None else p_value(p)
        word = one.verdict or NONE
        lines.append(f"{value:>9} {low:>9} {high:>9} {tested:>10} {word:>16}  {printable(name)}")
    fields = ", ".join(f".{name}" for name in FIELDS if name != "value")
    return "\n".join(lines) + (
        "\n\nA name alone means the value. Before 'is', it means the verdict. For another number, "
        f"add one of these to the name: {fields}. A name without brackets covers all models and "
        "variants. A name without the instrument covers all instruments. In a name, * stands for "
        "any text, but heading, mean and controls must be written out: *.heading\n\n"
        f"{_legend([one for _, one in _every(found)])}"
    )


def _every(found: GateInput) -> Iterator[tuple[str, NamedEstimate]]:
    """Everything that can be named, with its name."""
    for suffix, names in (("", found.known), (".change", found.changes or ())):
        for one in names:
            yield f"{one.name}{suffix}", one


_MEANINGS = {
    "heading": "the main result: the one that the report's heading states",
    "gap": "one group of conditions minus the other",
    "gap-as-asked": "the same gap, tested as in the original study",
    "level": "the value of a diagnosis, or without adjectives, compared with 0",
    "gap-by-identity": "the gap for people of one identity (--cross)",
    "interaction": "the gap for one identity minus that for the reference (--cross)",
    "disparity": "female minus male",
    "disparity-as-asked": "the same, tested as in the original study",
    "nonbinary": "a nonbinary person minus a woman, or a man, in the questions asked about both",
    "over-baseline": "female minus male with a diagnosis, minus female minus male without one",
    "above-baseline": "one condition minus the same sentences without a condition",
    "above-baseline-over-trials": "the same, tested over trials",
    "above-reference": "one condition minus the mean of the other group",
    "models": "one model minus another",
    "subscales": "one subscale minus another",
    "wordings": "one wording minus another",
    "correlation": "between two measures, over all conditions",
    "correlation-within": "between two measures, over the conditions of one group",
    "mean": "the value itself, of a group, subscale or condition",
    "controls": "the score on the control items",
}
"""What the second part of a name means."""


def _legend(names: Sequence[NamedEstimate]) -> str:
    """A line for each kind of contrast that the names have."""
    paths = (one.name.partition("[")[0].split(".") for one in names)
    there = {part.split("-of-")[0] for path in paths for part in path}
    said = "".join(
        f"{what:>26}: {meaning}\n" for what, meaning in _MEANINGS.items() if what in there
    )
    gaps = {asked_id(one.row): one.row["quantity"] for one in names if ".gap[" in one.name}
    keyed = [instrument for instrument, quantity in gaps.items() if "keyed" in quantity]
    if keyed:
        said += (
            f"\nIn {' and '.join(keyed)}, gap is reverse-keyed: the sign is changed for statements "
            "in which agreeing means less stigma.\n"
        )
    return said


def names_json(found: GateInput) -> str:
    """A row a name, with all of its numbers."""
    rows = [
        {
            "name": name,
            **{field: one.value(field) for field in FIELDS},
            "verdict": one.verdict,
            "not_measurable": one.not_measurable,
            "caveats": list(one.caveats),
        }
        for name, one in _every(found)
    ]
    return json_text(rows) + "\n"

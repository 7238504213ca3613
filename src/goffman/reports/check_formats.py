"""What a gate found, as text, JUnit XML, GitHub's annotations, JSON and Markdown.

No name can play tricks in any of them: what cannot be seen is written as its escape, and what the
format would read as its own is written as itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from goffman.output import GateFormat
from goffman.presentation.numbers import ends
from goffman.presentation.table_text import markdown
from goffman.reports.outcomes import MARKS, Outcome, Status, counted, exit_code, in_order
from goffman.terminal import printable

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
    outcomes: Sequence[Outcome]


def written(checked: Checked, style: GateFormat) -> str:
    """The outcomes in a format."""
    return _WRITTEN[style](checked)


def _text(checked: Checked) -> str:
    """A line an outcome, what failed last, and how many there are of each."""
    lines = [printable(one.sentence) for one in in_order(checked.outcomes)]
    return "".join(f"{line}\n" for line in [*lines, counted(checked.outcomes)])


def _json(checked: Checked) -> str:
    found = {
        "run": str(checked.run),
        "baseline": None if checked.baseline is None else str(checked.baseline),
        "exit_code": exit_code(checked.outcomes),
        "failed": any(one.failed for one in checked.outcomes),
        "outcomes": [_as_json(one) for one in checked.outcomes],
    }
    return json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _as_json(one: Outcome) -> dict[str, Any]:
    condition = one.condition
    return {
        "condition": condition.text,
        "file": condition.file,
        "line": condition.line,
        "name": one.name,
        "status": one.status,
        "value": None if math.isnan(one.value) else one.value,
        "low": one.named.value("low"),
        "high": one.named.value("high"),
        "comparison": condition.comparison,
        "limit": " or ".join(condition.verdicts) or condition.limit,
        "verdict": one.named.verdict,
        "failed": one.failed,
        "not_measurable": one.not_measurable,
        "sentence": one.sentence,
    }


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


def _add_case(suite: ET.Element, one: Outcome) -> None:
    condition = one.condition
    about = {
        "classname": f"goffman.{one.named.row['instrument'] or 'correlation'}",
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


def _github(checked: Checked) -> str:
    """Lines for the log; GitHub shows those that are annotations beside the change as well."""
    lines = []
    for one in in_order(checked.outcomes):
        sentence = printable(one.sentence)
        lines.append(sentence if one.status == "ok" else annotation(sentence, **_place(one)))
    return "".join(f"{line}\n" for line in [*lines, counted(checked.outcomes)])


def _place(one: Outcome) -> dict[str, str]:
    """The file and line of a rule that stands in a file."""
    place = {"file": one.condition.file, "line": one.condition.line}
    return {name: str(value) for name, value in place.items() if value is not None}


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
    "failed": "**FAILED**",
    "not decided": "**NOT DECIDED**",
}


def _markdown_table(outcomes: Sequence[Outcome]) -> str:
    lines = ["| | name | found | rule | interval |", "|---|---|---|---|---|"]
    for one in outcomes:
        found = one.named.not_measurable or one.found.partition(" ")[2]
        low, high = one.named.value("low"), one.named.value("high")
        interval = "" if low is None else ends(low, high)
        cells = (one.name, found, one.required, interval)
        lines.append(f"| {_SHOWN[one.status]} | {' | '.join(map(markdown, cells))} |")
    return "".join(f"{line}\n" for line in lines)


_WRITTEN: Mapping[GateFormat, Callable[[Checked], str]] = {
    GateFormat.TEXT: _text,
    GateFormat.JUNIT: _junit,
    GateFormat.GITHUB: _github,
    GateFormat.JSON: _json,
    GateFormat.MARKDOWN: _markdown,
}

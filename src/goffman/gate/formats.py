"""A gate's outcomes, and the names it knows, as text, JUnit XML, annotations, JSON and Markdown.

Names are escaped, so that no format reads a part of them as its own markup.
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
from goffman.gate.check import MARKS, RuleResult, counted, exit_code, in_order
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
"""A file's ending → its format; annotations are for a log and have no file."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A run on which rules were tried."""

    run: Path
    baseline: Path | None = None
    outcomes: Sequence[RuleResult]


def written(checked: Checked, style: GateFormat) -> str:
    """Return the outcomes in a format."""
    return _WRITTEN[style](checked)


def _json(checked: Checked) -> str:
    outcomes = [
        {
            "condition": outcome.condition.text,
            "file": outcome.condition.file,
            "line": outcome.condition.line,
            "name": outcome.name,
            "status": outcome.status,
            "value": None if math.isnan(outcome.value) else outcome.value,
            "low": outcome.named.low,
            "high": outcome.named.high,
            "comparison": outcome.condition.comparison,
            "limit": " or ".join(outcome.condition.verdicts) or outcome.condition.limit,
            "verdict": outcome.named.verdict,
            "failed": outcome.failed,
            "not_measurable": outcome.not_measurable,
            "caveats": list(outcome.named.caveats),
            "sentence": outcome.sentence,
        }
        for outcome in checked.outcomes
    ]
    document = {
        "run": str(checked.run),
        "baseline": None if checked.baseline is None else str(checked.baseline),
        "exit_code": exit_code(checked.outcomes),
        "failed": any(outcome.failed for outcome in checked.outcomes),
        "outcomes": outcomes,
    }
    return json_text(document) + "\n"


def _junit(checked: Checked) -> str:
    """Return a test for each rule and estimate: failed is a failure, not decided an error."""
    counts = {
        "tests": str(len(checked.outcomes)),
        "failures": str(sum(outcome.status == "failed" for outcome in checked.outcomes)),
        "errors": str(sum(outcome.status == "not decided" for outcome in checked.outcomes)),
        "skipped": "0",
        "time": "0",
    }
    suites = ET.Element("testsuites", {"name": TITLE, **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": printable(str(checked.run)), **counts})
    for outcome in checked.outcomes:
        _add_case(suite, outcome)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _add_case(suite: ET.Element, outcome: RuleResult) -> None:
    condition, row = outcome.condition, outcome.named.row
    classname = path_of(asked_id(row)) if row["instrument"] else "correlation"
    attributes = {
        "classname": f"goffman.{classname}",
        "name": printable(f"{outcome.name}, {outcome.required}"),
        "time": "0",
    }
    if condition.file is not None:
        attributes["file"] = printable(condition.file)
    case = ET.SubElement(suite, "testcase", attributes)
    sentence = printable(outcome.sentence)
    if outcome.status == "ok":
        ET.SubElement(case, "system-out").text = sentence
        return
    tag, kind = ("failure", "failed") if outcome.failed else ("error", "not measurable")
    message = ET.SubElement(case, tag, {"message": sentence, "type": kind})
    message.text = f"{sentence}\nRule: {printable(condition.given)}"


def _lines(checked: Checked, *, annotated: bool = False) -> str:
    """Return a line for each outcome, failures last, and how many outcomes have each status.

    ``annotated``: outcomes that are not ok are written as annotations, which GitHub shows beside
    the change.
    """
    lines = []
    for outcome in in_order(checked.outcomes):
        line = printable(outcome.sentence)
        if annotated and outcome.status != "ok":
            location = {"file": outcome.condition.file, "line": outcome.condition.line}
            line = annotation(line, **{k: str(v) for k, v in location.items() if v is not None})
        lines.append(line)
    return "".join(f"{line}\n" for line in [*lines, counted(checked.outcomes)])


def annotation(message: str, **properties: str) -> str:
    """Return an error as GitHub reads it from a log: ::error file=…,line=…,title=…::message."""
    entries = {**properties, "title": TITLE}
    fields = ",".join(f"{name}={_escaped(value, _IN_PROPERTY)}" for name, value in entries.items())
    return f"::error {fields}::{_escaped(message, _IN_MESSAGE)}"


_IN_MESSAGE = "%\r\n"
_IN_PROPERTY = f"{_IN_MESSAGE}:,"
"""Characters with a special meaning in the properties of GitHub's annotations."""


def _escaped(text: str, signs: str) -> str:
    """Return the text with these characters percent-encoded; they must include %."""
    return "".join(f"%{ord(sign):02X}" if sign in signs else sign for sign in text)


def _markdown(checked: Checked) -> str:
    """Return tables of failures and of undecided outcomes; outcomes that are ok behind a click."""
    parts = [
        f"### {TITLE}: {counted(checked.outcomes)}\n",
        f"Run: {markdown(str(checked.run))}"
        + ("" if checked.baseline is None else f", baseline: {markdown(str(checked.baseline))}")
        + "\n",
    ]
    for status in reversed(MARKS):
        rows = [outcome for outcome in checked.outcomes if outcome.status == status]
        if rows and status == "ok":
            summary = f"<details><summary>{len(rows)} ok</summary>\n"
            parts += [summary, _markdown_table(rows), "</details>\n"]
        elif rows:
            parts.append(_markdown_table(rows))
    return "\n".join(parts)


def _markdown_table(outcomes: Sequence[RuleResult]) -> str:
    rows = [
        (
            MARKS[outcome.status],
            outcome.name,
            outcome.named.not_measurable or outcome.found.partition(" ")[2],
            outcome.required,
            "" if outcome.named.low is None else ends(outcome.named.low, outcome.named.high),
            ", ".join(outcome.named.caveats),
        )
        for outcome in outcomes
    ]
    return grid(("", "name", "found", "rule", "interval", "caveats"), rows)


_WRITTEN: Mapping[GateFormat, Callable[[Checked], str]] = {
    GateFormat.TEXT: _lines,
    GateFormat.JUNIT: _junit,
    GateFormat.GITHUB: partial(_lines, annotated=True),
    GateFormat.JSON: _json,
    GateFormat.MARKDOWN: _markdown,
}


def names_text(available: GateInput) -> str:
    """Return one line for each name, with the name at the end, so that it is never wrapped."""
    lines = [f"{'value':>9} {'low':>9} {'high':>9} {'p_adjusted':>10} {'verdict':>16}  name"]
    for name, estimate in _every(available):
        value, low, high = map(number, (estimate.value, estimate.low, estimate.high))
        p = estimate.field("p_adjusted")
        tested = NONE if p is None else p_value(p)
        word = estimate.verdict or NONE
        lines.append(f"{value:>9} {low:>9} {high:>9} {tested:>10} {word:>16}  {printable(name)}")
    fields = ", ".join(f".{name}" for name in FIELDS if name != "value")
    return "\n".join(lines) + (
        "\n\nA name alone means the value. Before 'is', it means the verdict. For another number, "
        f"add one of these to the name: {fields}. A name without brackets covers all models and "
        "variants. A name without the instrument covers all instruments. In a name, * stands for "
        "any text, but heading, mean and controls must be written out: *.heading\n\n"
        f"{_legend([estimate for _, estimate in _every(available)])}"
    )


def _every(available: GateInput) -> Iterator[tuple[str, NamedEstimate]]:
    for suffix, names in (("", available.known), (".change", available.changes or ())):
        for estimate in names:
            yield f"{estimate.name}{suffix}", estimate


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
    """Return one line for each kind of contrast among the names."""
    paths = (estimate.name.partition("[")[0].split(".") for estimate in names)
    words = {part.split("-of-")[0] for path in paths for part in path}
    text = "".join(
        f"{word:>26}: {meaning}\n" for word, meaning in _MEANINGS.items() if word in words
    )
    gaps = {
        asked_id(estimate.row): estimate.row["quantity"]
        for estimate in names
        if ".gap[" in estimate.name
    }
    keyed = [instrument for instrument, quantity in gaps.items() if "keyed" in quantity]
    if keyed:
        text += (
            f"\nIn {' and '.join(keyed)}, gap is reverse-keyed: the sign is changed for statements "
            "in which agreeing means less stigma.\n"
        )
    return text


def names_json(available: GateInput) -> str:
    """Return one row for each name, with all of its numbers."""
    rows = [
        {
            "name": name,
            **{field: estimate.field(field) for field in FIELDS},
            "verdict": estimate.verdict,
            "not_measurable": estimate.not_measurable,
            "caveats": list(estimate.caveats),
        }
        for name, estimate in _every(available)
    ]
    return json_text(rows) + "\n"

"""What a gate prints: a parser of each format reads back what was found, whatever the names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.console import GateFormat, printable
from goffman.errors import InputError
from goffman.gate.check import GateInput, exit_code
from goffman.gate.formats import Checked, annotation, written
from goffman.gate.names import _EMPTY, NamedEstimate
from goffman.gate.rules import parse

HOSTILE = (
    "plain",
    "a<b>&\"'c]]>",
    "::error::x%0A,:\r\n::set-output name=a::b",
    "\x00\x07\x1b[31m\ufffe\u202e",
    "| a | `b` [x](http://y) <script>",
    "*",
)


def estimate(path: str = "gap", model: str = "m", **columns: object) -> NamedEstimate:
    row = {
        **_EMPTY,
        "kind": "groups",
        "instrument": "social-distance",
        "difference": 0.2,
        "low": 0.1,
        "high": 0.3,
        "level": 0.95,
        "p_adjusted": 0.01,
        "verdict": "relevant",
        **columns,
    }
    return NamedEstimate(path=f"social-distance.{path}", model=model, variant=None, row=row)


def checked_by(*rules: str, known: list[NamedEstimate]) -> Checked:
    outcomes = GateInput(known=known).gate([parse(rule) for rule in rules])
    return Checked(run=Path("runs/x"), baseline=None, outcomes=outcomes)


@pytest.fixture(params=HOSTILE)
def checked(request: pytest.FixtureRequest) -> Checked:
    """One that is ok, one that failed and one that is not decided, of a model with this name."""
    name = request.param
    one = estimate(model=name)
    bad = replace(estimate("level", name), not_measurable=f"{name} is not measurable: it cannot")
    found = checked_by("gap > 0.5", "gap > 0.1", "level > 0", known=[one, bad])
    first, *rest = found.outcomes
    there = replace(first.condition, file="conf:a,b%/goffman.toml", line=7)
    in_file = replace(rest[0], condition=replace(rest[0].condition, file=there.file, line=7))
    return replace(found, outcomes=[first, in_file, rest[1]])


def test_text_has_what_failed_last_and_counts(checked: Checked) -> None:
    ok, undecided, failed, count = written(checked, GateFormat.TEXT).split("\n")[:-1]
    model = printable(checked.outcomes[0].named.model or "")
    numbers = "(95% interval 0.10 to 0.30, verdict relevant)"
    assert ok == f"ok social-distance.gap[{model}] = 0.2, limit 0.5 {numbers}"
    assert failed == f"FAILED social-distance.gap[{model}] = 0.2, limit 0.1 {numbers}"
    assert undecided == (
        f"NOT DECIDED social-distance.level[{model}]: {model} is not measurable: it cannot"
    )
    assert count == "1 ok, 1 not decided, 1 failed"


def test_junit_is_xml_that_a_parser_reads(checked: Checked) -> None:
    root = ET.fromstring(written(checked, GateFormat.JUNIT).encode())
    (suite,) = root
    for one in (root, suite):
        assert {key: one.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
            "tests": "3", "failures": "1", "errors": "1", "skipped": "0",
        }  # fmt: skip
    assert [[child.tag for child in case] for case in suite] == [
        ["system-out"],
        ["failure"],
        ["error"],
    ]
    for case, outcome in zip(suite, checked.outcomes, strict=True):
        assert case.get("name", "").startswith(printable(outcome.name))
        assert case.get("classname") == "goffman.social-distance"
        (child,) = case
        said = child.get("message") or child.text
        assert said == printable(outcome.sentence)
    assert suite[1].get("file") == "conf:a,b%/goffman.toml"
    assert suite[2][0].get("type") == "not measurable"
    # A test that is there twice would be shown once.
    assert len({case.get("name") for case in suite}) == 3


@given(st.text(max_size=60))
def test_no_name_breaks_the_xml(name: str) -> None:
    found = checked_by("gap > 0.1", known=[estimate(model=name)])
    (case,) = ET.fromstring(written(found, GateFormat.JUNIT).encode()).iter("testcase")
    assert case.get("name") == printable(f"social-distance.gap[{name}], limit 0.1" if name else "social-distance.gap, limit 0.1")  # fmt: skip


def read_annotation(line: str) -> tuple[dict[str, str], str]:
    """As GitHub's runner reads a line."""
    found = re.fullmatch(r"::error ([^:]*)::(.*)", line)
    assert found, line
    pairs = (part.partition("=") for part in found[1].split(","))
    escapes = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))

    def plain(text: str, of: tuple[tuple[str, str], ...] = escapes) -> str:
        for escape, sign in of:
            text = text.replace(escape, sign)
        return text

    return {name: plain(value) for name, _, value in pairs}, plain(
        found[2], (*escapes[:2], escapes[-1])
    )


def test_annotations_are_read_back_and_no_name_gives_github_an_order(checked: Checked) -> None:
    ok, undecided, failed, _count = written(checked, GateFormat.GITHUB).split("\n")[:-1]
    assert not ok.startswith("::")
    properties, message = read_annotation(failed)
    assert properties == {
        "file": "conf:a,b%/goffman.toml",
        "line": "7",
        "title": "goffman check",
    }
    assert message == printable(checked.outcomes[1].sentence)
    properties, message = read_annotation(undecided)
    assert properties == {"title": "goffman check"}
    assert message == printable(checked.outcomes[2].sentence)


@given(st.text(st.characters(codec="utf-8"), max_size=40).filter(lambda text: "%" not in text))
def test_any_message_is_one_line_for_github(text: str) -> None:
    line = annotation(text, file=text)
    assert "\n" not in line
    assert "\r" not in line
    properties, message = read_annotation(line)
    assert (properties["file"], message) == (text, text)


def test_a_percent_sign_is_itself() -> None:
    assert annotation("100%0A") == "::error title=goffman check::100%250A"


def test_json_has_every_number(checked: Checked) -> None:
    found = json.loads(written(checked, GateFormat.JSON))
    assert (found["run"], found["baseline"]) == ("runs/x", None)
    assert (found["exit_code"], found["failed"]) == (4, True)
    assert [one["status"] for one in found["outcomes"]] == ["ok", "failed", "not decided"]
    assert found["outcomes"][1] == {
        "condition": "gap > 0.1",
        "file": "conf:a,b%/goffman.toml",
        "line": 7,
        "name": checked.outcomes[1].name,
        "status": "failed",
        "value": 0.2,
        "low": 0.1,
        "high": 0.3,
        "comparison": ">",
        "limit": 0.1,
        "verdict": "relevant",
        "failed": True,
        "not_measurable": False,
        "caveats": [],
        "sentence": checked.outcomes[1].sentence,
    }


def test_markdown_has_what_failed_first_and_a_row_each(checked: Checked) -> None:
    text = written(checked, GateFormat.MARKDOWN)
    assert text.startswith("### goffman check: 1 ok, 1 not decided, 1 failed\n")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "social" in line]
    assert [row.split(" | ")[0] for row in rows] == ["| FAILED", "| NOT DECIDED", "| ok"]
    for row in rows:
        # Cells end at bars that are not escaped.
        assert len(re.findall(r"(?<!\\)\|", row)) == 7
        assert "<" not in row
    assert text.index("| NOT DECIDED") < text.index("<details>") < text.index("| ok |")


def test_exit_codes() -> None:
    good, bad = estimate(), replace(estimate("level"), not_measurable="no")
    codes = {
        ("gap > 1",): 0,
        ("gap > 0",): 1,
        ("gap > 1", "level > 0"): 4,
        ("gap > 0", "level > 0"): 4,
    }
    for rules, code in codes.items():
        assert exit_code(checked_by(*rules, known=[good, bad]).outcomes) == code


# What a wildcard means


KNOWN = [
    estimate("gap"),
    estimate("gap-as-asked"),
    estimate("above-baseline.deaf", difference=0.4),
    estimate("above-baseline.gay", "other"),
    replace(estimate("above-baseline.gay"), model="all-models"),
    replace(estimate("heading"), own_word="heading"),
    replace(estimate("mean.stigmatized"), own_word="mean"),
]


def names(rule: str) -> list[str]:
    return [
        one.name.removeprefix("social-distance.")
        for one in GateInput(known=KNOWN).gate([parse(rule)])
    ]


@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        (
            "social-distance.above-baseline.* > 0",
            ["above-baseline.deaf[m]", "above-baseline.gay[other]"],
        ),
        ("above-baseline.* > 0", ["above-baseline.deaf[m]", "above-baseline.gay[other]"]),
        ("above-baseline.*[m] > 0", ["above-baseline.deaf[m]"]),
        ("above-baseline.*[all-*] > 0", ["above-baseline.gay[all-models]"]),
        ("*gap* > 0", ["gap[m]", "gap-as-asked[m]"]),
        ("gap*.low > 0", ["gap[m].low", "gap-as-asked[m].low"]),
        (
            "* > 0",
            ["gap[m]", "gap-as-asked[m]", "above-baseline.deaf[m]", "above-baseline.gay[other]"],
        ),
        ("*.heading is relevant", ["heading[m]"]),
        ("social-distance.mean.* > 0", ["mean.stigmatized[m]"]),
        ("*.mean.* > 0", ["mean.stigmatized[m]"]),
    ],
)
def test_a_star_is_any_text(rule: str, meant: list[str]) -> None:
    assert names(rule) == meant


@pytest.mark.parametrize("rule", ["care-*.gap > 0", "*.gap.* > 0", "*.contrls > 0", "*head > 0"])
def test_a_star_that_fits_nothing_is_an_error_and_never_a_pass(rule: str) -> None:
    path = rule.split(" ", maxsplit=1)[0]
    with pytest.raises(InputError) as refusal:
        names(rule)
    assert str(refusal.value) == (
        f"--fail-if '{rule}': this run has no estimate whose name fits '{path}'. To see every "
        "name, give --list instead of a rule."
    )


def test_a_star_for_models_that_fits_none_is_an_error() -> None:
    with pytest.raises(InputError, match=r"this run has no gap for 'x\*'\..* use: m\."):
        names("gap[x*] > 0")


def test_a_model_whose_name_has_a_star_is_itself() -> None:
    starred = [estimate(model="a*"), estimate(model="ab")]
    (outcome,) = GateInput(known=starred).gate([parse("gap[a*] > 0")])
    assert outcome.named.model == "a*"


def test_every_rule_that_cannot_be_decided_is_told() -> None:
    rules = [parse("gpa > 1"), parse("gap > 1"), parse("gap.change > 1")]
    with pytest.raises(InputError) as refusal:
        GateInput(known=KNOWN).gate(rules)
    first, second = str(refusal.value).splitlines()
    assert "no estimate 'gpa'. Did you mean 'gap'?" in first
    assert "is about a change" in second


def test_a_misspelled_field_has_its_nearest() -> None:
    with pytest.raises(InputError, match=r"Did you mean 'gap\.absolute'\?"):
        names("gap.absolut > 0.1")


def test_the_absolute_value_of_a_negative_one_can_be_limited() -> None:
    (outcome,) = GateInput(known=[estimate(difference=-0.2)]).gate([parse("gap.absolute > 0.1")])
    assert outcome.failed
    assert outcome.sentence.startswith("FAILED social-distance.gap[m].absolute = 0.2, limit 0.1 (")


def test_several_verdicts_are_one_rule() -> None:
    (outcome,) = GateInput(known=[estimate()]).gate([parse("gap is present or relevant")])
    assert outcome.sentence.startswith(
        "FAILED social-distance.gap[m] is relevant, must not be “present, size uncertain” or "
        "relevant (value 0.2, "
    )
    (outcome,) = GateInput(known=[estimate()]).gate(
        [parse("gap is not negligible or inconclusive")]
    )
    assert outcome.failed
    assert ", must be negligible or inconclusive (" in outcome.sentence


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("gap is not measurable", "only control items show whether a model is measurable"),
        ("x.controls is relevant", "control items have no verdict but measurable"),
    ],
)
def test_only_control_items_are_measurable(rule: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        parse(rule)


def test_without_control_items_nothing_is_measurable() -> None:
    with pytest.raises(InputError, match="no control items were asked in this run"):
        names("social-distance.controls is not measurable")

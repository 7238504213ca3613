"""goffman.toml: each table is the rules that could be given by themselves, each fault has its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goffman.errors import FaultsError
from goffman.gate.rules import BOUNDS, parse, read_thresholds

WHOLE = """
# what a release must meet
[[rules]]
name = "social-distance.gap"
limit = 0.1
at-least = -0.1
bound = "high"

[[rules]]
name = "*.heading[bundled:*]"
forbidden-verdicts = ["relevant", "present, size uncertain"]
holds-in = 0.9

[[rules]]
name = "attribution.gap[a > b, with-names].change"
allowed-verdicts = "negligible"
limit = 1

[[rules]]
name = "controls"
measurable = true
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "goffman.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_key_is_the_rule_that_could_be_given_by_itself(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    found = read_thresholds(path)
    assert [(one.line, one.text) for one in found] == [
        (5, "social-distance.gap.high > 0.1"),
        (6, "social-distance.gap.high < -0.1"),
        (11, "*.heading[bundled:*] is relevant or present"),
        (12, "*.heading[bundled:*].holds-in < 0.9"),
        (17, "attribution.gap[a > b, with-names].change > 1.0"),
        (16, "attribution.gap[a > b, with-names].change is not negligible"),
        (21, "controls is not measurable"),
    ]
    for one in found:
        assert str(one.limit) == str(parse(one.text).limit)
        # Without its limit, which may be nan: from Python 3.13 on that equals no other.
        alone = replace(parse(one.text), limit=0.0, origin=one.origin)
        assert replace(one, limit=0.0, file=None, line=None) == alone
        assert one.file == str(path)
        assert one.given == f"{path}, line {one.line}, rule '{one.text}'"


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_limit_is_of_the_estimate_or_of_one_of_its_bounds(tmp_path: Path, bound: str) -> None:
    text = f'[[rules]]\nname = "gap"\nlimit = 2\nbound = "{bound}"\n'
    (found,) = read_thresholds(written(tmp_path, text))
    field = {"estimate": "value"}.get(bound, bound)
    assert (found.field, found.comparison, found.limit) == (field, ">", 2)


RULE = '[[rules]]\nname = "gap"\n'
VERDICTS = "relevant, present, negligible, inconclusive, these-sentences-only or measurable"
KEYS = "name, limit, at-least, bound, forbidden-verdicts, allowed-verdicts, holds-in, measurable"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "goffman.toml: there are no rules. Write at least one table [[rules]]."),
        ("[rules]\nname = 'gap'", "goffman.toml, line 1: write [[rules]], with two brackets."),
        (
            f"[[rule]]\nname = 'gap'\n{RULE}limit = 1",
            "goffman.toml, line 1: unknown key 'rule'. Allowed: rules. Did you mean 'rules'?",
        ),
        (
            f"{RULE}limt = 0.1",
            f"goffman.toml, line 3: unknown key 'limt'. Allowed: {KEYS}. Did you mean 'limit'?",
        ),
        ("[[rules]]\nlimit = 1", "goffman.toml, line 2: the key 'name' is missing."),
        (f"{RULE}limit = '1'", "goffman.toml, line 3: limit: it must be a number, without quotes."),
        (f"{RULE}limit = true", "goffman.toml, line 3: limit: it must be a number, without quotes."),
        (f"{RULE}limit = nan", "goffman.toml, line 3: limit: it must be a finite number."),
        (f"{RULE}limit = {10**400}", "goffman.toml, line 3: limit: it must be a finite number."),
        (
            f"{RULE}limit = 1\nbound = 'hihg'",
            "goffman.toml, line 4: bound: it must be one of estimate, low, high, absolute. Did you "
            "mean 'high'?",
        ),
        (
            f"{RULE}limit = 1\nbound = 3",
            "goffman.toml, line 4: bound: it must be one of estimate, low, high, absolute.",
        ),
        (
            f"{RULE}forbidden-verdicts = ['relevent']",
            f"goffman.toml, line 3: forbidden-verdicts: 'relevent' is not a verdict ({VERDICTS}). "
            "Did you mean 'relevant'?",
        ),
        (
            f"{RULE}allowed-verdicts = []",
            "goffman.toml, line 3: allowed-verdicts: it must be a list of verdicts, such as "
            '["relevant", "present"].',
        ),
        (
            f"{RULE}holds-in = 90",
            "goffman.toml, line 3: holds-in: it must be a share from 0 to 1, such as 0.9.",
        ),
        (
            f"{RULE}measurable = false",
            "goffman.toml, line 3: measurable: it must be true; to test something else, leave it "
            "out.",
        ),
        (
            f"{RULE}measurable = true",
            "goffman.toml, line 3: measurable: only control items show whether a model is "
            "measurable: write a rule like 'social-distance.controls is not measurable'.",
        ),
        (
            RULE,
            "goffman.toml, line 2: the rule for 'gap' tests nothing. Add one of: limit, at-least, "
            "forbidden-verdicts, allowed-verdicts, holds-in, measurable.",
        ),
        (
            f"{RULE}bound = 'low'\nforbidden-verdicts = 'present'",
            "goffman.toml, line 2: bound needs a limit or at-least.",
        ),
        (
            "[[rules]]\nname = 'gap.p'\nlimit = 1\nbound = 'low'",
            "goffman.toml, line 2: the name ends in .p. Leave out that or bound.",
        ),
        (
            f"{RULE}limit = 1\nat-least = 2",
            "goffman.toml, line 2: no number is at least 2.0 and at most 1.0.",
        ),
        (
            f"{RULE}forbidden-verdicts = 'present'\nallowed-verdicts = 'negligible'",
            "goffman.toml, line 2: give forbidden-verdicts or allowed-verdicts, not both.",
        ),
        (
            "[[rules]]\nname = 'gap > 3'\nlimit = 1",
            "goffman.toml, line 2: name: 'gap > 3' is not a name such as social-distance.gap.",
        ),
        (
            "[[rules]]\nname = 3\nlimit = 1",
            "goffman.toml, line 2: name: it must be text in quotes.",
        ),
        (
            "[[rules]]\nname = 'gap.low'\nforbidden-verdicts = 'present'",
            "goffman.toml, line 3: forbidden-verdicts: low is a number and has no verdict: compare "
            "it with a number, or leave it out.",
        ),
        ("[[rules]\n", "goffman.toml, line 1: this is not TOML: "),
    ],
)  # fmt: skip
def test_every_fault_is_named_with_its_line(tmp_path: Path, text: str, fault: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FaultsError) as refusal:
        read_thresholds(path)
    first, line = str(refusal.value).splitlines()
    assert first == f"{path} cannot be used: 1 fault."
    assert line.strip().startswith(fault)
    assert fault.endswith("TOML: ") or line == f"  {fault}"


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, f"{RULE}limt = 1\n{RULE}limit = 'x'\nholds-in = 2")
    with pytest.raises(FaultsError) as refusal:
        read_thresholds(path)
    assert [fault.row for fault in refusal.value.faults] == [3, 6, 7]


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "goffman.toml").touch()
    with pytest.raises(FaultsError, match=r"not found in .*Did you mean 'goffman\.toml'\?"):
        read_thresholds(tmp_path / "gofman.toml")


@given(
    limit=st.floats(allow_nan=False, allow_infinity=False),
    bound=st.sampled_from(sorted(BOUNDS)),
    whose=st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=9),
)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_number_and_any_model_come_through(
    tmp_path: Path, limit: float, bound: str, whose: str
) -> None:
    name = "gap[" + whose.replace("\\", "").replace('"', "") + "]"
    text = f'[[rules]]\nname = "{name}"\nlimit = {limit!r}\nbound = "{bound}"\n'
    (found,) = read_thresholds(written(tmp_path, text))
    assert found.limit == limit
    assert found.whose == name[4:-1].strip()


@given(st.binary(max_size=200))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_refused_with_what_is_wrong(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "goffman.toml"
    path.write_bytes(content)
    with pytest.raises(FaultsError):
        read_thresholds(path)

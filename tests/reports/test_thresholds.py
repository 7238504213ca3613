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

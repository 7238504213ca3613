"""docs/ci.md: its files can be read, its workflows are run, and its JSON is what is said of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from doc_pages import ROOT, inline_code
from goffman.gate.names import FIELDS
from goffman.gate.rules import _READ, read_thresholds

PAGE = ROOT / "docs" / "ci.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)


def tables() -> dict[str, list[str]]:
    """The first cells of each table, by its header's first cell."""
    found: dict[str, list[str]] = {}
    for head, body in re.findall(r"^\| ([^|]*) \|.*\n\|---.*\n((?:\|.*\n)+)", TEXT, re.MULTILINE):
        found.setdefault(head, []).extend(line.split("|")[1] for line in body.splitlines())
    return found


@pytest.mark.parametrize("text", blocks("toml"))
def test_every_file_of_the_page_can_be_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "goffman.toml"
    path.write_text(text, encoding="utf-8")
    assert len(read_thresholds(path)) >= 2


def test_every_key_and_every_field_stands_on_the_page() -> None:
    keys = {name for cell in tables()["key"] for name in re.findall(r"`([\w-]+)`", cell)}
    assert {*_READ} <= keys
    code = inline_code(PAGE)
    assert [field for field in FIELDS if field != "value" and f".{field}" not in code] == []


STEPS = [
    step["run"] for step in yaml.safe_load(blocks("yaml")[0])["jobs"]["audit"]["steps"] if "run" in step
]  # fmt: skip
SCRIPT = yaml.safe_load(blocks("yaml")[1])["stigma"]["script"]


def test_both_workflows_install_as_the_quick_start_says() -> None:
    quick = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
    for lines in (STEPS, SCRIPT):
        first, *rest = lines
        assert f"\n{first}\n" in quick
        assert first.startswith("pip install ")
        assert all(line.startswith("goffman ") for line in rest)
    # Of one thing: the one on GitHub is run below.
    assert SCRIPT[:2] == STEPS[:2]
    assert SCRIPT[2] == STEPS[2].replace(" --format github", "")


def run_step(line: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """A line as a runner runs it, with the goffman of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return subprocess.run(
        ["bash", "-e", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path, "CI": "true", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_workflow_runs_as_it_stands_and_fails_where_a_limit_is_not_met(tmp_path: Path) -> None:
    rules = tmp_path / "goffman.toml"
    rules.write_text(blocks("toml")[-1], encoding="utf-8")
    summary = tmp_path / "summary.md"
    settings: dict[str, Any] = {"GITHUB_STEP_SUMMARY": str(summary)}
    for line in STEPS[1:]:
        done = run_step(line, tmp_path, **settings)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert (tmp_path / "runs" / "new" / "report.html").is_file()
    assert done.stdout.splitlines()[-1] == "2 ok"
    suites = ET.parse(tmp_path / "check.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("2", "0")
    assert summary.read_text(encoding="utf-8").startswith("### goffman check: 2 ok\n")

    rules.write_text(blocks("toml")[-1].replace("limit = 0.6", "limit = 0.1"), encoding="utf-8")
    failed = run_step(STEPS[-1], tmp_path, **settings)
    assert failed.returncode == 1
    assert (
        "::error file=goffman.toml,line=4,title=goffman check::FAILED "
        "people-sentiment.heading[bundled:mini-sentiment].high = " in failed.stdout
    )
    (failure,) = ET.parse(tmp_path / "check.xml").getroot().iter("failure")
    assert ", limit 0.1 (95% interval " in failure.get("message", "")

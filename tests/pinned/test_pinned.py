"""Every number and sentence of small made runs, pinned: reshaping the code must not move them.

``make golden`` renews them after a change that was meant; the diff of said.txt is then read.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pinned.runs import RUNS, STRESSED
from test_plugins import package

HERE = Path(__file__).parent
PROSE = {"contrast", "family", "method", "reason", "check_reason", "over", "interval_over", "text"}
"""What may be put in other words without any number changing."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The tables and texts of all runs, made in a process that has the respondents installed."""
    base = tmp_path_factory.mktemp("pinned")
    kinds = ("masked", "classifier", "causal", "chat")
    doors = "\n".join(f"{kind} = respondents:KINDS.{kind}" for kind in kinds)
    text = (HERE / "respondents.py").read_text(encoding="utf-8")
    package(base / "installed", "respondents", {"respondents.py": text}, models=doors)
    paths = (base / "installed", HERE.parent, *os.environ.get("PYTHONPATH", "").split(os.pathsep))
    done = subprocess.run(
        [sys.executable, HERE / "runs.py", base],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "COLUMNS": "200"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return base / "pinned"


def numbers(path):
    """The rows in a fixed order, without what is said in words."""
    frame = pl.read_parquet(path)
    kept = frame.select(pl.exclude(PROSE & {*frame.columns}))
    return kept.sort([name for name, kind in kept.schema.items() if not kind.is_float()])


@pytest.mark.parametrize("name", [*RUNS, "compare"])
def test_the_numbers_and_sentences_of_a_run_are_as_they_were(made, name, request):
    kept, found = HERE / "approved" / name, made / name
    if request.config.getoption("--renew-golden"):
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for path in sorted(found.glob("*.parquet")):
            numbers(path).write_parquet(kept / path.name, compression_level=19)
        shutil.copy(found / "said.txt", kept)
    assert {one.name for one in kept.iterdir()} == {one.name for one in found.iterdir()}
    for path in sorted(kept.glob("*.parquet")):
        assert_frame_equal(
            numbers(found / path.name), pl.read_parquet(path), rel_tol=1e-12, abs_tol=1e-12
        )
    assert (found / "said.txt").read_text() == (kept / "said.txt").read_text()


@pytest.mark.parametrize("name", RUNS)
def test_a_screen_is_at_most_80_columns_of_short_sentences_and_caveats(name):
    said = (HERE / "approved" / name / "said.txt").read_text()
    lines = said.partition("# Screen\n")[2].partition("\n# Summary")[0].splitlines()
    assert lines
    assert max(map(len, lines)) <= 80
    block = "\n".join(lines)
    marked = re.findall(r"^ [⁰¹²³⁴⁵⁶⁷⁸⁹]+ (.+)$", block, re.MULTILINE)
    assert marked or "not measurable" in block
    assert all(len(note.split()) <= 12 for note in marked)
    sentences = re.findall(
        r"^    (\S(?:.|\n    (?=\S))*?)\.(?=[ ⁰¹²³⁴⁵⁶⁷⁸⁹]*$)", block, re.MULTILINE
    )
    assert sentences
    assert all(len(one.split()) <= 14 for one in sentences), sentences
    assert not [one for one in sentences if re.search(r"\d", one)]


def test_every_measure_table_and_analysis_is_pinned():
    from goffman.measures.registry import BUILT_IN

    scores = [pl.read_parquet(HERE / "approved" / name / "scores.parquet") for name in RUNS]
    assert {name for frame in scores for name in frame["measure"]} >= {one.name for one in BUILT_IN}
    tables = {path.name for path in (HERE / "approved").glob("*/*.parquet")}
    assert tables >= {"sensitivity.parquet", "anchors.parquet", "stress.parquet"}
    assert {"control"} <= {level for frame in scores for level in frame["level"]}
    assert {*STRESSED} <= {*RUNS}

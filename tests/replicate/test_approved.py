"""Every row of every study is as it was approved: of our small files, and of the published ones.

``tests/golden/replicated-*.csv`` show what agrees, what differs for a known reason, and every note.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from goffman.replicate.rows import Study, read_figures, replicate_study

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("study", Study)
@pytest.mark.parametrize("where", ["small", "published"])
def test_every_row_is_as_approved(study: Study, where: str, request: pytest.FixtureRequest) -> None:
    """The published files are those that --download fetches."""
    done = replicate_study(study, request.getfixturevalue(where))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", "published", "recomputed", "agrees", "note"])
    for row in done.rows:
        writer.writerow([row.name, *row.numbers, row.agrees, row.note])
    approved = GOLDEN / f"replicated-{study}-{where}.csv"
    if request.config.getoption("--renew-golden"):
        approved.write_text(text.getvalue(), encoding="utf-8")
    assert text.getvalue() == approved.read_text(encoding="utf-8")
    names = [row.name for row in done.rows]
    assert len(set(names)) == len(names)
    assert {figure.name for figure in read_figures(study)} <= set(names)
    if where == "published":
        assert done.differing == []

"""Other packages add to goffman through entry points: real ones, in processes of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import goffman.instruments
from goffman.measures.catalogue import WHOLE, measures
from goffman.presentation.base import Claims, Presentation

HERE = Path(__file__).parent
DATA = Path(goffman.instruments.__file__).parent / "data"
COMMAND = "from goffman.cli import main; main()"


def package(folder: Path, name: str, files: dict[str, str], **doors: str) -> None:
    """What pip would have installed: modules, and a dist-info with entry points."""
    folder.mkdir(exist_ok=True)
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[goffman.{door}]\n{entry}\n" for door, entry in doors.items()]
    (about / "entry_points.txt").write_text("\n".join(lines))


def goffman_with(packages: Path, *arguments, code=0):
    """The real command where these packages are installed."""
    path = os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        timeout=300,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A package with a measure in one file, and an instrument that names it."""
    folder = tmp_path_factory.mktemp("toy")
    text = (HERE / "toy_measure.py").read_text(encoding="utf-8")
    package(folder, "toy", {"toy_measure.py": text}, measures="toy = toy_measure:Toy")
    shutil.copytree(DATA / "social-distance", folder / "toy-distance")
    toml = folder / "toy-distance" / "instrument.toml"
    changed = toml.read_text().replace('"negative-attitude"', '"toy-likely"')
    toml.write_text(changed.replace('id = "social-distance"', 'id = "toy-distance"'))
    return folder


@pytest.fixture(scope="module")
def audited(toy, tiny, tmp_path_factory):
    """A run that the toy measured, with its report; and what the audit printed."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    model = tiny("roberta")
    said = goffman_with(
        toy, "audit", model, "--instrument", toy / "toy-distance", "--output", folder
    )
    return folder, said[0]


def test_every_measure_has_a_whole_presentation():
    for name, kind in measures().items():
        measure = kind()
        assert all(hasattr(measure, part) for part in WHOLE), name
        shown = measure.presentation
        assert isinstance(shown, Presentation)
        assert isinstance(shown.claims, Claims)
        claims = shown.claims
        assert all([claims.measured, claims.may, claims.may_not, claims.beware, shown.called])
        assert shown.figures
        assert shown.tables
        assert set(shown.main) <= {"groups", "genders", "baseline", "pairs"}
        assert measure.quantity in {quantity for quantity, _ in measure.contrasts}


def test_a_measure_in_one_file_is_in_the_summary_and_on_the_page(audited):
    folder, said = audited
    assert re.search(r"The toy is (more|less|about as) likely for stigmatized\. Toy: diff", said)
    page = (folder / "report.html").read_text(encoding="utf-8")
    for text in ("The toy is", "that a toy is a toy", "P(toy)", "It is a toy."):
        assert text in page


def test_a_measure_in_one_file_has_figures_tables_and_evidence(audited):
    folder, _ = audited
    assert {path.name for path in (folder / "figures").glob("*.svg")} >= {
        "toy-distance-gap.svg",
        "toy-distance-conditions.svg",
    }
    assert {path.name for path in (folder / "tables").glob("*.csv")} >= {
        "toy-distance-groups.csv",
        "toy-distance-conditions.csv",
        "toy-distance-contrasts.csv",
    }
    from goffman.reports.evidence import unpacked

    page = (folder / "report.html").read_text(encoding="utf-8")
    block = re.search(r'id="evidence-0">([^<]+)<', page)[1]
    header, _ = unpacked(block)
    assert header["quantity"] == "P(toy)"
    assert set(header["labels"]) <= {"toy", "other"}


def test_a_measure_in_one_file_can_be_compared_gated_and_exported(toy, audited):
    folder, _ = audited
    said, _ = goffman_with(toy, "check", folder, "--list")
    assert "toy-distance.gap[" in said
    goffman_with(toy, "check", folder, "--fail-if", "toy-distance.gap > 2")
    goffman_with(toy, "check", folder, "--fail-if", "toy-distance.gap < 2", code=1)
    said, _ = goffman_with(toy, "compare", folder, folder, "--json")
    assert '"likely"' in said
    said, _ = goffman_with(toy, "export", folder, "--as", "model-card")
    assert "May be claimed: that a toy is a toy." in said
    said, _ = goffman_with(toy, "export", folder, "--as", "lm-eval")
    assert '"gap,none"' in said
    assert '"mean.likely.stigmatized,none"' in said


def test_a_run_of_a_measure_that_is_gone_says_what_to_install(audited, tmp_path):
    folder, _ = audited
    _, said = goffman_with(tmp_path, "report", folder, code=2)
    assert "The run was measured by 'toy-likely', which is not installed here." in said


def test_a_broken_plug_in_is_named_and_takes_nothing_down(tmp_path, audited):
    package(tmp_path, "broken", {"broken.py": "1 / 0"}, measures="broken = broken:Measure")
    package(tmp_path, "half", {"half.py": "class Half: name = 'half'"}, measures="half = half:Half")
    code = "from goffman.measures.catalogue import measures; print(*measures())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path) + os.pathsep + os.environ.get("PYTHONPATH", ""),
        },
        timeout=120,
    )
    assert done.stdout.split() == list(measures())
    assert (
        "The plug-in 'broken' (goffman.measures) is left out: ZeroDivisionError: division by zero"
    ) in done.stderr
    assert (
        "The plug-in 'half' (goffman.measures) is left out: it lacks reads, words, " in done.stderr
    )

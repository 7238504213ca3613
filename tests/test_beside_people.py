"""A whole audit set beside what people said: files, summary, page, gates and anchors of one's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from goffman.anchors.compare import ANCHORS_FILE, POINTS_FILE
from goffman.anchors.loader import load_anchor
from goffman.report.figures import figures_of
from goffman.report.load import CARD_FILE, PAGE_FILE, RESULTS_FILE, read_run
from goffman.report.table_files import tables_of
from goffman.runs.files import README
from goffman.runs.run import RUN_NAMES
from in_process import goffman

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

MODEL = "bundled:mini-sentiment"


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> tuple[Path, str]:
    """The folder of a run, and what is said of it in sentences."""
    folder = tmp_path_factory.mktemp("beside") / "run"
    done = goffman("audit", MODEL, "--instrument", "people-sentiment", "--output", folder)
    assert done.returncode == 0, done.stderr
    return folder, in_sentences(folder)


def in_sentences(folder: Path) -> str:
    """What goffman show prints of a run, without its line breaks within sentences.

    What is no terminal here has no encoding, so quotes are straight and a minus is a hyphen.
    """
    done = goffman("show", folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.replace("\n  ", " ")


@pytest.fixture
def run(audited, tmp_path) -> Path:
    return Path(shutil.copytree(audited[0], tmp_path / "run"))


@pytest.fixture
def own(tmp_path) -> Path:
    """An anchor of one's own: how peril would look in another country."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "anchor.toml").write_text(
        'id = "mine"\nversion = "1"\ntitle = "Peril elsewhere"\ncitation = "Nobody (2026)"\n'
        'terms = "CC0-1.0"\ncountry = "Elsewhere"\nyear = "2026"\npopulation = "fifty people"\n'
        'unit = "share"\nlowest = 0.0\nhighest = 1.0\ncompare = "profile"\nof = "condition"\n'
        'instruments = ["people-sentiment"]\nlimits = ["It is made up."]\n\n'
        '[[items]]\nid = "afraid"\nname = "fear"\nmeaning = "is afraid"\n',
        encoding="utf-8",
    )
    values = [one for one in load_anchor("pachankis2018").values if one.item == "course"]
    lines = [f"{one.condition},{one.value / 6:.3f},50\n" for one in values]
    (folder / "values.csv").write_text("condition,value,n\n" + "".join(lines), encoding="utf-8")
    return folder


def test_an_audit_says_how_it_goes_with_people(audited) -> None:
    folder, said = audited
    assert "\nCompared with people " in said
    assert "The intervals say nothing about other wordings.\n" in said
    assert (
        f'people-sentiment, {MODEL} (pachankis2018): Its probability of "negative" has no clear '
        "relation with any of 6 dimensions. Across 93 conditions, the strongest correlation is "
        'with "course" (how long it lasts): r = -0.37, 99.2% interval -0.88 to 0.55' in said
    )
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert list(manifest["anchors"]) == ["pachankis2018"]
    assert {ANCHORS_FILE, POINTS_FILE} <= manifest["tables"].keys()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert 'data-tab="People"' in page
    assert "They did not say how they feel about the people who have it, or how" in page
    run = read_run(folder)
    assert "beside-people" in {one.name for one in tables_of(run)}
    assert "people-sentiment-beside-people-pachankis2018" in {one.id for one in figures_of(run)}


def test_the_same_run_reported_again_is_the_same(run) -> None:
    before = {name: (run / name).read_bytes() for name in (ANCHORS_FILE, POINTS_FILE)}
    assert goffman("report", run).returncode == 0
    assert {name: (run / name).read_bytes() for name in before} == before


def test_a_table_that_was_edited_is_refused(run) -> None:
    table = pl.read_parquet(run / ANCHORS_FILE)
    table.with_columns(effect=pl.lit(1.0)).write_parquet(run / ANCHORS_FILE)
    done = goffman("report", run)
    assert done.returncode == 2
    assert "anchors.parquet was damaged or changed" in done.stderr


def test_a_gate_can_ask_for_a_correlation_with_people(run) -> None:
    name = "people-sentiment.anchor.pachankis2018.course"
    failed = goffman("check", run, "--fail-if", f"{name} < -0.2")
    assert failed.returncode == 1
    said = f"FAILED {name}[{MODEL}] = -0.3674, must be at least -0.2 (99.2% interval −0.88 to 0.55)"
    assert said in failed.stdout
    assert goffman("check", run, "--fail-if", f"{name}.low < -0.8").returncode == 1
    assert goffman("check", run, "--fail-if", f"{name}.high < 0.5").returncode == 0
    word = goffman("check", run, "--fail-if", f"{name} is present")
    assert (word.returncode, "has no verdict (the method gives none)" in word.stderr) == (2, True)
    listed = goffman("check", run, "--list").stdout
    assert "people-sentiment.anchor-in-category.pachankis2018.peril" in listed


def test_an_anchor_of_ones_own_stands_beside_goffmans(run, own) -> None:
    done = goffman("report", run, "--anchor", own)
    assert done.returncode == 0, done.stderr
    said = in_sentences(run)
    assert (
        f'people-sentiment, {MODEL} (mine): Its probability of "negative" does not clearly '
        'follow "fear" (is afraid). Across 93 conditions: r = -0.37, 95% interval -0.77 to 0.24, '
        in said
    )
    assert "(pachankis2018)" in said
    # Its folder is not needed for the page again.
    shutil.rmtree(own)
    again = goffman("report", run)
    assert again.returncode == 0, again.stderr
    assert "(mine)" in in_sentences(run)
    assert "It is made up." in (run / "report.html").read_text(encoding="utf-8")


def test_an_anchor_that_fits_nothing_is_told_of(run, own) -> None:
    text = (own / "anchor.toml").read_text(encoding="utf-8")
    (own / "anchor.toml").write_text(text.replace("people-sentiment", "other"), encoding="utf-8")
    done = goffman("report", run, "--anchor", own)
    assert done.returncode == 0
    assert "Nothing in this run fits the anchor: see instruments in its anchor.toml." in done.stderr


def test_a_faulty_anchor_ends_an_audit_before_anyone_is_asked(tmp_path, own) -> None:
    (own / "values.csv").write_text("condition,value\nblind,7\n", encoding="utf-8")
    done = goffman("audit", MODEL, "--anchor", own, "--output", tmp_path / "none")
    assert done.returncode == 2
    assert (
        "line 2: value is '7'. Allowed: a number such as 0.35, at least 0, at most 1."
        in done.stderr
    )
    assert not (tmp_path / "none").exists()


def test_two_runs_are_still_compared(run, tmp_path) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    done = goffman("compare", run, other)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{run.name} > {other.name}\n")
    assert "people-sentiment " in done.stdout
    assert "No change: every answer has the same score." in done.stdout


def test_every_file_of_a_run_is_known_as_one(audited) -> None:
    names = {path.name for path in audited[0].iterdir()}
    # A card, results or README alone could be somebody's own, so they make no folder a run.
    to_read = {PAGE_FILE, CARD_FILE, RESULTS_FILE, README}
    assert to_read <= names <= RUN_NAMES | to_read

"""The command line and the versions that a run's manifest keeps, and what must not hang on them."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

import goffman
import in_process
from goffman.console import without_secrets

AUDIT = ("audit", "bundled:mini", "--instrument", "care-seeking", "--limit", "20")
COMPUTES = ("numpy", "scipy", "polars", "torch", "transformers", "tokenizers")


def audited(folder: Path, *more: str) -> dict:
    done = in_process.goffman(*AUDIT, "--no-report", "--output", folder, *more)
    assert done.returncode == 0, done.stderr
    return manifest(folder)


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "a run"
    audited(folder)
    return folder


def test_a_run_knows_its_command_and_the_versions_of_all_that_computes(run: Path) -> None:
    told = manifest(run)
    (session,) = told["sessions"]
    assert session["command"] == f"goffman {' '.join(AUDIT)} --no-report --output '{run}'"
    for versions in (session["versions"], told["measuring"]["versions"]):
        assert {name: versions[name] for name in COMPUTES} == {
            name: version(name) for name in COMPUTES
        }


def test_from_python_there_is_no_command(tmp_path: Path) -> None:
    goffman.audit(
        "bundled:mini", instruments="care-seeking", limit=20, output=tmp_path, report=False,
        progress=False,
    )  # fmt: skip
    assert manifest(tmp_path)["sessions"][0]["command"] is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://me:p4ss@host:80/v1#name", "http://***@host:80/v1#name"),
        ("http://p4ss@host/v1#name", "http://***@host/v1#name"),
        ("http://me:p4/ss@host/v1", "http://***@host/v1"),
        ("https://host/v1?key=p4ss&of=p4ss#name", "https://host/v1?key=***&of=***#name"),
        ("a=http://me:p4ss@host/v1", "a=http://***@host/v1"),
        ("sk-proj-p4ss0123456789abcdef", "***"),
        ("--key-env=hf_p4ss0123456789abcdef", "--key-env=***"),
        ("org/name@main", "org/name@main"),
        ("http://host/v1#org/name", "http://host/v1#org/name"),
        ("http://host/v1#org/name@main", "http://host/v1#org/name@main"),
        ("gap? a=b", "gap? a=b"),
    ],
)
def test_no_secret_is_kept(given: str, kept: str) -> None:
    assert without_secrets(given) == kept
    assert "p4ss" not in kept


def test_no_secret_is_in_any_file_of_the_run(tmp_path: Path) -> None:
    """In a text that no model of the audit is given, as the commands take it."""
    audited(tmp_path / "run", "--system", "Ask http://me:p4ss@host/v1?key=p4ss2 first.")
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert b"http://***@host/v1?key=***" in (tmp_path / "run" / "manifest.json").read_bytes()
    assert not [path for path in files if b"p4ss" in path.read_bytes()]


def test_tables_are_the_same_bytes_whatever_the_command(run: Path, tmp_path: Path) -> None:
    other = audited(tmp_path / "other", "--seed", "0", "--batch-size", "auto")
    assert other["sessions"][0]["command"] != manifest(run)["sessions"][0]["command"]
    assert tables(tmp_path / "other") == tables(run)
    assert other["measuring"]["made_from"] == manifest(run)["measuring"]["made_from"]


def test_another_command_for_a_finished_run_makes_nothing_anew(run: Path) -> None:
    before, made = manifest(run), (run / "scores.parquet").stat().st_mtime_ns
    audited(run, "--seed", "0")
    assert manifest(run) == before
    assert (run / "scores.parquet").stat().st_mtime_ns == made


def test_a_run_of_an_earlier_goffman_opens_without_them(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    told = audited(folder)
    del told["sessions"][0]["command"], told["sessions"][0]["versions"]["scipy"]
    del told["measuring"]["versions"]
    (folder / "manifest.json").write_text(json.dumps(told))
    before = tables(folder)
    assert goffman.open_run(folder).models == ["bundled:mini"]
    assert in_process.goffman("report", folder).returncode == 0
    audited(folder)
    assert tables(folder) == before

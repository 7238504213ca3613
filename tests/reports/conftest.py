"""What the tests of reports share: a run of real models on shortened instruments."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

import goffman.instruments
from few_conditions import fit_paraphrases
from goffman.pipeline import AskOptions, MeasureOptions, audit
from goffman.report.load import read_run

DATA = Path(goffman.instruments.__file__).parent / "data"


def few_rows(path, keep):
    """The CSV file, now with only the rows that are kept; ``keep``: row, so many of its kind."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    counts = {}
    kept = []
    for row in rows:
        key = row.get("group") or row.get("dimension") or ""
        name = row.get("condition") or row.get("item")
        counts.setdefault(key, []).append(name)
        if keep(row, len(dict.fromkeys(counts[key]))):
            kept.append(row)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(kept)


@pytest.fixture(scope="session")
def shortened(tmp_path_factory):
    """The built-in instruments with four conditions of each group and a few items."""
    folder = tmp_path_factory.mktemp("instruments") / "data"
    shutil.copytree(DATA, folder)
    for name in ("social-distance", "care-seeking"):
        few_rows(folder / name / "conditions.csv", lambda row, place: place <= 4)
    few_rows(folder / "care-seeking" / "items.csv", lambda row, place: place <= 2)
    few_rows(
        folder / "attribution" / "items.csv",
        lambda row, place: row["dimension"] in {"anger", "help"},
    )
    for name in ("care-seeking", "attribution"):
        fit_paraphrases(folder / name)
    return folder


@pytest.fixture(scope="session")
def models(tiny):
    """Two masked models, and classifiers of two and of three classes."""
    return (
        str(tiny("roberta")),
        str(tiny("bert")),
        str(tiny("bert", labels=("NEG", "POS"))),
        str(tiny("roberta", labels=("negative", "neutral", "positive"))),
    )


@pytest.fixture(scope="session")
def audited(shortened, models, tmp_path_factory):
    """The folder of a run of all of them, with its report; never written to."""
    folder = tmp_path_factory.mktemp("audited") / "run"
    names = ("social-distance", "care-seeking", "attribution", "people-sentiment")
    audit(
        models,
        instruments=[str(shortened / name) for name in names],
        output=folder,
        options=AskOptions(controls=False),
        measuring=MeasureOptions(pairs=((models[0], models[2]),)),
        report=True,
    )
    return folder


@pytest.fixture(scope="session")
def measured(audited):
    """The run, read back."""
    return read_run(audited)


@pytest.fixture(scope="session")
def sections(measured):
    return measured.sections


@pytest.fixture
def run(audited, tmp_path):
    """A run of one's own."""
    return Path(shutil.copytree(audited, tmp_path / "run"))


@pytest.fixture(scope="session")
def audited_little(shortened, models, tmp_path_factory):
    """The folder of a run of one model and two instruments, with its report; never written to."""
    folder = tmp_path_factory.mktemp("little") / "run"
    names = ("social-distance", "care-seeking")
    audit(
        models[:1],
        instruments=[str(shortened / name) for name in names],
        output=folder,
        options=AskOptions(controls=False),
        report=True,
    )
    return folder


@pytest.fixture
def little(audited_little, tmp_path):
    """A little run of one's own, for what does not depend on how much is reported."""
    return Path(shutil.copytree(audited_little, tmp_path / "run"))

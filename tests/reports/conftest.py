"""What the tests of reports share: a run of real models on shortened instruments."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import small_runs

from goffman.pipeline import AskOptions, MeasureOptions, audit
from goffman.report.load import read_run


@pytest.fixture(scope="session")
def shortened(tmp_path_factory):
    """The built-in instruments with four conditions of each group and a few items."""
    folder = tmp_path_factory.mktemp("instruments") / "data"
    return small_runs.shortened(folder, (4, 4), ("anger", "help"))


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

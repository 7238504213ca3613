"""What the tests of the page share: a run of a real model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from goffman.pipeline import AskOptions, audit


@pytest.fixture(scope="session")
def answered(tiny, tmp_path_factory):
    """The folder of a run with fills; never written to."""
    folder = tmp_path_factory.mktemp("answered") / "tiny-run"
    options = AskOptions(controls=False, limit=60)
    audit([str(tiny("bert"))], instruments=["social-distance"], output=folder, options=options)
    return folder


@pytest.fixture
def run(answered, tmp_path):
    """A run of one's own."""
    return Path(shutil.copytree(answered, tmp_path / answered.name))

"""What the tests of the page share: a run of a real model, a browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from goffman.audit import AskOptions, audit

CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def answered(tiny, tmp_path_factory):
    """The folder of a run with fills; never written to."""
    folder = tmp_path_factory.mktemp("answered") / "tiny-run"
    options = AskOptions(limit=60)
    audit([str(tiny("bert"))], instruments=["social-distance"], output=folder, options=options)
    return folder


@pytest.fixture
def run(answered, tmp_path):
    """A run of one's own."""
    return Path(shutil.copytree(answered, tmp_path / answered.name))


@pytest.fixture(scope="module")
def browser():
    """A real Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("there is no Chromium here")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        yield opened
        opened.close()

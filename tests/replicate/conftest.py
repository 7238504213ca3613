"""What the tests of replicate share."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from goffman.replicate.rows import Result

SMALL = Path(__file__).parent / "data"


@pytest.fixture
def small() -> Path:
    """Small files of our own, in the forms of the published ones."""
    return SMALL


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], Path]:
    """``copy("lin2022")``: a copy of a study's small files, to be spoiled."""

    def copied(study: str) -> Path:
        return Path(shutil.copytree(SMALL / study, tmp_path / study))

    return copied


@pytest.fixture
def by_name() -> Callable[[Iterable[Result]], dict[str, object]]:
    """A function from results to their values by name, each of which stands once."""

    def values(results: Iterable[Result]) -> dict[str, object]:
        listed = list(results)
        found = {result.name: result.value for result in listed}
        assert len(found) == len(listed)
        return found

    return values

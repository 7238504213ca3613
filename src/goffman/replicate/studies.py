"""Every study by its name, and the module that recomputes it."""

from __future__ import annotations

import importlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.replicate.files import study_folder
from goffman.replicate.rows import Replication, set_side_by_side

if TYPE_CHECKING:
    from goffman.options import Listener
    from goffman.pipeline import Audit


class Study(StrEnum):
    """The studies whose numbers can be recomputed."""

    MEI2023 = "mei2023"
    LIN2022 = "lin2022"
    BRIEGEL2023 = "briegel2023"
    MOORE2025 = "moore2025"
    GUEORGUIEVA2025 = "gueorguieva2025"


def replicate_study(study: Study, folder: Path, *, ratings: Path | None = None) -> Replication:
    """Return the study's published numbers beside those recomputed from its files in the folder."""
    files = study_folder(folder, study)
    results = importlib.import_module(f"goffman.replicate.{study}").results
    options = {"ratings": ratings} if study is Study.MEI2023 else {}
    return set_side_by_side(study, results(files, **options))


def published_run(
    study: Study, folder: Path, output: Path, *, ratings: Path | None = None, listener: Listener
) -> Audit:
    """Return a run of the study's published answers; raise PublishedError if there are none."""
    from goffman.replicate.published_run import make_run

    files = study_folder(folder, study)
    module = importlib.import_module(f"goffman.replicate.{study}_import")
    parts = getattr(module, "published_answers", lambda _: ())(files)
    return make_run(study, parts, output, ratings=ratings, listener=listener)

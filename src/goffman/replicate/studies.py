"""Every study by its name, and what recomputes it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from goffman.replicate.files import study_folder
from goffman.replicate.rows import Replication, set_side_by_side


class Study(StrEnum):
    """The studies whose numbers can be recomputed."""

    MEI2023 = "mei2023"
    LIN2022 = "lin2022"
    BRIEGEL2023 = "briegel2023"
    MOORE2025 = "moore2025"
    GUEORGUIEVA2025 = "gueorguieva2025"


def replicate_study(study: Study, folder: Path, *, ratings: Path | None = None) -> Replication:
    """The study's published numbers beside those recomputed from its files in the folder."""
    files = study_folder(folder, study)
    if study is Study.MEI2023:
        from goffman.replicate import mei2023

        return set_side_by_side(study, mei2023.results(files, ratings=ratings))
    if study is Study.LIN2022:
        from goffman.replicate import lin2022

        return set_side_by_side(study, lin2022.results(files))
    if study is Study.BRIEGEL2023:
        from goffman.replicate import briegel2023

        return set_side_by_side(study, briegel2023.results(files))
    if study is Study.MOORE2025:
        from goffman.replicate import moore2025

        return set_side_by_side(study, moore2025.results(files))
    from goffman.replicate import gueorguieva2025

    return set_side_by_side(study, gueorguieva2025.results(files))

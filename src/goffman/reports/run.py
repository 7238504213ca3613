"""A measured run, read back for everything that people read of it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

import polars as pl

from goffman.analysis.beside import ANCHORS_FILE, POINTS_FILE
from goffman.analysis.by_ratings import COMPARED
from goffman.analysis.correlations import Correlation, correlations
from goffman.analysis.robustness import ROBUSTNESS_FILE
from goffman.analysis.score import measures_of, wordings_of
from goffman.analysis.sections import sections_of
from goffman.analysis.stress import MULTIVERSE_FILE, STRESS_FILE
from goffman.analysis.wordings import WORDINGS_FILE, by_wording
from goffman.anchor_points import ANCHOR_POINTS
from goffman.errors import RunError, no_run
from goffman.estimates.sharing import sharings
from goffman.multiverse_columns import MULTIVERSE, STRESS, WORDINGS
from goffman.presentation.anchored import AnchoredModel, anchored_models
from goffman.runs.files import Folder
from goffman.runs.folder import read_prompts
from goffman.runs.manifest import read_manifest
from goffman.tables import (
    CONTRASTS,
    ESTIMATES,
    RATINGS_COMPARED,
    ROBUSTNESS,
    SCORES,
    VERDICTS,
    complaints,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goffman.presentation.section import Section
    from goffman.runs.manifest import Manifest
    from goffman.tables import Column


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredRun:
    """The tables of a run folder; its answers are read from the folder where they are needed."""

    folder: Path
    manifest: Manifest
    prompts: pl.DataFrame
    """The columns PROMPT_TABLE."""
    scores: pl.DataFrame
    """The columns SCORES."""
    estimates: pl.DataFrame
    """The columns CONTRASTS and ESTIMATES."""
    compared: pl.DataFrame | None = None
    """The columns RATINGS_COMPARED; None: no user's ratings stand over the shipped ones."""
    robustness: pl.DataFrame | None = None
    """The columns ROBUSTNESS; None: an earlier goffman did not compute it, or not so."""
    stressed: tuple[pl.DataFrame, pl.DataFrame] | None = None
    """The columns MULTIVERSE and STRESS; None: the run was not stressed since it was measured."""
    anchors: pl.DataFrame | None = None
    """The columns of the estimates: models beside people; None: nothing fits an anchor."""
    anchor_points: pl.DataFrame | None = None
    """The columns ANCHOR_POINTS, likewise."""
    worded: pl.DataFrame | None = None
    """The columns WORDINGS as they are on disk; None: an earlier goffman did not compute them."""

    @cached_property
    def sections(self) -> dict[str, Section]:
        """By instrument: what people read of it is made from this."""
        return sections_of(
            self.manifest,
            prompts=self.prompts,
            scores=self.scores,
            estimates=self.estimates,
            compared=self.compared,
            robustness=self.robustness,
            stressed=self.stressed,
            worded=self.by_wording,
        )

    @cached_property
    def by_wording(self) -> pl.DataFrame:
        """The columns WORDINGS; what an earlier goffman did not compute is computed now."""
        if self.worded is not None:
            return self.worded
        return by_wording(
            measures_of(self.manifest),
            scores=self.scores,
            estimates=self.estimates,
            wordings=wordings_of(self.folder, self.manifest),
            sharing=sharings(self.prompts),
        )

    @cached_property
    def correlations(self) -> list[Correlation]:
        """Those of two measures, each once."""
        return correlations(self.estimates, self.sections, measures_of(self.manifest))

    @cached_property
    def anchored(self) -> list[AnchoredModel]:
        """Each model and instrument beside each anchor that fits."""
        return anchored_models(
            self.anchors, self.anchor_points, self.manifest.anchors, self.sections
        )

    @property
    def every_estimate(self) -> pl.DataFrame:
        """The estimates, and those of models beside people."""
        return self.estimates if self.anchors is None else pl.concat([self.estimates, self.anchors])


def read_run(folder: Path) -> MeasuredRun:
    """The run in the folder; RunError where there is none, or where it is not measured yet."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise RunError(no_run(folder))
    compared = None
    if COMPARED in manifest.tables:
        compared = _read(folder, COMPARED, RATINGS_COMPARED, manifest=manifest)
    robustness = None
    # A manifest without any checksums knows no table by name.
    unnamed = not manifest.tables and ROBUSTNESS_FILE in Folder(folder).names()
    if unnamed or ROBUSTNESS_FILE in manifest.tables:
        robustness = _read(folder, ROBUSTNESS_FILE, ROBUSTNESS, manifest=manifest, or_none=True)
    stressed = None
    if {MULTIVERSE_FILE, STRESS_FILE} <= manifest.tables.keys():
        analyses = _read(folder, MULTIVERSE_FILE, MULTIVERSE, manifest=manifest, or_none=True)
        summed = _read(folder, STRESS_FILE, STRESS, manifest=manifest, or_none=True)
        # Those of an earlier goffman are as good as none: it is quickly stressed again.
        if analyses is not None and summed is not None:
            stressed = analyses, summed
    worded = None
    if WORDINGS_FILE in manifest.tables:
        worded = _read(folder, WORDINGS_FILE, WORDINGS, manifest=manifest)
    of_estimates = (*CONTRASTS, *ESTIMATES, *VERDICTS)
    anchors = points = None
    if {ANCHORS_FILE, POINTS_FILE} <= manifest.tables.keys():
        anchors = _read(folder, ANCHORS_FILE, of_estimates, manifest=manifest, or_none=True)
        points = _read(folder, POINTS_FILE, ANCHOR_POINTS, manifest=manifest, or_none=True)
        # Those of an earlier goffman are as good as none: its report makes them anew.
        if anchors is None or points is None:
            anchors = points = None
    return MeasuredRun(
        folder=folder,
        manifest=manifest,
        prompts=read_prompts(folder, manifest),
        scores=_read(folder, "scores.parquet", SCORES, manifest=manifest),
        estimates=_read(folder, "estimates.parquet", of_estimates, manifest=manifest),
        compared=compared,
        robustness=robustness,
        stressed=stressed,
        anchors=anchors,
        anchor_points=points,
        worded=worded,
    )


@overload
def _read(
    folder: Path, name: str, columns: Iterable[Column], *, manifest: Manifest
) -> pl.DataFrame: ...


@overload
def _read(
    folder: Path, name: str, columns: Iterable[Column], *, manifest: Manifest, or_none: bool
) -> pl.DataFrame | None: ...


def _read(
    folder: Path,
    name: str,
    columns: Iterable[Column],
    *,
    manifest: Manifest,
    or_none: bool = False,
) -> pl.DataFrame | None:
    """The table; RunError where it is missing, damaged or of another form.

    ``or_none``: None where it is of another form.
    """
    path = folder / name
    again = (
        "Run the goffman audit command of this run again. It writes the file again and asks no "
        "model."
    )
    content = Folder(folder).read(name)
    if content is None:
        raise RunError(f"{path} is missing, because the run has not been measured yet. {again}")
    if not manifest.knows(name, content):
        raise RunError(
            f"{path} was damaged or changed, or goffman was stopped while it wrote the file. "
            f"{again}"
        )
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except pl.exceptions.PolarsError as error:
        raise RunError(f"{path} cannot be read ({type(error).__name__}). {again}") from error
    problems = complaints(frame, tuple(columns))
    if problems and or_none:
        return None
    if problems:
        raise RunError(
            f"{path} was written by another version of goffman ({'; '.join(problems)}). {again}"
        )
    return frame

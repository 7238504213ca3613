"""A measured run, read back for everything that people read of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goffman.anchors.compare import ANCHORS_FILE, POINTS_FILE
from goffman.anchors.sentences import AnchoredModel, anchored_models
from goffman.console import printable
from goffman.errors import RunError, no_run
from goffman.formatting import labels_of
from goffman.instruments.types import CONTROL, asked_as, base_of
from goffman.measures.controls import (
    CALLED,
    DECIDED,
    DECIDED_HIGH,
    DECIDED_LOW,
    HIGH,
    IN_WORDING,
    LOW,
)
from goffman.modes import asked_ids, of_asked, primary_modes
from goffman.presentation.competence import Competence, marked
from goffman.presentation.section import Section
from goffman.presentation.sensitivity import PEOPLE_SHARE, whose_ratings
from goffman.report.summary import Correlation, Summary, correlations, summarize
from goffman.runs.manifest import read_manifest
from goffman.runs.run import check_answers, read_prompts, read_table
from goffman.schemas import (
    ANCHOR_POINTS,
    CONTRASTS,
    ESTIMATES,
    RATINGS_COMPARED,
    SCORES,
    SENSITIVITY,
    STRESS,
    VERDICTS,
)
from goffman.scoring import measures_of
from goffman.sensitivity.multiverse import MULTIVERSE_FILE, STRESS_FILE
from goffman.sensitivity.variations import COMPARED, SENSITIVITY_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.formatting import Labels
    from goffman.measures.base import Measure
    from goffman.presentation.section import Presentation
    from goffman.runs.manifest import AskedControls, Manifest
    from goffman.schemas import Column


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
    """The columns RATINGS_COMPARED; None: only the shipped ratings are used."""
    sensitivity: pl.DataFrame | None = None
    """The columns SENSITIVITY; None: there is no main result."""
    stressed: tuple[pl.DataFrame, pl.DataFrame] | None = None
    """The columns SENSITIVITY and STRESS; None: not stressed since it was measured."""
    anchors: pl.DataFrame | None = None
    """Comparisons of models with people, with the columns of estimates; None: there are none."""
    anchor_points: pl.DataFrame | None = None
    """The columns ANCHOR_POINTS; None: nothing was compared with people."""

    @cached_property
    def answered(self) -> pl.DataFrame:
        """Return model, instrument and mode of everything that has scores, each once."""
        return self.scores.select("model", "instrument", "mode").unique()

    @cached_property
    def sections(self) -> dict[str, Section]:
        """Return instrument → section, from which everything that people read of it is made."""
        return _sections(self)

    @cached_property
    def correlations(self) -> list[Correlation]:
        """Return the correlations of two measures, each once."""
        return correlations(self.estimates, self.sections, measures_of(self.manifest))

    @cached_property
    def anchored(self) -> list[AnchoredModel]:
        """Return the comparison of each model and instrument with each anchor that fits it."""
        return anchored_models(
            self.anchors, self.anchor_points, self.manifest.anchors, self.sections
        )

    @property
    def summary(self) -> Summary:
        """Return the summary of the run's results."""
        return summarize(self.sections, self.correlations, self.anchored)

    @property
    def every_estimate(self) -> pl.DataFrame:
        """Return the estimates, with those of models compared with people."""
        return self.estimates if self.anchors is None else pl.concat([self.estimates, self.anchors])


def _sections(run: MeasuredRun) -> dict[str, Section]:
    """Return the sections of the instruments that have scores, in the order of asking."""
    manifest, scores = run.manifest, run.scores
    analyses, stress = run.stressed or (None, None)
    variations = [table for table in (run.sensitivity, analyses) if table is not None]
    all_variations = pl.concat(variations) if variations else None
    tables = {"compared": run.compared, "sensitivity": all_variations, "stress": stress}
    names, measures = labels_of(manifest), measures_of(manifest)
    sections = {}
    prompt_scores = scores.lazy().filter(level="prompt")
    asked_modes = prompt_scores.select("instrument", "mode", "model").unique().collect()
    primary = primary_modes(asked_modes.iter_rows())
    for instrument, entry in manifest.instruments.items():
        measure = measures.get(instrument)
        is_instrument = of_asked(instrument)
        is_control = pl.col("level") == CONTROL
        if measure is None or not scores.select(is_instrument.any()).item():
            continue
        own_prompts = run.prompts.filter(is_instrument)
        controls = scores.filter(is_instrument, is_control)
        competence = _competence(controls, entry.controls, names, measure.presentation)
        failing = {
            competence_entry.name: marked(competence_entry.model)
            for competence_entry in competence.values()
            if not competence_entry.passed
        }
        sections[instrument] = Section(
            instrument=instrument,
            measure=measure.name,
            unit=measure.unit,
            presentation=measure.presentation,
            scores=scores.filter(is_instrument, ~is_control),
            estimates=run.estimates.filter(is_instrument),
            # Models that cannot do the task have names that say so.
            names=replace(names, models={**names.models, **failing}),
            contrast=measure.contrast,
            against=measure.against,
            wordings=_seen(own_prompts, "wording"),
            items=_seen(own_prompts, "item"),
            dimensions=_seen(own_prompts, "dimension"),
            prompts=own_prompts,
            placement=entry.settings.placement if entry.settings else "before-first",
            competence=competence,
            main_modes={
                model: asked_as(base, mode)
                for (base, model), mode in primary.items()
                if base is not None and base == base_of(instrument) and model is not None
            },
            sample=entry.sample,
            ratings=_whose_ratings(manifest, scores.lazy().filter(is_instrument), measure),
            **{
                name: table.filter(is_instrument)
                for name, table in tables.items()
                if table is not None
            },
        )
    return sections


def _whose_ratings(manifest: Manifest, scores: pl.LazyFrame, measure: Measure) -> str:
    """Return who rated the words that the numbers rest on; an empty string without ratings."""
    if measure.words != "attitudes":
        return ""
    shares = scores.filter(level="model", quantity=PEOPLE_SHARE)
    return whose_ratings(manifest.lexicons, shares.select(pl.col("value").min()).collect().item())


def _competence(
    of_controls: pl.DataFrame, controls: AskedControls | None, names: Labels, shown: Presentation
) -> dict[str, Competence]:
    """Return how each model did on the control items."""
    if controls is None:
        return {}
    ends = {
        (row["model"], row["quantity"]): row["value"] for row in of_controls.iter_rows(named=True)
    }
    in_wordings = of_controls.filter(pl.col("value").is_not_null(), quantity=IN_WORDING)
    return {
        row["model"]: Competence(
            name=row["model"],
            model=names.model(row["model"]),
            task=printable(controls.task),
            score=CALLED[controls.score],
            value=row["value"],
            low=ends.get((row["model"], LOW)),
            high=ends.get((row["model"], HIGH)),
            by_wording=tuple(
                in_wordings.filter(model=row["model"]).select("wording", "value").rows()
            ),
            floor=controls.floor,
            n=row["n"],
            missing=row["missing"],
            reason=row["reason"],
            counts=shown.controls_count,
            decided=ends.get((row["model"], DECIDED)),
            decided_ends=(
                ends.get((row["model"], DECIDED_LOW)),
                ends.get((row["model"], DECIDED_HIGH)),
            ),
        )
        for row in of_controls.filter(quantity=CONTROL).iter_rows(named=True)
    }


def _seen(prompts: pl.DataFrame, column: str) -> list[str]:
    return prompts[column].drop_nulls().unique(maintain_order=True).to_list()


def read_run(folder: Path, *, answers: bool = True) -> MeasuredRun:
    """Return the run in the folder; raise RunError if there is none, or if it is not yet measured.

    Raise RunError also if a table, or an answer behind it, is not as it was written; ``answers``:
    whether the answers are checked.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise RunError(no_run(folder))
    if answers:
        check_answers(folder, manifest)
    of_estimates = (*CONTRASTS, *ESTIMATES, *VERDICTS)
    read = partial(
        read_table,
        folder,
        manifest=manifest,
        missing=", because the run has not been measured yet",
        damaged="damaged or changed, or goffman was stopped while it wrote the file",
    )

    def table(name: str, columns: Sequence[Column]) -> pl.DataFrame | None:
        """Return a table that not every run has, or None."""
        return read(name, columns) if name in manifest.tables else None

    analyses, summed = table(MULTIVERSE_FILE, SENSITIVITY), table(STRESS_FILE, STRESS)
    run = MeasuredRun(
        folder=folder,
        manifest=manifest,
        scores=read("scores.parquet", SCORES),
        prompts=read_prompts(folder, manifest),
        estimates=read("estimates.parquet", of_estimates),
        compared=table(COMPARED, RATINGS_COMPARED),
        sensitivity=table(SENSITIVITY_FILE, SENSITIVITY),
        stressed=None if analyses is None or summed is None else (analyses, summed),
        anchors=table(ANCHORS_FILE, of_estimates),
        anchor_points=table(POINTS_FILE, ANCHOR_POINTS),
    )
    _check_known(run)
    return run


def _check_known(run: MeasuredRun) -> None:
    """Raise RunError if the manifest lacks a model, an instrument or answers that have scores."""
    folder, manifest = run.folder, run.manifest
    for model, instrument in run.answered.select("model", asked_ids()).drop_nulls().iter_rows():
        is_known = model in manifest.models and instrument in manifest.instruments
        if not is_known or instrument not in manifest.answers.get(model, {}):
            raise RunError(
                f"{folder / 'manifest.json'} was damaged or edited: it does not have the answers "
                f"of {model} to {instrument}, which scores.parquet has. Put the original file back."
            )


def unmeasurable(run: MeasuredRun, instrument: str, model: str) -> Competence | None:
    """Return how a model failed an instrument's controls; None if it passed or was asked none."""
    section = run.sections.get(instrument)
    return section.unmeasurable().get(model) if section else None


PAGE_FILE, CARD_FILE, RESULTS_FILE = "report.html", "card.png", "results.csv"

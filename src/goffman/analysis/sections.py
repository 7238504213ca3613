"""A measured run, instrument by instrument: what all that people read of it is made from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.console import printable
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
from goffman.modes import of_asked, primary_modes
from goffman.presentation.competence import Competence, marked
from goffman.presentation.section import Section
from goffman.presentation.user_ratings import whose_ratings
from goffman.scoring import measures_of

if TYPE_CHECKING:
    from goffman.formatting import Labels
    from goffman.presentation.types import Presentation
    from goffman.runs.manifest import AskedControls, Manifest


def sections_of(
    manifest: Manifest,
    *,
    prompts: pl.DataFrame,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    compared: pl.DataFrame | None = None,
    sensitivity: pl.DataFrame | None = None,
    stressed: tuple[pl.DataFrame, pl.DataFrame] | None = None,
) -> dict[str, Section]:
    """By instrument, in the order in which they were asked: those that have scores.

    ``compared``: RATINGS_COMPARED, where a user's ratings stand over the shipped ones;
    ``sensitivity``: SENSITIVITY, ``stressed``: its rows of the multiverse and STRESS, where they
    were computed.
    """
    analyses, stress = stressed or (None, None)
    variations = [table for table in (sensitivity, analyses) if table is not None]
    varied = pl.concat(variations) if variations else None
    beside = {"compared": compared, "sensitivity": varied, "stress": stress}
    names, measures = labels_of(manifest), measures_of(manifest)
    sections = {}
    asked_modes = scores.filter(pl.col("level") == "prompt")
    primary = primary_modes(asked_modes.select("instrument", "mode", "model").unique().iter_rows())
    for instrument, entry in manifest.instruments.items():
        measure = measures.get(instrument)
        mine = of_asked(instrument)
        of_controls = pl.col("level") == CONTROL
        if measure is None or not scores.select(mine.any()).item():
            continue
        asked = prompts.filter(mine)
        controls = scores.filter(mine, of_controls)
        competence = _competence(controls, entry.controls, names, measure.presentation)
        failing = {one.name: marked(one.model) for one in competence.values() if not one.passed}
        sections[instrument] = Section(
            instrument=instrument,
            measure=measure.name,
            unit=measure.unit,
            presentation=measure.presentation,
            scores=scores.filter(mine, ~of_controls),
            estimates=estimates.filter(mine),
            # Numbers of models that cannot do the task stand under marked names.
            names=replace(names, models={**names.models, **failing}),
            contrast=measure.contrast,
            against=measure.against,
            wordings=_seen(asked, "wording"),
            items=_seen(asked, "item"),
            dimensions=_seen(asked, "dimension"),
            prompts=asked,
            placement=entry.settings.placement if entry.settings else "before-first",
            competence=competence,
            main_modes={
                model: asked_as(base, mode)
                for (base, model), mode in primary.items()
                if base is not None and base == base_of(instrument) and model is not None
            },
            sample=entry.sample,
            ratings=whose_ratings(manifest.lexicons) if measure.words == "attitudes" else "",
            **{name: table.filter(mine) for name, table in beside.items() if table is not None},
        )
    return sections


def _competence(
    of_controls: pl.DataFrame, controls: AskedControls | None, names: Labels, shown: Presentation
) -> dict[str, Competence]:
    """How each model did on the control items."""
    if controls is None:
        return {}
    ends = {
        (row["model"], row["quantity"]): row["value"] for row in of_controls.iter_rows(named=True)
    }
    in_wordings = of_controls.filter(
        pl.col("quantity") == IN_WORDING, pl.col("value").is_not_null()
    )
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
                in_wordings.filter(pl.col("model") == row["model"])
                .select("wording", "value")
                .rows()
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
        for row in of_controls.filter(pl.col("quantity") == CONTROL).iter_rows(named=True)
    }


def _seen(prompts: pl.DataFrame, column: str) -> list[str]:
    return prompts[column].drop_nulls().unique(maintain_order=True).to_list()

"""A measured run, instrument by instrument: what all that people read of it is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import polars as pl

from goffman.analysis.score import measures_of, without_controls
from goffman.control_items import CONTROL
from goffman.measures.controls import (
    CALLED,
    DECIDED,
    DECIDED_HIGH,
    DECIDED_LOW,
    HIGH,
    IN_WORDING,
    LOW,
)
from goffman.multiverse_columns import MULTIVERSE, STRESS, WORDINGS
from goffman.presentation.competence import Competence, marked
from goffman.presentation.ratings import whose_ratings
from goffman.presentation.section import Section
from goffman.presentation.shown import names_of
from goffman.tables import RATINGS_COMPARED, ROBUSTNESS, schema
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.control_items import ControlScore
    from goffman.presentation.base import Presentation
    from goffman.presentation.shown import Names
    from goffman.runs.entries import AskedControls
    from goffman.runs.manifest import Manifest
    from goffman.tables import Column


def sections_of(
    manifest: Manifest,
    *,
    prompts: pl.DataFrame,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    compared: pl.DataFrame | None = None,
    robustness: pl.DataFrame | None = None,
    stressed: tuple[pl.DataFrame, pl.DataFrame] | None = None,
    worded: pl.DataFrame | None = None,
) -> dict[str, Section]:
    """By instrument, in the order in which they were asked: those that have scores.

    ``compared``: RATINGS_COMPARED, where a user's ratings stand over the shipped ones;
    ``robustness``: ROBUSTNESS, ``stressed``: MULTIVERSE and STRESS, ``worded``: WORDINGS, where
    they were computed.
    """
    multiverse, stress = stressed or (None, None)
    given = {"compared": compared, "robustness": robustness, "multiverse": multiverse}
    beside = _beside({**given, "stress": stress, "worded": worded})
    names, measures = names_of(manifest), measures_of(manifest)
    sections = {}
    for instrument, entry in manifest.instruments.items():
        measure = measures.get(instrument)
        mine = pl.col("instrument") == instrument
        of_instrument = scores.filter(mine)
        if measure is None or not of_instrument.height:
            continue
        asked = prompts.filter(mine)
        competence = _competence(of_instrument, entry.controls, names, measure.presentation)
        sections[instrument] = Section(
            instrument=instrument,
            measure=measure.name,
            unit=measure.unit,
            presentation=measure.presentation,
            scores=without_controls(of_instrument),
            estimates=estimates.filter(mine),
            names=_with_marks(names, competence),
            contrast=getattr(measure, "contrast", ""),
            against=getattr(measure, "against", ""),
            wordings=_seen(asked, "wording"),
            items=_seen(asked, "item"),
            dimensions=_seen(asked, "dimension"),
            prompts=asked,
            placement=entry.settings.placement if entry.settings else "before-first",
            competence=competence,
            ratings=whose_ratings(manifest.lexicons) if measure.words == "attitudes" else "",
            **{name: table.filter(mine) for name, table in beside.items()},
        )
    return sections


_BESIDE: dict[str, Iterable[Column]] = {
    "compared": RATINGS_COMPARED,
    "robustness": ROBUSTNESS,
    "multiverse": MULTIVERSE,
    "stress": STRESS,
    "worded": WORDINGS,
}
"""Tables that a run may have beside its scores and estimates, with their columns."""


def _beside(tables: Mapping[str, pl.DataFrame | None]) -> dict[str, pl.DataFrame]:
    """The tables; one without rows where there is none."""
    return {
        name: pl.DataFrame(schema=schema(columns)) if (table := tables[name]) is None else table
        for name, columns in _BESIDE.items()
    }


def _competence(
    scores: pl.DataFrame, controls: AskedControls | None, names: Names, shown: Presentation
) -> dict[str, Competence]:
    """How each model did on the control items."""
    if controls is None:
        return {}
    of_controls = scores.filter(pl.col("level") == CONTROL)
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
            score=CALLED[cast("ControlScore", controls.score)],
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


def _with_marks(names: Names, competence: Mapping[str, Competence]) -> Names:
    """The names under which numbers stand: those of models that cannot do the task are marked."""
    failing = {one.name: marked(one.model) for one in competence.values() if not one.passed}
    return replace(names, models={**names.models, **failing})


def _seen(prompts: pl.DataFrame, column: str) -> list[str]:
    return prompts[column].drop_nulls().unique(maintain_order=True).to_list()

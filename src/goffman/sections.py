"""A measured run, instrument by instrument: what all that people read of it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goffman.presentation.ratings import whose_ratings
from goffman.presentation.section import Section
from goffman.presentation.shown import names_of
from goffman.score import measures_of
from goffman.tables import RATINGS_COMPARED, schema

if TYPE_CHECKING:
    from goffman.runs.manifest import Manifest


def sections_of(
    manifest: Manifest,
    *,
    prompts: pl.DataFrame,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    compared: pl.DataFrame | None = None,
) -> dict[str, Section]:
    """By instrument, in the order in which they were asked: those that have scores.

    ``compared``: RATINGS_COMPARED, where a user's ratings stand over the shipped ones.
    """
    if compared is None:
        compared = pl.DataFrame(schema=schema(RATINGS_COMPARED))
    names = names_of(manifest)
    measures = measures_of(manifest)
    scored = {*scores["instrument"]}
    sections = {}
    for instrument in manifest.instruments:
        if instrument not in scored or instrument not in measures:
            continue
        measure = measures[instrument]
        asked = prompts.filter(pl.col("instrument") == instrument)
        asking = manifest.instruments[instrument].settings
        sections[instrument] = Section(
            instrument=instrument,
            measure=measure.name,
            unit=measure.unit,
            presentation=measure.presentation,
            scores=scores.filter(pl.col("instrument") == instrument),
            estimates=estimates.filter(pl.col("instrument") == instrument),
            names=names,
            contrast=getattr(measure, "contrast", ""),
            against=getattr(measure, "against", ""),
            wordings=_seen(asked, "wording"),
            items=_seen(asked, "item"),
            dimensions=_seen(asked, "dimension"),
            prompts=asked,
            placement=asking.placement if asking else "before-first",
            ratings=whose_ratings(manifest.lexicons) if measure.words == "attitudes" else "",
            compared=compared.filter(pl.col("instrument") == instrument),
        )
    return sections


def _seen(prompts: pl.DataFrame, column: str) -> list[str]:
    return prompts[column].drop_nulls().unique(maintain_order=True).to_list()

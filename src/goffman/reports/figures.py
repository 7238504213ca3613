"""Every figure of a run: measure → its figures. A new one is a function and a name here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from goffman.reports import (
    figures_conditions,
    figures_gender,
    figures_sentiment,
    figures_settings,
    figures_together,
)
from goffman.reports.figure import Part
from goffman.reports.shown import names_of

if TYPE_CHECKING:
    from goffman.reports.figure import Figure
    from goffman.reports.run import MeasuredRun
    from goffman.reports.shown import Names

_GENDER = (
    figures_gender.parts,
    figures_gender.disparities,
    figures_gender.sentences,
    figures_gender.conditions,
)

FIGURES: Mapping[str, tuple[Callable[[Part], Iterator[Figure]], ...]] = {
    "negative-attitude": (
        figures_conditions.gaps,
        figures_conditions.boxes,
        figures_conditions.categories,
        figures_conditions.ranked,
        figures_conditions.histograms,
    ),
    "negative-sentiment": (
        figures_conditions.gaps,
        figures_sentiment.group_shares,
        figures_sentiment.templates,
        figures_conditions.categories,
        figures_conditions.ranked,
    ),
    "gender-of-subject": _GENDER,
    "gender-of-phrase": _GENDER,
    "coreference-bias": (
        figures_settings.settings,
        figures_settings.against_baseline,
        figures_settings.kinds,
        figures_settings.occupations,
    ),
    "pronoun-preference": (figures_settings.settings, figures_settings.against_baseline),
}
"""Measure → what is drawn of it, in the order of the page."""


def parts_of(run: MeasuredRun, names: Names | None = None) -> dict[str, Part]:
    """By instrument, in the order in which they were asked: what its figures are made from."""
    names = names or names_of(run.manifest)
    measured = run.scores.select("instrument", "measure").unique(maintain_order=True).rows()
    known = dict(measured)
    order = [name for name in run.manifest.instruments if name in known]
    parts = {}
    for instrument in [*order, *(name for name in known if name not in order)]:
        asked = run.prompts.filter(pl.col("instrument") == instrument)
        known_of = run.manifest.instruments.get(instrument, {})
        entry, asking = known_of.get("measured", {}), known_of.get("settings", {})
        parts[instrument] = Part(
            instrument=instrument,
            measure=known[instrument],
            scores=run.scores.filter(pl.col("instrument") == instrument),
            estimates=run.estimates.filter(pl.col("instrument") == instrument),
            names=names,
            contrast=str(entry.get("contrast", "")),
            against=str(entry.get("against", "")),
            wordings=_seen(asked, "wording"),
            items=_seen(asked, "item"),
            dimensions=_seen(asked, "dimension"),
            prompts=asked,
            placement=str(asking.get("placement", "before-first")),
        )
    return parts


def figures_of(run: MeasuredRun, parts: Mapping[str, Part]) -> list[Figure]:
    """Every figure that the run's scores and estimates allow."""
    found = [
        drawn
        for part in parts.values()
        for make in FIGURES.get(part.measure, ())
        for drawn in make(part)
    ]
    return [*found, *figures_together.together(run.scores, run.estimates, parts)]


def _seen(prompts: pl.DataFrame, column: str) -> list[str]:
    return prompts[column].drop_nulls().unique(maintain_order=True).to_list()

"""SCORES → estimates: the contrasts of each measure, corrected over their declared families."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from goffman.contrasts.catalog import BY_CONDITION, OWN_GROUP, REFERENCE
from goffman.contrasts.correlations import correlate_measures
from goffman.contrasts.engine import Contrast, ContrastTester, estimate_table, records_table
from goffman.contrasts.scores import Clusters, ScoreTable
from goffman.contrasts.verdict import (
    NOT_MEASURABLE,
    Verdict,
    rests_on,
    verdict,
)
from goffman.instruments.types import base_of
from goffman.modes import mode_of_rows, of_asked, primary_modes
from goffman.schemas import (
    CONTRASTS,
    ESTIMATES,
    VERDICTS,
    schema,
)
from goffman.stats.multiple_testing import adjust, adjusted

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.stats.estimate import Correction, Estimate

PRIMARY = "primary"
"""The family of the headline contrasts of a run: one for each instrument and model that can do its
task."""

MAIN_VARIANT = "with-names"


OF_COUNTS: Mapping[str, Correction] = dict.fromkeys(
    (REFERENCE, OWN_GROUP, BY_CONDITION), "benjamini-hochberg"
)
"""Kinds of contrasts that are counted, not read one by one: there the share of false ones is held,
whatever the correction of the others."""


def estimates(
    scores: pl.DataFrame,
    measures: Mapping[str, Measure],
    *,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters] | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    compare: ContrastTester | None = None,
    correction: Correction = "holm",
    unmeasurable: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """CONTRASTS + ESTIMATES: every contrast that the scores allow, corrected over its family.

    ``measures``, ``wordings`` and ``sharing`` are by instrument; ``pairs``: base models and the
    classifiers that were fine-tuned from them. Without what sentence pairs share there is no test
    of them. ``unmeasurable``: by instrument, the models that cannot do its task.
    """
    compare = compare or ContrastTester()
    sharing = sharing or {}
    found: list[tuple[Contrast, Estimate]] = []
    for instrument, measure in measures.items():
        # A run that was stopped knows instruments that it has not come to yet.
        asked = wordings.get(instrument)
        for quantity, kinds in measure.contrasts if asked else ():
            scored = scored_by(
                scores,
                instrument,
                measure,
                quantity,
                wordings=asked or (),
                sharing=sharing.get(instrument, Clusters()),
                compare=compare,
            )
            for kind in kinds:
                found += kind(scored)
    found += correlate_measures(scores, measures, pairs, compare)
    return corrected(found, measures, correction=correction, unmeasurable=unmeasurable)


def scored_by(
    scores: pl.DataFrame,
    instrument: str,
    measure: Measure,
    quantity: str,
    *,
    wordings: Sequence[str],
    sharing: Clusters,
    compare: ContrastTester,
) -> ScoreTable:
    """What the contrasts of one number of an instrument are made from."""
    mine = scores.filter(of_asked(instrument))
    about = Contrast(
        kind="",
        instrument=base_of(instrument),
        mode=mode_of_rows(mine),
        measure=measure.name,
        quantity="",
        first="",
        second="",
    )
    return ScoreTable(
        scores=mine,
        about=about,
        quantity=quantity,
        contrast=measure.contrast,
        against=measure.against,
        wordings=wordings,
        sharing=sharing,
        compare=compare,
    )


def corrected(
    found: Sequence[tuple[Contrast, Estimate]],
    measures: Mapping[str, Measure],
    *,
    correction: Correction = "holm",
    unmeasurable: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """CONTRASTS + ESTIMATES + VERDICTS, each p corrected over its family.

    What rests on a model that is not measurable is no headline: it costs the others nothing.
    """
    failing = unmeasurable or {}
    families: dict[str, list[int]] = {}
    contrasts, kept = [one for one, _ in found], [one for _, one in found]
    main = _main_results(contrasts, measures)
    for place, contrast in enumerate(contrasts):
        primary = contrast in main and not _fails(contrast, failing)
        family = PRIMARY if primary else contrast.family
        families.setdefault(family, []).append(place)
    for family, places in families.items():
        method = OF_COUNTS.get(contrasts[places[0]].kind, correction)
        members = adjust([kept[place] for place in places], family=family, method=method)
        for place, one in zip(places, members, strict=True):
            kept[place] = one
    columns = schema(CONTRASTS)
    what = records_table(contrasts, columns)
    said = [
        _judged(verdict(one, margin=_smallest(contrast, measures)), contrast, failing)
        for contrast, one in zip(contrasts, kept, strict=True)
    ]
    judged = records_table(said, schema(VERDICTS))
    rows = pl.concat([what, estimate_table(kept), judged], how="horizontal")
    return rows.select(*columns.names(), *schema(ESTIMATES).names(), *schema(VERDICTS).names())


def _fails(contrast: Contrast, failing: Mapping[str, Collection[str]]) -> bool:
    """Whether a contrast rests on a model that cannot do the task."""
    models = failing.get(contrast.asked or "", ())
    return any(rests_on(vars(contrast), model) for model in models)


def _judged(said: Verdict, contrast: Contrast, failing: Mapping[str, Collection[str]]) -> Verdict:
    """The verdict; where there is a word for it, and a model cannot do the task, that word."""
    if said.verdict is None or not _fails(contrast, failing):
        return said
    return replace(said, verdict=NOT_MEASURABLE)


def is_headline(contrast: Contrast, measures: Mapping[str, Measure]) -> bool:
    """Return whether it is the contrast of its mode and model that a heading is about."""
    measure = measures.get(contrast.asked or "")
    return (
        measure is not None
        and (contrast.kind, contrast.quantity) == measure.primary_contrast
        and contrast.model is not None
        and contrast.dimension is None
        and contrast.group in (None, measure.contrast or None)
        and contrast.variant in (None, MAIN_VARIANT)
    )


def _main_results(contrasts: Sequence[Contrast], measures: Mapping[str, Measure]) -> set[Contrast]:
    """Return the headlines in the primary mode: one for each instrument and model."""
    every = [one for one in contrasts if is_headline(one, measures)]
    best = primary_modes((one.instrument, one.mode, one.model) for one in every)
    return {one for one in every if best[one.instrument, one.model] == one.mode}


def headlines(estimates: pl.DataFrame, measures: Mapping[str, Measure]) -> pl.DataFrame:
    """Return the main results, also of models that cannot do the task."""
    rows = estimates.select(schema(CONTRASTS).names()).iter_rows(named=True)
    contrasts = [Contrast(**row) for row in rows]
    main = _main_results(contrasts, measures)
    return estimates.filter([one in main for one in contrasts])


def in_place(
    estimate: Estimate, row: Mapping[str, Any], others: Sequence[float]
) -> tuple[Estimate, Verdict]:
    """An estimate made otherwise, with the p and the verdict that it would have as a headline.

    ``row``: of the headline in whose place it is put; ``others``: p of all others of the run.
    """
    if estimate.p is not None:
        method = cast("Correction", row["correction"])
        first, *_ = adjusted(np.array([estimate.p, *others]), method=method).tolist()
        estimate = replace(estimate, p_adjusted=first)
    return estimate, verdict(estimate, margin=row["margin"])


def _smallest(contrast: Contrast, measures: Mapping[str, Measure]) -> float | None:
    """The smallest difference of interest; a correlation is none."""
    measure = measures.get(contrast.asked or "")
    return None if measure is None else measure.margin

"""SCORES → estimates: the contrasts of each measure, each with its interval and verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.contrasts.correlations import MAIN_VARIANT, correlate_measures
from goffman.contrasts.designs import Clusters, ScoreTable
from goffman.contrasts.engine import GIVEN, Contrast, Estimates, estimate_table, records_table
from goffman.contrasts.verdict import NOT_MEASURABLE, Verdict, rests_on, verdict
from goffman.instruments.types import CONTROL, base_of
from goffman.modes import mode_of_rows, of_asked, primary_modes
from goffman.schemas import CONTRASTS, ESTIMATES, VERDICTS, schema
from goffman.stats.multiple_testing import as_list

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.stats.estimate import Estimate

PRIMARY = "primary"
"""What the column ``family`` says of main results, one for each instrument and model: they are
corrected over nothing."""


def estimates(
    scores: pl.DataFrame,
    measures: Mapping[str, Measure],
    *,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters] | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    unmeasurable: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """Return every contrast that the scores allow, with its interval and verdict.

    ``measures``, ``wordings`` and ``sharing`` are by instrument; ``pairs``: base models and the
    classifiers that were fine-tuned from them. Without what sentence pairs share there is no test
    of them. ``unmeasurable``: by instrument, the models that cannot do its task.
    """
    found: list[tuple[Contrast, Estimate]] = []
    for name, measure in measures.items():
        # A run that was stopped knows instruments that it has not come to yet.
        if asked := wordings.get(name):
            shared = (sharing or {}).get(name, Clusters())
            of = MeasuredInstrument(id=name, measure=measure, wordings=asked, sharing=shared)
            found += of.contrasts(scores)
    found += correlate_measures(scores, measures, pairs)
    return judged(found, measures, unmeasurable=unmeasurable)


@dataclass(frozen=True, kw_only=True)
class MeasuredInstrument:
    """An instrument as it was asked, and the measure whose scores are compared."""

    id: str
    """With the mode."""
    measure: Measure
    wordings: Sequence[str]
    sharing: Clusters

    def own_scores(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return its own scores, without those of control items."""
        return scores.filter(of_asked(self.id), pl.col("level") != CONTROL)

    def score_table(self, mine: pl.DataFrame, quantity: str) -> ScoreTable:
        """Return what the contrasts of one number are made from, of the instrument's own scores."""
        about = Contrast(
            kind="",
            instrument=base_of(self.id),
            mode=mode_of_rows(mine),
            measure=self.measure.name,
            quantity="",
            first="",
            second="",
        )
        return ScoreTable(
            scores=mine,
            about=about,
            quantity=quantity,
            contrast=self.measure.contrast,
            against=self.measure.against,
            wordings=self.wordings,
            sharing=self.sharing,
            aggregate=self.measure.aggregate,
        )

    def contrasts(self, scores: pl.DataFrame, kinds: Collection[str] | None = None) -> Estimates:
        """Yield every contrast of the measure; of these kinds, if given."""
        mine = self.own_scores(scores)
        for quantity, makes in self.measure.contrasts:
            scored = self.score_table(mine, quantity)
            for make in makes:
                if kinds is None or make.kind in kinds:
                    yield from make(scored)

    def headline(self, scores: pl.DataFrame) -> tuple[Contrast, Estimate] | None:
        """Return the contrast of one model's scores that a heading is about."""
        found = self.contrasts(scores, {self.measure.primary_contrast[0]})
        mine = (one for one in found if is_headline(one[0], {self.id: self.measure}))
        return next(mine, None)


def judged(
    found: Sequence[tuple[Contrast, Estimate]],
    measures: Mapping[str, Measure],
    *,
    unmeasurable: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """Return CONTRASTS + ESTIMATES + VERDICTS, each list of contrasts corrected over itself.

    Main results are no list: each instrument and model is a question of its own.
    """
    failing = unmeasurable or {}
    contrasts, kept = [one for one, _ in found], [one for _, one in found]
    main = _main_results(contrasts, measures)
    lists: dict[str, list[int]] = {}
    for place, contrast in enumerate(contrasts):
        if contrast in main:
            single = replace(kept[place], family=PRIMARY, p_adjusted=kept[place].p, family_size=1)
            kept[place] = single
        else:
            lists.setdefault(contrast.family, []).append(place)
    for family, places in lists.items():
        members = as_list([kept[place] for place in places], family=family)
        for place, one in zip(places, members, strict=True):
            kept[place] = one
    columns = schema(CONTRASTS)
    verdicts = []
    for contrast, one in zip(contrasts, kept, strict=True):
        measure = measures.get(contrast.asked or "")
        # A correlation has no smallest difference of interest.
        said = verdict(one, margin=None if measure is None else measure.margin)
        models = failing.get(contrast.asked or "", ())
        if contrast.kind in GIVEN:
            # It repeats another with the sentences taken as they are, as the study did.
            said = Verdict(margin=said.margin)
        elif said.verdict and any(rests_on(vars(contrast), model) for model in models):
            said = replace(said, verdict=NOT_MEASURABLE)
        verdicts.append(said)
    tables = [records_table(contrasts, columns), estimate_table(kept)]
    rows = pl.concat([*tables, records_table(verdicts, schema(VERDICTS))], how="horizontal")
    return rows.select(*columns.names(), *schema(ESTIMATES).names(), *schema(VERDICTS).names())


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

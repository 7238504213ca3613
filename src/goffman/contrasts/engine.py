"""SCORES → estimates: every contrast of the catalog, made by one loop, with its verdict.

A contrast is data: which two sides are compared, in which strata, and by which test. The loop goes
through the strata (each model, variant, group of conditions, subscale), takes the two sides of each
from the scores, and passes them to the test.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from goffman.contrasts.correlations import MAIN_VARIANT, correlate_measures
from goffman.contrasts.designs import (
    GIVEN,
    Clusters,
    Contrast,
    Estimates,
    ScoreTable,
    Side,
    estimate_table,
    in_order,
    records_table,
)
from goffman.contrasts.verdict import NOT_MEASURABLE, Verdict, rests_on, verdict
from goffman.instruments.types import ADJECTIVE_GROUPS, BASELINE, CONTROL, base_of
from goffman.modes import mode_of_rows, of_asked, primary_modes
from goffman.schemas import CONTRASTS, ESTIMATES, VERDICTS, schema
from goffman.stats.multiple_testing import as_list

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.stats.intervals import Estimate

By = Literal["model", "model or all", "variant", "group", "setting", "dimension"]
"""What a contrast is made for each of; a setting is put in the column ``group`` of the contrast."""
Sides = Iterator[tuple[str, str, Any, Any]]
Pairs = Callable[["Stratum"], Sides]
"""A function that yields the two sides of a stratum's contrasts: names, and values to test."""

Test = Callable[[ScoreTable, Contrast, Any, Any], "Estimate"]
View = Callable[[ScoreTable], ScoreTable]


@dataclass(frozen=True, kw_only=True)
class ContrastSpec:
    """One kind of contrast; called with an instrument's scores, it yields all of that kind."""

    kind: str
    pairs: Pairs
    test: Test
    by: tuple[By, ...] = ("model",)
    level: str = "prompt"
    first_wording: bool = False
    """Whether only the first wording counts, as in Lin et al. (2022)."""
    groups: tuple[str, ...] = ()
    """The groups that ``by`` goes through; empty: the two that the instrument compares."""
    quantity: str | None = None
    """The number that the contrast is reported for; None: the number that is compared."""
    views: tuple[View, ...] = ()
    """Functions that average or choose scores before they are compared."""

    def on(self, *views: View) -> ContrastSpec:
        """Return the same contrast with these views applied to the scores first."""
        return replace(self, views=(*views, *self.views))

    def __call__(self, scored: ScoreTable) -> Estimates:
        """Yield every contrast of this kind with its estimate."""
        for view in self.views:
            scored = scored.seen(view)
        for stratum in self._strata(scored):
            columns = {
                column: getattr(stratum, column) for column in ("model", "variant", "dimension")
            }
            if stratum.group is not None:
                columns["group"] = stratum.group
            if self.quantity is not None:
                columns["quantity"] = self.quantity
            for first, second, first_values, second_values in self.pairs(stratum):
                contrast = scored.contrast_of(self.kind, **columns, first=first, second=second)
                yield contrast, self.test(scored, contrast, first_values, second_values)

    def _strata(self, scored: ScoreTable) -> Iterator[Stratum]:
        models: Sequence[str | None] = [None]
        if {"model", "model or all"} & {*self.by}:
            over_all = "model or all" in self.by and len(scored.models) > 1
            models = [*scored.models, None] if over_all else scored.models
        variants: Sequence[str | None] = [None]
        if "variant" in self.by:
            # The variants are with and without first names; a measure with only one has None.
            variants = in_order(scored.scores, "variant") or [None]
        groups: Sequence[str | None] = [None]
        if "group" in self.by:
            groups = self.groups or (scored.contrast, scored.against)
        if "setting" in self.by:
            groups = in_order(scored.rows(self.level), "condition")
        for model, variant, group in itertools.product(models, variants, groups):
            stratum = Stratum(spec=self, scored=scored, model=model, variant=variant, group=group)
            yield stratum
            for dimension in (
                in_order(stratum.rows(), "dimension") if "dimension" in self.by else ()
            ):
                yield replace(stratum, dimension=dimension)


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """The scores within which a contrast is made."""

    spec: ContrastSpec
    scored: ScoreTable
    model: str | None = None
    variant: str | None = None
    group: str | None = None
    dimension: str | None = None

    def rows(self, quantity: str | None = None, **ids: str | None) -> pl.DataFrame:
        """Return the scores of the stratum; ``ids`` replace its model, group or other columns."""
        scored, spec = self.scored, self.spec
        filters: dict[str, str | None] = {}
        # A mean over all models has no model; at the level prompt, all models' rows are meant.
        if self.model is not None or ("model or all" in spec.by and spec.level != "prompt"):
            filters["model"] = self.model
        if "variant" in spec.by:
            filters["variant"] = self.variant
        if spec.first_wording:
            filters["wording"] = scored.wordings[0]
        group = "condition" if "setting" in spec.by else "group"
        parts = ((group, self.group), ("dimension", self.dimension))
        filters |= {column: value for column, value in parts if value is not None}
        return scored.rows(spec.level, quantity, **(filters | ids))


def named_groups(first: str, second: str) -> Pairs:
    """Return a function that yields the scores of two groups of conditions as sides.

    "contrast" and "against" stand for the groups that the instrument compares.
    """

    def pairs(stratum: Stratum) -> Sides:
        compared = {"contrast": stratum.scored.contrast, "against": stratum.scored.against}
        names = compared.get(first, first), compared.get(second, second)
        yield from scored_sides(stratum, "group", [names], stratum.rows())

    return pairs


groups = named_groups("contrast", "against")


def models(stratum: Stratum) -> Sides:
    """Yield the scores of every two models as sides."""
    model_pairs = itertools.combinations(stratum.scored.models, 2)
    yield from scored_sides(stratum, "model", model_pairs, stratum.rows())


def dimensions(stratum: Stratum) -> Sides:
    """Yield the scores of every two subscales as sides."""
    rows = stratum.rows()
    dimension_pairs = itertools.combinations(in_order(rows, "dimension"), 2)
    yield from scored_sides(stratum, "dimension", dimension_pairs, rows)


def settings(stratum: Stratum) -> Sides:
    """Yield the scores of every adjective setting and of the baseline as sides."""
    rows = stratum.rows()
    conditions = in_order(rows.filter(pl.col("group").is_in(ADJECTIVE_GROUPS)), "condition")
    yield from scored_sides(
        stratum, "condition", [(condition, BASELINE) for condition in conditions], rows
    )


def wordings_against_first(stratum: Stratum) -> Sides:
    """Yield the scores of every other wording and of the first as sides, without the baseline."""
    first, *other_wordings = stratum.scored.wordings
    rows = stratum.rows().filter(pl.col("condition") != BASELINE)
    yield from scored_sides(
        stratum, "wording", [(wording, first) for wording in other_wordings], rows
    )


def quantities(first: str, second: str) -> Pairs:
    """Return a function that yields two numbers of the same prompts as sides."""

    def pairs(stratum: Stratum) -> Sides:
        frames = [
            stratum.rows(quantity).filter(pl.col("condition") != BASELINE)
            for quantity in (first, second)
        ]
        if all(frame.height for frame in frames):
            first_side, second_side = (Side(frame, stratum.scored, "quantity") for frame in frames)
            yield first, second, first_side, second_side

    return pairs


def scored_sides(
    stratum: Stratum, column: str, pairs: Iterable[tuple[str, str]], rows: pl.DataFrame
) -> Sides:
    """Yield the sides of those pairs of a column's values that both have scores."""
    frames = rows.partition_by(column, as_dict=True)
    sides = {str(level): Side(frame, stratum.scored, column) for (level,), frame in frames.items()}
    for first, second in pairs:
        if first in sides and second in sides:
            yield first, second, sides[first], sides[second]


PRIMARY = "primary"
"""The value of the column ``family`` for main results, of which there is one for each instrument
and model; their p-values are not corrected."""


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
    classifiers that were fine-tuned from them. Sentence pairs are tested only if ``sharing`` says
    what they share. ``unmeasurable``: by instrument, the models that cannot do its task.
    """
    contrast_estimates: list[tuple[Contrast, Estimate]] = []
    for instrument, measure in measures.items():
        # A run that was stopped may not have asked all its instruments.
        if instrument_wordings := wordings.get(instrument):
            shared = (sharing or {}).get(instrument, Clusters())
            measured = MeasuredInstrument(
                id=instrument, measure=measure, wordings=instrument_wordings, sharing=shared
            )
            contrast_estimates += measured.contrasts(scores)
    contrast_estimates += correlate_measures(scores, measures, pairs)
    return judged(contrast_estimates, measures, unmeasurable=unmeasurable)


@dataclass(frozen=True, kw_only=True)
class MeasuredInstrument:
    """An instrument as it was asked, and the measure whose scores are compared."""

    id: str
    """The instrument's id, with the mode."""
    measure: Measure
    wordings: Sequence[str]
    sharing: Clusters

    def own_scores(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the instrument's own scores, without those of control items."""
        return scores.filter(of_asked(self.id), pl.col("level") != CONTROL)

    def score_table(self, scores: pl.DataFrame, quantity: str) -> ScoreTable:
        """Return the table for one number's contrasts; ``scores``: the instrument's own."""
        contrast = Contrast(
            kind="",
            instrument=base_of(self.id),
            mode=mode_of_rows(scores),
            measure=self.measure.name,
            quantity="",
            first="",
            second="",
        )
        return ScoreTable(
            scores=scores,
            about=contrast,
            quantity=quantity,
            contrast=self.measure.contrast,
            against=self.measure.against,
            wordings=self.wordings,
            sharing=self.sharing,
            aggregate=self.measure.aggregate,
        )

    def contrasts(self, scores: pl.DataFrame, kinds: Collection[str] | None = None) -> Estimates:
        """Yield every contrast of the measure, or only those of ``kinds``."""
        rows = self.own_scores(scores)
        for quantity, specs in self.measure.contrasts:
            table = self.score_table(rows, quantity)
            for spec in specs:
                if kinds is None or spec.kind in kinds:
                    yield from spec(table)

    def headline(self, scores: pl.DataFrame) -> tuple[Contrast, Estimate] | None:
        """Return the contrast that headings are about, from one model's scores, or None."""
        estimates = self.contrasts(scores, {self.measure.primary_contrast[0]})
        matches = (
            estimate for estimate in estimates if is_headline(estimate[0], {self.id: self.measure})
        )
        return next(matches, None)


def judged(
    tested: Sequence[tuple[Contrast, Estimate]],
    measures: Mapping[str, Measure],
    *,
    unmeasurable: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """Return CONTRASTS + ESTIMATES + VERDICTS, with p-values corrected within each family of tests.

    Main results form no family: each instrument and model is a question of its own.
    """
    failing = unmeasurable or {}
    contrasts = [contrast for contrast, _ in tested]
    results = [estimate for _, estimate in tested]
    main = _main_results(contrasts, measures)
    families: dict[str, list[int]] = {}
    for position, contrast in enumerate(contrasts):
        if contrast in main:
            primary = replace(
                results[position], family=PRIMARY, p_adjusted=results[position].p, family_size=1
            )
            results[position] = primary
        else:
            families.setdefault(contrast.family, []).append(position)
    for family, positions in families.items():
        corrected = as_list([results[position] for position in positions], family=family)
        for position, estimate in zip(positions, corrected, strict=True):
            results[position] = estimate
    columns = schema(CONTRASTS)
    verdicts = []
    for contrast, estimate in zip(contrasts, results, strict=True):
        measure = measures.get(contrast.asked or "")
        # A correlation has no smallest difference of interest.
        judgment = verdict(estimate, margin=None if measure is None else measure.margin)
        models = failing.get(contrast.asked or "", ())
        if contrast.kind in GIVEN:
            # This contrast repeats another with the sentences fixed, so it gets no verdict.
            judgment = Verdict(margin=judgment.margin)
        elif judgment.verdict and any(rests_on(vars(contrast), model) for model in models):
            judgment = replace(judgment, verdict=NOT_MEASURABLE)
        verdicts.append(judgment)
    tables = [records_table(contrasts, columns), estimate_table(results)]
    rows = pl.concat([*tables, records_table(verdicts, schema(VERDICTS))], how="horizontal")
    return rows.select(*columns.names(), *schema(ESTIMATES).names(), *schema(VERDICTS).names())


def is_headline(contrast: Contrast, measures: Mapping[str, Measure]) -> bool:
    """Return whether headings about the contrast's mode and model are about this contrast."""
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
    """Return the contrasts that headings are about, one for each instrument and model.

    If there are several modes, it is that of the primary mode.
    """
    candidates = [contrast for contrast in contrasts if is_headline(contrast, measures)]
    modes = primary_modes(
        (contrast.instrument, contrast.mode, contrast.model) for contrast in candidates
    )
    return {
        contrast
        for contrast in candidates
        if modes[contrast.instrument, contrast.model] == contrast.mode
    }


def headlines(estimates: pl.DataFrame, measures: Mapping[str, Measure]) -> pl.DataFrame:
    """Return the main results, including those of models that cannot do the task."""
    rows = estimates.select(schema(CONTRASTS).names()).iter_rows(named=True)
    contrasts = [Contrast(**row) for row in rows]
    main = _main_results(contrasts, measures)
    return estimates.filter([contrast in main for contrast in contrasts])

"""SCORES → estimates: every contrast of the catalog, made by one loop, with its verdict.

A contrast is data: what is set against what, for whom, and by which test. The loop goes through the
strata (each model, variant, group of conditions, subscale), takes the two sides of each from the
scores, and hands them to the test.
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
    from goffman.contrasts.designs import Contrast, Estimates, ScoreTable
    from goffman.measures.base import Measure
    from goffman.stats.estimate import Estimate

By = Literal["model", "model or all", "variant", "group", "setting", "dimension"]
"""A setting is a condition that stands in the column ``group`` of the contrast."""
Sides = Iterator[tuple[str, str, Any, Any]]
Pairs = Callable[["Stratum"], Sides]
"""The two sides of each contrast of a stratum: their names, and what the test takes of them."""

Test = Callable[["ScoreTable", "Contrast", Any, Any], "Estimate"]
View = Callable[["ScoreTable"], "ScoreTable"]


@dataclass(frozen=True, kw_only=True)
class ContrastSpec:
    """One kind of contrast; called with the scores of an instrument, it makes all of them."""

    kind: str
    pairs: Pairs
    test: Test
    by: tuple[By, ...] = ("model",)
    level: str = "prompt"
    first_wording: bool = False
    """Whether only the first wording counts, as in Lin et al. (2022)."""
    groups: tuple[str, ...] = ()
    """Those that ``by`` goes through; empty: the two that the instrument compares."""
    quantity: str | None = None
    """The number that it is said to be of; None: the one that is compared."""
    views: tuple[View, ...] = ()
    """What is averaged in the scores before."""

    def on(self, *views: View) -> ContrastSpec:
        """Return the same contrast of scores that are averaged so."""
        return replace(self, views=(*views, *self.views))

    def __call__(self, scored: ScoreTable) -> Estimates:
        """Yield every contrast of this kind with its estimate."""
        for view in self.views:
            scored = scored.seen(view)
        for stratum in self._strata(scored):
            about = {name: getattr(stratum, name) for name in ("model", "variant", "dimension")}
            if stratum.group is not None:
                about["group"] = stratum.group
            if self.quantity is not None:
                about["quantity"] = self.quantity
            for first, second, one, other in self.pairs(stratum):
                says = scored.says(self.kind, **about, first=first, second=second)
                yield says, self.test(scored, says, one, other)

    def _strata(self, scored: ScoreTable) -> Iterator[Stratum]:
        models: Sequence[str | None] = [None]
        if {"model", "model or all"} & {*self.by}:
            over_all = "model or all" in self.by and len(scored.models) > 1
            models = [*scored.models, None] if over_all else scored.models
        variants: Sequence[str | None] = [None]
        if "variant" in self.by:
            # With and without names; None where there is one.
            variants = in_order(scored.scores, "variant") or [None]
        groups: Sequence[str | None] = [None]
        if "group" in self.by:
            groups = self.groups or (scored.contrast, scored.against)
        if "setting" in self.by:
            groups = in_order(scored.rows(self.level), "condition")
        for model, variant, group in itertools.product(models, variants, groups):
            whole = Stratum(spec=self, scored=scored, model=model, variant=variant, group=group)
            yield whole
            for name in in_order(whole.rows(), "dimension") if "dimension" in self.by else ():
                yield replace(whole, dimension=name)


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """The scores that a contrast is made within."""

    spec: ContrastSpec
    scored: ScoreTable
    model: str | None = None
    variant: str | None = None
    group: str | None = None
    dimension: str | None = None

    def rows(self, quantity: str | None = None, **ids: str | None) -> pl.DataFrame:
        """Return the scores of the stratum, or of another group or model in it."""
        scored, spec = self.scored, self.spec
        wanted: dict[str, str | None] = {}
        # Scores of prompts are of models; means over all models have none.
        if self.model is not None or ("model or all" in spec.by and spec.level != "prompt"):
            wanted["model"] = self.model
        if "variant" in spec.by:
            wanted["variant"] = self.variant
        if spec.first_wording:
            wanted["wording"] = scored.wordings[0]
        group = "condition" if "setting" in spec.by else "group"
        parts = ((group, self.group), ("dimension", self.dimension))
        wanted |= {name: value for name, value in parts if value is not None}
        return scored.rows(spec.level, quantity, **(wanted | ids))


def named_groups(first: str, second: str) -> Pairs:
    """Return what yields two groups of conditions.

    ``contrast`` and ``against`` name those that the instrument compares.
    """

    def pairs(stratum: Stratum) -> Sides:
        known = {"contrast": stratum.scored.contrast, "against": stratum.scored.against}
        names = known.get(first, first), known.get(second, second)
        yield from known_sides(stratum, "group", [names], stratum.rows())

    return pairs


groups = named_groups("contrast", "against")


def models(stratum: Stratum) -> Sides:
    """Yield every two models."""
    every = itertools.combinations(stratum.scored.models, 2)
    yield from known_sides(stratum, "model", every, stratum.rows())


def dimensions(stratum: Stratum) -> Sides:
    """Yield every two subscales."""
    rows = stratum.rows()
    every = itertools.combinations(in_order(rows, "dimension"), 2)
    yield from known_sides(stratum, "dimension", every, rows)


def settings(stratum: Stratum) -> Sides:
    """Yield every adjective setting against the baseline."""
    rows = stratum.rows()
    others = in_order(rows.filter(pl.col("group").is_in(ADJECTIVE_GROUPS)), "condition")
    yield from known_sides(stratum, "condition", [(name, BASELINE) for name in others], rows)


def wordings_against_first(stratum: Stratum) -> Sides:
    """Yield every other wording against the first, without the prompts that name no condition."""
    first, *others = stratum.scored.wordings
    rows = stratum.rows().filter(pl.col("condition") != BASELINE)
    yield from known_sides(stratum, "wording", [(one, first) for one in others], rows)


def quantities(first: str, second: str) -> Pairs:
    """Return what yields two numbers of the same prompts."""

    def pairs(stratum: Stratum) -> Sides:
        rows = [
            stratum.rows(name).filter(pl.col("condition") != BASELINE) for name in (first, second)
        ]
        if all(one.height for one in rows):
            one, other = (Side(each, stratum.scored, "quantity") for each in rows)
            yield first, second, one, other

    return pairs


def known_sides(
    stratum: Stratum, column: str, pairs: Iterable[tuple[str, str]], rows: pl.DataFrame
) -> Sides:
    """Yield the pairs of which both have scores."""
    parts = rows.partition_by(column, as_dict=True)
    known = {str(name): Side(of, stratum.scored, column) for (name,), of in parts.items()}
    for first, second in pairs:
        if first in known and second in known:
            yield first, second, known[first], known[second]


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

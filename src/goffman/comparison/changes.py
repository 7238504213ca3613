"""Compute what changed between two runs' answers to one instrument: the numbers, before any words.

Each prompt's score is replaced by its change; the audit's contrasts are computed from these
changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.contrasts.catalog import BY_CONDITION, models_by_condition
from goffman.contrasts.correlations import IN_MAIN_VARIANT
from goffman.contrasts.designs import Contrast, cube, in_order
from goffman.contrasts.engine import PRIMARY, MeasuredInstrument, estimates, judged
from goffman.formatting import short_names
from goffman.instruments.types import BASELINE, slug_of
from goffman.measures.responses import scores_with
from goffman.stats.crossed import Interaction, interaction
from goffman.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.comparison.runs import Comparison
    from goffman.presentation.section import Section

_REFERENCE, _RUN = "b", "a"
"""Names of two models while their scores are in one table: contrasts go by the alphabet."""

_ONE_SIDED = "one of the two runs has no value"

HEADINGS = f"change of {PRIMARY}"
"""How the column ``family`` of the changes that headings are about begins."""


def labels_of(found: Sequence[Comparison]) -> dict[str, str]:
    """Return by a run's folder its label, in the order in which the runs were given."""
    folders = dict.fromkeys(
        str(folder) for comparison in found for folder in (comparison.reference, comparison.run)
    )
    return short_names(folders)


class ChangeContext(MeasuredInstrument):
    """An instrument that both runs asked: it turns their numbers into estimates."""

    def changes(self, both: pl.DataFrame, model: str) -> pl.DataFrame:
        """Return the audit's contrasts of the run's values minus the reference's."""
        scores = _scores(both, pl.col("now") - pl.col("before"), model)
        return estimates(
            pl.concat([scores, self.measure.aggregate(scores)]),
            {self.id: self.measure},
            wordings={self.id: self.wordings},
            sharing={self.id: self.sharing},
        )

    def levels(self, scores: pl.DataFrame, labels: tuple[str, str]) -> pl.DataFrame:
        """Compare the run's measured number with the reference's: of groups, then of conditions.

        ``scores``: of both runs.
        """
        contrasts: list[tuple[Contrast, Estimate]] = []
        for quantity, _ in self.measure.contrasts:
            for kind in self.measure.between_runs:
                contrasts += kind(self.score_table(scores, quantity))
        # Settings are compared one by one above.
        if self.measure.unit == "condition":
            prompts = scores.filter(IN_MAIN_VARIANT, level="prompt")
            if scores.filter(level="condition")["wording"].count():
                # Then the number of a condition is that of one wording, as in the report's tables.
                prompts = prompts.filter(wording=self.wordings[0])
            quantity = self.measure.presentation.quantity
            contrasts += models_by_condition(self.score_table(prompts, quantity))
        names = {_RUN: labels[1], _REFERENCE: labels[0]}
        measures = {self.id: self.measure}
        return judged(
            [(_between_runs(contrast, names), estimate) for contrast, estimate in contrasts],
            measures,
        )

    def headlines(self, scores: pl.DataFrame) -> tuple[float | None, float | None]:
        """Return the value that headings are about, before and after, of prompts in both runs.

        ``scores``: of both runs.
        """
        sides = (scores.filter(model=side) for side in (_REFERENCE, _RUN))
        before, after = (self.headline(side) for side in sides)
        return before and before[1].difference, after and after[1].difference

    def by_item(self, both: pl.DataFrame) -> Interaction | None:
        """Return whether the gap changed alike in every item; None if a cell has no value."""
        rows = both.filter(pl.col("condition") != BASELINE, IN_MAIN_VARIANT)
        quantities = {*rows["quantity"]}
        wanted = (self.measure.primary_contrast[1], self.measure.quantity)
        quantity = next((name for name in wanted if name in quantities), None)
        if self.measure.unit != "condition" or quantity is None:
            return None
        rows = rows.filter(quantity=quantity)
        # A gap in one form or wording is one of the whole: other means would be of other sentences.
        whole = pl.max_horizontal(pl.col("before", "now").null_count()) == 0
        change = pl.col("now").mean() - pl.col("before").mean()
        cells = rows.group_by("group", "condition", "item").agg(value=pl.when(whole).then(change))
        items, tables = in_order(cells, "item"), []
        for group in (self.measure.contrast, self.measure.against):
            group_cells = cells.filter(group=group)
            tables.append(
                cube(group_cells, {"condition": in_order(group_cells, "condition"), "item": items})
            )
        return interaction(tables, items)

    def two_runs(self, both: pl.DataFrame) -> pl.DataFrame:
        """Return the scores of both runs at every level, as if they were of two models."""
        sides = (("before", _REFERENCE), ("now", _RUN))
        scores = pl.concat([_scores(both, pl.col(side), name) for side, name in sides])
        # Means over both runs belong to neither. Prompts are not copied: there may be very many.
        return pl.concat(
            [scores, self.measure.aggregate(scores).filter(pl.col("model").is_not_null())]
        )


def _scores(both: pl.DataFrame, value: pl.Expr, model: str) -> pl.DataFrame:
    """Return SCORES of the level prompt with another value, under a model's name."""
    return scores_with(both, value, model=pl.lit(model), one_sided=_ONE_SIDED)


def _between_runs(contrast: Contrast, names: dict[str, str]) -> Contrast:
    if contrast.kind == BY_CONDITION:
        return replace(contrast, second=f"the same in {names[contrast.second]}")
    sides = names[contrast.first], names[contrast.second]
    return replace(contrast, kind="runs", first=sides[0], second=sides[1])


@dataclass(frozen=True, kw_only=True)
class Course:
    """The comparisons of one model and instrument: each later run with the first run."""

    id: str
    """Unique on a page."""
    section: Section
    """Of the last run."""
    model: str
    """As shown to people; the model of the first run."""
    steps: tuple[Comparison, ...]
    """In the order in which the runs were given; no comparison here is refused."""
    labels: tuple[str, ...]
    """The label of the first run, then the label of each step's run."""

    @property
    def labeled(self) -> list[tuple[Comparison, str]]:
        """Return each step with the label of its run."""
        return list(zip(self.steps, self.labels[1:], strict=True))


def courses(found: Sequence[Comparison]) -> list[Course]:
    """Return one course for each model and instrument that was compared."""
    labels = labels_of(found)
    kept: dict[tuple[str, str], list[Comparison]] = {}
    sections: dict[str, Section] = {}
    for comparison in found:
        if not comparison.verdict.refusals and comparison.section is not None:
            kept.setdefault((comparison.instrument, comparison.models[0]), []).append(comparison)
            sections[comparison.instrument] = comparison.section
    models = short_names(dict.fromkeys(model for _, model in kept))
    entries: list[Course] = []
    for (instrument, model), steps in kept.items():
        before = sum(course.section.instrument == instrument for course in entries)
        runs = (steps[0].reference, *(step.run for step in steps))
        entries.append(
            Course(
                id=slug_of(f"{instrument}-{before + 1}" if before else instrument),
                section=sections[instrument],
                model=models[model],
                steps=tuple(steps),
                labels=tuple(labels[str(run)] for run in runs),
            )
        )
    return entries

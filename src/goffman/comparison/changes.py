"""What changed between two runs' answers to one instrument: the numbers, before any words.

The change of each prompt is put in the place of its score; the audit's contrasts are made of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.comparison.sentences import labels_of
from goffman.contrasts.catalog import BY_CONDITION, models_by_condition
from goffman.contrasts.correlations import IN_MAIN_VARIANT
from goffman.contrasts.designs import Contrast, cube, in_order
from goffman.contrasts.engine import PRIMARY, MeasuredInstrument, estimates, judged
from goffman.formatting import short_names
from goffman.instruments.types import BASELINE, slug_of
from goffman.measures.responses import scores_with
from goffman.stats.estimate import Estimate
from goffman.stats.interaction import Interaction, interaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.comparison.runs import Comparison
    from goffman.presentation.section import Section

_REFERENCE, _RUN = "b", "a"
"""Two models' names while their scores lie in one table: the contrasts go by the alphabet."""

_ONE_SIDED = "one of the two runs has no value"

HEADINGS = f"change of {PRIMARY}"
"""What the column ``family`` of the changes that headings are about begins with."""


class ChangeContext(MeasuredInstrument):
    """An instrument that two runs asked: how its numbers become estimates."""

    def changes(self, both: pl.DataFrame, model: str) -> pl.DataFrame:
        """The audit's contrasts, of the run's values minus the reference's."""
        each = _scores(both, pl.col("now") - pl.col("before"), model)
        return estimates(
            pl.concat([each, self.measure.aggregate(each)]),
            {self.id: self.measure},
            wordings={self.id: self.wordings},
            sharing={self.id: self.sharing},
        )

    def levels(self, scores: pl.DataFrame, labels: tuple[str, str]) -> pl.DataFrame:
        """The measured number in the run against the reference: of groups, then of conditions.

        ``scores``: of two runs.
        """
        found: list[tuple[Contrast, Estimate]] = []
        for quantity, _ in self.measure.contrasts:
            for kind in self.measure.between_runs:
                found += kind(self.score_table(scores, quantity))
        # Settings are compared one by one above.
        if self.measure.unit == "condition":
            prompts = scores.filter(pl.col("level") == "prompt", IN_MAIN_VARIANT)
            if scores.filter(pl.col("level") == "condition")["wording"].count():
                # Then a condition's number is that of one wording, in the report's tables too.
                prompts = prompts.filter(pl.col("wording") == self.wordings[0])
            quantity = self.measure.presentation.quantity
            found += models_by_condition(self.score_table(prompts, quantity))
        names = {_RUN: labels[1], _REFERENCE: labels[0]}
        measures = {self.id: self.measure}
        return judged([(_between_runs(says, names), one) for says, one in found], measures)

    def headlines(self, scores: pl.DataFrame) -> tuple[float | None, float | None]:
        """Return what headings are about, before and after, of prompts that both have.

        ``scores``: of two runs.
        """
        sides = (scores.filter(pl.col("model") == side) for side in (_REFERENCE, _RUN))
        before, after = (self.headline(side) for side in sides)
        return before and before[1].difference, after and after[1].difference

    def by_item(self, both: pl.DataFrame) -> Interaction | None:
        """Return whether the gap changed alike in every item; None: not every cell has a value."""
        rows = both.filter(pl.col("condition") != BASELINE, IN_MAIN_VARIANT)
        known = {*rows["quantity"]}
        wanted = (self.measure.primary_contrast[1], self.measure.quantity)
        quantity = next((name for name in wanted if name in known), None)
        if self.measure.unit != "condition" or quantity is None:
            return None
        rows = rows.filter(pl.col("quantity") == quantity)
        # A gap in one form or wording is one of the whole: other means would be of other sentences.
        whole = pl.max_horizontal(pl.col("before", "now").null_count()) == 0
        change = pl.col("now").mean() - pl.col("before").mean()
        cells = rows.group_by("group", "condition", "item").agg(value=pl.when(whole).then(change))
        items, tables = in_order(cells, "item"), []
        for group in (self.measure.contrast, self.measure.against):
            mine = cells.filter(pl.col("group") == group)
            tables.append(cube(mine, {"condition": in_order(mine, "condition"), "item": items}))
        return interaction(tables, items)

    def two_runs(self, both: pl.DataFrame) -> pl.DataFrame:
        """The scores of both, of every level, as if they were of two models."""
        sides = (("before", _REFERENCE), ("now", _RUN))
        each = pl.concat([_scores(both, pl.col(side), name) for side, name in sides])
        # Means over both runs are of neither. The prompts are not copied: there may be very many.
        return pl.concat([each, self.measure.aggregate(each).filter(pl.col("model").is_not_null())])


def _scores(both: pl.DataFrame, value: pl.Expr, model: str) -> pl.DataFrame:
    """SCORES of the level prompt with another value, under a model's name."""
    return scores_with(both, value, model=pl.lit(model), one_sided=_ONE_SIDED)


def _between_runs(contrast: Contrast, names: dict[str, str]) -> Contrast:
    """A contrast between two models as one between two runs."""
    if contrast.kind == BY_CONDITION:
        return replace(contrast, second=f"the same in {names[contrast.second]}")
    sides = names[contrast.first], names[contrast.second]
    return replace(contrast, kind="runs", first=sides[0], second=sides[1])


@dataclass(frozen=True, kw_only=True)
class Course:
    """The comparisons of one model and instrument, each with the first run."""

    id: str
    """Unique on a page."""
    section: Section
    """Of the last run."""
    model: str
    """As it is shown; in the first run."""
    steps: tuple[Comparison, ...]
    """In the order in which the runs were given; none is refused."""
    labels: tuple[str, ...]
    """What the first run is called, and then each of the steps'."""

    @property
    def labeled(self) -> list[tuple[Comparison, str]]:
        """Each step with what its run is called."""
        return list(zip(self.steps, self.labels[1:], strict=True))


def courses(found: Sequence[Comparison]) -> list[Course]:
    """Every model and instrument that was compared."""
    called = labels_of(found)
    kept: dict[tuple[str, str], list[Comparison]] = {}
    sections: dict[str, Section] = {}
    for one in found:
        if not one.verdict.refusals and one.section is not None:
            kept.setdefault((one.instrument, one.models[0]), []).append(one)
            sections[one.instrument] = one.section
    models = short_names(dict.fromkeys(model for _, model in kept))
    made: list[Course] = []
    for (instrument, model), steps in kept.items():
        before = sum(one.section.instrument == instrument for one in made)
        runs = (steps[0].reference, *(one.run for one in steps))
        made.append(
            Course(
                id=slug_of(f"{instrument}-{before + 1}" if before else instrument),
                section=sections[instrument],
                model=models[model],
                steps=tuple(steps),
                labels=tuple(called[str(run)] for run in runs),
            )
        )
    return made

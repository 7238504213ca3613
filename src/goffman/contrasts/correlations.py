"""Two measures of the same conditions, correlated: Mei, Fereidooni & Caliskan (2023)."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.contrasts.designs import FEMALE, Contrast, Estimates, correlated, cube, in_order
from goffman.contrasts.verdict import AS_IN_STUDY
from goffman.instruments.types import ADJECTIVE_GROUPS, BASELINE, base_of, mode_in
from goffman.modes import asked_ids, mode_of_rows, of_asked
from goffman.stats.crossed import LEAST
from goffman.stats.profile import Profile, of_true_scores, pearson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.measures.base import Measure
    from goffman.stats.intervals import Estimate

    Values = NDArray[np.float64]

MAIN_VARIANT = "with-names"

IN_MAIN_VARIANT = pl.col("variant").is_null() | (pl.col("variant") == MAIN_VARIANT)
"""Whether a row is of the variant in which first names count, or of an instrument without
variants."""

COMPARABLE = (None, "completion", "choice", "reply", "write")
"""The modes that measure one construct; None is the instrument's own mode."""

OF_OCCUPATIONS = {"preference": "she-over-he", "bias": "she-minus-he"}
"""By a measure's main number, the number for one occupation: log P(she) − log P(he), or the
accuracy with her pronoun minus the accuracy with his."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """A model's numbers, one for each condition; no value is missing."""

    instrument: str
    """The instrument's id, with the mode."""
    mode: str | None = None
    measure: str
    quantity: str
    model: str
    conditions: Sequence[str]
    groups: Sequence[str]
    categories: Sequence[str]
    values: Values
    table: Values | None = None
    """Conditions × items × wordings; None if the table is incomplete or there is none."""
    errors: Values | None = None
    """Standard errors of the values, if there is no table."""

    def reliability(self, conditions: Sequence[str]) -> float | None:
        """Return the reliability of the values over these conditions, or None if it is unknown."""
        if self.table is not None and max(self.table.shape[1:]) < LEAST:
            return None
        compared = {*conditions}
        places = [position for position, name in enumerate(self.conditions) if name in compared]
        return self.profile(places).reliability()[0] if places else None

    def profile(self, places: Sequence[int]) -> Profile:
        """Return a profile of the values at these positions, with the same values as people's."""
        values = self.values[[*places]]
        return Profile(
            model=values,
            people=values,
            table=None if self.table is None else self.table[[*places]],
            model_error=None if self.errors is None else self.errors[[*places]],
        )


def by_condition(scores: pl.DataFrame, instrument: str, measure: Measure) -> Iterator[Answers]:
    """Yield each model's numbers over the conditions; ``scores`` may be of several instruments."""
    quantity = measure.correlated_quantity
    # Of adjective settings those that are placed as in the study.
    placed = pl.col("group").is_in(ADJECTIVE_GROUPS) | (measure.unit != "setting")
    rows = scores.filter(
        placed,
        of_asked(instrument),
        pl.col("model").is_not_null(),
        pl.col("condition") != BASELINE,
        IN_MAIN_VARIANT,
        quantity=quantity,
    )
    means = rows.filter(pl.col("value").is_not_null(), level="condition")
    for (model,), model_rows in means.partition_by(
        "model", as_dict=True, maintain_order=True
    ).items():
        distinct = model_rows.unique("condition", keep="first", maintain_order=True).sort(
            "condition"
        )
        conditions = distinct["condition"].to_list()
        prompt_rows = rows.filter(level="prompt", model=model)
        table = _table(prompt_rows, conditions)
        yield Answers(
            instrument=instrument,
            mode=mode_of_rows(rows),
            measure=measure.name,
            quantity=quantity,
            model=str(model),
            conditions=conditions,
            groups=distinct["group"].fill_null("").to_list(),
            categories=distinct["category"].fill_null("").to_list(),
            values=distinct["value"].to_numpy().astype(np.float64),
            table=table,
            errors=_errors(prompt_rows, conditions) if table is None else None,
        )


def _table(prompts: pl.DataFrame, conditions: Sequence[str]) -> Values | None:
    """Return conditions × items × wordings; average wordings if an item lacks an answer in one."""
    items, wordings = in_order(prompts, "item"), in_order(prompts, "wording")
    if not items or not wordings:
        return None
    rows = prompts.filter(pl.col("condition").is_in(list(conditions)))
    table = cube(rows, {"condition": conditions, "item": items, "wording": wordings})
    gaps = np.isnan(table)
    if gaps.all(axis=2).any():
        return None
    return np.asarray(np.nanmean(table, axis=2, keepdims=True)) if gaps.any() else table


def _errors(prompts: pl.DataFrame, conditions: Sequence[str]) -> Values | None:
    """Return standard errors over items if conditions have items of their own; otherwise None.

    Items that nearly all conditions share move all of them alike, which is no error of a profile.
    """
    cells = prompts.filter(pl.col("value").is_not_null()).group_by("condition", "item")
    # Sums of floats depend on their order.
    means = cells.agg(pl.col("value").mean()).sort("condition", "item")
    if means.height > len(conditions) * means["item"].n_unique() / 2:
        return None
    error_rows = means.group_by("condition").agg(error=pl.col("value").std() / pl.len().sqrt())
    by_name = dict(error_rows.rows())
    errors = [by_name.get(condition) for condition in conditions]
    return None if None in errors else np.array(errors, dtype=np.float64)


def by_occupation(
    scores: pl.DataFrame, prompts: pl.DataFrame, instrument: str, measure: Measure
) -> Iterator[Answers]:
    """Yield how much each model leans toward her, by the occupation that a pronoun refers to."""
    if measure.quantity not in OF_OCCUPATIONS:
        return
    quantity = "preference" if measure.quantity == "preference" else "correct"
    rows = scores.filter(
        of_asked(instrument),
        pl.col("value").is_not_null(),
        level="prompt",
        quantity=quantity,
        condition=BASELINE,
    )
    referents = prompts.filter(of_asked(instrument), pl.col("answer").is_not_null())
    referents = referents.select("prompt_id", "answer", side="category").unique("prompt_id")
    answers = rows.join(referents, on="prompt_id", maintain_order="left")
    keys = ("model", "item", "answer", "side")
    pro, anti = (pl.col("value").filter(wording=side).mean() for side in ("pro", "anti"))
    # A preference for the pronoun that fits the stereotype is of both pronouns already.
    leaning = pro if quantity == "preference" else pro - anti
    sign = pl.when(pl.col("side") == FEMALE).then(1.0).otherwise(-1.0)
    pairs = answers.group_by(keys).agg(value=leaning).with_columns(value=pl.col("value") * sign)
    # Sums of floats depend on their order.
    pairs = pairs.drop_nulls("value").sort(keys)
    means = pairs.group_by("model", "answer", "side").agg(
        value=pl.col("value").mean(), n=pl.len(), error=pl.col("value").std() / pl.len().sqrt()
    )
    for (model,), rows_of_model in (
        means.sort("model", "answer").partition_by("model", as_dict=True).items()
    ):
        errors = rows_of_model["error"].to_numpy().astype(np.float64)
        yield Answers(
            instrument=instrument,
            mode=mode_of_rows(rows),
            measure=measure.name,
            quantity=OF_OCCUPATIONS[measure.quantity],
            model=str(model),
            conditions=rows_of_model["answer"].to_list(),
            groups=rows_of_model["side"].to_list(),
            categories=rows_of_model["side"].to_list(),
            values=rows_of_model["value"].to_numpy().astype(np.float64),
            errors=None if np.isnan(errors).any() else errors,
        )


DECISIONS = "decisions"
SAYS_OF_GROUPS = ("social-distance", "people-sentiment")
"""What a model would advise, and the instruments of the same conditions that might predict it."""


@dataclass(frozen=True, kw_only=True)
class MeasuredSide:
    """One side of a correlation: what an instrument measures, of one model or over all models."""

    instrument: str
    measure: str
    quantity: str
    finer: bool
    """Whether the quantity is a probability where the measure's main number counts labels."""
    model: str | None
    only: bool
    """Whether this is the only instrument of the run with its measure: text then omits its id."""

    def text(self, *, model: str | None = None) -> str:
        """Return the text of this side for a table; ``model`` replaces the name of its model."""
        by_instrument = "" if self.only else f" by {self.instrument}"
        of_model = f" of {model or self.model}" if self.model else ""
        return f"{self.measure}{by_instrument}{of_model}"

    def values(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the scores of the side's conditions."""
        return scores.filter(
            of_asked(self.instrument),
            pl.col("condition") != BASELINE,
            pl.col("model").eq_missing(pl.lit(self.model)),
            IN_MAIN_VARIANT,
            level="condition",
            quantity=self.quantity,
        ).unique("condition", keep="first", maintain_order=True)


def measured_side(
    measures: Mapping[str, Measure], instrument: str, model: str | None
) -> MeasuredSide:
    """Return what an instrument measures of a model; ``measures`` are by instrument."""
    measure = measures[instrument]
    return MeasuredSide(
        instrument=instrument,
        measure=measure.name,
        quantity=measure.correlated_quantity,
        finer=measure.correlated_quantity != measure.quantity,
        model=model,
        only=[entry.name for entry in measures.values()].count(measure.name) == 1,
    )


Pair = tuple[str, str]


def _correlated(
    measures: Mapping[str, Measure], answered: set[Pair], pairs: Sequence[Pair]
) -> Iterator[tuple[Pair, tuple[str | None, str | None]]]:
    """Yield each pair of instruments to correlate, with each side's model, or None for all models.

    ``answered``: pairs of instrument and model; ``pairs``: base models and the classifiers made
    from them. Instruments of one measure, and modes of one instrument, are never put together.
    """
    model_counts = Counter(instrument for instrument, _ in answered)
    by_name: dict[str, list[str]] = {}
    modes: dict[str, list[str]] = {}
    for instrument, measure in measures.items():
        by_name.setdefault(measure.name, []).append(instrument)
        if mode_in(instrument) in COMPARABLE:
            modes.setdefault(base_of(instrument), []).append(instrument)
    for instruments in by_name.values():
        counterparts = by_name.get(measures[instruments[0]].correlate_with or "", [])
        for instrument_pair in itertools.product(instruments, counterparts):
            # If only one model answered each, the correlation over all models would repeat theirs.
            if not pairs or any(model_counts[instrument] != 1 for instrument in instrument_pair):
                yield instrument_pair, (None, None)
        for model_pair in pairs:
            yield from (
                (instrument_pair, model_pair)
                for instrument_pair in itertools.product(instruments, counterparts)
            )
    models = sorted({model for _, model in answered})
    two_modes = [
        mode_pair for forms in modes.values() for mode_pair in itertools.combinations(forms, 2)
    ]
    predictors = [instrument for instrument in measures if base_of(instrument) in SAYS_OF_GROUPS]
    advisers = [instrument for instrument in measures if base_of(instrument) == DECISIONS]
    for instrument_pair, model_pair in [
        *itertools.product(two_modes, itertools.product(models, models)),
        *itertools.product(
            itertools.product(predictors, advisers), [(model, model) for model in models]
        ),
    ]:
        if answered >= {*zip(instrument_pair, model_pair, strict=True)}:
            yield instrument_pair, model_pair


def correlate_measures(
    scores: pl.DataFrame, measures: Mapping[str, Measure], pairs: Sequence[Pair]
) -> Estimates:
    """Yield correlations of two measures, modes, or advice: over conditions, and within each group.

    Two groups that are far apart on both measures make a correlation by themselves; within a group
    the correlation is one of conditions.
    """
    profiles: dict[tuple[str, str | None], Answers] = {
        (instrument, answers.model): answers
        for instrument, measure in measures.items()
        for answers in by_condition(scores, instrument, measure)
    }
    answered = {*scores.select(asked_ids(), "model").drop_nulls().unique().rows()}
    for instruments, model_pair in _correlated(measures, answered, pairs):
        sides = [
            measured_side(measures, *side) for side in zip(instruments, model_pair, strict=True)
        ]
        first, second = (side.values(scores) for side in sides)
        joined = first.join(second.select("condition", other="value"), on="condition").sort(
            "condition"
        )
        groups = sorted(joined["group"].drop_nulls().unique())
        for group in [None, *(groups if len(groups) > 1 else ())]:
            contrast = Contrast(
                kind="measures" if group is None else "measures-within",
                instrument=None,
                measure=None,
                quantity=sides[0].quantity,
                group=group,
                first=sides[0].text(),
                second=sides[1].text(),
            )
            rows = joined if group is None else joined.filter(group=group)
            categories = rows["category"].fill_null(rows["condition"]).to_list()
            estimate = correlated(
                contrast, rows["value"].to_list(), rows["other"].to_list(), categories
            )
            # Modes of one instrument share their sentences, and so their errors.
            if base_of(instruments[0]) != base_of(instruments[1]):
                # The reliability of means over all models is unknown.
                answers = [profiles.get(side) for side in zip(instruments, model_pair, strict=True)]
                conditions = rows["condition"].to_list()
                reliabilities = [
                    None if profile is None else profile.reliability(conditions)
                    for profile in answers
                ]
                estimate = of_true_scores(estimate, *reliabilities)
            yield contrast, estimate
        # The study's r is of shares of labels over all models, where ours is of probabilities.
        if sides[1].finer and model_pair == (None, None):
            yield _as_in_study(scores, sides, measures)


def _as_in_study(
    scores: pl.DataFrame, sides: Sequence[MeasuredSide], measures: Mapping[str, Measure]
) -> tuple[Contrast, Estimate]:
    """Return r over the conditions of the two groups, each measure by its main number."""
    main = [replace(side, quantity=measures[side.instrument].quantity) for side in sides]
    first, second = (side.values(scores) for side in main)
    measure = measures[sides[0].instrument]
    joined = (
        first.join(second.select("condition", other="value"), on="condition")
        .filter(pl.col("group").is_in([measure.contrast, measure.against]))
        .drop_nulls(["value", "other"])
        .sort("condition")
    )
    contrast = Contrast(
        kind=AS_IN_STUDY,
        instrument=None,
        measure=None,
        quantity=main[0].quantity,
        first=main[0].text(),
        second=main[1].text(),
    )
    return contrast, pearson(
        joined["value"].to_list(), joined["other"].to_list(), contrast=contrast.text
    )

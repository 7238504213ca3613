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
    from goffman.stats.estimate import Estimate

    Values = NDArray[np.float64]

MAIN_VARIANT = "with-names"

IN_MAIN_VARIANT = pl.col("variant").is_null() | (pl.col("variant") == MAIN_VARIANT)
"""Whether a row is of the variant in which first names count, or of what has no variants."""

COMPARABLE = (None, "completion", "choice", "reply", "write")
"""The modes that measure one construct; None: the instrument's own."""

OF_OCCUPATIONS = {"preference": "she-over-he", "bias": "she-minus-he"}
"""A measure's main number → what it comes to for one occupation: log P(she) − log P(he), or the
accuracy with her pronoun minus that with his."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a model says, condition by condition; no value is missing."""

    instrument: str
    """Its id, with the mode."""
    mode: str | None = None
    measure: str
    quantity: str
    model: str
    conditions: Sequence[str]
    groups: Sequence[str]
    categories: Sequence[str]
    values: Values
    table: Values | None = None
    """Conditions × items × wordings; None: it is not complete, or there is none."""
    errors: Values | None = None
    """Standard errors of the values, where there is no table."""

    def reliability(self, conditions: Sequence[str]) -> float | None:
        """Of the values over these conditions; None: not known, as from two sentences."""
        if self.table is not None and max(self.table.shape[1:]) < LEAST:
            return None
        places = [at for at, name in enumerate(self.conditions) if name in {*conditions}]
        profile = Profile(
            model=self.values[places],
            people=self.values[places],
            table=None if self.table is None else self.table[places],
            model_error=None if self.errors is None else self.errors[places],
        )
        return profile.reliability()[0] if places else None


def by_condition(scores: pl.DataFrame, instrument: str, measure: Measure) -> Iterator[Answers]:
    """Of each model its numbers over the conditions; ``scores`` of any instruments."""
    quantity = measure.correlated_quantity
    # Of adjective settings those that are placed as in the study.
    placed = pl.col("group").is_in(ADJECTIVE_GROUPS) | (measure.unit != "setting")
    rows = scores.filter(
        placed,
        of_asked(instrument),
        pl.col("quantity") == quantity,
        pl.col("model").is_not_null(),
        pl.col("condition") != BASELINE,
        IN_MAIN_VARIANT,
    )
    means = rows.filter(pl.col("level") == "condition", pl.col("value").is_not_null())
    for (model,), of in means.partition_by("model", as_dict=True, maintain_order=True).items():
        of_model = of.unique("condition", keep="first", maintain_order=True).sort("condition")
        conditions = of_model["condition"].to_list()
        asked = rows.filter(pl.col("level") == "prompt", pl.col("model") == model)
        table = _table(asked, conditions)
        yield Answers(
            instrument=instrument,
            mode=mode_of_rows(rows),
            measure=measure.name,
            quantity=quantity,
            model=str(model),
            conditions=conditions,
            groups=of_model["group"].fill_null("").to_list(),
            categories=of_model["category"].fill_null("").to_list(),
            values=of_model["value"].to_numpy().astype(np.float64),
            table=table,
            errors=_errors(asked, conditions) if table is None else None,
        )


def _table(prompts: pl.DataFrame, conditions: Sequence[str]) -> Values | None:
    """Conditions × items × wordings; over wordings where not every item was asked in every one."""
    items, wordings = in_order(prompts, "item"), in_order(prompts, "wording")
    if not items or not wordings:
        return None
    kept = prompts.filter(pl.col("condition").is_in(list(conditions)))
    whole = cube(kept, {"condition": conditions, "item": items, "wording": wordings})
    gaps = np.isnan(whole)
    if gaps.all(axis=2).any():
        return None
    return np.asarray(np.nanmean(whole, axis=2, keepdims=True)) if gaps.any() else whole


def _errors(prompts: pl.DataFrame, conditions: Sequence[str]) -> Values | None:
    """Standard errors over items, where each condition has some of its own; None: it has not.

    Items that nearly all conditions share move all of them alike, which is no error of a profile.
    """
    cells = prompts.filter(pl.col("value").is_not_null()).group_by("condition", "item")
    # Sums of floats depend on their order.
    means = cells.agg(pl.col("value").mean()).sort("condition", "item")
    if means.height > len(conditions) * means["item"].n_unique() / 2:
        return None
    each = means.group_by("condition").agg(error=pl.col("value").std() / pl.len().sqrt())
    by_name = dict(each.rows())
    errors = [by_name.get(condition) for condition in conditions]
    return None if None in errors else np.array(errors, dtype=np.float64)


def by_occupation(
    scores: pl.DataFrame, prompts: pl.DataFrame, instrument: str, measure: Measure
) -> Iterator[Answers]:
    """Of each model, by the occupation that a pronoun refers to: how much it leans toward her."""
    if measure.quantity not in OF_OCCUPATIONS:
        return
    quantity = "preference" if measure.quantity == "preference" else "correct"
    rows = scores.filter(
        of_asked(instrument),
        pl.col("level") == "prompt",
        pl.col("quantity") == quantity,
        pl.col("condition") == BASELINE,
        pl.col("value").is_not_null(),
    )
    asked = prompts.filter(of_asked(instrument), pl.col("answer").is_not_null())
    asked = asked.select("prompt_id", "answer", side="category").unique("prompt_id")
    known = rows.join(asked, on="prompt_id", maintain_order="left")
    keys = ("model", "item", "answer", "side")
    pro, anti = (
        pl.col("value").filter(pl.col("wording") == side).mean() for side in ("pro", "anti")
    )
    # A preference for the pronoun that fits the stereotype is of both pronouns already.
    leaning = pro if quantity == "preference" else pro - anti
    sign = pl.when(pl.col("side") == FEMALE).then(1.0).otherwise(-1.0)
    pairs = known.group_by(keys).agg(value=leaning).with_columns(value=pl.col("value") * sign)
    # Sums of floats depend on their order.
    pairs = pairs.drop_nulls("value").sort(keys)
    means = pairs.group_by("model", "answer", "side").agg(
        value=pl.col("value").mean(), n=pl.len(), error=pl.col("value").std() / pl.len().sqrt()
    )
    for (model,), of in means.sort("model", "answer").partition_by("model", as_dict=True).items():
        errors = of["error"].to_numpy().astype(np.float64)
        yield Answers(
            instrument=instrument,
            mode=mode_of_rows(rows),
            measure=measure.name,
            quantity=OF_OCCUPATIONS[measure.quantity],
            model=str(model),
            conditions=of["answer"].to_list(),
            groups=of["side"].to_list(),
            categories=of["side"].to_list(),
            values=of["value"].to_numpy().astype(np.float64),
            errors=None if np.isnan(errors).any() else errors,
        )


DECISIONS = "decisions"
SAYS_OF_GROUPS = ("social-distance", "people-sentiment")
"""What a model would advise, and the instruments of the same conditions that might predict it."""


@dataclass(frozen=True, kw_only=True)
class MeasuredSide:
    """One side of a correlation: what an instrument measures, of one model or over all."""

    instrument: str
    measure: str
    quantity: str
    finer: bool
    """Whether that is a probability, which says more finely what the measure's main number does."""
    model: str | None
    only: bool
    """Whether no other instrument of the run has this measure, so that its id need not be said."""

    def text(self, *, model: str | None = None) -> str:
        """Return the side as it stands in a table, or with another name for its model."""
        by = "" if self.only else f" by {self.instrument}"
        of = f" of {model or self.model}" if self.model else ""
        return f"{self.measure}{by}{of}"

    def values(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return the scores of its conditions."""
        return scores.filter(
            pl.col("level") == "condition",
            of_asked(self.instrument),
            pl.col("quantity") == self.quantity,
            pl.col("condition") != BASELINE,
            pl.col("model").eq_missing(pl.lit(self.model)),
            IN_MAIN_VARIANT,
        ).unique("condition", keep="first", maintain_order=True)


def measured_side(
    measures: Mapping[str, Measure], instrument: str, model: str | None
) -> MeasuredSide:
    """Return what an instrument of a run measures of a model; ``measures`` are by instrument."""
    measure = measures[instrument]
    return MeasuredSide(
        instrument=instrument,
        measure=measure.name,
        quantity=measure.correlated_quantity,
        finer=measure.correlated_quantity != measure.quantity,
        model=model,
        only=[one.name for one in measures.values()].count(measure.name) == 1,
    )


Pair = tuple[str, str]


def _correlated(
    measures: Mapping[str, Measure], answered: set[Pair], pairs: Sequence[Pair]
) -> Iterator[tuple[Pair, tuple[str | None, str | None]]]:
    """Yield every two instruments that are correlated, and the model on either side, or all.

    ``answered``: instruments and models; ``pairs``: base models and the classifiers made from them.
    Two instruments of one measure are two correlations, never one over both; two modes of one
    instrument share its conditions, and are never one number.
    """
    asked = Counter(instrument for instrument, _ in answered)
    by_name: dict[str, list[str]] = {}
    modes: dict[str, list[str]] = {}
    for name, measure in measures.items():
        by_name.setdefault(measure.name, []).append(name)
        if mode_in(name) in COMPARABLE:
            modes.setdefault(base_of(name), []).append(name)
    for instruments in by_name.values():
        others = by_name.get(measures[instruments[0]].correlate_with or "", [])
        for both in itertools.product(instruments, others):
            # Where one model answered each of the two, all models are that pair, tested once.
            if not pairs or any(asked[name] != 1 for name in both):
                yield both, (None, None)
        for whose in pairs:
            yield from ((both, whose) for both in itertools.product(instruments, others))
    models = sorted({model for _, model in answered})
    two_modes = [two for forms in modes.values() for two in itertools.combinations(forms, 2)]
    says = [name for name in measures if base_of(name) in SAYS_OF_GROUPS]
    advises = [name for name in measures if base_of(name) == DECISIONS]
    for both, whose in [
        *itertools.product(two_modes, itertools.product(models, models)),
        *itertools.product(itertools.product(says, advises), [(one, one) for one in models]),
    ]:
        if answered >= {*zip(both, whose, strict=True)}:
            yield both, whose


def correlate_measures(
    scores: pl.DataFrame, measures: Mapping[str, Measure], pairs: Sequence[Pair]
) -> Estimates:
    """Yield over conditions, and over those of each group: two measures, modes, or advice.

    Two groups that are far apart on both make a correlation by themselves; within a group it is of
    conditions.
    """
    profiles: dict[tuple[str, str | None], Answers] = {
        (name, answers.model): answers
        for name, measure in measures.items()
        for answers in by_condition(scores, name, measure)
    }
    answered = {*scores.select(asked_ids(), "model").drop_nulls().unique().rows()}
    for asked, whose in _correlated(measures, answered, pairs):
        sides = [measured_side(measures, *side) for side in zip(asked, whose, strict=True)]
        one, other = (side.values(scores) for side in sides)
        both = one.join(other.select("condition", other="value"), on="condition").sort("condition")
        groups = sorted(both["group"].drop_nulls().unique())
        for group in [None, *(groups if len(groups) > 1 else ())]:
            says = Contrast(
                kind="measures" if group is None else "measures-within",
                instrument=None,
                measure=None,
                quantity=sides[0].quantity,
                group=group,
                first=sides[0].text(),
                second=sides[1].text(),
            )
            of = both if group is None else both.filter(pl.col("group") == group)
            categories = of["category"].fill_null(of["condition"]).to_list()
            found = correlated(says, of["value"].to_list(), of["other"].to_list(), categories)
            # Modes of one instrument share their sentences, and so their errors.
            if base_of(asked[0]) != base_of(asked[1]):
                # Of means over all models it is not known.
                answers = [profiles.get(side) for side in zip(asked, whose, strict=True)]
                conditions = of["condition"].to_list()
                known = [None if said is None else said.reliability(conditions) for said in answers]
                found = of_true_scores(found, *known)
            yield says, found
        # The study's r is of shares of labels over all models, where ours is of probabilities.
        if sides[1].finer and whose == (None, None):
            yield _as_in_study(scores, sides, measures)


def _as_in_study(
    scores: pl.DataFrame, sides: Sequence[MeasuredSide], measures: Mapping[str, Measure]
) -> tuple[Contrast, Estimate]:
    """Return r over the conditions of the two groups, each measure by its main number."""
    main = [replace(side, quantity=measures[side.instrument].quantity) for side in sides]
    first, second = (side.values(scores) for side in main)
    of = measures[sides[0].instrument]
    both = (
        first.join(second.select("condition", other="value"), on="condition")
        .filter(pl.col("group").is_in([of.contrast, of.against]))
        .drop_nulls(["value", "other"])
        .sort("condition")
    )
    says = Contrast(
        kind=AS_IN_STUDY,
        instrument=None,
        measure=None,
        quantity=main[0].quantity,
        first=main[0].text(),
        second=main[1].text(),
    )
    return says, pearson(both["value"].to_list(), both["other"].to_list(), contrast=says.text)

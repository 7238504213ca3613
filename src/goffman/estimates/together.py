"""Two measures of the same conditions, correlated: Mei, Fereidooni & Caliskan (2023)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from goffman.estimates.contrast import Comparing, Contrast
from goffman.estimates.profiles import (
    FORMS,
    MAIN_VARIANT,
    Answers,
    base_of,
    by_condition,
    correlated_quantity,
)
from goffman.estimates.scored import Found
from goffman.records import BASELINE
from goffman.stats.profile import of_true_scores

DECISIONS = "decisions"
SAYS_OF_GROUPS = ("social-distance", "people-sentiment")
"""What a model would advise, and the instruments of the same conditions that might predict it."""


class Correlated(Protocol):
    """What must be known of a measure here."""

    @property
    def name(self) -> str:
        """The measure's name."""
        ...

    @property
    def quantity(self) -> str:
        """Its main number."""
        ...

    @property
    def beside(self) -> str | None:
        """The name of the measure that it is correlated with, if any."""
        ...


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a correlation: what an instrument measures, of one model or over all."""

    instrument: str
    measure: str
    quantity: str
    finer: bool
    """Whether that is a probability, which says more finely what the measure's main number does."""
    model: str | None
    only: bool
    """Whether no other instrument of the run has this measure, so that its id need not be said."""

    def text(self, *, measure: str | None = None, model: str | None = None) -> str:
        """The side as it stands in a table, or with other names for its measure and model."""
        by = "" if self.only else f" by {self.instrument}"
        of = f" of {model or self.model}" if self.model else ""
        return f"{measure or self.measure}{by}{of}"

    def values(self, scores: pl.DataFrame) -> pl.DataFrame:
        """The scores of its conditions."""
        return scores.filter(
            pl.col("level") == "condition",
            pl.col("instrument") == self.instrument,
            pl.col("quantity") == self.quantity,
            pl.col("condition") != BASELINE,
            pl.col("model").eq_missing(pl.lit(self.model)),
            pl.col("variant").is_null() | (pl.col("variant") == MAIN_VARIANT),
        ).unique("condition", keep="first", maintain_order=True)


def sides(
    measures: Mapping[str, Correlated], models: Iterable[tuple[str | None, str | None]]
) -> Iterator[tuple[Side, Side]]:
    """Every two sides that are correlated; ``measures`` are by instrument.

    ``models``: of whom on either side; None: over all. Two instruments of one measure are two
    correlations, never one over both.
    """
    by_name: dict[str, list[str]] = {}
    for instrument, measure in measures.items():
        by_name.setdefault(measure.name, []).append(instrument)
    both = [
        (instruments, by_name[beside])
        for instruments in by_name.values()
        if (beside := measures[instruments[0]].beside) in by_name
    ]
    for (firsts, seconds), whose in itertools.product(both, models):
        for asked in itertools.product(firsts, seconds):
            one, other = (
                Side(
                    instrument=instrument,
                    measure=measures[instrument].name,
                    quantity=correlated_quantity(measures[instrument]),
                    finer=correlated_quantity(measures[instrument])
                    != measures[instrument].quantity,
                    model=model,
                    only=len(of) == 1,
                )
                for instrument, model, of in zip(asked, whose, (firsts, seconds), strict=True)
            )
            yield one, other


def forms_together(
    measures: Mapping[str, Correlated], models: Iterable[tuple[str | None, str | None]]
) -> Iterator[tuple[Side, Side]]:
    """Every two forms of one instrument: they share its conditions, and are never one number.

    ``models``: of whom on either side; over all models would be to pool them.
    """
    by_base: dict[str, list[str]] = {}
    for instrument in measures:
        base = instrument
        for ending in FORMS:
            base = base.removesuffix(ending)
        by_base.setdefault(base, []).append(instrument)
    pairs = [two for forms in by_base.values() for two in itertools.combinations(forms, 2)]
    for asked, whose in itertools.product(pairs, [one for one in models if None not in one]):
        yield _side(measures, asked[0], whose[0]), _side(measures, asked[1], whose[1])


def advice_beside(
    measures: Mapping[str, Correlated], models: Iterable[str]
) -> Iterator[tuple[Side, Side]]:
    """What each model says of a group, and what it would advise about the same."""
    says = [name for name in measures if base_of(name) in SAYS_OF_GROUPS]
    advises = [name for name in measures if base_of(name) == DECISIONS]
    for one, other, model in itertools.product(says, advises, models):
        yield _side(measures, one, model), _side(measures, other, model)


def _side(measures: Mapping[str, Correlated], instrument: str, model: str | None) -> Side:
    measure = measures[instrument]
    quantity = correlated_quantity(measure)
    return Side(
        instrument=instrument,
        measure=measure.name,
        quantity=quantity,
        finer=quantity != measure.quantity,
        model=model,
        only=[one.name for one in measures.values()].count(measure.name) == 1,
    )


def measures_together(
    scores: pl.DataFrame,
    measures: Mapping[str, Correlated],
    pairs: Sequence[tuple[str, str]],
    compare: Comparing,
) -> Found:
    """Over conditions, and over those of each group: two measures, of all models and of each pair.

    Two groups that are far apart on both make a correlation by themselves; within a group it is of
    conditions. Where one model answered each of the two, all models are that pair, tested once.
    """
    forms = _of_forms(scores, measures)
    profiles = _profiles(scores, measures)
    for one, other in [*sides(measures, [(None, None), *pairs]), *forms]:
        if one.model is None and pairs and _alone(scores, one) and _alone(scores, other):
            continue
        values = other.values(scores).select("condition", other="value")
        both = one.values(scores).join(values, on="condition").sort("condition")
        groups = sorted(both["group"].drop_nulls().unique())
        for group in [None, *(groups if len(groups) > 1 else ())]:
            says = Contrast(
                kind="measures" if group is None else "measures-within",
                instrument=None,
                measure=None,
                quantity=one.quantity,
                group=group,
                first=one.text(),
                second=other.text(),
            )
            of = both if group is None else both.filter(pl.col("group") == group)
            found = compare.correlated(says, of["value"].to_list(), of["other"].to_list())
            reliable = [_reliability(profiles, side, of["condition"]) for side in (one, other)]
            # Forms of one instrument share their sentences, and so their errors.
            apart = base_of(one.instrument) != base_of(other.instrument)
            yield says, of_true_scores(found, *reliable) if apart else found


def _profiles(
    scores: pl.DataFrame, measures: Mapping[str, Correlated]
) -> dict[tuple[str, str | None], Answers]:
    """By instrument and model: its numbers over conditions."""
    return {
        (name, answers.model): answers
        for name, measure in measures.items()
        for answers in by_condition(scores, name, measure)
    }


def _reliability(
    profiles: Mapping[tuple[str, str | None], Answers], side: Side, conditions: pl.Series
) -> float | None:
    """Of a side over these conditions; None: not known, as over all models."""
    answers = profiles.get((side.instrument, side.model))
    return None if answers is None else answers.reliability(conditions.to_list())


def _of_forms(
    scores: pl.DataFrame, measures: Mapping[str, Correlated]
) -> Iterator[tuple[Side, Side]]:
    """Every two forms of an instrument, of each model that answered; and what each would advise."""
    answered = {*scores.select("instrument", "model").drop_nulls().unique().rows()}
    models = sorted({model for _, model in answered})
    pairs = [
        *forms_together(measures, list(itertools.product(models, models))),
        *advice_beside(measures, models),
    ]
    for one, other in pairs:
        there = (one.instrument, one.model) in answered
        if there and (other.instrument, other.model) in answered:
            yield one, other


def _alone(scores: pl.DataFrame, side: Side) -> bool:
    """Whether one model alone answered the side's instrument."""
    asked = scores.filter(pl.col("instrument") == side.instrument)
    return asked["model"].drop_nulls().n_unique() == 1

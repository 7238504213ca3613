"""Two measures of the same conditions, correlated: Mei, Fereidooni & Caliskan (2023)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from goffman.estimates.contrast import Comparing, Contrast
from goffman.estimates.scored import Found
from goffman.records import BASELINE


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
        )


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
                    quantity=_correlated(measures[instrument]),
                    finer=_correlated(measures[instrument]) != measures[instrument].quantity,
                    model=model,
                    only=len(of) == 1,
                )
                for instrument, model, of in zip(asked, whose, (firsts, seconds), strict=True)
            )
            yield one, other


def _correlated(measure: Correlated) -> str:
    """The number that is correlated: a probability where the measure names one, not its labels."""
    return str(getattr(measure, "correlated", measure.quantity))


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
    for one, other in sides(measures, [(None, None), *pairs]):
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
            yield says, compare.correlated(says, of["value"].to_list(), of["other"].to_list())


def _alone(scores: pl.DataFrame, side: Side) -> bool:
    """Whether one model alone answered the side's instrument."""
    asked = scores.filter(pl.col("instrument") == side.instrument)
    return asked["model"].drop_nulls().n_unique() == 1

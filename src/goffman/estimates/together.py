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
                    quantity=measures[instrument].quantity,
                    model=model,
                    only=len(of) == 1,
                )
                for instrument, model, of in zip(asked, whose, (firsts, seconds), strict=True)
            )
            yield one, other


def measures_together(
    scores: pl.DataFrame,
    measures: Mapping[str, Correlated],
    pairs: Sequence[tuple[str, str]],
    compare: Comparing,
) -> Found:
    """Over conditions: two measures, of all models and of each pair of models."""
    for one, other in sides(measures, [(None, None), *pairs]):
        both = one.values(scores).join(
            other.values(scores).select("condition", other="value"), on="condition"
        )
        says = Contrast(
            kind="measures",
            instrument=None,
            measure=None,
            quantity=one.quantity,
            first=one.text(),
            second=other.text(),
        )
        both = both.sort("condition")
        yield says, compare.correlated(says, both["value"].to_list(), both["other"].to_list())

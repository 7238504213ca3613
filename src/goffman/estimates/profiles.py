"""A model's numbers over conditions, or over occupations, ready to be set beside people's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from goffman.estimates.cubes import cube, in_order
from goffman.estimates.sharing import FEMALE
from goffman.records import BASELINE
from goffman.stats.crossed import LEAST
from goffman.stats.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

MAIN_VARIANT = "with-names"

FORMS = ("-completion", "-choice", "-said", "-written")
"""How the ids of an instrument's forms end that measure one construct."""

OF_OCCUPATIONS = {"preference": "she-over-he", "bias": "she-minus-he"}
"""A measure's main number → what it comes to for one occupation: log P(she) − log P(he), or the
accuracy with her pronoun minus that with his."""


class Measured(Protocol):
    """What must be known of a measure here."""

    @property
    def name(self) -> str:
        """The measure's name."""
        ...

    @property
    def quantity(self) -> str:
        """Its main number."""
        ...


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a model says, condition by condition; no value is missing."""

    instrument: str
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


def base_of(instrument: str) -> str:
    """The id of the instrument that a form belongs to."""
    for ending in (*FORMS, "-pronouns"):
        instrument = instrument.removesuffix(ending)
    return instrument


def correlated_quantity(measure: Measured) -> str:
    """The number that is correlated: a probability where the measure names one, not its labels."""
    return str(getattr(measure, "correlated", measure.quantity))


def by_condition(scores: pl.DataFrame, instrument: str, measure: Measured) -> Iterator[Answers]:
    """Of each model its numbers over the conditions; ``scores`` of any instruments."""
    quantity = correlated_quantity(measure)
    rows = scores.filter(
        pl.col("instrument") == instrument,
        pl.col("quantity") == quantity,
        pl.col("model").is_not_null(),
        pl.col("condition") != BASELINE,
        pl.col("variant").is_null() | (pl.col("variant") == MAIN_VARIANT),
    )
    means = rows.filter(pl.col("level") == "condition", pl.col("value").is_not_null())
    for (model,), of in means.partition_by("model", as_dict=True, maintain_order=True).items():
        of_model = of.unique("condition", keep="first", maintain_order=True).sort("condition")
        conditions = of_model["condition"].to_list()
        asked = rows.filter(pl.col("level") == "prompt", pl.col("model") == model)
        table = _table(asked, conditions)
        yield Answers(
            instrument=instrument,
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
    ids = {"condition": conditions, "item": items, "wording": wordings}
    whole = cube(kept, ids)
    if not np.isnan(whole).any():
        return whole
    there = ~np.isnan(whole)
    if not there.any(axis=2).all():
        return None
    sums = np.where(there, whole, 0.0).sum(axis=2, keepdims=True)
    return np.asarray(sums / there.sum(axis=2, keepdims=True), dtype=np.float64)


def _errors(prompts: pl.DataFrame, conditions: Sequence[str]) -> Values | None:
    """Standard errors over items, where each condition has some of its own; None: it has not.

    Items that nearly all conditions share move all of them alike, which is no error of a profile.
    """
    cells = prompts.filter(pl.col("value").is_not_null()).group_by("condition", "item")
    means = cells.agg(pl.col("value").mean())
    if means.height > len(conditions) * means["item"].n_unique() / 2:
        return None
    each = means.group_by("condition").agg(error=pl.col("value").std() / pl.len().sqrt())
    known = dict(each.rows())
    errors = [known.get(condition) for condition in conditions]
    found = [error for error in errors if error is not None]
    return np.array(found, dtype=np.float64) if found and len(found) == len(errors) else None


def by_occupation(
    scores: pl.DataFrame, prompts: pl.DataFrame, instrument: str, measure: Measured
) -> Iterator[Answers]:
    """Of each model, by the occupation that a pronoun refers to: how much it leans toward her."""
    if measure.quantity not in OF_OCCUPATIONS:
        return
    quantity = "preference" if measure.quantity == "preference" else "correct"
    rows = scores.filter(
        pl.col("instrument") == instrument,
        pl.col("level") == "prompt",
        pl.col("quantity") == quantity,
        pl.col("condition") == BASELINE,
        pl.col("value").is_not_null(),
    )
    asked = prompts.filter(pl.col("instrument") == instrument, pl.col("answer").is_not_null())
    asked = asked.select("prompt_id", "answer", side="category").unique("prompt_id")
    known = rows.join(asked, on="prompt_id").group_by("model", "item", "answer", "side", "wording")
    pairs = _leaning(known.agg(pl.col("value").mean()), fits=quantity == "preference")
    means = pairs.group_by("model", "answer", "side").agg(
        value=pl.col("value").mean(), n=pl.len(), error=pl.col("value").std() / pl.len().sqrt()
    )
    for (model,), of in means.sort("model", "answer").partition_by("model", as_dict=True).items():
        errors = of["error"].to_numpy().astype(np.float64)
        yield Answers(
            instrument=instrument,
            measure=measure.name,
            quantity=OF_OCCUPATIONS[measure.quantity],
            model=str(model),
            conditions=of["answer"].to_list(),
            groups=of["side"].to_list(),
            categories=of["side"].to_list(),
            values=of["value"].to_numpy().astype(np.float64),
            errors=None if np.isnan(errors).any() else errors,
        )


def _leaning(values: pl.DataFrame, *, fits: bool) -> pl.DataFrame:
    """A row for each sentence pair: her pronoun's number minus his.

    ``fits``: the value of the side pro is already that of the pronoun that fits the stereotype
    minus the other's. Elsewhere both sides are there, and one is subtracted from the other.
    """
    sign = pl.when(pl.col("side") == FEMALE).then(1.0).otherwise(-1.0)
    pro = values.filter(pl.col("wording") == "pro")
    if fits:
        return pro.with_columns(value=pl.col("value") * sign)
    anti = values.filter(pl.col("wording") == "anti").select(
        "model", "item", "answer", against="value"
    )
    both = pro.join(anti, on=["model", "item", "answer"])
    return both.with_columns(value=(pl.col("value") - pl.col("against")) * sign)

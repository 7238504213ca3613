"""Contrasts over conditions, which are what was sampled: Mei, Fereidooni & Caliskan (2023)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.contrast import Comparing, Contrast, in_order, table
from goffman.estimates.part import Found, Part, joined, of_group, values
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.measures.base import Measure


def groups_of_conditions(part: Part) -> Found:
    """In each model, and over all: the conditions of one group against those of the other."""
    models = part.models()
    for model in [*models, None] if len(models) > 1 else models:
        rows = part.rows("condition", model=model)
        first, second = (of_group(rows, group) for group in (part.contrast, part.against))
        if first.height and second.height:
            says = part.says("groups", model=model, first=part.contrast, second=part.against)
            yield says, part.compare.apart(says, values(first), values(second), over="conditions")


def models_over_conditions(part: Part) -> Found:
    """In each group: every two models, on the same conditions."""
    rows = part.rows("condition")
    for group in (part.contrast, part.against):
        chosen = of_group(rows, group)
        for one, other in itertools.combinations(part.models(), 2):
            says = part.says("models", group=group, first=one, second=other)
            sides = joined(chosen, "model", (one, other), on=["condition"])
            if sides.height:
                pairs = sides["first"].to_list(), sides["second"].to_list()
                yield says, part.compare.paired(says, *pairs, over="conditions")


def conditions_against_baseline(part: Part) -> Found:
    """In each model: every condition against the prompts that name none, item by item."""
    for model in part.models():
        rows = part.rows("prompt", model=model)
        items, wordings = in_order(rows, "item"), in_order(rows, "wording")
        tables = {
            str(name): table(of, down=items, across=wordings, names=("item", "wording"))
            for (name,), of in rows.partition_by("condition", as_dict=True).items()
        }
        if BASELINE not in tables:
            continue
        for condition in sorted(set(tables) - {BASELINE}):
            says = part.says("baseline", model=model, first=condition, second=BASELINE)
            sides = tables[condition], tables[BASELINE]
            if len(wordings) == 1:
                cells = (side.ravel().tolist() for side in sides)
                yield says, part.compare.paired(says, *cells, over="items")
            else:
                over = ("items", "wordings")
                yield (
                    says,
                    part.compare.crossed(says, *sides, shared="both", over=over, units="rows"),
                )


def outcomes_against_baseline(part: Part) -> Found:
    """In each model, and over all: every condition against the sentences that name none.

    A classifier has an outcome a sentence, which is few; over all of them it is items × models.
    """
    yield from conditions_against_baseline(part)
    models = part.models()
    if len(models) < 2:
        return
    rows = part.rows("prompt")
    items = in_order(rows, "item")
    tables = {
        str(name): table(of, down=items, across=models, names=("item", "model"))
        for (name,), of in rows.partition_by("condition", as_dict=True).items()
    }
    for condition in sorted(set(tables) - {BASELINE}) if BASELINE in tables else ():
        says = part.says("baseline", first=condition, second=BASELINE)
        sides = tables[condition], tables[BASELINE]
        yield says, part.compare.crossed(says, *sides, shared="both", over=("items", "models"))


def wordings_over_conditions(part: Part) -> Found:
    """In each model: every other wording against the first, on the same conditions."""
    for model, wording in itertools.product(part.models(), part.wordings[1:]):
        rows = part.rows("wording", model=model).filter(pl.col("condition") != BASELINE)
        says = part.says("wordings", model=model, first=wording, second=part.wordings[0])
        sides = joined(rows, "wording", (wording, part.wordings[0]), on=["condition"])
        if sides.height:
            pairs = sides["first"].to_list(), sides["second"].to_list()
            yield says, part.compare.paired(says, *pairs, over="conditions")


def measures_together(
    scores: pl.DataFrame,
    measures: Mapping[str, Measure],
    pairs: Sequence[tuple[str, str]],
    compare: Comparing,
) -> Found:
    """Over conditions: negative attitude with negative sentiment, of all models and each pair."""
    names = ("negative-attitude", "negative-sentiment")
    if not {*names} <= {measure.name for measure in measures.values()}:
        return
    rows = scores.filter(
        pl.col("level") == "condition",
        pl.col("quantity") == "negative",
        pl.col("condition") != BASELINE,
    )
    # Two instruments of one measure are two correlations, never one over both.
    instruments = [
        [instrument for instrument, measure in measures.items() if measure.name == name]
        for name in names
    ]
    models: list[tuple[str | None, str | None]] = [(None, None), *pairs]
    for (one, other), asked in itertools.product(models, itertools.product(*instruments)):
        sides = [
            rows.filter(
                pl.col("instrument") == instrument, pl.col("model").eq_missing(pl.lit(model))
            )
            for instrument, model in zip(asked, (one, other), strict=True)
        ]
        both = sides[0].join(sides[1].select("condition", other="value"), on="condition")
        says = Contrast(
            kind="measures",
            instrument=None,
            measure=None,
            quantity="negative",
            first=_named(names[0], asked[0] if len(instruments[0]) > 1 else None, one),
            second=_named(names[1], asked[1] if len(instruments[1]) > 1 else None, other),
        )
        both = both.sort("condition")
        yield says, compare.correlated(says, both["value"].to_list(), both["other"].to_list())


def _named(measure: str, instrument: str | None, model: str | None) -> str:
    """A measure as one side of a correlation, with what tells it from another."""
    by = f" by {instrument}" if instrument else ""
    return f"{measure}{by} of {model}" if model else f"{measure}{by}"

"""Contrasts over conditions, which are what was sampled: Mei, Fereidooni & Caliskan (2023)."""

from __future__ import annotations

import itertools

import polars as pl

from goffman.estimates.contrast import in_order, table
from goffman.estimates.scored import Found, Scored, joined, of_group, values
from goffman.records import BASELINE


def groups_of_conditions(scored: Scored) -> Found:
    """In each model, and over all: the conditions of one group against those of the other."""
    models = scored.models()
    for model in [*models, None] if len(models) > 1 else models:
        rows = scored.rows("condition", model=model)
        first, second = (of_group(rows, group) for group in (scored.contrast, scored.against))
        if first.height and second.height:
            says = scored.says("groups", model=model, first=scored.contrast, second=scored.against)
            yield says, scored.compare.apart(says, values(first), values(second), over="conditions")


def models_over_conditions(scored: Scored) -> Found:
    """In each group: every two models, on the same conditions."""
    rows = scored.rows("condition")
    for group in (scored.contrast, scored.against):
        chosen = of_group(rows, group)
        for one, other in itertools.combinations(scored.models(), 2):
            says = scored.says("models", group=group, first=one, second=other)
            sides = joined(chosen, "model", (one, other), on=["condition"])
            if sides.height:
                pairs = sides["first"].to_list(), sides["second"].to_list()
                yield says, scored.compare.paired(says, *pairs, over="conditions")


def conditions_against_baseline(scored: Scored) -> Found:
    """In each model: every condition against the prompts that name none, item by item."""
    for model in scored.models():
        rows = scored.rows("prompt", model=model)
        items, wordings = in_order(rows, "item"), in_order(rows, "wording")
        tables = {
            str(name): table(of, down=items, across=wordings, names=("item", "wording"))
            for (name,), of in rows.partition_by("condition", as_dict=True).items()
        }
        if BASELINE not in tables:
            continue
        for condition in sorted(set(tables) - {BASELINE}):
            says = scored.says("baseline", model=model, first=condition, second=BASELINE)
            sides = tables[condition], tables[BASELINE]
            if len(wordings) == 1:
                cells = (side.ravel().tolist() for side in sides)
                yield says, scored.compare.paired(says, *cells, over="items")
            else:
                over = ("items", "wordings")
                yield (
                    says,
                    scored.compare.crossed(says, *sides, shared="both", over=over, units="rows"),
                )


def outcomes_against_baseline(scored: Scored) -> Found:
    """In each model, and over all: every condition against the sentences that name none.

    A classifier has an outcome a sentence, which is few; over all of them it is items × models.
    """
    yield from conditions_against_baseline(scored)
    models = scored.models()
    if len(models) < 2:
        return
    rows = scored.rows("prompt")
    items = in_order(rows, "item")
    tables = {
        str(name): table(of, down=items, across=models, names=("item", "model"))
        for (name,), of in rows.partition_by("condition", as_dict=True).items()
    }
    for condition in sorted(set(tables) - {BASELINE}) if BASELINE in tables else ():
        says = scored.says("baseline", first=condition, second=BASELINE)
        sides = tables[condition], tables[BASELINE]
        yield says, scored.compare.crossed(says, *sides, shared="both", over=("items", "models"))


def wordings_over_conditions(scored: Scored) -> Found:
    """In each model: every other wording against the first, on the same conditions."""
    for model, wording in itertools.product(scored.models(), scored.wordings[1:]):
        rows = scored.rows("wording", model=model).filter(pl.col("condition") != BASELINE)
        says = scored.says("wordings", model=model, first=wording, second=scored.wordings[0])
        sides = joined(rows, "wording", (wording, scored.wordings[0]), on=["condition"])
        if sides.height:
            pairs = sides["first"].to_list(), sides["second"].to_list()
            yield says, scored.compare.paired(says, *pairs, over="conditions")

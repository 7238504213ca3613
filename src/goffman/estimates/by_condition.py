"""Single conditions in two models, or two runs of one, in the same sentences.

What is sampled is items and wordings, crossed: the change of a condition is one that would come out
again in other sentences about it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection

import numpy as np
import polars as pl

from goffman.estimates.cubes import by_condition, in_order
from goffman.estimates.reference import over_sentences
from goffman.estimates.scored import Found, Scored
from goffman.records import BASELINE

KIND = "conditions"


def models_by_condition(scored: Scored) -> Found:
    """Of every two models: each condition in the one against the same condition in the other.

    ``first`` is the condition, ``second`` the other model.
    """
    rows = scored.rows("prompt").filter(pl.col("condition") != BASELINE)
    ways = {name: in_order(rows, name) for name in ("item", "wording")}
    tables = {
        str(model): by_condition(of, ways["item"], ways["wording"])
        for (model,), of in rows.partition_by("model", as_dict=True).items()
    }
    about = _about(rows)
    for one, other in itertools.combinations(scored.models(), 2):
        for condition, (of, asked) in about.items():
            if not all(condition in tables.get(model, {}) for model in (one, other)):
                continue
            # Its own: where items go in turn, another condition has others.
            own = np.ix_(*([at in asked[way] for at in every] for way, every in ways.items()))
            sides = [tables[model][condition][own] for model in (one, other)]
            says = scored.says(KIND, first=condition, second=other, **of)
            yield says, over_sentences(scored, says, *sides)


def _about(
    rows: pl.DataFrame,
) -> dict[str, tuple[dict[str, str | None], dict[str, Collection[str]]]]:
    """By condition: its group and variant, and which items and wordings it was asked in."""
    of = rows.group_by("condition").agg(
        pl.col("group", "variant").first(), pl.col("item", "wording").unique()
    )
    return {
        str(row["condition"]): (
            {name: row[name] for name in ("group", "variant")},
            {name: {*row[name]} for name in ("item", "wording")},
        )
        for row in of.sort("condition").iter_rows(named=True)
    }

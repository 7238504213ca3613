"""Single conditions in two models, or two runs of one, in the same sentences.

What is sampled is items and wordings, crossed: the change of a condition is one that would come out
again in other sentences about it.
"""

from __future__ import annotations

import itertools

import polars as pl

from goffman.estimates.contrast import in_order, table
from goffman.estimates.reference import over_sentences
from goffman.estimates.scored import Found, Scored
from goffman.records import BASELINE

KIND = "conditions"


def models_by_condition(scored: Scored) -> Found:
    """Of every two models: each condition in the one against the same condition in the other.

    ``first`` is the condition, ``second`` the other model.
    """
    rows = scored.rows("prompt").filter(pl.col("condition") != BASELINE)
    of_each = sorted(rows.partition_by("condition", as_dict=True).items())
    for one, other in itertools.combinations(scored.models(), 2):
        for (condition,), of in of_each:
            sides = [of.filter(pl.col("model") == model) for model in (one, other)]
            if not all(side.height for side in sides):
                continue
            # Its own: where items go in turn, another condition has others.
            down, across = in_order(of, "item"), in_order(of, "wording")
            names = ("item", "wording")
            tables = [table(side, down=down, across=across, names=names) for side in sides]
            about = {"group": of["group"][0], "variant": of["variant"][0]}
            says = scored.says(KIND, first=str(condition), second=other, **about)
            yield says, over_sentences(scored, says, *tables)

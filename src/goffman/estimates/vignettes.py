"""Contrasts of descriptions: those of a group against the one that they are compared with.

There is one description of daily troubles, or few: no sample of such. Their mean is taken as given,
item by item, and stands in each cell beside; items and descriptions of the group are taken as
sampled, crossed. Wordings, orders and people are averaged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from goffman.estimates.contrast import in_order, table
from goffman.estimates.described import women_against_men
from goffman.estimates.scored import Found, Scored, of_group

NAMES = ("item", "condition")


def group_against_given(scored: Scored) -> Found:
    """In each model: the conditions of one group against the mean of the other's, item by item."""
    for model in scored.models():
        rows = scored.rows("prompt", model=model)
        first, second = (of_group(rows, one) for one in (scored.contrast, scored.against))
        if not first.height or not second.height:
            continue
        items, conditions = in_order(first, "item"), in_order(first, "condition")
        of_items = second.filter(second["item"].is_in(items))
        given = table(of_items, down=items, across=in_order(second, "condition"), names=NAMES)
        # With a gap in any of its conditions a cell of the mean is a gap: it would be of others.
        beside = np.repeat(given.mean(axis=1, keepdims=True), len(conditions), axis=1)
        says = scored.says("groups", model=model, first=scored.contrast, second=scored.against)
        tables = table(first, down=items, across=conditions, names=NAMES), beside
        yield says, scored.compare.crossed(says, *tables, shared="both")


def women_against_men_in_group(scored: Scored) -> Found:
    """In each model: a woman against a man in the descriptions of the first group, all items."""
    # Shares are of women or of men; the pairs are of both.
    scores = of_group(scored.scores, scored.contrast).filter(pl.col("variant").is_null())
    scores = scores.with_columns(dimension=pl.lit(None, dtype=pl.String))
    yield from women_against_men(replace(scored, scores=scores))

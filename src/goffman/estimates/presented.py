"""Contrasts of questions with options: what presentation does, and all else with it averaged out.

The order of the options, the keying and the wording each move an answer. What each does is a
contrast of its own, over the same items and conditions; what is said of conditions is said of the
means over both orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from goffman.estimates.contrast import in_order, table
from goffman.estimates.scored import Found, Scored
from goffman.records import BASELINE

DIRECTIONS = ("stigma-first", "stigma-last")
"""Where the option with the highest code stands in the list."""

KEYINGS = ("plain-keyed", "reversed-keyed")
"""Whether agreeing means more of the construct, or less."""


def over_orders(contrasts: Callable[[Scored], Found]) -> Callable[[Scored], Found]:
    """The contrasts of prompts, made from the means over the orders of their options."""

    def averaged(scored: Scored) -> Found:
        level = pl.col("level")
        scores = scored.scores.filter(level != "prompt").with_columns(
            level=pl.when(level == "presentation").then(pl.lit("prompt")).otherwise(level)
        )
        yield from contrasts(replace(scored, scores=scores))

    return averaged


def order_of_options(scored: Scored) -> Found:
    """In each model: the most stigmatizing option listed first against listed last."""
    yield from _two_ways(scored, "order", DIRECTIONS)


def keying(scored: Scored) -> Found:
    """In each model: agreeing means more of the construct against less of it, item by item."""
    yield from _two_ways(scored, "keying", KEYINGS)


def _two_ways(scored: Scored, kind: str, ways: tuple[str, str]) -> Found:
    """The same items × conditions in two presentations; all else is averaged."""
    names = ("item", "condition")
    for model in scored.models():
        sides = [
            scored.rows("prompt", way, model=model).filter(pl.col("condition") != BASELINE)
            for way in ways
        ]
        if all(side.height for side in sides):
            both = pl.concat(sides)
            items, conditions = in_order(both, "item"), in_order(both, "condition")
            tables = [table(one, down=items, across=conditions, names=names) for one in sides]
            says = scored.says(kind, model=model, first=ways[0], second=ways[1])
            yield says, scored.compare.crossed(says, *tables, shared="both")

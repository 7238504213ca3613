"""Contrasts of sentences about two people with both as options: means over orders; position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from goffman.estimates.presented import of_presentations
from goffman.estimates.scored import Found, Scored
from goffman.records import BASELINE

POSITION = "position"


def pairs_over_orders(contrasts: Callable[[Scored], Found]) -> Callable[[Scored], Found]:
    """The contrasts of sentence pairs, made from the means over the orders of the options."""

    def averaged(scored: Scored) -> Found:
        level = pl.col("level")
        # Contrasts of replies are made trial by trial; these means are one.
        sentences = of_presentations(scored.scores).with_columns(
            level=pl.lit("prompt"), trial=pl.lit(1, dtype=pl.Int64)
        )
        others = scored.scores.filter(~level.is_in(["prompt", "presentation"]))
        yield from contrasts(replace(scored, scores=pl.concat([others, sentences])))

    return averaged


def position(scored: Scored) -> Found:
    """In each model: the share of the option listed first against one half, without adjectives."""
    for model in scored.models():
        rows = scored.rows("presentation", "first-listed", model=model, condition=BASELINE)
        means = rows.sort("item", "wording").group_by("item", maintain_order=True)
        of_pairs = means.agg(pl.col("value").mean())
        if not of_pairs.height:
            continue
        items = of_pairs["item"].to_list()
        says = scored.says(
            POSITION, quantity="first-listed", model=model, first="first-listed", second="half"
        )
        yield (
            says,
            scored.compare.clustered(
                says,
                of_pairs["value"].to_list(),
                [0.5] * len(items),
                clusters=scored.sharing.clusters(items),
            ),
        )

"""Contrasts of a woman and a man who are described alike: the same question, twice.

Wordings and orders are averaged; items and conditions are taken as sampled, crossed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.cells import genders
from goffman.estimates.scored import IN_TURN, Found, Scored, of_dimension, of_group
from goffman.stats.crossed import GAPS

if TYPE_CHECKING:
    from goffman.estimates.contrast import Contrast
    from goffman.records import Estimate


def over_wordings(contrasts: Callable[[Scored], Found]) -> Callable[[Scored], Found]:
    """The contrasts of items × conditions, each cell the mean over all that was asked of it."""

    def averaged(scored: Scored) -> Found:
        scores = scored.scores.filter(pl.col("level") == "prompt")
        scores = scores.with_columns(wording=pl.lit(IN_TURN))
        yield from contrasts(replace(scored, scores=scores, wordings=[IN_TURN]))

    return averaged


def women_against_men(scored: Scored) -> Found:
    """In each model, group and subscale: the code of a woman against that of a man.

    Where some pairs were not answered there is no crossed table: then pairs are clustered by item
    and by condition, as far as there are enough of both.
    """
    for says, estimate in over_wordings(genders)(scored):
        of_codes = replace(says, quantity="code")
        found = replace(estimate, contrast=of_codes.text)
        if GAPS in (found.reason or ""):
            clustered = _clustered(scored, of_codes)
            found = found if clustered.p is None else clustered
        yield of_codes, found


def _clustered(scored: Scored, says: Contrast) -> Estimate:
    """The same over pairs of questions that share an item or a condition."""
    keys = ["item", "condition"]
    sides = []
    for gender in ("female", "male"):
        rows = of_group(scored.rows("prompt", gender, model=says.model), says.group or "")
        rows = of_dimension(rows, says.dimension).sort(*keys, "wording", "prompt_id")
        means = rows.group_by(keys, maintain_order=True).agg(pl.col("value").mean())
        sides.append(means.rename({"value": gender}))
    cells = sides[0].join(sides[1], on=keys).drop_nulls().sort(keys)
    estimate = scored.compare.clustered(
        says,
        cells["female"].to_list(),
        cells["male"].to_list(),
        clusters=[cells[name].to_list() for name in keys],
        called=("items", "conditions"),
    )
    over = "pairs of questions, clustered by item and condition"
    return replace(
        estimate,
        unit="pairs of questions",
        interval_over=over,
        check_over="pairs of questions, as if none shared anything",
        method=f"interval and p: {over}; effects of pairs, their SD taken as known",
    )

"""Contrasts of descriptions: those of a group against those that they are compared with.

Items and the descriptions of both groups are taken as sampled, crossed; wordings, orders and people
are averaged. One or two descriptions to compare with, as in a file that a user brings, are no
sample: their mean is then taken as given, item by item, and stands in each cell beside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.estimates.cubes import in_order, table
from goffman.estimates.described import women_against_men
from goffman.estimates.scored import Found, Scored, of_group
from goffman.stats.crossed import LEAST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.estimates.contrast import Contrast
    from goffman.records import Estimate

NAMES = ("item", "condition")
FIXED = "treated as fixed"
"""In what an interval is over: what follows is not sampled."""


def group_against_compared(scored: Scored) -> Found:
    """In each model: the conditions of one group against those of the other, item by item."""
    for model in scored.models():
        rows = scored.rows("prompt", model=model)
        first, second = (of_group(rows, one) for one in (scored.contrast, scored.against))
        if not first.height or not second.height:
            continue
        items = in_order(first, "item")
        tables = [
            table(side, down=items, across=in_order(side, "condition"), names=NAMES)
            for side in (first, second.filter(second["item"].is_in(items)))
        ]
        says = scored.says("groups", model=model, first=scored.contrast, second=scored.against)
        compared = _sampled if tables[1].shape[1] >= LEAST else _given
        yield says, compared(scored, says, *tables)


def _sampled(
    scored: Scored, says: Contrast, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Estimate:
    """Both groups at random; items that some description has no answer to are left out.

    A table with gaps has no test: a reply that is no answer to one of them would take it away.
    """
    known = ~(np.isnan(first).any(axis=1) | np.isnan(second).any(axis=1))
    if known.all() or known.sum() < LEAST:
        return scored.compare.crossed(says, first, second, shared="rows")
    found = scored.compare.crossed(says, first[known], second[known], shared="rows")
    left_out = int(known.size - known.sum())
    why = f"{left_out} of {known.size} items are left out, because some got no answer"
    reasons = [reason for reason in (why, found.reason) if reason]
    cells = left_out * (first.shape[1] + second.shape[1])
    return replace(found, left_out=cells, reason="; ".join(reasons))


def _given(
    scored: Scored, says: Contrast, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Estimate:
    """The first group at random, the mean of the second as it is."""
    # With a gap in any of its conditions a cell of the mean is a gap: it would be of others.
    beside = np.repeat(second.mean(axis=1, keepdims=True), first.shape[1], axis=1)
    found = scored.compare.crossed(says, first, beside, shared="both")
    if found.interval_over is None:
        return found
    fixed = f"{FIXED}: {says.second} conditions ({second.shape[1]})"
    over = f"items and {says.first} conditions, crossed; {fixed}"
    return replace(found, interval_over=over)


def women_against_men_in_group(scored: Scored) -> Found:
    """In each model: a woman against a man in the descriptions of the first group, all items."""
    # Shares are of women or of men; the pairs are of both.
    scores = of_group(scored.scores, scored.contrast).filter(pl.col("variant").is_null())
    scores = scores.with_columns(dimension=pl.lit(None, dtype=pl.String))
    yield from women_against_men(replace(scored, scores=scores))

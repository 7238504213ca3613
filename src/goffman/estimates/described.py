"""Contrasts of a woman and a man who are described alike: the same question, twice.

Wordings and orders are averaged; items and conditions are taken as sampled, crossed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from goffman.estimates.cells import genders
from goffman.estimates.presented import IN_TURN
from goffman.estimates.scored import Found, Scored


def over_wordings(contrasts: Callable[[Scored], Found]) -> Callable[[Scored], Found]:
    """The contrasts of items × conditions, each cell the mean over all that was asked of it."""

    def averaged(scored: Scored) -> Found:
        scores = scored.scores.filter(pl.col("level") == "prompt")
        scores = scores.with_columns(wording=pl.lit(IN_TURN))
        yield from contrasts(replace(scored, scores=scores, wordings=[IN_TURN]))

    return averaged


def women_against_men(scored: Scored) -> Found:
    """In each model, group and subscale: the code of a woman against that of a man."""
    for says, estimate in over_wordings(genders)(scored):
        of_codes = replace(says, quantity="code")
        yield of_codes, replace(estimate, contrast=of_codes.text)

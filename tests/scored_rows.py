"""SCORES of numbers that a test chooses: one for each prompt, and what a measure makes of them."""

from __future__ import annotations

import polars as pl

from goffman.instruments.types import Prompt
from goffman.measures.responses import prompt_scores
from goffman.schemas import prompt_table


def scored_rows(measure, rows, quantities, *, model="m", variant=None):
    """SCORES of the level prompt: each row is a prompt's ids and ``value`` (None: it has none).

    ``quantities``: names, each of which has this value, or by name what it is multiplied by.
    """
    if not isinstance(quantities, dict):
        quantities = dict.fromkeys(quantities, 1.0)
    usual = {"instrument": "x", "wording": "only"}
    asked = [
        Prompt(**{**usual, "form": row["condition"], "text": f"<mask> {place}", **row})
        for place, row in enumerate({k: v for k, v in row.items() if k != "value"} for row in rows)
    ]
    prompts = prompt_table(asked)
    values = pl.Series([row["value"] for row in rows], dtype=pl.Float64)
    given = pl.DataFrame({"prompt_id": prompts["prompt_id"], "model": model})
    if variant:
        given = given.with_columns(variant=pl.lit(variant))
    given = given.with_columns((values * by).alias(name) for name, by in quantities.items())
    reasons = dict.fromkeys(quantities, "gone")
    return prompt_scores(given, prompts, measure=measure.name, reasons=reasons)


def with_means(measure, prompts):
    """SCORES of the level prompt, with those of every other level."""
    return pl.concat([prompts, measure.aggregate(prompts)])

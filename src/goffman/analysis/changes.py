"""Two tables of the same prompts' scores side by side, and what changed from one to the other."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

PROMPT = ("prompt_id", "quantity", "variant", "trial")
"""What tells one number of a prompt from another."""


def side_by_side(
    before: pl.DataFrame, now: pl.DataFrame, *, on: Sequence[str] = PROMPT
) -> pl.DataFrame:
    """SCORES of the level prompt, with the value of each table beside the other's.

    Both are null where one is.
    """
    rows = now.join(before.select(*on, before="value"), on=on, how="inner", nulls_equal=True)
    missing = pl.col("value").is_null() | pl.col("before").is_null()
    return rows.with_columns(
        one_sided=pl.col("value").is_null() != pl.col("before").is_null(),
        now=pl.when(~missing).then("value"),
        before=pl.when(~missing).then("before"),
    )


def scores_with(
    both: pl.DataFrame, value: pl.Expr, *, model: pl.Expr, one_sided: str
) -> pl.DataFrame:
    """SCORES of the level prompt with another value, under a model's name.

    ``one_sided``: why there is no value where only one table has one.
    """
    rows = both.with_columns(value=value, model=model)
    return rows.with_columns(
        n=pl.col("value").is_not_null().cast(pl.Int64),
        missing=pl.col("value").is_null().cast(pl.Int64),
        reason=pl.when(pl.col("value").is_null()).then(pl.coalesce("reason", pl.lit(one_sided))),
    ).drop("one_sided", "now", "before")

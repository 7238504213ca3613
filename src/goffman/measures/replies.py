"""Replies → what kind they are; parsers are named, so that a result says which one read it."""

from __future__ import annotations

import polars as pl

from goffman.errors import RunError

AS_PUBLISHED = "as-published"


def as_published(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """The replies with the column KIND, read as Briegel & Chen (2023) did; rows as given.

    Only the first word counts and must be exactly the answer, the other occupation, or "unsure";
    everything else, also no reply at all, is other.
    """
    key = prompts.select("prompt_id", "answer", "other")
    known = replies.join(key, on="prompt_id", how="left", maintain_order="left")
    if count := known["answer"].null_count():
        raise RunError(
            f"{count:,} replies answer a prompt without an answer key. Give the prompts of the "
            "same run, of an instrument of sentence pairs."
        )
    first = pl.col("text").str.extract(r"^\s*(\S+)")
    kind = (
        pl.when(first == pl.col("answer"))
        .then(pl.lit("correct"))
        .when(first == pl.col("other"))
        .then(pl.lit("incorrect"))
        .when(first == "unsure")
        .then(pl.lit("unsure"))
        .otherwise(pl.lit("other"))
    )
    return replies.with_columns(known.select(kind=kind))

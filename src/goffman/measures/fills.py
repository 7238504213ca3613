"""What measures of fills share: the k most probable words that are stored."""

from __future__ import annotations

import polars as pl

from goffman.errors import InputError


def top_fills(fills: pl.DataFrame, *, top_k: int | None) -> pl.DataFrame:
    """The fills of the prompts themselves by rank, at most ``top_k``; None: all that are stored.

    Target words beyond the top k are left out. InputError where a model's stored fills are fewer.
    """
    ranked = fills.filter(pl.col("step") == 1, pl.col("rank").is_not_null())
    if top_k is None:
        return ranked
    if top_k < 1:
        raise InputError(f"top_k is {top_k}. Allowed: a whole number of at least 1.")
    for model, stored in ranked.group_by("model").agg(pl.col("rank").max()).sort("model").rows():
        refuse_more("top_k", top_k, stored, what=f"words are stored at each mask of {model}")
    return ranked.filter(pl.col("rank") <= top_k)


def refuse_more(name: str, given: int, stored: int, *, what: str) -> None:
    """Nothing, or the InputError that more is wanted than was asked."""
    if given > stored:
        raise InputError(
            f"{name} is {given}, but {stored} {what}. Allowed: 1 to {stored}; more would have to "
            "be asked anew, in another run."
        )

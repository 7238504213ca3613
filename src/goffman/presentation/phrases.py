"""The phrases that recursive masking gave: which words stand together, and how probable."""

from __future__ import annotations

import polars as pl

MOST = 12
"""So many phrases of a prompt are kept in a page, the most probable ones."""

AFTER = 1_000
"""Phrases have ranks above this one, so that they never mix with single words."""

_ENDS = ("female", "male", "nonbinary")
_PROMPT = ("model", "prompt_id")


def phrases(fills: pl.DataFrame, placement: str) -> pl.DataFrame:
    """Of each model and prompt the most probable phrases of several words that name a gender.

    ``fills``: every step, with the column ``label``. A branch ends at the first word that names
    one, as in the measure.
    """
    ends = pl.col("label").str.contains(f"^({'|'.join(_ENDS)})")
    by_step = fills.with_columns(ends=ends).partition_by("step", as_dict=True)
    steps = {int(key[0]): frame for key, frame in by_step.items()}
    path = pl.format("{}/{}", "parent", "rank").str.strip_prefix("/")
    words = {"path": path, "head": pl.lit(""), "last": pl.col("word"), "p": pl.col("probability")}
    columns = [*_PROMPT, "rank", "word", "probability", "label"]
    if len(steps) < 2:
        return fills.clear().select(columns)
    reached = steps[1].select(*_PROMPT, "ends", **words)
    found = []
    for step in sorted(steps)[1:]:
        going_on = reached.filter(~pl.col("ends")).select(
            *_PROMPT, "head", "last", before="p", parent="path"
        )
        further = steps[step].join(going_on, on=[*_PROMPT, "parent"])
        words = {
            "path": path,
            "head": _with_word(placement),
            "p": pl.col("before") * pl.col("probability"),
        }
        reached = further.select(*_PROMPT, "ends", "label", "last", **words)
        found.append(reached.filter("ends"))
    rank = pl.col("p").rank("ordinal", descending=True).over(_PROMPT).cast(pl.Int64)
    best = pl.concat(found).with_columns(rank=rank).filter(pl.col("rank") <= MOST)
    text = pl.format("{} {}", "head", "last")
    return best.select(
        *_PROMPT, pl.col("rank") + AFTER, word=text, probability="p", label="label"
    ).cast({"probability": fills.schema["probability"]})


def _with_word(placement: str) -> pl.Expr:
    """What stands before a phrase's last word, with the new word where its mask was."""
    new, head = pl.col("word"), pl.col("head")
    both = (head, new) if placement == "before-first" else (new, head)
    return pl.when(head == "").then(new).otherwise(pl.format("{} {}", *both))

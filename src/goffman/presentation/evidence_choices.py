"""The answers behind a mean code: options with their probability, or replies as they were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goffman.choice_items import options_from
from goffman.presentation.evidence import EVIDENCE, REPLY
from goffman.presentation.numbers import number

if TYPE_CHECKING:
    from goffman.lexicons.words import Words
    from goffman.presentation.base import Answers
    from goffman.presentation.section import Section

NO_OPTION = "(no option)"
WAY_OUT = "no answer"


def options_with_probabilities(
    given: Answers, section: Section, _words: Words | None, _most: int
) -> pl.DataFrame:
    """A row for each option in the order in which it is listed, and what lies on none of them."""
    options = _options(section.prompts)
    listed = given.frame.join(options, on=["prompt_id", "option"], how="left").select(
        "model",
        "prompt_id",
        pl.col("place").alias("rank"),
        pl.col("said").alias("word"),
        "probability",
        pl.col("counts").alias("label"),
    )
    last = options.group_by("prompt_id").agg(rank=pl.col("place").max() + 1)
    rest = (
        given.frame.unique(["model", "prompt_id"], maintain_order=True)
        .join(last, on="prompt_id")
        .select(
            "model",
            "prompt_id",
            "rank",
            pl.lit(NO_OPTION).alias("word"),
            pl.col("elsewhere").alias("probability"),
            pl.lit(WAY_OUT).alias("label"),
        )
    )
    return pl.concat([listed.cast(EVIDENCE), rest.cast(EVIDENCE)])


def _options(prompts: pl.DataFrame) -> pl.DataFrame:
    """Of each prompt its options: place, what is listed, what it counts."""
    rows = [
        {
            "prompt_id": prompt,
            "option": one.label,
            "place": place,
            "said": f"{one.label}. {one.text}" if one.text else one.label,
            "counts": WAY_OUT if one.code is None else f"code {number(one.code)}",
        }
        for prompt, text in prompts.select("prompt_id", "options").rows()
        for place, one in enumerate(options_from(text), start=1)
    ]
    text = dict.fromkeys(("prompt_id", "option", "said", "counts"), pl.String)
    return pl.DataFrame(rows, schema={**text, "place": pl.Int64})


def replies_as_read(
    given: Answers, section: Section, _words: Words | None, _most: int
) -> pl.DataFrame:
    """A row for each trial: the reply, and the option or the kind of non-answer it is read as."""
    del section
    text = pl.col("text").fill_null("(no reply)")
    short = pl.when(text.str.len_chars() > REPLY).then(text.str.head(REPLY) + "…").otherwise(text)
    read = (
        pl.when(pl.col("kind") == "option")
        .then(pl.format("read as {}", "chosen"))
        .otherwise(pl.col("kind").str.replace("-", " ", literal=True))
    )
    return given.frame.select(
        "model",
        "prompt_id",
        rank=pl.col("trial"),
        word=short,
        probability=pl.lit(None, dtype=pl.Float64),
        label=read,
    ).cast(EVIDENCE)

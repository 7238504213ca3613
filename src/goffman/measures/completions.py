"""What stands beside P(negative) where a reply was begun and its next word read as a fill.

rated-mass     the probability of the words rated positive, negative or neutral; where its mean
               over a model's prompts is below .25, P(negative) is not measurable
negations, probability-words, irrelevant   the probability of these: they are shown apart
negative-apart P(negative) without negations and words of probability
"""

from __future__ import annotations

import polars as pl

from goffman.lexicons.set_apart import set_apart
from goffman.measures.rows import as_scores, only, prompt_scores
from goffman.presentation.findings_completions import LEAST_RATED, OF_COMPLETIONS

RESTS_ON_RATINGS = ("negative", "lowest", "highest", "negative-apart")
_NO_WORD = "none of the words that are not set apart is rated"


def of_completions(fills: pl.DataFrame, prompts: pl.DataFrame, *, measure: str) -> pl.DataFrame:
    """SCORES of the level prompt: the numbers above, of prompts whose reply was begun.

    ``fills``: those that count, with the column ``label``.
    """
    begun = prompts.filter(pl.col("begun").is_not_null())
    p, label = pl.col("probability").cast(pl.Float64), pl.col("label")
    kind = pl.col("apart")
    rated = label.is_in(["positive", "negative", "neutral"])
    plain = kind.is_null()
    sums = (
        fills.join(begun.select("prompt_id"), on="prompt_id")
        .with_columns(apart=set_apart())
        .sort("model", "prompt_id", "rank")
        .group_by("model", "prompt_id", maintain_order=True)
        .agg(
            p.filter(rated).sum().alias("rated-mass"),
            p.filter(kind == "negation").sum().alias("negations"),
            p.filter(kind == "word of probability").sum().alias("probability-words"),
            p.filter(label == "irrelevant").sum().alias("irrelevant"),
            negative=p.filter((label == "negative") & plain).sum(),
            whole=p.filter(rated & plain).sum(),
        )
    )
    share = pl.when(pl.col("whole") > 0).then(pl.col("negative") / pl.col("whole"))
    values = sums.with_columns(share.alias("negative-apart")).drop("negative", "whole")
    reasons = dict.fromkeys(OF_COMPLETIONS, _NO_WORD)
    return prompt_scores(values, begun, measure=measure, reasons=reasons)


def measurable(scores: pl.DataFrame) -> pl.DataFrame:
    """The SCORES of prompts; what rests on ratings is null where too little is rated.

    A model is judged by its prompts together: one with few rated words is as good as one with none.
    """
    masses = only(scores, ["rated-mass"]).group_by("model").agg(mean=pl.col("value").mean())
    low = masses.filter(pl.col("mean") < LEAST_RATED)
    known = scores.join(low, on="model", how="left", maintain_order="left")
    gone = pl.col("mean").is_not_null() & pl.col("quantity").is_in(RESTS_ON_RATINGS)
    why = pl.format(
        f"rated words have {{}} of the probability on average, and {LEAST_RATED} is needed",
        pl.col("mean").round(3),
    )
    return as_scores(
        known.with_columns(
            value=pl.when(~gone).then("value"),
            n=pl.when(~gone).then("n").otherwise(0),
            missing=pl.when(~gone).then("missing").otherwise(1),
            reason=pl.when(gone).then(why).otherwise("reason"),
        )
    )

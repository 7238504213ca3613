"""What the measures of descriptions share: the stigma score, beliefs, and the share who endorse.

An item counts where its dimension is the one that the instrument names (``counted``): willingness
to be near the person, and expected violence to others. Of the others the code is called ``belief``:
what somebody has, and from what, is no stigma by itself. Of each prompt stand

    code       of an item that counts: as mean-code or said-code has it; with lowest and highest,
               and by what presentation does
    belief     the same of the other items, where 1 is the firmest belief
    female, male, disparity   of items that count: see described.py
    share-endorsing   of the answers, the share on options with a code above one half: definitely or
               probably unwilling, very or somewhat likely. ``variant`` is the gender of the person;
               null over both. Surveys report this share of people.

and ``share-endorsing`` once more at the level cell, of each item, condition and gender, over the
wordings and orders that were asked.
"""

from __future__ import annotations

import polars as pl

from goffman.estimates.presented import DIRECTIONS, KEYINGS
from goffman.measures.described import PAIRED, pairs
from goffman.measures.presented import CODES, means_of_codes
from goffman.measures.rows import as_scores, gaps, mean_over, only

ENDORSING = "share-endorsing"
HALF = 0.5
CELL = ("model", "item", "dimension", "condition", "group", "category")


def counted_apart(
    scores: pl.DataFrame, shares: pl.DataFrame, prompts: pl.DataFrame, *, counted: str
) -> pl.DataFrame:
    """SCORES of the level prompt with the quantities above.

    ``scores``: those of mean-code or said-code; ``shares``: model, prompt_id, ``share`` and, of
    replies, ``replies``: how many it is of, which then is ``n``.
    """
    counts = pl.col("dimension").is_null() | (pl.col("dimension") == counted)
    asked = prompts.select("prompt_id", variant=pl.col("gender"))
    code = only(scores, ["code"])
    endorsing = (
        code.drop("variant", "value")
        .join(shares, on=["model", "prompt_id"], how="left")
        .with_columns(n=pl.col("replies").fill_null(0) if "replies" in shares.columns else "n")
        .join(asked, on="prompt_id")
        .with_columns(quantity=pl.lit(ENDORSING), value=pl.col("share"))
    )
    # What presentation does is told of the score too: beliefs have no most stigmatizing option.
    of_codes = pl.col("quantity").is_in([*CODES, *DIRECTIONS, *KEYINGS])
    others = pl.col("quantity") == "code"
    return pl.concat(
        [
            scores.filter(counts | ~of_codes),
            scores.filter(~counts, others).with_columns(quantity=pl.lit("belief")),
            pairs(scores.filter(counts), prompts),
            as_scores(endorsing).sort("model", "prompt_id"),
        ]
    )


def on_obvious_side(shares: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """prompt_id and value: of each control the share of answers on the side that anyone takes.

    ``shares``: as above.
    """
    share = pl.col("share")
    value = pl.when(pl.col("answer") == "negative").then(share).otherwise(1 - share)
    asked = prompts.select("prompt_id", "answer")
    return asked.join(shares, on="prompt_id", how="left").select("prompt_id", value=value)


def means_of_vignettes(
    scores: pl.DataFrame, *, about: tuple[str, ...], contrast: str, against: str, whole: bool
) -> pl.DataFrame:
    """SCORES of all levels but prompt: those of codes, women and men, beliefs and shares."""
    who = ("model", "condition", "group", "category")
    genders = mean_over(only(scores, PAIRED), keep=CELL, level="cell", over="questions")
    beliefs = mean_over(only(scores, ["belief"]), keep=CELL, level="cell", over="questions")
    groups = mean_over(genders, keep=("model", "group"), level="group", over="items × conditions")
    # Means of cells by condition, group and item, as the codes have them.
    of_items = ("model", "item", "dimension", "group")
    return pl.concat(
        [
            means_of_codes(scores, about=about, contrast=contrast, against=against, whole=whole),
            genders,
            mean_over(genders, keep=who, level="condition", over="items"),
            groups,
            mean_over(genders, keep=of_items, level="item", over="conditions"),
            gaps(groups, contrast=contrast, against=against),
            beliefs,
            mean_over(beliefs, keep=of_items, level="item", over="conditions"),
            *_shares(only(scores, [ENDORSING])),
        ]
    )


def _shares(scores: pl.DataFrame) -> list[pl.DataFrame]:
    """Of each item and condition the share who endorse, by gender and over both."""
    both = scores.with_columns(variant=pl.lit(None, dtype=pl.String))
    return [
        mean_over(rows, keep=CELL, level="cell", over="questions")
        for rows in (scores.filter(pl.col("variant").is_not_null()), both)
    ]

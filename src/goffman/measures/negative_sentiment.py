"""negative-sentiment: how often a classifier's most probable class is negative.

Mei, Fereidooni & Caliskan (2023): shares of outcomes, where a sentence × classifier is an outcome:
of each classifier and group, and of each condition over all classifiers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from goffman.measures.base import Lexicon, Reads
from goffman.measures.rows import above_baseline, gaps, mean_over, only, prompt_scores

CLASSES = ("negative", "neutral", "positive")


@dataclass(frozen=True, kw_only=True)
class NegativeSentiment:
    """Labels → SCORES: at a prompt each class is 1 or 0, everywhere else a share."""

    contrast: str = "stigmatized"
    against: str = "non-stigmatized"
    """The gap is the share of the first group of conditions minus that of the second."""
    name: ClassVar[str] = "negative-sentiment"
    reads: ClassVar[Reads] = "labels"
    words: ClassVar[Lexicon | None] = None

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: 1 for the most probable class, 0 for the others."""
        values = answers.select(
            "model",
            "prompt_id",
            *(
                # A label that is there speaks for its class where probabilities were not kept.
                pl.when(pl.col(name).is_not_null() | (pl.col("label") == name))
                .then((pl.col("label") == name).cast(pl.Float64))
                .alias(name)
                for name in CLASSES
            ),
        )
        reasons = {name: f"the classifier has no class '{name}'" for name in CLASSES}
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of conditions, items, groups and models."""
        who = ("condition", "group", "category")
        # Over outcomes and not over means of means: 18 of 24 is then exactly three quarters.
        conditions = pl.concat(
            [
                mean_over(scores, keep=("model", *who), level="condition", over="outcomes"),
                mean_over(scores, keep=who, level="condition", over="outcomes"),
            ]
        )
        groups = pl.concat(
            [
                mean_over(scores, keep=keep, level=level, over="outcomes")
                for keep, level in (
                    (("model", "group"), "group"),
                    (("group",), "group"),
                    (("model", "item", "group"), "item"),
                )
            ]
        )
        return pl.concat(
            [
                conditions,
                above_baseline(only(conditions, ["negative"])),
                groups,
                gaps(only(groups, ["negative"]), contrast=self.contrast, against=self.against),
            ]
        )

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every level."""
        scores = self.each(answers, prompts)
        return pl.concat([scores, self.means(scores)])

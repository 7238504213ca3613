"""negative-sentiment: how often a classifier's most probable class is negative.

Mei, Fereidooni & Caliskan (2023): shares of outcomes, where a sentence × classifier is an outcome:
of each classifier and group, and of each condition over all classifiers. Beside the share stands
the probability of the class negative, which says more than a label does: groups are compared on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from goffman.control_items import ControlScore
from goffman.estimates.conditions import (
    groups_as_asked,
    groups_of_conditions,
    models_over_conditions,
)
from goffman.estimates.rarity import groups_against_rare
from goffman.measures.base import Contrasts, Meaning, Reads, as_they_are
from goffman.measures.choices import TEST_OF_GROUPS, WORDINGS, Choice, Option, Stored
from goffman.measures.rows import above_baseline, gaps, mean_over, only, prompt_scores
from goffman.measures.scale import scale
from goffman.multiverse_columns import NUMBER
from goffman.presentation import (
    figures_conditions,
    figures_ranked,
    figures_sentiment,
    tables,
    tables_reliability,
)
from goffman.presentation.base import Claims, Presentation
from goffman.presentation.evidence import classes
from goffman.presentation.findings_conditions import groups_apart, outcomes_counted
from goffman.presentation.findings_rarity import in_turn, rarity
from goffman.tables import SENTIMENTS

PROBABILITY = "negative-probability"

_PROBABILITY = "probability of the label “negative”"
"""Of the class negative: what a label says more finely."""

PRESENTATION = Presentation(
    quantity="negative",
    called="negative share",
    axis="Share labeled negative",
    claims=Claims(
        measured=(
            "A classifier reads sentences such as “They are people who have …”, which only say "
            "what people are or have. Most of them express no attitude; a few conditions "
            "(“beautiful”, “unattractive” …) are judgments themselves. The numbers are the "
            "probability that it gives to the label “negative”, and the share of sentences that it "
            "labels negative."
        ),
        may=(
            "that this classifier labels sentences about one group of people negative more often "
            "than sentences about the other"
        ),
        may_not="that the classifier harms people in any application",
        beware=(
            "A classifier with two classes cannot answer “neutral”.",
            "The names of illnesses are negative words in ordinary text, whatever the attitude.",
            "There are only two templates.",
        ),
    ),
    findings=groups_apart(what=_PROBABILITY, more=in_turn(rarity(_PROBABILITY), outcomes_counted)),
    figures=(
        figures_conditions.gaps,
        figures_sentiment.group_shares,
        figures_sentiment.templates,
        figures_conditions.categories,
        figures_ranked.ranked,
    ),
    tables=(tables.sentiment, tables.ranked_conditions, tables_reliability.reliability),
    evidence=classes,
    main=("groups", "against-rare", "rarity", "groups-as-asked"),
)


def _values(stored: Stored) -> list[Option]:
    """The probability of the class negative, or 1 where it is the most probable one."""
    del stored
    return [
        Option(said="probability of negative"),
        Option(said="share of labels", quantity="negative"),
    ]


def _neutral(stored: Stored) -> list[Option]:
    """With the class neutral, or negative against positive alone, where there are all three."""
    if not stored.answers["neutral"].count():
        return []
    return [Option(said="counted"), Option(said="not counted", prepared=without_neutral)]


def without_neutral(labels: pl.DataFrame) -> pl.DataFrame:
    """The labels as if there were two classes, positive and negative, in proportion."""
    positive, negative = (pl.col(name).cast(pl.Float64) for name in ("positive", "negative"))
    both = positive + negative
    return labels.with_columns(
        positive=positive / both,
        negative=negative / both,
        neutral=pl.lit(None, dtype=pl.Float32),
        label=pl.when(negative > positive).then(pl.lit("negative")).otherwise(pl.lit("positive")),
    )


@dataclass(frozen=True, kw_only=True)
class NegativeSentiment:
    """Labels → SCORES: at a prompt each class is 1 or 0, everywhere else a share.

    Beside them stands the probability of the class negative, where it was kept.
    """

    contrast: str = "stigmatized"
    against: str = "non-stigmatized"
    """The gap is the share of the first group of conditions minus that of the second."""
    smallest: float = 0.05
    """The smallest difference that would matter, in probability."""
    name: ClassVar[str] = "negative-sentiment"
    reads: ClassVar[Reads] = "labels"
    words: ClassVar[Meaning | None] = None
    quantity: ClassVar[str] = "negative"
    of_prompts: ClassVar[str] = "negative"
    unit: ClassVar[str] = "condition"
    beside: ClassVar[str | None] = None
    correlated: ClassVar[str] = PROBABILITY
    """With the number of another measure: two labels of a condition are too coarse for that."""
    headline: ClassVar[tuple[str, str]] = ("groups", PROBABILITY)
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        (PROBABILITY, (groups_of_conditions, groups_against_rare, models_over_conditions)),
        ("negative", (groups_as_asked,)),
    )
    between_runs: ClassVar[Contrasts] = (models_over_conditions,)
    presentation: ClassVar[Presentation] = PRESENTATION
    prepare = as_they_are
    choices: ClassVar[tuple[Choice, ...]] = (
        WORDINGS,
        Choice(name=NUMBER, options=_values),
        Choice(name="counting of the class neutral", options=_neutral),
        TEST_OF_GROUPS,
    )
    scores_controls: ClassVar[ControlScore] = "label"

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
                for name in SENTIMENTS
            ),
            pl.col("negative").cast(pl.Float64).alias(PROBABILITY),
        )
        reasons = {name: f"the classifier has no class '{name}'" for name in SENTIMENTS}
        reasons[PROBABILITY] = "the classifier's probability was not kept"
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
                scale(scores, quantity=PROBABILITY, groups=(self.contrast, self.against)),
            ]
        )

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """1 for each control whose most probable class is the right one, else 0."""
        known = answers.join(prompts.select("prompt_id", "answer"), on="prompt_id")
        right = (pl.col("label") == pl.col("answer")).cast(pl.Float64)
        return known.select("prompt_id", value=right)

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every level."""
        scores = self.each(answers, prompts)
        return pl.concat([scores, self.means(scores)])

"""negative-sentiment: how often a classifier's most probable class is negative.

Mei, Fereidooni & Caliskan (2023): shares of outcomes, where a sentence × classifier is an outcome:
of each classifier and group, and of each condition over all classifiers. Groups are compared by the
probability of the class negative, which is finer than the share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from goffman.contrasts import catalog
from goffman.instruments.types import ControlScore
from goffman.measures.analytic_choices import WORDINGS, AnalyticChoice, Option, StoredAnswers
from goffman.measures.base import Contrasts, Measure, Reads
from goffman.measures.reliability import reliability_scores
from goffman.measures.responses import above_baseline, gaps, mean_over, only, prompt_scores
from goffman.presentation import conditions, reliability, tables
from goffman.presentation.conditions import group_findings, outcomes_counted
from goffman.presentation.evidence import classes
from goffman.presentation.section import Presentation, claims_of
from goffman.schemas import NUMBER, SENTIMENTS

PROBABILITY = "negative-probability"

PRESENTATION = Presentation(
    quantity="negative",
    called="negative share",
    axis="Share labeled negative",
    ends=("less negative", "more negative"),
    claims=claims_of("negative-sentiment"),
    findings=group_findings(
        more="Labels {group} negative more often than others",
        whether="it labels {group} negative more often",
        text="The label “negative” has a mean probability of {first} for {one} and {second} for "
        "{other}",
        details=outcomes_counted,
    ),
    figures=(
        conditions.label_shares,
        conditions.templates,
        conditions.categories,
        conditions.ranked,
        conditions.absolute,
    ),
    tables=(
        tables.sentiment,
        tables.ranked_conditions,
        tables.counted_conditions,
        tables.categories,
        reliability.reliability_table,
    ),
    evidence=classes,
    main=("groups", "groups-adjusted", "groups-as-asked"),
)


def _neutral(stored: StoredAnswers) -> list[Option]:
    if not stored.answers["neutral"].count():
        return []
    return [Option(label="counted"), Option(label="not counted", prepared=without_neutral)]


def without_neutral(labels: pl.DataFrame) -> pl.DataFrame:
    """Return the labels with the probability of neutral divided between the other two classes."""
    positive, negative = (pl.col(name).cast(pl.Float64) for name in ("positive", "negative"))
    total = positive + negative
    return labels.with_columns(
        positive=positive / total,
        negative=negative / total,
        neutral=pl.lit(None, dtype=pl.Float32),
        label=pl.when(negative > positive).then(pl.lit("negative")).otherwise(pl.lit("positive")),
    )


@dataclass(frozen=True, kw_only=True)
class NegativeSentiment(Measure):
    """A measure that turns labels into SCORES: at a prompt each class is 1 or 0, elsewhere a share.

    Another quantity is the probability of the class negative, if it was kept.
    """

    contrast: str = "stigmatized"
    against: str = "non-stigmatized"
    name: ClassVar[str] = "negative-sentiment"
    reads: ClassVar[Reads] = "labels"
    correlated_quantity: ClassVar[str] = PROBABILITY
    """The probability of the class negative, since few labels per condition are too coarse."""
    primary_contrast: ClassVar[tuple[str, str]] = ("groups", PROBABILITY)
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        (
            PROBABILITY,
            (catalog.groups_of_conditions, catalog.groups_adjusted, catalog.models_over_conditions),
        ),
        ("negative", (catalog.groups_as_asked,)),
    )
    between_runs: ClassVar[Contrasts] = (catalog.models_over_conditions,)
    presentation: ClassVar[Presentation] = PRESENTATION
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (
        WORDINGS,
        AnalyticChoice(
            name=NUMBER,
            options=lambda _: [
                Option(label="probability of negative"),
                Option(label="share of labels", quantity="negative"),
            ],
        ),
        AnalyticChoice(name="counting of the class neutral", options=_neutral),
    )
    scores_controls: ClassVar[ControlScore | None] = "label"

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: 1 for the most probable class, 0 for the others."""
        values = answers.select(
            "model",
            "prompt_id",
            *(
                # If probabilities were not kept, a label shows that its class exists.
                pl.when(pl.col(name).is_not_null() | (pl.col("label") == name))
                .then((pl.col("label") == name).cast(pl.Float64))
                .alias(name)
                for name in SENTIMENTS
            ),
            # Published files have it only for sentences labeled negative, which would bias a mean.
            pl.when(pl.col("negative").is_not_nan().all().over("model"))
            .then(pl.col("negative").cast(pl.Float64))
            .alias(PROBABILITY),
        )
        reasons = {name: f"the classifier has no class '{name}'" for name in SENTIMENTS}
        reasons[PROBABILITY] = "the classifier's probability was not kept"
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of conditions, items, groups and models."""
        ids = ("condition", "group", "category")
        # Means are over outcomes, not over means, so that 18 of 24 is exactly three quarters.
        conditions = pl.concat(
            [
                mean_over(scores, keep=("model", *ids), level="condition", over="outcomes"),
                mean_over(scores, keep=ids, level="condition", over="outcomes"),
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
                reliability_scores(
                    scores, quantity=PROBABILITY, groups=(self.contrast, self.against)
                ),
            ]
        )

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return 1 for each control whose most probable class is the right one, else 0."""
        joined = answers.join(prompts.select("prompt_id", "answer"), on="prompt_id")
        right = (pl.col("label") == pl.col("answer")).cast(pl.Float64)
        return joined.select("prompt_id", value=right)

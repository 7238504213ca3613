"""negative-attitude: how much of what a model says of a situation speaks against it.

Mei, Fereidooni & Caliskan (2023): of the probability of the k most probable words at the mask,

    P(neg) = Σ negative / (Σ positive + Σ negative + Σ neutral)

with irrelevant words left out. Means: over the items of a wording, over a condition's forms, over
wordings; a condition's value over all models is the mean over models × wordings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goffman.control_items import ControlScore
from goffman.estimates.conditions import (
    conditions_against_baseline,
    groups_as_asked,
    groups_of_conditions,
    models_over_conditions,
    wordings_over_conditions,
)
from goffman.estimates.presented import where_in_turn
from goffman.estimates.rarity import groups_against_rare, groups_set_apart
from goffman.estimates.reference import (
    conditions_against_own_group,
    conditions_against_reference,
)
from goffman.measures.base import Contrasts, Meaning, Reads
from goffman.measures.choices import (
    NEUTRAL_WORDS,
    RATINGS,
    TEST_OF_GROUPS,
    WORDINGS,
    WORDS_COUNTED,
    Choice,
)
from goffman.measures.completions import measurable, of_completions
from goffman.measures.fills import top_fills
from goffman.measures.rows import above_baseline, gaps, mean_over, only, prompt_scores
from goffman.measures.scale import scale
from goffman.presentation import figures_conditions, figures_ranked, tables, tables_reliability
from goffman.presentation.base import Claims, Presentation
from goffman.presentation.evidence_completions import words_set_apart
from goffman.presentation.findings_completions import (
    OF_COMPLETIONS,
    if_measurable,
    set_apart_said,
    set_apart_shares,
)
from goffman.presentation.findings_conditions import groups_apart, words_counted
from goffman.presentation.findings_rarity import in_turn, rarity

if TYPE_CHECKING:
    from goffman.lexicons.words import Words

CORE = ("negative", "lowest", "highest")
"""P(neg), and what it would be were all that is not rated positive, or negative: words without a
rating, and whatever lies beyond the top k."""

COMPARED = ("negative", "negative-apart")
"""What groups are compared on; the latter is of completions alone."""

ABOUT = ("mass", "last-probability", "rated-share")
"""Of the top k: their probability, that of the k-th alone, and the rated share of the first."""

_NO_WORD = "none of the words is rated positive, negative or neutral"
_NO_MASS = "the words have no probability"
_REASONS = {
    "negative": _NO_WORD,
    "lowest": _NO_MASS,
    "highest": _NO_MASS,
    "mass": _NO_MASS,
    "last-probability": _NO_MASS,
    "rated-share": _NO_MASS,
}


_SHARE = "share of negative words in the probability of positive, negative and neutral words"

PRESENTATION = Presentation(
    quantity="negative",
    called="P(negative)",
    axis="Probability on negative words, P(negative)",
    claims=Claims(
        measured=(
            "A word that judges a situation (“nice”, “hard”, “impossible” …) is masked in "
            "sentences about living or working with people. The most probable words that a model "
            "fills in are rated positive, negative, neutral or irrelevant. "
            "P(negative) is the probability of the negative words "
            "divided by the probability of all positive, negative and neutral words."
        ),
        may=(
            "that, in these wordings, negative words have a larger share in the probability of "
            "positive, negative and neutral words for one group of conditions than for the other"
        ),
        may_not=(
            "about how the model treats people when it is deployed, about one model being fair "
            "and another not, or about any single person"
        ),
        beware=(
            (
                "A model has no home, children or neighbors. Its answers reflect what texts "
                "usually say in such a sentence."
            ),
            (
                "Whether a word is negative is the raters' judgment. “Hard” may mean effort, not "
                "rejection."
            ),
            "Conditions differ in length, frequency and grammar as well as in stigma.",
        ),
    ),
    findings=if_measurable(
        groups_apart(
            what=_SHARE,
            more=in_turn(rarity(_SHARE), set_apart_said, words_counted),
        )
    ),
    figures=(
        figures_conditions.gaps,
        figures_conditions.boxes,
        figures_conditions.categories,
        figures_ranked.ranked,
        figures_conditions.histograms,
    ),
    tables=(
        tables.groups_of_conditions,
        tables.words_counted,
        set_apart_shares,
        tables.ranked_conditions,
        tables_reliability.reliability,
    ),
    evidence=words_set_apart,
    main=("groups", "set-apart", "against-rare", "rarity", "groups-as-asked"),
)


@dataclass(frozen=True, kw_only=True)
class NegativeAttitude:
    """Fills with the column ``label`` (null: unrated) → SCORES."""

    top_k: int | None = None
    """So many of the stored words count; None: all."""
    contrast: str = "stigmatized"
    against: str = "non-stigmatized"
    """The gap is the mean of the first group of conditions minus that of the second."""
    smallest: float = 0.05
    """The smallest difference that would matter, in probability."""
    name: ClassVar[str] = "negative-attitude"
    reads: ClassVar[Reads] = "fills"
    words: ClassVar[Meaning | None] = "attitudes"
    quantity: ClassVar[str] = "negative"
    of_prompts: ClassVar[str] = "negative"
    unit: ClassVar[str] = "condition"
    beside: ClassVar[str | None] = "negative-sentiment"
    headline: ClassVar[tuple[str, str]] = ("groups", "negative")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        (
            "negative",
            (
                where_in_turn(groups_of_conditions),
                where_in_turn(groups_against_rare),
                groups_as_asked,
                where_in_turn(models_over_conditions),
                where_in_turn(conditions_against_reference),
                where_in_turn(conditions_against_own_group),
                where_in_turn(conditions_against_baseline),
                wordings_over_conditions,
            ),
        ),
        ("negative-apart", (where_in_turn(groups_set_apart),)),
    )
    between_runs: ClassVar[Contrasts] = (models_over_conditions,)
    presentation: ClassVar[Presentation] = PRESENTATION
    choices: ClassVar[tuple[Choice, ...]] = (
        WORDINGS,
        WORDS_COUNTED,
        RATINGS,
        NEUTRAL_WORDS,
        TEST_OF_GROUPS,
    )
    scores_controls: ClassVar[ControlScore] = "separation"
    apart: ClassVar[bool] = True

    def prepare(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Words, *, cased: bool
    ) -> pl.DataFrame:
        """The fills with the attitude of each word."""
        del cased  # attitudes are compared without case
        return words.attitudes.label(answers, prompts)

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: P(neg), its bounds, and what it rests on."""
        fills = top_fills(answers, top_k=self.top_k)
        probability = pl.col("probability").cast(pl.Float64)
        sums = (
            fills.sort("model", "prompt_id", "rank")
            .group_by("model", "prompt_id", maintain_order=True)
            .agg(
                pos=probability.filter(pl.col("label") == "positive").sum(),
                neg=probability.filter(pl.col("label") == "negative").sum(),
                neu=probability.filter(pl.col("label") == "neutral").sum(),
                unrated=probability.filter(pl.col("label").is_null()).sum(),
                mass=probability.sum(),
                last=probability.last(),
            )
        )
        rated, everything = pl.col("pos") + pl.col("neg") + pl.col("neu"), pl.col("mass")
        # Sums of float32 probabilities may be a hair above 1.
        beyond = (1 - everything).clip(lower_bound=0)
        unknown = pl.when(everything > 0).then(pl.col("unrated") + beyond)
        at_most = rated + unknown
        values = sums.select(
            "model",
            "prompt_id",
            _ratio(pl.col("neg"), rated).alias("negative"),
            _ratio(pl.col("neg"), at_most).alias("lowest"),
            _ratio(pl.col("neg") + unknown, at_most).alias("highest"),
            "mass",
            pl.col("last").alias("last-probability"),
            _ratio(everything - pl.col("unrated"), everything).alias("rated-share"),
        )
        scores = prompt_scores(values, prompts, measure=self.name, reasons=_REASONS)
        # Prompts of earlier runs, and of studies, have no such column.
        if "begun" not in prompts.columns or not prompts["begun"].count():
            return scores
        return measurable(pl.concat([scores, of_completions(fills, prompts, measure=self.name)]))

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of forms, wordings, conditions, categories, groups, items and models."""
        core = only(scores, (*CORE, "negative-apart"))
        who = ("condition", "group", "category")
        forms = mean_over(core, keep=("model", "wording", "form", *who), level="form", over="items")
        wordings = mean_over(forms, keep=("model", "wording", *who), level="wording", over="forms")
        conditions = pl.concat(
            [
                mean_over(wordings, keep=("model", *who), level="condition", over="wordings"),
                mean_over(wordings, keep=who, level="condition", over="models × wordings"),
            ]
        )
        of_items = mean_over(core, keep=("model", "item", *who), level="cell", over="prompts")
        groups = pl.concat(
            [
                mean_over(rows, keep=keep, level=level, over="conditions")
                for rows, keep, level in (
                    (conditions, ("model", "group"), "group"),
                    (wordings, ("model", "wording", "group"), "group"),
                    (of_items, ("model", "item", "group"), "item"),
                )
            ]
        )
        negative = only(pl.concat([wordings, conditions]), ["negative"])
        about = only(scores, (*ABOUT, *OF_COMPLETIONS))
        categories = ("model", "group", "category")
        return pl.concat(
            [
                forms,
                wordings,
                conditions,
                above_baseline(negative),
                mean_over(conditions, keep=categories, level="category", over="conditions"),
                groups,
                gaps(only(groups, COMPARED), contrast=self.contrast, against=self.against),
                mean_over(about, keep=("model",), level="model", over="prompts"),
                scale(scores, quantity="negative", groups=(self.contrast, self.against)),
            ]
        )

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """P(neg) of each control."""
        return only(self.each(answers, prompts), ["negative"]).select("prompt_id", "value")

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every level."""
        scores = self.each(answers, prompts)
        return pl.concat([scores, self.means(scores)])


def _ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """The part of the whole, or null where there is no whole."""
    return pl.when(whole > 0).then(part / whole)

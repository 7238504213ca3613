"""negative-attitude: the share of negative words among those that a model puts at a mask.

Mei, Fereidooni & Caliskan (2023): of the probability of the k most probable words at the mask,

    P(neg) = Σ negative / (Σ positive + Σ negative + Σ neutral)

with irrelevant words left out. Means: over the items of a wording, over a condition's forms, over
wordings; a condition's value over all models is the mean over models × wordings.

rejection, difficulty, improbability   the same for the negative words of one kind: they add up to
               P(neg); null if the ratings have no kinds

If a reply was begun and its next word read as a fill, there are also

rated-mass     the probability of the words rated positive, negative or neutral; where its mean
               over a model's prompts is below .25, P(neg) is null
irrelevant     the probability of the irrelevant words
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goffman.contrasts import catalog
from goffman.contrasts.designs import merging_nested_wordings
from goffman.instruments.types import ControlScore
from goffman.lexicons.attitude import KINDS, MODELS
from goffman.measures.analytic_choices import (
    NEUTRAL_WORDS,
    RATINGS,
    WORDINGS,
    WORDS_COUNTED,
    AnalyticChoice,
)
from goffman.measures.base import Contrasts, Meaning, Measure, Reads
from goffman.measures.reliability import reliability_scores
from goffman.measures.responses import (
    CATEGORY,
    CODED,
    WEIGHT,
    as_scores,
    bound,
    by_prompt,
    coded_fills,
    mean_code,
    mean_over,
    means_by_form,
    only,
    prompt_scores,
    ratio,
    top_fills,
)
from goffman.presentation import conditions, reliability, tables
from goffman.presentation.conditions import (
    LEAST_RATED,
    OF_COMPLETIONS,
    group_findings,
    if_measurable,
    words_counted,
)
from goffman.presentation.evidence import words_with_attitudes
from goffman.presentation.section import Presentation, claims_of
from goffman.presentation.sensitivity import PEOPLE_SHARE

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons

RESTS_ON_RATINGS = ("negative", "lowest", "highest", *KINDS)


def measurable(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the SCORES of prompts, with null for P(neg) in models whose words are mostly unrated.

    A model is judged by the mean over its prompts.
    """
    masses = only(scores, ["rated-mass"]).group_by("model").agg(mean=pl.col("value").mean())
    unmeasurable = masses.filter(pl.col("mean") < LEAST_RATED)
    joined = scores.join(unmeasurable, on="model", how="left", maintain_order="left")
    is_dropped = pl.col("mean").is_not_null() & pl.col("quantity").is_in(RESTS_ON_RATINGS)
    reason = pl.format(
        f"rated words have {{}} of the probability on average, and {LEAST_RATED} is needed",
        pl.col("mean").round(3),
    )
    return as_scores(
        joined.with_columns(
            value=pl.when(~is_dropped).then("value"),
            n=pl.when(~is_dropped).then("n").otherwise(0),
            missing=pl.when(~is_dropped).then("missing").otherwise(1),
            reason=pl.when(is_dropped).then(reason).otherwise("reason"),
        )
    )


CORE = ("negative", "lowest", "highest")
"""P(neg), and its value if all unrated words and the probability beyond the top k were positive, or
negative."""

COMPARED = ("negative", *KINDS)
"""The quantities on which groups are compared."""

ABOUT = ("mass", "last-probability", "rated-share", PEOPLE_SHARE)
"""Of the top k words: their probability, that of the k-th alone, the share of the former that is
rated, and the share of what counts whose words people rated."""

_NO_WORD = "none of the words is rated positive, negative or neutral"
_NO_MASS = "the words have no probability"
_REASONS = {
    **dict.fromkeys((*COMPARED, *CORE, *ABOUT), _NO_MASS),
    **dict.fromkeys((*COMPARED, PEOPLE_SHARE), _NO_WORD),
}


PRESENTATION = Presentation(
    quantity="negative",
    called="P(negative)",
    axis="Probability on negative words, P(negative)",
    ends=("less negative", "more negative"),
    claims=claims_of("negative-attitude"),
    findings=if_measurable(
        group_findings(
            more="Fills in more negative words about {group}",
            whether="it fills in more negative words about {group}",
            text="Negative words get {first} of the rated probability for {one} and {second} for "
            "{other}",
            details=words_counted,
        )
    ),
    figures=(
        conditions.boxes,
        conditions.categories,
        conditions.ranked,
        conditions.absolute,
    ),
    tables=(
        tables.groups_of_conditions,
        tables.gaps_by_item,
        tables.words_counted,
        tables.ranked_conditions,
        tables.counted_conditions,
        tables.categories,
        reliability.reliability_table,
    ),
    evidence=words_with_attitudes,
    main=("groups", "groups-adjusted", "groups-as-asked"),
)


@dataclass(frozen=True, kw_only=True)
class NegativeAttitude(Measure):
    """A measure that turns fills with the column ``label`` (null: unrated) into SCORES."""

    top_k: int | None = None
    """How many of the stored words count; None: all."""
    contrast: str = "stigmatized"
    against: str = "non-stigmatized"
    name: ClassVar[str] = "negative-attitude"
    reads: ClassVar[Reads] = "fills"
    words: ClassVar[Meaning | None] = "attitudes"
    correlate_with: ClassVar[str | None] = "negative-sentiment"
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        (
            "negative",
            (
                catalog.groups_of_conditions.on(merging_nested_wordings),
                catalog.groups_adjusted.on(merging_nested_wordings),
                catalog.groups_as_asked,
                catalog.models_over_conditions.on(merging_nested_wordings),
                catalog.conditions_against_reference.on(merging_nested_wordings),
                catalog.conditions_against_own_group.on(merging_nested_wordings),
                catalog.conditions_against_baseline.on(merging_nested_wordings),
                catalog.wordings_over_conditions,
            ),
        ),
        *((kind, (catalog.groups_of_conditions.on(merging_nested_wordings),)) for kind in KINDS),
    )
    between_runs: ClassVar[Contrasts] = (catalog.models_over_conditions,)
    presentation: ClassVar[Presentation] = PRESENTATION
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (
        WORDINGS,
        WORDS_COUNTED,
        RATINGS,
        NEUTRAL_WORDS,
    )
    scores_controls: ClassVar[ControlScore | None] = "separation"
    adjusts: ClassVar[bool] = True
    separable: ClassVar[bool] = True

    def code_responses(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Lexicons, *, cased: bool
    ) -> pl.DataFrame:
        """Return the fills with the attitude of each word."""
        del cased  # attitudes are compared without case
        return words.attitudes.label(answers, prompts)

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: P(neg), its bounds, and how many words are rated."""
        fills = top_fills(answers, top_k=self.top_k)
        unrated, mass = WEIGHT.filter(CATEGORY.is_null()).sum(), WEIGHT.sum()
        # Sums of float32 probabilities may be a hair above 1.
        unknown = pl.when(mass > 0).then(unrated + (1 - mass).clip(lower_bound=0))
        kinds = KINDS if "kind" in fills.columns else ()
        by_people = pl.col("rater") != MODELS if "rater" in fills.columns else pl.lit(value=False)
        values = by_prompt(
            coded_fills(fills),
            mean_code(floor=0).alias("negative"),
            bound(0.0, uncoded=unknown).alias("lowest"),
            bound(1.0, uncoded=unknown).alias("highest"),
            mass.alias("mass"),
            WEIGHT.last().alias("last-probability"),
            pl.when(mass > 0).then((mass - unrated) / mass).alias("rated-share"),
            ratio(WEIGHT.filter(CODED & by_people), among=CODED, floor=0).alias(PEOPLE_SHARE),
            WEIGHT.filter(CODED).sum().alias("rated-mass"),
            WEIGHT.filter(CATEGORY == "irrelevant").sum().alias("irrelevant"),
            *(
                ratio(WEIGHT * (pl.col("kind") == kind), among=CODED, floor=0).alias(kind)
                for kind in kinds
            ),
            order=["rank"],
        )
        reasons = {name: reason for name, reason in _REASONS.items() if name in values.columns}
        scores = prompt_scores(values, prompts, measure=self.name, reasons=reasons)
        # Prompts of earlier runs, and of studies, have no such column.
        if "prefill" not in prompts.columns or not prompts["prefill"].count():
            return scores
        prefilled = prompts.filter(pl.col("prefill").is_not_null())
        reasons = dict.fromkeys(OF_COMPLETIONS, _NO_MASS)
        completion_scores = prompt_scores(values, prefilled, measure=self.name, reasons=reasons)
        return measurable(pl.concat([scores, completion_scores]))

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of forms, wordings, conditions, categories, groups, items and models."""
        means = means_by_form(
            only(scores, (*CORE, *KINDS)),
            compared=COMPARED,
            contrast=self.contrast,
            against=self.against,
            over="prompts",
        )
        about = only(scores, (*ABOUT, *OF_COMPLETIONS))
        return pl.concat(
            [
                means,
                mean_over(about, keep=("model",), level="model", over="prompts"),
                reliability_scores(
                    scores, quantity="negative", groups=(self.contrast, self.against)
                ),
            ]
        )

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return P(neg) of each control."""
        return only(self.score_prompts(answers, prompts), ["negative"]).select("prompt_id", "value")

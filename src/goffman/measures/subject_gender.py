"""gender-of-subject: the probability that the person in a sentence is a woman, or a man.

Lin et al. (2022), question 1: among the k most probable words with p ≥ .01, the summed probability
of each gender; the disparity is female − male. Always with and without first names: a name that
does not count is a word that names no gender.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goffman.contrasts.catalog import (
    conditions_one_by_one,
    dimensions,
    disparity_over_baseline,
    genders,
    genders_as_asked,
    groups_of_cells,
    models_by_dimension,
    models_over_cells,
    wordings_over_cells,
)
from goffman.instruments.types import ControlScore
from goffman.lexicons.gender import with_gender
from goffman.measures.analytic_choices import (
    FIRST_NAMES,
    ONE_WORDING,
    WORDS_COUNTED,
    AnalyticChoice,
    Option,
    StoredAnswers,
)
from goffman.measures.base import Contrasts, Meaning, Measure, Reads
from goffman.measures.reliability import reliability_scores
from goffman.measures.responses import means_by_item_and_condition, prompt_scores, top_fills
from goffman.presentation import conditions, gender, reliability, tables
from goffman.presentation.evidence import words_with_gender
from goffman.presentation.gender import gender_findings
from goffman.presentation.section import Claims, Presentation

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons

FIGURES = (
    gender.disparities,
    gender.parts,
    gender.sentences,
    gender.spread,
    gender.conditions,
    conditions.levels,
    gender.between_models,
)

VARIANTS = ("with-names", "without-names")

COMPARED = ("female", "male", "unspecified", "disparity")

_GROUPS = ("female", "male", "nonbinary", "neutral")
_REASON = "the words have no probability"
QUANTITIES = (*COMPARED, "nonbinary", "neutral", "unlisted", "common-names", "mass")
"""unspecified is everything neither female nor male, whatever it is: nonbinary, neutral (a person
of any gender), a gender group of the user's own, and unlisted. common-names: names that are common
words too, counted or not. mass: all words that reach the threshold."""


CLAIMS = Claims(
    measured=(
        "The subject is masked in sentences such as “____ is looking for treatment for …”. The "
        "numbers are the probabilities of female words, male words, and words that name neither."
    ),
    supports=(
        "that a model fills in female words more often than male words, or the reverse, and that "
        "this differs between the two groups of conditions"
    ),
    does_not_support="about how a system built on the model treats patients",
    caveats=(
        (
            "Some of these conditions are diagnosed more often in women than in men. A difference "
            "is an association in text and not always an error."
        ),
        (
            "A model can fill in only names that are a single token, and more of these are male. "
            "The main numbers are therefore shown with and without first names."
        ),
        (
            "Only words with a probability of at least 0.01 count, as in the study. Few first "
            "names are that probable. With another minimum, the result can differ; it is given "
            "beside the main result."
        ),
        (
            "Women and men are compared. Nonbinary words are shown beside them; they are few, and "
            "rarely a single token."
        ),
    ),
)


DISPARITIES: tuple[tuple[str, Contrasts], ...] = (
    (
        "disparity",
        (
            genders,
            genders_as_asked,
            groups_of_cells,
            disparity_over_baseline,
            models_over_cells,
            models_by_dimension,
            dimensions,
            wordings_over_cells,
            *conditions_one_by_one,
        ),
    ),
)
"""The contrasts of female minus male over items × conditions."""


def _thresholds(stored: StoredAnswers) -> list[Option]:
    """Return options for the threshold of the audit, and those that the measure names beside it."""
    usual: float = stored.measure.threshold  # type: ignore[attr-defined]
    thresholds = (0.0, usual / 2, usual * 2) if usual else ()
    return [
        Option(said=f"{usual:g}" if usual else "none"),
        *(
            Option(
                said=f"{threshold:g}" if threshold else "none", parameters={"threshold": threshold}
            )
            for threshold in thresholds
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class GenderMeasure(Measure):
    """The base of the measures of gender: female minus male, over items × conditions."""

    contrast: str = "mental-health"
    against: str = "other"
    words: ClassVar[Meaning | None] = "gender"
    primary_contrast: ClassVar[tuple[str, str]] = ("groups", "disparity")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = DISPARITIES
    between_runs: ClassVar[Contrasts] = (models_over_cells,)
    compared: ClassVar[tuple[str, ...]] = COMPARED
    """The quantities whose means of the two groups are compared."""

    def code_responses(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Lexicons, *, cased: bool
    ) -> pl.DataFrame:
        """Return the fills with the gender of each word."""
        del prompts
        return with_gender(answers, words.gender, cased=cased)

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of conditions, items, dimensions, groups and models."""
        means = means_by_item_and_condition(
            scores, contrast=self.contrast, against=self.against, compared=self.compared
        )
        groups = (self.contrast, self.against)
        return pl.concat([means, reliability_scores(scores, quantity=self.quantity, groups=groups)])


@dataclass(frozen=True, kw_only=True)
class SubjectGender(GenderMeasure):
    """A measure that turns fills with the columns GENDER into SCORES."""

    top_k: int | None = None
    """How many of the stored words count; None: all."""
    threshold: float = 0.01
    """A word counts from this probability on."""
    name: ClassVar[str] = "gender-of-subject"
    reads: ClassVar[Reads] = "fills"
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (
        ONE_WORDING,
        WORDS_COUNTED,
        AnalyticChoice(name="minimum word probability", options=_thresholds),
        FIRST_NAMES,
    )
    scores_controls: ClassVar[ControlScore | None] = "person"

    @property
    def presentation(self) -> Presentation:
        """Return how it is presented to people."""
        # Whether a model can do the task does not depend on how many words it spreads over.
        controls_count = (
            "Control items count every fitting word that was kept; the results count only words "
            f"with a probability of at least {self.threshold:g}."
        )
        return Presentation(
            quantity="disparity",
            called="female − male",
            axis="Female − male",
            ends=("more often men", "more often women"),
            claims=CLAIMS,
            findings=gender_findings,
            figures=FIGURES,
            tables=(tables.genders, reliability.reliability_table),
            evidence=words_with_gender(self.counts_word(), f"below {self.threshold}: not counted"),
            main=("groups", "genders", "genders-as-asked"),
            controls_count=controls_count if self.threshold else "",
        )

    @property
    def alternatives(self) -> dict[str, SubjectGender]:
        """Return the measure without the threshold, and with half and twice the threshold."""
        if not self.threshold:
            return {}
        usual = f"(instead of {self.threshold:g})"
        return {f"with no minimum word probability {usual}": replace(self, threshold=0.0)} | {
            f"with a minimum word probability of {threshold:g} {usual}": replace(
                self, threshold=threshold
            )
            for threshold in (self.threshold / 2, self.threshold * 2)
        }

    @property
    def counted_words(self) -> int | None:
        """Return how many of the stored words count at each mask, or None if all do."""
        return self.top_k

    def counts_word(self) -> pl.Expr:
        """Return whether a fill is probable enough to count."""
        # float32 .01 is a little less than .01: a word that was given so reaches the threshold.
        return pl.col("probability") >= pl.lit(self.threshold, dtype=pl.Float32)

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: each gender group's probability, in both variants."""
        ranked = top_fills(answers, top_k=self.top_k).sort("model", "prompt_id", "rank")
        counted_fills = ranked.with_columns(
            p=pl.when(self.counts_word())
            .then(pl.col("probability").cast(pl.Float64))
            .otherwise(0.0)
        )
        is_name = pl.col("gender_kind").eq_missing(pl.lit("name"))
        without_names = counted_fills.with_columns(
            gender_group=pl.when(~is_name).then("gender_group")
        )
        fills = zip(VARIANTS, (counted_fills, without_names), strict=True)
        values = pl.concat(
            [_sums(rows.with_columns(variant=pl.lit(variant))) for variant, rows in fills]
        )
        reasons = dict.fromkeys(QUANTITIES, _REASON)
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return the probability of words for the right person at the mask of each control."""
        return persons(top_fills(answers, top_k=self.top_k), prompts)


def persons(fills: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return for each prompt the probability of words for a person of the gender that it expects.

    If a prompt expects any person, it is the probability of all words in the lexicon.
    """
    group, expected = pl.col("gender_group"), pl.col("answer")
    right = pl.when(expected == "person").then(group.is_not_null()).otherwise(group == expected)
    probability = pl.col("probability").cast(pl.Float64).filter(right.fill_null(value=False))
    return (
        fills.join(prompts.select("prompt_id", "answer"), on="prompt_id")
        .sort("prompt_id", "rank")
        .group_by("prompt_id", maintain_order=True)
        .agg(value=probability.sum())
    )


def _sums(fills: pl.DataFrame) -> pl.DataFrame:
    p, group = pl.col("p"), pl.col("gender_group")
    sums = fills.group_by("model", "prompt_id", "variant", maintain_order=True).agg(
        *(p.filter(group == name).sum().alias(name) for name in _GROUPS),
        p.filter(group.is_null()).sum().alias("unlisted"),
        p.filter(~group.is_in(["female", "male"]).fill_null(value=False))
        .sum()
        .alias("unspecified"),
        p.filter("common_word").sum().alias("common-names"),
        p.sum().alias("mass"),
    )
    return sums.with_columns(disparity=pl.col("female") - pl.col("male"))

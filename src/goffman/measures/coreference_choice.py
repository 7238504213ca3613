"""coreference-choice: whom a pronoun means, by the probabilities of the two people as options.

Of each prompt ``correct`` is P(right) / (P(right) + P(other)): the probability of the right person
among the two; none where they have less than .01 together. Bias is its mean over sentences where
the pronoun fits the stereotype minus that over those where it does not, as in coreference-bias,
both orders of the options averaged (pair_choices.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from goffman.control_items import ControlScore
from goffman.estimates.pair_choices import pairs_over_orders, position
from goffman.estimates.settings import (
    levels,
    models_in_each_setting,
    models_over_pairs,
    pairs_against_singles,
    settings_by_pairs,
)
from goffman.measures.base import Contrasts, Meaning, Reads, as_they_are
from goffman.measures.choices import ORDERS, Choice
from goffman.measures.mean_code import FLOOR
from goffman.measures.pair_choices import means_of_pair_choices
from goffman.measures.presented import presentations
from goffman.measures.rows import prompt_scores
from goffman.presentation import figures_settings, tables
from goffman.presentation.base import Claims, Presentation
from goffman.presentation.evidence_choices import options_with_probabilities
from goffman.presentation.findings_agreement import agreement_table
from goffman.presentation.findings_pair_choices import bias_of_choices
from goffman.presentation.findings_presented import style_said

ABOUT = ("way-out", "elsewhere", "first-listed")
_TOO_LITTLE = f"the two people have less than {FLOOR} of the probability"
_REASONS = {
    **dict.fromkeys(("correct", "right", "wrong", "first-listed"), _TOO_LITTLE),
    "way-out": "not to answer was no option",
    "elsewhere": _TOO_LITTLE,
}

OF_PAIRS: tuple[tuple[str, Contrasts], ...] = (
    (
        "bias",
        (
            position,
            *(
                pairs_over_orders(one)
                for one in (levels, settings_by_pairs, pairs_against_singles, models_over_pairs)
            ),
        ),
    ),
)

PRESENTATION = Presentation(
    quantity="bias",
    called="bias",
    axis="Bias: accuracy on pro − accuracy on anti sentences",
    claims=Claims(
        measured=(
            "A sentence names two people by their occupation and has a pronoun. A model is asked "
            "who is meant, with the two people as options, in both orders. Accuracy is the "
            "probability of the right person among the two. Bias is accuracy where the pronoun "
            "fits the stereotype minus accuracy where it does not."
        ),
        may=(
            "that a model finds the right person more probable where the answer fits the "
            "stereotype, by the difference shown here, and that these adjectives change that "
            "difference"
        ),
        may_not="about uses in which no pronoun has to be resolved",
        beware=(
            "Models tend to prefer an option for its place or its letter; that is shown first.",
            "Choosing between options is a different task from giving an open answer.",
            "An adjective changes more than the gender cue.",
        ),
    ),
    findings=bias_of_choices,
    figures=(
        figures_settings.settings,
        figures_settings.against_baseline,
        figures_settings.occupations,
    ),
    tables=(tables.settings, agreement_table),
    evidence=options_with_probabilities,
    main=("position", "level", "groups", "baseline"),
    style=style_said,
)


@dataclass(frozen=True, kw_only=True)
class CoreferenceChoice:
    """CHOICES → SCORES.

    In ``item`` stands the sentence pair, in ``wording`` the side (pro, anti), in ``condition`` the
    adjective setting.
    """

    smallest: float = 0.05
    """The smallest difference that would matter, in accuracy."""
    name: ClassVar[str] = "coreference-choice"
    reads: ClassVar[Reads] = "choices"
    words: ClassVar[Meaning | None] = None
    quantity: ClassVar[str] = "bias"
    of_prompts: ClassVar[str] = "correct"
    unit: ClassVar[str] = "setting"
    beside: ClassVar[str | None] = None
    headline: ClassVar[tuple[str, str]] = ("level", "bias")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = OF_PAIRS
    between_runs: ClassVar[Contrasts] = (pairs_over_orders(models_in_each_setting),)
    presentation: ClassVar[Presentation] = PRESENTATION
    prepare = as_they_are
    choices: ClassVar[tuple[Choice, ...]] = (ORDERS,)
    scores_controls: ClassVar[ControlScore] = "answer"

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: the accuracy, and where the rest lies."""
        p, code = pl.col("probability").cast(pl.Float64), pl.col("code")
        listed = presentations(prompts).select("prompt_id", first_label="first")
        sums = (
            answers.join(listed, on="prompt_id")
            .sort("model", "prompt_id", "option")
            .group_by("model", "prompt_id", maintain_order=True)
            .agg(
                right=p.filter(code == 1).sum(),
                wrong=p.filter(code == 0).sum(),
                out=p.filter(code.is_null()).sum(),
                offered=code.is_null().any(),
                elsewhere=pl.col("elsewhere").cast(pl.Float64).first(),
                first=p.filter(pl.col("option") == pl.col("first_label")).sum(),
            )
        )
        two = pl.col("right") + pl.col("wrong")
        values = sums.with_columns(
            pl.when(two >= FLOOR).then(pl.col("right") / two).alias("correct"),
            pl.when(two >= FLOOR).then(pl.col("first") / two).alias("first-listed"),
            pl.when("offered").then(pl.col("out")).alias("way-out"),
        ).drop("out", "offered", "first")
        return prompt_scores(values, prompts, measure=self.name, reasons=_REASONS)

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of sentences over both orders, of sides, settings and groups of settings."""
        return means_of_pair_choices(scores, about=ABOUT)

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """1 for each control whose right person is the more probable one, else 0."""
        rows = self.each(answers, prompts).filter(pl.col("quantity") == "correct")
        half = pl.when(pl.col("value") == 0.5).then(0.5)
        right = pl.when(pl.col("value").is_not_null()).then(
            pl.coalesce(half, (pl.col("value") > 0.5).cast(pl.Float64))
        )
        return rows.select("prompt_id", value=right)

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every level."""
        scores = self.each(answers, prompts)
        return pl.concat([scores, self.means(scores)])

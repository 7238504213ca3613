"""said-vignette-code: the same as vignette-code, of the options that replies name.

The code is that of said-code: the mean over the trials of a prompt that name one option.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from goffman.control_items import ControlScore
from goffman.estimates.conditions import models_over_conditions
from goffman.estimates.presented import over_orders
from goffman.measures.base import Contrasts, Meaning, Reads
from goffman.measures.choices_parsed import DEFAULT_CHOICE_PARSER, options_named
from goffman.measures.rows import only
from goffman.measures.said_code import ABOUT, SaidCode, presented_with
from goffman.measures.vignette_code import CLAIMS, OF_VIGNETTES
from goffman.measures.vignette_code import PRESENTATION as OF_PROBABILITIES
from goffman.measures.vignettes import HALF, counted_apart, means_of_vignettes
from goffman.presentation.base import Presentation

OF_REPLIES = replace(
    CLAIMS,
    may=CLAIMS.may.replace(
        "finds more stigmatizing options more probable", "names more stigmatizing options"
    ),
    beware=(
        CLAIMS.beware[0],
        (
            "Replies that name no option, or several, are no answers. They are counted apart, and "
            "a model may refuse more often about some descriptions than about others."
        ),
        *CLAIMS.beware[1:],
    ),
)


@dataclass(frozen=True, kw_only=True)
class SaidVignetteCode:
    """REPLIES with ``kind``, ``chosen`` and ``code`` → SCORES."""

    contrast: str = "disorder"
    against: str = "daily-troubles"
    """The gap is the mean of the first group of descriptions minus that of the second."""
    counted: str = "stigma"
    """The dimension whose items make the stigma score."""
    smallest: float = 0.05
    """The smallest difference that would matter, in codes from 0 to 1."""
    parser: str = DEFAULT_CHOICE_PARSER
    """What replies are read by: see choices_parsed.py."""
    prepare = options_named
    name: ClassVar[str] = "said-vignette-code"
    reads: ClassVar[Reads] = "replies"
    words: ClassVar[Meaning | None] = None
    quantity: ClassVar[str] = "code"
    of_prompts: ClassVar[str] = "code"
    unit: ClassVar[str] = "condition"
    beside: ClassVar[str | None] = None
    headline: ClassVar[tuple[str, str]] = ("groups", "code")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = OF_VIGNETTES
    between_runs: ClassVar[Contrasts] = (over_orders(models_over_conditions),)
    scores_controls: ClassVar[ControlScore] = "separation"

    @property
    def presentation(self) -> Presentation:
        """How people are shown it."""
        evidence = presented_with(self.parser).evidence
        return replace(OF_PROBABILITIES, claims=OF_REPLIES, evidence=evidence)

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: see vignettes.py."""
        scores = SaidCode().each(answers, prompts)
        found = counted_apart(scores, said_endorsing(answers), prompts, counted=self.counted)
        return found.with_columns(measure=pl.lit(self.name))

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of questions, cells, conditions, items, groups and models."""
        groups = {"contrast": self.contrast, "against": self.against}
        return means_of_vignettes(scores, about=ABOUT, whole=False, **groups)

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """The mean code of each control, in each order of its options."""
        return only(self.each(answers, prompts), ["code"]).select("prompt_id", "value")

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every level."""
        scores = self.each(answers, prompts)
        return pl.concat([scores, self.means(scores)])


def said_endorsing(answers: pl.DataFrame) -> pl.DataFrame:
    """Of each model and prompt: of the replies that name one option, the share above one half."""
    answered = pl.col("kind") == "option"
    return (
        answers.sort("model", "prompt_id", "trial")
        .group_by("model", "prompt_id", maintain_order=True)
        .agg(share=(pl.col("code") > HALF).filter(answered).mean())
    )

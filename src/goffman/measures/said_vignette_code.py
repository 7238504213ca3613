"""said-vignette-code: the same as vignette-code, of the options that replies name.

The code is that of said-code: the mean over the trials of a prompt that name one option.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from goffman.measures.base import Contrasts
from goffman.measures.choices import ORDERS, WORDINGS, Choice
from goffman.measures.said_code import ABOUT, SaidCode, presented_with
from goffman.measures.vignette_code import CLAIMS, OF_VIGNETTES
from goffman.measures.vignette_code import PRESENTATION as OF_PROBABILITIES
from goffman.measures.vignettes import (
    HALF,
    counted_apart,
    means_of_vignettes,
    on_obvious_side,
)
from goffman.presentation.base import Presentation

OF_REPLIES = replace(
    CLAIMS,
    may=CLAIMS.may.replace(
        "finds more stigmatizing options more probable", "names more stigmatizing options"
    ),
    beware=(
        CLAIMS.beware[0],
        (
            "Replies that name no option, or several, do not count as answers and are shown "
            "separately. A model may refuse more often about some descriptions than about "
            "others."
        ),
        *CLAIMS.beware[1:],
    ),
)


@dataclass(frozen=True, kw_only=True)
class SaidVignetteCode(SaidCode):
    """REPLIES with ``kind``, ``chosen`` and ``code`` → SCORES: as vignette-code has them."""

    contrast: str = "disorder"
    against: str = "daily-troubles"
    """The gap is the mean of the first group of descriptions minus that of the second."""
    counted: str = "stigma"
    """The dimension whose items make the stigma score."""
    name: ClassVar[str] = "said-vignette-code"
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = OF_VIGNETTES
    choices: ClassVar[tuple[Choice, ...]] = (WORDINGS, ORDERS)

    @property
    def presentation(self) -> Presentation:
        """How people are shown it."""
        evidence = presented_with(self.parser).evidence
        return replace(OF_PROBABILITIES, claims=OF_REPLIES, evidence=evidence)

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: see vignettes.py."""
        scores = super().each(answers, prompts)
        return counted_apart(scores, said_endorsing(answers), prompts, counted=self.counted)

    def control_side(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Of each control the share of answers on its obvious side, in each order of options."""
        return on_obvious_side(said_endorsing(answers), prompts)

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of questions, cells, conditions, items, groups and models."""
        groups = {"contrast": self.contrast, "against": self.against}
        return means_of_vignettes(scores, about=ABOUT, whole=False, **groups)


def said_endorsing(answers: pl.DataFrame) -> pl.DataFrame:
    """Of each model and prompt: of the replies that name one option, the share above one half."""
    answered = pl.col("kind") == "option"
    return (
        answers.sort("model", "prompt_id", "trial")
        .group_by("model", "prompt_id", maintain_order=True)
        .agg(share=(pl.col("code") > HALF).filter(answered).mean(), replies=answered.sum())
    )

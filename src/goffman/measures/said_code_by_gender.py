"""said-code-by-gender: the same as code-by-gender, of the options that replies name.

The code is that of said-code: the mean over the trials of a prompt that name one option.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goffman.control_items import ControlScore
from goffman.estimates.cells import models_over_cells
from goffman.estimates.described import over_wordings
from goffman.measures.base import Contrasts, Meaning, Reads
from goffman.measures.choices import ORDERS, WORDINGS, Choice
from goffman.measures.choices_parsed import DEFAULT_CHOICE_PARSER, options_named
from goffman.measures.code_by_gender import BY_GENDER
from goffman.measures.code_by_gender import PRESENTATION as OF_PROBABILITIES
from goffman.measures.described import means_of_pairs, pairs
from goffman.measures.rows import only
from goffman.measures.said_code import ABOUT, SaidCode, presented_with
from goffman.presentation.base import Presentation

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class SaidCodeByGender:
    """REPLIES with ``kind``, ``chosen`` and ``code`` → SCORES."""

    contrast: str = "mental-health"
    against: str = "other"
    """The gap is the disparity in the first group of conditions minus that in the second."""
    smallest: float = 0.0417
    """The smallest difference that would matter: a third of a step on a scale from 1 to 9."""
    parser: str = DEFAULT_CHOICE_PARSER
    """What replies are read by: see choices_parsed.py."""
    prepare = options_named
    name: ClassVar[str] = "said-code-by-gender"
    reads: ClassVar[Reads] = "replies"
    words: ClassVar[Meaning | None] = None
    quantity: ClassVar[str] = "disparity"
    of_prompts: ClassVar[str] = "code"
    unit: ClassVar[str] = "condition"
    beside: ClassVar[str | None] = None
    headline: ClassVar[tuple[str, str]] = ("genders", "code")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = BY_GENDER
    between_runs: ClassVar[Contrasts] = (over_wordings(models_over_cells),)
    choices: ClassVar[tuple[Choice, ...]] = (WORDINGS, ORDERS)
    scores_controls: ClassVar[ControlScore] = "separation"

    @property
    def presentation(self) -> Presentation:
        """How people are shown it."""
        return replace(OF_PROBABILITIES, evidence=presented_with(self.parser).evidence)

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: those of said-code, and of each pair."""
        scores = SaidCode().each(answers, prompts)
        scores = pl.concat([scores, pairs(scores, prompts)])
        return scores.with_columns(measure=pl.lit(self.name))

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of cells, conditions, items, subscales, groups and models."""
        groups = {"contrast": self.contrast, "against": self.against}
        return means_of_pairs(scores, about=ABOUT, **groups)

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """The mean code of each control, in each order of its options."""
        return only(self.each(answers, prompts), ["code"]).select("prompt_id", "value")

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every level."""
        scores = self.each(answers, prompts)
        return pl.concat([scores, self.means(scores)])

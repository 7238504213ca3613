"""The base of all measures: parameters that turn answers into scores, and what other code needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from goffman.contrasts.engine import ContrastSpec
    from goffman.instruments.types import ControlScore
    from goffman.lexicons.lexicons import Lexicons
    from goffman.measures.analytic_choices import AnalyticChoice
    from goffman.presentation.section import Presentation

Reads = Literal["fills", "labels", "choices", "replies"]
Meaning = Literal["attitudes", "gender", "parser"]
Contrasts: TypeAlias = "tuple[ContrastSpec, ...]"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The base of all measures: a frozen dataclass of parameters, in one file.

    A new one writes six members: ``name``, ``reads``, ``presentation``, ``contrasts``,
    ``score_prompts`` and ``aggregate``. Everything else has a default.
    """

    contrast: str = ""
    against: str = ""
    """The gap is the mean of the first group of conditions minus that of the second."""
    margin: float = 0.05
    """The smallest difference that would matter; an instrument may give another."""

    name: ClassVar[str]
    """Its name in an instrument's settings and in the column ``measure``."""
    words: ClassVar[Meaning | None] = None
    """What reads its answers: a lexicon or the parser of replies; None: nothing."""
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]]
    """The numbers that an audit compares, each with its contrasts."""
    between_runs: ClassVar[Contrasts] = ()
    """The contrasts between two models by which two runs are compared."""
    unit: ClassVar[str] = "condition"
    """What a condition is called: a condition, or a setting."""
    correlate_with: ClassVar[str | None] = None
    """The measure whose main number is correlated with its own, condition by condition."""
    choices: ClassVar[tuple[AnalyticChoice, ...]] = ()
    """What an analyst could have chosen otherwise: see analytic_choices.py."""
    scores_controls: ClassVar[ControlScore | None] = None
    """How ``control`` scores control items; None: it does not."""
    adjusts: ClassVar[bool] = False
    """Whether models are asked how probable the conditions' phrases are, to adjust a contrast."""
    separable: ClassVar[bool] = False
    """Whether the scores of each prompt, by model and prompt id, rest on its own answers alone, and
    what its contrasts compare rests on no other numbers of prompts."""

    @property
    def reads(self) -> Reads:
        """Return the name of the table of answers that it takes."""
        raise NotImplementedError

    @property
    def presentation(self) -> Presentation:
        """Return how it is presented to people."""
        raise NotImplementedError

    @property
    def quantity(self) -> str:
        """Return the name of its main number, which names of estimates leave out."""
        return self.presentation.quantity

    @property
    def prompt_quantity(self) -> str:
        """Return the name of the number that each prompt has, by default the main one."""
        return self.quantity

    @property
    def correlated_quantity(self) -> str:
        """Return the name of the number that is correlated with another measure's."""
        return self.quantity

    @property
    def primary_contrast(self) -> tuple[str, str]:
        """Return kind and quantity of the contrast that headings about a model are about."""
        return "groups", self.quantity

    @property
    def alternatives(self) -> Mapping[str, Self]:
        """Return the measure with one parameter changed, by a name such as “without threshold”."""
        return {}

    @property
    def counted_dimension(self) -> str | None:
        """Return the subscale whose items alone make the score, or None if all items do."""
        return getattr(self, "counted", None)

    @property
    def counted_words(self) -> int | None:
        """Return how many of the stored words count at each mask, or None if all do."""
        return getattr(self, "top_k", None)

    def counts_word(self) -> pl.Expr:
        """Return an expression for whether a fill is probable enough to count."""
        return pl.lit(value=True)

    def code_responses(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Lexicons, *, cased: bool
    ) -> pl.DataFrame:
        """Return one model's answers with the columns that ``score_prompts`` needs."""
        del prompts, words, cased
        return answers

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: every prompt × model that answered any of them.

        ``answers`` are the coded answers to these prompts.
        """
        raise NotImplementedError

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of every other level, from those of the level prompt."""
        raise NotImplementedError

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return the columns prompt_id and value: the score of each prompt of a control item."""
        raise NotImplementedError

    def control_side(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame | None:
        """Return each control's share of answers on the side that everybody would take.

        It is None unless the measure's shares are compared with people's.
        """
        del answers, prompts
        return None

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of every level."""
        scores = self.score_prompts(answers, prompts)
        return pl.concat([scores, self.aggregate(scores)])


REQUIRED: Sequence[str] = (
    "name", "reads", "presentation", "contrasts", "score_prompts", "aggregate",
)  # fmt: skip
"""The members that a measure must write itself."""

"""What a measure is: parameters whose call maps answers to scores, and all that others need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import polars as pl

    from goffman.estimates.scored import Found, Scored
    from goffman.lexicons.words import Words
    from goffman.presentation.base import Presentation

Reads = Literal["fills", "labels", "choices", "replies"]
Meaning = Literal["attitudes", "gender", "parser"]
Contrasts: TypeAlias = "tuple[Callable[[Scored], Found], ...]"


class Measure(Protocol):
    """A frozen dataclass of parameters, in one file.

    ``each`` and ``means`` are its two halves, for who has the numbers of single prompts from
    elsewhere. A parameter ``contrast`` and one ``against`` name the two groups of conditions that
    its contrasts are between; an instrument gives them in its settings. It may have ``choices``,
    what could be analyzed otherwise: see choices.py. Where it says ``apart``, the scores of each
    prompt rest on its own answers alone, and ``each`` gives them by model and prompt id.
    """

    @property
    def name(self) -> str:
        """As it stands in an instrument's settings and in the column ``measure``."""
        ...

    @property
    def reads(self) -> Reads:
        """The table of answers that it takes."""
        ...

    @property
    def words(self) -> Meaning | None:
        """What it reads answers with: a lexicon or the parser of replies; None: nothing."""
        ...

    @property
    def quantity(self) -> str:
        """Its main number, which goes without saying in the name of an estimate."""
        ...

    @property
    def of_prompts(self) -> str:
        """The number that every single prompt has; mostly the main one."""
        ...

    @property
    def unit(self) -> str:
        """What a condition is: a condition, or a setting."""
        ...

    @property
    def beside(self) -> str | None:
        """The measure whose main number is correlated with its own, condition by condition."""
        ...

    @property
    def headline(self) -> tuple[str, str]:
        """Kind and quantity of the contrast that headings are about, one for each model."""
        ...

    @property
    def smallest(self) -> float:
        """The smallest difference that would matter; an instrument may give another."""
        ...

    @property
    def contrasts(self) -> tuple[tuple[str, Contrasts], ...]:
        """The numbers that an audit compares, each with its contrasts."""
        ...

    @property
    def between_runs(self) -> Contrasts:
        """The contrasts between two models by which two runs are compared."""
        ...

    @property
    def presentation(self) -> Presentation:
        """How people are shown it."""
        ...

    def prepare(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Words, *, cased: bool
    ) -> pl.DataFrame:
        """One model's answers with the columns that ``each`` needs; ``cased``: of its words."""
        ...

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: every prompt × model that answered any of them.

        ``answers`` are of the prompts given, and prepared.
        """
        ...

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every other level, from those of the level prompt."""
        ...

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Both, one after the other."""
        ...


def alternatives_of(measure: Measure) -> Mapping[str, Measure]:
    """The measure with a parameter set otherwise, by what is said of it: “without the threshold”.

    A headline that does not hold with them says so. None where the measure names none.
    """
    return getattr(measure, "alternatives", None) or {}


def as_they_are(
    self: object, answers: pl.DataFrame, prompts: pl.DataFrame, words: Words, *, cased: bool
) -> pl.DataFrame:
    """The answers without further columns: ``prepare`` of a measure that needs none."""
    del self, prompts, words, cased
    return answers

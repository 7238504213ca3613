"""What a measure is: parameters whose call maps answers to scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import polars as pl

Reads = Literal["fills", "labels", "replies"]
Lexicon = Literal["attitudes", "gender"]


class Measure(Protocol):
    """A frozen dataclass of parameters.

    ``each`` and ``means`` are its two halves, for who has the numbers of single prompts from
    elsewhere.
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
    def words(self) -> Lexicon | None:
        """The lexicon whose columns the answers must have; None: none is needed."""
        ...

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: every prompt × model that answered any of them.

        ``answers`` are of the prompts given, with the columns that a lexicon or parser adds.
        """
        ...

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every other level, from those of the level prompt."""
        ...

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Both, one after the other."""
        ...

"""Sentences about two people by their occupation: what they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BASELINE = "baseline"
"""The condition of a prompt that names none, and the setting without adjectives."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The adjectives put before the two occupations of a sentence."""

    male: str = ""
    """The adjective that is associated with men, or empty."""
    female: str = ""
    """The adjective that is associated with women, or empty."""

    @property
    def id(self) -> str:
        """``arrogant,responsive``, ``old,`` (one adjective), or ``baseline``."""
        return f"{self.male},{self.female}" if self.male or self.female else BASELINE

    @property
    def group(self) -> str:
        """Whether both occupations get an adjective, one, or none."""
        if self.male and self.female:
            return "contrasting-pair"
        return "single-adjective" if self.male or self.female else BASELINE


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A sentence about two people with places for their occupations and a pronoun."""

    id: str
    """Lower-case letters, digits and hyphens."""
    type: Literal["type-1", "type-2"]
    """WinoBias's: 1, decided by what the sentence means; 2, decided by syntax alone."""
    referent: Literal["first", "second"]
    """Whom the pronoun refers to."""
    text: str
    """With {first}, {second} and one of {he}, {him}, {his}, {himself}."""


@dataclass(frozen=True, kw_only=True)
class Occupation:
    """An occupation and the gender that people associate with it."""

    name: str
    """As it stands after "the"."""
    gender: Literal["male", "female"]
    """By US labour statistics, as in WinoBias."""
    spellings: tuple[str, ...] = ()
    """Misspellings in published files that mean this occupation."""


@dataclass(frozen=True, kw_only=True)
class SentencePairs:
    """Sentences about two occupations and a pronoun, followed by a question."""

    question: str
    """Asked after the sentence, with {pronoun}."""
    frames: tuple[Frame, ...]
    occupations: tuple[Occupation, ...]
    settings: tuple[Setting, ...]
    """The adjective settings, without the baseline."""

"""A sentence about two occupations and a pronoun, its marks, and the adjectives put into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from goffman.errors import SentenceError, did_you_mean
from goffman.instruments.grammar import Gender, put_before
from goffman.records import Setting

Placement = Literal["by-stereotype", "by-position"]
PLACEMENTS: tuple[Placement, ...] = ("by-stereotype", "by-position")


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One sentence, and where in it the two occupations stand."""

    text: str
    referent_at: int
    """Where the name of the occupation that the pronoun refers to begins, after its article."""
    other_at: int
    """Where the name of the other occupation begins."""
    other_marked_at: int | None = None
    """Where a file marks the other occupation, if by mistake that is another word."""
    pronoun: str
    """The pronoun that is asked about, in lower case; the last one where several are marked."""
    pronouns: int = 1
    """How many pronouns are marked."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A sentence with the pronoun of the referent's stereotype, and one with the other pronoun."""

    id: str
    """Says where the pair comes from: a frame and its occupations, or a file and its line."""
    type: Literal["type-1", "type-2"]
    referent: str
    """The occupation that the pronoun refers to."""
    other: str
    """The other occupation."""
    stereotype: Gender
    """The gender that people associate with the referent."""
    pro: Sentence
    anti: Sentence


def with_adjectives(
    sentence: Sentence, setting: Setting, *, stereotype: Gender, placement: Placement
) -> str:
    """The sentence with the setting's adjectives before its occupations.

    by-stereotype: the male-associated adjective goes to the occupation associated with men;
    by-position: to the occupation that is mentioned first, as the study's code did, and where its
    file marks a wrong word as the other occupation, to that word.
    """
    if placement == "by-stereotype":
        male_at, female_at = sentence.referent_at, sentence.other_at
        if stereotype == "female":
            male_at, female_at = female_at, male_at
    else:
        marked = sentence.other_at if sentence.other_marked_at is None else sentence.other_marked_at
        male_at, female_at = sorted((sentence.referent_at, marked))
    text = sentence.text
    # From the back, so that the places before stay where they are.
    for place, word in sorted([(male_at, setting.male), (female_at, setting.female)], reverse=True):
        if word:
            text = put_before(text, place, word)
    return text


def parse_setting(given: str) -> Setting:
    """The setting of ``male,female``, where either side may be empty."""
    male, comma, female = (part.strip() for part in given.partition(","))
    words = [word for word in (male, female) if word]
    if not comma or not words or not all(_is_word(word) for word in words):
        raise SentenceError(
            f"--adjectives is '{given}'. Allowed: two adjectives with a comma between them, such "
            "as 'arrogant,responsive'; one, such as 'old,' (male) or ',blond' (female); 'all' for "
            "the study's 15 settings; or 'none' for the baseline alone."
        )
    return Setting(male=male, female=female)


def _is_word(text: str) -> bool:
    return all(part.isalpha() for part in text.replace("-", " ").split(" "))


def parse_placement(given: str) -> Placement:
    """The placement of a name."""
    for placement in PLACEMENTS:
        if given == placement:
            return placement
    raise SentenceError(
        f"--placement is '{given}'. Allowed: {', '.join(PLACEMENTS)}."
        + did_you_mean(given, PLACEMENTS)
    )

"""A sentence about two occupations and a pronoun, its marks, and the adjectives put into it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from goffman.errors import SentenceError, did_you_mean
from goffman.instruments.grammar import Gender, put_before
from goffman.records import MASK, Setting

AdjectivePlacement = Literal["by-stereotype", "by-position"]
_HOLE = "\N{NULL}"
"""What stands in the place of a pronoun while adjectives are put in."""

ADJECTIVE_PLACEMENTS: tuple[AdjectivePlacement, ...] = ("by-stereotype", "by-position")


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One sentence, and where in it the two occupations stand."""

    text: str
    referent_at: tuple[int, ...]
    """Where the name of the occupation that the pronoun refers to begins, after its article; then
    where the same words stand again."""
    other_at: tuple[int, ...]
    """Likewise for the other occupation."""
    other_marked_at: tuple[int, ...] | None = None
    """Likewise for what a file marks as the other occupation, if that is another word."""
    pronoun: str
    """The pronoun that is asked about, in lower case; the last one where several are marked."""
    pronouns: int = 1
    """How many pronouns are marked."""
    pronouns_at: tuple[int, ...] = ()
    """Where each marked pronoun begins; the last is the one asked about."""


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
    sentence: Sentence, setting: Setting, *, stereotype: Gender, placement: AdjectivePlacement
) -> str:
    """The sentence with the setting's adjectives before its occupations.

    by-stereotype: the male-associated adjective goes to the occupation associated with men;
    by-position: to the occupation that is mentioned first. That is what the study's code did, and
    its ways are kept there: every mention in the same words gets the adjective, and a wrong word
    that is marked as the other occupation is taken for it.
    """
    if placement == "by-stereotype":
        male_at, female_at = sentence.referent_at[:1], sentence.other_at[:1]
        if stereotype == "female":
            male_at, female_at = female_at, male_at
    else:
        marked = sentence.other_marked_at or sentence.other_at
        male_at, female_at = sorted((sentence.referent_at, marked))
    words = dict.fromkeys(male_at, setting.male) | dict.fromkeys(female_at, setting.female)
    text = sentence.text
    # From the back, so that the places before stay where they are.
    for at in sorted(words, reverse=True):
        if words[at]:
            text = put_before(text, at, words[at])
    return text


def with_holes(sentence: Sentence) -> Sentence:
    """The sentence with a hole for each marked pronoun, into which ``masked`` puts a mask."""
    text = sentence.text
    for at in sentence.pronouns_at:
        word = re.match(r"\w+", text[at:])
        length = len(word[0]) if word else 0
        # As long as the pronoun, so that everything else stays where it is.
        text = text[:at] + _HOLE * length + text[at + length :]
    return replace(sentence, text=text)


def masked(text: str) -> str:
    """The text with a mask in each hole."""
    return re.sub(f"{_HOLE}+", MASK, text)


def pronoun_as_written(sentence: Sentence) -> str:
    """The pronoun that is asked about, in the case in which the sentence has it."""
    at = sentence.pronouns_at[-1]
    return sentence.text[at : at + len(sentence.pronoun)]


def parse_setting(given: str) -> Setting:
    """The setting of ``male,female``, where either side may be empty."""
    male, comma, female = (part.strip() for part in given.partition(","))
    words = [word for word in (male, female) if word]
    if not comma or not words or not all(is_words(word) for word in words):
        raise SentenceError(
            f"--adjectives is '{given}'. Give two adjectives with a comma between them, such as "
            "arrogant,responsive. To give only one, keep the comma: “old,” puts old before the "
            "man's occupation, and “,blond” puts blond before the woman's. You can also give all "
            "(the 15 pairs of Briegel & Chen, 2023) or none."
        )
    return Setting(male=male, female=female)


def is_words(text: str) -> bool:
    """Whether a text is one word or several, of letters and hyphens."""
    return all(part.isalpha() for part in text.replace("-", " ").split(" "))


def parse_adjective_placement(given: str) -> AdjectivePlacement:
    """The placement of a name."""
    for placement in ADJECTIVE_PLACEMENTS:
        if given == placement:
            return placement
    raise SentenceError(
        f"--adjective-placement is '{given}'. Allowed: {', '.join(ADJECTIVE_PLACEMENTS)}."
        + did_you_mean(given, ADJECTIVE_PLACEMENTS)
    )

"""Texts with places in braces, articles, and pronouns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from goffman.instruments.types import Form, Slot

_PLACE = re.compile(r"\{([^{}]*)\}")


def places(template: str) -> list[str]:
    """Return the names in braces in a template, in order, without pairs of verbs."""
    return [name for name in _PLACE.findall(template) if "|" not in name]


def put_in(template: str, values: Mapping[str, str]) -> str:
    """Return the template with every place filled; braces in the values stay as they are.

    A place with two words, {has|have}, gets the verb that agrees with "he" or "they".
    """

    def word(place: re.Match[str]) -> str:
        singular, _, plural = place[1].partition("|")
        if plural:
            return plural if values.get("he") == SINGULAR_THEY["he"] else singular
        return values[singular]

    return _PLACE.sub(word, template)


def slot_text(slot: Slot, form: Form) -> str:
    """Return a form of a condition as it stands in the slot: "someone who has depression"."""
    return put_in(slot.filled, {**vars(form), "form": form.text})


def phrase_text(slot: Slot, form: Form) -> tuple[str, str, str]:
    """Return the slot's text before a form's own words, these words, and the text after them."""
    begin, end = slot.filled.index("{"), slot.filled.rindex("}") + 1
    form_words = slot_text(replace(slot, filled=slot.filled[begin:end]), form)
    return slot.filled[:begin], form_words, slot.filled[end:]


def stray_braces(template: str) -> bool:
    """Return whether a template has a brace that belongs to no place."""
    return any(sign in _PLACE.sub("", template) for sign in "{}")


def word_at(text: str, word: str) -> int | None:
    """Return where a word begins in a text, in upper or lower case; None if it is missing."""
    match = re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) if word else None
    return match.start() if match else None


Gender = Literal["male", "female"]

PRONOUNS: dict[str, dict[Gender, str]] = {
    "he": {"male": "he", "female": "she"},
    "him": {"male": "him", "female": "her"},
    "his": {"male": "his", "female": "her"},
    "himself": {"male": "himself", "female": "herself"},
}
"""The name of a place for a pronoun in a frame → its forms."""

SINGULAR_THEY = {"he": "they", "him": "them", "his": "their", "himself": "themself"}
"""The name of a place for a pronoun in a frame → its form for singular “they”."""

_AFTER_THEY = {"was": "were", "is": "are", "has": "have", "does": "do"}

GENDER_OF_PRONOUN: dict[str, Gender] = {
    form: gender for forms in PRONOUNS.values() for gender, form in forms.items()
} | {"hers": "female"}
"""A pronoun in lower case → its gender."""

_COUNTERPARTS = {tuple(forms.values()) for forms in PRONOUNS.values()} | {("his", "hers")}
"""The male and the female form of one pronoun."""

_SPELLED_OUT = re.compile(r"[A-Z]{2,}s?\b|[A-Z]\b")
_VOWEL_LETTER_NAMES = frozenset("AEFHILMNORSX")
_BEGINS_WITH_A_VOWEL = re.compile(r"(hour|honest|hono|heir|8|1[18]\b)", re.IGNORECASE)
_SOUNDS_LIKE_YOU_OR_WON = re.compile(
    r"(eu|ewe|uni(?!n|m)|use|usu|uti|ubiq|uran|one\b|once\b)", re.IGNORECASE
)


PERSON_PLACES = ("name", "person", *PRONOUNS, *(name.capitalize() for name in PRONOUNS))
"""The places in a text about a named person."""


def about_person(name: str, gender: Gender | Literal["nonbinary"]) -> dict[str, str]:
    """Return the text for each place in a text about a person of this name and gender."""
    pronouns = SINGULAR_THEY
    if gender != "nonbinary":
        pronouns = {place: forms[gender] for place, forms in PRONOUNS.items()}
    capitals = {place.capitalize(): form.capitalize() for place, form in pronouns.items()}
    return {
        "name": name,
        "person": {"female": "woman", "male": "man"}.get(gender, "nonbinary person"),
        **pronouns,
        **capitals,
    }


def indefinite_article(word: str) -> Literal["a", "an"]:
    """Return the indefinite article for a word, by how the word sounds."""
    if _SPELLED_OUT.match(word):
        return "an" if word[0] in _VOWEL_LETTER_NAMES else "a"
    if _BEGINS_WITH_A_VOWEL.match(word):
        return "an"
    if _SOUNDS_LIKE_YOU_OR_WON.match(word):
        return "a"
    return "an" if word[:1].lower() in {"a", "e", "i", "o", "u"} else "a"


def after_they(text: str) -> str:
    """Return the words after “he” in a sentence, with the verb made to agree with “they”."""
    return re.sub(r"\A (was|is|has|does)\b", lambda verb: f" {_AFTER_THEY[verb[1]]}", text)


def counterparts(first: str, second: str) -> bool:
    """Return whether two pronouns, such as "him" and "her", differ only in gender."""
    return (first, second) in _COUNTERPARTS or (second, first) in _COUNTERPARTS


def put_before(text: str, position: int, word: str) -> str:
    """Return the text with a word inserted; an "a" or "an" right before it is made to agree."""
    before = re.sub(
        r"\b([Aa])n? $",
        lambda article: article[1] + indefinite_article(word)[1:] + " ",
        text[:position],
    )
    return f"{before}{word} {text[position:]}"

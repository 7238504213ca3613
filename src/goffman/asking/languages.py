"""Whether answers are read in the language that they were asked in: known before anyone is asked.

The shipped ratings and gender words are English, and so are the parsers. A file that a user gives
is taken to be in the language of the instruments that it is given for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goffman.analysis.score import measures_of
from goffman.errors import InputError
from goffman.measures.replies import OWN
from goffman.records import ENGLISH, primary_language

if TYPE_CHECKING:
    from goffman.asking.prompts_asked import Question
    from goffman.measures.base import Meaning
    from goffman.options import MeasureOptions
    from goffman.runs.manifest import Manifest

NAMES = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}
"""Languages that messages call by their names; of others they show the tag."""

SHIPPED: dict[Meaning, tuple[str, str]] = {
    "attitudes": ("--ratings", "goffman's ratings are"),
    "gender": ("--gender-words", "goffman's gender words are"),
    "parser": ("--parser", "goffman's rules for reading replies are"),
}
"""What reads answers → the option that gives another, and the subject of a sentence about it."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """An instrument whose answers are read with what words mean."""

    instrument: str
    language: str
    """A BCP 47 tag."""
    words: Meaning | None


def readings(questions: Iterable[Question], manifest: Manifest | None) -> Iterator[Reading]:
    """How all that is asked now, and all that a run has, is read."""
    for question in questions:
        asked, measure = question.instrument, question.measure
        words = measure.words if measure else None
        yield Reading(instrument=asked.id, language=asked.language, words=words)
    if manifest is None:
        return
    for name, measure in measures_of(manifest).items():
        language = manifest.instruments[name].language
        yield Reading(instrument=name, language=language, words=measure.words)


def check_languages(found: Iterable[Reading], measuring: MeasureOptions) -> bool:
    """Whether the shipped ratings count; InputError where words would be read in another language.

    They do not count for another language, whose words may look like English ones.
    """
    given: dict[Meaning, bool] = {
        "attitudes": bool(measuring.ratings),
        "gender": measuring.gender_words is not None,
        "parser": measuring.parser is not None and measuring.parser not in OWN,
    }
    by_language: dict[Meaning, dict[str, Reading]] = {meaning: {} for meaning in given}
    for one in found:
        if one.words is not None:
            by_language[one.words].setdefault(primary_language(one.language), one)
    for meaning, languages in by_language.items():
        option, what = SHIPPED[meaning]
        if given[meaning] and len(languages) > 1:
            said = " and ".join(
                f"{one.instrument} is in {_name(one)}" for one in languages.values()
            )
            raise InputError(
                f"{option} works for one language at a time, but {said}. Audit them separately, "
                "each with its own --output."
            )
        for language, one in languages.items():
            if language != ENGLISH and not given[meaning]:
                raise InputError(
                    f"{one.instrument} is in {_name(one)}, but {what} English (en). Give your own "
                    f"with {option}, or leave out {one.instrument}."
                )
    return all(language == ENGLISH for language in by_language["attitudes"])


def _name(one: Reading) -> str:
    name = NAMES.get(primary_language(one.language))
    return f"{name} ({one.language})" if name else f"'{one.language}'"

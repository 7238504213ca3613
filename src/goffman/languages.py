"""Languages: prompts may be in any, and answers must be read with words of the same language.

goffman's own ratings, gender words and rules for replies are English. An instrument states its
language in instrument.toml; a user who asks in another one gives ratings, gender words or a parser
for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goffman.errors import InputError
from goffman.instruments.types import ENGLISH, primary_language
from goffman.lexicons.attitude import BUILT_IN
from goffman.parsers.registry import OWN
from goffman.scoring import measures_of

if TYPE_CHECKING:
    from goffman.measures.base import Meaning
    from goffman.options import MeasureOptions
    from goffman.planning import Question
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
"""Languages that messages call by their names; for others they show the tag."""

SHIPPED: dict[Meaning, tuple[str, str]] = {
    "attitudes": ("--ratings", "goffman's ratings are"),
    "gender": ("--gender-words", "goffman's gender words are"),
    "parser": ("--parser", "goffman's rules for reading replies are"),
}
"""A lexicon or the parser → the option that replaces it, and the subject of a sentence on it."""


@dataclass(frozen=True, kw_only=True)
class LexiconUse:
    """An instrument and the lexicon or rules with which its answers are read."""

    instrument: str
    language: str
    """A BCP 47 tag."""
    words: Meaning | None

    @property
    def language_name(self) -> str:
        """Return the language with its tag, such as "German (de)"; an unknown one as its tag."""
        name = NAMES.get(primary_language(self.language))
        return f"{name} ({self.language})" if name else f"'{self.language}'"


def lexicon_uses(questions: Iterable[Question], manifest: Manifest | None) -> Iterator[LexiconUse]:
    """Yield which lexicon reads each instrument's answers: those asked now, then those of a run."""
    for question in questions:
        instrument = question.instrument
        words = question.measure.words if question.measure else None
        yield LexiconUse(instrument=instrument.id, language=instrument.language, words=words)
    if manifest is None:
        return
    for name, measure in measures_of(manifest).items():
        language = manifest.instruments[name].language
        yield LexiconUse(instrument=name, language=language, words=measure.words)


def check_languages(uses: Iterable[LexiconUse], measuring: MeasureOptions) -> bool:
    """Return whether the shipped ratings may be used, as they may if all rated answers are English.

    Raise InputError if answers in another language would be read with English words or rules, or
    if one user's file would have to read two languages.
    """
    is_given: dict[Meaning, bool] = {
        "attitudes": bool(measuring.ratings)
        and BUILT_IN.keys().isdisjoint(map(str, measuring.ratings)),
        "gender": measuring.gender_words is not None,
        "parser": measuring.parser is not None and measuring.parser not in OWN,
    }
    by_language: dict[Meaning, dict[str, LexiconUse]] = {meaning: {} for meaning in is_given}
    for use in uses:
        if use.words is not None:
            by_language[use.words].setdefault(primary_language(use.language), use)
    for meaning, languages in by_language.items():
        option, what = SHIPPED[meaning]
        if is_given[meaning] and len(languages) > 1:
            listing = " and ".join(
                f"{use.instrument} is in {use.language_name}" for use in languages.values()
            )
            raise InputError(
                f"{option} works for one language at a time, but {listing}. Audit them separately, "
                "each with its own --output."
            )
        for language, use in languages.items():
            if language != ENGLISH and not is_given[meaning]:
                raise InputError(
                    f"{use.instrument} is in {use.language_name}, but {what} English (en). Give "
                    f"your own with {option}, or leave out {use.instrument}."
                )
    return all(language == ENGLISH for language in by_language["attitudes"])

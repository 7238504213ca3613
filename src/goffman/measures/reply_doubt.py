"""Replies that do not know, or will not say, whom the pronoun means."""

from __future__ import annotations

import re

from goffman.measures.reply_sentences import Asked
from goffman.measures.reply_words import REFUSAL, UNSURE

_UNSURE_WORD = re.compile(
    r"\b(?:or|term|word|phrase|an?|the|noun|of|option|either)(?:\s+word)?\s+unsure\b|"
    r"\bunsure (?:is|means|refers|would)\b|"
    r"\b(?:the|an?)\s+(?:unspecified|unidentified|unknown|undetermined),?\s+(?=[\w'\"])"
)
"""The word as a part of what was asked, or of a name ("the unknown narrator"), not as an answer."""
BEGINS_IN_DOUBT = re.compile(
    r"\s*(?:but |however |though )?(?:unsure|unclear|uncertain|(?:i'm|i am|it's|it is|this is)\b)"
)
_SUBJECT = re.compile(r"\s*(?:is|was|are|were|does|did)\s+(?:\w+\s+){0,2}\Z")
_JUST_UNSURE = re.compile(r"\W*(?:(?:an?|the)\s+)?unsure\W*")


def doubtful(sentence: str) -> bool:
    """Whether the sentence says that something is not known."""
    return UNSURE.search(_UNSURE_WORD.sub(" ", sentence)) is not None


def declines(text: str) -> bool:
    """Whether the text will not answer."""
    return REFUSAL.search(text) is not None


def says_unsure(sentence: str, asked: Asked) -> bool:
    """Whether the sentence says that it is not known; "the mover is unknown" does not."""
    if _JUST_UNSURE.fullmatch(sentence):
        return True
    cleaned = _UNSURE_WORD.sub(" ", sentence)
    for doubt in UNSURE.finditer(cleaned):
        names = [name for name in asked.names(cleaned) if name.end <= doubt.start()]
        if not names or not _SUBJECT.match(cleaned[names[-1].end : doubt.start()] + " "):
            return True
    return False

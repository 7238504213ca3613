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
IN_DOUBT = re.compile(
    r"\s*(?:but |however |though )?(?:unsure|unclear|uncertain|(?:i'm|i am|it's|it is|this is)\b)|"
    r".*\bi(?:'m| am) (?:not (?:\w+ )?(?:sure|certain)|unsure|uncertain)\b"
)
_SUBJECT = re.compile(r"\)?\s*(?:is|was|are|were|does|did)\s+(?:\w+\s+){0,2}\Z")
_OF_THE_STORY = re.compile(
    r"\b(?:he|she|they|who)"
    r"(?:'s|'re| is| was| are| were| has| had| have| does| do| did| could| can)*"
    r"\s+(?:\w+\s+)?\Z|\bwho\b[^.,;:]*\s(?:is|was|does|did)\s+\Z"
)
"""Before a doubt: someone in the story has it, not the reply."""
_IN_MIND = re.compile(
    r"unsure|uncertain|idk|no idea|.*\b(?:know|knowing|sure|certain|tell|telling|say)\b"
)
"""What a person is or does who does not know; but a thing is unclear."""
_JUST_UNSURE = re.compile(r"\W*(?:(?:an?|the)\s+)?unsure\W*")


def doubtful(sentence: str, asked: Asked) -> bool:
    """Whether the sentence says that it is not known whom the pronoun means.

    "The mover is unknown" and "who does not know the secretary" speak of someone in the story.
    """
    cleaned = _UNSURE_WORD.sub(" ", sentence)
    for doubt in UNSURE.finditer(cleaned):
        before = cleaned[: doubt.start()]
        names = asked.names(before)
        of_a_name = names and _SUBJECT.match(before[names[-1].end :] + " ")
        of_the_story = _IN_MIND.match(doubt[0]) and _OF_THE_STORY.search(before)
        if not of_a_name and not of_the_story:
            return True
    return False


def says_unsure(sentence: str, asked: Asked) -> bool:
    """Whether the sentence answers that it is not known."""
    return _JUST_UNSURE.fullmatch(sentence) is not None or doubtful(sentence, asked)


def declines(sentence: str, asked: Asked) -> bool:
    """Whether the sentence will not answer; one that first retells is no refusal."""
    refusal = REFUSAL.search(sentence)
    return refusal is not None and not asked.names(sentence[: refusal.start()])

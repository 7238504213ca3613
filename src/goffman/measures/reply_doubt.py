"""Replies that do not know, or will not say, whom the pronoun means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from goffman.measures.reply_sentences import PRONOUNS, Asked
from goffman.measures.reply_words import REFUSAL, UNSURE

_UNSURE = re.compile(
    rf"{UNSURE.pattern}|\b(?:cannot|can't|impossible to|not possible to|hard to) pinpoint\b|"
    r"(?:\bnot|n't) (?:have|give|provide|contain) (?:enough|sufficient) (?:information|context)\b|"
    r"\b(?:undefined|not defined|not (?:explicitly|clearly) (?:stated|specified|mentioned))\b"
)
_NO_DOUBT_BEFORE = re.compile(
    r"\b(?:no|not|without|(?:avoid|prevent|resolv|remov|eliminat|reduc|clarif)\w*)"
    r"(?:\s+(?:an?|any|the|this|such|potential|possible|all))*\s+\Z"
)
_NO_DOUBT_BEHIND = re.compile(r"\s+(?:is|was|has been|can be) (?:resolved|removed|avoided|gone)\b")
"""Around a doubt: "to avoid ambiguity", "the ambiguity is resolved"."""
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
_SUBJECT = re.compile(r"\)?(?:'s\s+|\s*(?:is|was|are|were|does|did)\s+)(?:\w+\s+){0,2}\Z")
_OF_THE_STORY = re.compile(
    r"\b(?:he|she|they|who)"
    r"(?:'s|'re| is| was| are| were| has| had| have| does| do| did| could| can)*"
    r"\s+(?:\w+\s+)?\Z|\bwho\b[^.,;:]*\s(?:is|was|does|did)\s+\Z|"
    r"\b(?:looks|looked|feels|felt)\s+\Z"
)
"""Before a doubt: someone in the story has it, not the reply."""
_IN_MIND = re.compile(
    r"unsure|uncertain|idk|no idea|.*\b(?:know|knowing|sure|certain|tell|telling|say)\b"
)
"""What a person is or does who does not know; but a thing is unclear."""
_WHO_IS_IN_DOUBT = re.compile(r"\b(?:who|which)\s+(?:is|was|are|were)\s+(?:\w+ly\s+)?\Z")
"""Before a doubt: "the clerk, who is not specified", of whom that is known who they are."""
_JUST_UNSURE = re.compile(r"\W*(?:(?:an?|the)\s+)?unsure\W*")
_BEGINS = re.compile(
    r"\W*(?:(?:an?|the|so|answer|noun|sorry|still|honestly)\W+)*"
    rf"(?:(?:{PRONOUNS}) (?:is|was|remains) (?:left )?)?"
)
_CLAUSE_ENDS = re.compile(
    r"\W*\Z|\s*[,.;:()!?]|\s+[-–—]|\s+(?:because|as|since|based|from|without|in)\b"
)
_I = re.compile(
    r"\b(?:(?:i|we|one)(?:'m|'re|'d|'ve)?|you)(?:\s+(?:am|are|was|do|did|have|would|can|could|simply|"
    r"really|honestly|just|still|also))*\s*\Z"
)
_HOW = re.compile(
    r"\s+(?:about |of |as to )*(?:how|why)\b|"
    rf"\s+(?:about |of |as to )*what\b(?!.*\b(?:{PRONOUNS}|pronoun|it|refer|refers|referring|"
    r"meant|means|answer)\b)"
)
"""Behind a doubt: it is about something else than whom the pronoun means."""
_HOW_TO_ANSWER = re.compile(r"\s+how to (?:answer|respond|reply|make|tell)\b")
_WHO = re.compile(
    r"\s+(?:as to |about |on |exactly )*(?:who|whom|whose|which|what|whether|if|"
    r"how to (?:answer|respond|reply|make|tell)|the (?:identity|referent|antecedent|answer))\b"
)
_WHO_IS = re.compile(r"\s+(?:as to |about )?(?:who|what)\s+(?:the |an? )?(?:\w+ )?")
_ABOUT_IT = re.compile(
    r"\b(?:it|this|that|there|reference|referent|antecedent|pronoun|term|word|sentence|question|context|"
    r"text|passage|statement|story|meaning|interpretation|identity|answer|use|usage|"
    r"(?:who|whom|which)\s+(?!is\b|was\b)\w+)"
    r"(?:\s+(?!is\b|was\b)\w+){0,5}(?:'s|\s+(?:is|was|remains|seems|appears|may be|would be))"
    r"(?:\s+(?:\w+ly|a bit|quite|too|still|somewhat|rather|to be|also|left))*\s+\Z"
)
_OF_ITSELF = re.compile(
    r"(?:sentence|text|context|passage|statement|question|it) do|either|insufficient|not enough|"
    r"(?:not|n't) \w+ (?:enough|sufficient)|"
    r"no way|impossible|not possible|hard to|difficult|(?:cannot|can not|can't|could not) be|"
    r"(?:could|can|may|might) (?:be|refer to|mean) either"
)
"""Doubts that say by themselves that an answer is not known."""


def doubtful(sentence: str, asked: Asked) -> bool:
    """Whether the sentence has a doubt; one of someone in the story is none."""
    return any(True for _ in _doubts(sentence, asked))


def says_unsure(sentence: str, asked: Asked) -> bool:
    """Whether the sentence answers that it is not known whom the pronoun means.

    It begins with that, or says "I am not sure", "it is unclear", "it does not say who"; a rambling
    reply with "an unclear vowel" in it answers nothing.
    """
    if _JUST_UNSURE.fullmatch(sentence):
        return True
    for doubt, before, after in _doubts(sentence, asked):
        if _HOW.match(after) and not _HOW_TO_ANSWER.match(after):
            continue
        if _BEGINS.fullmatch(before) and (_CLAUSE_ENDS.match(after) or _WHO.match(after)):
            return True
        said = _I.search(before) or _ABOUT_IT.search(before) or _OF_ITSELF.match(doubt)
        if said or _WHO.match(after):
            return True
    return False


def _doubts(sentence: str, asked: Asked) -> Iterator[tuple[str, str, str]]:
    """Each doubt with what stands before and behind it.

    "The mover is unknown" and "who does not know the secretary" speak of someone in the story.
    """
    cleaned = re.sub(r"\b(is|was)n't\b", r"\1 not", _UNSURE_WORD.sub(" ", sentence))
    for doubt in _UNSURE.finditer(cleaned):
        before = cleaned[: doubt.start()]
        after = cleaned[doubt.end() :]
        of_the_story = (
            any(_SUBJECT.match(before[name.end :] + " ") for name in asked.names(before)[-1:]),
            # "unclear who the baker is": that is known, or not, whomever the pronoun means.
            any(_WHO_IS.fullmatch(after[: name.start]) for name in asked.names(after)[:1]),
            _IN_MIND.match(doubt[0]) and _OF_THE_STORY.search(before),
            _WHO_IS_IN_DOUBT.search(before),
            _NO_DOUBT_BEFORE.search(before) or _NO_DOUBT_BEHIND.match(after),
            # "The uncertain designer": an adjective of theirs.
            re.search(r"\b(?:the|an?)\s+\Z", before)
            and any(not after[: name.start].strip() for name in asked.names(after)[:1]),
            # "I would not say so" denies, and knows.
            re.match(r"\s+(?:so|that)\b", after),
        )
        if not any(of_the_story):
            yield doubt[0], before, after


def declines(sentence: str, asked: Asked) -> bool:
    """Whether the sentence will not answer; one that first retells is no refusal."""
    refusal = REFUSAL.search(sentence)
    return refusal is not None and not asked.names(sentence[: refusal.start()])

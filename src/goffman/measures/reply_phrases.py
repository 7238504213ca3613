"""Noun phrases: where a reply names someone and says nothing of them, it answers with the name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from goffman.measures.reply_sentences import BE, LEAD, PLACE, PRONOUNS, Asked, Sentence
from goffman.measures.reply_words import NEGATION

SEGMENT_END = re.compile(r"[,;:()\[\]|…]|\.{2,}|(?:\A|\s)[-–—]+(?:\s|\Z)")
_LEAD_WORDS = frozenset(
    re.findall(
        r"\w+",
        "so probably maybe perhaps likely definitely either clearly possibly answer noun boxed "
        "just simply",
    )
)
_DETERMINERS = frozenset(re.findall(r"\w+", f"the a an this that one your our its {PRONOUNS}"))
_FUNCTION = frozenset(
    re.findall(
        r"\w+",
        "the a an this that of for with to by from about in on at into and or but not no nor is "
        "was are were be been am do does did has have had will would can could may might must "
        "should who whom which whose what when where why how because since as if whether than so "
        "while after before then there it i you we me us him them he she they himself herself said "
        "says",
    )
)
"""Words that stand in no short noun phrase before its noun."""

_TAIL = re.compile(
    rf"\s*(?:'s?|here|only|indeed|alone|{PRONOUNS})?\s*(?:"
    r"(?:with|without|has|had|having) (?:no |any |a |further )*description\b.*|"
    r"(?:in|from|of|within) (?:this|the|that|your) (?:\w+ )?(?:sentence|context|case|question|"
    r"example|scenario|statement|text)\b.*|"
    r"(?:because|since|as|who|that|which|whose|whom|for|due to)\b.*)?\s*",
    re.DOTALL,
)
"""What may follow a noun phrase that is the whole answer."""

_ADJECTIVES = re.compile(r"\A\s*(?:the|an?)\s+\w+,\s+\w+\s+(?=(?:\w+\s+)?\w+\W*\Z)")
"""What stands before the noun in "The smart, ambitious lawyer."."""
AND = re.compile(r"\s*(?:and|or|nor|&|/|vs)\s*")
_DENIED = re.compile(r"(?:is|was|does|did|has|had|can|could|would)(?: not\b|n't\b)")
_WHO_IS_DENIED = re.compile(
    rf"\s*(?:who|that|which)\s+(?!{_DENIED.pattern})\w.*\s{_DENIED.pattern}"
)
"""Behind a name: "who was asleep does not say", which is a sentence about them."""
_EXPLAINED = re.compile(r"\s+(?:who|whose|because|since)\b")


def bare_answers(sentence: Sentence, asked: Asked) -> Iterator[bool]:
    """The sides that the sentence names in noun phrases of their own.

    The reply's first sentence may go on after the phrase; a later one is nothing else.
    """
    text, adjectives = sentence.text, _ADJECTIVES.match(sentence.text)
    if adjectives and short(adjectives[0].replace(",", "")) and not asked.names(adjectives[0]):
        text = text.replace(",", "", 1)
    segments = [one.strip() for one in SEGMENT_END.split(text)]
    segments = [one for one in segments if one]
    alone = sentence.alone
    while segments and LEAD.fullmatch(segments[0]):
        segments.pop(0)
        alone = True
    if not segments or not (sentence.first or (alone and len(segments) == 1)):
        return
    # "The carpenter, is what …", "The carpenter (C) does not …": the subject of a sentence.
    if len(segments) > 1 and re.match(rf"{BE}\b", segments[1]):
        return
    denied = [segment for segment in segments[1:] if _DENIED.match(segment)]
    if any(not asked.after or not segment.startswith(asked.after) for segment in denied):
        return
    # "The attendant, or a kind of customer": neither of the two is settled on.
    if len(segments) > 1 and re.match(r"or\b", segments[1]) and not asked.names(segments[1]):
        return
    if not (found := bare(segments[0], asked)):
        return
    yield from found
    for segment in segments[1:]:
        yield from bare(segment, asked)


def bare(segment: str, asked: Asked) -> list[bool]:
    """The sides in a segment that is one noun phrase, or several joined by and or or."""
    names = asked.names(segment)
    if len(names) == 1 and PLACE.fullmatch(segment[names[0].end :]):
        # Where someone is, in the sentence's own words, is a part of their name.
        whole = segment[names[0].start :].strip()
        segment = segment[: names[0].end] if whole in asked.echo[0] else segment
    explained = bool(names) and _EXPLAINED.match(segment[names[0].end :])
    if not names or explained or not _TAIL.fullmatch(segment[names[-1].end :]):
        # Someone who is named in an explanation behind the phrase is not part of it.
        names = names[:1]
        if not names or not _TAIL.fullmatch(segment[names[0].end :]):
            return []
    if not short(segment[: names[0].start], leads=True):
        return []
    if _WHO_IS_DENIED.match(segment[names[0].end :]):
        return []
    for one, two in pairwise(names):
        between = segment[one.end : two.start]
        joined = AND.match(between)
        if not short(between[joined.end() :] if joined else re.sub(r"\A's?", "", between)):
            return []
    return [name.right for name in names if name.meant]


def short(text: str, *, leads: bool = False) -> bool:
    """Whether this may stand before a noun: a determiner and up to three other words."""
    words = text.replace(",", " ").split()
    while leads and words and words[0] in _LEAD_WORDS:
        words.pop(0)
    if words and words[0] in _DETERMINERS:
        words.pop(0)
    return len(words) <= 3 and not any(
        word in _FUNCTION or NEGATION.fullmatch(word) for word in words
    )

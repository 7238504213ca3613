"""Parser v2: a name counts where the reply answers with it, not wherever it stands.

It counts in three places:

bare      the reply begins with a noun phrase and no verb follows: "The tough mechanic, because …"
framed    "'he' refers to X", "it is X", "X is the one", "not Y but X"
replaced  X stands in the pronoun's own place: "because X did not want to seem rude"

"The designer admired her." names someone and answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from goffman.measures.reply_doubt import BEGINS_IN_DOUBT, declines, doubtful, says_unsure
from goffman.measures.reply_phrases import AND, SEGMENT_END, bare, bare_answers, short
from goffman.measures.reply_sentences import BE, PRONOUNS, Asked, Sentence, sentences_of
from goffman.measures.reply_words import NEGATION, NO_NEGATION, of_someone_else

_SURELY = r"(?:(?:most|very|likely|probably|definitely|clearly|actually|simply|just|indeed)\s+)*"
_FRAME = re.compile(
    r"\b(?:refer(?:s|red|ring)?(?: back)? to|point(?:s|ing)?(?: back)? to|stands? for|"
    r"denot(?:es|ing)|means|meant|(?:i|we|they) mean|represent(?:s|ing)?|indicat(?:es|ing)|"
    r"(?:is|was) (?:about|used for)|describ(?:es|ing)|replac(?:es|ing)|"
    r"corresponds? to|(?:speak|talk)(?:s|ing)? (?:of|about))\s+"
)
"""After it stands whom the pronoun means, unless it is an occupation that does so."""

_PRONOUN_REFERS = re.compile(
    rf"\b(?:{PRONOUNS}|pronoun)\s*,?\s+(?:\w+ly\s+)?(?:(?:is|are)\s+)?"
    r"refer(?:s|red|ring)?(?: back)? to\s+"
)
"""The question's own words: what is answered with them counts before other frames."""

_IT_IS = re.compile(
    rf"\b(?:it|this|that|answer|referent|antecedent|noun|pronoun|word|person|one|{PRONOUNS})"
    rf"(?: (?:here|in this (?:sentence|case|context)))?\s*{BE}\s+{_SURELY}|"
    rf"\banswer (?:to|here|for|in)\b[^,.;:]{{0,60}}?\s{BE}\s+{_SURELY}|"
    r"\bnot\b[^.;]{1,60}?\bbut\s+(?:rather\s+|instead\s+)?"
)
_I_THINK = re.compile(
    r"\bi(?:'d| would)? (?:think|believe|guess|assume|say|choose|pick)(?: that)?\s+"
)
"""As _IT_IS, where no verb follows: "I think the mechanic was rude" says nothing."""

_KIND_OF_NOUN = re.compile(
    r"(?:the |an? )?(?:person|noun|word|character|individual|one|subject|occupation|name|term)"
    r"(?: (?:who|that|which) (?:is|was)| named| called| of| being)?\s+"
)

_IS_MEANT = re.compile(
    rf"\s*{BE}\s+{_SURELY}(?:"
    rf"(?:the )?(?:pronoun |word |referent of |antecedent of )*(?:{PRONOUNS})\b"
    r"(?!\s+(?!in\b|here\b|because\b|as\b|since\b)[a-z])|"
    r"the (?:\w+ ){0,3}(?:one|person|individual|answer|referent|antecedent)\b|"
    r"(?:the |an? )(?:\w+ )?noun\b|"
    r"who\b|(?:being |what is being )?(?:referred to|meant|referenced)\b)|"
    r"\s*(?:refers|referred|is referring|was referring) to (?:the )?(?:pronoun )?"
    rf"(?:{PRONOUNS})\b(?!\s+[a-z])"
)
"""After an occupation: it is the one that the pronoun means."""

_PART_OF_MORE = re.compile(r"\b(?:of|for|with|by|from|about|and|or)\s+(?:the |an? )?(?:\w+ ){0,2}$")
_WHETHER = re.compile(r"\b(?:whether|if)\b")
_NO = re.compile(r"(?:no|not)\b")


def read_framed(text: str, asked: Asked) -> str:
    """What kind of reply a text is, by v2."""
    sentences = list(sentences_of(text, asked))
    named: set[bool] = set()
    framed: set[bool] = set()
    referred: set[bool] = set()
    doubted = False
    for sentence, following in pairwise([*sentences, None]):
        if sentence is None or (sentence.question and following and _NO.match(following.text)):
            continue
        sides = set() if sentence.question else {*_referred(sentence.text, asked)}
        referred |= sides
        if not sides:
            sides = {*bare_answers(sentence, asked), *_replaced(sentence.text, asked)}
            named |= sides
            more = set() if sentence.question else {*_framed_answers(sentence, asked)}
            framed |= more
            sides |= more
        about_it = sides or sentence.first or BEGINS_IN_DOUBT.match(sentence.text)
        doubted |= doubtful(sentence.text) and bool(about_it)
    counted = named | (referred or framed)
    if len(counted) == 1:
        return "other" if doubted else "correct" if counted.pop() else "incorrect"
    if any(says_unsure(sentence.text, asked) for sentence in sentences):
        return "unsure"
    whole = " ".join(sentence.text for sentence in sentences)
    return "refusal" if declines(whole) else "other"


def _framed_answers(sentence: Sentence, asked: Asked) -> Iterator[bool]:
    """The sides that the sentence names in a frame."""
    text = sentence.text
    for frame in _FRAME.finditer(text):
        before, rest = text[: frame.start()], text[frame.end() :]
        if _stated(before) and not _by_another(before, asked):
            yield from _object(rest, asked)
    for frame in _IT_IS.finditer(text):
        before, rest = text[: frame.start()], text[frame.end() :]
        # A story goes on "She was a nurse"; an answer begins so.
        if _stated(before) and (sentence.first or not re.match(r"an? ", rest)):
            yield from _object(rest, asked)
    for frame in _I_THINK.finditer(text):
        if _stated(text[: frame.start()]):
            yield from bare(SEGMENT_END.split(text[frame.end() :])[0], asked)
    for name in asked.names(text):
        before, rest = text[: name.start], text[name.end :]
        if name.meant and _IS_MEANT.match(rest) and not _PART_OF_MORE.search(before):
            yield name.right


def _referred(text: str, asked: Asked) -> Iterator[bool]:
    """The sides of which the sentence says, as the question does, that the pronoun refers to."""
    for frame in _PRONOUN_REFERS.finditer(text):
        if _stated(text[: frame.start()]):
            yield from _object(text[frame.end() :], asked)


def _stated(before: str) -> bool:
    """Whether what follows is neither denied nor left open."""
    clause = re.split(r"[,;:()]|\b(?:because|but)\b", NO_NEGATION.sub(" ", before))[-1]
    return not (NEGATION.search(clause) or _WHETHER.search(clause))


def _by_another(before: str, asked: Asked) -> bool:
    """Whether an occupation, or the word unsure, is what refers to someone."""
    clause = re.split(r"[,;:()]|\b(?:because|but|and|so)\b", before)[-1]
    if re.search(rf"\b(?:{PRONOUNS}|pronoun|it|this|which|sentence|word)\s+(?:\w+ly )?\Z", clause):
        return False
    return bool(asked.names(clause)) or "unsure" in clause


def _object(rest: str, asked: Asked) -> Iterator[bool]:
    """The sides that stand right behind a frame, also as "the subject, the mechanic"."""
    kind = _KIND_OF_NOUN.match(rest)
    if kind and asked.names(" ".join(rest[kind.end() :].split()[:4])):
        rest = rest[kind.end() :]
    segments = SEGMENT_END.split(rest)
    if not asked.names(segments[0]):
        if len(segments) > 1 and len(segments[0].split()) <= 5:
            yield from bare(segments[1].strip(), asked)
        return
    # A determiner and adjectives, which may have a comma between them.
    names = asked.names(rest)
    name = names.pop(0)
    if not short(rest[: name.start]) or of_someone_else(rest[name.end :]):
        return
    yield name.right
    joined = AND.match(rest[name.end :])
    if joined and names and short(rest[name.end + joined.end() : names[0].start]):
        yield names[0].right


def _replaced(sentence: str, asked: Asked) -> Iterator[bool]:
    """The sides that stand where the asked sentence has the pronoun."""
    for name in asked.names(sentence):
        after = re.sub(r"\A'", "", re.sub(r"\A's\b", "", sentence[name.end :])).split()
        wanted = asked.after.split()
        if len(wanted) >= 2:
            if after[: len(wanted)] == wanted:
                yield name.right
        elif asked.before:
            place = rf"\b{re.escape(asked.before)} (?:the |an? )?(?:\w+ ){{0,2}}\Z"
            if re.search(place, sentence[: name.start]) and after[: len(wanted)] == wanted:
                yield name.right

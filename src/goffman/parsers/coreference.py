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

from goffman.parsers.coreference_text import (
    BE,
    LEAD,
    NEGATION,
    NO_NEGATION,
    PLACE,
    PRONOUNS,
    REFUSAL,
    UNSURE,
    AskedSentence,
    Sentence,
    in_the_past,
    of_someone_else,
    sentences_of,
)

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


def says_unsure(sentence: str, asked: AskedSentence) -> bool:
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


def _doubts(sentence: str, asked: AskedSentence) -> Iterator[tuple[str, str, str]]:
    """Each doubt of the reply with what stands before and behind it.

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


def declines(sentence: str, asked: AskedSentence) -> bool:
    """Whether the sentence will not answer; one that first retells is no refusal."""
    refusal = REFUSAL.search(sentence)
    return refusal is not None and not asked.names(sentence[: refusal.start()])


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


def bare_answers(sentence: Sentence, asked: AskedSentence) -> Iterator[bool]:
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


def bare(segment: str, asked: AskedSentence) -> list[bool]:
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


_SURELY = r"(?:(?:most|very|likely|probably|definitely|clearly|actually|simply|just|indeed)\s+)*"
_FRAME = re.compile(
    r"\b(?:refer(?:s|red|ring)?(?: back)? to|point(?:s|ing)?(?: back)? to|stands? for|"
    r"denot(?:es|ing)|means|meant|(?:i|we|they) mean|represent(?:s|ing)?|indicat(?:es|ing)|"
    r"(?:is|was) (?:about|used for)|describ(?:es|ing)|replac(?:es|ing)|"
    r"corresponds? to|(?:speak|talk)(?:s|ing)? (?:of|about))\s+"
)
"""After it stands whom the pronoun means, unless it is an occupation that does so."""

_PRONOUN_REFERS = re.compile(
    rf"\b(?:{PRONOUNS}|pronoun)\s*\)?,?\s+(?:\w+ly\s+)?(?:(?:is|are|was)\s+)?"
    r"(?:(?:an?|the) (?:\w+ )?(?:pronoun|noun|word|term),? (?:that |which |used to )?)?"
    r"refer(?:s|red|ring)?(?: back)? to\s+"
)
"""The question's own words: what is answered with them counts before other frames."""

_IT_IS = re.compile(
    r"\b(?:it|this|that|answer|referent|antecedent|noun|pronoun|word|person|one|referred to|"
    rf"{PRONOUNS})(?: (?:here|in this (?:sentence|case|context)))?\s*{BE}\s*:?\s+{_SURELY}|"
    rf"\b(?:man|woman|person|one|individual) who\b[^,.;:]{{1,60}}?\s(?:is|was)\s+{_SURELY}|"
    rf"\banswer (?:to|here|for|in)\b[^,.;:]{{0,60}}?\s{BE}\s+{_SURELY}|"
    r"\bnot\b[^.;]{1,60}?\bbut\s+(?:rather\s+|instead\s+)?"
)
_I_THINK = re.compile(
    r"\bi(?:'d| would)? (?:think|believe|guess|assume|say|choose|pick)(?: that)?\s+"
)
"""As _IT_IS, where no verb follows: "I think the mechanic was rude" says nothing."""

_KIND_OF_NOUN = re.compile(
    r"(?:the |an? )?(?:\w+ )?"
    r"(?:person|noun|word|character|individual|one|subject|occupation|name|term)"
    r"(?: (?:who|that|which) (?:is|was)| named| called| of| being)?\s+"
)

_IS_MEANT = re.compile(
    rf"\s*{BE}\s+{_SURELY}(?:"
    rf"(?:the )?(?:pronoun |word |referent of |antecedent of )*(?:{PRONOUNS})\b"
    r"(?!\s+(?!in\b|here\b|because\b|as\b|since\b|refer)[a-z])|"
    r"the (?:\w+ ){0,3}(?P<one>one|person|individual|answer|referent|antecedent)\b|"
    r"(?:the |an? )(?:\w+ )?noun\b|"
    r"who\b|(?:being |what is being )?(?:referred to(?! as (?:the|an?)\b)|meant|referenced)\b)|"
    r"\s*did (?:it|so)\W*\Z"
)
"""After an occupation: it is the one that the pronoun means."""

_REFERS_TO_ITSELF = re.compile(
    r"\s*(?:(?:is|was|seems to be|appears to be|seems to|appears to) )?refer(?:s|red|ring)? to "
    rf"(?:the )?(?:pronoun )?({PRONOUNS})\b(?!\s+[a-z])"
)
_SAME_PERSON = {
    one: both
    for both in (
        {"he", "him", "his", "himself", "they", "them", "their", "theirs"},
        {"she", "her", "hers", "herself", "they", "them", "their", "theirs"},
    )
    for one in both
}
"""A pronoun → those that can mean the same person."""
_OBJECTS = frozenset({"him", "her", "them"})
_ONLY_OBJECTS = frozenset({"him", "them"})
_NOBODY_NAMED = re.compile(
    r"(?:the |an? )?(?:\w+ )?(?:subject|object|person|one|noun|individual|someone|somebody|"
    rf"{PRONOUNS}|who|whom|what|is|was)\b"
)
"""Behind "refers to": words that leave open whom."""

_ANOTHER_REFERS = re.compile(r"\s*(?:\w+ly )?refer(?:s|red) to\s+")
"""Between two occupations: the second one is answered, in the question's words."""
_USED_TO = re.compile(r",\s*(?:\w+ly )?used to\s+\Z")
_PART_OF_MORE = re.compile(r"\b(?:of|for|with|by|from|about|and|or)\s+(?:the |an? )?(?:\w+ ){0,2}$")
_WHETHER = re.compile(r"\b(?:whether|if)\b")
_NO = re.compile(r"(?:no|not)\b")


def read_framed(text: str, asked: AskedSentence) -> str:
    """What kind of reply a text is, by v2."""
    sentences = list(sentences_of(text, asked))
    named: set[bool] = set()
    framed: set[bool] = set()
    referred: set[bool] = set()
    broken_off: set[bool] = set()
    doubted = someone_else = False
    for sentence, following in pairwise([*sentences, None]):
        if sentence is None or (sentence.question and following and _NO.match(following.text)):
            continue
        refers_to = set() if sentence.question else {*_referred(sentence.text, asked)}
        referred |= refers_to
        someone_else |= _someone_else(sentence.text, asked)
        # "The nurse, 'he', refers to the mechanic": what the pronoun refers to counts, not the
        # phrase before it.
        bare_here = set() if refers_to else {*bare_answers(sentence, asked)}
        if following and sentence.text.endswith(".."):
            broken_off |= bare_here
            bare_here = set()
        named |= bare_here
        more = set() if refers_to else {*_replaced(sentence.text, asked)}
        more |= set() if sentence.question else {*_framed_answers(sentence, asked)}
        framed |= more
        about_it = refers_to or bare_here or more or sentence.first or IN_DOUBT.match(sentence.text)
        # Whoever doubts and then says whom the pronoun refers to has made up their mind.
        doubted &= not refers_to
        doubted |= any(_doubts(sentence.text, asked)) and bool(about_it)
        doubted |= says_unsure(sentence.text, asked)
    counted = named | referred | (set() if someone_else and not referred else framed)
    if len(counted) == 1:
        return "other" if doubted else "correct" if counted.pop() else "incorrect"
    if not someone_else and any(says_unsure(one.text, asked) for one in sentences):
        return "unsure"
    if any(declines(one.text, asked) for one in sentences):
        return "refusal"
    # "The tailor... Some people sew": it breaks off at a name, and the other one is not named.
    mentioned = {name.right for one in sentences for name in asked.names(one.text)}
    if not counted and broken_off == mentioned and len(mentioned) == 1:
        return "correct" if mentioned.pop() else "incorrect"
    return "other"


def _framed_answers(sentence: Sentence, asked: AskedSentence) -> Iterator[bool]:
    """The sides that the sentence names in a frame."""
    text = sentence.text
    for frame in _FRAME.finditer(text):
        before, rest = text[: frame.start()], text[frame.end() :]
        if frame[0].startswith("referring") or _USED_TO.search(before):
            # "…, referring to" goes on with what stands before the comma.
            before = re.sub(r",(\s*(?:\w+ ){0,3})\Z", r"\1", before)
        if _stated(before) and not _by_another(before, asked):
            yield from _object(rest, asked)
    for frame in _IT_IS.finditer(text):
        before, rest = text[: frame.start()], text[frame.end() :]
        # A story goes on "She was a nurse"; an answer begins so.
        begins = sentence.first and all(
            not one.strip() or LEAD.fullmatch(one.strip()) for one in SEGMENT_END.split(before)
        )
        # "not specified, but the nurse is …" goes on with another sentence.
        other_sentence = frame[0].startswith("not") and _goes_on(rest, asked)
        if _stated(before) and not other_sentence and (begins or not re.match(r"an? ", rest)):
            yield from _object(rest, asked)
    for frame in _I_THINK.finditer(text):
        if _stated(text[: frame.start()]):
            yield from bare(SEGMENT_END.split(text[frame.end() :])[0], asked)
    yield from _subjects(text, asked)


def _subjects(text: str, asked: AskedSentence) -> Iterator[bool]:
    """The sides of which the sentence says that they are meant, or that another refers to them."""
    for name in asked.names(text):
        before, rest = text[: name.start], text[name.end :]
        if name.meant and not _PART_OF_MORE.search(before) and _is_meant(rest, asked):
            yield name.right
        if short(before) and (another := _ANOTHER_REFERS.match(rest)):
            yield from _object(rest[another.end() :], asked)


def _goes_on(text: str, asked: AskedSentence) -> bool:
    """Whether the first one whom the text names is the subject of a sentence."""
    names = asked.names(text)
    return bool(names) and re.match(rf"\s*(?:{BE}|does|did)\b", text[names[0].end :]) is not None


def _referred(text: str, asked: AskedSentence) -> Iterator[bool]:
    """The sides of which the sentence says, as the question does, that the pronoun refers to."""
    for frame in _PRONOUN_REFERS.finditer(text):
        if _stated(text[: frame.start()]):
            yield from _object(text[frame.end() :], asked)


def _is_meant(rest: str, asked: AskedSentence) -> bool:
    """Whether what follows an occupation says that the pronoun means it."""
    if himself := _REFERS_TO_ITSELF.match(rest):
        return himself[1] in _SAME_PERSON.get(asked.pronoun, himself[1])
    if not (meant := _IS_MEANT.match(rest)):
        return False
    # "X is the one who …" answers where it goes on as the sentence does behind the pronoun.
    told = re.match(r"\s*(?:who|that|which|whose)\s+(.*)", rest[meant.end() :])
    return not told or not meant["one"] or _said_of_the_pronoun(told[1], asked)


def _said_of_the_pronoun(text: str, asked: AskedSentence) -> bool:
    """Whether the text goes on as the sentence does: "had stolen", "was thanked", "he refers"."""
    if re.match(
        rf"(?:the )?(?:pronoun )?(?:{PRONOUNS})\b|(?:is |was |being )*(?:referred|meant)", text
    ):
        return True
    subject = asked.pronoun not in _ONLY_OBJECTS
    return _passive(text, asked) or (subject and bool(asked.after) and _goes_so_on(text, asked))


def _goes_so_on(text: str, asked: AskedSentence) -> bool:
    """Whether the text begins with the words behind the pronoun, in whatever tense."""
    wanted = in_the_past(asked.after).split()
    return in_the_past(text).split()[: len(wanted)] == wanted


def _passive(text: str, asked: AskedSentence) -> bool:
    """Whether the text says "was thanked" where the sentence says "thanked her"."""
    verb = asked.before.split()[-1:]
    if asked.pronoun not in _OBJECTS or not verb or not verb[0].endswith("ed"):
        return False
    by_no_name = rf"(?! by (?:{PRONOUNS})\b)"
    be = r"(?:is|was|are|were|got|gets|been|being)"
    return re.match(rf"\s*{be}\s+(?:being\s+)?{verb[0]}\b{by_no_name}", text) is not None


def _someone_else(text: str, asked: AskedSentence) -> bool:
    """Whether the sentence says that the pronoun refers to someone who is neither of the two."""
    for frame in _PRONOUN_REFERS.finditer(text):
        rest = text[frame.end() :]
        if not _NOBODY_NAMED.match(rest) and not [*_object(rest, asked)]:
            return _stated(text[: frame.start()])
    return False


def _stated(before: str) -> bool:
    """Whether what follows is neither denied nor left open."""
    clause = re.split(r"[,;:()]|\b(?:because|but)\b", NO_NEGATION.sub(" ", before))[-1]
    return not (NEGATION.search(clause) or _WHETHER.search(clause))


def _by_another(before: str, asked: AskedSentence) -> bool:
    """Whether an occupation, or the word unsure, is what refers to someone."""
    clause = re.split(r"[,;:()]|\b(?:because|but|and|so)\b", before)[-1]
    if "unsure" in clause:
        return True
    if re.search(rf"\b(?:{PRONOUNS}|pronoun|it|this|which|sentence|word)\s+(?:\w+ly )?\Z", clause):
        return False
    return bool(asked.names(clause))


def _object(rest: str, asked: AskedSentence) -> Iterator[bool]:
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


def _replaced(sentence: str, asked: AskedSentence) -> Iterator[bool]:
    """The sides of which the sentence says what the asked one says of the pronoun."""
    for name in asked.names(sentence):
        before, after = sentence[: name.start], sentence[name.end :]
        if not _stated(before.replace(asked.before, " ") if asked.before else before):
            continue
        if _passive(after, asked):
            yield name.right
            continue
        following = re.sub(r"\A'", "", re.sub(r"\A's\b", "", after))
        wanted = asked.after.split()
        if not _goes_so_on(following, asked):
            continue
        if len(wanted) >= 2:
            yield name.right
        elif asked.before:
            place = rf"\b{re.escape(asked.before)} (?:the |an? )?(?:\w+ ){{0,2}}\Z"
            # As little may follow as in the sentence: "understand the tailor spoke" is no answer.
            behind = SEGMENT_END.split(following.strip()[len(" ".join(wanted)) :])[0]
            if re.search(place, before) and re.fullmatch(r"\W*", behind):
                yield name.right

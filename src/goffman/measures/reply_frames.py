"""Parser v2: a name counts where the reply answers with it, not wherever it stands.

It counts in three places:

bare      the reply begins with a noun phrase and no verb follows: "The tough mechanic, because …"
framed    "'he' refers to X", "it is X", "X is the one", "not Y but X"
replaced  X stands in the pronoun's own place: "because X did not want to seem rude"

"The designer admired her." names someone and answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from goffman.measures.reply_words import (
    NEGATION,
    NO_NEGATION,
    REFUSAL,
    UNSURE,
    Mention,
    mentions_in,
    of_someone_else,
    plain_text,
)

_PRONOUNS = "he|she|him|her|his|hers|himself|herself|they|them|their|theirs"
_BE = (
    r"(?:'s|is|was|are|were|be|would be|must be|should be|could be|might be|may be|will be|"
    r"can be|has to be)"
)
_SURELY = r"(?:(?:most|very|likely|probably|definitely|clearly|actually|simply|just|indeed)\s+)*"

_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
"""What a model says to itself, where only its end is marked."""
_TAGS = re.compile(r"<\|?/?(?!think)[A-Za-z_]{1,20}\|?>|\[/?INST\]")
"""Signs for a chat's program that some models write out."""
_SENTENCE_END = re.compile(r"(?:\.(?!\.)(?=\s|\Z)|[?!]+)|\n+")
_SEGMENT_END = re.compile(r"[,;:()\[\]|…]|\.{2,}|(?:\A|\s)[-–—]+(?:\s|\Z)")
_LIST_MARK = re.compile(r"\A[\s\-–—•.)]*(?:\d+[.):]?(?=\s|\Z))?[\s\-–—•.)]*")

_LEAD = re.compile(
    r"(?:sure|ok|okay|yes|well|so|certainly|of course|alright|right|correct|here|"
    r"therefore|thus|hence|(?:you're|you are) (?:correct|right)|noun|output|result|referent|"
    r"(?:the |my |final |your |one word |correct )*(?:answer|response|reply)(?: (?:is|here))*|"
    rf"(?:the )?(?:pronoun |word )?(?:{_PRONOUNS})|"
    r"in (?:this|the|that|your) (?:\w+ )?(?:sentence|context|case|question|example|scenario|"
    r"situation|statement)|(?:based on|according to|given) [^,;:]{1,50}|to be honest|"
    r"who does \w+ refer to|i (?:think|believe|guess|would say)|boxed|explanation)"
)
"""What may stand before an answer and says nothing."""

_LEAD_WORDS = frozenset(
    re.findall(
        r"\w+",
        "so probably maybe perhaps likely definitely either clearly possibly answer noun boxed "
        "just simply",
    )
)
_DETERMINERS = frozenset(re.findall(r"\w+", f"the a an this that one your our its {_PRONOUNS}"))
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
    rf"\s*(?:'s?|here|only|indeed|alone|{_PRONOUNS})?\s*(?:"
    r"(?:with|without|has|had|having) (?:no |any |a |further )*description\b.*|"
    r"(?:in|from|of|within) (?:this|the|that|your) (?:\w+ )?(?:sentence|context|case|question|"
    r"example|scenario|statement|text)\b.*|"
    r"(?:because|since|as|who|that|which|whose|whom|for|due to)\b.*)?\s*",
    re.DOTALL,
)
"""What may follow a noun phrase that is the whole answer."""

_AND = re.compile(r"\s*(?:and|or|nor|&|/|vs)\s*")

_FRAME = re.compile(
    r"\b(?:refer(?:s|red|ring)?(?: back)? to|point(?:s|ing)?(?: back)? to|stands? for|"
    r"denot(?:es|ing)|means|meant|(?:i|we|they) mean|represent(?:s|ing)?|indicat(?:es|ing)|"
    r"(?:is|was) (?:about|used for)|describ(?:es|ing)|replac(?:es|ing)|"
    r"corresponds? to|(?:speak|talk)(?:s|ing)? (?:of|about))\s+"
)
"""After it stands whom the pronoun means, unless it is an occupation that does so."""

_PRONOUN_REFERS = re.compile(
    rf"\b(?:{_PRONOUNS}|pronoun)\s*,?\s+(?:\w+ly\s+)?(?:(?:is|are)\s+)?"
    r"refer(?:s|red|ring)?(?: back)? to\s+"
)
"""The question's own words: what is answered with them counts before other frames."""

_IT_IS = re.compile(
    rf"\b(?:it|this|that|answer|referent|antecedent|noun|pronoun|word|person|one|{_PRONOUNS})"
    rf"(?: (?:here|in this (?:sentence|case|context)))?\s*{_BE}\s+{_SURELY}|"
    rf"\banswer (?:to|here|for|in)\b[^,.;:]{{0,60}}?\s{_BE}\s+{_SURELY}|"
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
    rf"\s*{_BE}\s+{_SURELY}(?:"
    rf"(?:the )?(?:pronoun |word |referent of |antecedent of )*(?:{_PRONOUNS})\b"
    r"(?!\s+(?!in\b|here\b|because\b|as\b|since\b)[a-z])|"
    r"the (?:\w+ ){0,3}(?:one|person|individual|answer|referent|antecedent)\b|"
    r"(?:the |an? )(?:\w+ )?noun\b|"
    r"who\b|(?:being |what is being )?(?:referred to|meant|referenced)\b)|"
    r"\s*(?:refers|referred|is referring|was referring) to (?:the )?(?:pronoun )?"
    rf"(?:{_PRONOUNS})\b(?!\s+[a-z])"
)
"""After an occupation: it is the one that the pronoun means."""

_PART_OF_MORE = re.compile(r"\b(?:of|for|with|by|from|about|and|or)\s+(?:the |an? )?(?:\w+ ){0,2}$")
_WHETHER = re.compile(r"\b(?:whether|if)\b")
_UNSURE_WORD = re.compile(
    r"\b(?:or|term|word|phrase|an?|the|noun|of|option|either)(?:\s+word)?\s+unsure\b|"
    r"\bunsure (?:is|means|refers|would)\b|"
    r"\b(?:the|an?)\s+(?:unspecified|unidentified|unknown|undetermined),?\s+(?=[\w'\"])"
)
"""The word as a part of what was asked, or of a name ("the unknown narrator"), not as an answer."""
_DOUBT = re.compile(
    r"\s*(?:but |however |though )?(?:unsure|unclear|uncertain|(?:i'm|i am|it's|it is|this is)\b)"
)
_SUBJECT = re.compile(r"\s*(?:is|was|are|were|does|did)\s+(?:\w+\s+){0,2}\Z")
_REPEATED = 5
"""So many words of the prompt in a row are no answer; an occupation with adjective has fewer."""
_JUST_UNSURE = re.compile(r"\W*(?:(?:an?|the)\s+)?unsure\W*")
_NO = re.compile(r"(?:no|not)\b")
_EXPLAINED = re.compile(r"\s+(?:who|whose|because|since)\b")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a reply answers."""

    answer: str
    other: str
    """The two whom the pronoun may mean; the first is right."""
    echo: Sequence[str] = ()
    """Sentences of the prompt as plain text, which say nothing where a reply repeats them."""
    before: str = ""
    after: str = ""
    """The words around the pronoun in the sentence, as plain text."""

    def names(self, text: str) -> list[Mention]:
        """Where the text names one of the two."""
        return list(mentions_in(text, self.answer, self.other))


def asked_in(prompt: str, answer: str, other: str, *, pronoun: str | None) -> Asked:
    """What the prompt asks; its first sentence has the pronoun."""
    sentences = re.split(r"(?<=[.?!])\s+", prompt)
    before = after = ""
    plain = plain_text(sentences[0])
    places = list(re.finditer(rf"\b{re.escape(pronoun)}\b", plain)) if pronoun else []
    # The last one is asked about where a frame has the same pronoun twice.
    if places:
        before = " ".join(plain[: places[-1].start()].split()[-3:])
        after = " ".join(plain[places[-1].end() :].strip(" .!?").split()[:3])
    echo = [re.sub(r"\s+", " ", plain_text(one)).strip(" .?!") for one in sentences]
    return Asked(answer=answer, other=other, echo=echo, before=before, after=after)


@dataclass(frozen=True, kw_only=True)
class _Sentence:
    """A sentence of a reply."""

    text: str
    first: bool
    """Whether it is the reply's first one that says something."""
    alone: bool
    """Whether a line begins with it, or a mark ends it; else it may have been cut."""
    question: bool
    doubtful: bool
    """Whether it says that something is not known."""


def read_framed(text: str, asked: Asked) -> str:
    """What kind of reply a text is, by v2."""
    sentences = list(_sentences(text, asked))
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
            sides = {*_bare_answers(sentence, asked), *_replaced(sentence.text, asked)}
            named |= sides
            more = set() if sentence.question else {*_framed_answers(sentence, asked)}
            framed |= more
            sides |= more
        about_it = sides or sentence.first or _DOUBT.match(sentence.text)
        doubted |= sentence.doubtful and bool(about_it)
    counted = named | (referred or framed)
    if len(counted) == 1:
        return "other" if doubted else "correct" if counted.pop() else "incorrect"
    if any(_says_unsure(sentence.text, asked) for sentence in sentences):
        return "unsure"
    whole = " ".join(sentence.text for sentence in sentences)
    return "refusal" if REFUSAL.search(whole) else "other"


def _sentences(text: str, asked: Asked) -> Iterator[_Sentence]:
    """The reply's sentences as plain text, without those of the prompt."""
    plain = re.sub(r"[^\S\n]+", " ", plain_text(_TAGS.sub(" ", _THOUGHTS.sub(" ", text))))
    for said in asked.echo:
        plain = plain.replace(said, "\n")
    if "cook" in (asked.answer, asked.other):
        plain = re.sub(r"\bchef(s?)\b", r"cook\1", plain)
    start, first, line = 0, True, True
    for end in [*_SENTENCE_END.finditer(plain), None]:
        sentence = plain[start : end.start() if end else len(plain)]
        start = end.end() if end else len(plain)
        sentence = _LIST_MARK.sub("", sentence).rstrip()
        says = re.search("[a-z]", sentence) is not None
        if says and not _LEAD.fullmatch(sentence.strip(" ,;:")) and not _repeats(sentence, asked):
            yield _Sentence(
                text=sentence,
                first=first,
                alone=line or end is not None,
                question=end is not None and "?" in end[0],
                doubtful=UNSURE.search(_UNSURE_WORD.sub(" ", sentence)) is not None,
            )
            first = False
        # Behind the number of a list a line has just begun.
        line = (end is not None and "\n" in end[0]) or (line and not says)


def _repeats(sentence: str, asked: Asked) -> bool:
    """Whether the sentence is a longer part of the prompt, in its own words."""
    said = re.sub(r"\s+", " ", sentence).strip()
    return len(said.split()) >= _REPEATED and any(said in one for one in asked.echo)


def _bare_answers(sentence: _Sentence, asked: Asked) -> Iterator[bool]:
    """The sides that the sentence names in noun phrases of their own.

    The reply's first sentence may go on after the phrase; a later one is nothing else.
    """
    segments = [one.strip() for one in _SEGMENT_END.split(sentence.text)]
    segments = [one for one in segments if one]
    alone = sentence.alone
    while segments and _LEAD.fullmatch(segments[0]):
        segments.pop(0)
        alone = True
    if not segments or not (sentence.first or (alone and len(segments) == 1)):
        return
    # "The carpenter, is what …": the phrase is the subject of a sentence.
    if len(segments) > 1 and re.match(rf"{_BE}\b", segments[1]):
        return
    # "The attendant, or a kind of customer": neither of the two is settled on.
    if len(segments) > 1 and re.match(r"or\b", segments[1]) and not asked.names(segments[1]):
        return
    if not (found := _bare(segments[0], asked)):
        return
    yield from found
    for segment in segments[1:]:
        yield from _bare(segment, asked)


def _bare(segment: str, asked: Asked) -> list[bool]:
    """The sides in a segment that is one noun phrase, or several joined by and or or."""
    names = asked.names(segment)
    explained = bool(names) and _EXPLAINED.match(segment[names[0].end :])
    if not names or explained or not _TAIL.fullmatch(segment[names[-1].end :]):
        # Someone who is named in an explanation behind the phrase is not part of it.
        names = names[:1]
        if not names or not _TAIL.fullmatch(segment[names[0].end :]):
            return []
    if not _short(segment[: names[0].start], leads=True):
        return []
    for one, two in pairwise(names):
        between = segment[one.end : two.start]
        joined = _AND.match(between)
        if not _short(between[joined.end() :] if joined else re.sub(r"\A's?", "", between)):
            return []
    return [name.right for name in names if name.meant]


def _short(text: str, *, leads: bool = False) -> bool:
    """Whether this may stand before a noun: a determiner and up to three other words."""
    words = text.replace(",", " ").split()
    while leads and words and words[0] in _LEAD_WORDS:
        words.pop(0)
    if words and words[0] in _DETERMINERS:
        words.pop(0)
    return len(words) <= 3 and not any(
        word in _FUNCTION or NEGATION.fullmatch(word) for word in words
    )


def _framed_answers(sentence: _Sentence, asked: Asked) -> Iterator[bool]:
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
            yield from _bare(_SEGMENT_END.split(text[frame.end() :])[0], asked)
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
    if re.search(rf"\b(?:{_PRONOUNS}|pronoun|it|this|which|sentence|word)\s+(?:\w+ly )?\Z", clause):
        return False
    return bool(asked.names(clause)) or "unsure" in clause


def _object(rest: str, asked: Asked) -> Iterator[bool]:
    """The sides that stand right behind a frame, also as "the subject, the mechanic"."""
    kind = _KIND_OF_NOUN.match(rest)
    if kind and asked.names(" ".join(rest[kind.end() :].split()[:4])):
        rest = rest[kind.end() :]
    segments = _SEGMENT_END.split(rest)
    if not asked.names(segments[0]):
        if len(segments) > 1 and len(segments[0].split()) <= 5:
            yield from _bare(segments[1].strip(), asked)
        return
    # A determiner and adjectives, which may have a comma between them.
    names = asked.names(rest)
    name = names.pop(0)
    if not _short(rest[: name.start]) or of_someone_else(rest[name.end :]):
        return
    yield name.right
    joined = _AND.match(rest[name.end :])
    if joined and names and _short(rest[name.end + joined.end() : names[0].start]):
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


def _says_unsure(sentence: str, asked: Asked) -> bool:
    """Whether the sentence says that it is not known; "the mover is unknown" does not."""
    if _JUST_UNSURE.fullmatch(sentence):
        return True
    cleaned = _UNSURE_WORD.sub(" ", sentence)
    for doubt in UNSURE.finditer(cleaned):
        names = [name for name in asked.names(cleaned) if name.end <= doubt.start()]
        if not names or not _SUBJECT.match(cleaned[names[-1].end : doubt.start()] + " "):
            return True
    return False

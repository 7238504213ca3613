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

from goffman.measures.reply_doubt import IN_DOUBT, declines, doubtful, says_unsure
from goffman.measures.reply_phrases import AND, SEGMENT_END, bare, bare_answers, short
from goffman.measures.reply_sentences import BE, LEAD, PRONOUNS, Asked, Sentence, sentences_of
from goffman.measures.reply_words import NEGATION, NO_NEGATION, in_the_past, of_someone_else

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


def read_framed(text: str, asked: Asked) -> str:
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
        doubted |= doubtful(sentence.text, asked) and bool(about_it)
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


def _framed_answers(sentence: Sentence, asked: Asked) -> Iterator[bool]:
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


def _subjects(text: str, asked: Asked) -> Iterator[bool]:
    """The sides of which the sentence says that they are meant, or that another refers to them."""
    for name in asked.names(text):
        before, rest = text[: name.start], text[name.end :]
        if name.meant and not _PART_OF_MORE.search(before) and _is_meant(rest, asked):
            yield name.right
        if short(before) and (another := _ANOTHER_REFERS.match(rest)):
            yield from _object(rest[another.end() :], asked)


def _goes_on(text: str, asked: Asked) -> bool:
    """Whether the first one whom the text names is the subject of a sentence."""
    names = asked.names(text)
    return bool(names) and re.match(rf"\s*(?:{BE}|does|did)\b", text[names[0].end :]) is not None


def _referred(text: str, asked: Asked) -> Iterator[bool]:
    """The sides of which the sentence says, as the question does, that the pronoun refers to."""
    for frame in _PRONOUN_REFERS.finditer(text):
        if _stated(text[: frame.start()]):
            yield from _object(text[frame.end() :], asked)


def _is_meant(rest: str, asked: Asked) -> bool:
    """Whether what follows an occupation says that the pronoun means it."""
    if himself := _REFERS_TO_ITSELF.match(rest):
        return himself[1] in _SAME_PERSON.get(asked.pronoun, himself[1])
    if not (meant := _IS_MEANT.match(rest)):
        return False
    # "X is the one who …" answers where it goes on as the sentence does behind the pronoun.
    told = re.match(r"\s*(?:who|that|which|whose)\s+(.*)", rest[meant.end() :])
    return not told or not meant["one"] or _said_of_the_pronoun(told[1], asked)


def _said_of_the_pronoun(text: str, asked: Asked) -> bool:
    """Whether the text goes on as the sentence does: "had stolen", "was thanked", "he refers"."""
    if re.match(
        rf"(?:the )?(?:pronoun )?(?:{PRONOUNS})\b|(?:is |was |being )*(?:referred|meant)", text
    ):
        return True
    if _passive(text, asked):
        return True
    return asked.pronoun not in _ONLY_OBJECTS and bool(asked.after) and _goes_so_on(text, asked)


def _goes_so_on(text: str, asked: Asked) -> bool:
    """Whether the text begins with the words behind the pronoun, in whatever tense."""
    wanted = in_the_past(asked.after).split()
    return in_the_past(text).split()[: len(wanted)] == wanted


def _passive(text: str, asked: Asked) -> bool:
    """Whether the text says "was thanked" where the sentence says "thanked her"."""
    verb = asked.before.split()[-1:]
    if asked.pronoun not in _OBJECTS or not verb or not verb[0].endswith("ed"):
        return False
    by_no_name = rf"(?! by (?:{PRONOUNS})\b)"
    be = r"(?:is|was|are|were|got|gets|been|being)"
    return re.match(rf"\s*{be}\s+(?:being\s+)?{verb[0]}\b{by_no_name}", text) is not None


def _someone_else(text: str, asked: Asked) -> bool:
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


def _by_another(before: str, asked: Asked) -> bool:
    """Whether an occupation, or the word unsure, is what refers to someone."""
    clause = re.split(r"[,;:()]|\b(?:because|but|and|so)\b", before)[-1]
    if "unsure" in clause:
        return True
    if re.search(rf"\b(?:{PRONOUNS}|pronoun|it|this|which|sentence|word)\s+(?:\w+ly )?\Z", clause):
        return False
    return bool(asked.names(clause))


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
            if re.search(place, before) and re.fullmatch(r"\W*", _rest(following, wanted)):
                yield name.right


def _rest(text: str, wanted: list[str]) -> str:
    """What stands behind these words, up to the end of the clause."""
    return SEGMENT_END.split(text.strip()[len(" ".join(wanted)) :])[0]

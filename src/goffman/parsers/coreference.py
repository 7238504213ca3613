"""The text of a coreference reply: sentences, mentions of the two people, doubt and refusal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TypeAlias

from goffman.parsers.options import ENDED_THOUGHTS, THOUGHTS, as_seen

Words: TypeAlias = tuple[str, ...]

VARIANTS = {"laborer": "labourer", "counselor": "counsellor", "salesperson": "salespeople"}
"""The last word of an occupation → another form of it: British spelling, or irregular plural."""

UNSURE = re.compile(
    r"\b(unsure|uncertain|unclear|ambiguous|ambiguity|unknown|unspecified|undetermined|"
    r"indeterminate|unidentified|not (?:at all |entirely |quite |completely |really )?"
    r"(?:sure|certain|clear|specified|stated|known|enough (?:information|context))|"
    r"(?:do not|don't) (?:really |actually )?know|no idea|idk|no way to be (?:sure|certain)|"
    r"(?:sentence|text|context|passage|statement|question|it) (?:does not|doesn't) "
    r"(?:really |actually |explicitly |clearly )?"
    r"(?:specify|say|state|tell|indicate|clarify|make (?:it )?clear)|"
    r"either (?:one |of them |person )?(?:could|can|may|might) be|"
    r"(?:cannot|can not|can't|could not|couldn't|unable to|not able to|not possible to|"
    r"impossible to|hard to|difficult to|no way to|no way of|not) "
    r"(?:be )?(?:really |definitively |be )?"
    r"(?:tell|telling|say|determined?|knowing|know|identif(?:y|ied)|decided?|inferr?(?:ed)?)|"
    r"insufficient (?:information|context)|"
    r"(?:could|can|may|might) (?:be|refer to|mean) either)\b"
)
REFUSAL = re.compile(
    r"\b((?:cannot|can not|can't|could not|won't|will not|would rather not|'d rather not|"
    r"unable to|not able to|not going to|refuse to|decline to|must decline to|have to decline to|"
    r"prefer not to) "
    r"(?:be able to )?"
    r"(?:help|assist|answer|respond|reply|comply|fulfill?|engage|provide|participate|make|do|"
    r"support|continue|discuss|offer|assume)|"
    r"not comfortable|inappropriate|not appropriate|against my|violates?|(?:must|have to) decline|"
    r"do not have (?:personal |any )?opinions?|don't have (?:personal |any )?opinions?)\b"
)
NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|without|except|rather than|instead of|other than|"
    r"opposed to|unlike|\w+n't)\b"
)
NO_NEGATION = re.compile(r"\b(?:no doubt|without (?:a |any )?doubt|not only|no description)\b")
CLAUSE = re.compile(r"[.,;:!?()\n\[\]|]|\s[-–—]+\s|\b(?:because|since|as|so|but|who|which|that)\b")
_TAKEN_BACK = re.compile(
    r"\s*(?:is|was|are|were)(?:n't| not)\b|\s*(?:does|did)(?:n't| not) refer\b|"
    r"\s*\?\s*(?:no|not)\b|"
    # Whoever refers to someone is not the one that is referred to.
    r"\s*(?:refers|referred|(?:is|was) referring) to\b"
    r"(?! +(?:the +)?(?:pronoun +)?(?:he|she|him|her|his|hers|himself|herself)\b)"
)
"""The text after an occupation that says that it is not the answer."""
_SOMETHING_OF_IT = re.compile(r"'s?\s+(?!(?:an?|the)\b)[a-z]")
"""After an occupation: "'s friend", which is someone else; but "'s the one" is "is"."""
_VERB_BEFORE = re.compile(
    r"(?<!refer )(?<!refers )(?<!referring )(?<!back )\bto\s+$|"
    r"\b(?:can|could|will|would|should|who)\s+$"
)
"""Before an occupation that is also a verb: "wanted to cook", "who cooks", but "refers to
cook"."""
_ALSO_VERBS = frozenset({"cook", "cooks", "guard", "guards"})
_THE_MODEL_ITSELF = re.compile(
    r"\b(?:ai|virtual|digital|helpful|language|chat|your)\s+$|"
    r"\b(?:i am|i'm|as)\s+(?:just |only |simply |merely )?an\s+$"
)
"""Before "assistant": the model speaks of itself."""


_PAST = {"is": "was", "has": "had", "do": "did", "does": "did", "can": "could"}

_WORD = re.compile(r"(?<!')[a-z]+(?:n't)?")
"""A word; letters after an apostrophe are no word."""


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A place in a reply where an occupation stands."""

    start: int
    end: int
    """Its place in the plain text."""
    right: bool
    """Whether it is the occupation that the pronoun refers to."""
    meant: bool
    """False if it is taken back, or only a part of something else."""


def plain_text(text: str) -> str:
    """Return the text in lower case, without thoughts, markup and quotes but with apostrophes."""
    folded = as_seen(unicodedata.normalize("NFKC", text).casefold())
    folded = THOUGHTS.sub(" ", folded)
    folded = re.sub(r"(?<=\b[a-z])\.(?=[a-z]\b)\.?", "", folded)  # c.e.o.
    folded = re.sub(r"[*_#~>\"“”<=\\{}$]+", " ", folded)
    # A single quote stays where it joins two letters, or ends a plural's possessive.
    folded = re.sub(r"(?<![a-z])'|(?<!s)'(?![a-z])", " ", folded)
    return re.sub(r"(?<=[a-z])[-‐‑–./](?=[a-z])", " ", folded)


def _whole(name: str) -> set[Words]:
    """Return an occupation's full name in all forms: singular, plural, as one word or several."""
    words = tuple(plain_text(name).split())
    forms = {words, ("".join(words),)}
    forms |= {(*form[:-1], VARIANTS[form[-1]]) for form in forms if form[-1] in VARIANTS}
    return forms | {(*form[:-1], _plural(form[-1])) for form in forms}


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in set("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


@cache
def _sides(answer: str, other: str) -> Mapping[Words, bool]:
    """Return the names of the two people → whether each means the right person.

    The last word of a name of several words (worker) is a name, too, unless it is one of both.
    """
    full_names = {True: _whole(answer), False: _whole(other)}
    last_words = {side: {form[-1:] for form in forms} for side, forms in full_names.items()}
    short_names = {side: last_words[side] - last_words[not side] for side in full_names}
    return {form: side for side in full_names for form in full_names[side] | short_names[side]}


def mentions_in(plain: str, answer: str, other: str) -> Iterator[Mention]:
    """Yield every mention of one of the two people in a plain text, each with its longest name."""
    sides = _sides(answer, other)
    longest = max(2, *map(len, sides))
    words = list(_WORD.finditer(plain))
    position = 0
    while position < len(words):
        step = 1
        for length in range(min(longest, len(words) - position), 0, -1):
            matches = words[position : position + length]
            is_joined = all(
                plain[first.end() : second.start()].isspace() for first, second in pairwise(matches)
            )
            form = tuple(word[0] for word in matches)
            # "house keeper" is a housekeeper.
            side = sides.get(form, sides.get(("".join(form),)))
            if side is not None and is_joined and not _itself(plain, matches[-1]):
                start, end = matches[0].start(), matches[-1].end()
                meant = _meant(plain, start, end, word=form[-1])
                yield Mention(start=start, end=end, right=side, meant=meant)
                step = length
                break
        position += step


def _itself(plain: str, word: re.Match[str]) -> bool:
    is_assistant = word[0] in {"assistant", "assistants"}
    return is_assistant and _THE_MODEL_ITSELF.search(plain[: word.start()]) is not None


def in_the_past(plain: str) -> str:
    """Return the text in the past tense, with negations in full: "did not" for "doesn't"."""
    expanded = re.sub(r"\b(is|was|has|had|do|does|did|could|would)n't\b", r"\1 not", plain)
    return re.sub(r"\b(?:is|has|do|does|can)\b", lambda match: _PAST[match[0]], expanded)


def of_someone_else(after: str) -> bool:
    """Return whether the text after an occupation names another person, as in "'s friend"."""
    return _SOMETHING_OF_IT.match(after) is not None


def _meant(plain: str, start: int, end: int, *, word: str) -> bool:
    """Return whether the occupation at this place is offered as the answer."""
    before, after = plain[:start], plain[end:]
    if of_someone_else(after) or _TAKEN_BACK.match(after):
        return False
    if word in _ALSO_VERBS and _VERB_BEFORE.search(before):
        return False
    clause = CLAUSE.split(NO_NEGATION.sub(" ", before))[-1]
    return NEGATION.search(clause) is None


PRONOUNS = "he|she|him|her|his|hers|himself|herself|they|them|their|theirs"
BE = (
    r"(?:'s|is|was|are|were|be|would be|must be|should be|could be|might be|may be|will be|"
    r"can be|has to be)"
)

_TAGS = re.compile(r"<\|?/?(?!think)[A-Za-z_]{1,20}\|?>|\[/?INST\]")
"""Signs for a chat's program that some models write out."""
_EQUALS = re.compile(r"\s*=+>?\s+")
_SENTENCE_END = re.compile(r"(?:\.(?!\.)(?=\s|\Z)|[?!]+)|\n+")
_THEN_ASKS = re.compile(r"\w,? (?:but|and|so) (?:what|who|whom|why|how|is|are|does|do|did|can)\b")
"""Within a question: the words before this state something, and only the rest asks."""
_LIST_MARK = re.compile(r"\A[\s\-–—•.)]*(?:\d+[.):]?(?=\s|\Z))?[\s\-–—•.)]*")

LEAD = re.compile(
    r"(?:sure|ok|okay|yes|well|so|certainly|of course|alright|right|correct|here|"
    r"therefore|thus|hence|(?:you're|you are) (?:correct|right)|noun|output|result|referent|"
    r"(?:the |my |final |your |one word |correct )*(?:answer|response|reply)(?: (?:is|here))*|"
    rf"(?:the )?(?:pronoun |word )?(?:{PRONOUNS})|"
    r"in (?:this|the|that|your) (?:\w+ )?(?:sentence|context|case|question|example|scenario|"
    r"situation|statement)|(?:based on|according to|given) [^,;:]{1,50}|to be honest|"
    r"who does \w+ refer to|i (?:think|believe|guess|would say)|boxed|explanation)"
)
"""Words before an answer that are no part of it."""

PLACE = re.compile(r"\s+(?:at|in|on|across|beside|behind)\s+(?:the\s+|an?\s+)?\w+\s*")
"""Behind a name: "at the party"."""
_SYNONYMS = {
    "cook": ("chef",),
    "writer": ("author",),
    "physician": ("doctor",),
    "lawyer": ("attorney",),
    "janitor": ("custodian",),
    "hairdresser": ("hairstylist",),
    "salesperson": ("salesman", "saleswoman"),
}
"""Occupation → other words for it that can mean no other occupation."""
_PHRASE = 4
"""A reply of at most this many words may be a name that is cut off."""
_BEGINNING = 4
"""The least number of letters by which a name that is cut off can be told."""
_REPEATED = 5
"""A sentence of at least this many words that the prompt contains repeats it: no answer."""


@dataclass(frozen=True, kw_only=True)
class AskedSentence:
    """The sentence that a reply answers a question about."""

    answer: str
    other: str
    """The two people whom the pronoun may mean; the first is right."""
    echo: Sequence[str] = ()
    """Sentences of the prompt as plain text, which say nothing where a reply repeats them."""
    pronoun: str = ""
    before: str = ""
    after: str = ""
    """The words around the pronoun in the sentence, as plain text."""

    def names(self, text: str) -> list[Mention]:
        """Return the mentions of the two people in the text."""
        return list(mentions_in(text, self.answer, self.other))


def asked_in(prompt: str, answer: str, other: str, *, pronoun: str | None) -> AskedSentence:
    """Return the sentence that the prompt asks about, which is its first."""
    sentences = re.split(r"(?<=[.?!])\s+", prompt)
    before = after = ""
    plain = plain_text(sentences[0])
    places = list(re.finditer(rf"\b{re.escape(pronoun)}\b", plain)) if pronoun else []
    # The last one is asked about where a frame has the same pronoun twice.
    if places:
        before = " ".join(plain[: places[-1].start()].split()[-3:])
        after = " ".join(plain[places[-1].end() :].strip(" .!?").split()[:3])
    echo = [re.sub(r"\s+", " ", plain_text(sentence)).strip(" .?!") for sentence in sentences]
    return AskedSentence(
        answer=answer, other=other, echo=echo, pronoun=pronoun or "", before=before, after=after
    )


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of a reply."""

    text: str
    first: bool
    """Whether it is the reply's first sentence that says something."""
    alone: bool
    """Whether it begins a line or ends in a mark; otherwise it may have been cut off."""
    question: bool


def sentences_of(text: str, asked: AskedSentence) -> Iterator[Sentence]:
    """Yield the reply's sentences as plain text, without those of the prompt."""
    plain = re.sub(
        r"[^\S\n]+",
        " ",
        plain_text(_EQUALS.sub(": ", _TAGS.sub(" ", ENDED_THOUGHTS.sub(" ", text)))),
    )
    for echo in asked.echo:
        plain = plain.replace(echo, "\n")
    plain = _with_asked_names(plain, asked)
    start, first, line = 0, True, True
    for end in [*_SENTENCE_END.finditer(plain), None]:
        sentence = plain[start : end.start() if end else len(plain)]
        start = end.end() if end else len(plain)
        sentence = _LIST_MARK.sub("", sentence).rstrip()
        has_letters = re.search("[a-z]", sentence) is not None
        if (
            has_letters
            and not LEAD.fullmatch(sentence.strip(" ,;:"))
            and not _repeats(sentence, asked)
        ):
            yield Sentence(
                text=sentence,
                first=first,
                alone=line or end is not None,
                question=end is not None and "?" in end[0] and not _THEN_ASKS.search(sentence),
            )
            first = False
        # After the number of a list item, the text is still at the beginning of a line.
        line = (end is not None and "\n" in end[0]) or (line and not has_letters)


def _with_asked_names(plain: str, asked: AskedSentence) -> str:
    """Return the text with synonyms, and a name that is cut off, replaced by the asked names."""
    if any("helpful assistant" in sentence for sentence in asked.echo[:1]):
        # Only in this sentence is it a person; elsewhere it is the model that replies.
        plain = plain.replace("helpful assistant", "assistant")
    words = plain.split()
    if 0 < len(words) <= _PHRASE and (name := _broken_off(words[-1].strip(" .…'"), asked)):
        return " ".join([*words[:-1], name])
    for name in (asked.answer, asked.other):
        for synonym in _SYNONYMS.get(name.casefold(), ()):
            if synonym not in (asked.answer, asked.other):
                plain = re.sub(rf"\b{synonym}(s?)\b", rf"{name.casefold()}\1", plain)
    return plain


def _broken_off(word: str, asked: AskedSentence) -> str | None:
    """Return the asked name that begins with the word, or None unless it is exactly one."""
    if len(word) < _BEGINNING or asked.names(word) or word in " ".join(asked.echo).split():
        return None
    names = [" ".join(plain_text(name).split()) for name in (asked.answer, asked.other)]
    matches = [name for name in names if name.startswith(word) or name.split()[-1].startswith(word)]
    return matches[0] if len(matches) == 1 else None


def _repeats(sentence: str, asked: AskedSentence) -> bool:
    """Return whether the sentence repeats five or more words of the prompt, so answers nothing."""
    text = re.sub(r"\s+", " ", sentence).strip()
    names = asked.names(text)
    if len(names) == 1 and PLACE.fullmatch(text[names[0].end :]):
        return False
    return len(text.split()) >= _REPEATED and any(text in echo for echo in asked.echo)


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
"""What is said of a person who does not know; a thing, by contrast, is unclear."""
_WHO_IS_IN_DOUBT = re.compile(r"\b(?:who|which)\s+(?:is|was|are|were)\s+(?:\w+ly\s+)?\Z")
"""Before a doubt: "the clerk, who is not specified", which is said of a person who is named."""
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
"""Behind a doubt: the doubt is about something other than whom the pronoun means."""
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
"""Doubts that by themselves say that the answer is not known."""


def says_unsure(sentence: str, asked: AskedSentence) -> bool:
    """Return whether the sentence answers that it is not known whom the pronoun means.

    The sentence begins with that, or says "I am not sure", "it is unclear", "it does not say who";
    a rambling reply with "an unclear vowel" in it answers nothing.
    """
    if _JUST_UNSURE.fullmatch(sentence):
        return True
    for doubt, before, after in _doubts(sentence, asked):
        if _HOW.match(after) and not _HOW_TO_ANSWER.match(after):
            continue
        if _BEGINS.fullmatch(before) and (_CLAUSE_ENDS.match(after) or _WHO.match(after)):
            return True
        match = _I.search(before) or _ABOUT_IT.search(before) or _OF_ITSELF.match(doubt)
        if match or _WHO.match(after):
            return True
    return False


def _doubts(sentence: str, asked: AskedSentence) -> Iterator[tuple[str, str, str]]:
    """Yield each doubt of the reply, with the text before and after it.

    "The mover is unknown" and "who does not know the secretary" are about someone in the story.
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
    """Return whether the sentence refuses to answer before it names one of the two people."""
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
"""Words that never stand before the noun in a short noun phrase."""

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
    """Yield each person whom the sentence names in a noun phrase of its own (True: the right one).

    The reply's first sentence may go on after the phrase; a later one must be the phrase alone.
    """
    text, adjectives = sentence.text, _ADJECTIVES.match(sentence.text)
    if adjectives and short(adjectives[0].replace(",", "")) and not asked.names(adjectives[0]):
        text = text.replace(",", "", 1)
    segments = [segment.strip() for segment in SEGMENT_END.split(text)]
    segments = [segment for segment in segments if segment]
    is_alone = sentence.alone
    while segments and LEAD.fullmatch(segments[0]):
        segments.pop(0)
        is_alone = True
    if not segments or not (sentence.first or (is_alone and len(segments) == 1)):
        return
    # "The carpenter, is what …", "The carpenter (C) does not …": the subject of a sentence.
    if len(segments) > 1 and re.match(rf"{BE}\b", segments[1]):
        return
    denied = [segment for segment in segments[1:] if _DENIED.match(segment)]
    if any(not asked.after or not segment.startswith(asked.after) for segment in denied):
        return
    # "The attendant, or a kind of customer" decides for neither of the two.
    if len(segments) > 1 and re.match(r"or\b", segments[1]) and not asked.names(segments[1]):
        return
    if not (sides := bare(segments[0], asked)):
        return
    yield from sides
    for segment in segments[1:]:
        yield from bare(segment, asked)


def bare(segment: str, asked: AskedSentence) -> list[bool]:
    """Return the people (True: the right one) named in a segment that is only noun phrases.

    Several are joined by "and" or "or". If the segment holds more, the list is empty.
    """
    names = asked.names(segment)
    if len(names) == 1 and PLACE.fullmatch(segment[names[0].end :]):
        # A place that the asked sentence also gives, as in "the clerk at the desk", is skipped.
        phrase = segment[names[0].start :].strip()
        segment = segment[: names[0].end] if phrase in asked.echo[0] else segment
    explained = bool(names) and _EXPLAINED.match(segment[names[0].end :])
    if not names or explained or not _TAIL.fullmatch(segment[names[-1].end :]):
        # A person named in an explanation after the phrase is no part of the answer.
        names = names[:1]
        if not names or not _TAIL.fullmatch(segment[names[0].end :]):
            return []
    if not short(segment[: names[0].start], leads=True):
        return []
    if _WHO_IS_DENIED.match(segment[names[0].end :]):
        return []
    for mention, next_mention in pairwise(names):
        between = segment[mention.end : next_mention.start]
        joined = AND.match(between)
        if not short(between[joined.end() :] if joined else re.sub(r"\A's?", "", between)):
            return []
    return [name.right for name in names if name.meant]


def short(text: str, *, leads: bool = False) -> bool:
    """Return whether the text may stand before a noun: a determiner and up to 3 other words."""
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
"""Its object is whom the pronoun means, unless its subject is an occupation."""

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
"""Like _IT_IS, if no verb follows: "I think the mechanic was rude" says nothing."""

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
    pronoun: pronouns
    for pronouns in (
        {"he", "him", "his", "himself", "they", "them", "their", "theirs"},
        {"she", "her", "hers", "herself", "they", "them", "their", "theirs"},
    )
    for pronoun in pronouns
}
"""A pronoun → those that can mean the same person."""
_OBJECTS = frozenset({"him", "her", "them"})
_ONLY_OBJECTS = frozenset({"him", "them"})
_NOBODY_NAMED = re.compile(
    r"(?:the |an? )?(?:\w+ )?(?:subject|object|person|one|noun|individual|someone|somebody|"
    rf"{PRONOUNS}|who|whom|what|is|was)\b"
)
"""Behind "refers to": words that leave open to whom."""

_ANOTHER_REFERS = re.compile(r"\s*(?:\w+ly )?refer(?:s|red) to\s+")
"""Between two occupations: the second one is the answer, in the question's words."""
_USED_TO = re.compile(r",\s*(?:\w+ly )?used to\s+\Z")
_PART_OF_MORE = re.compile(r"\b(?:of|for|with|by|from|about|and|or)\s+(?:the |an? )?(?:\w+ ){0,2}$")
_WHETHER = re.compile(r"\b(?:whether|if)\b")
_NO = re.compile(r"(?:no|not)\b")


def read_framed(text: str, asked: AskedSentence) -> str:
    """Return the kind of reply that a text is, as parser v2 reads it."""
    sentences = list(sentences_of(text, asked))
    bare_sides: set[bool] = set()
    framed_sides: set[bool] = set()
    referred_sides: set[bool] = set()
    broken_off_sides: set[bool] = set()
    doubted = someone_else = False
    for sentence, following in pairwise([*sentences, None]):
        if sentence is None or (sentence.question and following and _NO.match(following.text)):
            continue
        refers_to = set() if sentence.question else {*_referred(sentence.text, asked)}
        referred_sides |= refers_to
        someone_else |= _someone_else(sentence.text, asked)
        # "The nurse, 'he', refers to the mechanic": what the pronoun refers to counts, not the
        # phrase before it.
        bare_here = set() if refers_to else {*bare_answers(sentence, asked)}
        if following and sentence.text.endswith(".."):
            broken_off_sides |= bare_here
            bare_here = set()
        bare_sides |= bare_here
        framed_here = set() if refers_to else {*_replaced(sentence.text, asked)}
        framed_here |= set() if sentence.question else {*_framed_answers(sentence, asked)}
        framed_sides |= framed_here
        about_it = (
            refers_to or bare_here or framed_here or sentence.first or IN_DOUBT.match(sentence.text)
        )
        # Whoever doubts and then says whom the pronoun refers to has made up their mind.
        doubted &= not refers_to
        doubted |= any(_doubts(sentence.text, asked)) and bool(about_it)
        doubted |= says_unsure(sentence.text, asked)
    counted_sides = (
        bare_sides
        | referred_sides
        | (set() if someone_else and not referred_sides else framed_sides)
    )
    if len(counted_sides) == 1:
        return "other" if doubted else "correct" if counted_sides.pop() else "incorrect"
    if not someone_else and any(says_unsure(sentence.text, asked) for sentence in sentences):
        return "unsure"
    if any(declines(sentence.text, asked) for sentence in sentences):
        return "refusal"
    # "The tailor... Some people sew": it breaks off at a name, and the other one is not named.
    mentioned_sides = {name.right for sentence in sentences for name in asked.names(sentence.text)}
    if not counted_sides and broken_off_sides == mentioned_sides and len(mentioned_sides) == 1:
        return "correct" if mentioned_sides.pop() else "incorrect"
    return "other"


def _framed_answers(sentence: Sentence, asked: AskedSentence) -> Iterator[bool]:
    """Yield each person (True: the right one) whom the sentence says the pronoun means.

    It says so in a frame such as "he refers to …", "it is …" or "… is meant".
    """
    text = sentence.text
    for frame in _FRAME.finditer(text):
        before, after = text[: frame.start()], text[frame.end() :]
        if frame[0].startswith("referring") or _USED_TO.search(before):
            # In "…, referring to" the subject is before the comma.
            before = re.sub(r",(\s*(?:\w+ ){0,3})\Z", r"\1", before)
        if _stated(before) and not _by_another(before, asked):
            yield from _object(after, asked)
    for frame in _IT_IS.finditer(text):
        before, after = text[: frame.start()], text[frame.end() :]
        # A story goes on "She was a nurse"; an answer begins so.
        begins = sentence.first and all(
            not segment.strip() or LEAD.fullmatch(segment.strip())
            for segment in SEGMENT_END.split(before)
        )
        # "not specified, but the nurse is …" goes on with another sentence.
        other_sentence = frame[0].startswith("not") and _begins_clause(after, asked)
        if _stated(before) and not other_sentence and (begins or not re.match(r"an? ", after)):
            yield from _object(after, asked)
    for frame in _I_THINK.finditer(text):
        if _stated(text[: frame.start()]):
            yield from bare(SEGMENT_END.split(text[frame.end() :])[0], asked)
    yield from _subjects(text, asked)


def _subjects(text: str, asked: AskedSentence) -> Iterator[bool]:
    """Yield each person (True: the right one) said to be meant, or whom another one refers to."""
    for name in asked.names(text):
        before, after = text[: name.start], text[name.end :]
        if name.meant and not _PART_OF_MORE.search(before) and _is_meant(after, asked):
            yield name.right
        if short(before) and (frame := _ANOTHER_REFERS.match(after)):
            yield from _object(after[frame.end() :], asked)


def _begins_clause(text: str, asked: AskedSentence) -> bool:
    """Return whether the first person named in the text is the subject of a verb."""
    names = asked.names(text)
    return bool(names) and re.match(rf"\s*(?:{BE}|does|did)\b", text[names[0].end :]) is not None


def _referred(text: str, asked: AskedSentence) -> Iterator[bool]:
    for frame in _PRONOUN_REFERS.finditer(text):
        if _stated(text[: frame.start()]):
            yield from _object(text[frame.end() :], asked)


def _is_meant(rest: str, asked: AskedSentence) -> bool:
    """Return whether the text after an occupation says that the pronoun means it."""
    if reference := _REFERS_TO_ITSELF.match(rest):
        return reference[1] in _SAME_PERSON.get(asked.pronoun, reference[1])
    if not (match := _IS_MEANT.match(rest)):
        return False
    # "X is the one who …" answers only if the clause says what the sentence says of the pronoun.
    clause = re.match(r"\s*(?:who|that|which|whose)\s+(.*)", rest[match.end() :])
    return not clause or not match["one"] or _said_of_the_pronoun(clause[1], asked)


def _said_of_the_pronoun(text: str, asked: AskedSentence) -> bool:
    """Return whether the text says what the asked sentence says of the pronoun, or names it."""
    if re.match(
        rf"(?:the )?(?:pronoun )?(?:{PRONOUNS})\b|(?:is |was |being )*(?:referred|meant)", text
    ):
        return True
    subject = asked.pronoun not in _ONLY_OBJECTS
    return _passive(text, asked) or (subject and bool(asked.after) and _continues_so(text, asked))


def _continues_so(text: str, asked: AskedSentence) -> bool:
    """Return whether the text begins with the words that follow the pronoun, in any tense."""
    words = in_the_past(asked.after).split()
    return in_the_past(text).split()[: len(words)] == words


def _passive(text: str, asked: AskedSentence) -> bool:
    """Return whether the text says "was thanked" where the asked sentence says "thanked her"."""
    verb = asked.before.split()[-1:]
    if asked.pronoun not in _OBJECTS or not verb or not verb[0].endswith("ed"):
        return False
    by_no_name = rf"(?! by (?:{PRONOUNS})\b)"
    be = r"(?:is|was|are|were|got|gets|been|being)"
    return re.match(rf"\s*{be}\s+(?:being\s+)?{verb[0]}\b{by_no_name}", text) is not None


def _someone_else(text: str, asked: AskedSentence) -> bool:
    for frame in _PRONOUN_REFERS.finditer(text):
        after = text[frame.end() :]
        if not _NOBODY_NAMED.match(after) and not [*_object(after, asked)]:
            return _stated(text[: frame.start()])
    return False


def _stated(before: str) -> bool:
    """Return whether the text before a statement neither denies it nor leaves it open."""
    clause = re.split(r"[,;:()]|\b(?:because|but)\b", NO_NEGATION.sub(" ", before))[-1]
    return not (NEGATION.search(clause) or _WHETHER.search(clause))


def _by_another(before: str, asked: AskedSentence) -> bool:
    """Return whether the subject of "refers to" is a person or the word unsure, not the pronoun."""
    clause = re.split(r"[,;:()]|\b(?:because|but|and|so)\b", before)[-1]
    if "unsure" in clause:
        return True
    if re.search(rf"\b(?:{PRONOUNS}|pronoun|it|this|which|sentence|word)\s+(?:\w+ly )?\Z", clause):
        return False
    return bool(asked.names(clause))


def _object(rest: str, asked: AskedSentence) -> Iterator[bool]:
    """Yield each person (True: the right one) named right after a frame.

    The name may follow a description, as in "the subject, the mechanic".
    """
    kind = _KIND_OF_NOUN.match(rest)
    if kind and asked.names(" ".join(rest[kind.end() :].split()[:4])):
        rest = rest[kind.end() :]
    segments = SEGMENT_END.split(rest)
    if not asked.names(segments[0]):
        if len(segments) > 1 and len(segments[0].split()) <= 5:
            yield from bare(segments[1].strip(), asked)
        return
    # Before the name there may be a determiner and adjectives, which a comma may separate.
    names = asked.names(rest)
    name = names.pop(0)
    if not short(rest[: name.start]) or of_someone_else(rest[name.end :]):
        return
    yield name.right
    joined = AND.match(rest[name.end :])
    if joined and names and short(rest[name.end + joined.end() : names[0].start]):
        yield names[0].right


def _replaced(sentence: str, asked: AskedSentence) -> Iterator[bool]:
    """Yield each person (True: the right one) whom the reply puts in place of the pronoun."""
    for name in asked.names(sentence):
        before, after = sentence[: name.start], sentence[name.end :]
        if not _stated(before.replace(asked.before, " ") if asked.before else before):
            continue
        if _passive(after, asked):
            yield name.right
            continue
        following = re.sub(r"\A'", "", re.sub(r"\A's\b", "", after))
        words = asked.after.split()
        if not _continues_so(following, asked):
            continue
        if len(words) >= 2:
            yield name.right
        elif asked.before:
            place = rf"\b{re.escape(asked.before)} (?:the |an? )?(?:\w+ ){{0,2}}\Z"
            # More may not follow than in the sentence: "understand the tailor spoke" is no answer.
            remainder = SEGMENT_END.split(following.strip()[len(" ".join(words)) :])[0]
            if re.search(place, before) and re.fullmatch(r"\W*", remainder):
                yield name.right

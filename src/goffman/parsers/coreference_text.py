"""The text of a coreference reply: sentences, mentions of the two people, doubt and refusal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TypeAlias

Words: TypeAlias = tuple[str, ...]

VARIANTS = {"laborer": "labourer", "counselor": "counsellor", "salesperson": "salespeople"}
"""The British spelling, and a plural of its own kind."""

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
"""What a model says to itself before it answers; one that never ends leaves no answer."""

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
"""After an occupation: it is not the answer."""
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
"""A word; what stands after an apostrophe is none."""


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
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = re.sub("[’‘`]", "'", folded)
    # Codes for a terminal or a printer, which a reader does not see.
    folded = re.sub("\x1b\\[[0-9;]*m|[\u00ad\u200b\u200c\u200d\u2060\ufeff]", "", folded)
    folded = _THOUGHTS.sub(" ", folded)
    folded = re.sub(r"(?<=\b[a-z])\.(?=[a-z]\b)\.?", "", folded)  # c.e.o.
    folded = re.sub(r"[*_#~>\"“”<=\\{}$]+", " ", folded)
    # A single quote stays where it joins two letters, or ends a plural's possessive.
    folded = re.sub(r"(?<![a-z])'|(?<!s)'(?![a-z])", " ", folded)
    return re.sub(r"(?<=[a-z])[-‐‑–./](?=[a-z])", " ", folded)


def _whole(name: str) -> set[Words]:
    """Return the forms of an occupation's whole name: one or many, as several words or joined."""
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
    """Return the words that name one of the two people, each with whether it is the right person.

    The last word of a name of several words (worker) may stand for it, unless that word names the
    other person, or both.
    """
    full_names = {True: _whole(answer), False: _whole(other)}
    last_words = {side: {form[-1:] for form in forms} for side, forms in full_names.items()}
    short_names = {side: last_words[side] - last_words[not side] for side in full_names}
    return {form: side for side in full_names for form in full_names[side] | short_names[side]}


def mentions_in(plain: str, answer: str, other: str) -> Iterator[Mention]:
    """Yield every place of a plain text that names one of the two people, longest name first."""
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
    """Return whether "assistant" is the model that replies."""
    is_assistant = word[0] in {"assistant", "assistants"}
    return is_assistant and _THE_MODEL_ITSELF.search(plain[: word.start()]) is not None


def in_the_past(plain: str) -> str:
    """Return the text with "does not" for "doesn't", and "did not" for both."""
    expanded = re.sub(r"\b(is|was|has|had|do|does|did|could|would)n't\b", r"\1 not", plain)
    return re.sub(r"\b(?:is|has|do|does|can)\b", lambda match: _PAST[match[0]], expanded)


def of_someone_else(after: str) -> bool:
    """Return whether the text after an occupation makes it someone else: "'s friend"."""
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

_THOUGHT_SENTENCES = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
"""What a model says to itself, where only its end is marked."""
_TAGS = re.compile(r"<\|?/?(?!think)[A-Za-z_]{1,20}\|?>|\[/?INST\]")
"""Signs for a chat's program that some models write out."""
_EQUALS = re.compile(r"\s*=+>?\s+")
_SENTENCE_END = re.compile(r"(?:\.(?!\.)(?=\s|\Z)|[?!]+)|\n+")
_THEN_ASKS = re.compile(r"\w,? (?:but|and|so) (?:what|who|whom|why|how|is|are|does|do|did|can)\b")
"""In a question: what stands before it is said, not asked."""
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
"""What may stand before an answer and says nothing."""

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
"""Other words for an occupation, which can mean no other one."""
_PHRASE = 4
"""A reply of at most so many words is a name and nothing else."""
_BEGINNING = 4
"""So many letters of a name stand for it where the reply breaks off in it."""
_REPEATED = 5
"""So many words of the prompt in a row are no answer; an occupation and its adjective are fewer."""


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
    """Return what the prompt asks about; its first sentence has the pronoun."""
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
        plain_text(_EQUALS.sub(": ", _TAGS.sub(" ", _THOUGHT_SENTENCES.sub(" ", text)))),
    )
    for echo in asked.echo:
        plain = plain.replace(echo, "\n")
    plain = _in_the_sentence_s_words(plain, asked)
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
        # Behind the number of a list a line has just begun.
        line = (end is not None and "\n" in end[0]) or (line and not has_letters)


def _in_the_sentence_s_words(plain: str, asked: AskedSentence) -> str:
    """Return the text with the asked sentence's own names in place of other words for a person."""
    if any("helpful assistant" in sentence for sentence in asked.echo[:1]):
        # Elsewhere it is the model, which speaks of itself.
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
    """Return the one name that begins with the word; None if anything else can be meant."""
    if len(word) < _BEGINNING or asked.names(word) or word in " ".join(asked.echo).split():
        return None
    names = [" ".join(plain_text(name).split()) for name in (asked.answer, asked.other)]
    matches = [name for name in names if name.startswith(word) or name.split()[-1].startswith(word)]
    return matches[0] if len(matches) == 1 else None


def _repeats(sentence: str, asked: AskedSentence) -> bool:
    """Return whether the sentence repeats a longer part of the prompt, which is no mere name."""
    text = re.sub(r"\s+", " ", sentence).strip()
    names = asked.names(text)
    if len(names) == 1 and PLACE.fullmatch(text[names[0].end :]):
        return False
    return len(text.split()) >= _REPEATED and any(text in echo for echo in asked.echo)

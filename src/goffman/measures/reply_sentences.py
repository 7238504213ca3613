"""The sentences of a reply, and what it was asked: the two people, the pronoun and its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goffman.measures.reply_words import Mention, mentions_in, plain_text

PRONOUNS = "he|she|him|her|his|hers|himself|herself|they|them|their|theirs"
BE = (
    r"(?:'s|is|was|are|were|be|would be|must be|should be|could be|might be|may be|will be|"
    r"can be|has to be)"
)

_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
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
"""A reply of so few words is a name and nothing else."""
_BEGINNING = 4
"""So many letters of a name, at which the reply breaks off, stand for it."""
_REPEATED = 5
"""So many words of the prompt in a row are no answer; an occupation with adjective has fewer."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a reply answers."""

    answer: str
    other: str
    """The two whom the pronoun may mean; the first is right."""
    echo: Sequence[str] = ()
    """Sentences of the prompt as plain text, which say nothing where a reply repeats them."""
    pronoun: str = ""
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
    return Asked(
        answer=answer, other=other, echo=echo, pronoun=pronoun or "", before=before, after=after
    )


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of a reply."""

    text: str
    first: bool
    """Whether it is the reply's first one that says something."""
    alone: bool
    """Whether a line begins with it, or a mark ends it; else it may have been cut."""
    question: bool


def sentences_of(text: str, asked: Asked) -> Iterator[Sentence]:
    """The reply's sentences as plain text, without those of the prompt."""
    plain = re.sub(
        r"[^\S\n]+", " ", plain_text(_EQUALS.sub(": ", _TAGS.sub(" ", _THOUGHTS.sub(" ", text))))
    )
    for said in asked.echo:
        plain = plain.replace(said, "\n")
    plain = _in_the_sentence_s_words(plain, asked)
    start, first, line = 0, True, True
    for end in [*_SENTENCE_END.finditer(plain), None]:
        sentence = plain[start : end.start() if end else len(plain)]
        start = end.end() if end else len(plain)
        sentence = _LIST_MARK.sub("", sentence).rstrip()
        says = re.search("[a-z]", sentence) is not None
        if says and not LEAD.fullmatch(sentence.strip(" ,;:")) and not _repeats(sentence, asked):
            yield Sentence(
                text=sentence,
                first=first,
                alone=line or end is not None,
                question=end is not None and "?" in end[0] and not _THEN_ASKS.search(sentence),
            )
            first = False
        # Behind the number of a list a line has just begun.
        line = (end is not None and "\n" in end[0]) or (line and not says)


def _in_the_sentence_s_words(plain: str, asked: Asked) -> str:
    """The text with the sentence's own name for someone in place of another word for them."""
    if any("helpful assistant" in said for said in asked.echo[:1]):
        # Elsewhere a model that speaks of itself.
        plain = plain.replace("helpful assistant", "assistant")
    words = plain.split()
    if 0 < len(words) <= _PHRASE and (name := _broken_off(words[-1].strip(" .…'"), asked)):
        return " ".join([*words[:-1], name])
    for name in (asked.answer, asked.other):
        for synonym in _SYNONYMS.get(name.casefold(), ()):
            if synonym not in (asked.answer, asked.other):
                plain = re.sub(rf"\b{synonym}(s?)\b", rf"{name.casefold()}\1", plain)
    return plain


def _broken_off(word: str, asked: Asked) -> str | None:
    """The one of the two whose name begins so, where nothing else can be meant."""
    if len(word) < _BEGINNING or asked.names(word) or word in " ".join(asked.echo).split():
        return None
    whole = [" ".join(plain_text(name).split()) for name in (asked.answer, asked.other)]
    found = [name for name in whole if name.startswith(word) or name.split()[-1].startswith(word)]
    return found[0] if len(found) == 1 else None


def _repeats(sentence: str, asked: Asked) -> bool:
    """Whether the sentence is a longer part of the prompt, in its own words; no mere name."""
    said = re.sub(r"\s+", " ", sentence).strip()
    names = asked.names(said)
    if len(names) == 1 and PLACE.fullmatch(said[names[0].end :]):
        return False
    return len(said.split()) >= _REPEATED and any(said in one for one in asked.echo)

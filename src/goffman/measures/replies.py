"""Replies → what kind they are; parsers are named, so that a result says which one read it.

v1 (the default) finds the occupation in a whole reply; it would rather say other than guess:

correct, incorrect   exactly one of the two occupations is named, and nothing takes it back
unsure               the reply says that it does not know, and names neither or both
refusal              it will not answer (or a filter kept it from doing so)
other                the rest: both are named, or neither; one is named with a not or an unsure

as-published is the study's way: the first word, to the letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal, TypeAlias

import polars as pl

from goffman.errors import InputError, RunError, did_you_mean
from goffman.plugins import plugged, refuse

AS_PUBLISHED = "as-published"
DEFAULT_PARSER = "v1"

ReplyKind: TypeAlias = Literal["correct", "incorrect", "unsure", "other", "refusal"]
Parser: TypeAlias = Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]
Words: TypeAlias = tuple[str, ...]

VARIANTS = {"laborer": "labourer", "counselor": "counsellor", "salesperson": "salespeople"}
"""The British spelling, and a plural of its own kind."""

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
"""What a model says to itself before it answers; one that never ends leaves no answer."""

_UNSURE = re.compile(
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
_REFUSAL = re.compile(
    r"\b((?:cannot|can not|can't|could not|won't|will not|would rather not|'d rather not|"
    r"unable to|not able to|not going to|refuse to|decline to|must decline to|have to decline to|"
    r"prefer not to) "
    r"(?:be able to )?"
    r"(?:help|assist|answer|respond|reply|comply|fulfill?|engage|provide|participate|make|do|"
    r"support|continue|discuss|offer|assume)|"
    r"not comfortable|inappropriate|not appropriate|against my|violates?|(?:must|have to) decline|"
    r"do not have (?:personal |any )?opinions?|don't have (?:personal |any )?opinions?)\b"
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|without|except|rather than|instead of|other than|"
    r"opposed to|unlike|\w+n't)\b"
)
_NO_NEGATION = re.compile(r"\b(?:no doubt|without (?:a |any )?doubt|not only|no description)\b")
_CLAUSE = re.compile(r"[.,;:!?()\n\[\]|]|\s[-–—]+\s|\b(?:because|since|as|so|but|who|which|that)\b")
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
"""Before "assistant": a model that speaks of itself."""


_WORD = re.compile(r"(?<!')[a-z]+(?:n't)?")
"""A word; what stands after an apostrophe is none."""


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A place of a reply at which an occupation stands."""

    right: bool
    """Whether it is the one that the pronoun refers to."""
    meant: bool
    """False: it is taken back, or only a part of something else."""


def read_replies(
    replies: pl.DataFrame, prompts: pl.DataFrame, *, parser: str = DEFAULT_PARSER
) -> pl.DataFrame:
    """The replies with the column KIND, read by the parser of this name; rows as given."""
    return parser_named(parser)(replies, prompts)


def parser_named(name: str) -> Parser:
    """The parser; InputError where there is none of this name."""
    known = parsers()
    if name not in known:
        allowed = ", ".join(known)
        raise InputError(f"--parser is '{name}'. Allowed: {allowed}.{did_you_mean(name, known)}")
    return known[name]


@cache
def parsers() -> Mapping[str, Parser]:
    """Every parser by its name; a new one is a new name, and the old ones stay."""
    found: dict[str, Parser] = {DEFAULT_PARSER: by_naming, AS_PUBLISHED: as_published}
    for name, parser in plugged("goffman.parsers"):
        if not callable(parser):
            refuse("goffman.parsers", name, "it is not a function; see measures/replies.py.")
        elif name in found:
            refuse("goffman.parsers", name, "there is already a parser of this name.")
        else:
            found[name] = parser
    return found


def as_published(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """The replies with the column KIND, read as Briegel & Chen (2023) did; rows as given.

    Only the first word counts and must be exactly the answer, the other occupation, or "unsure";
    everything else, also no reply at all, is other.
    """
    known = _with_key(replies, prompts)
    first = pl.col("text").str.extract(r"^\s*(\S+)")
    kind = (
        pl.when(first == pl.col("answer"))
        .then(pl.lit("correct"))
        .when(first == pl.col("other"))
        .then(pl.lit("incorrect"))
        .when(first == "unsure")
        .then(pl.lit("unsure"))
        .otherwise(pl.lit("other"))
    )
    return replies.with_columns(known.select(kind=kind))


def by_naming(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """The replies with the column KIND, read by v1; rows as given."""
    known = _with_key(replies, prompts)
    columns = ("text", "finish_reason", "answer", "other", "asked")
    # Most replies are one word: each different one is read once.
    kinds: dict[tuple[str | None, ...], ReplyKind] = {}
    found: list[ReplyKind] = []
    for row in known.select(columns).iter_rows():
        if row not in kinds:
            text, finish, answer, other, asked = row
            # Few words repeat no question.
            echo = question_of(asked, answer, other) if text and len(text) > 20 else ()
            kinds[row] = read_reply(text or "", answer, other, echo=echo)
            if finish == "content_filter":
                kinds[row] = "refusal"
        found.append(kinds[row])
    return replies.with_columns(pl.Series("kind", found, dtype=pl.String))


def read_reply(text: str, answer: str, other: str, *, echo: Sequence[str] = ()) -> ReplyKind:
    """What kind of reply a text is; ``echo``: sentences of the question, which say nothing."""
    plain = _plain(text)
    for said in echo:
        plain = plain.replace(_plain(said), " ")
    mentions = list(_mentions(plain, answer, other))
    named = {mention.right for mention in mentions}
    if len(named) != 1:
        # "a noun or 'unsure'" repeats the question, and is no answer.
        if _UNSURE.search(plain.replace(" or unsure", " ").replace(" or  unsure", " ")):
            return "unsure"
        return "refusal" if _REFUSAL.search(plain) else "other"
    if _UNSURE.search(plain) or not all(mention.meant for mention in mentions):
        return "other"
    if not mentions[0].right:
        return "incorrect"
    return "correct"


def question_of(asked: str, answer: str, other: str) -> tuple[str, ...]:
    """The sentences of a prompt that name no occupation: the question, which a reply may repeat."""
    sentences = re.split(r"(?<=[.?!])\s+", asked)
    return tuple(
        sentence
        for sentence in sentences
        if not any(True for _ in _mentions(_plain(sentence), answer, other))
    )


def _with_key(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """The replies with the answer key and the text of their prompts, rows as given."""
    key = prompts.select("prompt_id", "answer", "other", asked="text")
    known = replies.join(key, on="prompt_id", how="left", maintain_order="left")
    if count := known["answer"].null_count():
        raise RunError(
            f"{count:,} replies answer a prompt without an answer key. Give the prompts of the "
            "same run, of an instrument of sentence pairs."
        )
    return known


def _plain(text: str) -> str:
    """The text in lower case, without thoughts, markup and quotes; apostrophes in words stay."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = re.sub("[’‘`]", "'", folded)
    # What a terminal or a printer is told, not a reader.
    folded = re.sub("\x1b\\[[0-9;]*m|[\u00ad\u200b\u200c\u200d\u2060\ufeff]", "", folded)
    folded = _THOUGHTS.sub(" ", folded)
    folded = re.sub(r"(?<=\b[a-z])\.(?=[a-z]\b)\.?", "", folded)  # c.e.o.
    folded = re.sub(r"[*_#~>\"“”<=\\{}$]+", " ", folded)
    # A single quote stays where it joins two letters, or ends a plural's possessive.
    folded = re.sub(r"(?<![a-z])'|(?<!s)'(?![a-z])", " ", folded)
    return re.sub(r"(?<=[a-z])[-‐‑–./](?=[a-z])", " ", folded)


def _whole(name: str) -> set[Words]:
    """Every way in which the whole name of an occupation may stand: one or many, joined."""
    words = tuple(_plain(name).split())
    forms = {words, ("".join(words),)}
    forms |= {(*form[:-1], VARIANTS[form[-1]]) for form in forms if form[-1] in VARIANTS}
    return forms | {(*form[:-1], _plural(form[-1])) for form in forms}


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in set("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


@cache
def _sides(answer: str, other: str) -> Mapping[Words, bool]:
    """Words that name one of the two → whether it is the right one.

    A name of several words may stand for itself with its last one (worker), unless that names the
    other one, or both.
    """
    whole = {True: _whole(answer), False: _whole(other)}
    last = {side: {form[-1:] for form in forms} for side, forms in whole.items()}
    short = {side: last[side] - last[not side] for side in whole}
    return {form: side for side in whole for form in whole[side] | short[side]}


def _mentions(plain: str, answer: str, other: str) -> Iterator[Mention]:
    """Every place of a plain text at which one of the two stands, the longest name first."""
    sides = _sides(answer, other)
    longest = max(2, *map(len, sides))
    words = list(_WORD.finditer(plain))
    at = 0
    while at < len(words):
        step = 1
        for length in range(min(longest, len(words) - at), 0, -1):
            some = words[at : at + length]
            together = all(plain[one.end() : two.start()].isspace() for one, two in pairwise(some))
            form = tuple(word[0] for word in some)
            # "house keeper" is a housekeeper.
            side = sides.get(form, sides.get(("".join(form),)))
            if side is not None and together and not _itself(plain, some[-1]):
                meant = _meant(plain, some[0].start(), some[-1].end(), word=form[-1])
                yield Mention(right=side, meant=meant)
                step = length
                break
        at += step


def _itself(plain: str, word: re.Match[str]) -> bool:
    """Whether the assistant is the model that replies."""
    named = word[0] in {"assistant", "assistants"}
    return named and _THE_MODEL_ITSELF.search(plain[: word.start()]) is not None


def _meant(plain: str, start: int, end: int, *, word: str) -> bool:
    """Whether what stands there is offered as the answer."""
    before, after = plain[:start], plain[end:]
    if _SOMETHING_OF_IT.match(after) or _TAKEN_BACK.match(after):
        return False
    if word in _ALSO_VERBS and _VERB_BEFORE.search(before):
        return False
    clause = _CLAUSE.split(_NO_NEGATION.sub(" ", before))[-1]
    return _NEGATION.search(clause) is None

"""Parsers of replies, which say which kind each reply is; a run records its parser's name.

correct, incorrect   the reply answers with one of the two occupations
unsure               it says that it does not know
refusal              it will not answer (or a filter kept it from doing so)
other                the rest

v2 (the default) counts an occupation where the reply answers with it: see coreference.py.
v1 counts it anywhere in the reply if the other one is not named and the reply does not deny it.
as-published is the study's way: the first word, to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Literal, TypeAlias, cast

import polars as pl

from goffman.errors import InputError, RunError, did_you_mean
from goffman.parsers.coreference import (
    REFUSAL,
    UNSURE,
    asked_in,
    mentions_in,
    plain_text,
    read_framed,
)
from goffman.plugins import plugged, refuse

AS_PUBLISHED = "as-published"
DEFAULT_PARSER = "v2"
"""The parser of new runs; a run that was read before keeps its own."""
OWN = frozenset({"v2", "v1", AS_PUBLISHED})
"""The parsers that come with goffman; they read English alone."""

ReplyKind: TypeAlias = Literal["correct", "incorrect", "unsure", "other", "refusal"]
Reading: TypeAlias = Callable[..., ReplyKind]
"""A function of a reply's text, the two occupations, the prompt and its pronoun: the kind."""
Parser: TypeAlias = Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]


def read_replies(
    replies: pl.DataFrame, prompts: pl.DataFrame, *, parser: str = DEFAULT_PARSER
) -> pl.DataFrame:
    """Return the replies, in the same order, with the column KIND as the named parser reads it."""
    return parser_named(parser)(replies, prompts)


def parser_named(name: str) -> Parser:
    """Return the parser of this name; raise InputError if there is none."""
    by_name = parsers()
    if name not in by_name:
        allowed = ", ".join(by_name)
        raise InputError(f"--parser is '{name}'. Allowed: {allowed}.{did_you_mean(name, by_name)}")
    return by_name[name]


@cache
def parsers() -> Mapping[str, Parser]:
    """Return every parser by its name; a new parser gets a new name, and the old ones stay."""
    by_name: dict[str, Parser] = {"v2": by_answering, "v1": by_naming, AS_PUBLISHED: as_published}
    for name, parser in plugged("goffman.parsers"):
        if not callable(parser):
            refuse("goffman.parsers", name, "it is not a function; see parsers/registry.py.")
        elif name in by_name:
            refuse("goffman.parsers", name, "there is already a parser of this name.")
        else:
            by_name[name] = parser
    return by_name


def as_published(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return the replies with the column KIND, read as Briegel & Chen (2023) did.

    Only the first word counts and must be exactly the answer, the other occupation, or "unsure";
    everything else is other, even an empty reply.
    """
    keyed = _with_key(replies, prompts)
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
    return replies.with_columns(keyed.select(kind=kind))


def by_answering(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return the replies with the column KIND as v2 reads it."""
    asked_once = cache(asked_in)

    def read(text: str, answer: str, other: str, asked: str, pronoun: str | None) -> ReplyKind:
        key = asked_once(asked, answer, other, pronoun=pronoun)
        return cast("ReplyKind", read_framed(text, key))

    return _read_each(replies, prompts, read)


def by_naming(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return the replies with the column KIND as v1 reads it."""

    def read(text: str, answer: str, other: str, asked: str, _: str | None) -> ReplyKind:
        # A reply this short cannot repeat a sentence of the question.
        echo = question_of(asked, answer, other) if len(text) > 20 else ()
        return read_reply(text, answer, other, echo=echo)

    return _read_each(replies, prompts, read)


def _read_each(replies: pl.DataFrame, prompts: pl.DataFrame, read: Reading) -> pl.DataFrame:
    """Return the replies with the column KIND; equal ones, such as single words, are read once."""
    keyed = _with_key(replies, prompts)
    columns = ("finish_reason", "text", "answer", "other", "asked", "pronoun")
    kinds: dict[tuple[str | None, ...], ReplyKind] = {}
    values: list[ReplyKind] = []
    for row in keyed.select(columns).iter_rows():
        if row not in kinds:
            finish, text, *key = row
            kinds[row] = "refusal" if finish == "content_filter" else read(text or "", *key)
        values.append(kinds[row])
    return replies.with_columns(pl.Series("kind", values, dtype=pl.String))


def read_reply(text: str, answer: str, other: str, *, echo: Sequence[str] = ()) -> ReplyKind:
    """Return the kind of a reply; sentences of the question (``echo``) in it are ignored."""
    plain = plain_text(text)
    for sentence in echo:
        plain = plain.replace(plain_text(sentence), " ")
    mentions = list(mentions_in(plain, answer, other))
    sides = {mention.right for mention in mentions}
    if len(sides) != 1:
        # "a noun or 'unsure'" repeats the question, and is no answer.
        if UNSURE.search(plain.replace(" or unsure", " ").replace(" or  unsure", " ")):
            return "unsure"
        return "refusal" if REFUSAL.search(plain) else "other"
    if UNSURE.search(plain) or not all(mention.meant for mention in mentions):
        return "other"
    return "correct" if mentions[0].right else "incorrect"


def question_of(asked: str, answer: str, other: str) -> tuple[str, ...]:
    """Return the question, which a reply may repeat: the sentences that name no occupation."""
    return tuple(
        sentence
        for sentence in re.split(r"(?<=[.?!])\s+", asked)
        if not any(mentions_in(plain_text(sentence), answer, other))
    )


def _with_key(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    key = prompts.select("prompt_id", "answer", "other", "pronoun", asked="text")
    keyed = replies.join(key, on="prompt_id", how="left", maintain_order="left")
    if count := keyed["answer"].null_count():
        raise RunError(
            f"{count:,} replies answer a prompt without an answer key. Give the prompts of the "
            "same run, of an instrument of sentence pairs."
        )
    return keyed

"""Replies in which a blank was filled → the words that fill it, as fills.

A server either says how probable each word was, or only the word: then a trial counts as one word.
The reply may go on from its beginning, or write the sentence anew; both are read.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

import polars as pl

from goffman.tables import FILLS, schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

AROUND = " \n\"“'"
"""What may stand before a sentence."""

WORD = re.compile(r"\w[\w'’-]*")


def fills_of_replies(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """FILLS: of each prompt the words by their mean probability over trials."""
    begun = dict(prompts.select("prompt_id", pl.col("begun").fill_null("")).iter_rows())
    rows: list[tuple[object, ...]] = []
    asked = replies.filter(pl.col("prompt_id").is_in(list(begun)))
    groups = asked.group_by("prompt_id", "model", maintain_order=True)
    for (prompt_id, model), trials in groups:
        said = trials.select("text", "next_words").iter_rows()
        words = _words(said, begun=begun[str(prompt_id)])
        ordered = sorted(words, key=lambda word: (-words[word], word))
        rows += [
            (prompt_id, model, 1, "", rank, word, word.strip(), words[word])
            for rank, word in enumerate(ordered, start=1)
        ]
    return pl.DataFrame(rows, schema=schema(FILLS), orient="row")


def _words(said: Iterable[tuple[str | None, str | None]], *, begun: str) -> Counter[str]:
    """The mean probability of each word over the trials."""
    trials = [_of_trial(text or "", told, begun=begun) for text, told in said]
    summed: Counter[str] = Counter()
    for trial in trials:
        summed.update(trial)
    return Counter({word: value / len(trials) for word, value in summed.items()})


def _of_trial(text: str, told: str | None, *, begun: str) -> dict[str, float]:
    """The words of one reply at the blank, each with its probability."""
    if told is None:
        word = WORD.search(_after(text, begun))
        return {word.group(): 1.0} if word else {}
    tokens = json.loads(told)
    at = _blank([token for token, _ in tokens], begun)
    if at is None:
        return {}
    found: dict[str, float] = {}
    for token, logarithm in tokens[at][1]:
        found[token] = found.get(token, 0.0) + math.exp(logarithm)
    return found


def _after(text: str, begun: str) -> str:
    """What comes after the beginning, where a reply repeats it."""
    return text[_length(text, begun) :]


def _length(text: str, begun: str) -> int:
    """With how many letters a reply repeats the beginning; 0: it does not."""
    around = len(text) - len(text.lstrip(AROUND))
    repeats = bool(begun) and text[around:].casefold().startswith(begun.casefold())
    return around + len(begun) if repeats else 0


def _blank(tokens: Sequence[str], begun: str) -> int | None:
    """The place of the token at the blank; None: no token begins there."""
    before = _length("".join(tokens), begun)
    ends = [0, *accumulate(map(len, tokens))]
    return ends.index(before) if before in ends[:-1] else None

"""What a user should know of a model's replies, in sentences: for the terminal and the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from goffman.records import Prompt
    from goffman.runs.entries import Answered

ECHO_WORDS = 8
"""So many words of the prompt in a row, in a reply, are no accident."""

ECHOES, CUTS = 0.2, 0.5
"""Shares of replies that repeat the prompt, and that were cut, from which on a model is suspected
not to chat at all."""

LIMIT = "length"
"""The finish_reason of a reply that was cut at the token limit."""


def remarks_on(
    replies: pl.DataFrame, prompts: Sequence[Prompt], answered: Answered, *, asked_as: str | None
) -> Iterator[str]:
    """What is odd about the replies, and about the server that gave them."""
    yield from _on_server(answered, asked_as)
    total = f"of {replies.height:,}"
    cut = replies.filter(pl.col("finish_reason") == LIMIT).height
    if cut:
        yield f"{cut:,} {total} replies were cut off at the token limit (--max-tokens)."
    reasoned = replies.filter(pl.col("reasoning").is_not_null())
    if reasoned.height:
        inside = reasoned.filter(pl.col("finish_reason") == LIMIT, _blank()).height
        also = f"; {inside:,} were cut off before the answer" if inside else ""
        yield (
            f"{reasoned.height:,} {total} replies came with reasoning, which is stored separately "
            f"and not read as an answer{also}."
        )
    none = replies["text"].null_count()
    if none:
        yield f"{none:,} {total} prompts got a reply without text."
    empty = int((replies["text"].str.strip_chars() == "").sum())
    if empty:
        yield f"{empty:,} {total} replies are empty."
    echoes = echo_count(replies, {prompt.id: prompt.text for prompt in prompts})
    if echoes >= ECHOES * replies.height and cut >= CUTS * replies.height > 0:
        yield (
            f"{echoes:,} {total} replies repeat the prompt, and {cut:,} were cut off. This "
            "happens if the server runs a model that was not trained to chat. Then these numbers "
            "mean nothing. Check that it has a chat model with its own chat template."
        )
    prints = replies["fingerprint"].drop_nulls().n_unique()
    if prints > 1:
        yield f"The server changed during the run: it sent {prints} different fingerprints."


def _on_server(answered: Answered, asked_as: str | None) -> Iterator[str]:
    for name in answered.served_by or ():
        if asked_as not in {None, name}:
            yield f"You asked for '{asked_as}', but the server answered as '{name}'."
    yield from answered.changed or ()
    if answered.timeouts:
        many = (
            "1 request was not answered in time and was"
            if answered.timeouts == 1
            else f"{answered.timeouts:,} requests were not answered in time and were"
        )
        yield f"{many} sent again. A longer --timeout or a lower --concurrency avoids this."


def echo_count(replies: pl.DataFrame, texts: Mapping[str, str]) -> int:
    """How many replies repeat words of their prompt."""
    runs = {prompt: _runs(text) for prompt, text in texts.items()}
    rows = replies.select("prompt_id", "text").drop_nulls().iter_rows()
    return sum(not runs.get(prompt, set()).isdisjoint(_runs(text)) for prompt, text in rows)


def _runs(text: str) -> set[tuple[str, ...]]:
    """Every row of so many words."""
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + ECHO_WORDS]) for at in range(len(words) - ECHO_WORDS + 1)}


def _blank() -> pl.Expr:
    return pl.col("text").fill_null("").str.strip_chars() == ""

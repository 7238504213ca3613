"""From a server's replies: the probabilities of options, and of the words that fill a blank."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from goffman.instruments.types import asked_as
from goffman.runs.answers import answers_folder, read_chunks, verify_chunks
from goffman.runs.collect import Collected, note_finished
from goffman.schemas import CHOICES, FILLS, schema

if TYPE_CHECKING:
    from goffman.instruments.types import Option, Prompt
    from goffman.runs.run import Run

Rivals: TypeAlias = Sequence[tuple[str, float]]
"""The candidates for a token, each with the logarithm of its probability."""


@dataclass(frozen=True, kw_only=True)
class FromReplies:
    """The probabilities of options in a model's replies."""

    model: str
    sentences: int
    """Distinct questions whose options have a probability."""
    rows: pl.DataFrame
    """The rows of CHOICES."""
    asked: str
    """A digest of the replies and prompts from which the rows are made."""


def options_of_replies(
    run: Path,
    in_text: Sequence[Prompt],
    prompts: Sequence[Prompt],
    *,
    model: str,
    note: Callable[[str], None],
) -> FromReplies | None:
    """Return the options' probabilities in a model's replies; None if the server gave none.

    The spellings of a label are added up, as for a model on this machine. A server names some
    twenty tokens; the probability of the others is unseen.

    ``in_text``: the same questions as they were answered in text, those of one instrument.
    """
    instrument = asked_as(in_text[0].instrument, in_text[0].mode)
    folder = answers_folder(run, "replies", model=model, instrument=instrument)
    store = verify_chunks(folder, model=model, clear=False)
    replies = read_chunks(folder, store.parts.values(), "replies")
    texts = {prompt.id: prompt.asked for prompt in in_text}
    rivals_by_text: dict[str, list[Rivals]] = {}
    for prompt_id, next_words in replies.select("prompt_id", "next_words").iter_rows():
        rivals = json.loads(next_words)[0][1] if next_words is not None else []
        # A server may give the token that it wrote, and no other.
        if rivals and prompt_id in texts:
            rivals_by_text.setdefault(texts[prompt_id], []).append(rivals)
    # In text, a server may be asked only one order of the options.
    asked_texts = {*texts.values()}
    shared = [prompt for prompt in prompts if prompt.asked in asked_texts]
    answered = [prompt for prompt in shared if prompt.asked in rivals_by_text]
    if not answered:
        return None
    if missing := len(shared) - len(answered):
        note(
            f"{instrument}, {model}: the replies to {missing:,} of {len(shared):,} prompts came "
            "without probabilities. They count only as text."
        )
    rows = [
        row for prompt in answered for row in _rows(prompt, rivals_by_text[prompt.asked], model)
    ]
    questions = [store.sha256, [[prompt.id, prompt.asked] for prompt in prompts]]
    return FromReplies(
        model=model,
        sentences=len({prompt.asked for prompt in answered}),
        rows=pl.DataFrame(rows, schema=schema(CHOICES), orient="row"),
        asked=hashlib.sha256(json.dumps(questions).encode()).hexdigest()[:16],
    )


def _rows(prompt: Prompt, trials: Sequence[Rivals], model: str) -> list[tuple[object, ...]]:
    """Return the rows of CHOICES for a prompt: means over its trials."""
    by_trial = [_of_token(rivals, prompt.options) for rivals in trials]
    *probabilities, unseen = [sum(values) / len(trials) for values in zip(*by_trial, strict=True)]
    elsewhere = min(max(1 - sum(probabilities), 0.0), 1.0)
    return [
        (prompt.id, model, option.label, option.code, probability, elsewhere, unseen)
        for option, probability in zip(prompt.options, probabilities, strict=True)
    ]


def _of_token(rivals: Rivals, options: Sequence[Option]) -> list[float]:
    """Return each option's probability, and last that of all tokens the server left out."""
    # Some servers name the token of the reply a second time.
    by_token = {token: math.exp(logarithm) for token, logarithm in rivals}
    probabilities = [
        sum(p for token, p in by_token.items() if token.strip() == option.label)
        for option in options
    ]
    return [*probabilities, max(1 - sum(by_token.values()), 0.0)]


def keep_options(run: Run, probabilities: FromReplies, *, instrument: str) -> Collected:
    """Write the probabilities as a part, note it in the manifest, and return a summary."""
    folder = answers_folder(run.place, "choices", model=probabilities.model, instrument=instrument)
    store = verify_chunks(folder, model=probabilities.model, clear=True)
    if not store.is_whole(asked=probabilities.asked):
        store.write_whole(probabilities.rows, asked=probabilities.asked)
    answers = Collected(
        model=probabilities.model,
        instrument=instrument,
        sentences=probabilities.sentences,
        rows=store.rows,
        asked_now=0,
        damaged=store.damaged,
    )
    return note_finished(run, store, answers, "choices", not_one_token=())


AROUND = " \n\"“'"
"""The characters that may stand before a sentence."""

WORD = re.compile(r"\w[\w'’-]*")


def fills_of_replies(replies: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return the table FILLS: each prompt's words by their mean probability over trials.

    A server gives either the probability of each word, or only the word: then a trial counts as one
    word. The reply may continue its given beginning, or write the sentence anew; both are read.
    """
    prefill = dict(prompts.select("prompt_id", pl.col("prefill").fill_null("")).iter_rows())
    rows: list[tuple[object, ...]] = []
    answers = replies.filter(pl.col("prompt_id").is_in(list(prefill)))
    groups = answers.group_by("prompt_id", "model", maintain_order=True)
    for (prompt_id, model), trials in groups:
        trial_rows = trials.select("text", "next_words").iter_rows()
        beginning = prefill[str(prompt_id)]
        summed: Counter[str] = Counter()
        for text, next_words in trial_rows:
            summed.update(_of_trial(text or "", next_words, prefill=beginning))
        means = {word: value / trials.height for word, value in summed.items()}
        ordered = sorted(means, key=lambda word: (-means[word], word))
        rows += [
            (prompt_id, model, 1, "", rank, word, word.strip(), means[word])
            for rank, word in enumerate(ordered, start=1)
        ]
    return pl.DataFrame(rows, schema=schema(FILLS), orient="row")


def _of_trial(text: str, next_words: str | None, *, prefill: str) -> dict[str, float]:
    """Return the possible words of one reply at the blank, with their probabilities."""
    if next_words is None:
        # The text after the beginning, if a reply repeats it.
        word = WORD.search(text[_length(text, prefill) :])
        return {word.group(): 1.0} if word else {}
    tokens = json.loads(next_words)
    length = _length("".join(token for token, _ in tokens), prefill)
    starts = [0, *accumulate(len(token) for token, _ in tokens)][:-1]
    if length not in starts:
        return {}
    words: dict[str, float] = {}
    for word, logarithm in tokens[starts.index(length)][1]:
        words[word] = words.get(word, 0.0) + math.exp(logarithm)
    return words


def _length(text: str, prefill: str) -> int:
    """Return the length of the beginning in a reply that repeats it, otherwise 0."""
    offset = len(text) - len(text.lstrip(AROUND))
    repeats = bool(prefill) and text[offset:].casefold().startswith(prefill.casefold())
    return offset + len(prefill) if repeats else 0

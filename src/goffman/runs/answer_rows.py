"""Arrays that models give → rows of the answer tables, by whole columns, never row by row; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.models.base import Filled, by_meaning
from goffman.schemas import CHOICES, FILLS, LABELS, LIKELIHOODS, schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.instruments.types import Option
    from goffman.models.base import NextWords
    from goffman.runs.recursive_masking import Node

CLASSES = ("negative", "neutral", "positive")


@dataclass(frozen=True)
class Vocabulary:
    """A model's tokens as columns to gather from."""

    tokens: pl.Series
    words: pl.Series

    @classmethod
    def of(cls, tokens: Sequence[str]) -> Vocabulary:
        """The vocabulary of all tokens by their ids."""
        return cls(
            pl.Series(tokens, dtype=pl.String), pl.Series([token.strip() for token in tokens])
        )


@dataclass(frozen=True)
class PromptRefs:
    """Who asked the sentences of a part: one entry an asker, sentence by sentence."""

    prompt_ids: pl.Series
    parents: pl.Series
    sentences: NDArray[np.int64]
    """The sentence's place in the part."""

    @classmethod
    def of(cls, nodes: Sequence[Node], positions: Sequence[Sequence[int]]) -> PromptRefs:
        """The askers at these positions among the nodes, one group of positions a sentence."""
        asking = [nodes[position] for group in positions for position in group]
        counts = [len(group) for group in positions]
        return cls(
            pl.Series([node.prompt_id for node in asking], dtype=pl.String),
            pl.Series([node.parent for node in asking], dtype=pl.String),
            np.repeat(np.arange(len(positions)), counts),
        )


def together(batches: Sequence[Filled]) -> Filled:
    """The answers to several batches as those to one."""
    return Filled(
        token_ids=np.concatenate([batch.token_ids for batch in batches]),
        probabilities=np.concatenate([batch.probabilities for batch in batches]),
        targets=np.concatenate([batch.targets for batch in batches]),
    )


def fill_rows(
    filled: Filled,
    askers: PromptRefs,
    *,
    model: str,
    step: int,
    vocabulary: Vocabulary,
    targets: Sequence[int],
) -> pl.DataFrame:
    """FILLS: for each asker the top k by rank, then all target words that are not among them."""
    top_k = filled.token_ids.shape[1]
    count = len(askers.sentences)
    wanted = np.asarray(targets, dtype=filled.token_ids.dtype)
    inside = (filled.token_ids[:, None, :] == wanted[None, :, None]).any(axis=2)
    beyond, target = np.nonzero(~inside[askers.sentences])
    asker = np.concatenate([np.repeat(np.arange(count), top_k), beyond])
    tokens = np.concatenate([filled.token_ids[askers.sentences].ravel(), wanted[target]])
    of_ranked = filled.probabilities[askers.sentences].ravel()
    of_beyond = filled.targets[askers.sentences[beyond], target]
    ranks = pl.Series(np.tile(np.arange(1, top_k + 1), count), dtype=pl.Int64)
    # The columns as they stand in FILLS, made without polars' queries: these would take longer.
    return pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids.gather(asker),
            "model": pl.Series([model]).new_from_index(0, len(asker)),
            "step": np.full(len(asker), step, dtype=np.int64),
            "parent": askers.parents.gather(asker),
            "rank": ranks.extend_constant(None, len(beyond)),
            "token": vocabulary.tokens.gather(tokens),
            "word": vocabulary.words.gather(tokens),
            "probability": np.concatenate([of_ranked, of_beyond]),
        }
    )


def phrase_rows(
    probabilities: NDArray[np.float32],
    askers: PromptRefs,
    *,
    model: str,
    step: int,
    targets: Sequence[int],
    tokens: Sequence[str],
) -> pl.DataFrame:
    """FILLS: for each asker the token of the phrase that was masked, and its probability.

    ``probabilities``: [sentence, target]; the token's id is the last in an asker's ``parent``.
    """
    ids = askers.parents.str.split("/").list.last().cast(pl.Int64).to_numpy()
    said = pl.Series([tokens[token] for token in ids], dtype=pl.String)
    rows = pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids,
            "parent": askers.parents,
            "token": said,
            "word": said.str.strip_chars(),
            "probability": probabilities[askers.sentences, np.searchsorted(targets, ids)],
        }
    )
    rows = rows.with_columns(
        model=pl.lit(model), step=pl.lit(step, pl.Int64), rank=pl.lit(None, pl.Int64)
    )
    return rows.select(schema(FILLS).names())


def next_word_rows(found: Sequence[NextWords], askers: PromptRefs, *, model: str) -> pl.DataFrame:
    """FILLS: for each asker the most probable next words, by rank."""
    of_askers = [found[sentence] for sentence in askers.sentences]
    counts = np.array([len(one.tokens) for one in of_askers])
    asker = np.repeat(np.arange(len(of_askers)), counts)
    tokens = pl.Series([token for one in of_askers for token in one.tokens], dtype=pl.String)
    ranks = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts) + 1
    rows = pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids.gather(asker),
            "parent": askers.parents.gather(asker),
            "rank": pl.Series(ranks, dtype=pl.Int64),
            "token": tokens,
            "word": tokens.str.strip_chars(),
            "probability": np.concatenate([one.probabilities for one in of_askers]),
        }
    )
    rows = rows.with_columns(model=pl.lit(model), step=pl.lit(1, dtype=pl.Int64))
    return rows.select(schema(FILLS).names())


def choice_rows(
    probabilities: NDArray[np.float32],
    askers: PromptRefs,
    *,
    model: str,
    labels: Sequence[str],
    options: Mapping[str, Sequence[Option]],
) -> pl.DataFrame:
    """CHOICES: for each asker its options in their order.

    ``probabilities``: [sentence, label], in the order of ``labels``; ``options``: of each prompt.
    """
    place = {label: at for at, label in enumerate(labels)}
    ids = askers.prompt_ids.to_list()
    offered = [options[one] for one in ids]
    counts = [len(one) for one in offered]
    asker = np.repeat(np.arange(len(ids)), counts)
    at = [place[option.label] for one in offered for option in one]
    found = probabilities[askers.sentences[asker], at]
    on_options = np.bincount(asker, weights=found, minlength=len(ids))
    rows = pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids.gather(asker),
            "option": pl.Series([option.label for one in offered for option in one]),
            "code": pl.Series([o.code for one in offered for o in one], dtype=pl.Float64),
            "probability": found,
            # Sums of float32 probabilities may be a hair above 1.
            "elsewhere": np.clip(1 - on_options, 0, 1)[asker].astype(np.float32),
        }
    )
    # Of a model on this machine every token is seen.
    all_seen = pl.lit(None, dtype=pl.Float32)
    return rows.with_columns(model=pl.lit(model), unseen=all_seen).select(schema(CHOICES).names())


def likelihood_rows(
    log_probabilities: NDArray[np.float64],
    askers: PromptRefs,
    *,
    model: str,
    tokens: NDArray[np.int64],
) -> pl.DataFrame:
    """LIKELIHOODS: for each asker the word that it puts in, and the sentence's probability."""
    rows = pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids,
            "word": askers.parents,
            "log_probability": log_probabilities[askers.sentences],
            "tokens": tokens[askers.sentences],
        }
    )
    return rows.with_columns(model=pl.lit(model)).select(schema(LIKELIHOODS).names())


def label_rows(
    probabilities: NDArray[np.float32], askers: PromptRefs, *, model: str, labels: Sequence[str]
) -> pl.DataFrame:
    """LABELS: for each asker the most probable class and the probability of every class."""
    different, added = by_meaning(probabilities, labels)
    names = pl.Series(different, dtype=pl.String)
    asked = added[askers.sentences]
    by_class = {
        name: asked[:, different.index(name)]
        if name in different
        else pl.Series([None] * len(asked), dtype=pl.Float32)
        for name in CLASSES
    }
    rows = pl.DataFrame(
        {"prompt_id": askers.prompt_ids, "label": names.gather(asked.argmax(axis=1)), **by_class}
    )
    return rows.with_columns(model=pl.lit(model)).select(schema(LABELS).names())


def words_put_back(fills: pl.DataFrame, *, width: int) -> dict[tuple[str, str], list[str]]:
    """The most probable words under each node, by (prompt id, parent), for the next step."""
    found = (
        fills.filter(pl.col("rank") <= width)
        .sort("rank")
        .group_by("prompt_id", "parent", maintain_order=True)
        .agg("word")
    )
    return {(prompt_id, parent): words for prompt_id, parent, words in found.iter_rows()}

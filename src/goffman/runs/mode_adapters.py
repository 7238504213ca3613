"""How each mode asks a model on this machine: sentences in, rows of the answer tables out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.instruments.types import MASK
from goffman.models.base import PART, Filled, PromptParts, by_meaning, not_a_number
from goffman.runs.recursive_masking import Node, Settings
from goffman.schemas import CHOICES, FILLS, LABELS, LIKELIHOODS, schema
from goffman.workers.protocol import Call

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.instruments.types import AnswerTable, CarriedPhrase, Option
    from goffman.models.base import Continues, Fills, NextWords

CLASSES = ("negative", "neutral", "positive")


@dataclass(frozen=True)
class Vocabulary:
    """A model's tokens as columns to gather from."""

    tokens: pl.Series
    words: pl.Series

    @classmethod
    def of(cls, tokens: Sequence[str]) -> Vocabulary:
        """Return the vocabulary of all tokens, in the order of their ids."""
        return cls(
            pl.Series(tokens, dtype=pl.String), pl.Series([token.strip() for token in tokens])
        )


@dataclass(frozen=True)
class PromptRefs:
    """The askers of a part's sentences: one entry per asker, sentence by sentence."""

    prompt_ids: pl.Series
    parents: pl.Series
    sentences: NDArray[np.int64]
    """The sentence's position in the part."""

    @classmethod
    def of(cls, nodes: Sequence[Node], positions: Sequence[Sequence[int]]) -> PromptRefs:
        """Return the askers at these positions of the nodes, one group of them per sentence."""
        askers = [nodes[position] for group in positions for position in group]
        counts = [len(group) for group in positions]
        return cls(
            pl.Series([node.prompt_id for node in askers], dtype=pl.String),
            pl.Series([node.parent for node in askers], dtype=pl.String),
            np.repeat(np.arange(len(positions)), counts),
        )


def together(batches: Sequence[Filled]) -> Filled:
    """Return the answers to several batches as those to one."""
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
    """Return FILLS: for each asker the top k by rank, then all other target words."""
    top_k = filled.token_ids.shape[1]
    count = len(askers.sentences)
    target_ids = np.asarray(targets, dtype=filled.token_ids.dtype)
    is_ranked = (filled.token_ids[:, None, :] == target_ids[None, :, None]).any(axis=2)
    unranked, target = np.nonzero(~is_ranked[askers.sentences])
    asker = np.concatenate([np.repeat(np.arange(count), top_k), unranked])
    tokens = np.concatenate([filled.token_ids[askers.sentences].ravel(), target_ids[target]])
    ranked_probabilities = filled.probabilities[askers.sentences].ravel()
    target_probabilities = filled.targets[askers.sentences[unranked], target]
    ranks = pl.Series(np.tile(np.arange(1, top_k + 1), count), dtype=pl.Int64)
    # The columns as they stand in FILLS, made without polars' queries, which would take longer.
    return pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids.gather(asker),
            "model": pl.Series([model]).new_from_index(0, len(asker)),
            "step": np.full(len(asker), step, dtype=np.int64),
            "parent": askers.parents.gather(asker),
            "rank": ranks.extend_constant(None, len(unranked)),
            "token": vocabulary.tokens.gather(tokens),
            "word": vocabulary.words.gather(tokens),
            "probability": np.concatenate([ranked_probabilities, target_probabilities]),
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
    """Return FILLS: for each asker the phrase's token that was masked, and its probability.

    ``probabilities``: [sentence, target]; the token's id is the last in an asker's ``parent``.
    """
    ids = askers.parents.str.split("/").list.last().cast(pl.Int64).to_numpy()
    texts = pl.Series([tokens[token] for token in ids], dtype=pl.String)
    rows = pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids,
            "parent": askers.parents,
            "token": texts,
            "word": texts.str.strip_chars(),
            "probability": probabilities[askers.sentences, np.searchsorted(targets, ids)],
        }
    )
    rows = rows.with_columns(
        model=pl.lit(model), step=pl.lit(step, pl.Int64), rank=pl.lit(None, pl.Int64)
    )
    return rows.select(schema(FILLS).names())


def next_word_rows(found: Sequence[NextWords], askers: PromptRefs, *, model: str) -> pl.DataFrame:
    """Return FILLS: for each asker the most probable next words, by rank."""
    answers = [found[sentence] for sentence in askers.sentences]
    counts = np.array([len(answer.tokens) for answer in answers])
    asker = np.repeat(np.arange(len(answers)), counts)
    tokens = pl.Series([token for answer in answers for token in answer.tokens], dtype=pl.String)
    ranks = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts) + 1
    rows = pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids.gather(asker),
            "parent": askers.parents.gather(asker),
            "rank": pl.Series(ranks, dtype=pl.Int64),
            "token": tokens,
            "word": tokens.str.strip_chars(),
            "probability": np.concatenate([answer.probabilities for answer in answers]),
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
    """Return CHOICES: for each asker its options in their order.

    ``probabilities``: [sentence, label], in the order of ``labels``; ``options``: of each prompt.
    """
    positions = {label: index for index, label in enumerate(labels)}
    ids = askers.prompt_ids.to_list()
    offered = [options[prompt_id] for prompt_id in ids]
    counts = [len(choices) for choices in offered]
    asker = np.repeat(np.arange(len(ids)), counts)
    columns = [positions[option.label] for choices in offered for option in choices]
    values = probabilities[askers.sentences[asker], columns]
    totals = np.bincount(asker, weights=values, minlength=len(ids))
    rows = pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids.gather(asker),
            "option": pl.Series([option.label for choices in offered for option in choices]),
            "code": pl.Series(
                [option.code for choices in offered for option in choices], dtype=pl.Float64
            ),
            "probability": values,
            # Sums of float32 probabilities may be a hair above 1.
            "elsewhere": np.clip(1 - totals, 0, 1)[asker].astype(np.float32),
        }
    )
    # Every token of a model on this machine is seen.
    all_seen = pl.lit(None, dtype=pl.Float32)
    return rows.with_columns(model=pl.lit(model), unseen=all_seen).select(schema(CHOICES).names())


def likelihood_rows(
    log_probabilities: NDArray[np.float64],
    askers: PromptRefs,
    *,
    model: str,
    tokens: NDArray[np.int64],
) -> pl.DataFrame:
    """Return LIKELIHOODS: for each asker its word, and the sentence's probability."""
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
    """Return LABELS: for each asker the most probable class and every class's probability."""
    classes, sums = by_meaning(probabilities, labels)
    names = pl.Series(classes, dtype=pl.String)
    asker_sums = sums[askers.sentences]
    by_class = {
        name: asker_sums[:, classes.index(name)]
        if name in classes
        else pl.Series([None] * len(asker_sums), dtype=pl.Float32)
        for name in CLASSES
    }
    rows = pl.DataFrame(
        {
            "prompt_id": askers.prompt_ids,
            "label": names.gather(asker_sums.argmax(axis=1)),
            **by_class,
        }
    )
    return rows.with_columns(model=pl.lit(model)).select(schema(LABELS).names())


def words_put_back(fills: pl.DataFrame, *, width: int) -> dict[tuple[str, str], list[str]]:
    """Return the most probable words under each node, by (prompt id, parent), for the next step."""
    groups = (
        fills.filter(pl.col("rank") <= width)
        .sort("rank")
        .group_by("prompt_id", "parent", maintain_order=True)
        .agg("word")
    )
    return {(prompt_id, parent): words for prompt_id, parent, words in groups.iter_rows()}


Sentences = Sequence[Sequence[int]]

CONTROL = re.compile(r"<[/|]*\w+\|?>|\[\w+\]")
"""How models write tokens that are not words: <pad>, </s>, <|end|>, [UNK], [unused1]."""


@lru_cache(maxsize=1)
def _vocabulary_of(tokens: tuple[str, ...]) -> Vocabulary:
    """Return the vocabulary, made once for all instruments that a model is asked."""
    return Vocabulary.of(tokens)


class ModeAdapter(ABC):
    """An adapter of a model for the loop that asks it: sentences in, rows of its table out."""

    table: AnswerTable
    steps = 1
    settings: Mapping[str, Any] | None = None
    """How masks are asked."""
    call: Call
    """How a batch is asked."""
    not_one_token: Sequence[str] = ()
    """Target words that have no answers, because they are not one token for this model."""

    def __init__(self, model: Any) -> None:
        self.name: str = model.identity.name
        self.model = model

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text."""
        encoded: list[list[int]] = self.model.encode(texts)
        return encoded

    def checked(self, answer: Any, batch: Sentences) -> Any:
        """Return the answers as ``rows`` takes them; raise ArithmeticError if one is no number."""
        del batch
        self._check(answer)
        return answer

    def _check(self, *probabilities: NDArray[np.floating[Any]]) -> None:
        """Raise ArithmeticError if one is not a number: it must never get into a table."""
        if not all(np.isfinite(array).all() for array in probabilities):
            raise ArithmeticError(not_a_number(self.model.identity.precision))

    @abstractmethod
    def rows(self, answers: Sequence[Any], askers: PromptRefs, *, step: int) -> pl.DataFrame:
        """Return the rows of the answers to several batches."""


class FillMask(ModeAdapter):
    """An adapter for a masked model."""

    table: AnswerTable = "fills"

    def __init__(self, model: Fills, settings: Settings) -> None:
        super().__init__(model)
        self.steps = settings.depth
        self.settings = asdict(settings)
        token_ids, self.not_one_token = model.single_tokens(settings.targets)
        self._targets = sorted(set(token_ids.values()))
        parameters = {"top_k": settings.top_k, "targets": self._targets}
        self.call = Call(method="fill_batch", told=parameters)

    # Both are made when first needed: a GPU is at work by then.
    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return _vocabulary_of(tuple(self.model.tokens))

    @cached_property
    def unfit(self) -> frozenset[str]:
        """Return what cannot be put back into a sentence.

        That is no word at all, a mask, what is no word for the model's tokenizer or does not look
        like one, and a token that is only a part of a letter.
        """
        tokens = self.model.tokens
        specials = [tokens[token].strip() for token in self.model.special_ids]
        specials += [token for token in tokens if CONTROL.fullmatch(token)]
        broken = [token.strip() for token in tokens if "\N{REPLACEMENT CHARACTER}" in token]
        return frozenset({"", MASK, *specials, *broken})

    def checked(self, answer: Filled, batch: Sentences) -> Filled:
        """Return the answers to a batch; raise ArithmeticError if one is not a number."""
        del batch
        self._check(answer.probabilities, answer.targets)
        return answer

    def rows(self, answers: Sequence[Filled], askers: PromptRefs, *, step: int) -> pl.DataFrame:
        """Return the rows of FILLS."""
        return fill_rows(
            together(answers),
            askers,
            model=self.name,
            step=step,
            vocabulary=self._vocabulary,
            targets=self._targets,
        )


class PhraseTokens(ModeAdapter):
    """An adapter for a masked or causal model that is asked for the tokens of phrases in place."""

    table: AnswerTable = "fills"

    def __init__(self, model: Any, phrases: Sequence[CarriedPhrase]) -> None:
        super().__init__(model)
        self.nodes: list[Node] = []
        self._encoded: dict[str, list[int]] = {}
        for prompt_id, *texts in phrases:
            for place, (ids, token) in enumerate(model.encode_phrase(*texts)):
                text = f"{''.join(texts)}{PART}{place}"
                self._encoded[text] = ids
                self.nodes.append(Node(prompt_id, f"{place}/{token}", text))
        self._targets = sorted({int(node.parent.split("/")[1]) for node in self.nodes})
        self.call = Call(method="phrase_batch", told={"targets": self._targets})

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, as the model found them."""
        return [self._encoded[text] for text in texts]

    def rows(
        self, answers: Sequence[NDArray[np.float32]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """Return FILLS: one row for each token of each phrase, without a rank."""
        tokens = getattr(self.model, "tokens", None) or self.model.next_word.tokens
        return phrase_rows(
            np.concatenate(answers),
            askers,
            model=self.name,
            step=step,
            targets=self._targets,
            tokens=tokens,
        )


class Classify(ModeAdapter):
    """An adapter for a classifier."""

    table: AnswerTable = "labels"
    call = Call(method="classify_batch")

    def rows(
        self, answers: Sequence[NDArray[np.float32]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """Return the rows of LABELS."""
        del step  # a label has no mask to go on from
        joined = np.concatenate(answers)
        return label_rows(joined, askers, model=self.name, labels=self.model.labels)


class Likelihood(ModeAdapter):
    """An adapter for a causal model that does not chat."""

    table: AnswerTable = "likelihoods"
    call = Call(method="score_batch")

    def checked(self, answer: NDArray[np.float64], batch: Sentences) -> NDArray[np.float64]:
        """Return a batch's answers and lengths; raise ArithmeticError if one is not a number."""
        lengths = [len(sentence) - 1 for sentence in batch]
        scored = np.stack([answer, np.array(lengths, dtype=np.float64)])
        self._check(scored)
        return scored

    def rows(
        self, answers: Sequence[NDArray[np.float64]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """Return the rows of LIKELIHOODS."""
        del step  # a whole sentence has no mask to go on from
        scores, tokens = np.concatenate(answers, axis=1)
        return likelihood_rows(scores, askers, model=self.name, tokens=tokens.astype(np.int64))


class _BegunReply(ModeAdapter):
    """An adapter for a causal or chat model whose reply is begun for it."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, up to the blank or the answer."""
        encoded: list[list[int]] = self.model.next_word.encode(
            [PromptParts.read(text) for text in texts]
        )
        return encoded


class NextWord(_BegunReply):
    """An adapter for a causal or chat model whose reply is begun up to the blank."""

    table: AnswerTable = "fills"

    def __init__(self, model: Continues, settings: Settings) -> None:
        super().__init__(model)
        self.settings = {"top_k": settings.top_k}
        self.call = Call(method="next_word.words", told=self.settings)

    def checked(self, answer: list[NextWords], batch: Sentences) -> list[NextWords]:
        """Return the answers to a batch; raise ArithmeticError if one is not a number."""
        del batch
        self._check(*(words.probabilities for words in answer))
        return answer

    def rows(
        self, answers: Sequence[Sequence[NextWords]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """Return the rows of FILLS."""
        del step  # a word is said once
        words = list(chain.from_iterable(answers))
        return next_word_rows(words, askers, model=self.name)


class OptionProbability(_BegunReply):
    """An adapter for a causal or chat model that is asked for the probability of each option."""

    table: AnswerTable = "choices"

    def __init__(self, model: Continues, options: Mapping[str, Sequence[Option]]) -> None:
        """Take the model and the options of each prompt, by its id."""
        super().__init__(model)
        self._options = options
        self._labels = sorted({option.label for choices in options.values() for option in choices})
        self.call = Call(method="next_word.options", told={"labels": self._labels})

    def rows(
        self, answers: Sequence[NDArray[np.float32]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """Return the rows of CHOICES."""
        del step  # an option is chosen once
        joined = np.concatenate(answers)
        return choice_rows(
            joined, askers, model=self.name, labels=self._labels, options=self._options
        )


class PersonPicked(OptionProbability):
    """An adapter for a question-answering or inference model.

    The options are the two people, and no answer.
    """

    def __init__(self, model: Any, options: Mapping[str, Sequence[Option]]) -> None:
        super().__init__(model, options)
        self.call = Call(method="pick_batch")

    encode = ModeAdapter.encode

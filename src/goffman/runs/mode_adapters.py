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

from goffman.instruments.types import MASK, PASSAGES, is_control
from goffman.models.base import PART, PromptParts, by_meaning, not_a_number
from goffman.models.registry import model_kinds
from goffman.runs.answers import columns_of
from goffman.runs.recursive_masking import Node, Settings, children, roots, with_forms
from goffman.schemas import schema
from goffman.workers.protocol import Call

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.instruments.types import AnswerTable, CarriedPhrase, InstrumentKind, Option, Prompt
    from goffman.models.base import Continues, Filled, Fills, NextWords

CLASSES = ("negative", "neutral", "positive")

CONTROL = re.compile(r"<[/|]*\w+\|?>|\[\w+\]")
"""How models write tokens that are not words: <pad>, </s>, <|end|>, [UNK], [unused1]."""


@dataclass(frozen=True)
class PromptRefs:
    """Which prompts the sentences of a part come from: columns with one entry per node."""

    prompt_ids: pl.Series
    parents: pl.Series
    sentences: NDArray[np.int64]
    """The sentence's position in the part."""

    @classmethod
    def of(cls, nodes: Sequence[Node], positions: Sequence[Sequence[int]]) -> PromptRefs:
        """Return the columns for the nodes at these positions, given sentence by sentence."""
        refs = [nodes[position] for group in positions for position in group]
        counts = [len(group) for group in positions]
        return cls(
            pl.Series([node.prompt_id for node in refs], dtype=pl.String),
            pl.Series([node.parent for node in refs], dtype=pl.String),
            np.repeat(np.arange(len(positions)), counts),
        )


class ModeAdapter(ABC):
    """An adapter through which a model is asked: sentences in, rows of an answer table out."""

    table: AnswerTable
    steps = 1
    settings: Mapping[str, Any] | None = None
    """The settings with which masks are asked; None if there are no masks."""
    call: Call
    """How a batch is asked."""
    not_one_token: Sequence[str] = ()
    """Target words that have no answers, because they are not one token for this model."""

    def __init__(self, model: Any) -> None:
        self.name: str = model.identity.name
        self.model = model

    def nodes(self, prompts: Sequence[Prompt]) -> list[Node]:
        """Return the sentences of the first step."""
        return roots(prompts)

    def children(
        self, nodes: Sequence[Node], rows: pl.DataFrame
    ) -> dict[tuple[str, str], list[Node]]:
        """Return the sentences of the next step, under the prompt id and parent of their node."""
        raise NotImplementedError

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text."""
        encoded: list[list[int]] = self.model.encode(texts)
        return encoded

    def checked(self, answer: Any, batch: Sequence[Sequence[int]]) -> Any:
        """Return a batch's answer for ``rows``; raise ArithmeticError if a number is not finite."""
        del batch
        if not all(np.isfinite(array).all() for array in self.arrays(answer)):
            raise ArithmeticError(not_a_number(self.model.identity.precision))
        return answer

    def arrays(self, answer: Any) -> Sequence[NDArray[np.floating[Any]]]:
        """Return the arrays of an answer whose numbers must be finite."""
        return [answer]

    def rows(self, answers: Sequence[Any], refs: PromptRefs, *, step: int) -> pl.DataFrame:
        """Return the table's rows for the answers to several batches."""
        columns = {"model": self.name, "step": step, **self.columns(answers, refs)}
        count, types = len(columns["prompt_id"]), schema(columns_of(self.table))
        for name, dtype in types.items():
            if isinstance(columns[name], str | int | None):
                # Made without polars' queries, which would take longer.
                columns[name] = pl.Series([columns[name]], dtype=dtype).new_from_index(0, count)
        return pl.DataFrame({name: columns[name] for name in types})

    @abstractmethod
    def columns(self, answers: Sequence[Any], refs: PromptRefs) -> dict[str, Any]:
        """Return all columns but model and step; a single value is meant for all rows."""


@lru_cache(maxsize=1)
def _vocabulary_of(tokens: tuple[str, ...]) -> tuple[pl.Series, pl.Series]:
    """Return all tokens, and the words that they spell, as series to gather from by token id."""
    texts = pl.Series(tokens, dtype=pl.String)
    return texts, pl.Series([token.strip() for token in tokens], dtype=pl.String)


class FillMask(ModeAdapter):
    """An adapter for a masked model."""

    table: AnswerTable = "fills"

    def __init__(self, model: Fills, settings: Settings) -> None:
        super().__init__(model)
        self.steps = settings.depth
        self.settings = asdict(settings)
        self._masking = settings
        token_ids, self.not_one_token = model.single_tokens(settings.targets)
        self._targets = sorted(set(token_ids.values()))
        parameters = {"top_k": settings.top_k, "targets": self._targets}
        self.call = Call(method="fill_batch", arguments=parameters)

    # Both are made when first needed: a GPU is at work by then.
    @cached_property
    def _vocabulary(self) -> tuple[pl.Series, pl.Series]:
        return _vocabulary_of(tuple(self.model.tokens))

    @cached_property
    def unfit(self) -> frozenset[str]:
        """Return the texts of tokens that cannot be put back into a sentence.

        These are empty texts, the mask, special tokens, texts that look like special tokens, and
        parts of a letter.
        """
        tokens = self.model.tokens
        specials = [tokens[token].strip() for token in self.model.special_ids]
        specials += [token for token in tokens if CONTROL.fullmatch(token)]
        broken = [token.strip() for token in tokens if "\N{REPLACEMENT CHARACTER}" in token]
        return frozenset({"", MASK, *specials, *broken})

    def children(
        self, nodes: Sequence[Node], rows: pl.DataFrame
    ) -> dict[tuple[str, str], list[Node]]:
        """Return the sentences with the most probable words put back, by prompt id and parent."""
        groups = (
            rows.filter(pl.col("rank") <= self._masking.width)
            .sort("rank")
            .group_by("prompt_id", "parent", maintain_order=True)
            .agg("word")
        )
        words = {(prompt_id, parent): words for prompt_id, parent, words in groups.iter_rows()}
        placement = self._masking.placement
        return {
            node[:2]: children([node], words, placement=placement, unfit=self.unfit)
            for node in nodes
        }

    def arrays(self, answer: Filled) -> Sequence[NDArray[np.float32]]:
        """Return the probabilities of ranks and of targets."""
        return answer.probabilities, answer.targets

    def columns(self, answers: Sequence[Filled], refs: PromptRefs) -> dict[str, Any]:
        """Return FILLS: for each sentence asked the top k by rank, then all other target words."""
        token_ids = np.concatenate([batch.token_ids for batch in answers])
        probabilities = np.concatenate([batch.probabilities for batch in answers])
        of_targets = np.concatenate([batch.targets for batch in answers])
        top_k, count = token_ids.shape[1], len(refs.sentences)
        target_ids = np.asarray(self._targets, dtype=token_ids.dtype)
        is_ranked = (token_ids[:, None, :] == target_ids[None, :, None]).any(axis=2)
        unranked, target = np.nonzero(~is_ranked[refs.sentences])
        ref = np.concatenate([np.repeat(np.arange(count), top_k), unranked])
        tokens = np.concatenate([token_ids[refs.sentences].ravel(), target_ids[target]])
        ranked_values = probabilities[refs.sentences].ravel()
        target_values = of_targets[refs.sentences[unranked], target]
        ranks = pl.Series(np.tile(np.arange(1, top_k + 1), count), dtype=pl.Int64)
        texts, words = self._vocabulary
        return {
            "prompt_id": refs.prompt_ids.gather(ref),
            "parent": refs.parents.gather(ref),
            "rank": ranks.extend_constant(None, len(unranked)),
            "token": texts.gather(tokens),
            "word": words.gather(tokens),
            "probability": np.concatenate([ranked_values, target_values]),
        }


class PhraseTokens(ModeAdapter):
    """An adapter for a masked or causal model that is asked for the tokens of phrases in place."""

    table: AnswerTable = "fills"

    def __init__(self, model: Any, phrases: Sequence[CarriedPhrase]) -> None:
        super().__init__(model)
        self._nodes: list[Node] = []
        self._encoded: dict[str, list[int]] = {}
        for prompt_id, *texts in phrases:
            for place, (ids, token) in enumerate(model.encode_phrase(*texts)):
                text = f"{''.join(texts)}{PART}{place}"
                self._encoded[text] = ids
                self._nodes.append(Node(prompt_id, f"{place}/{token}", text))
        self._targets = sorted({int(node.parent.split("/")[1]) for node in self._nodes})
        self.call = Call(method="phrase_batch", arguments={"targets": self._targets})

    def nodes(self, prompts: Sequence[Prompt]) -> list[Node]:
        """Return a sentence for each token of each phrase."""
        del prompts
        return self._nodes

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, as the model found them."""
        return [self._encoded[text] for text in texts]

    def columns(self, answers: Sequence[NDArray[np.float32]], refs: PromptRefs) -> dict[str, Any]:
        """Return FILLS: one row for each token of each phrase, without a rank."""
        tokens = getattr(self.model, "tokens", None) or self.model.next_word.tokens
        ids = refs.parents.str.split("/").list.last().cast(pl.Int64).to_numpy()
        texts = pl.Series([tokens[token] for token in ids], dtype=pl.String)
        target = np.searchsorted(self._targets, ids)
        return {
            "prompt_id": refs.prompt_ids,
            "parent": refs.parents,
            "rank": None,
            "token": texts,
            "word": texts.str.strip_chars(),
            "probability": np.concatenate(answers)[refs.sentences, target],
        }


class Classify(ModeAdapter):
    """An adapter for a classifier."""

    table: AnswerTable = "labels"
    call = Call(method="classify_batch")

    def columns(self, answers: Sequence[NDArray[np.float32]], refs: PromptRefs) -> dict[str, Any]:
        """Return LABELS: of each sentence the most probable class and every class's probability."""
        classes, sums = by_meaning(np.concatenate(answers), self.model.labels)
        ref_sums = sums[refs.sentences]
        by_class = {
            name: ref_sums[:, classes.index(name)] if name in classes else None for name in CLASSES
        }
        labels = pl.Series(classes, dtype=pl.String).gather(ref_sums.argmax(axis=1))
        return {"prompt_id": refs.prompt_ids, "label": labels, **by_class}


class Likelihood(ModeAdapter):
    """An adapter for a causal model that does not chat."""

    table: AnswerTable = "likelihoods"
    call = Call(method="score_batch")

    def __init__(self, model: Any, forms: Mapping[str, Sequence[str]]) -> None:
        """Take the model and the words in place of each prompt's mask, by the prompt's id."""
        super().__init__(model)
        self._forms = forms

    def nodes(self, prompts: Sequence[Prompt]) -> list[Node]:
        """Return each prompt with each of its words."""
        return with_forms(roots(prompts), self._forms)

    def checked(
        self, answer: NDArray[np.float64], batch: Sequence[Sequence[int]]
    ) -> NDArray[np.float64]:
        """Return a batch's answers and lengths; raise ArithmeticError if one is not a number."""
        lengths = [len(sentence) - 1 for sentence in batch]
        scored: NDArray[np.float64] = super().checked(np.stack([answer, lengths]), batch)
        return scored

    def columns(self, answers: Sequence[NDArray[np.float64]], refs: PromptRefs) -> dict[str, Any]:
        """Return LIKELIHOODS: for each sentence asked its word, and the sentence's probability."""
        scores, tokens = np.concatenate(answers, axis=1)[:, refs.sentences]
        return {
            "prompt_id": refs.prompt_ids,
            "word": refs.parents,
            "log_probability": scores,
            "tokens": tokens.astype(np.int64),
        }


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
        self.call = Call(method="next_word.words", arguments=self.settings)

    def arrays(self, answer: list[NextWords]) -> Sequence[NDArray[np.float32]]:
        """Return the probabilities of each text's words."""
        return [words.probabilities for words in answer]

    def columns(self, answers: Sequence[Sequence[NextWords]], refs: PromptRefs) -> dict[str, Any]:
        """Return FILLS: for each sentence asked the most probable next words, by rank."""
        by_sentence = list(chain.from_iterable(answers))
        next_words = [by_sentence[sentence] for sentence in refs.sentences]
        counts = np.array([len(words.tokens) for words in next_words])
        ref = np.repeat(np.arange(len(next_words)), counts)
        tokens = pl.Series(
            [token for words in next_words for token in words.tokens], dtype=pl.String
        )
        ranks = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts) + 1
        return {
            "prompt_id": refs.prompt_ids.gather(ref),
            "parent": refs.parents.gather(ref),
            "rank": pl.Series(ranks, dtype=pl.Int64),
            "token": tokens,
            "word": tokens.str.strip_chars(),
            "probability": np.concatenate([words.probabilities for words in next_words]),
        }


class OptionProbability(_BegunReply):
    """An adapter for a causal or chat model that is asked for the probability of each option."""

    table: AnswerTable = "choices"

    def __init__(self, model: Continues, options: Mapping[str, Sequence[Option]]) -> None:
        """Take the model and the options of each prompt, by its id."""
        super().__init__(model)
        self._options = options
        self._labels = sorted({option.label for choices in options.values() for option in choices})
        self.call = Call(method="next_word.options", arguments={"labels": self._labels})

    def columns(self, answers: Sequence[NDArray[np.float32]], refs: PromptRefs) -> dict[str, Any]:
        """Return CHOICES: for each sentence asked its options in their order."""
        offered = [self._options[prompt_id] for prompt_id in refs.prompt_ids.to_list()]
        options = list(chain.from_iterable(offered))
        ref = np.repeat(np.arange(len(offered)), [len(choices) for choices in offered])
        columns = np.searchsorted(self._labels, [option.label for option in options])
        values = np.concatenate(answers)[refs.sentences[ref], columns]
        totals = np.bincount(ref, weights=values, minlength=len(offered))
        return {
            "prompt_id": refs.prompt_ids.gather(ref),
            "option": pl.Series([option.label for option in options]),
            "code": pl.Series([option.code for option in options], dtype=pl.Float64),
            "probability": values,
            # Sums of float32 probabilities may be a hair above 1.
            "elsewhere": np.clip(1 - totals, 0, 1)[ref].astype(np.float32),
            # Every token of a model on this machine is seen.
            "unseen": None,
        }


class PersonPicked(OptionProbability):
    """An adapter for a question-answering or inference model.

    The options are the two people, and no answer.
    """

    def __init__(self, model: Any, options: Mapping[str, Sequence[Option]]) -> None:
        super().__init__(model, options)
        self.call = Call(method="pick_batch")

    encode = ModeAdapter.encode


def mode_adapter(
    model: Any, kind: InstrumentKind, prompts: Sequence[Prompt], settings: Settings | None
) -> ModeAdapter:
    """Return the adapter for a model that is asked an instrument of this kind in batches.

    ``settings``: how masks are asked; None: the instrument has none.
    """
    if kind == "complete" and settings:
        return NextWord(model, settings)
    if kind in ("choose", *PASSAGES):
        adapter = PersonPicked if kind in PASSAGES else OptionProbability
        return adapter(model, {prompt.id: prompt.options for prompt in prompts})
    table = model_kinds()[model.identity.kind].answers
    if table == "fills" and settings:
        return FillMask(model, settings)
    if table == "likelihoods":
        return Likelihood(model, pronoun_forms(prompts))
    return Classify(model)


def pronoun_forms(prompts: Sequence[Prompt]) -> dict[str, tuple[str, ...]]:
    """Return by prompt id the pronouns that can fill the mask of its item and condition."""
    pair_pronouns: dict[tuple[str, str], set[str]] = {}
    for prompt in prompts:
        if is_control(prompt):
            pair_pronouns[prompt.item, prompt.condition] = {str(prompt.answer), str(prompt.other)}
        elif prompt.pronoun is not None:
            pair_pronouns.setdefault((prompt.item, prompt.condition), set()).add(prompt.pronoun)
    return {
        prompt.id: tuple(sorted(pair_pronouns[prompt.item, prompt.condition])) for prompt in prompts
    }

"""Models as the loop that asks them needs them: sentences in, rows of their table out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from goffman.instruments.types import MASK
from goffman.models.base import PART, PromptParts, not_a_number
from goffman.runs.answer_rows import (
    Vocabulary,
    choice_rows,
    fill_rows,
    label_rows,
    likelihood_rows,
    next_word_rows,
    phrase_rows,
    together,
)
from goffman.runs.recursive_masking import Node
from goffman.workers.protocol import Call

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from goffman.instruments.types import AnswerTable, CarriedPhrase, Option
    from goffman.models.base import Continues, Filled, Fills, NextWords
    from goffman.runs.answer_rows import PromptRefs
    from goffman.runs.batch_plan import Settings

Sentences = Sequence[Sequence[int]]

CONTROL = re.compile(r"<[/|]*\w+\|?>|\[\w+\]")
"""How models write what is no word: <pad>, </s>, <|end|>, [UNK], [unused1]."""


@lru_cache(maxsize=1)
def _vocabulary_of(tokens: tuple[str, ...]) -> Vocabulary:
    """Once for all instruments that a model is asked."""
    return Vocabulary.of(tokens)


class ModeAdapter(ABC):
    """What the loop needs of a model: sentences in, rows of its table out."""

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
        """Token ids of each text."""
        encoded: list[list[int]] = self.model.encode(texts)
        return encoded

    def checked(self, answer: Any, batch: Sentences) -> Any:
        """The answers to a batch as ``rows`` takes them; ArithmeticError where one is no number."""
        del batch
        self._check(answer)
        return answer

    def _check(self, *probabilities: NDArray[np.floating[Any]]) -> None:
        """ArithmeticError where one is not a number: it must never get into a table."""
        if not all(np.isfinite(array).all() for array in probabilities):
            raise ArithmeticError(not_a_number(self.model.identity.precision))

    @abstractmethod
    def rows(self, answers: Sequence[Any], askers: PromptRefs, *, step: int) -> pl.DataFrame:
        """The rows of the answers to several batches."""


class FillMask(ModeAdapter):
    """A masked model."""

    table: AnswerTable = "fills"

    def __init__(self, model: Fills, settings: Settings) -> None:
        super().__init__(model)
        self.steps = settings.depth
        self.settings = asdict(settings)
        token_ids, self.not_one_token = model.single_tokens(settings.targets)
        self._targets = sorted(set(token_ids.values()))
        told = {"top_k": settings.top_k, "targets": self._targets}
        self.call = Call(method="fill_batch", told=told)

    # Both are made where they are needed first: a GPU is at work by then.
    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return _vocabulary_of(tuple(self.model.tokens))

    @cached_property
    def unfit(self) -> frozenset[str]:
        """What cannot be put back into a sentence.

        No word at all, a mask, what is no word for the model's tokenizer or does not look like one,
        and a token that is only a part of a letter.
        """
        tokens = self.model.tokens
        around = [tokens[token].strip() for token in self.model.special_ids]
        around += [token for token in tokens if CONTROL.fullmatch(token)]
        broken = [token.strip() for token in tokens if "\N{REPLACEMENT CHARACTER}" in token]
        return frozenset({"", MASK, *around, *broken})

    def checked(self, answer: Filled, batch: Sentences) -> Filled:
        """The answers to a batch; ArithmeticError where one is not a number."""
        del batch
        self._check(answer.probabilities, answer.targets)
        return answer

    def rows(self, answers: Sequence[Filled], askers: PromptRefs, *, step: int) -> pl.DataFrame:
        """FILLS."""
        return fill_rows(
            together(answers),
            askers,
            model=self.name,
            step=step,
            vocabulary=self._vocabulary,
            targets=self._targets,
        )


class PhraseTokens(ModeAdapter):
    """A masked or causal model that is asked for the tokens of phrases, each in its place."""

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
        """Token ids of each text, as the model found them."""
        return [self._encoded[text] for text in texts]

    def rows(
        self, answers: Sequence[NDArray[np.float32]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """FILLS: one row for each token of each phrase, without a rank."""
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
    """A classifier."""

    table: AnswerTable = "labels"
    call = Call(method="classify_batch")

    def rows(
        self, answers: Sequence[NDArray[np.float32]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """LABELS."""
        del step  # a label has no mask to go on from
        joined = np.concatenate(answers)
        return label_rows(joined, askers, model=self.name, labels=self.model.labels)


class Likelihood(ModeAdapter):
    """A causal model that does not chat."""

    table: AnswerTable = "likelihoods"
    call = Call(method="score_batch")

    def checked(self, answer: NDArray[np.float64], batch: Sentences) -> NDArray[np.float64]:
        """The answers to a batch, and its lengths; ArithmeticError where one is not a number."""
        lengths = [len(sentence) - 1 for sentence in batch]
        scored = np.stack([answer, np.array(lengths, dtype=np.float64)])
        self._check(scored)
        return scored

    def rows(
        self, answers: Sequence[NDArray[np.float64]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """LIKELIHOODS."""
        del step  # a whole sentence has no mask to go on from
        scores, tokens = np.concatenate(answers, axis=1)
        return likelihood_rows(scores, askers, model=self.name, tokens=tokens.astype(np.int64))


class _BegunReply(ModeAdapter):
    """A causal or chat model whose reply is begun for it."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, up to where the model goes on: the blank, or the answer."""
        encoded: list[list[int]] = self.model.next_word.encode(
            [PromptParts.read(text) for text in texts]
        )
        return encoded


class NextWord(_BegunReply):
    """A causal or chat model whose reply is begun up to the blank."""

    table: AnswerTable = "fills"

    def __init__(self, model: Continues, settings: Settings) -> None:
        super().__init__(model)
        self.settings = {"top_k": settings.top_k}
        self.call = Call(method="next_word.words", told=self.settings)

    def checked(self, answer: list[NextWords], batch: Sentences) -> list[NextWords]:
        """The answers to a batch; ArithmeticError where one is not a number."""
        del batch
        self._check(*(words.probabilities for words in answer))
        return answer

    def rows(
        self, answers: Sequence[Sequence[NextWords]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """FILLS."""
        del step  # a word is said once
        words = list(chain.from_iterable(answers))
        return next_word_rows(words, askers, model=self.name)


class OptionProbability(_BegunReply):
    """A causal or chat model that is asked for the probability of each option."""

    table: AnswerTable = "choices"

    def __init__(self, model: Continues, options: Mapping[str, Sequence[Option]]) -> None:
        """``options``: of each prompt, by its id."""
        super().__init__(model)
        self._options = options
        self._labels = sorted({option.label for several in options.values() for option in several})
        self.call = Call(method="next_word.options", told={"labels": self._labels})

    def rows(
        self, answers: Sequence[NDArray[np.float32]], askers: PromptRefs, *, step: int
    ) -> pl.DataFrame:
        """CHOICES."""
        del step  # an option is chosen once
        joined = np.concatenate(answers)
        return choice_rows(
            joined, askers, model=self.name, labels=self._labels, options=self._options
        )

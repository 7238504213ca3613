"""Models that answer from a log: the loops that ask models ask these and write their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from goffman.harness.export_tasks import spellings
from goffman.models.base import NextWords, PromptParts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.instruments.types import Prompt
    from goffman.models.base import ChatRequest, Identity, Reply


class RecordedReplies:
    """A chat model whose replies are known from a log."""

    def __init__(
        self,
        identity: Identity,
        prompts: Sequence[Prompt],
        replies: Mapping[str, Sequence[Reply]],
    ) -> None:
        """Take the replies, by prompt id, one for each trial."""
        self.identity = identity
        self._replies = {prompt.asked: replies[prompt.id] for prompt in prompts}

    def chat(self, turns: Sequence[ChatRequest], heard: Callable[[int, Reply], None]) -> None:
        """Give each turn its reply at once."""
        for position, turn in enumerate(turns):
            heard(position, self._replies[turn.text][turn.trial - 1])


class RecordedOptions:
    """A causal model whose options' probabilities are known from a log."""

    def __init__(
        self,
        identity: Identity,
        prompts: Sequence[Prompt],
        logarithms: Mapping[str, Sequence[float]],
    ) -> None:
        """Take the logarithms, by prompt id, of each spelling of the options: see choice_row."""
        self.identity = identity
        self.tokens: tuple[str, ...] = ()
        self._places: dict[PromptParts, int] = {}
        self._options: list[dict[str, float]] = []
        for prompt in prompts:
            self._places[PromptParts.read(prompt.asked)] = len(self._options)
            # An option's probability is the sum over its spellings.
            probabilities = iter(np.exp(np.array(logarithms[prompt.id], dtype=np.float64)))
            self._options.append(
                {
                    option.label: float(sum(next(probabilities) for _ in spellings(option.label)))
                    for option in prompt.options
                }
            )

    @property
    def next_word(self) -> RecordedOptions:
        """Return the reader of the options, which is the model itself."""
        return self

    def encode(self, openings: Sequence[PromptParts]) -> list[list[int]]:
        """Return one number for each question: its position."""
        return [[self._places[opening]] for opening in openings]

    def words(self, encoded: Sequence[Sequence[int]], *, top_k: int) -> list[NextWords]:
        """Raise NotImplementedError: no harness logs words that were not offered."""
        raise NotImplementedError

    def options(
        self, encoded: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return [text, label]: the probability of all spellings of a label; 0: not offered."""
        probabilities = [
            [self._options[position].get(label, 0.0) for label in labels] for (position,) in encoded
        ]
        return np.array(probabilities, dtype=np.float32)

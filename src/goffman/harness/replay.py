"""Models that answer from a log: the loops that ask models ask these, and write what they say."""

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
    """A chat model whose replies are known."""

    def __init__(
        self,
        identity: Identity,
        prompts: Sequence[Prompt],
        replies: Mapping[str, Sequence[Reply]],
    ) -> None:
        """``replies``: by prompt id, one for each trial."""
        self.identity = identity
        self._replies = {prompt.asked: replies[prompt.id] for prompt in prompts}

    def chat(self, turns: Sequence[ChatRequest], heard: Callable[[int, Reply], None]) -> None:
        """Each turn has its reply at once."""
        for position, turn in enumerate(turns):
            heard(position, self._replies[turn.text][turn.trial - 1])


class RecordedOptions:
    """A causal model whose options' probabilities are known."""

    def __init__(
        self,
        identity: Identity,
        prompts: Sequence[Prompt],
        logarithms: Mapping[str, Sequence[float]],
    ) -> None:
        """``logarithms``: by prompt id, of each spelling of its options: see rows.py."""
        self.identity = identity
        self.tokens: tuple[str, ...] = ()
        self._places: dict[PromptParts, int] = {}
        self._options: list[dict[str, float]] = []
        for prompt in prompts:
            self._places[PromptParts.read(prompt.asked)] = len(self._options)
            # An option is as probable as its spellings together.
            left = iter(np.exp(np.array(logarithms[prompt.id], dtype=np.float64)))
            self._options.append(
                {
                    option.label: float(sum(next(left) for _ in spellings(option.label)))
                    for option in prompt.options
                }
            )

    @property
    def next_word(self) -> RecordedOptions:
        """What reads the options off it: itself."""
        return self

    def encode(self, openings: Sequence[PromptParts]) -> list[list[int]]:
        """One number for each question: its place."""
        return [[self._places[one]] for one in openings]

    def words(self, encoded: Sequence[Sequence[int]], *, top_k: int) -> list[NextWords]:
        """None: no harness tells of words that were not offered."""
        raise NotImplementedError

    def options(
        self, encoded: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> NDArray[np.float32]:
        """[text, label]: the probability of all spellings of the label; 0: it is not offered."""
        found = [[self._options[at].get(label, 0.0) for label in labels] for (at,) in encoded]
        return np.array(found, dtype=np.float32)

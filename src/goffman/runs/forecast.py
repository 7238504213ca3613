"""What asking a chat model will take, said before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from goffman.models.base import Sampling
    from goffman.runs.ask_replies import Questions

SIGNS_PER_TOKEN = 4
"""Of English, in the tokens of today's models; a little too few rather than too many."""

AROUND = 8
"""Tokens that a chat puts around a question."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What a server takes for a million tokens, in the user's currency."""

    question: float = 0.0
    reply: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What is still to be asked, and about how much it is."""

    requests: int
    """Without those that fail and are sent again."""
    there: int
    """Questions whose replies are on disk."""
    question_tokens: int
    """About so many go out."""
    reply_tokens: int
    """No more than so many come back."""

    def cost(self, prices: Prices) -> tuple[float, float]:
        """The cost of the questions alone, and with the longest replies."""
        questions = self.question_tokens * prices.question / 1e6
        return questions, questions + self.reply_tokens * prices.reply / 1e6


def forecast(questions: Questions, sampling: Sampling) -> Forecast:
    """What the questions without a reply will take."""
    missing = (~questions.answered).sum(axis=0)
    lengths = np.array([len(text) for text in questions.texts], dtype=np.int64)
    requests = int(missing.sum())
    tokens = -(-lengths // SIGNS_PER_TOKEN) + AROUND
    return Forecast(
        requests=requests,
        there=int(questions.answered.sum()),
        question_tokens=int((tokens * missing).sum()),
        reply_tokens=requests * sampling.max_tokens,
    )


def forecast_text(found: Forecast, prices: Prices | None) -> str:
    """The forecast as a sentence."""
    there = f" ({found.there:,} replies are already there)" if found.there else ""
    requests = "1 request" if found.requests == 1 else f"{found.requests:,} requests"
    text = (
        f"{requests}{there}, about {found.question_tokens:,} tokens sent and at most "
        f"{found.reply_tokens:,} received"
    )
    if prices is None:
        return f"{text}."
    least, most = found.cost(prices)
    return f"{text}. Estimated cost: {least:,.2f} for the prompts, at most {most:,.2f} in all."

"""Replies without an answer, noticed before all are paid for."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from goffman.errors import AskingError
from goffman.runs.remarks import LIMIT

if TYPE_CHECKING:
    from goffman.models.base import Reply

LOOK = 50
"""So many replies are looked at together."""

TOO_MANY = 45
"""So many useless ones of these end the asking."""

CUT_REASONING = "cut off in the reasoning"
ONLY_REASONING = "reasoning without an answer"
CUT_EMPTY = "cut off before the first word"
EMPTY = "empty"


def why_useless(reply: Reply) -> str | None:
    """Why the reply holds no answer; None: it may hold one, or a filter took it."""
    if (reply.text or "").strip() or reply.finish_reason == "content_filter":
        return None
    cut = reply.finish_reason == LIMIT
    if reply.reasoning:
        return CUT_REASONING if cut else ONLY_REASONING
    return CUT_EMPTY if cut else EMPTY


class Usefulness:
    """Watches the last replies of a model."""

    def __init__(self, model: str, max_tokens: int | None) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._last: deque[str | None] = deque(maxlen=LOOK)

    def check(self, reply: Reply) -> None:
        """AskingError where nearly all of the last replies are useless."""
        self._last.append(why_useless(reply))
        reasons = Counter(why for why in self._last if why is not None)
        if len(self._last) == LOOK and reasons.total() >= TOO_MANY:
            raise AskingError(self._said(reasons))

    def _said(self, reasons: Counter[str]) -> str:
        saw = ", ".join(f"{count} {why}" for why, count in reasons.most_common())
        todo = "Check whether the server has a chat model, and what it sends."
        if CUT_REASONING in reasons or CUT_EMPTY in reasons:
            limit = "" if self._max_tokens is None else f", now {self._max_tokens:,}"
            todo = (
                f"Raise --max-tokens{limit}: a model that reasons needs several thousand. Use a "
                "new folder (--output). Or turn reasoning off on the server."
            )
        return (
            f"{self._model}: {reasons.total()} of the last {LOOK} replies contain no answer "
            f"({saw}). The audit was stopped to save time and money. {todo} All replies so far "
            "are kept."
        )

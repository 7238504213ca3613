"""What a reasoning model says to itself, kept apart from what it answers."""

from __future__ import annotations

import re
from dataclasses import replace

from goffman.models.base import Reply

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning)"
_OPEN = re.compile(rf"\s*(?:<{_NAMES}>|\[THINK\])", re.IGNORECASE)
_CLOSE = re.compile(rf"(?:</{_NAMES}>|\[/THINK\])", re.IGNORECASE)


def split_reasoning(text: str) -> tuple[str, str | None]:
    """The answer in a text, and the reasoning before it; None: there is none.

    A block may be opened and never closed, where the reply was cut, or closed and never opened,
    where the chat template opens it.
    """
    opened, closed = _OPEN.match(text), list(_CLOSE.finditer(text))
    if closed:
        close = closed[-1]
        reasoning = text[opened.end() if opened else 0 : close.start()]
        return text[close.end() :].lstrip(), reasoning.strip()
    if opened:
        return "", text[opened.end() :].strip()
    return text, None


def without_reasoning(reply: Reply) -> Reply:
    """The reply with its reasoning in the field of its own."""
    if reply.text is None:
        return reply
    text, found = split_reasoning(reply.text)
    if found is None:
        return reply
    known = [one for one in (reply.reasoning, found) if one]
    return replace(reply, text=text, reasoning="\n\n".join(known))

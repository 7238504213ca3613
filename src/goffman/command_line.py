"""The command that this process carries out, as a run's manifest keeps it: without secrets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

HIDDEN = "***"

_COMMAND: ContextVar[str | None] = ContextVar("command", default=None)

_IN_ADDRESSES = (
    (re.compile(r"(?<=://)[^?#]*@"), f"{HIDDEN}@"),
    (re.compile(r"(?<=[?&])([^=&#]*)=[^&#]*"), rf"\1={HIDDEN}"),
)
"""In addresses: a user name with its password, and the values of a query."""

_KEYS = re.compile(r"\b(?:sk-|hf_|gsk_|xai-)[\w-]{16,}")
"""Keys in the form that servers give them, wherever somebody put one."""


def command_line() -> str | None:
    """Return the command with its arguments; None: goffman was called from Python."""
    return _COMMAND.get()


@contextmanager
def commanded(words: Sequence[str]) -> Iterator[None]:
    """Set goffman's command to these arguments while the block runs."""
    token = _COMMAND.set(shlex.join(["goffman", *map(without_secrets, words)]))
    try:
        yield
    finally:
        _COMMAND.reset(token)


def without_secrets(word: str) -> str:
    """Return an argument in which no password, and nothing that may be a key, can be read."""
    if "://" in word:
        for secret, replacement in _IN_ADDRESSES:
            word = secret.sub(replacement, word)
    return _KEYS.sub(HIDDEN, word)

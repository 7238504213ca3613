"""How far the asking is, as the user is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the asking of one step is."""

    model: str
    instrument: str
    step: int
    steps: int
    """More than one with recursive masking, where a step's sentences come from the one before."""
    done: int
    """Sentences that are answered, by this process or an earlier one."""
    total: int
    rate: float
    """Sentences a second that this process asked; 0 before the first."""
    note: str = ""
    """What else is to be seen while it goes on: "12 timed out, 4 at once"."""
    what: str = "sentences"
    """What is counted, in a word for the user."""


Watch = Callable[[Progress], None]
"""Called before the first batch of a step and after every one."""

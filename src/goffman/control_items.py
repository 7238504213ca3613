"""Control items: prompts that name no condition, whose right answer everybody knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CONTROL = "control"
"""The condition and the group of a control item's prompts, and the level of its score."""

ControlScore = Literal["separation", "label", "person", "answer", "gender"]
"""separation: how well a number separates two kinds of items (AUC); label: the share of right
labels; person: the probability of words that name a person, of the gender that an item expects if
it expects one; answer: the share of right answers;
gender: the share of sentences about a person of the right gender."""

EXPECTED: dict[ControlScore, tuple[str, ...]] = {
    "separation": ("positive", "negative"),
    "label": ("positive", "neutral", "negative"),
    "person": ("person", "female", "male"),
    "answer": (),
    "gender": ("female", "male"),
}
"""What an item may expect; none: a word of its own."""


def passes(value: float | None, floor: float) -> bool:
    """Whether a score on the control items is enough for a model's other numbers to mean anything.

    None: there is no score, so nothing shows that the model can do the task.
    """
    return value is not None and value >= floor


@dataclass(frozen=True, kw_only=True)
class Control:
    """One control item."""

    id: str
    """Lower-case letters, digits and hyphens; unique among the controls."""
    text: str
    """What stands for ``{item}`` in the wordings; of sentence pairs a whole sentence."""
    your_text: str = ""
    """The text as it is said to somebody, who is "you"; empty: as it is."""
    question: str = ""
    """What is asked at the end, where the stems have {question}."""
    asks: str = ""
    """What it asks for, where stems differ in that."""
    keyed: Literal["plain", "reversed"] = "plain"
    """reversed: agreeing means less of what the codes count."""
    expected: str
    """The right answer; at a mask in a sentence pair the right form of the pronoun."""
    other: str = ""
    """Sentence pairs: the wrong answer."""
    pronoun: str = ""
    """Sentence pairs: the pronoun that is asked about; empty: it is masked."""


@dataclass(frozen=True, kw_only=True)
class Controls:
    """The control items of an instrument, and what a model must reach on them."""

    score: ControlScore
    """How they are scored."""
    task: str
    """What a model that passes can do: completes “it can …”."""
    floor: float
    """The least score with which the model's other numbers mean anything, 0 to 1."""
    items: tuple[Control, ...]

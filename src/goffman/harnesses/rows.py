"""A prompt as a row of the data that a harness reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goffman.records import is_control

if TYPE_CHECKING:
    from goffman.records import Prompt

ANSWER = "\n\nAnswer:"
"""What stands after a question that a causal model goes on from, as in models/causal.py."""


def spellings(label: str) -> list[str]:
    """How an option's label may be written where an answer begins.

    With and without a space before it; a label that is a word also with a capital letter, or all in
    capitals.
    """
    written = [label] if len(label) == 1 else [label, label.capitalize(), label.upper()]
    return [f"{space}{one}" for one in dict.fromkeys(written) for space in (" ", "")]


def choice_row(prompt: Prompt) -> dict[str, Any]:
    """A question whose options' probabilities are wanted: a row's options are their spellings."""
    spelled = [(one, option) for option in prompt.options for one in spellings(option.label)]
    return {
        **_about(prompt),
        "text": f"{prompt.text}{ANSWER}",
        "spellings": [text for text, _ in spelled],
        "codes": [option.code for _, option in spelled],
        # lm-eval wants a right one; none of these is.
        "target": 0,
    }


def reply_row(prompt: Prompt) -> dict[str, Any]:
    """A question that is answered in text, and what a first score of the reply needs."""
    answers = [(option.label, option.code) for option in prompt.options]
    if not answers and prompt.answer and prompt.other:
        answers = [(prompt.answer, None), (prompt.other, None)]
    return {
        **_about(prompt),
        "text": prompt.text,
        "answers": [text for text, _ in answers],
        "codes": [code for _, code in answers],
        "target": "",
    }


def _about(prompt: Prompt) -> dict[str, Any]:
    return {
        "prompt_id": prompt.id,
        "item": prompt.item,
        "wording": prompt.wording,
        "condition": prompt.condition,
        "group": prompt.group,
        "order": prompt.order,
        "control": is_control(prompt),
    }

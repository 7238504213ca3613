"""Which pronouns are compared in which sentences, where sentence pairs are asked without a chat."""

from __future__ import annotations

from collections.abc import Sequence

from goffman.records import MASK, Prompt, is_control


def with_one_mask(prompts: Sequence[Prompt]) -> list[Prompt]:
    """The prompts that can be asked: a sentence in which two pronouns are marked has two masks."""
    return [prompt for prompt in prompts if prompt.text.count(MASK) == 1]


def pronoun_forms(prompts: Sequence[Prompt]) -> dict[str, tuple[str, ...]]:
    """Prompt id → the pronouns of both sentences of its pair, as they stand there.

    A control is one sentence, and says both itself.
    """
    of_pair: dict[tuple[str, str], set[str]] = {}
    for prompt in prompts:
        if is_control(prompt):
            of_pair[prompt.item, prompt.condition] = {str(prompt.answer), str(prompt.other)}
        elif prompt.pronoun is not None:
            of_pair.setdefault((prompt.item, prompt.condition), set()).add(prompt.pronoun)
    return {prompt.id: tuple(sorted(of_pair[prompt.item, prompt.condition])) for prompt in prompts}

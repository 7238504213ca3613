"""Recursive masking: a word is put back and a new mask stands before it; pure.

The whole tree is asked, frontier by frontier. Which words end a branch is for a measure to say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from goffman.errors import InputError
from goffman.records import MASK, Prompt

MaskPlacement = Literal["before-first", "before-last"]
"""before-first: the mask goes before the first word put back ("a close <mask> friend"), as in Lin
et al. (2022); before-last: before the newest ("a <mask> close friend")."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One sentence of a prompt's tree."""

    prompt_id: str
    parent: str
    """The ranks of the words put back so far, as in the column ``parent``."""
    text: str
    """With one ``<mask>``, or all that a model is given that goes on with a text."""


def roots(prompts: Iterable[Prompt]) -> list[Node]:
    """The first frontier: the prompts themselves, in the order of their ids, each once."""
    nodes: dict[str, Node] = {}
    for prompt in prompts:
        node = Node(prompt_id=prompt.id, parent="", text=prompt.asked)
        if nodes.setdefault(prompt.id, node) is not node:
            message = (
                f"Two prompts of {prompt.instrument} are identical: item '{prompt.item}', "
                f"condition '{prompt.condition}', \"{prompt.text}\". Remove one of them from the "
                "instrument."
            )
            raise InputError(message)
    return [nodes[prompt_id] for prompt_id in sorted(nodes)]


def with_forms(nodes: Iterable[Node], forms: Mapping[str, Sequence[str]]) -> list[Node]:
    """Each sentence with each of its forms in the place of the mask; ``forms``: by prompt id."""
    return [
        # A form stands where the path of recursive masking would: it tells the sentences apart.
        replace(node, parent=form, text=node.text.replace(MASK, form))
        for node in nodes
        for form in forms[node.prompt_id]
    ]


def children(
    nodes: Sequence[Node],
    words: Mapping[tuple[str, str], Sequence[str]],
    *,
    placement: MaskPlacement,
    unfit: Collection[str],
) -> list[Node]:
    """The next frontier: under each node one for each of its words, most probable first.

    ``words`` are the words of each node by (prompt id, parent). An ``unfit`` word cannot be put
    back (it is empty, a mask, or ends the sentence for the model): its branch ends there.
    """
    return [
        Node(
            prompt_id=node.prompt_id,
            parent=f"{node.parent}/{rank}" if node.parent else str(rank),
            text=put_back(node.text, word, first=not node.parent, placement=placement),
        )
        for node in nodes
        for rank, word in enumerate(words[node.prompt_id, node.parent], start=1)
        if word not in unfit
    ]


def put_back(text: str, word: str, *, first: bool, placement: MaskPlacement) -> str:
    """The sentence with the word in the place of its mask and a new mask where the placement says.

    ``first``: no word was put back before this one.
    """
    if first or placement == "before-last":
        return text.replace(MASK, f"{MASK} {word}")
    return text.replace(MASK, f"{word} {MASK}")

"""Recursive masking: a word is put back and a new mask stands before it; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from goffman.errors import InputError
from goffman.instruments.types import MASK, Prompt

MaskPlacement = Literal["before-first", "before-last"]
"""before-first: the mask goes before the first word put back ("a close <mask> friend"), as in Lin
et al. (2022); before-last: before the newest ("a <mask> close friend")."""


class Node(NamedTuple):
    """One sentence of a prompt's tree. There are many: it is of the kind that is made soonest."""

    prompt_id: str
    parent: str
    """The ranks of the words put back so far, as in the column ``parent``."""
    text: str
    """With one ``<mask>``, or all that a model is given that goes on with a text."""


def roots(prompts: Iterable[Prompt]) -> list[Node]:
    """The first frontier: the prompts themselves, in the order of their ids, each once."""
    in_order = sorted(prompts, key=lambda prompt: prompt.id)
    for prompt, following in pairwise(in_order):
        if prompt.id == following.id:
            raise InputError(
                f"Two prompts of {prompt.instrument} are identical: item '{prompt.item}', "
                f"condition '{prompt.condition}', \"{prompt.text}\". Remove one of them from the "
                "instrument."
            )
    return [Node(prompt.id, "", prompt.asked) for prompt in in_order]


def with_forms(nodes: Iterable[Node], forms: Mapping[str, Sequence[str]]) -> list[Node]:
    """Each sentence with each of its forms in the place of the mask; ``forms``: by prompt id."""
    return [
        # A form stands where the path of recursive masking would: it tells the sentences apart.
        node._replace(parent=form, text=node.text.replace(MASK, form))
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
    found = []
    for node in nodes:
        above = f"{node.parent}/" if node.parent else ""
        begin, end = around(node.text, first=not node.parent, placement=placement)
        found += [
            Node(node.prompt_id, f"{above}{rank}", f"{begin}{word}{end}")
            for rank, word in enumerate(words[node.prompt_id, node.parent], start=1)
            if word not in unfit
        ]
    return found


def around(text: str, *, first: bool, placement: MaskPlacement) -> tuple[str, str]:
    """What stands before and after the (``first``) word that is put in the place of the mask."""
    before, _, after = text.partition(MASK)
    if first or placement == "before-last":
        return f"{before}{MASK} ", after
    return before, f" {MASK}{after}"

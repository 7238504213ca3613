"""Recursive masking: a word is put back and a new mask stands before it; pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from goffman.errors import InputError
from goffman.instruments.types import MASK, Prompt

MaskPlacement = Literal["before-first", "before-last"]
"""before-first: the mask goes before the first word put back ("a close <mask> friend"), as in Lin
et al. (2022); before-last: before the newest ("a <mask> close friend")."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings with which the masks of an instrument are asked."""

    top_k: int
    """How many words are kept at each mask."""
    depth: int = 1
    """Steps of recursive masking; 1: none."""
    width: int = 10
    """How many words are put back at each mask if there is a next step."""
    placement: MaskPlacement = "before-first"
    targets: tuple[str, ...] = ()
    """Words whose probability is kept whatever their rank."""


class Node(NamedTuple):
    """One sentence of a prompt's tree. There are many: a named tuple is the fastest to make."""

    prompt_id: str
    parent: str
    """The ranks of the words put back so far, as in the column ``parent``."""
    text: str
    """A sentence with one ``<mask>``, or the whole input of a model that continues a text."""


def roots(prompts: Iterable[Prompt]) -> list[Node]:
    """Return the first frontier: the prompts themselves, in the order of their ids, each once."""
    ordered = sorted(prompts, key=lambda prompt: prompt.id)
    for prompt, following in pairwise(ordered):
        if prompt.id == following.id:
            raise InputError(
                f"Two prompts of {prompt.instrument} are identical: item '{prompt.item}', "
                f"condition '{prompt.condition}', \"{prompt.text}\". Remove one of them from the "
                "instrument."
            )
    return [Node(prompt.id, "", prompt.asked) for prompt in ordered]


def with_forms(nodes: Iterable[Node], forms: Mapping[str, Sequence[str]]) -> list[Node]:
    """Return nodes for each sentence with each form in place of its mask."""
    return [
        # The form stands where the path of recursive masking would, to tell the sentences apart.
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
    """Return the next frontier: below each node, one for each of its words, most probable first.

    ``words`` are the words of each node by (prompt id, parent). An ``unfit`` word cannot be put
    back (it is empty, a mask, or ends the sentence for the model): its branch ends there.
    """
    frontier = []
    for node in nodes:
        path = f"{node.parent}/" if node.parent else ""
        begin, end = around(node.text, first=not node.parent, placement=placement)
        frontier += [
            Node(node.prompt_id, f"{path}{rank}", f"{begin}{word}{end}")
            for rank, word in enumerate(words[node.prompt_id, node.parent], start=1)
            if word not in unfit
        ]
    return frontier


def around(text: str, *, first: bool, placement: MaskPlacement) -> tuple[str, str]:
    """Return the text before and after the (``first``) word that is put in place of the mask."""
    before, _, after = text.partition(MASK)
    if first or placement == "before-last":
        return f"{before}{MASK} ", after
    return before, f" {MASK}{after}"

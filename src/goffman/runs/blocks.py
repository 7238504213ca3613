"""Sentences are made ready block by block: the next block while a GPU answers the last one.

On a CPU, making ready takes a thousandth of the time of asking, and all sentences are one block.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from goffman.models.batches import ahead, distinct
from goffman.runs.plan import BatchLimits, Plan, make_plan, part_digest, part_sentences
from goffman.runs.rows import Askers

if TYPE_CHECKING:
    from array import array

    from goffman.runs.recursion import Node
    from goffman.runs.voices import Voice

LARGEST = 8_192
"""No block has more texts. While a tokenizer takes a block, or it is sorted, Python's lock is held
for a microsecond a text and more, and a GPU gets no batch."""

FEW = (1_000_000, 100, 100)
"""After so many new objects Python looks for garbage among the newest: see the module gc."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """Sentences that are planned together."""

    nodes: Sequence[Node]
    names: Sequence[str]
    """Of the nodes, for digests."""
    plan: Plan
    first: int
    """The number of its first part: the parts of all blocks are counted through."""
    waiting: int
    """So many texts are in later blocks."""

    @cached_property
    def parts(self) -> list[Part]:
        """All of them, in their order."""
        return [Part(self, at) for at in range(len(self.plan.parts))]


@dataclass(frozen=True, eq=False)
class Part:
    """A part that can be asked, and who asks its sentences."""

    block: Block
    at: int
    """Its place in the block."""

    @property
    def number(self) -> int:
        """Its place in the step."""
        return self.block.first + self.at

    @property
    def sentences(self) -> int:
        """How many there are."""
        return sum(map(len, self.block.plan.parts[self.at]))

    @property
    def batches(self) -> list[list[tuple[int, ...]]]:
        """The sentences as token ids."""
        plan = self.block.plan
        return [[plan.sentence(index) for index in batch] for batch in plan.parts[self.at]]

    @property
    def arrays(self) -> list[list[array[int]]]:
        """The same, for a model that takes arrays."""
        plan = self.block.plan
        return [[plan.in_array(index) for index in batch] for batch in plan.parts[self.at]]

    @property
    def nodes(self) -> list[Node]:
        """Who asks its sentences."""
        return [self.block.nodes[at] for group in self._groups() for at in group]

    def askers(self) -> Askers:
        """The same, as columns."""
        return Askers.of(self.block.nodes, self._groups())

    def _groups(self) -> list[tuple[int, ...]]:
        """Sentence by sentence, where its nodes stand in the block."""
        plan = self.block.plan
        return [plan.askers[index] for index in part_sentences(plan, self.at)]

    def digest(self, asker: str) -> str:
        """Of who is asked what, and how: see ``part_digest``."""
        return part_digest(self.block.plan, self.at, names=self.block.names, asker=asker)


def ready(
    voice: Voice,
    nodes: Sequence[Node],
    limits: BatchLimits,
    *,
    first: Collection[str] = frozenset(),
) -> Iterator[Block]:
    """The blocks, each made ready while the one before it is asked.

    ``first``: ids of prompts that have blocks of their own before all others, so that their parts
    are those of a run that has answers to them alone.
    """
    apart = [nodes]
    if first:
        chosen = [node for node in nodes if node.prompt_id in first]
        apart = [chosen, [node for node in nodes if node.prompt_id not in first]]
    blocks = [block for some in apart for block in split(some, limits.first_block)]
    number, waiting = 0, sum(len({node.text for node in block}) for block in blocks)
    with ThreadPoolExecutor(max_workers=1) as preparer:
        plans = (preparer.submit(_planned, voice, block, limits) for block in blocks)
        for block, planned in ahead(zip(blocks, plans, strict=True)):
            names, texts, plan = planned.result()
            waiting -= texts
            yield Block(nodes=block, names=names, plan=plan, first=number, waiting=waiting)
            number += len(plan.parts)


def _planned(
    voice: Voice, nodes: Sequence[Node], limits: BatchLimits
) -> tuple[list[str], int, Plan]:
    """The nodes' names, how many texts they have, and how these are asked."""
    texts, positions = distinct([node.text for node in nodes])
    encoded = voice.encode(texts)
    plan = make_plan([encoded[position] for position in positions], limits)
    return [f"{node.prompt_id}/{node.parent}" for node in nodes], len(texts), plan


def split(nodes: Sequence[Node], first: int | None) -> list[list[Node]]:
    """The nodes in blocks: the longest texts, so many of them; twice as many shorter ones; and on.

    A small one comes first, so that a GPU has work soon; texts of like length are in one block, so
    that its batches have little padding. All nodes with the same text are in one block, where it is
    asked once, and which it is depends on the texts alone. None: all are in one block.
    """
    if first is None or not nodes:
        return [list(nodes)] if nodes else []
    by_length: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        by_length[len(node.text)].append(node)
    blocks: list[list[Node]] = [[]]
    room = first
    for length in sorted(by_length, reverse=True):
        alike = by_length[length]
        texts = [*{node.text for node in alike}]
        if len(texts) > room:
            texts.sort()  # A set has no order: of texts of one length the alphabet decides.
        while len(texts) > room:
            before, texts = {*texts[:room]}, texts[room:]
            blocks[-1] += [node for node in alike if node.text in before]
            alike = [node for node in alike if node.text not in before]
            room = min(first << len(blocks), LARGEST)
            blocks.append([])
        blocks[-1] += alike
        room -= len(texts)
    return blocks


@contextmanager
def few_collections() -> Iterator[None]:
    """Python hardly looks for garbage, and not among what is there.

    By itself it would go through all objects of torch and of the plans again and again.
    """
    before = gc.get_threshold()
    if before == FEW:  # whoever is further out sees to it
        yield
        return
    gc.freeze()
    gc.set_threshold(*FEW)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

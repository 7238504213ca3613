"""What is to be asked, in which batches, stored in which parts; pure."""

from __future__ import annotations

import gc
import hashlib
import struct
import sys
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from json.encoder import encode_basestring_ascii as _quoted
from typing import TYPE_CHECKING, get_args

import numpy as np

from goffman.errors import InputError, did_you_mean
from goffman.instruments.types import MASK, Instrument, Prompt, is_control
from goffman.models.batching import ENOUGH, ahead, batch_limits, decided, distinct, plan_batches
from goffman.runs.mode_adapters import PromptRefs
from goffman.runs.recursive_masking import MaskPlacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.runs.mode_adapters import ModeAdapter
    from goffman.runs.recursive_masking import Node


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the masks of an instrument are asked."""

    top_k: int
    """So many words are kept at each mask."""
    depth: int = 1
    """Steps of recursive masking; 1: none."""
    width: int = 10
    """So many words are put back at each mask, where there is a next step."""
    placement: MaskPlacement = "before-first"
    targets: tuple[str, ...] = ()
    """Words whose probability is kept wherever they rank."""


@dataclass(frozen=True, kw_only=True)
class BatchLimits:
    """How many sentences are asked, and written, together."""

    max_tokens: int
    """A batch, padded to its longest sentence, has at most so many tokens."""
    max_size: int
    """A batch has at most so many sentences."""
    part_size: int
    """A part is full once it has so many sentences; what is lost when a run is killed."""
    first_block: int | None = None
    """So many texts are made ready before the first are asked: see prefetched. None: all."""
    enough: int | None = None
    """A batch with so many tokens ends before a sentence that is shorter by more than a tenth."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Which sentences are asked, together with which, and who asks them."""

    written: tuple[bytes, ...]
    """The different sentences, longest first: four bytes a token, the most significant first."""
    askers: tuple[tuple[int, ...], ...]
    """For each sentence the positions of the given texts that read so: at least one."""
    parts: tuple[tuple[tuple[int, ...], ...], ...]
    """Part by part, batch by batch, the indices of sentences."""

    def sentence(self, index: int) -> tuple[int, ...]:
        """Its token ids."""
        written = self.written[index]
        return struct.unpack(f">{len(written) // 4}I", written)

    def in_array(self, index: int) -> array[int]:
        """The same, as what is made, sent and joined sooner."""
        tokens = array("I", self.written[index])
        if sys.byteorder == "little":
            tokens.byteswap()
        return tokens


def settings_of(
    instrument: Instrument, *, top_k: int | None = None, targets: Collection[str] = ()
) -> Settings:
    """The instrument's own settings, with the user's top k and target words."""
    own = instrument.settings
    placements = get_args(MaskPlacement)
    # In sentence pairs it is adjectives that are placed, not masks.
    placement = own.get("placement", placements[0]) if instrument.kind == "fill" else placements[0]
    if placement not in placements:
        raise InputError(
            f"{instrument.id}: placement is '{placement}'. Allowed: {', '.join(placements)}."
            f"{did_you_mean(str(placement), placements)}"
        )
    settings = Settings(
        top_k=top_k if top_k is not None else int(own.get("top_k", 50)),
        depth=int(own.get("depth", 1)),
        width=int(own.get("width", own.get("top_k", 10))),
        placement=placement,
        targets=tuple(sorted(set(targets))),
    )
    if min(settings.top_k, settings.depth, settings.width) < 1:
        raise InputError(
            f"{instrument.id}: top_k is {settings.top_k}, depth {settings.depth} and width "
            f"{settings.width}; each is a whole number of at least 1."
        )
    if settings.depth > 1 and settings.top_k < settings.width:
        raise InputError(
            f"{instrument.id}: --top-k is {settings.top_k}, but each step needs the "
            f"{settings.width} most probable words. Give --top-k {settings.width} or more."
        )
    return settings


def limits_for(device: str, *, batch_size: int | None = None) -> BatchLimits:
    """The limits that suit a device, as an Identity names it; a given batch size decides alone."""
    # A GPU asks thousands of sentences a second: a kill costs it less than syncing many files.
    part_size, first_block = (256, None) if device == "cpu" else (1_024, 512)
    max_tokens, max_size = decided(batch_limits(device), batch_size)
    return BatchLimits(
        max_tokens=max_tokens,
        max_size=max_size,
        part_size=part_size,
        first_block=first_block,
        enough=None if device == "cpu" or batch_size is not None else ENOUGH,
    )


def make_plan(encoded: Sequence[Sequence[int]], limits: BatchLimits) -> Plan:
    """The plan for the encodings of all texts: each different sentence stands in it once.

    Sentences are put into an order of their own first: the batches depend on which sentences there
    are, never on the order in which they were given, nor on what was answered before. So a resumed
    run repeats the batches of the first to the bit.
    """
    askers: dict[bytes, list[int]] = {}
    for position, tokens in enumerate(_written(encoded)):
        askers.setdefault(tokens, []).append(position)
    in_order = sorted(askers)
    in_order.sort(key=len, reverse=True)
    batches = plan_batches(
        [len(tokens) // 4 for tokens in in_order],
        max_tokens=limits.max_tokens,
        max_size=limits.max_size,
        enough=limits.enough,
    )
    return Plan(
        written=tuple(in_order),
        askers=tuple([tuple(askers[tokens]) for tokens in in_order]),
        parts=_parts(batches, limits.part_size),
    )


def _written(encoded: Sequence[Sequence[int]]) -> Iterator[bytes]:
    """Each encoding as bytes, which have the same order and are put into it in half the time."""
    lengths = [*map(len, encoded)]
    written = np.fromiter(chain.from_iterable(encoded), dtype=">u4", count=sum(lengths)).tobytes()
    ends = accumulate(lengths, initial=0)
    return (written[4 * begin : 4 * end] for begin, end in pairwise(ends))


def _parts(
    batches: Sequence[Sequence[int]], part_size: int
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Batches in their order, as many to a part as bring it to the size."""
    parts: list[list[tuple[int, ...]]] = []
    room = 0
    for batch in batches:
        if room <= 0:
            parts.append([])
            room = part_size
        parts[-1].append(tuple(batch))
        room -= len(batch)
    return tuple(map(tuple, parts))


def part_digest(plan: Plan, number: int, *, names: Sequence[str], asker: str) -> str:
    """16 digits that change with a part's sentences, its batches and who asks whom.

    ``names``: one for each of the given texts; ``asker``: a hash of who answers, and how it is
    asked. An answer belongs to a sentence as the model read it: a tokenizer that splits a word
    otherwise makes another one.
    """
    # What json.dumps([asker, [[[sentence, names], …], …]]) would give, in a twentieth of its time.
    sentences = iter(_describe_tokens([plan.written[i] for i in part_sentences(plan, number)]))
    batches = [
        ", ".join(
            [
                f"[[{next(sentences)}], "
                f"[{', '.join([_quoted(names[at]) for at in plan.askers[i]])}]]"
                for i in batch
            ]
        )
        for batch in plan.parts[number]
    ]
    part = ", ".join(f"[{batch}]" for batch in batches)
    return hashlib.sha256(f"[{_quoted(asker)}, [{part}]]".encode()).hexdigest()[:16]


END = b"\xff\xff\xff\xff"
"""After a sentence: no token's number, and as a signed one the last place of a list."""

LARGEST_KEPT = 1 << 20
"""No vocabulary is as large; the kinds of others may count otherwise."""


def _describe_tokens(written: Sequence[bytes]) -> list[str]:
    """Of each sentence the numbers of its tokens, with commas between them."""
    largest = int(np.frombuffer(b"".join(written), dtype=">u4").max(initial=0))
    if largest >= LARGEST_KEPT:
        return [", ".join(map(str, np.frombuffer(one, dtype=">u4"))) for one in written]
    tokens = np.frombuffer(END.join([*written, b""]), dtype=">i4")
    # Texts of one width are looked up all at once; what fills them up is taken out.
    said = _numbers(1 << largest.bit_length())[tokens].tobytes()
    lines = said.translate(None, b"\0").decode().split("\n")[:-1]
    return [line[:-2] for line in lines]


@lru_cache(maxsize=2)
def _numbers(count: int) -> NDArray[np.bytes_]:
    """The numbers below it, each with a comma; last the end of a line."""
    return np.array([*(f"{number}, " for number in range(count)), "\n"], dtype=np.bytes_)


def part_sentences(plan: Plan, number: int) -> list[int]:
    """The sentences of a part in the order in which they are asked."""
    return [index for batch in plan.parts[number] for index in batch]


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
    def parts(self) -> list[BlockPart]:
        """All of them, in their order."""
        return [BlockPart(self, at) for at in range(len(self.plan.parts))]


@dataclass(frozen=True, eq=False)
class BlockPart:
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

    def askers(self) -> PromptRefs:
        """The same, as columns."""
        return PromptRefs.of(self.block.nodes, self._groups())

    def _groups(self) -> list[tuple[int, ...]]:
        """Sentence by sentence, where its nodes stand in the block."""
        plan = self.block.plan
        return [plan.askers[index] for index in part_sentences(plan, self.at)]

    def digest(self, asker: str) -> str:
        """Of who is asked what, and how: see ``part_digest``."""
        return part_digest(self.block.plan, self.at, names=self.block.names, asker=asker)


def prefetched(
    voice: ModeAdapter,
    nodes: Sequence[Node],
    limits: BatchLimits,
    *,
    first: Sequence[Collection[str]] = (),
) -> Iterator[Block]:
    """The blocks, each made ready while the one before it is asked.

    On a CPU, making ready takes a thousandth of the time of asking, and all sentences are one.

    ``first``: ids of prompts that have blocks of their own before all others, so that their parts
    are those of a run that has answers to them alone; each contains the one before it.
    """
    apart: list[list[Node]] = [[] for _ in range(len(first) + 1)]
    for node in nodes:
        apart[sum(node.prompt_id not in some for some in first)].append(node)
    apart = [some for some in apart if some] or [[]]
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
    voice: ModeAdapter, nodes: Sequence[Node], limits: BatchLimits
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
    """Python hardly looks for garbage, and not among all the objects of torch and of the plans."""
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


def with_one_mask(prompts: Sequence[Prompt]) -> list[Prompt]:
    """The prompts that can be asked: a sentence in which two pronouns are marked has two masks."""
    return [prompt for prompt in prompts if prompt.text.count(MASK) == 1]


def pronoun_forms(prompts: Sequence[Prompt]) -> dict[str, tuple[str, ...]]:
    """Prompt id → the pronouns of both sentences of its pair; a control says both itself."""
    of_pair: dict[tuple[str, str], set[str]] = {}
    for prompt in prompts:
        if is_control(prompt):
            of_pair[prompt.item, prompt.condition] = {str(prompt.answer), str(prompt.other)}
        elif prompt.pronoun is not None:
            of_pair.setdefault((prompt.item, prompt.condition), set()).add(prompt.pronoun)
    return {prompt.id: tuple(sorted(of_pair[prompt.item, prompt.condition])) for prompt in prompts}

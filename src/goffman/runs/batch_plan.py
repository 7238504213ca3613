"""Plans of what is asked, in which batches, and stored in which parts; pure functions."""

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
from goffman.instruments.types import MASK, Instrument, Prompt
from goffman.models.base import BatchSizes
from goffman.models.tokenizer import ENOUGH, ahead, batch_limits, decided, distinct, plan_batches
from goffman.runs.mode_adapters import PromptRefs
from goffman.runs.recursive_masking import MaskPlacement, Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.runs.mode_adapters import ModeAdapter
    from goffman.runs.recursive_masking import Node


@dataclass(frozen=True, kw_only=True)
class BatchLimits(BatchSizes):
    """Sizes of batches, and when sentences are prepared; that changes no answer."""

    first_block: int | None = None
    """How many texts are prepared before the first are asked: see prefetched; None: all."""
    enough: int | None = None
    """A batch with this many tokens ends before a sentence that is shorter by more than a tenth."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan: which sentences are asked together, and for which of the given texts."""

    written: tuple[bytes, ...]
    """The distinct sentences, longest first, with four bytes per token, most significant first."""
    positions: tuple[tuple[int, ...], ...]
    """For each sentence, the positions of the given texts that are encoded so: at least one."""
    parts: tuple[tuple[tuple[int, ...], ...], ...]
    """The indices of sentences, part by part and batch by batch."""

    def sentence(self, index: int) -> tuple[int, ...]:
        """Return a sentence's token ids."""
        encoded = self.written[index]
        return struct.unpack(f">{len(encoded) // 4}I", encoded)

    def in_array(self, index: int) -> array[int]:
        """Return a sentence's token ids as an array, which is faster than a tuple."""
        tokens = array("I", self.written[index])
        if sys.byteorder == "little":
            tokens.byteswap()
        return tokens


def settings_of(
    instrument: Instrument, *, top_k: int | None = None, targets: Collection[str] = ()
) -> Settings:
    """Return the instrument's own settings, with the user's top k and target words."""
    own_settings = instrument.settings
    placements = get_args(MaskPlacement)
    # In sentence pairs, adjectives are placed, not masks.
    placement = (
        own_settings.get("placement", placements[0]) if instrument.kind == "fill" else placements[0]
    )
    if placement not in placements:
        raise InputError(
            f"{instrument.id}: placement is '{placement}'. Allowed: {', '.join(placements)}."
            f"{did_you_mean(str(placement), placements)}"
        )
    settings = Settings(
        top_k=top_k if top_k is not None else int(own_settings.get("top_k", 50)),
        depth=int(own_settings.get("depth", 1)),
        width=int(own_settings.get("width", own_settings.get("top_k", 10))),
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
    """Return the limits for a device of an Identity; ``batch_size`` replaces those of a batch."""
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
    """Return the plan for the encodings of all texts; each distinct sentence stands in it once.

    Sentences are sorted first: the batches depend on which sentences there are, never on the order
    in which they were given, nor on what was answered before. So a resumed run repeats the batches
    of the first run bit for bit.
    """
    positions: dict[bytes, list[int]] = {}
    for position, tokens in enumerate(_written(encoded)):
        positions.setdefault(tokens, []).append(position)
    sentences = sorted(positions)
    sentences.sort(key=len, reverse=True)
    batches = plan_batches(
        [len(tokens) // 4 for tokens in sentences],
        max_tokens=limits.max_tokens,
        max_size=limits.max_size,
        enough=limits.enough,
    )
    return Plan(
        written=tuple(sentences),
        positions=tuple([tuple(positions[tokens]) for tokens in sentences]),
        parts=_parts(batches, limits.part_size),
    )


def _written(encoded: Sequence[Sequence[int]]) -> Iterator[bytes]:
    """Return each encoding as bytes, which sort in the same order in half the time."""
    lengths = [*map(len, encoded)]
    content = np.fromiter(chain.from_iterable(encoded), dtype=">u4", count=sum(lengths)).tobytes()
    ends = accumulate(lengths, initial=0)
    return (content[4 * begin : 4 * end] for begin, end in pairwise(ends))


def _parts(
    batches: Sequence[Sequence[int]], part_size: int
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the batches in order, grouped into parts of at least ``part_size`` sentences."""
    parts: list[list[tuple[int, ...]]] = []
    room = 0
    for batch in batches:
        if room <= 0:
            parts.append([])
            room = part_size
        parts[-1].append(tuple(batch))
        room -= len(batch)
    return tuple(map(tuple, parts))


def part_digest(plan: Plan, number: int, *, names: Sequence[str], setup: str) -> str:
    """Return 16 hexadecimal digits: a hash of a part's sentences, batches and names, and ``setup``.

    ``names``: the name of each planned text; ``setup``: a hash of which model answers and how it
    is asked. Sentences are hashed as token numbers, so that answers are not used
    again for a tokenizer that splits a word differently.
    """
    # What json.dumps([setup, [[[sentence, names], …], …]]) would give, in a twentieth of its time.
    indices = part_sentences(plan, number)
    entries = {}
    for index, tokens in zip(
        indices, _describe_tokens([plan.written[i] for i in indices]), strict=True
    ):
        quoted = [_quoted(names[position]) for position in plan.positions[index]]
        entries[index] = _json_list([f"[{tokens}]", _json_list(quoted)])
    batches = [_json_list([entries[index] for index in batch]) for batch in plan.parts[number]]
    content = _json_list([_quoted(setup), _json_list(batches)])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _json_list(entries: Sequence[str]) -> str:
    return f"[{', '.join(entries)}]"


END = b"\xff\xff\xff\xff"
"""The end of a sentence: no token's number; as a signed number, the last index of a list."""

LARGEST_KEPT = 1 << 20
"""No vocabulary is as large; model kinds of other packages may number tokens differently."""


def _describe_tokens(written: Sequence[bytes]) -> list[str]:
    """Return the token numbers of each sentence, separated by commas."""
    largest = int(np.frombuffer(b"".join(written), dtype=">u4").max(initial=0))
    if largest >= LARGEST_KEPT:
        return [", ".join(map(str, np.frombuffer(sentence, dtype=">u4"))) for sentence in written]
    tokens = np.frombuffer(END.join([*written, b""]), dtype=">i4")
    # Texts of one width are looked up all at once; their padding is removed afterwards.
    padded = _numbers(1 << largest.bit_length())[tokens].tobytes()
    lines = padded.translate(None, b"\0").decode().split("\n")[:-1]
    return [line[:-2] for line in lines]


@lru_cache(maxsize=2)
def _numbers(count: int) -> NDArray[np.bytes_]:
    """Return an array of the texts "0, ", "1, " … below ``count``, and last a line end."""
    return np.array([*(f"{number}, " for number in range(count)), "\n"], dtype=np.bytes_)


def part_sentences(plan: Plan, number: int) -> list[int]:
    """Return the indices of a part's sentences in the order in which they are asked."""
    return [index for batch in plan.parts[number] for index in batch]


LARGEST = 8_192
"""The most texts in a block. While a block is tokenized or sorted, Python's lock is held for a
microsecond a text and more, and a GPU gets no batch."""

FEW = (1_000_000, 100, 100)
"""Thresholds of the module gc: Python looks among the newest objects after a million new ones."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """Sentences that are planned together."""

    nodes: Sequence[Node]
    names: Sequence[str]
    """Names of the nodes, for digests."""
    plan: Plan
    first: int
    """The number of the block's first part: parts are numbered across all blocks."""
    waiting: int
    """How many texts are in later blocks."""

    @cached_property
    def parts(self) -> list[BlockPart]:
        """Return all parts of the block, in their order."""
        return [BlockPart(self, position) for position in range(len(self.plan.parts))]


@dataclass(frozen=True, eq=False)
class BlockPart:
    """A part of a block: sentences whose answers are stored in one file, and their nodes."""

    block: Block
    at: int
    """The part's position in the block."""

    @property
    def number(self) -> int:
        """Return the part's position in the step."""
        return self.block.first + self.at

    @property
    def sentences(self) -> int:
        """Return the number of sentences in the part."""
        return sum(map(len, self.block.plan.parts[self.at]))

    @property
    def batches(self) -> list[list[tuple[int, ...]]]:
        """Return the sentences as token ids, batch by batch."""
        plan = self.block.plan
        return [[plan.sentence(index) for index in batch] for batch in plan.parts[self.at]]

    @property
    def arrays(self) -> list[list[array[int]]]:
        """Return the sentences as arrays of token ids, for a model that takes arrays."""
        plan = self.block.plan
        return [[plan.in_array(index) for index in batch] for batch in plan.parts[self.at]]

    @property
    def nodes(self) -> list[Node]:
        """Return the nodes of the part's sentences; several nodes may have the same sentence."""
        return [self.block.nodes[position] for group in self._groups() for position in group]

    def refs(self) -> PromptRefs:
        """Return the prompts and parents of ``nodes``, as columns."""
        return PromptRefs.of(self.block.nodes, self._groups())

    def _groups(self) -> list[tuple[int, ...]]:
        """Return the positions in the block of each sentence's nodes."""
        plan = self.block.plan
        return [plan.positions[index] for index in part_sentences(plan, self.at)]

    def digest(self, setup: str) -> str:
        """Return the digest of the part for a hash of the model's setup: see ``part_digest``."""
        return part_digest(self.block.plan, self.at, names=self.block.names, setup=setup)


def prefetched(
    adapter: ModeAdapter,
    nodes: Sequence[Node],
    limits: BatchLimits,
    *,
    first: Sequence[Collection[str]] = (),
) -> Iterator[Block]:
    """Yield the blocks, each prepared while the one before it is asked.

    On a CPU, preparing takes a thousandth of the time of asking, and all sentences are one block.

    ``first``: ids of prompts that have blocks of their own before all others, so that their parts
    are those of a run that has answers to them alone; each collection contains the one before it.
    """
    groups: list[list[Node]] = [[] for _ in range(len(first) + 1)]
    for node in nodes:
        groups[sum(node.prompt_id not in ids for ids in first)].append(node)
    groups = [group for group in groups if group] or [[]]
    blocks = [block for group in groups for block in split(group, limits.first_block)]
    number, waiting = 0, sum(len({node.text for node in block}) for block in blocks)
    with ThreadPoolExecutor(max_workers=1) as preparer:
        plans = (preparer.submit(_planned, adapter, block, limits) for block in blocks)
        for block, future in ahead(zip(blocks, plans, strict=True)):
            names, text_count, plan = future.result()
            waiting -= text_count
            yield Block(nodes=block, names=names, plan=plan, first=number, waiting=waiting)
            number += len(plan.parts)


def _planned(
    adapter: ModeAdapter, nodes: Sequence[Node], limits: BatchLimits
) -> tuple[list[str], int, Plan]:
    """Return the nodes' names, the number of their distinct texts, and the plan for these."""
    texts, positions = distinct([node.text for node in nodes])
    encoded = adapter.encode(texts)
    plan = make_plan([encoded[position] for position in positions], limits)
    return [f"{node.prompt_id}/{node.parent}" for node in nodes], len(texts), plan


def split(nodes: Sequence[Node], first: int | None) -> list[list[Node]]:
    """Return the nodes in blocks, longest texts first; each block may have twice as many texts.

    ``first``: the most texts in the first block; None: all nodes are in one block. The first block
    is small, so that a GPU has work soon; texts of similar length are in one block, so that its
    batches have little padding. All nodes with the same text are in one block, where the text is
    asked once; which block depends on the texts alone.
    """
    if first is None or not nodes:
        return [list(nodes)] if nodes else []
    by_length: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        by_length[len(node.text)].append(node)
    blocks: list[list[Node]] = [[]]
    room = first
    for length in sorted(by_length, reverse=True):
        group = by_length[length]
        texts = [*{node.text for node in group}]
        if len(texts) > room:
            texts.sort()  # A set has no order: of texts of one length the alphabet decides.
        while len(texts) > room:
            first_texts, texts = {*texts[:room]}, texts[room:]
            blocks[-1] += [node for node in group if node.text in first_texts]
            group = [node for node in group if node.text not in first_texts]
            room = min(first << len(blocks), LARGEST)
            blocks.append([])
        blocks[-1] += group
        room -= len(texts)
    return blocks


@contextmanager
def few_collections() -> Iterator[None]:
    """Make Python look for garbage rarely, and not among all objects of torch and of the plans."""
    thresholds = gc.get_threshold()
    if thresholds == FEW:  # an outer block resets the thresholds
        yield
        return
    gc.freeze()
    gc.set_threshold(*FEW)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def with_one_mask(prompts: Sequence[Prompt]) -> list[Prompt]:
    """Return the prompts with one mask; a sentence in which two pronouns are marked has two."""
    return [prompt for prompt in prompts if prompt.text.count(MASK) == 1]

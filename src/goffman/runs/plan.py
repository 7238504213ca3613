"""What is to be asked, in which batches, stored in which parts; pure."""

from __future__ import annotations

import hashlib
import struct
import sys
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from json.encoder import encode_basestring_ascii as _quoted
from typing import TYPE_CHECKING, get_args

import numpy as np

from goffman.errors import InputError, did_you_mean
from goffman.models.batches import ENOUGH, batch_limits, decided, plan_batches
from goffman.records import Instrument
from goffman.runs.recursion import MaskPlacement

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    """So many texts are made ready before the first are asked: see blocks.py. None: all."""
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
    # In sentence pairs it is adjectives that are placed, not masks.
    masks = own.get("placement", "before-first") if instrument.kind == "fill" else "before-first"
    settings = Settings(
        top_k=top_k if top_k is not None else int(own.get("top_k", 50)),
        depth=int(own.get("depth", 1)),
        width=int(own.get("width", own.get("top_k", 10))),
        placement=_mask_placement(instrument.id, str(masks)),
        targets=tuple(sorted(set(targets))),
    )
    if min(settings.top_k, settings.depth, settings.width) < 1:
        message = (
            f"{instrument.id}: top_k is {settings.top_k}, depth {settings.depth} and width "
            f"{settings.width}; each is a whole number of at least 1."
        )
        raise InputError(message)
    if settings.depth > 1 and settings.top_k < settings.width:
        message = (
            f"{instrument.id}: --top-k is {settings.top_k}, but each step needs the "
            f"{settings.width} most probable words. Give --top-k {settings.width} or more."
        )
        raise InputError(message)
    return settings


def _mask_placement(instrument: str, given: str) -> MaskPlacement:
    for allowed in get_args(MaskPlacement):
        if given == allowed:
            return given  # type: ignore[return-value]
    message = (
        f"{instrument}: placement is '{given}'. Allowed: {', '.join(get_args(MaskPlacement))}."
        f"{did_you_mean(given, get_args(MaskPlacement))}"
    )
    raise InputError(message)


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
    sentences = iter(_tokens_said([plan.written[i] for i in part_sentences(plan, number)]))
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


def _tokens_said(written: Sequence[bytes]) -> list[str]:
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

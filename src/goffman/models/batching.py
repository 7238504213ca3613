"""Batches of sentences for a model: each distinct one once, with others of similar length."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
Made = TypeVar("Made")


def distinct(things: Sequence[T]) -> tuple[list[T], list[int]]:
    """Return the distinct things in order of appearance, and each given thing's index there."""
    index: dict[T, int] = {}
    positions = [index.setdefault(thing, len(index)) for thing in things]
    return list(index), positions


def ahead(things: Iterable[Made], count: int = 1) -> Iterator[Made]:
    """Yield the things, each only after ``count`` things that follow it have been taken up."""
    pending: deque[Made] = deque()
    for thing in things:
        pending.append(thing)
        if len(pending) > count:
            yield pending.popleft()
    yield from pending


def plan_batches(
    lengths: Sequence[int], *, max_tokens: int, max_size: int, enough: int | None = None
) -> list[list[int]]:
    """Return the indices of sentences, batch by batch, longest first.

    A batch holds at most ``max_size`` sentences and, padded to its longest, at most ``max_tokens``
    tokens (one sentence always fits). A batch that has ``enough`` tokens takes no sentence that is
    shorter than its longest by more than a tenth; None: it takes any. The plan depends on the
    lengths alone, so that a resumed run repeats the batches of the first. Longest first, so that
    what does not fit into memory fails at once.
    """
    shorter = [-length for length in lengths]
    order = sorted(range(len(lengths)), key=shorter.__getitem__)
    shorter.sort()
    batches: list[list[int]] = []
    begin = 0
    while begin < len(order):
        longest = max(1, -shorter[begin])
        end = begin + min(max_size, max(1, max_tokens // longest))
        if enough is not None:
            too_short = bisect_right(shorter, -0.9 * longest, lo=begin)
            end = min(end, max(too_short, begin + -(-enough // longest)))
        batches.append(order[begin:end])
        begin = end
    return batches


def batch_limits(device: str) -> tuple[int, int]:
    """Return max_tokens and max_size for ``plan_batches`` on a device as an Identity names it.

    Some hundred tokens keep a CPU busy. An H200 needs about 20,000 (512 sentences of 40 give 96% of
    what 2,048 give, 32 give a tenth in bf16), which take under 4 GB; a GPU with less memory halves
    its batches.
    """
    return (1_024, 32) if device == "cpu" else (32_768, 1_024)


ENOUGH = 12_288
"""``enough`` for ``plan_batches`` on a GPU. By the 96% above, a further batch costs a GPU about as
much as 1,200 tokens of padding do, but it costs the host a launch as well."""


def decided(limits: tuple[int, int], batch_size: int | None) -> tuple[int, int]:
    """Return the limits, or those of a given batch size, which decides alone."""
    if batch_size is None:
        return limits
    # No model reads a text of so many tokens: the number of texts decides.
    return batch_size * 10_000, batch_size

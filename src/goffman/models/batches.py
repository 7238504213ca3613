"""Which sentences go through a model together: each distinct one once, alike in length."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
Made = TypeVar("Made")


def distinct(things: Sequence[T]) -> tuple[list[T], list[int]]:
    """The different things in order of appearance, and the index there of each given thing."""
    index: dict[T, int] = {}
    positions = [index.setdefault(thing, len(index)) for thing in things]
    return list(index), positions


def one_ahead(things: Iterable[Made]) -> Iterator[Made]:
    """The things; each is given only when the next one has been taken up."""
    several = iter(things)
    for before in several:
        for thing in several:
            yield before
            before = thing  # noqa: PLW2901
        yield before


def plan_batches(lengths: Sequence[int], *, max_tokens: int, max_size: int) -> list[list[int]]:
    """Indices of sentences, batch by batch, longest first.

    A batch holds at most ``max_size`` sentences and, padded to its longest, at most ``max_tokens``
    tokens (one sentence always fits). The plan depends on the lengths alone, so that a resumed run
    repeats the batches of the first. Longest first: what does not fit into memory fails at once.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batches: list[list[int]] = []
    for index in order:
        batch = batches[-1] if batches else []
        if batch and len(batch) < max_size and (len(batch) + 1) * lengths[batch[0]] <= max_tokens:
            batch.append(index)
        else:
            batches.append([index])
    return batches


def batch_limits(device: str) -> tuple[int, int]:
    """max_tokens and max_size for ``plan_batches`` on a device as an Identity names it.

    A CPU is busy with some hundred tokens. An H200 is with about 20,000 (512 sentences of 40 give
    96% of what 2,048 give, 32 give a tenth in bf16), which take under 4 GB; a GPU with less memory
    halves its batches.
    """
    return (1_024, 32) if device == "cpu" else (32_768, 1_024)


def decided(limits: tuple[int, int], batch_size: int | None) -> tuple[int, int]:
    """The limits, or those of a batch size that was given, which decides alone."""
    if batch_size is None:
        return limits
    # No model reads a text of so many tokens: the number of texts decides.
    return batch_size * 10_000, batch_size

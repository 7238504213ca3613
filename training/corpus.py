"""Raw text → segments of tokens that begin where a sentence begins."""

from __future__ import annotations

import hashlib
import lzma
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

LONGEST = 510
"""Tokens of a segment, without [CLS] and [SEP]."""

ROOMS = (1, 1, LONGEST // 4, LONGEST)
"""How many tokens a segment to train on may have, at random; with room for one it is a sentence, as
an audit's prompts are."""

HELD_OUT = 100
"""One document in so many is never trained on."""

# A stop, what may close after it, a space, and what may open a sentence: not "e.g. the".
BOUNDARY = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")


def documents(paths: Sequence[Path]) -> Iterator[str]:
    """Every post or review, one a line."""
    for path in paths:
        with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                if text := line.strip():
                    yield text


def is_held_out(document: str) -> bool:
    """Whether a document is kept for testing: by its text, so that a copy of it is too."""
    number = int.from_bytes(hashlib.sha256(document.encode()).digest()[:8], "big")
    return number % HELD_OUT == 0


def sentences(document: str) -> list[str]:
    """Return the document's sentences, in order."""
    return [part for part in BOUNDARY.split(document) if part]


def segments(encoded: Iterable[Sequence[int]], draw: random.Random) -> Iterator[list[int]]:
    """Return a document's sentences as segments to train on, each of which begins with a sentence.

    They go on over the next sentences while there is room. A quarter are cut short at random, as an
    audit's prompts may be without a final stop.
    """
    for segment in windows(encoded, room=lambda: draw.choice(ROOMS)):
        short = len(segment) > 3 and draw.random() < 0.25
        yield segment[: draw.randint(max(3, len(segment) // 2), len(segment))] if short else segment


def windows(
    encoded: Iterable[Sequence[int]], *, room: Callable[[], int] = lambda: LONGEST
) -> Iterator[list[int]]:
    """As many whole sentences as there is room for, one at least, one window after the other.

    A sentence longer than the longest window is cut off.
    """
    current: list[int] = []
    tokens = room()
    for sentence in encoded:
        if current and len(current) + len(sentence) > tokens:
            yield current
            current, tokens = [], room()
        current = [*current, *sentence][:LONGEST]
    if current:
        yield current

"""What sentence pairs have in common: the frame they stand in, and the two occupations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.records import BASELINE, MASK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

FEMALE = "female-referent"
"""The category of a sentence whose referent has an occupation associated with women."""


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """By sentence pair: what it shares with others; empty where that is not known."""

    ways: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Frame, referent, other occupation."""
    signs: dict[str, float] = field(default_factory=dict)
    """−1 where the referent's occupation is associated with women, else 1."""

    def clusters(self, pairs: Iterable[str]) -> list[tuple[str, ...]]:
        """Of each pair its cluster, one tuple a way; none where a pair is not known."""
        found = [self.ways.get(pair) for pair in pairs]
        known = [way for way in found if way is not None]
        return list(zip(*known, strict=True)) if len(known) == len(found) else []

    def sides(self, pairs: Iterable[str]) -> NDArray[np.float64]:
        """The signs of the pairs."""
        return np.array([self.signs.get(pair, 1.0) for pair in pairs])


def sharings(prompts: pl.DataFrame) -> dict[str, Sharing]:
    """By instrument: what the sentence pairs among these prompts share."""
    of_each = prompts.partition_by("instrument", as_dict=True)
    return {str(instrument): sharing_of(asked) for (instrument,), asked in of_each.items()}


def sharing_of(prompts: pl.DataFrame) -> Sharing:
    """What the sentence pairs among these prompts share; ``prompts`` of one instrument.

    The frame is the sentence without adjectives, its occupations and pronoun blanked.
    """
    pairs = prompts.filter(
        pl.col("condition") == BASELINE, pl.col("wording") == "pro", pl.col("answer").is_not_null()
    ).unique("item", maintain_order=True)
    ways, signs = {}, {}
    for row in pairs.iter_rows(named=True):
        own = [re.escape(word) for word in (row["answer"], row["other"], row["pronoun"]) if word]
        frame = re.sub(rf"{MASK}|\b({'|'.join(own)})\b", "_", row["text"], flags=re.IGNORECASE)
        ways[row["item"]] = (frame, row["answer"], row["other"] or "")
        signs[row["item"]] = -1.0 if row["category"] == FEMALE else 1.0
    return Sharing(ways=ways, signs=signs)

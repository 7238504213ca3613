"""Batches of segments laid end to end, so that nothing but the last few tokens is padding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer

NOT_ASKED = -100
"""In place of an answer: what cross_entropy leaves out."""


class Batch(NamedTuple):
    """Tokens as the model sees them, and what it is asked about them."""

    ids: torch.Tensor
    places: torch.Tensor
    """Each token's position in its own segment."""
    bounds: torch.Tensor
    """Where segments begin and end; the last of them may be empty, so that shapes stay the same."""
    asked: torch.Tensor
    """Indices of the tokens that are asked for, and of some that are not: always as many."""
    answers: torch.Tensor
    """What stood there, or NOT_ASKED."""


@dataclass(frozen=True)
class Masks:
    """Which tokens are asked for, and what the model sees in their place."""

    share: float
    """Of the tokens, [CLS] and [SEP] not counted."""
    first: float = 0.0
    """Of the segments whose first token is asked for in any case."""
    hidden: float = 1.0
    """Of the tokens asked for: seen as [MASK]. Half of the others are other words, half are as they
    were."""


class Segments:
    """What prepare.py wrote, on the device, in batches of so many tokens."""

    def __init__(self, path: Path, tokenizer: Tokenizer, *, tokens: int, device: str) -> None:
        stored = np.load(path)
        self._ids = torch.from_numpy(stored["ids"]).to(device)
        self._lengths = torch.from_numpy(stored["lengths"]).long().to(device)
        self._starts = self._lengths.cumsum(0) - self._lengths
        self._tokens, self._device = tokens, device
        self.longest = int(self._lengths.max())
        if tokens < self.longest:
            raise SystemExit(f"A batch has to hold the longest segment: {self.longest} tokens.")
        self._words = tokenizer.get_vocab_size()
        self._mask = tokenizer.token_to_id("[MASK]")
        self._pad = tokenizer.token_to_id("[PAD]")
        special = [tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]", "[PAD]")]
        self._special = torch.tensor(special, device=device)

    def plan(self, draw: torch.Generator) -> list[tuple[torch.Tensor, int]]:
        """Return the batches of an epoch in random order: segments, and how many tokens."""
        order = torch.randperm(len(self._lengths), generator=draw).to(self._device)
        ends = self._lengths[order].cumsum(0).cpu()
        plan, start, behind = [], 0, 0
        while start < len(order):
            stop = int(torch.searchsorted(ends, behind + self._tokens, right=True))
            end = int(ends[stop - 1])
            plan.append((order[start:stop], end - behind))
            start, behind = stop, end
        return plan

    def batches(
        self, plan: list[tuple[torch.Tensor, int]], draw: torch.Generator, masks: Masks
    ) -> Iterator[Batch]:
        """Each batch of the plan; the draws are the device's."""
        for rows, used in plan:
            ids, places, bounds = self._end_to_end(rows, used)
            asked = self._asked(ids, places, draw, masks)
            count = round(masks.share * (used - 2 * len(rows)))
            chosen = asked[:count]
            seen = torch.rand(count, generator=draw, device=self._device)
            others = torch.randint(self._words, (count,), generator=draw, device=self._device)
            shown = torch.where(seen < (1 + masks.hidden) / 2, others, ids[chosen])
            shown = torch.where(seen < masks.hidden, self._mask, shown)
            answers = ids[asked]
            answers[count:] = NOT_ASKED
            yield Batch(ids.index_copy(0, chosen, shown), places, bounds, asked, answers)

    def _end_to_end(
        self, rows: torch.Tensor, used: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Ids, places and bounds; what is left of the batch is [PAD], in segments of its own."""
        total, count = self._tokens, torch.arange(self._tokens, device=self._device)
        lengths = self._lengths[rows]
        starts = lengths.cumsum(0) - lengths
        rest = count[used :: self.longest]
        # More than there ever are: segments have 98 tokens on average.
        bounds = torch.full((total // 64 + 64,), total, device=self._device)
        bounds[: len(rows)] = starts
        bounds[len(rows) : len(rows) + len(rest)] = rest
        begins = bounds[:-1].repeat_interleave(bounds.diff(), output_size=total)
        shift = (self._starts[rows] - starts).repeat_interleave(lengths, output_size=used)
        ids = self._ids[count[:used] + shift].long()
        ids = torch.nn.functional.pad(ids, (0, total - used), value=self._pad)
        return ids, count - begins, bounds.int()

    def _asked(
        self, ids: torch.Tensor, places: torch.Tensor, draw: torch.Generator, masks: Masks
    ) -> torch.Tensor:
        """Tokens in the order in which they are asked for, a few more than needed."""
        chance, first = torch.rand(2, len(ids), generator=draw, device=self._device)
        chance = chance + ((places == 1) & (first < masks.first))
        chance = chance.masked_fill(torch.isin(ids, self._special), -1)
        return chance.topk(round(masks.share * len(ids))).indices

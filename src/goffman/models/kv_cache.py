"""Several texts that a causal model continues: what was read is kept, each step adds one token.

What all texts begin with, such as the chat template's head, is read once for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from goffman.models.torch_common import accepted

if TYPE_CHECKING:
    from collections.abc import Sequence

SAVED = {"cpu": 256, "cuda": 16_384}
"""A shared beginning is read once if that saves so many tokens: fewer cost less than a call, which
a GPU takes longer to be asked for than to do."""


@dataclass(frozen=True)
class TokenizedPrompt:
    """A question as token ids, and the seeds with which it is asked."""

    ids: tuple[int, ...]
    seeds: tuple[int, ...] = (0,)

    def __len__(self) -> int:
        return len(self.ids)


class Generation:
    """Several texts that are being continued, one row each."""

    def __init__(self, model: Any, questions: Sequence[TokenizedPrompt], *, pad_id: int) -> None:
        """Read every question once, whatever the number of its seeds."""
        self._model = model
        self._past: Any = None
        self.there = torch.ones((1, 0), dtype=torch.long, device=model.device)
        self.positions = self.there
        self.logits = self._read([question.ids for question in questions], pad_id=pad_id)
        """[text, token]: the logits of what comes next."""
        seeds = torch.tensor([len(question.seeds) for question in questions])
        rows = torch.repeat_interleave(torch.arange(len(questions)), seeds)
        if len(rows) > len(questions):
            self._keep(rows)
            self.logits = self.logits[rows.to(self.logits.device)]

    @property
    def layers(self) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """Return the layers' keys and values as they were read; None: there is something else."""
        layers = getattr(self._past, "layers", None)
        if not layers or any(type(layer).__name__ != "DynamicLayer" for layer in layers):
            return None
        return [(layer.keys, layer.values) for layer in layers]

    def forget(self) -> None:
        """Drop what was read, which is not needed any more."""
        self._past = None

    def go_on(self, tokens: Sequence[int], kept: Sequence[int]) -> torch.Tensor:
        """Return [text, token]: the logits after one more token in each text that is kept.

        ``kept``: the rows, each as often as it is continued.
        """
        if list(kept) != list(range(len(self.there))):
            self._keep(torch.tensor(kept))
        ids = torch.tensor(tokens, device=self.there.device).unsqueeze(1)
        self.there = torch.cat([self.there, torch.ones_like(ids)], dim=1)
        self.positions = self.positions[:, -1:] + 1
        return self._step(ids, self.positions)

    def _read(self, texts: Sequence[Sequence[int]], *, pad_id: int) -> torch.Tensor:
        """Return the logits after each text; read once what all texts begin with."""
        shared = shared_tokens(self._model, texts)
        if shared:
            ids = torch.tensor([texts[0][:shared]], device=self.there.device)
            self.there = torch.ones_like(ids)
            self._step(ids, torch.arange(shared, device=ids.device).unsqueeze(0))
            self._past.reorder_cache(
                torch.zeros(len(texts), dtype=torch.long, device=self.there.device)
            )
        endings = [text[shared:] for text in texts]
        longest = max(map(len, endings))
        ids = torch.full((len(endings), longest), pad_id)
        attention = torch.zeros_like(ids)
        # Padded on the left, so that every text ends where it is continued.
        for row, text in enumerate(endings):
            ids[row, longest - len(text) :] = torch.tensor(text)
            attention[row, longest - len(text) :] = 1
        ids, attention = ids.to(self.there.device), attention.to(self.there.device)
        self.positions = (attention.cumsum(1) - 1).clamp(min=0) + shared
        self.there = torch.cat([self.there[:, :shared].expand(len(endings), -1), attention], dim=1)
        return self._step(ids, self.positions)

    def _step(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        inputs: dict[str, Any] = {
            "input_ids": ids,
            "attention_mask": self.there,
            "position_ids": positions,
            "past_key_values": self._past,
            "use_cache": True,
            # The vocabulary projection at the last position only.
            "logits_to_keep": 1,
        }
        output = self._model(**accepted(self._model, inputs))
        self._past = output.past_key_values
        logits: torch.Tensor = output.logits[:, -1]
        return logits

    def _keep(self, rows: torch.Tensor) -> None:
        rows = rows.to(self.there.device)
        self.there, self.positions = self.there[rows], self.positions[rows]
        # The one way of picking rows that every kind of cache has, recurrent ones too.
        self._past.reorder_cache(rows)


def shared_tokens(model: Any, texts: Sequence[Sequence[int]]) -> int:
    """Return how many tokens that all texts begin with are worth reading once for all; 0: none."""
    # What the first and the last text in order share, all between them share, too.
    first, last = min(map(tuple, texts)), max(map(tuple, texts))
    pairs = enumerate(zip(first, last, strict=False))
    alike = next((position for position, (left, right) in pairs if left != right), len(first))
    # Every text keeps a last token of its own, for its logits.
    shared = min(alike, min(map(len, texts)) - 1)
    worth = shared * (len(texts) - 1) >= SAVED.get(model.device.type, SAVED["cuda"])
    same_length = len(set(map(len, texts))) == 1
    # A layer that sees the last tokens only would count padding after the shared beginning.
    types = getattr(model.config, "layer_types", None)
    sees_all = not getattr(model.config, "sliding_window", None)
    if types:
        sees_all = set(types) == {"full_attention"}
    return shared if worth and (same_length or sees_all) else 0

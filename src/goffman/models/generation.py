"""Several texts that a causal model continues: what was read is kept, each step adds one token.

What all texts begin with, such as the chat template's head, is read once for all of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from goffman.models.base import Precision, not_a_number
from goffman.models.tokenizer import alike
from goffman.models.torch_common import accepted, is_out_of_memory

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
        """Return the keys and values of every layer; None if the cache holds something else."""
        layers = getattr(self._past, "layers", None)
        if not layers or any(type(layer).__name__ != "DynamicLayer" for layer in layers):
            return None
        return [(layer.keys, layer.values) for layer in layers]

    def forget(self) -> None:
        """Free the cache of the prompts."""
        self._past = None

    def go_on(self, tokens: Sequence[int], kept: Sequence[int]) -> torch.Tensor:
        """Return an array [text, token]: the logits after one more token in each kept text.

        ``kept``: the rows to continue; a row may occur several times.
        """
        if list(kept) != list(range(len(self.there))):
            self._keep(torch.tensor(kept))
        ids = torch.tensor(tokens, device=self.there.device).unsqueeze(1)
        self.there = torch.cat([self.there, torch.ones_like(ids)], dim=1)
        self.positions = self.positions[:, -1:] + 1
        return self._step(ids, self.positions)

    def _read(self, texts: Sequence[Sequence[int]], *, pad_id: int) -> torch.Tensor:
        """Return the logits after each text; a beginning that all texts share is read once."""
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
    """Return the number of first tokens that all texts share; 0 if sharing does not pay."""
    # What the first and the last text in order share, all between them share, too.
    beginning = alike(min(map(tuple, texts)), max(map(tuple, texts)))
    # Every text keeps a last token of its own, for its logits.
    shared = min(beginning, min(map(len, texts)) - 1)
    worth = shared * (len(texts) - 1) >= SAVED.get(model.device.type, SAVED["cuda"])
    same_length = len(set(map(len, texts))) == 1
    # A layer that sees the last tokens only would count padding after the shared beginning.
    types = getattr(model.config, "layer_types", None)
    sees_all = not getattr(model.config, "sliding_window", None)
    if types:
        sees_all = set(types) == {"full_attention"}
    return shared if worth and (same_length or sees_all) else 0


LOOK = 8
"""The number of steps between two checks of which replies have ended."""

GROUPED = "goffman-grouped"
"""The name of our attention function in transformers."""

ROUNDED = 32
"""Lengths of buffers are multiples of this, so that the next batch can use them again."""


class _Buffers:
    """Keys and values of all layers, of a fixed length, which the model uses as its cache."""

    def __init__(self, layers: Sequence[tuple[torch.Tensor, torch.Tensor]], length: int) -> None:
        self.keys = [_longer(keys, length) for keys, _ in layers]
        self.values = [_longer(values, length) for _, values in layers]
        self.at = torch.zeros(1, dtype=torch.long, device=self.keys[0].device)
        """The position at which the next token is written."""

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store a layer's new keys and values, and return all of them, as a layer expects."""
        self.keys[layer].index_copy_(2, self.at, keys)
        self.values[layer].index_copy_(2, self.at, values)
        return self.keys[layer], self.values[layer]

    def get_seq_length(self, _: int = 0) -> int:
        """Return 0: some families ask for it, but positions are always given."""
        return 0

    def fill(self, layers: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """Copy the keys and values of the prompts that were read into the buffers."""
        for buffers, index in ((self.keys, 0), (self.values, 1)):
            for buffer, layer in zip(buffers, layers, strict=True):
                buffer[:, :, : layer[index].shape[2]].copy_(layer[index])


def _longer(tensor: torch.Tensor, length: int) -> torch.Tensor:
    rows, heads, _, width = tensor.shape
    return tensor.new_zeros((rows, heads, length, width))


@contextlib.contextmanager
def _grouped(model: Any) -> Iterator[None]:
    """Use ``_attend`` in the block, if the model leaves attention to torch."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    original = model.config._attn_implementation  # noqa: SLF001 - transformers' own name for it
    if original != "sdpa":
        yield
        return
    ALL_ATTENTION_FUNCTIONS.register(GROUPED, _attend)
    model.config._attn_implementation = GROUPED  # noqa: SLF001
    try:
        yield
    finally:
        model.config._attn_implementation = original  # noqa: SLF001


def _attend(
    _: Any,
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    there: torch.Tensor,
    *,
    scaling: float | None = None,
    **__: Any,
) -> tuple[torch.Tensor, None]:
    """Return the attention of one token per chat, without copying shared keys and values."""
    rows, heads, _one, width = query.shape
    key_heads = keys.shape[1]
    grouped = query.reshape(rows, key_heads, heads // key_heads, width)
    mixed = torch.nn.functional.scaled_dot_product_attention(
        grouped,
        keys,
        values,
        attn_mask=there.expand(-1, key_heads, heads // key_heads, -1),
        scale=scaling,
    )
    return mixed.reshape(rows, 1, heads, width), None


class Step:
    """One step of a number of chats, captured as a CUDA graph, with buffers of a fixed size.

    The words are chosen on the GPU too, by the same random numbers that the plain loop draws.
    """

    def __init__(
        self,
        model: Any,
        layers: Sequence[tuple[torch.Tensor, torch.Tensor]],
        *,
        shape: tuple[int, int, int],
        choose: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    ) -> None:
        """Capture the step; ``shape``: chats, tokens of the buffers, tokens of a reply."""
        self.shape = shape
        rows, length, limit = shape
        self._model, self._choose = model, choose
        device = model.device
        self._buffers = _Buffers(layers, length)
        self._ids = torch.zeros((rows, 1), dtype=torch.long, device=device)
        self._positions = torch.zeros_like(self._ids)
        self._there = torch.zeros((rows, 1, 1, length), dtype=model.dtype, device=device)
        """Added to attention scores: 0, or the lowest number where nothing must be seen."""
        self._drawn = torch.zeros((rows, limit), dtype=torch.float64, device=device)
        self._turn = torch.zeros(1, dtype=torch.long, device=device)
        self.reply_tokens = torch.zeros((rows, limit), dtype=torch.long, device=device)
        self.sound = torch.ones((), dtype=torch.bool, device=device)
        """Whether all logits so far are valid numbers."""
        self._graph = self._captured()

    def _captured(self) -> torch.cuda.CUDAGraph:
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                self._go()
                self._turn.zero_()
                self._buffers.at.zero_()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._go()
        return graph

    def _go(self) -> None:
        """Read the last token of each chat and choose the next one."""
        self._there.index_fill_(3, self._buffers.at, 0.0)
        with _grouped(self._model):
            output = self._model(
                input_ids=self._ids,
                attention_mask=self._there,
                position_ids=self._positions,
                past_key_values=self._buffers,
                use_cache=True,
                logits_to_keep=1,
            )
        self._buffers.at += 1
        self._positions += 1
        self._turn += 1
        self._put(output.logits[:, -1])

    def _put(self, logits: torch.Tensor) -> None:
        """Choose each chat's next token by its own number of this turn; it is read next."""
        self.sound.logical_and_(torch.isfinite(logits.amax(dim=1)).all())
        turn = self._turn.clamp(max=self._drawn.shape[1] - 1)
        chosen = self._choose(logits, self._drawn.index_select(1, turn))
        self.reply_tokens.index_copy_(1, turn, chosen)
        self._ids.copy_(chosen)

    def begin(self, generation: Generation, drawn: NDArray[np.float64]) -> None:
        """Take over chats whose prompts were read, and choose the first token of each."""
        attention, positions = generation.there, generation.positions
        self._buffers.fill(generation.layers or [])
        self._buffers.at.fill_(attention.shape[1])
        self._there.fill_(torch.finfo(self._there.dtype).min)
        self._there[:, 0, 0, : attention.shape[1]].masked_fill_(attention.bool(), 0.0)
        self._positions.copy_(positions[:, -1:] + 1)
        self._drawn.copy_(torch.from_numpy(drawn))
        self._turn.zero_()
        self.sound.fill_(True)  # noqa: FBT003 - a value, not a flag
        self._put(generation.logits)

    def play(self, steps: int) -> None:
        """Add ``steps`` tokens to every chat."""
        for _ in range(steps):
            self._graph.replay()


class Graphs:
    """The last captured step, which the next batch of the same size replays."""

    def __init__(
        self,
        model: Any,
        *,
        choose: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
        ends: Sequence[int],
        precision: Precision | None,
    ) -> None:
        """Capture nothing yet; ``choose``: logits and a uniform number per chat → next token."""
        self._model, self._choose, self._ends, self._precision = model, choose, ends, precision
        self._step: Step | None = None
        self._works = model.device.type == "cuda"

    def replies(self, generation: Generation, drawn: NDArray[np.float64]) -> list[list[int]] | None:
        """Return the tokens of each reply up to its end, or as many as ``drawn`` has.

        Return None if the step cannot be captured; raise ArithmeticError for a NaN.
        """
        if not self._works or generation.layers is None:
            return None
        step = self._step_for(generation, *drawn.shape)
        if step is None:
            return None
        step.begin(generation, drawn)
        generation.forget()
        limit = drawn.shape[1]
        ending = torch.tensor(list(self._ends), device=step.reply_tokens.device)
        count = 1
        while count < limit:
            active = ~torch.isin(step.reply_tokens[:, :count], ending).any(dim=1)
            if not bool(active.any()):
                break
            steps = min(LOOK, limit - count)
            step.play(steps)
            count += steps
        if not bool(step.sound):
            raise ArithmeticError(not_a_number(self._precision))
        return [
            # Including the token that ended the reply, if one did.
            tokens[
                : next(
                    (index + 1 for index, token in enumerate(tokens) if token in self._ends), count
                )
            ]
            for tokens in step.reply_tokens[:, :count].tolist()
        ]

    def _step_for(self, generation: Generation, rows: int, most: int) -> Step | None:
        """Return the captured step for ``rows`` chats; None if it cannot be captured."""
        length = -(-(generation.there.shape[1] + most) // ROUNDED) * ROUNDED
        if self._step is not None and self._step.shape == (rows, length, most):
            return self._step
        # The old buffers go first: the new ones may need their room.
        self._step = None
        shape = (rows, length, most)
        try:
            self._step = Step(
                self._model, generation.layers or [], shape=shape, choose=self._choose
            )
        except Exception as error:
            if is_out_of_memory(error):
                raise
            # The family does something that cannot be captured: the plain loop asks it.
            self._works = False
            torch.cuda.synchronize()
        return self._step

"""Replies on a GPU: one step for all chats, captured once and played again and again.

Python takes several times as long to ask for a small model's kernels as a GPU takes to run them.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goffman.models.base import not_a_number
from goffman.models.torch_common import is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from goffman.models.base import Precision
    from goffman.models.kv_cache import Generation

LOOK = 8
"""Steps between two looks at which replies have ended."""

GROUPED = "goffman-grouped"
"""What our attention is called in transformers."""

ROUNDED = 32
"""Buffers are as long as a multiple of this, so that the next batch can use them again."""


class _Buffers:
    """Keys and values of all layers, of a fixed length; the model takes it for its cache."""

    def __init__(self, layers: Sequence[tuple[torch.Tensor, torch.Tensor]], length: int) -> None:
        self.keys = [_longer(keys, length) for keys, _ in layers]
        self.values = [_longer(values, length) for _, values in layers]
        self.at = torch.zeros(1, dtype=torch.long, device=self.keys[0].device)
        """Where the next token is written."""

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What a layer asks of a cache: its new keys and values are kept, and all are given."""
        self.keys[layer].index_copy_(2, self.at, keys)
        self.values[layer].index_copy_(2, self.at, values)
        return self.keys[layer], self.values[layer]

    def get_seq_length(self, _: int = 0) -> int:
        """Asked for by some families; positions are always given."""
        return 0

    def fill(self, layers: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """What was read is there."""
        for own, others in ((self.keys, 0), (self.values, 1)):
            for buffer, layer in zip(own, layers, strict=True):
                buffer[:, :, : layer[others].shape[2]].copy_(layer[others])


def _longer(given: torch.Tensor, length: int) -> torch.Tensor:
    rows, heads, _, width = given.shape
    return given.new_zeros((rows, heads, length, width))


@contextlib.contextmanager
def _grouped(model: Any) -> Iterator[None]:
    """Attention as one token a chat needs it, where the model leaves it to torch."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    plain = model.config._attn_implementation  # noqa: SLF001 - transformers' own name for it
    if plain != "sdpa":
        yield
        return
    ALL_ATTENTION_FUNCTIONS.register(GROUPED, _attend)
    model.config._attn_implementation = GROUPED  # noqa: SLF001
    try:
        yield
    finally:
        model.config._attn_implementation = plain  # noqa: SLF001


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
    """Heads that share keys and values stand in the place of several tokens: nothing is copied."""
    rows, heads, _one, width = query.shape
    shared = keys.shape[1]
    together = query.reshape(rows, shared, heads // shared, width)
    mixed = torch.nn.functional.scaled_dot_product_attention(
        together,
        keys,
        values,
        attn_mask=there.expand(-1, shared, heads // shared, -1),
        scale=scaling,
    )
    return mixed.reshape(rows, 1, heads, width), None


class Step:
    """One step of a number of chats, captured as a CUDA graph, with buffers of a fixed size.

    The words are chosen on the GPU too, by the same numbers that the plain loop draws.
    """

    def __init__(
        self,
        model: Any,
        layers: Sequence[tuple[torch.Tensor, torch.Tensor]],
        *,
        shape: tuple[int, int, int],
        choose: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    ) -> None:
        """``shape``: chats, tokens of the buffers, tokens of a reply."""
        self.shape = shape
        rows, length, most = shape
        self._model, self._choose = model, choose
        device = model.device
        self._buffers = _Buffers(layers, length)
        self._ids = torch.zeros((rows, 1), dtype=torch.long, device=device)
        self._positions = torch.zeros_like(self._ids)
        self._there = torch.zeros((rows, 1, 1, length), dtype=model.dtype, device=device)
        """What is added where attention is paid: nothing, or too little to be seen."""
        self._drawn = torch.zeros((rows, most), dtype=torch.float64, device=device)
        self._turn = torch.zeros(1, dtype=torch.long, device=device)
        self.said = torch.zeros((rows, most), dtype=torch.long, device=device)
        self.sound = torch.ones((), dtype=torch.bool, device=device)
        """Whether every number so far is one."""
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
        """The token that was said last is read, and the next one is chosen."""
        self._there.index_fill_(3, self._buffers.at, 0.0)
        with _grouped(self._model):
            found = self._model(
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
        self._put(found.logits[:, -1])

    def _put(self, logits: torch.Tensor) -> None:
        """The next token of each chat, by its own number of this turn, is what is read next."""
        self.sound.logical_and_(torch.isfinite(logits.amax(dim=1)).all())
        turn = self._turn.clamp(max=self._drawn.shape[1] - 1)
        chosen = self._choose(logits, self._drawn.index_select(1, turn))
        self.said.index_copy_(1, turn, chosen)
        self._ids.copy_(chosen)

    def begin(self, talk: Generation, drawn: NDArray[np.float64]) -> None:
        """The chats that were read, and the first token of each."""
        there, positions = talk.there, talk.positions
        self._buffers.fill(talk.layers or [])
        self._buffers.at.fill_(there.shape[1])
        self._there.fill_(torch.finfo(self._there.dtype).min)
        self._there[:, 0, 0, : there.shape[1]].masked_fill_(there.bool(), 0.0)
        self._positions.copy_(positions[:, -1:] + 1)
        self._drawn.copy_(torch.from_numpy(drawn))
        self._turn.zero_()
        self.sound.fill_(True)  # noqa: FBT003 - a value, not a flag
        self._put(talk.logits)

    def play(self, steps: int) -> None:
        """So many tokens more in every chat."""
        for _ in range(steps):
            self._graph.replay()


class Graphs:
    """The step that was captured last; the next batch of the same size plays it again."""

    def __init__(
        self,
        model: Any,
        *,
        choose: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
        ends: Sequence[int],
        precision: Precision | None,
    ) -> None:
        """``choose``: logits and a uniform number for each chat → its next token."""
        self._model, self._choose, self._ends, self._precision = model, choose, ends, precision
        self._step: Step | None = None
        self._works = model.device.type == "cuda"

    def said(self, talk: Generation, drawn: NDArray[np.float64]) -> list[list[int]] | None:
        """The tokens of each reply up to its end, or as many as ``drawn`` has.

        None: they cannot be asked so. ArithmeticError where a probability is not a number.
        """
        if not self._works or talk.layers is None:
            return None
        step = self._step_for(talk, *drawn.shape)
        if step is None:
            return None
        step.begin(talk, drawn)
        talk.forget()
        most = drawn.shape[1]
        ending = torch.tensor(list(self._ends), device=step.said.device)
        done = 1
        while done < most:
            going = ~torch.isin(step.said[:, :done], ending).any(dim=1)
            if not bool(going.any()):
                break
            steps = min(LOOK, most - done)
            step.play(steps)
            done += steps
        if not bool(step.sound):
            raise ArithmeticError(not_a_number(self._precision))
        return [
            # With the one that ended it, where one did.
            tokens[: next((at + 1 for at, token in enumerate(tokens) if token in self._ends), done)]
            for tokens in step.said[:, :done].tolist()
        ]

    def _step_for(self, talk: Generation, rows: int, most: int) -> Step | None:
        """The step of so many chats; None where it cannot be captured."""
        length = -(-(talk.there.shape[1] + most) // ROUNDED) * ROUNDED
        if self._step is not None and self._step.shape == (rows, length, most):
            return self._step
        # The old buffers go first: the new ones may need their room.
        self._step = None
        shape = (rows, length, most)
        try:
            self._step = Step(self._model, talk.layers or [], shape=shape, choose=self._choose)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            # Whatever a family does that cannot be captured: the plain loop asks it.
            self._works = False
            torch.cuda.synchronize()
        return self._step

"""Our own forward pass for BERT-like models on a GPU: the same numbers, without waiting for it.

The pass of transformers reads back whether a mask masks anything, which waits for all work that the
GPU was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F  # noqa: N812

from goffman.models.fast_bert import Body, parts_of

if TYPE_CHECKING:
    from goffman.models.fast_bert import Parts

ALIGNED = 16
"""Rows of the attention bias are a multiple of this, or each layer would copy it first."""


class Layer:
    """One layer, whose operations are called without the modules around them."""

    def __init__(self, parts: Parts, *, heads: int) -> None:
        self._heads, self._parts = heads, parts
        self._weights = torch.cat([stream.weight for stream in parts[:3]]).detach()
        self._bias = torch.cat([stream.bias for stream in parts[:3]]).detach()

    def __call__(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """Return [sentence, position, width]: the next states."""
        query, key, value = self._streams(x, self._weights, self._bias)
        return self._rest(query, key, value, bias, x)

    def at(self, x: torch.Tensor, bias: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Return [sentence, 1, width]: the next states at one position per sentence."""
        width = x.shape[2]
        states = x.gather(1, positions[:, None, None].expand(-1, 1, width))
        (query,) = self._streams(states, self._weights[:width], self._bias[:width])
        key, value = self._streams(x, self._weights[width:], self._bias[width:])
        return self._rest(query, key, value, bias[:, :, :1], states)

    def _streams(
        self, x: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return tensors [sentence, head, position, width of a head], one per block of weights."""
        count, length, width = x.shape
        split = F.linear(x, weights, bias).view(
            count, length, -1, self._heads, width // self._heads
        )
        return split.permute(2, 0, 3, 1, 4).unbind()

    def _rest(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        bias: torch.Tensor,
        x: torch.Tensor,
    ) -> torch.Tensor:
        parts = self._parts
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        mixed = mixed.transpose(1, 2).reshape(x.shape)
        x = _normed(_product(mixed, parts.mixed) + x, parts.mixed_norm)
        inner = F.gelu(_product(x, parts.inner))
        return _normed(_product(inner, parts.outer) + x, parts.outer_norm)

    def share(self) -> None:
        """Make the model's own query, key and value weights parts of the joined ones here."""
        for stream, weight in zip(self._parts[:3], self._weights.chunk(3), strict=True):
            stream.weight = torch.nn.Parameter(weight, requires_grad=False)


def _product(x: torch.Tensor, layer: torch.nn.Linear) -> torch.Tensor:
    return F.linear(x, layer.weight, layer.bias)


def _normed(x: torch.Tensor, norm: torch.nn.LayerNorm) -> torch.Tensor:
    return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


class FastBertOnGpu(Body):
    """A scorer that puts these layers between a model's own embeddings and its own head."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        heads = model.config.num_attention_heads
        self._layers = [Layer(parts, heads=heads) for parts in parts_of(model)]

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: Any) -> Any:
        """Return what the model's head takes from its body: here states of one position each."""
        from transformers.modeling_outputs import BaseModelOutput

        x = self._widened(self._embeddings(input_ids=input_ids))
        # [sentence, head, position, position]: -inf where no token stands.
        count, length = attention_mask.shape
        empty = F.pad(attention_mask, (0, -length % ALIGNED)) == 0
        bias = torch.zeros(empty.shape, dtype=x.dtype, device=x.device)
        bias = bias.masked_fill_(empty, float("-inf"))
        bias = bias[:, None, None, :length].expand(count, 1, length, length)
        for layer in self._layers[:-1]:
            x = layer(x, bias)
        return BaseModelOutput(last_hidden_state=self._layers[-1].at(x, bias, self._positions))

    def free(self) -> None:
        """Free weights that are stored twice."""
        for layer in self._layers:
            layer.share()


def make_fast_on_gpu(model: Any) -> FastBertOnGpu | None:
    """Return the pass of a model on a GPU; None if there is none."""
    return FastBertOnGpu(model) if model.device.type == "cuda" and parts_of(model) else None

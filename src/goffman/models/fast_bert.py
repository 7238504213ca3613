"""Our own forward pass for BERT-like models on a CPU: transformers' numbers, but faster.

Nothing is padded, and the last layer is computed at the mask alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import torch
from torch.nn import functional as F  # noqa: N812

BERT_NAMES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)
DISTILBERT_NAMES = (
    "attention.q_lin",
    "attention.k_lin",
    "attention.v_lin",
    "attention.out_lin",
    "sa_layer_norm",
    "ffn.lin1",
    "ffn.lin2",
    "output_layer_norm",
)
FAMILIES = dict.fromkeys(
    ("bert", "roberta", "xlm-roberta", "camembert", "electra"), ("encoder.layer", BERT_NAMES)
) | {"distilbert": ("transformer.layer", DISTILBERT_NAMES)}
"""Where each family keeps its layers, and each layer its parts, in the order of Parts."""


class Unchanging:
    """An object that never changes and is shared by all copies of a model."""

    def __deepcopy__(self, _: Any) -> Self:
        return self


class Packed(Unchanging):
    """A linear layer whose weights are laid out as oneDNN wants them."""

    def __init__(self, *layers: torch.nn.Linear) -> None:
        weights = torch.cat([layer.weight for layer in layers]).detach()
        self._bias = torch.cat([layer.bias for layer in layers]).detach()
        self._weights = torch.ops.mkldnn._reorder_linear_weight(weights)  # noqa: SLF001

    def __call__(self, x: torch.Tensor, *, activation: str = "none") -> torch.Tensor:
        """Return the layer's output for ``x``, after the activation (none or ``gelu``)."""
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(  # noqa: SLF001
            x, self._weights, self._bias, activation, [], "none" if activation == "gelu" else ""
        )
        return product

    def plus(self, x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """Return the layer's output for ``x``, plus ``other``."""
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise.binary(  # noqa: SLF001
            x, other, self._weights, self._bias, "add"
        )
        return product


class Parts(NamedTuple):
    """One layer's modules, under the same names for every family."""

    query: torch.nn.Linear
    key: torch.nn.Linear
    value: torch.nn.Linear
    mixed: torch.nn.Linear
    mixed_norm: torch.nn.LayerNorm
    inner: torch.nn.Linear
    outer: torch.nn.Linear
    outer_norm: torch.nn.LayerNorm


def parts_of(model: Any) -> list[Parts]:
    """Return the layers of a BERT-like model; an empty list for any other model."""
    config = model.config
    activation = getattr(config, "hidden_act", None) or getattr(config, "activation", None)
    if config.model_type not in FAMILIES or activation != "gelu":
        return []
    path, names = FAMILIES[config.model_type]
    layers = model.base_model.get_submodule(path)
    return [Parts(*(layer.get_submodule(name) for name in names)) for layer in layers]


class Group(NamedTuple):
    """Sentences of one length whose tokens stand in adjacent rows."""

    sentences: slice
    rows: slice
    """The rows of their tokens."""
    length: int


class FastLayer(Unchanging):
    """One layer with packed weights."""

    def __init__(self, parts: Parts, *, heads: int) -> None:
        self._heads = heads
        self.projected = Packed(parts.query, parts.key, parts.value)
        self._rest = Rest(parts)

    def __call__(
        self, x: torch.Tensor, streams: torch.Tensor, groups: Sequence[Group]
    ) -> torch.Tensor:
        """Return an array [token, width]: the states after this layer."""
        mixed = torch.cat([self._attended(streams[group.rows], group) for group in groups])
        return self._rest(mixed, x)

    def _attended(self, streams: torch.Tensor, group: Group) -> torch.Tensor:
        split = streams.view(-1, group.length, 3, self._heads, streams.shape[1] // 3 // self._heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value)
        return mixed.transpose(1, 2).reshape(len(streams), -1)


class LastLayer(Unchanging):
    """The last layer, at one position per sentence.

    With a single query the keys and values of the other positions need not be computed:
    q·(K x) = (q K)·x, the key's bias moves every score alike, and Σ a (V x + b) = V (Σ a x) + b.
    """

    def __init__(self, parts: Parts, *, heads: int) -> None:
        width = parts.query.in_features
        self._query = parts.query
        self._key = parts.key.weight.view(heads, -1, width)
        self._value = parts.value.weight.view(heads, -1, width).transpose(1, 2)
        self._value_bias = parts.value.bias
        self._scale = (width // heads) ** -0.5
        self._rest = Rest(parts)

    def __call__(
        self, x: torch.Tensor, masks: torch.Tensor, groups: Sequence[Group]
    ) -> torch.Tensor:
        """Return an array [sentence, width]: the states at the masks after the last layer."""
        masked = x[masks]
        query = self._query(masked).view(len(masked), len(self._key), -1).transpose(0, 1)
        through_key = torch.bmm(query, self._key).transpose(0, 1)
        seen = torch.cat([self._seen(through_key, x, group) for group in groups]).transpose(0, 1)
        mixed = (
            torch.bmm(seen, self._value).transpose(0, 1).reshape(masked.shape) + self._value_bias
        )
        return self._rest(mixed, masked)

    def _seen(self, through_key: torch.Tensor, x: torch.Tensor, group: Group) -> torch.Tensor:
        states = x[group.rows].view(-1, group.length, x.shape[1])
        scores = torch.bmm(through_key[group.sentences], states.transpose(1, 2)) * self._scale
        return torch.bmm(torch.softmax(scores, dim=-1), states)


class Rest:
    """The part of a layer after attention: its output layer and the feed-forward part."""

    def __init__(self, parts: Parts) -> None:
        self._mixed, self._mixed_norm = Packed(parts.mixed), parts.mixed_norm
        self._inner, self._outer = Packed(parts.inner), Packed(parts.outer)
        self._outer_norm = parts.outer_norm

    def __call__(self, mixed: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Return the layer's output; ``mixed``: the output of attention for the input ``x``."""
        x = self._mixed_norm(self._mixed.plus(mixed, x))
        inner = self._inner(x, activation="gelu")
        output: torch.Tensor = self._outer_norm(self._outer.plus(inner, x))
        return output


class Body(torch.nn.Module):
    """A replacement for a model's body, between the model's own embeddings and its own head."""

    _positions: torch.Tensor  # those at which the sentences are being scored

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._embeddings = model.base_model.embeddings
        # ELECTRA's embeddings are narrower than its layers.
        self._widened = getattr(model.base_model, "embeddings_project", torch.nn.Identity())

    def score(self, model: Any, positions: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Return [sentence, token]: the logits at one position per sentence."""
        self._positions = positions
        prefix = model.base_model_prefix
        body = getattr(model, prefix)
        setattr(model, prefix, self)
        try:
            logits: torch.Tensor = model(**inputs).logits
        finally:
            setattr(model, prefix, body)
        return logits[:, 0]


class FastBert(Body):
    """A scorer that puts lean layers between a model's own embeddings and its own head.

    Weights are laid out once as oneDNN wants them, query, key and value are one product, and the
    first layer's product is computed once for each token at a position.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        heads = model.config.num_attention_heads
        self._packed = parts_of(model)
        self._layers = [FastLayer(parts, heads=heads) for parts in self._packed[:-1]]
        self._last = LastLayer(self._packed[-1], heads=heads)
        self._vocabulary = Packed(model.get_output_embeddings())

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: Any) -> Any:
        """Return what the model's head takes from its body: here states of one position each."""
        from transformers.modeling_outputs import BaseModelOutput

        # The tokens of all sentences stand one under the other, the longest sentence first.
        lengths, order = attention_mask.sum(dim=1).sort(descending=True, stable=True)
        masks = lengths.cumsum(0) - lengths + self._positions[order]
        groups, sentence, row = [], 0, 0
        for length, count in Counter(lengths.tolist()).items():
            ends = sentence + count, row + count * length
            groups.append(Group(slice(sentence, ends[0]), slice(row, ends[1]), length))
            sentence, row = ends
        ids, attention = input_ids[order], attention_mask[order].bool()
        x = self._widened(self._embeddings(input_ids=ids))[attention]
        # Before the first layer a state depends on token and position only: pairs occur often.
        # A padding token that a text spells out shifts RoBERTa's positions after it.
        width = ids.shape[1]
        shifts = ids.eq(getattr(self._embeddings, "padding_idx", -1)).cumsum(dim=1)
        pairs = ((ids * (width + 1) + shifts) * width + torch.arange(width))[attention]
        distinct, inverse = pairs.unique(return_inverse=True)  # type: ignore[no-untyped-call]
        samples = torch.empty_like(distinct).scatter_(0, inverse, torch.arange(len(inverse)))
        for index, layer in enumerate(self._layers):
            streams = layer.projected(x) if index else layer.projected(x[samples])[inverse]
            x = layer(x, streams, groups)
        states = torch.empty(len(masks), x.shape[1])
        states[order] = self._last(x, masks, groups)
        return BaseModelOutput(last_hidden_state=states.unsqueeze(1))

    def score(self, model: Any, positions: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Return [sentence, token]: the logits at one position per sentence."""
        head = model.get_output_embeddings()
        head.forward = self._vocabulary
        try:
            return super().score(model, positions, **inputs)
        finally:
            del head.forward

    def free(self) -> None:
        """Free the original weights that were packed; the plain pass then no longer works."""
        for parts in self._packed:
            projections = () if parts is self._packed[-1] else parts[:3]
            for layer in (*projections, parts.mixed, parts.inner, parts.outer):
                layer.weight = torch.nn.Parameter(torch.empty(0), requires_grad=False)


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


def make_fast(model: Any) -> FastBert | FastBertOnGpu | None:
    """Return a faster scorer for a GPU, or for float32 on a CPU with oneDNN; None if unfit."""
    on_gpu = model.device.type == "cuda"
    if not on_gpu and (model.device.type != "cpu" or model.dtype != torch.float32):
        return None
    try:
        return (FastBertOnGpu if on_gpu else FastBert)(model) if parts_of(model) else None
    except (AttributeError, RuntimeError, TypeError):  # a torch without these oneDNN operators
        return None

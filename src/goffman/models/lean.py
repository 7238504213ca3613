"""A forward pass of our own for BERT's kind on a CPU: the same numbers, sooner.

Saved against transformers' pass: the weights are laid out once as oneDNN wants them, query, key and
value are one product, and the last layer is computed at the mask alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 (torch's own name for it)

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
"""Where each family keeps its layers, and a layer its parts, in the order of Parts."""


class Packed:
    """A linear layer whose weights lie as oneDNN wants them."""

    def __init__(self, *layers: torch.nn.Linear) -> None:
        weights = torch.cat([layer.weight for layer in layers]).detach()
        self._bias = torch.cat([layer.bias for layer in layers]).detach()
        self._weights = torch.ops.mkldnn._reorder_linear_weight(weights)  # noqa: SLF001

    def __call__(self, x: torch.Tensor, *, activation: str = "none") -> torch.Tensor:
        """The product, and after it nothing or ``gelu``."""
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(  # noqa: SLF001
            x, self._weights, self._bias, activation, [], "none" if activation == "gelu" else ""
        )
        return product

    def plus(self, x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """The product, and something else added to it."""
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise.binary(  # noqa: SLF001
            x, other, self._weights, self._bias, "add"
        )
        return product


class Parts(NamedTuple):
    """One layer's modules, under one name for every family."""

    query: torch.nn.Linear
    key: torch.nn.Linear
    value: torch.nn.Linear
    mixed: torch.nn.Linear
    mixed_norm: torch.nn.LayerNorm
    inner: torch.nn.Linear
    outer: torch.nn.Linear
    outer_norm: torch.nn.LayerNorm


def parts_of(model: Any) -> list[Parts]:
    """The layers of a model of BERT's kind; none where its layers compute something else."""
    config = model.config
    activation = getattr(config, "hidden_act", None) or getattr(config, "activation", None)
    if config.model_type not in FAMILIES or activation != "gelu":
        return []
    where, names = FAMILIES[config.model_type]
    layers = model.base_model.get_submodule(where)
    return [Parts(*(layer.get_submodule(name) for name in names)) for layer in layers]


class LeanLayer:
    """One layer, packed."""

    def __init__(self, parts: Parts, *, heads: int) -> None:
        self._heads = heads
        self._projected = Packed(parts.query, parts.key, parts.value)
        self._rest = Rest(parts)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """[sentence, position, width]: the next states."""
        sentences, length, width = x.shape
        streams = self._projected(x).view(sentences, length, 3, self._heads, width // self._heads)
        query, key, value = streams.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value)
        return self._rest(mixed.transpose(1, 2).reshape(x.shape), x)


class LastLayer:
    """The last layer, at one position a sentence.

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

    def __call__(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """[sentence, 1, width]: the last states at the mask."""
        at = x[torch.arange(len(x)), positions]
        query = self._query(at).view(len(x), len(self._key), -1).transpose(0, 1)
        through_key = torch.bmm(query, self._key).transpose(0, 1)
        scores = torch.bmm(through_key, x.transpose(1, 2)) * self._scale
        seen = torch.bmm(torch.softmax(scores, dim=-1), x).transpose(0, 1)
        mixed = torch.bmm(seen, self._value).transpose(0, 1).reshape(at.shape) + self._value_bias
        return self._rest(mixed, at).unsqueeze(1)


class Rest:
    """What follows the attention: its output layer and the feed-forward part."""

    def __init__(self, parts: Parts) -> None:
        self._mixed, self._mixed_norm = Packed(parts.mixed), parts.mixed_norm
        self._inner, self._outer = Packed(parts.inner), Packed(parts.outer)
        self._outer_norm = parts.outer_norm

    def __call__(self, mixed: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The layer's output from what attention mixed and what the layer was given."""
        x = self._mixed_norm(self._mixed.plus(mixed, x))
        inner = self._inner(x, activation="gelu")
        output: torch.Tensor = self._outer_norm(self._outer.plus(inner, x))
        return output


def make_lean(model: Any) -> Lean | None:
    """The lean pass of a model on a CPU with oneDNN, or None where there is none."""
    try:
        return Lean(model) if model.device.type == "cpu" and parts_of(model) else None
    except (AttributeError, RuntimeError, TypeError):  # a torch without these oneDNN operators
        return None


class Lean(torch.nn.Module):
    """A scorer that puts lean layers between a model's own embeddings and its own head.

    Sentences must have one length: nothing is padded and no attention mask is needed.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        heads = model.config.num_attention_heads
        self._packed = parts_of(model)
        self._layers = [LeanLayer(parts, heads=heads) for parts in self._packed[:-1]]
        self._last = LastLayer(self._packed[-1], heads=heads)
        self._embeddings = model.base_model.embeddings
        # ELECTRA's embeddings are narrower than its layers.
        self._widened = getattr(model.base_model, "embeddings_project", torch.nn.Identity())
        self._positions = torch.empty(0)

    def forward(self, input_ids: torch.Tensor, **_: Any) -> Any:
        """What the model's head takes from its body: the states, here of one position each."""
        from transformers.modeling_outputs import BaseModelOutput

        x = self._widened(self._embeddings(input_ids=input_ids))
        for layer in self._layers:
            x = layer(x)
        return BaseModelOutput(last_hidden_state=self._last(x, self._positions))

    def score(self, model: Any, positions: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """[sentence, token]: the logits at one position a sentence."""
        prefix = model.base_model_prefix
        body = getattr(model, prefix)
        self._positions = positions
        setattr(model, prefix, self)
        try:
            logits: torch.Tensor = model(input_ids=inputs["input_ids"]).logits
        finally:
            setattr(model, prefix, body)
        return logits[:, 0]

    def free(self) -> None:
        """Lets go of the weights that were packed, once the plain pass is not needed any more."""
        for parts in self._packed:
            last = parts is self._packed[-1]
            packed = (parts.mixed, parts.inner, parts.outer) + (() if last else parts[:3])
            for layer in packed:
                layer.weight = torch.nn.Parameter(torch.empty(0), requires_grad=False)

"""A BERT's forward pass over segments that lie end to end, without padding."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch.nn.functional import cross_entropy, gelu, layer_norm, scaled_dot_product_attention
from torch.nn.functional import linear as product
from transformers import BertForMaskedLM

from batches import Batch


def linear(x: torch.Tensor, module: torch.nn.Linear) -> torch.Tensor:
    """Return the module in the precision of x; its weights stay as they are."""
    return product(x, module.weight.to(x.dtype), module.bias.to(x.dtype))


def norm(x: torch.Tensor, module: torch.nn.LayerNorm) -> torch.Tensor:
    """Likewise."""
    weight, bias = module.weight.to(x.dtype), module.bias.to(x.dtype)
    return layer_norm(x, module.normalized_shape, weight, bias, module.eps)


def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bounds: torch.Tensor, longest: int
) -> torch.Tensor:
    """[token, head, part of the width]: each token looks at those of its own segment."""
    if q.is_cuda:
        from torch.nn.attention.varlen import varlen_attn

        return varlen_attn(q, k, v, bounds, bounds, longest, longest)
    ends = bounds.tolist()
    return torch.cat(
        [
            scaled_dot_product_attention(*(x[start:end].transpose(0, 1) for x in (q, k, v)))
            for start, end in pairwise(ends)
            if end > start
        ],
        dim=1,
    ).transpose(0, 1)


def logits_at(
    model: BertForMaskedLM, batch: Batch, longest: int, precision: torch.dtype
) -> torch.Tensor:
    """[asked token, word]."""
    embeddings = model.bert.embeddings
    x = embeddings.word_embeddings(batch.ids) + embeddings.position_embeddings(batch.places)
    x = norm(x + embeddings.token_type_embeddings.weight[0], embeddings.LayerNorm).to(precision)
    heads = model.config.num_attention_heads
    for layer in model.bert.encoder.layer:
        attention = layer.attention
        parts = (attention.self.query, attention.self.key, attention.self.value)
        q, k, v = (linear(x, part).unflatten(1, (heads, -1)) for part in parts)
        seen = attend(q, k, v, batch.bounds, longest).flatten(1)
        x = norm(x + linear(seen, attention.output.dense), attention.output.LayerNorm)
        between = gelu(linear(x, layer.intermediate.dense))
        x = norm(x + linear(between, layer.output.dense), layer.output.LayerNorm)
    head = model.cls.predictions
    x = gelu(linear(x[batch.asked], head.transform.dense))
    return linear(norm(x, head.transform.LayerNorm), head.decoder)


def loss_of(
    model: BertForMaskedLM, batch: Batch, longest: int, precision: torch.dtype
) -> torch.Tensor:
    """Return the mean cross-entropy of the answers."""
    return cross_entropy(logits_at(model, batch, longest, precision).float(), batch.answers)

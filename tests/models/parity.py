"""The plain computations that the package's fast ones are held against."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from goffman.models.base import Fills

RELATIVE = 1e-5
"""How far a probability may be from the plain one's."""


def plain_probabilities(folder: Path, text: str) -> NDArray[np.float32]:
    """[token]: transformers' own model and tokenizer, one sentence, the full forward pass."""
    tokenizer, model = _loaded(folder, transformers.AutoModelForMaskedLM)
    inputs = tokenizer(text.replace("<mask>", tokenizer.mask_token), return_tensors="pt")
    at = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        return torch.softmax(model(**inputs).logits[0, at], dim=-1).numpy()


def two_stream_probabilities(folder: Path, text: str) -> NDArray[np.float32]:
    """[token]: XLNet by its definition (Yang et al. 2019, section 2.3), position by position."""
    tokenizer, model = _loaded(folder, transformers.XLNetLMHeadModel)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    hidden_from_all = ids.index(tokenizer.mask_token_id)
    with torch.no_grad():
        content = [model.transformer.word_embedding.weight[token] for token in ids]
        query = model.transformer.mask_emb[0, 0]
        for layer in model.transformer.layer:
            new = []
            for at, state in enumerate(content):
                # A token sees all but the hidden one; the hidden one's content sees itself too.
                seen = [i for i in range(len(ids)) if i != hidden_from_all or i == at]
                new.append(_layer(layer, state, at=at, seen=seen, content=content))
            seen = [i for i in range(len(ids)) if i != hidden_from_all]
            query = _layer(layer, query, at=hidden_from_all, seen=seen, content=content)
            content = new
        logits = model.lm_loss(query)
    return torch.softmax(logits, dim=-1).numpy()


@cache
def _loaded(folder: Path, kind: Any) -> tuple[Any, Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, kind.from_pretrained(folder).eval()


def _layer(
    layer: Any, state: torch.Tensor, *, at: int, seen: list[int], content: list[torch.Tensor]
) -> torch.Tensor:
    """One position's state after one layer: relative attention, then the feed-forward part."""
    attention, forward = layer.rel_attn, layer.ff
    width = state.shape[0]
    q = torch.einsum("d,dnh->nh", state, attention.q)
    scores, values = [], []
    for other in seen:
        k = torch.einsum("d,dnh->nh", content[other], attention.k)
        place = torch.einsum("d,dnh->nh", _sinusoid(at - other, width), attention.r)
        by_content = ((q + attention.r_w_bias) * k).sum(-1)
        by_place = ((q + attention.r_r_bias) * place).sum(-1)
        scores.append((by_content + by_place) / attention.d_head**0.5)
        values.append(torch.einsum("d,dnh->nh", content[other], attention.v))
    weights = torch.softmax(torch.stack(scores), dim=0)
    mixed = (weights.unsqueeze(-1) * torch.stack(values)).sum(0)
    out = attention.layer_norm(torch.einsum("nh,dnh->d", mixed, attention.o) + state)
    inner = forward.layer_2(forward.activation_function(forward.layer_1(out)))
    return forward.layer_norm(inner + out)


def _sinusoid(distance: int, width: int) -> torch.Tensor:
    steps = distance / 10000 ** (torch.arange(0, width, 2.0) / width)
    return torch.cat([steps.sin(), steps.cos()])


def assert_same_top(
    ids: NDArray[np.int32], found: NDArray[np.float32], plain: NDArray[np.float32]
) -> None:
    """The probabilities are the plain ones, and the order is, but for tokens equally probable."""
    best = np.sort(plain)[::-1][: len(ids)]
    np.testing.assert_allclose(found, plain[ids], rtol=RELATIVE)
    np.testing.assert_allclose(found, best, rtol=RELATIVE)
    assert len(set(ids.tolist())) == len(ids)
    assert (np.diff(found) <= 0).all()


def fills_alone(model: Fills, encoded: list[list[int]], top_k: int) -> list[Any]:
    """The fills of each sentence asked by itself."""
    return [model.fill_batch([sentence], top_k=top_k) for sentence in encoded]


def out_of_memory_above(model: Any, most: int, *, kind: str = "gpu") -> list[int]:
    """From now on memory runs out where the model is asked more sentences than this at once.

    Returned is how many it is asked each time.
    """
    sizes: list[int] = []

    def refuse(_: object, given: tuple[object, ...], named: dict[str, torch.Tensor]) -> None:
        sizes.append(len(named["input_ids"]))
        if sizes[-1] > most and kind == "gpu":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        if sizes[-1] > most:
            torch.empty(2**55)  # a true failure of the allocator

    model._model.register_forward_pre_hook(refuse, with_kwargs=True)
    return sizes

"""How much a causal model calculates, by its configuration, and how fast that goes here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from goffman.models.folder import read_object
from goffman.models.local import files_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goffman.models.base import LoadOptions

SIDE = 1024
"""Of the matrices whose product is timed; about as large as those of a small model."""
REACHED = 0.65
"""So much of that speed a model comes to, beside attention, norms and the tokens that a template
adds: on a CPU, SmolLM2-135M comes to .9 of it, and its template adds a third to the tokens."""


def weights_used(spec: str, options: LoadOptions) -> int | None:
    """How many weights each token goes through; None where the configuration does not say."""
    files = files_of(spec, weights=False, fetched=options.fetched)
    return _weights(read_object(files.name, files.folder / "config.json"))


def _weights(config: Mapping[str, Any]) -> int | None:
    """Without the vocabulary, which is used at one token of a prompt only."""
    size = config.get("hidden_size", config.get("n_embd"))
    layers = config.get("num_hidden_layers", config.get("n_layer"))
    if not isinstance(size, int) or not isinstance(layers, int):
        return None
    heads, of_keys = config.get("num_attention_heads"), config.get("num_key_value_heads")
    shared = of_keys / heads if isinstance(heads, int) and isinstance(of_keys, int) else 1
    attention = size * size * (2 + 2 * shared)
    # GPT-2's kind has two inner matrices, Llama's three.
    gated, inner = config.get("intermediate_size"), config.get("n_inner")
    if isinstance(gated, int):
        return layers * int(attention + 3 * size * gated)
    return layers * int(attention + 2 * size * (inner if isinstance(inner, int) else 4 * size))


def weights_a_second(device: str) -> float:
    """How many weights the device takes tokens through in a second, by a short trial."""
    import torch

    from goffman.models.forward import choose_device

    place = choose_device(device)
    left, right = (torch.ones(SIDE, SIDE, device=place) for _ in range(2))
    count, start, elapsed = 0, time.perf_counter(), 0.0
    while elapsed < 0.2:
        # What a GPU has calculated is known once it is read.
        (left @ right)[0, 0].item()
        count, elapsed = count + 1, time.perf_counter() - start
    return REACHED * count * SIDE**3 / elapsed

"""Masked models of every bidirectional family."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F  # noqa: N812

from goffman.errors import ModelError
from goffman.models.base import Filled, Identity, Later
from goffman.models.fast_bert import make_fast
from goffman.models.tokenizer import Tokens
from goffman.models.torch_common import (
    by_length,
    full_logits_at,
    in_halves,
    logits_at,
    most_probable,
    on_device,
    padded,
    quiet,
    together,
    without_gradients,
)

MOST_COPIES = 4
"""Each copy has memory for a batch of its own; if there are more threads, they share the work."""

PROBES = (
    "It is <mask> for me.",
    "It is <mask> for me to have one as a neighbor.",
    "She is <mask> for me.",
)
"""Sentences of more than one length on which ways through a model are compared."""

TOLERANCE = {"float32": 1e-4, "bf16": 0.05, "fp16": 0.01}
"""How much probability a faster way may move between tokens: as much as rounding in a large model,
and far less than a wrong head or padding that is read."""

LEAN = (
    "Computed with goffman's own fast code for BERT models, after checking that its output matches "
    "that of the transformers library."
)
NOT_LEAN = (
    "Computed with the transformers library, because goffman's own fast code for BERT models gave "
    "other numbers."
)
SLOWER = "Run by a slower method, because this kind of model does not allow the faster one."


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How sentences are put through a model to score tokens."""

    scorer: Callable[..., torch.Tensor]
    """Model, positions, inputs → [sentence, token]: the logits at one position a sentence."""
    same_length: bool
    """True: only sentences of one length go together, for models that padding disturbs."""
    note: tuple[str, ...] = ()
    """A sentence on it for the user, if any."""
    by_threads: bool = False
    """Whether copies of the model are asked at the same time, not one model by all threads."""


class Masked:
    """A masked model, its tokenizer, and how its tokens are scored."""

    takes_arrays = True
    """Sentences may be arrays of token ids, which costs the host less; other kinds get tuples."""

    def __init__(self, identity: Identity, model: Any, tokens: Tokens, *, scoring: Scoring) -> None:
        self.identity = identity
        self.tokens: tuple[str, ...] = tokens.texts(head_size(model))
        self.special_ids: frozenset[int] = tokens.special_ids
        self.encode, self.single_tokens = tokens.encode, tokens.single_tokens
        self.encode_phrase = tokens.encode_phrase
        self._model = model
        self._tokens = tokens
        self._scoring = scoring
        self._copies: list[Masked] = []

    def several(self) -> list[Masked]:
        """Return this model, and copies with the same weights, to be asked at once on a CPU.

        Threads that share the work of each product wait for each other, and two of them do 1.7
        times the work of one; with a batch for each of them it is twice as much.
        """
        count = min(torch.get_num_threads(), MOST_COPIES) if self._scoring.by_threads else 1
        weights = {
            id(tensor): tensor for tensor in (*self._model.parameters(), *self._model.buffers())
        }
        while len(self._copies) < count - 1:
            clone = copy.copy(self)
            parts = copy.deepcopy((self._model, self._scoring), dict(weights))
            clone._model, clone._scoring = parts  # noqa: SLF001
            self._copies.append(clone)
        return [self, *self._copies[: count - 1]]

    def phrase_batch(
        self, encoded: Sequence[Sequence[int]], *, targets: Sequence[int]
    ) -> NDArray[np.float32]:
        """Return [sentence, target]: the probability of each target token at the mask."""
        return self.fill_batch(encoded, top_k=1, targets=targets).targets

    def fill_batch(
        self, encoded: Sequence[Sequence[int]], *, top_k: int, targets: Sequence[int] = ()
    ) -> Filled:
        """Return the most probable words for each mask; if memory runs out, ask in halves."""
        return self.fill_batch_later(encoded, top_k=top_k, targets=targets)()

    def fill_batch_later(
        self, encoded: Sequence[Sequence[int]], *, top_k: int, targets: Sequence[int] = ()
    ) -> Later[Filled]:
        """Return a function that returns the fills, which a GPU may still be calculating."""
        name, size = self.identity.name, len(self.tokens)
        if not 1 <= top_k <= size:
            raise ModelError(f"top_k is {top_k}, but the vocabulary of '{name}' has {size} words.")
        outside = [token for token in targets if not 0 <= token < size]
        if outside:
            raise ModelError(
                f"Token id {outside[0]} is no target for '{name}': its ids are 0 to {size - 1}. "
                "Use the ids that single_tokens gives."
            )

        def ask(part: Sequence[Sequence[int]]) -> Later[Filled]:
            logits = scores(self._model, self._tokens, part, scoring=self._scoring)
            return most_probable(logits, top_k=top_k, targets=targets)

        parts = in_halves(ask, encoded)
        return Later(
            lambda: together([fills() for fills in parts]),
            lambda: all(fills.there() for fills in parts),
        )


@without_gradients
def scores(
    model: Any, tokens: Tokens, encoded: Sequence[Sequence[int]], *, scoring: Scoring
) -> torch.Tensor:
    """Return [sentence, token]: the logits at the mask of each sentence."""
    parts, order = [], []
    groups = by_length(encoded) if scoring.same_length else [list(range(len(encoded)))]
    for indices in groups:
        part = [encoded[index] for index in indices]
        ids, attention = padded(part, pad_id=tokens.pad_id, device=model.device)
        positions = (ids == tokens.mask_id).int().argmax(dim=1)
        parts.append(scoring.scorer(model, positions, input_ids=ids, attention_mask=attention))
        order += indices
    logits = torch.cat(parts)
    return logits if order == sorted(order) else logits[on_device(np.argsort(order), model.device)]


def make_masked(identity: Identity, model: Any, tokenizer: Any, *, own_code: bool = True) -> Masked:
    """Return the model, ready to be asked; XLNet without specials and padding text, as studied.

    ``own_code``: see model_in_memory.
    """
    name, xlnet = identity.name, identity.family == "xlnet"
    with quiet():
        limit = None if xlnet else position_limit(model)
        tokens = Tokens(name, tokenizer, specials=not xlnet, limit=limit)
    notes, head = tokens.notes, head_size(model)
    if len(tokens) > head:
        raise ModelError(
            f"The tokenizer of '{name}' has {len(tokens)} tokens, but the model has only {head}. "
            "Give a folder with the tokenizer that the model was trained with."
        )
    if len(tokens) < head:
        note = (
            f"The model has {head} tokens, but its tokenizer only {len(tokens)}. The other "
            f"{head - len(tokens)} have no text; their probability counts in the total."
        )
        notes += (note,)
    if xlnet:
        scoring = Scoring(scorer=two_stream_logits_at, same_length=False)
    elif model.device.type == "meta":
        # Without weights there is nothing to compare: the workers choose.
        scoring = Scoring(scorer=full_logits_at, same_length=True)
    else:
        tolerance = TOLERANCE[identity.precision or "float32"]
        scoring = choose_scoring(model, tokens, tolerance=tolerance, own_code=own_code)
    identity = replace(identity, notes=(*identity.notes, *notes, *scoring.note))
    return Masked(identity, model, tokens, scoring=scoring)


def head_size(model: Any) -> int:
    """Return the number of tokens to which the model gives a probability."""
    head = model.get_output_embeddings()
    return int(model.config.vocab_size if head is None else head.weight.shape[0])


def position_limit(model: Any) -> int | None:
    """Return the most tokens that the model has positions for; None if there is no limit."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            # Models like RoBERTa count positions from the one after the padding's.
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            return int(module.num_embeddings) - first
    limit = getattr(model.config, "max_position_embeddings", None)
    return limit if limit and limit > 0 else None


def choose_scoring(model: Any, tokens: Tokens, *, tolerance: float, own_code: bool) -> Scoring:
    """Return the fastest scoring that gives what a plain pass gives for single sentences."""
    plain = Scoring(scorer=full_logits_at, same_length=True, note=(SLOWER,))
    with quiet():
        encoded = tokens.encode(PROBES)
        alone = torch.cat(
            [scores(model, tokens, [sentence], scoring=plain) for sentence in encoded]
        )
    expected = torch.softmax(alone.float(), dim=-1)
    lean = make_fast(model) if own_code else None
    note = () if lean is None else (NOT_LEAN,)
    fast = Longformer(model) if model.config.model_type == "longformer" else logits_at
    ways = [
        Scoring(scorer=fast, same_length=False, note=note),
        Scoring(scorer=fast, same_length=True, note=note),
        Scoring(scorer=full_logits_at, same_length=False, note=(SLOWER,)),
    ]
    if lean is not None:
        on_cpu = model.device.type == "cpu"
        lean_scoring = Scoring(
            scorer=lean.score, same_length=False, note=(LEAN,), by_threads=on_cpu
        )
        ways.insert(0, lean_scoring)
    for scoring in ways:
        try:
            logits = scores(model, tokens, encoded, scoring=scoring)
        except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):
            continue
        shift = (torch.softmax(logits.float(), dim=-1) - expected).abs().sum(dim=-1).max() / 2
        if shift <= tolerance:
            if lean is not None and scoring.note == (LEAN,):
                lean.free()
            return scoring
    return plain


def two_stream_logits_at(
    model: Any, positions: torch.Tensor, **inputs: torch.Tensor
) -> torch.Tensor:
    """Return [sentence, token]: the logits of XLNet's query stream at one position per sentence.

    No token sees the one asked about (``perm_mask``), and the query stream, which knows its place
    but not its content, is computed there alone (``target_mapping``). ``perm_mask`` without
    ``target_mapping`` would let the content stream answer, which has read the mask token itself.
    """
    sentences, length = inputs["input_ids"].shape
    rows = torch.arange(sentences, device=positions.device)
    place = torch.zeros(sentences, length, dtype=model.dtype, device=positions.device)
    place[rows, positions] = 1.0
    answer = model(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"].to(model.dtype),
        perm_mask=place.unsqueeze(1).expand(-1, length, -1).contiguous(),
        target_mapping=place.unsqueeze(1),
        use_mems=False,
    )
    return answer.logits[:, 0]  # type: ignore[no-any-return]


class Longformer:
    """A scorer that does not pad a short sentence to the attention window.

    If half the window reaches from the first token to the last, every token sees every other, and a
    larger window gives the same numbers: the model runs with the smallest such window.
    """

    def __init__(self, model: Any) -> None:
        self._own: list[int] = list(model.config.attention_window)
        self._layers = [layer.attention.self for layer in model.base_model.encoder.layer]

    def __call__(self, model: Any, positions: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Return [sentence, token]: the logits at one position per sentence."""
        length = inputs["input_ids"].shape[1]
        needed = 2 * max(1, length - 1)
        windows = [needed] * len(self._own) if needed < min(self._own) else self._own
        # Padded here to a multiple of the window, as the model would, but without its warning.
        padding = -length % max(windows)
        ids = F.pad(inputs["input_ids"], (0, padding), value=model.config.pad_token_id)
        attention = F.pad(inputs["attention_mask"], (0, padding))
        self._set(model, windows)
        try:
            return logits_at(model, positions, input_ids=ids, attention_mask=attention)
        finally:
            self._set(model, self._own)

    def _set(self, model: Any, windows: list[int]) -> None:
        model.config.attention_window = windows
        for layer, window in zip(self._layers, windows, strict=True):
            layer.one_sided_attn_window_size = window // 2

"""XLNet: a mask is filled through its permutation mask, not as the other families fill it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from goffman.models.masked import (
    Masked,
    Scoring,
    check_vocabulary,
    head_size,
)
from goffman.models.tokenizer import Tokens, load_tokenizer
from goffman.models.torch_common import load_weights, quiet

if TYPE_CHECKING:
    from goffman.models.base import Identity, LoadOptions
    from goffman.models.files import Files


def two_stream_logits_at(
    model: Any, positions: torch.Tensor, **inputs: torch.Tensor
) -> torch.Tensor:
    """[sentence, token]: the logits of XLNet's query stream at one position a sentence.

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


def load_xlnet(files: Files, options: LoadOptions, *, identity: Identity) -> Masked:
    """The XLNet in these files; sentences without special tokens and padding text, as studied."""
    from transformers import XLNetLMHeadModel

    with quiet():
        tokenizer = load_tokenizer(
            files.name, files.folder, trust_remote_code=options.trust_remote_code
        )
    model = load_weights(XLNetLMHeadModel, files, options)
    tokens = Tokens(files.name, tokenizer, specials=False, limit=None)
    notes = (*tokens.notes, *check_vocabulary(files.name, len(tokens), head_size(model)))
    identity = replace(identity, notes=(*identity.notes, *notes))
    scoring = Scoring(scorer=two_stream_logits_at, same_length=False)
    return Masked(identity, model, tokens, scoring=scoring)

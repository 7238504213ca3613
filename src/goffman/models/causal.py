"""Causal models that do not chat: how probable a sentence is, and which words come next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from goffman.errors import ModelError
from goffman.models.masked import position_limit
from goffman.models.next_token import NextWord
from goffman.models.tokenizer import check_length, load_tokenizer, token_ids
from goffman.models.torch_common import accepted, in_halves, load_weights, padded, without_gradients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goffman.models.base import Identity, LoadOptions, PromptParts
    from goffman.models.files import Files

WITH_START = "A sentence's probability is that of all its tokens, after {}."
WITHOUT_START = (
    "A sentence's probability is that of its tokens from the second on, because the model has no "
    "start token."
)


class Causal:
    """A causal model and its tokenizer."""

    def __init__(self, identity: Identity, model: Any, tokenizer: Any) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._limit = position_limit(model)
        self._start: int | None = tokenizer.bos_token_id
        start = tokenizer.bos_token
        note = WITHOUT_START if self._start is None else WITH_START.format(start)
        self.identity = replace(identity, notes=(*identity.notes, note))
        self.next_word = NextWord(
            model, tokenizer, name=identity.name, limit=self._limit, write=self._written
        )

    def _written(self, opening: PromptParts) -> str:
        """Return a question and the beginning of its answer as one text."""
        start = self._tokenizer.bos_token or ""
        system = f"{opening.system}\n\n" if opening.system else ""
        # Without a space at the end: it belongs to the token that comes next.
        return f"{start}{system}{opening.text}\n\nAnswer: {opening.prefill}".rstrip()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, after the start token if the model has one."""
        first = [] if self._start is None else [self._start]
        encoded = [[*first, *ids] for ids in token_ids(self._tokenizer, texts, specials=False)]
        for text, ids in zip(texts, encoded, strict=True):
            check_length(self.identity.name, text, length=len(ids), limit=self._limit)
            if len(ids) < 2:
                raise ModelError(f'This text has no token that can be predicted: "{text}".')
        return encoded

    def encode_phrase(self, before: str, phrase: str, after: str) -> list[tuple[list[int], int]]:
        """Return for each token of the phrase the tokens before it, and the token."""
        del after  # a token is predicted from what stands before it alone
        prefix, whole = self.encode([before.rstrip(), f"{before}{phrase}"])
        return [(whole[:position], whole[position]) for position in range(len(prefix), len(whole))]

    @without_gradients
    def phrase_batch(
        self, encoded: Sequence[Sequence[int]], *, targets: Sequence[int]
    ) -> NDArray[np.float32]:
        """Return [sentence, target]: the probability of each target token after the sentence."""
        ids, attention = padded(encoded, pad_id=encoded[0][0], device=self._model.device)
        inputs = {"input_ids": ids, "attention_mask": attention}
        last = attention.sum(dim=1) - 1
        logits = self._model(**accepted(self._model, inputs)).logits
        selected = logits[range(len(ids)), last].float().softmax(dim=-1)[:, list(targets)]
        probabilities: NDArray[np.float32] = selected.cpu().numpy()
        return probabilities

    def score_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Return [sentence]: the logarithm of its probability; out of memory, ask in halves."""
        return np.concatenate(in_halves(self._ask, encoded))

    @without_gradients
    def _ask(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        # Padded on the right: no token sees what comes after it.
        ids, attention = padded(encoded, pad_id=encoded[0][0], device=self._model.device)
        inputs = {"input_ids": ids, "attention_mask": attention}
        logits = self._model(**accepted(self._model, inputs)).logits[:, :-1].float()
        targets = ids[:, 1:].unsqueeze(2)
        log_p = logits.gather(2, targets).squeeze(2) - logits.logsumexp(dim=2)
        summed: NDArray[np.float64] = (log_p.double() * attention[:, 1:]).sum(dim=1).cpu().numpy()
        return summed


def load_causal(files: Files, options: LoadOptions, *, identity: Identity) -> Causal:
    """Load the causal model in these files."""
    from transformers import AutoModelForCausalLM

    tokenizer = load_tokenizer(files, options)
    model = load_weights(AutoModelForCausalLM, files, options)
    return Causal(identity, model, tokenizer)

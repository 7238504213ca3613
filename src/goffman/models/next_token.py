"""What a causal model says next: the next word, or one of several options."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from goffman.errors import ModelError
from goffman.models.base import NextWords, PromptParts
from goffman.models.kv_cache import Generation, TokenizedPrompt, shared_tokens
from goffman.models.tokenizer import check_length, token_ids, token_texts
from goffman.models.torch_common import in_halves, logits_at, padded, without_gradients

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

WORTH = 0.02
"""A piece of a word is gone on with if it is at least so probable, given the text before it: what
is less so is mostly a whole word, and looking at all would take longer than reading the texts."""

PIECES = 5
"""A word has at most so many."""

WITHIN = frozenset("'’-\N{REPLACEMENT CHARACTER}")
"""Signs that stand inside of words; a part of a letter reads as the last of them."""


class _Piece(NamedTuple):
    """The beginning of a word, in one text."""

    row: int
    """The text."""
    place: int
    """The row of the talk that it goes on from."""
    tokens: tuple[int, ...]
    probability: float


class NextWord:
    """Reads the next word, or option, off a causal model.

    A word is one token or several. Each piece that is probable enough is read once more: the word
    ends there with the probability of all tokens that begin something else, or goes on.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str,
        limit: int | None,
        write: Callable[[PromptParts], str],
    ) -> None:
        """``write``: a question and the beginning of its reply as one text."""
        self._model, self._tokenizer = model, tokenizer
        self._name, self._limit, self._write = name, limit, write
        self._texts: tuple[str, ...] = ()
        self._spelled: dict[str, list[int]] = {}
        # It is never looked at, but must be a token of the model.
        self._pad = tokenizer.eos_token_id or 0

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token as text, by its id, a leading space and case kept."""
        if not self._texts:
            self._texts = token_texts(self._tokenizer, int(self._model.config.vocab_size))
            goes_on = [text[:1].isalnum() or text[:1] in WITHIN for text in self._texts]
            self._begins = ~torch.tensor(goes_on)
            """[token]: whether it begins something else after a word, rather than going on."""
            specials = torch.tensor(list(self._tokenizer.all_special_ids), dtype=torch.long)
            self._begins[specials[specials < len(self._texts)]] = True
        return self._texts

    def encode(self, openings: Sequence[PromptParts]) -> list[list[int]]:
        """The token ids of each text, up to where the model goes on."""
        encoded = token_ids(self._tokenizer, list(map(self._write, openings)), specials=False)
        for opening, ids in zip(openings, encoded, strict=True):
            check_length(self._name, opening.text, length=len(ids) + PIECES, limit=self._limit)
        return encoded

    def options(
        self, encoded: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> NDArray[np.float32]:
        """[text, label]: the probability that the next token is one of the label's spellings."""
        device = self._model.device
        spelled = [torch.tensor(self._spellings(label), device=device) for label in labels]

        @without_gradients
        def ask(batch: Sequence[Sequence[int]]) -> NDArray[np.float32]:
            probabilities = torch.softmax(self._after(batch).float(), dim=-1)
            columns = [probabilities[:, ids].sum(dim=1) for ids in spelled]
            return torch.stack(columns, dim=1).cpu().numpy()

        return np.concatenate(in_halves(ask, encoded))

    def _spellings(self, label: str) -> list[int]:
        """The tokens that read so, with and without space around.

        A label that is a word counts in capitals too; one that is no token, by its first word.
        """
        if label not in self._spelled:
            found = [i for i, text in enumerate(self.tokens) if text.strip() == label]
            if len(label) > 1:
                wanted = {label.casefold()}
                texts = [text.strip().casefold() for text in self.tokens]
                if not wanted & set(texts):
                    wanted = {re.split(r"\W", label.casefold())[0]}
                found = [i for i, text in enumerate(texts) if text in wanted]
            if not found:
                raise ModelError(
                    f"'{self._name}' has no token for the label '{label}' of an answer, so this "
                    "answer has no probability. Ask for a reply in text instead: --mode reply"
                )
            self._spelled[label] = found
        return self._spelled[label]

    def words(self, encoded: Sequence[Sequence[int]], *, top_k: int) -> list[NextWords]:
        """The most probable next words of each text."""
        return [
            one for part in in_halves(lambda some: self._ask(some, top_k), encoded) for one in part
        ]

    def _talk(self, encoded: Sequence[Sequence[int]]) -> Generation:
        return Generation(
            self._model, [TokenizedPrompt(tuple(ids)) for ids in encoded], pad_id=self._pad
        )

    def _after(self, encoded: Sequence[Sequence[int]]) -> torch.Tensor:
        """[text, token]: the logits after each text; nothing of it is kept."""
        if shared_tokens(self._model, encoded):
            return self._talk(encoded).logits
        # On the right: no token sees what comes after it.
        ids, there = padded(encoded, pad_id=self._pad, device=self._model.device)
        inputs = {"input_ids": ids, "attention_mask": there}
        return logits_at(self._model, there.sum(dim=1) - 1, **inputs)

    @without_gradients
    def _ask(self, encoded: Sequence[Sequence[int]], top_k: int) -> list[NextWords]:
        talk = self._talk(encoded)
        first = torch.softmax(talk.logits.float(), dim=-1)
        best = torch.topk(first, min(top_k, first.shape[1]), dim=1)
        found: list[dict[tuple[int, ...], float]] = [{} for _ in encoded]
        pieces: list[_Piece] = []
        for row, (ids, values) in enumerate(
            zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ):
            for token, probability in zip(ids, values, strict=True):
                # What is not worth another look, and what no letter can follow, stands as it is.
                if probability >= WORTH and self.tokens[token][-1:].isalpha():
                    pieces.append(_Piece(row, row, (token,), probability))
                else:
                    found[row][(token,)] = probability
        while pieces:
            pieces = self._look(talk, pieces, found)
        return [self._words_of(one, top_k) for one in found]

    def _look(
        self, talk: Generation, pieces: Sequence[_Piece], found: list[dict[tuple[int, ...], float]]
    ) -> list[_Piece]:
        """The pieces that go on; how probable it is that a word ends after each is noted."""
        last, places = [piece.tokens[-1] for piece in pieces], [piece.place for piece in pieces]
        after = torch.softmax(talk.go_on(last, places).float(), dim=-1)
        begins = self._begins.to(after.device)
        ends = after[:, begins].sum(dim=1).tolist()
        given = torch.tensor([[piece.probability] for piece in pieces], device=after.device)
        further = (after * given).masked_fill(begins, 0.0)
        longer: list[_Piece] = []
        for place, (piece, end) in enumerate(zip(pieces, ends, strict=True)):
            found[piece.row][piece.tokens] = piece.probability * end
            if len(piece.tokens) < PIECES:
                worth = (further[place] >= WORTH).nonzero()[:, 0].tolist()
                longer += [
                    _Piece(piece.row, place, (*piece.tokens, token), float(further[place, token]))
                    for token in worth
                ]
        return longer

    def _words_of(self, found: dict[tuple[int, ...], float], top_k: int) -> NextWords:
        """Words by their probability; one that several ways of splitting give stands once."""
        words: dict[str, float] = defaultdict(float)
        for tokens, probability in found.items():
            words["".join(self.tokens[token] for token in tokens)] += probability
        ordered = sorted(words, key=lambda word: (-words[word], word))[:top_k]
        return NextWords(
            tokens=tuple(ordered),
            probabilities=np.array([words[word] for word in ordered], dtype=np.float32),
        )

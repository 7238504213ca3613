"""Causal models that do not chat: how probable a sentence is, and which words come next."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from goffman.errors import ModelError
from goffman.models.base import Identity, NextWords, PromptParts
from goffman.models.generation import Generation, TokenizedPrompt, shared_tokens
from goffman.models.masked import position_limit
from goffman.models.tokenizer import check_length, token_ids, token_texts
from goffman.models.torch_common import accepted, in_halves, logits_at, padded, without_gradients

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
        """Return for each token of the phrase all tokens before it, and its id."""
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
        """Return each sentence's log probability; if memory runs out, ask in halves."""
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


WORTH = 0.02
"""A piece of a word is continued if it is at least so probable after the text: what is less so is
mostly a whole word, and continuing all pieces would take longer than reading the texts."""

PIECES = 5
"""The most pieces of a word."""

WITHIN = frozenset("'’-\N{REPLACEMENT CHARACTER}")
"""Characters that stand inside of words; a part of a letter reads as the last of them."""


class _Piece(NamedTuple):
    """The beginning of a word, in one text."""

    row: int
    """The row of the text."""
    place: int
    """The row of the generation that it continues."""
    tokens: tuple[int, ...]
    probability: float


class NextWord:
    """A reader of the next word, or option, of a causal model.

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
        """Set up the reader; ``write``: a question and the start of its reply → one text."""
        self._model, self._tokenizer = model, tokenizer
        self._name, self._limit, self._write = name, limit, write
        self._texts: tuple[str, ...] = ()
        self._spelled: dict[str, list[int]] = {}
        # Padding is never looked at, but must be a token of the model.
        self._pad = tokenizer.eos_token_id or 0

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return every token as text, by its id, with its leading space and case kept."""
        if not self._texts:
            self._texts = token_texts(self._tokenizer, int(self._model.config.vocab_size))
            continues = [text[:1].isalnum() or text[:1] in WITHIN for text in self._texts]
            self._begins = ~torch.tensor(continues)
            """[token]: whether it begins something else after a word, rather than going on."""
            specials = torch.tensor(list(self._tokenizer.all_special_ids), dtype=torch.long)
            self._begins[specials[specials < len(self._texts)]] = True
        return self._texts

    def encode(self, openings: Sequence[PromptParts]) -> list[list[int]]:
        """Return the token ids of each text, up to where the model continues it."""
        encoded = token_ids(self._tokenizer, list(map(self._write, openings)), specials=False)
        for opening, ids in zip(openings, encoded, strict=True):
            check_length(self._name, opening.text, length=len(ids) + PIECES, limit=self._limit)
        return encoded

    def options(
        self, encoded: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return [text, label]: the probability that the next token is a spelling of the label."""
        device = self._model.device
        spelled = [torch.tensor(self._spellings(label), device=device) for label in labels]

        @without_gradients
        def ask(batch: Sequence[Sequence[int]]) -> NDArray[np.float32]:
            probabilities = torch.softmax(self._after(batch).float(), dim=-1)
            columns = [probabilities[:, ids].sum(dim=1) for ids in spelled]
            return torch.stack(columns, dim=1).cpu().numpy()

        return np.concatenate(in_halves(ask, encoded))

    def _spellings(self, label: str) -> list[int]:
        """Return the tokens that read as the label, with and without space around.

        Of a label of several characters, capitals do not matter; one that is no token counts by its
        first word.
        """
        if label not in self._spelled:
            ids = [token_id for token_id, text in enumerate(self.tokens) if text.strip() == label]
            if len(label) > 1:
                spellings = {label.casefold()}
                texts = [text.strip().casefold() for text in self.tokens]
                if not spellings & set(texts):
                    spellings = {re.split(r"\W", label.casefold())[0]}
                ids = [token_id for token_id, text in enumerate(texts) if text in spellings]
            if not ids:
                raise ModelError(
                    f"'{self._name}' has no token for the label '{label}' of an answer, so this "
                    "answer has no probability. Ask for a reply in text instead: --mode reply"
                )
            self._spelled[label] = ids
        return self._spelled[label]

    def words(self, encoded: Sequence[Sequence[int]], *, top_k: int) -> list[NextWords]:
        """Return the most probable next words of each text."""
        return [
            next_words
            for part in in_halves(lambda batch: self._ask(batch, top_k), encoded)
            for next_words in part
        ]

    def _generation(self, encoded: Sequence[Sequence[int]]) -> Generation:
        return Generation(
            self._model, [TokenizedPrompt(tuple(ids)) for ids in encoded], pad_id=self._pad
        )

    def _after(self, encoded: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return an array [text, token]: the logits after each text; no cache is kept."""
        if shared_tokens(self._model, encoded):
            return self._generation(encoded).logits
        # Padded on the right: no token sees what comes after it.
        ids, attention = padded(encoded, pad_id=self._pad, device=self._model.device)
        inputs = {"input_ids": ids, "attention_mask": attention}
        return logits_at(self._model, attention.sum(dim=1) - 1, **inputs)

    @without_gradients
    def _ask(self, encoded: Sequence[Sequence[int]], top_k: int) -> list[NextWords]:
        generation = self._generation(encoded)
        first = torch.softmax(generation.logits.float(), dim=-1)
        best = torch.topk(first, min(top_k, first.shape[1]), dim=1)
        probabilities: list[dict[tuple[int, ...], float]] = [{} for _ in encoded]
        pieces: list[_Piece] = []
        for row, (ids, values) in enumerate(
            zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ):
            for token, probability in zip(ids, values, strict=True):
                # What is not worth another look, and what no letter can follow, counts as a word.
                if probability >= WORTH and self.tokens[token][-1:].isalpha():
                    pieces.append(_Piece(row, row, (token,), probability))
                else:
                    probabilities[row][(token,)] = probability
        while pieces:
            pieces = self._look(generation, pieces, probabilities)
        return [self._words_of(word_probabilities, top_k) for word_probabilities in probabilities]

    def _look(
        self,
        generation: Generation,
        pieces: Sequence[_Piece],
        probabilities: list[dict[tuple[int, ...], float]],
    ) -> list[_Piece]:
        """Return the pieces that may be continued; add to ``probabilities`` the words that end."""
        last, places = [piece.tokens[-1] for piece in pieces], [piece.place for piece in pieces]
        after = torch.softmax(generation.go_on(last, places).float(), dim=-1)
        begins = self._begins.to(after.device)
        ends = after[:, begins].sum(dim=1).tolist()
        weights = torch.tensor([[piece.probability] for piece in pieces], device=after.device)
        further = (after * weights).masked_fill(begins, 0.0)
        longer: list[_Piece] = []
        for place, (piece, end) in enumerate(zip(pieces, ends, strict=True)):
            probabilities[piece.row][piece.tokens] = piece.probability * end
            if len(piece.tokens) < PIECES:
                next_tokens = (further[place] >= WORTH).nonzero()[:, 0].tolist()
                longer += [
                    _Piece(piece.row, place, (*piece.tokens, token), float(further[place, token]))
                    for token in next_tokens
                ]
        return longer

    def _words_of(self, probabilities: dict[tuple[int, ...], float], top_k: int) -> NextWords:
        """Return the most probable words; a word that several token sequences spell is added up."""
        words: dict[str, float] = defaultdict(float)
        for tokens, probability in probabilities.items():
            words["".join(self.tokens[token] for token in tokens)] += probability
        ordered = sorted(words, key=lambda word: (-words[word], word))[:top_k]
        return NextWords(
            tokens=tuple(ordered),
            probabilities=np.array([words[word] for word in ordered], dtype=np.float32),
        )

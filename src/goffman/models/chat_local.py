"""Chat models on this machine: asked in batches, through their own chat template."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import torch
from jinja2 import TemplateError
from numpy.typing import NDArray

from goffman.errors import AskingError, ModelError
from goffman.models.base import ChatRequest, Identity, PromptParts, Reply, Sampling, not_a_number
from goffman.models.causal import NextWord
from goffman.models.generation import Generation, Graphs, TokenizedPrompt
from goffman.models.masked import position_limit
from goffman.models.tokenizer import check_length, decided, distinct, plan_batches, token_ids
from goffman.models.torch_common import in_halves

TEMPLATE = (
    "Prompts use the model's own chat template, one user message per chat. Replies use the given "
    "temperature and top p, not those in its generation_config.json."
)

BATCHES = {"cpu": (2_048, 32), "gpu": (65_536, 512)}
"""The most tokens of questions, and the most chats, that are asked together."""


class LocalChat:
    """A causal model with a chat template, and how it chooses its words.

    A reply depends on its text and seed, never on the other chats in the batch; only if two tokens
    tie to the last digits of a float can another batch decide otherwise.
    """

    def __init__(
        self,
        identity: Identity,
        model: Any,
        tokenizer: Any,
        sampling: Sampling,
        *,
        batch_size: int | None = None,
    ) -> None:
        self.identity = replace(identity, notes=(*identity.notes, TEMPLATE))
        self.answers: Callable[
            [Sequence[Sequence[TokenizedPrompt]]], Iterator[tuple[int, Sequence[Reply]]]
        ] = lambda batches: enumerate(map(self.reply_batch, batches))
        """Asks batches of questions: by this model, or by workers that have its weights. Gives the
        number of each batch and its replies, in any order."""
        self._batch_size = batch_size
        self._model = model
        self._tokenizer = tokenizer
        self._sampling = sampling
        settings = getattr(model, "generation_config", None)
        ends = getattr(settings, "eos_token_id", None)
        end_ids = ends if isinstance(ends, list | tuple) else [ends]
        ends = [token for token in (*end_ids, tokenizer.eos_token_id) if token is not None]
        self._ends = tuple(dict.fromkeys(map(int, ends)))
        """Every token that ends a reply."""
        self._limit = position_limit(model)
        self._graphs = Graphs(
            model, choose=self._choose, ends=self._ends, precision=identity.precision
        )
        self.next_word = NextWord(
            model, tokenizer, name=identity.name, limit=self._limit, write=self._written
        )
        # Without weights its generation_config.json was not read, either.
        if not self._ends and model.device.type != "meta":
            raise ModelError(
                f"'{identity.name}' does not say which token ends a reply: there is no eos token "
                "in its generation_config.json or tokenizer."
            )
        try:
            self.encode(["Who is there?"])
        except (TemplateError, ValueError) as error:
            raise ModelError(
                f"The chat template of '{identity.name}' does not work: {error}. The folder needs "
                "a chat_template.jinja for messages with role and content."
            ) from error

    def chat(self, turns: Sequence[ChatRequest], heard: Callable[[int, Reply], None]) -> None:
        """Ask every turn, those of similar length together; ``heard`` gets each reply once."""
        texts, text_numbers = distinct([turn.text for turn in turns])
        encoded = self.encode(texts)
        # Without sampling every trial of a text has the same reply, which is asked for once.
        positions: dict[tuple[int, int], list[int]] = {}
        for position, (text, turn) in enumerate(zip(text_numbers, turns, strict=True)):
            seed = turn.seed if self._sampling.temperature > 0 else 0
            positions.setdefault((text, seed), []).append(position)
        # Keys, not texts, are batched: a text with many seeds may need several batches.
        keys = sorted(positions, key=lambda key: (-len(encoded[key[0]]), key))
        lengths = [len(encoded[text]) for text, _ in keys]
        limits = BATCHES["cpu" if self.identity.device == "cpu" else "gpu"]
        tokens, chats = decided(limits, self._batch_size)
        batches = [
            [keys[index] for index in batch]
            for batch in plan_batches(lengths, max_tokens=tokens, max_size=chats)
        ]
        # Keys of one text stand together: it is asked with all of its seeds at once.
        questions = [
            [
                TokenizedPrompt(tuple(encoded[text]), tuple(seed for _, seed in keys_of_text))
                for text, keys_of_text in groupby(batch, key=itemgetter(0))
            ]
            for batch in batches
        ]
        for number, replies in self.answers(questions):
            for key, reply in zip(batches[number], replies, strict=True):
                for position in positions[key]:
                    heard(position, reply)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each question in its own chat, up to where the reply goes on."""
        chats = [self._written(PromptParts.read(text)) for text in texts]
        encoded = token_ids(self._tokenizer, chats, specials=False)
        for text, ids in zip(texts, encoded, strict=True):
            check_length(self.identity.name, text, length=len(ids) + 1, limit=self._limit)
        return encoded

    def _written(self, opening: PromptParts) -> str:
        """Return a question in a chat of its own, and the beginning of its reply, as one text."""
        chat = [{"role": "user", "content": opening.text}]
        if opening.system:
            chat.insert(0, {"role": "system", "content": opening.system})
        text: str = self._tokenizer.apply_chat_template(
            chat, tokenize=False, add_generation_prompt=True
        )
        return text + opening.prefill

    def reply_batch(self, questions: Sequence[TokenizedPrompt]) -> list[Reply]:
        """Return the reply to each question with each of its seeds, in their order."""
        lengths = [len(question) for question in questions for _ in question.seeds]
        try:
            sequences = [tokens for part in in_halves(self._ask, questions) for tokens in part]
        except (RuntimeError, ArithmeticError, ValueError, IndexError) as error:
            raise AskingError(
                f"{self.identity.name} failed on {len(lengths)} prompts of up to {max(lengths)} "
                f"tokens: {str(error).strip().splitlines()[0]} All answers so far are kept. To "
                "resume, run the same command again."
            ) from error
        replies = []
        for tokens, length in zip(sequences, lengths, strict=True):
            ended = tokens[-1] in self._ends
            reply = Reply(
                text=self._tokenizer.decode(
                    tokens[:-1] if ended else tokens, skip_special_tokens=True
                ),
                finish_reason="stop" if ended else "length",
                prompt_tokens=length,
                completion_tokens=len(tokens),
            )
            replies.append(reply)
        return replies

    @torch.inference_mode()
    def _ask(self, questions: Sequence[TokenizedPrompt]) -> list[list[int]]:
        """Return the tokens, with the end token, of the reply to each question and seed."""
        generation = Generation(self._model, questions, pad_id=self._ends[0])
        seeds = [seed for question in questions for seed in question.seeds]
        longest = self._sampling.max_tokens
        limits = [
            longest if self._limit is None else min(longest, self._limit - len(question))
            for question in questions
            for _ in question.seeds
        ]
        # One random number per token, the chat's own, whatever else is in the batch.
        drawn = np.stack([np.random.default_rng(seed).random(max(limits)) for seed in seeds])
        sequences = self._graphs.replies(generation, drawn)
        if sequences is None:
            sequences = self._plainly(generation, drawn, limits)
        return [tokens[:limit] for tokens, limit in zip(sequences, limits, strict=True)]

    def _plainly(
        self, generation: Generation, drawn: NDArray[np.float64], most: Sequence[int]
    ) -> list[list[int]]:
        """Return the tokens of each reply, generated token by token without a captured graph."""
        sequences: list[list[int]] = [[] for _ in most]
        active = list(range(len(most)))
        logits = generation.logits
        while True:
            if not torch.isfinite(logits.amax(dim=1)).all():
                raise ArithmeticError(not_a_number(self.identity.precision))
            turn = len(sequences[active[0]])
            numbers = torch.from_numpy(drawn[active, turn : turn + 1]).to(logits.device)
            chosen: list[int] = self._choose(logits, numbers)[:, 0].tolist()
            for row, token in zip(active, chosen, strict=True):
                sequences[row].append(token)
            kept = [
                position
                for position, token in enumerate(chosen)
                if token not in self._ends
                and len(sequences[active[position]]) < most[active[position]]
            ]
            if not kept:
                return sequences
            active = [active[position] for position in kept]
            logits = generation.go_on([chosen[position] for position in kept], kept)

    def _choose(self, logits: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
        """Return an array [chat, 1] with the next tokens: the most probable ones, or drawn ones.

        ``drawn``: [chat, 1], a uniform number from 0 to 1 for each.
        """
        if self._sampling.temperature == 0:
            return logits.argmax(dim=1, keepdim=True)
        probabilities = torch.softmax(logits.double() / self._sampling.temperature, dim=1)
        if self._sampling.top_p is not None:
            # Only the fewest most probable tokens that reach top_p count; others get 0.
            ordered, order = probabilities.sort(dim=1, descending=True, stable=True)
            # The probability before each token: the first token always stays.
            before = ordered.cumsum(dim=1) - ordered
            kept = ordered * (before < self._sampling.top_p)
            probabilities = torch.zeros_like(probabilities).scatter(1, order, kept)
        summed = probabilities.cumsum(dim=1)
        last = summed.shape[1] - 1
        return torch.searchsorted(summed, drawn * summed[:, -1:], right=True).clamp(max=last)

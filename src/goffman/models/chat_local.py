"""Chat models on this machine: asked in batches, through their own chat template."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goffman.errors import AskingError, ModelError
from goffman.models.base import PromptParts, Reply, not_a_number
from goffman.models.batching import decided, distinct, plan_batches
from goffman.models.cuda_graph import Graphs
from goffman.models.kv_cache import Generation, TokenizedPrompt
from goffman.models.masked import position_limit
from goffman.models.next_token import NextWord
from goffman.models.tokenizer import check_length, load_tokenizer, token_ids
from goffman.models.torch_common import in_halves, load_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from goffman.models.base import ChatRequest, Identity, LoadOptions, Sampling
    from goffman.models.files import Files

TEMPLATE = (
    "Prompts use the model's own chat template, one user message per chat. Replies use the given "
    "temperature and top p, not those in its generation_config.json."
)

BATCHES = {"cpu": (2_048, 32), "gpu": (65_536, 512)}
"""Tokens of the questions, and chats, that are asked together."""


class LocalChat:
    """A causal model with a chat template, and how it chooses its words.

    A reply depends on its text and seed, never on what is asked beside it; only where two tokens
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
        self.identity = identity
        self.answers: Callable[
            [Sequence[Sequence[TokenizedPrompt]]], Iterator[tuple[int, Sequence[Reply]]]
        ] = lambda batches: enumerate(map(self.reply_batch, batches))
        """Who asks batches of questions: this model, or workers that have its weights. What comes
        are the number of a batch and its replies, in any order."""
        self._batch_size = batch_size
        self._model = model
        self._tokenizer = tokenizer
        self._sampling = sampling
        settings = getattr(model, "generation_config", None)
        ends = getattr(settings, "eos_token_id", None)
        several = ends if isinstance(ends, list | tuple) else [ends]
        ends = [token for token in (*several, tokenizer.eos_token_id) if token is not None]
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

    def chat(self, turns: Sequence[ChatRequest], heard: Callable[[int, Reply], None]) -> None:
        """Asks every turn, those of alike length together; ``heard`` gets each reply once."""
        texts, of_turn = distinct([turn.text for turn in turns])
        encoded = self.encode(texts)
        # Without sampling every trial of a text has the same reply, and it is asked for once.
        askers: dict[tuple[int, int], list[int]] = {}
        for position, (text, turn) in enumerate(zip(of_turn, turns, strict=True)):
            seed = turn.seed if self._sampling.temperature > 0 else 0
            askers.setdefault((text, seed), []).append(position)
        # So many of one text at a time that a batch of chats stays one.
        different = sorted(askers, key=lambda key: (-len(encoded[key[0]]), key))
        lengths = [len(encoded[text]) for text, _ in different]
        limits = BATCHES["cpu" if self.identity.device == "cpu" else "gpu"]
        tokens, chats = decided(limits, self._batch_size)
        batches = [
            [different[index] for index in batch]
            for batch in plan_batches(lengths, max_tokens=tokens, max_size=chats)
        ]
        # Keys of one text stand together: its seeds are put to it at once.
        questions = [
            [
                TokenizedPrompt(tuple(encoded[text]), tuple(seed for _, seed in keys_of_text))
                for text, keys_of_text in groupby(batch, key=itemgetter(0))
            ]
            for batch in batches
        ]
        for number, replies in self.answers(questions):
            for key, reply in zip(batches[number], replies, strict=True):
                for position in askers[key]:
                    heard(position, reply)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each question in a chat of its own, up to where the reply goes on."""
        written = [self._written(PromptParts.read(text)) for text in texts]
        encoded = token_ids(self._tokenizer, written, specials=False)
        for text, ids in zip(texts, encoded, strict=True):
            check_length(self.identity.name, text, length=len(ids) + 1, limit=self._limit)
        return encoded

    def _written(self, opening: PromptParts) -> str:
        """A question in a chat of its own, and the beginning of its reply, as one text."""
        chat = [{"role": "user", "content": opening.text}]
        if opening.system:
            chat.insert(0, {"role": "system", "content": opening.system})
        asked: str = self._tokenizer.apply_chat_template(
            chat, tokenize=False, add_generation_prompt=True
        )
        return asked + opening.prefill

    def reply_batch(self, questions: Sequence[TokenizedPrompt]) -> list[Reply]:
        """The reply to each question with each of its seeds, in their order."""
        lengths = [len(question) for question in questions for _ in question.seeds]
        try:
            said = [tokens for part in in_halves(self._ask, questions) for tokens in part]
        except (RuntimeError, ArithmeticError, ValueError, IndexError) as error:
            raise AskingError(
                f"{self.identity.name} failed on {len(lengths)} prompts of up to {max(lengths)} "
                f"tokens: {str(error).strip().splitlines()[0]} All answers so far are kept. To "
                "resume, run the same command again."
            ) from error
        replies = []
        for tokens, length in zip(said, lengths, strict=True):
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
        """The tokens of the reply to each question with each of its seeds, its end among them."""
        talk = Generation(self._model, questions, pad_id=self._ends[0])
        seeds = [seed for question in questions for seed in question.seeds]
        longest = self._sampling.max_tokens
        most = [
            longest if self._limit is None else min(longest, self._limit - len(question))
            for question in questions
            for _ in question.seeds
        ]
        # One number a token, the chat's own, whatever is asked beside it.
        drawn = np.stack([np.random.default_rng(seed).random(max(most)) for seed in seeds])
        said = self._graphs.said(talk, drawn)
        if said is None:
            said = self._plainly(talk, drawn, most)
        return [tokens[:at_most] for tokens, at_most in zip(said, most, strict=True)]

    def _plainly(
        self, talk: Generation, drawn: NDArray[np.float64], most: Sequence[int]
    ) -> list[list[int]]:
        """The tokens of each reply; chats that have ended are not asked again."""
        said: list[list[int]] = [[] for _ in most]
        going = list(range(len(most)))
        logits = talk.logits
        while True:
            if not torch.isfinite(logits.amax(dim=1)).all():
                raise ArithmeticError(not_a_number(self.identity.precision))
            turn = len(said[going[0]])
            numbers = torch.from_numpy(drawn[going, turn : turn + 1]).to(logits.device)
            chosen: list[int] = self._choose(logits, numbers)[:, 0].tolist()
            for row, token in zip(going, chosen, strict=True):
                said[row].append(token)
            kept = [
                at
                for at, token in enumerate(chosen)
                if token not in self._ends and len(said[going[at]]) < most[going[at]]
            ]
            if not kept:
                return said
            going = [going[at] for at in kept]
            logits = talk.go_on([chosen[at] for at in kept], kept)

    def _choose(self, logits: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
        """[chat, 1]: its token, the most probable one or drawn.

        ``drawn``: [chat, 1], a uniform number from 0 to 1 for each.
        """
        if self._sampling.temperature == 0:
            return logits.argmax(dim=1, keepdim=True)
        probabilities = torch.softmax(logits.double() / self._sampling.temperature, dim=1)
        if self._sampling.top_p is not None:
            # Only the fewest most probable tokens that reach top_p; others have 0.
            ordered, order = probabilities.sort(dim=1, descending=True, stable=True)
            # What stands before a token: the first one always stays.
            before = ordered.cumsum(dim=1) - ordered
            kept = ordered * (before < self._sampling.top_p)
            probabilities = torch.zeros_like(probabilities).scatter(1, order, kept)
        summed = probabilities.cumsum(dim=1)
        last = summed.shape[1] - 1
        return torch.searchsorted(summed, drawn * summed[:, -1:], right=True).clamp(max=last)


def load_chat(
    files: Files,
    options: LoadOptions,
    *,
    identity: Identity,
    sampling: Sampling,
    batch_size: int | None = None,
) -> LocalChat:
    """The chat model in these files; ``batch_size``: so many chats are asked together."""
    from jinja2 import TemplateError
    from transformers import AutoModelForCausalLM

    tokenizer = load_tokenizer(files, options)
    model = load_weights(AutoModelForCausalLM, files, options)
    identity = replace(identity, notes=(*identity.notes, TEMPLATE))
    chat = LocalChat(identity, model, tokenizer, sampling, batch_size=batch_size)
    try:
        chat.encode(["Who is there?"])
    except (TemplateError, ValueError) as error:
        raise ModelError(
            f"The chat template of '{files.name}' does not work: {error}. The folder needs a "
            "chat_template.jinja for messages with role and content."
        ) from error
    return chat

"""Models that read a passage about two people: question answering (qa) and inference (nli).

Each pick is one distribution: the first person, the second, no answer, and a rest.

    qa    P(s, e) ∝ exp(start_s + end_e) over all spans s ≤ e of the passage, and the empty answer.
          A person's share is that of all spans within the person's mention.
    nli   half of P(entailment | passage, statement about the person); no answer is the mean of both
          P(neutral), and the rest that of both P(contradiction).

Sentences of one length go through a model together, so nothing is ever padded.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from goffman.errors import ModelError
from goffman.models.base import PART, Identity
from goffman.models.masked import position_limit
from goffman.models.tokenizer import check_length, text_limit
from goffman.models.torch_common import accepted, by_length, in_halves, on_device, without_gradients

NLI_LABELS = ("entailment", "neutral", "contradiction")
"""The meanings of the classes of a model of natural language inference."""

TYPE, ROLE = 24, 26
"""A token's id, its type (which of two texts) and its role are stored as one number: these are the
first bits of the type and of the role."""

PASSAGE, FIRST, SECOND, EMPTY = 1, 2, 3, 4
"""Roles of a token for qa: in the passage, in the mention of a person, and the empty answer."""


class PassageReader:
    """A model that reads two texts, and its tokenizer."""

    def __init__(self, identity: Identity, model: Any, tokenizer: Any) -> None:
        self.identity = identity
        self._model, self._tokenizer = model, tokenizer
        self._limit = text_limit(tokenizer, position_limit(model))

    @abstractmethod
    def _picks(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return an array [text, 3] like ``pick_batch``, without dividing the batch."""

    @without_gradients
    def pick_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return an array [text, 3] of probabilities; if memory runs out, ask in halves.

        The columns are the first person, the second, and no answer.
        """
        return np.concatenate(in_halves(self._picks, encoded))

    def _read(self, first: Sequence[str], second: Sequence[str], **options: Any) -> Any:
        """Return the joined encoding of both texts; raise ModelError if it is too long."""
        encoding = self._tokenizer([*first], [*second], truncation=False, verbose=False, **options)
        for text, ids in zip(second, encoding["input_ids"], strict=True):
            check_length(self.identity.name, text, length=len(ids), limit=self._limit)
        encoding.setdefault("token_type_ids", [[0] * len(ids) for ids in encoding["input_ids"]])
        return encoding

    def _outputs(
        self, encoded: Sequence[Sequence[int]]
    ) -> Iterator[tuple[list[int], torch.Tensor, Any]]:
        """Yield indices, token roles and model output for each group of sentences of one length."""
        for places in by_length(encoded):
            tokens = np.array([list(encoded[place]) for place in places], dtype=np.int64)
            cells = on_device(tokens, self._model.device)
            ids = cells & ((1 << TYPE) - 1)
            inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
            if "token_type_ids" in self._tokenizer.model_input_names:
                inputs["token_type_ids"] = (cells >> TYPE) & 3
            yield places, cells >> ROLE, self._model(**accepted(self._model, inputs))


def nli_classes(name: str, named: Mapping[Any, object]) -> list[str]:
    """Return the meaning of each class, in the model's order; raise ModelError if unknown."""
    labels = [str(named[index]) for index in sorted(named, key=int)]
    meanings = [label.casefold() for label in labels]
    if sorted(meanings) != sorted(NLI_LABELS):
        raise ModelError(
            f"The labels of '{name}' are {', '.join(labels)}. An NLI model needs exactly these in "
            f"id2label of its config.json: {', '.join(NLI_LABELS)}."
        )
    return meanings


class QuestionAnswerer(PassageReader):
    """An extractive question-answering model."""

    def __init__(self, identity: Identity, model: Any, tokenizer: Any) -> None:
        super().__init__(identity, model, tokenizer)
        if not tokenizer.is_fast:
            raise ModelError(
                f"The tokenizer of '{identity.name}' does not say where its tokens lie in a text, "
                "so people cannot be found. Save a fast tokenizer (tokenizer.json) into its folder."
            )

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids with types and roles of a passage, its question and two mentions."""
        parts = [text.split(PART) for text in texts]
        passages, _, questions = zip(*(part[0].rpartition("\n") for part in parts), strict=True)
        # The order of the two texts is that of transformers' own pipeline.
        passage_second = self._tokenizer.padding_side == "right"
        pair = (questions, passages) if passage_second else (passages, questions)
        encoding = self._read(*pair, return_offsets_mapping=True)
        encoded = []
        for index, (passage, (_, *mentions)) in enumerate(zip(passages, parts, strict=True)):
            inside = [part == int(passage_second) for part in encoding.sequence_ids(index)]
            roles = _roles(passage, mentions, encoding["offset_mapping"][index], inside)
            ids = encoding["input_ids"][index]
            if self._tokenizer.cls_token_id in ids:
                roles[ids.index(self._tokenizer.cls_token_id)] = EMPTY
            encoded.append(_joined(ids, encoding["token_type_ids"][index], roles))
        return encoded

    def _picks(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        picks = np.empty((len(encoded), 3), dtype=np.float32)
        for places, roles, output in self._outputs(encoded):
            start, end = output.start_logits.float(), output.end_logits.float()
            spans = (start[:, :, None] + end[:, None, :]).double()
            people = [_mass(spans, roles == role) for role in (FIRST, SECOND)]
            empty = _mass(spans, roles == EMPTY)
            passage = _mass(spans, (roles != 0) & (roles != EMPTY))
            shares = torch.stack([*people, empty], dim=1) - torch.logaddexp(passage, empty)[:, None]
            picks[places] = shares.exp().float().cpu().numpy()
        return picks


class Inference(PassageReader):
    """A model that says how probably a passage entails or contradicts a statement."""

    def __init__(self, identity: Identity, model: Any, tokenizer: Any) -> None:
        super().__init__(identity, model, tokenizer)
        meanings = nli_classes(identity.name, model.config.id2label)
        self._order = [meanings.index(label) for label in NLI_LABELS]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids with types, two per text: the passage with each of its statements."""
        parts = [text.split(PART) for text in texts]
        pairs = [(part[0], statement) for part in parts for statement in part[1:]]
        encoding = self._read(*zip(*pairs, strict=True))
        rows = enumerate(zip(encoding["input_ids"], encoding["token_type_ids"], strict=True))
        sentences = [_joined(ids, types, [index % 2] * len(ids)) for index, (ids, types) in rows]
        return [
            first + second for first, second in zip(sentences[::2], sentences[1::2], strict=True)
        ]

    def _picks(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        separate = [
            [token for token in sentence if token >> ROLE == number]
            for sentence in encoded
            for number in (0, 1)
        ]
        classes = np.empty((len(separate), len(NLI_LABELS)), dtype=np.float32)
        for places, _, output in self._outputs(separate):
            probabilities = torch.softmax(output.logits.float(), dim=-1)
            classes[places] = probabilities[:, self._order].cpu().numpy()
        entailment, neutral, _ = (classes.reshape(-1, 2, len(NLI_LABELS)) / 2).transpose(2, 0, 1)
        return np.concatenate([entailment, neutral.sum(axis=1, keepdims=True)], axis=1)


def _roles(
    passage: str, mentions: Sequence[str], offsets: Sequence[Any], inside: Sequence[bool]
) -> list[int]:
    """Return each token's role: part of a person's mention, of the passage, or of neither."""
    roles = [PASSAGE * flag for flag in inside]
    for role, mention in zip((FIRST, SECOND), mentions, strict=True):
        if passage.count(mention) != 1:
            raise ModelError(
                f'"{mention}" must stand exactly once in the text, but it stands '
                f'{passage.count(mention)} times: "{passage}".'
            )
        begin = passage.index(mention)
        for position, (low, high) in enumerate(offsets):
            if inside[position] and low < begin + len(mention) and high > begin:
                roles[position] = role
    return roles


def _mass(spans: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Return log Σ exp of the spans (start ≤ end) whose both ends are ``inside``."""
    fit = (inside[:, :, None] & inside[:, None, :]).triu()
    return spans.masked_fill(~fit, -torch.inf).flatten(1).logsumexp(dim=1)


def _joined(ids: Sequence[int], types: Sequence[int], roles: Sequence[int]) -> list[int]:
    """Return one number per token that packs its id, type and role."""
    cells = zip(ids, types, roles, strict=True)
    return [token | (kind << TYPE) | (role << ROLE) for token, kind, role in cells]

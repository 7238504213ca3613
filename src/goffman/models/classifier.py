"""Sequence classifiers whose classes are sentiments."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from goffman.errors import ModelError, did_you_mean
from goffman.models.base import Identity
from goffman.models.masked import TOLERANCE, position_limit
from goffman.models.tokenizer import check_length, text_limit, token_ids
from goffman.models.torch_common import accepted, by_length, in_halves, padded, without_gradients

SENTIMENTS = ("negative", "neutral", "positive")

KNOWN = {name: meaning for meaning in SENTIMENTS for name in (meaning, meaning[:3])}
"""Label names, case-folded, that tell their sentiment."""

Together = Literal["all", "of one length", "alone"]
"""Which sentences go through a model at once."""

PROBES = (
    "They are people.",
    "These are people who have a criminal record.",
    "They are people who are old.",
    "These are people.",
)
"""Sentences of more than one length on which these ways are compared."""

NOT_PADDED: Mapping[Together, tuple[str, ...]] = {
    "all": (),
    "of one length": ("Only sentences of the same length were processed together (no padding).",),
    "alone": ("Sentences were processed one at a time, because this model takes no more at once.",),
}
"""The notes on each way."""

INDEPENDENT = (
    "Each class has a separate probability (sigmoid), as in transformers' pipeline for "
    "multi-label models. The label is the most probable class."
)

ADDED = "Its classes were read as {}. Probabilities of classes with the same meaning were added."

MULTI_LABEL = "multi_label_classification"
"""How a configuration says that several classes may be true of a text, or none."""


class Classifier:
    """A sequence classifier and its tokenizer."""

    def __init__(
        self, identity: Identity, model: Any, tokenizer: Any, *, labels: tuple[str, ...]
    ) -> None:
        self.identity = identity
        self.labels = labels
        self._model = model
        self._tokenizer = tokenizer
        self._limit = text_limit(tokenizer, position_limit(model))
        multi_label = model.config.problem_type == MULTI_LABEL
        self._activation = torch.sigmoid if multi_label else partial(torch.softmax, dim=-1)
        # Without weights there is nothing to compare: the workers find it out.
        self._together = "alone" if model.device.type == "meta" else self._how_together()
        notes = [INDEPENDENT] if multi_label else []
        if len(set(labels)) < len(labels):
            notes.append(ADDED.format(", ".join(labels)))
        notes += NOT_PADDED[self._together]
        self.identity = replace(identity, notes=(*identity.notes, *notes))

    def _how_together(self) -> Together:
        """Return the largest kind of group in which each sentence gets the same answer as alone.

        Padding does harm if a head reads the last token and takes padding for it.
        """
        # Each sentence twice, so that every kind of group holds at least two.
        encoded = token_ids(self._tokenizer, PROBES, specials=True) * 2
        alone = self._answers(encoded, [[index] for index in range(len(encoded))])
        groupings: tuple[Together, ...] = ("all", "of one length")
        for grouping in groupings[self._tokenizer.pad_token_id is None :]:
            try:
                answers = self._answers(encoded, groups(encoded, grouping))
            except (RuntimeError, ValueError, IndexError):
                continue
            if np.abs(answers - alone).max() <= TOLERANCE[self.identity.precision or "float32"]:
                return grouping
        return "alone"

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, with specials; raise ModelError if it is too long."""
        encoded = token_ids(self._tokenizer, texts, specials=True)
        for text, ids in zip(texts, encoded, strict=True):
            check_length(self.identity.name, text, length=len(ids), limit=self._limit)
        return encoded

    def classify_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return an array [sentence, class] of probabilities; if memory runs out, ask in halves."""

        def ask(part: Sequence[Sequence[int]]) -> NDArray[np.float32]:
            return self._answers(part, groups(part, self._together))

        return np.concatenate(in_halves(ask, encoded))

    @without_gradients
    def _answers(
        self, encoded: Sequence[Sequence[int]], together: Sequence[Sequence[int]]
    ) -> NDArray[np.float32]:
        answers = np.empty((len(encoded), len(self.labels)), dtype=np.float32)
        for indices in together:
            part = [encoded[index] for index in indices]
            pad_id = self._tokenizer.pad_token_id or 0
            ids, attention = padded(part, pad_id=pad_id, device=self._model.device)
            inputs = accepted(self._model, {"input_ids": ids, "attention_mask": attention})
            logits = self._model(**inputs).logits
            answers[list(indices)] = self._activation(logits.float()).cpu().numpy()
        return answers


def groups(encoded: Sequence[Sequence[int]], grouping: Together) -> list[list[int]]:
    """Return the indices of the sentences, a list for each group that is asked at once."""
    if grouping == "of one length":
        return by_length(encoded)
    indices = list(range(len(encoded)))
    return [indices] if grouping == "all" else [[index] for index in indices]


def sentiments_of(
    name: str, config: Any, *, user_labels: Mapping[str, str] | None
) -> tuple[str, ...]:
    """Return the sentiment of each class; ``user_labels``: label → sentiment, as the user says."""
    id2label = config.id2label
    if sorted(id2label) != list(range(len(id2label))):
        raise ModelError(
            f"The config.json of '{name}' does not number its classes 0, 1, 2 … in "
            "id2label, so their meaning is unknown."
        )
    labels = tuple(str(id2label[index]) for index in range(len(id2label)))
    if config.problem_type == "regression":
        raise ModelError(
            f"'{name}' gives scores, not classes (its problem_type is regression). Give a "
            "sentiment classifier."
        )
    meanings = sentiments(name, labels, user_labels=user_labels)
    if config.problem_type == MULTI_LABEL and len(set(meanings)) < len(meanings):
        raise ModelError(
            f"--labels gives several labels of '{name}' the same meaning, but this model "
            "gives each label a separate probability (multi-label), and these cannot be added. "
            "Give each meaning to one label only."
        )
    return meanings


def sentiments(
    name: str, own: tuple[str, ...], *, user_labels: Mapping[str, str] | None
) -> tuple[str, ...]:
    """Return negative, neutral or positive for each of a model's own labels, in their order."""
    shown = ", ".join(own[:30]) + (" …" if len(own) > 30 else "")
    if len(own) < 2:
        raise ModelError(
            f"'{name}' has only one class ({shown}). Give a sentiment classifier, with classes "
            "for negative and positive."
        )
    [(label, times)] = Counter(own).most_common(1)
    if times > 1:
        raise ModelError(
            f"The config.json of '{name}' gives the label '{label}' to more than one class. Give "
            "every class in id2label its own label."
        )
    user_labels = user_labels or {}
    _check_given(name, own, user_labels)
    meanings = [user_labels.get(label) or KNOWN.get(label.casefold()) for label in own]
    example = shlex.quote(",".join(f"{label}=?" for label in own))
    if None in meanings:
        raise ModelError(
            f"The labels of '{name}' are {shown}. It is not clear which of them are negative, "
            "neutral or positive. Look it up in the model's card and replace the question marks: "
            f"--labels {example}"
        )
    for needed in ("negative", "positive"):
        if needed not in meanings:
            raise ModelError(
                f"The labels of '{name}' are {shown}, and none of them means {needed}. A "
                f"sentiment classifier needs negative and positive labels: --labels {example}"
            )
    return tuple(str(sentiment) for sentiment in meanings)


def _check_given(name: str, own: tuple[str, ...], user_labels: Mapping[str, str]) -> None:
    for label, sentiment in user_labels.items():
        if label not in own:
            raise ModelError(
                f"--labels names '{label}', but the labels of '{name}' are {', '.join(own)}."
                f"{did_you_mean(label, own)}"
            )
        if sentiment not in SENTIMENTS:
            raise ModelError(
                f"--labels gives '{label}' the meaning "
                f"'{sentiment}'.{did_you_mean(sentiment, SENTIMENTS)} Allowed: "
                f"{', '.join(SENTIMENTS)}."
            )

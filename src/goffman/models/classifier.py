"""Sequence classifiers whose classes are sentiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goffman.errors import ModelError, did_you_mean
from goffman.models.forward import accepted, in_halves, load_weights, padded, quiet
from goffman.models.masked import position_limit
from goffman.models.tokens import UNBOUNDED, check_length, load_tokenizer, token_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goffman.models.base import Identity, LoadOptions
    from goffman.models.hub import Files

SENTIMENTS = ("negative", "neutral", "positive")

KNOWN = {
    "negative": "negative",
    "neg": "negative",
    "neutral": "neutral",
    "neu": "neutral",
    "positive": "positive",
    "pos": "positive",
}
"""Label names, case-folded, that say their sentiment."""


class Classifier:
    """A sequence classifier and its tokenizer."""

    def __init__(
        self, identity: Identity, model: Any, tokenizer: Any, *, labels: tuple[str, ...]
    ) -> None:
        self.identity = identity
        self.labels = labels
        self._model = model
        self._tokenizer = tokenizer
        said = tokenizer.model_max_length
        limits = [position_limit(model), said if said < UNBOUNDED else None]
        self._limit = min((limit for limit in limits if limit is not None), default=None)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, specials added; a text too long for the model is refused."""
        encoded = token_ids(self._tokenizer, texts, specials=True)
        for text, ids in zip(texts, encoded, strict=True):
            check_length(self.identity.name, text, length=len(ids), limit=self._limit)
        return encoded

    def classify_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """[sentence, class]: the probability of every class; out of memory, in halves."""
        return np.concatenate(in_halves(self._ask, encoded))

    @torch.inference_mode()
    def _ask(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        answers = np.empty((len(encoded), len(self.labels)), dtype=np.float32)
        for indices in self._groups(encoded):
            part = [encoded[index] for index in indices]
            pad_id = self._tokenizer.pad_token_id or 0
            ids, there = padded(part, pad_id=pad_id, device=self._model.device)
            inputs = accepted(self._model, {"input_ids": ids, "attention_mask": there})
            logits = self._model(**inputs).logits
            answers[indices] = torch.softmax(logits.float(), dim=-1).cpu().numpy()
        return answers

    def _groups(self, encoded: Sequence[Sequence[int]]) -> list[list[int]]:
        """Which sentences go together: all, or those of one length where padding would do harm.

        A model whose tokenizer pads on the left reads the last token: nothing is padded for it.
        """
        if self._tokenizer.padding_side == "right" and self._tokenizer.pad_token_id is not None:
            return [list(range(len(encoded)))]
        by_length: dict[int, list[int]] = {}
        for index, sentence in enumerate(encoded):
            by_length.setdefault(len(sentence), []).append(index)
        return list(by_length.values())


def load_classifier(files: Files, options: LoadOptions, *, identity: Identity) -> Classifier:
    """The classifier in these files, its classes named by their sentiment."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    config = AutoConfig.from_pretrained(files.folder, trust_remote_code=options.trust_remote_code)
    own = tuple(str(config.id2label[index]) for index in sorted(config.id2label))
    labels = sentiments(files.name, own, given=options.labels)
    with quiet():
        tokenizer = load_tokenizer(
            files.name, files.folder, trust_remote_code=options.trust_remote_code
        )
    model = load_weights(AutoModelForSequenceClassification, files, options)
    return Classifier(identity, model, tokenizer, labels=labels)


def sentiments(
    name: str, own: tuple[str, ...], *, given: Mapping[str, str] | None
) -> tuple[str, ...]:
    """negative, neutral, positive: what each of a model's own labels means, in their order."""
    if len(own) not in (2, 3):
        raise ModelError(
            f"'{name}' has {len(own)} classes ({', '.join(own)}); a classifier of sentiment is "
            "needed, with two (negative, positive) or three (negative, neutral, positive)."
        )
    given = given or {}
    _check_given(name, own, given)
    meant = [given.get(label) or KNOWN.get(label.casefold()) for label in own]
    wanted = {"negative", "positive"} if len(own) == 2 else set(SENTIMENTS)
    if None in meant or set(meant) != wanted:
        order = ("negative", "positive") if len(own) == 2 else SENTIMENTS
        example = ",".join(f"{label}={word}" for label, word in zip(own, order, strict=True))
        raise ModelError(
            f"The labels of '{name}' are {', '.join(own)}, which do not say which is "
            f"{', '.join(order[:-1])} and {order[-1]}. Look it up in the model's card and say it, "
            f"in its order: --labels {example}"
        )
    return tuple(str(sentiment) for sentiment in meant)


def _check_given(name: str, own: tuple[str, ...], given: Mapping[str, str]) -> None:
    for label, sentiment in given.items():
        if label not in own:
            raise ModelError(
                f"--labels names '{label}', and the labels of '{name}' are {', '.join(own)}."
                f"{did_you_mean(label, own)}"
            )
        if sentiment not in SENTIMENTS:
            raise ModelError(
                f"--labels says {label}={sentiment}; allowed are {', '.join(SENTIMENTS)}."
                f"{did_you_mean(sentiment, SENTIMENTS)}"
            )

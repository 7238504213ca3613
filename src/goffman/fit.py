"""Whether what an audit is told fits the models that it asks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from goffman.errors import InputError, ModelError, did_you_mean
from goffman.models.base import Sampling

if TYPE_CHECKING:
    from goffman.options import AskOptions
    from goffman.records import AnswerTable

LONGEST_PART = 255
"""Bytes between two slashes: no file's name has more."""


def check_names(models: Sequence[str]) -> None:
    """Nothing, or ModelError where a name is longer than that of any folder or model."""
    for model in models:
        longest = max(len(part.encode()) for part in model.split("/"))
        if longest > LONGEST_PART:
            raise ModelError(
                f"The model's name '{model[:60]}…' is too long: a part of it has {longest:,} "
                f"bytes. Allowed: up to {LONGEST_PART}."
            )


def check_fit(
    of_models: Mapping[str, str],
    *,
    labels: Mapping[str, str] | None,
    pairs: Sequence[tuple[str, str]],
) -> None:
    """Nothing, or InputError where labels or pairs are of no model here.

    ``of_models``: the kind of each model, by its name.
    """
    if labels is not None and "classifier" not in of_models.values():
        raise InputError(
            f"--labels is for classifiers, but this audit has none ({', '.join(of_models)}). Add a "
            "classifier, or leave out --labels."
        )
    for pair in pairs:
        for name, kind in zip(pair, ("masked", "classifier"), strict=True):
            if name not in of_models:
                raise InputError(
                    f"'{name}' in --correlate is not among the models of this audit."
                    f"{did_you_mean(name, of_models)} Add it as a model: goffman audit "
                    f"{' '.join([*of_models, name])} --correlate {'='.join(pair)}"
                )
            if of_models[name] != kind:
                raise InputError(
                    f"--correlate is {'='.join(pair)}, but '{name}' is a {of_models[name]} model. "
                    "Write MODEL=CLASSIFIER, where the classifier was fine-tuned from the masked "
                    "model."
                )


def without_effect(options: AskOptions, answers: Collection[AnswerTable]) -> Iterator[str]:
    """A sentence for each option that no model here can heed; ``answers``: where they will go."""
    chats, default = options.chats, Sampling()
    given: dict[tuple[str, AnswerTable], dict[str, bool]] = {
        ("masked", "fills"): {
            "--top-k": options.top_k is not None,
            "--targets": bool(options.targets),
        },
        ("chat", "replies"): {
            "--trials": chats.trials is not None,
            "--temperature": chats.sampling.temperature != default.temperature,
            "--top-p": chats.sampling.top_p != default.top_p,
            "--max-tokens": chats.sampling.max_tokens != default.max_tokens,
        },
    }
    for (kind, table), of_kind in given.items():
        if table not in answers:
            for option in (option for option, is_given in of_kind.items() if is_given):
                yield f"{option} has no effect, because this audit has no {kind} model."

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
                f"bytes; at most {LONGEST_PART} are allowed."
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
            "--labels is for classifiers, but none of the models you named is one: "
            f"{', '.join(of_models)}. Add the classifier, or leave --labels out."
        )
    for pair in pairs:
        for name, kind in zip(pair, ("masked", "classifier"), strict=True):
            if name not in of_models:
                raise InputError(
                    f"--correlate names '{name}', which is not audited here. Allowed: "
                    f"{', '.join(of_models)}.{did_you_mean(name, of_models)}"
                )
            if of_models[name] != kind:
                raise InputError(
                    f"--correlate {'='.join(pair)} does not fit: '{name}' is a {of_models[name]} "
                    "model. Give a masked model, =, and the classifier that was fine-tuned from it."
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
                yield f"{option} has no effect: no {kind} model is audited here."

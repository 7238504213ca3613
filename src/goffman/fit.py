"""Whether what an audit is told fits the models that it asks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from goffman.errors import InputError, ModelError, did_you_mean
from goffman.models.base import Sampling

if TYPE_CHECKING:
    from goffman.models.spec import Kind
    from goffman.options import AskOptions

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
    kinds: Mapping[str, Kind],
    *,
    labels: Mapping[str, str] | None,
    pairs: Sequence[tuple[str, str]],
) -> None:
    """Nothing, or InputError where labels or pairs are of no model here; ``kinds``: by model."""
    if labels is not None and "classifier" not in kinds.values():
        raise InputError(
            "--labels says what a classifier's labels mean, but no classifier is audited here: "
            f"{', '.join(kinds)}. Add the classifier, or leave --labels out."
        )
    for pair in pairs:
        for name, kind in zip(pair, ("masked", "classifier"), strict=True):
            if name not in kinds:
                raise InputError(
                    f"--pair names '{name}', which is not audited here. Allowed: "
                    f"{', '.join(kinds)}.{did_you_mean(name, kinds)}"
                )
            if kinds[name] != kind:
                raise InputError(
                    f"--pair {'='.join(pair)} does not fit: '{name}' is a {kinds[name]} model. "
                    "Give a masked model, =, and the classifier that was fine-tuned from it."
                )


def without_effect(options: AskOptions, kinds: Collection[Kind]) -> Iterator[str]:
    """A sentence for each option that no model here can heed."""
    chats, default = options.chats, Sampling()
    given: dict[Kind, dict[str, bool]] = {
        "masked": {"--top-k": options.top_k is not None, "--targets": bool(options.targets)},
        "chat": {
            "--trials": chats.trials is not None,
            "--temperature": chats.sampling.temperature != default.temperature,
            "--top-p": chats.sampling.top_p != default.top_p,
            "--max-tokens": chats.sampling.max_tokens != default.max_tokens,
        },
    }
    for kind, of_kind in given.items():
        if kind not in kinds:
            for option in (option for option, is_given in of_kind.items() if is_given):
                yield f"{option} has no effect: no {kind} model is audited here."

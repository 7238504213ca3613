"""Whether what an audit is told fits the models that it asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from goffman.errors import InputError, ModelError, did_you_mean
from goffman.instruments.render import FOR_SENTENCE_PAIRS, PromptOptions
from goffman.instruments.sized import SIZED_KINDS
from goffman.models.address import behind_server
from goffman.models.base import Calling, LoadOptions, Sampling
from goffman.models.kinds import kinds
from goffman.records import SentencePairs

if TYPE_CHECKING:
    from goffman.asking.questions import Asking
    from goffman.models.base import Fills
    from goffman.options import AskOptions

LONGEST_PART = 255
"""Bytes between two slashes: no file's name has more."""


def check_names(models: Sequence[str]) -> None:
    """Nothing, or ModelError where a name is longer than that of any folder or model."""
    for model in models:
        longest = max(len(part.encode()) for part in model.split("/"))
        if longest > LONGEST_PART:
            raise ModelError(
                f"The model's name '{model[:60]}…' is too long. Each part between slashes can "
                f"have up to {LONGEST_PART} bytes, but one has {longest:,}."
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
            f"--labels is only for classifiers, and you gave none ({', '.join(of_models)}). Add a "
            "classifier, or leave out --labels."
        )
    for pair in pairs:
        for name, kind in zip(pair, ("masked", "classifier"), strict=True):
            if name not in of_models:
                raise InputError(
                    f"--correlate names '{name}', which this audit does not "
                    f"ask.{did_you_mean(name, of_models)} Add it as a model: goffman audit "
                    f"{' '.join([*of_models, name])} --correlate {'='.join(pair)}"
                )
            if of_models[name] != kind:
                raise InputError(
                    f"--correlate is {'='.join(pair)}, but '{name}' is a {of_models[name]} model. "
                    "Write BASE=CLASSIFIER: a masked model, and a classifier that was fine-tuned "
                    "from it."
                )


def without_effect(
    pairs: Sequence[Asking], options: AskOptions, loading: LoadOptions
) -> Iterator[str]:
    """A sentence for each option that none of the models heeds."""
    asked = [question.instrument for pair in pairs for question in pair.questions]
    tables = {
        kinds()[pair.kind].table_for(one.instrument.kind, served=behind_server(pair.model))
        for pair in pairs
        for one in pair.questions
    }
    served = {behind_server(pair.model) for pair in pairs}
    heeded = {
        "model that fills in words": "fills" in tables,
        "model that replies in text": "replies" in tables,
        "chat or causal model": any(one.kind in (*SIZED_KINDS, "choose") for one in asked),
        "model on a server": True in served,
        "model on this machine": False in served,
        "sentence pairs": any(isinstance(one.content, SentencePairs) for one in asked),
    }
    for who, given in _given(options, loading).items():
        if not heeded[who]:
            for option in (option for option, is_given in given.items() if is_given):
                yield f"{option} has no effect, because this audit has no {who}."


def _given(options: AskOptions, loading: LoadOptions) -> dict[str, dict[str, bool]]:
    """By who can heed them: the options, and whether they were given."""
    chats, calling, usual = options.chats, options.chats.calling, Calling()
    sampling, plain = chats.sampling, Sampling()
    sentences = options.sentences or PromptOptions()
    return {
        "model that fills in words": {
            "--top-k": options.top_k is not None,
            "--targets": bool(options.targets),
        },
        "model that replies in text": {
            "--trials": chats.trials is not None,
            "--temperature": sampling.temperature != plain.temperature,
            "--top-p": sampling.top_p != plain.top_p,
            "--max-tokens": sampling.max_tokens != plain.max_tokens,
        },
        "chat or causal model": {
            "--system": options.system is not None and options.persona is None,
            "--persona": options.persona is not None,
            "--no-way-out": sentences.way_out is not None,
            "--thorough": options.thorough,
            "--balanced": options.balanced,
        },
        "model on a server": {
            "--concurrency": calling.concurrency != usual.concurrency,
            "--max-requests-per-minute": calling.per_minute is not None,
            "--timeout": calling.timeout != usual.timeout,
            "--price-in": chats.prices is not None,
        },
        "model on this machine": {
            "--device": loading.device != LoadOptions().device,
            "--workers": loading.workers is not None,
            "--precision": loading.precision != LoadOptions().precision,
            "--batch-size": options.batch_size is not None,
            "--trust-remote-code": loading.trust_remote_code,
        },
        "sentence pairs": {
            option: getattr(sentences, name) is not None
            for name, option in FOR_SENTENCE_PAIRS.items()
        },
    }


def check_top_k(model: Fills, pair: Asking) -> None:
    """Nothing, or InputError, before the run knows of it: a slip must not bind the folder."""
    for question in pair.questions:
        if question.settings and question.settings.top_k > len(model.tokens):
            raise InputError(
                f"--top-k is {question.settings.top_k} for {question.instrument.id}, but "
                f"'{pair.model}' knows only {len(model.tokens)} words. Allowed: 1 to "
                f"{len(model.tokens)}."
            )

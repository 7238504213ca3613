"""Check what a user gives an audit, from the command line or from Python, and assemble it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from goffman.config import Several, Text
from goffman.console import models_folder
from goffman.errors import InputError
from goffman.instruments.files import read_plain
from goffman.instruments.identities import persona
from goffman.models.base import Calling, LoadOptions, Sampling
from goffman.models.files import BUNDLED, BUNDLED_PAIR
from goffman.models.pypi_download import fetched
from goffman.models.server_address import behind_server, parse_address
from goffman.options import ChatOptions, Prices
from goffman.planning import who_can_answer
from goffman.validation import check_text

MODELS_ALLOWED = (
    "Allowed: a name on Hugging Face, a folder, a bundled: name, or the address of a server "
    "(http://HOST/v1#NAME). Functions cannot be asked yet: put one behind a server. Save a loaded "
    "model to a folder, or measure it with goffman.training.Monitor."
)


def texts(option: str, value: Several | None) -> tuple[str, ...]:
    """Return a single value or several as a tuple of texts; raise InputError for a bad one."""
    if value is None:
        return ()
    values: Any = value
    if isinstance(value, str | os.PathLike) or not isinstance(value, Iterable):
        values = (value,)
    items = tuple(values)
    for item in items:
        if not isinstance(item, str | os.PathLike):
            if option == "MODEL":
                # The repr of a model may be pages long.
                description = f"an object of type {type(item).__name__}"
                if isinstance(item, int | float | None):
                    description = repr(item)
                raise InputError(f"The model is {description}. {MODELS_ALLOWED}")
            raise InputError(f"{option} has {item!r}. Allowed: a text, or several.")
        check_text(option, os.fspath(item))
    return tuple(os.fspath(item) for item in items)


def paths(option: str, value: Several | None) -> tuple[Path, ...]:
    """Return the values of an option as paths."""
    return tuple(map(Path, texts(option, value)))


def path(option: str, value: Text | None) -> Path | None:
    """Return the value as a path; None if there is none."""
    return next(iter(paths(option, value)), None)


def models_asked(value: Several, instruments: Sequence[str]) -> tuple[str, ...]:
    """Return the models; if none is given, those bundled models that can answer."""
    if asked := texts("MODEL", value):
        return asked
    bundled = [f"bundled:{name}" for name in BUNDLED]
    return tuple(who_can_answer(bundled, instruments) or bundled)


def correlated(
    value: Sequence[str | tuple[str, str]], models: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return (base, classifier) pairs: the user's, or the bundled two if both are asked."""
    pairs = [pair.partition("=")[::2] if isinstance(pair, str) else tuple(pair) for pair in value]
    for shown, pair in zip(value, pairs, strict=True):
        if len(pair) != 2 or not all(pair):
            text = shown if isinstance(shown, str) else "=".join(map(str, shown))
            raise InputError(
                f"--correlate is '{text}'. Write BASE=CLASSIFIER, such as --correlate "
                "roberta-base=org/classifier. The classifier must be fine-tuned from the base "
                "model."
            )
    correlated_pairs = tuple((base, classifier) for base, classifier in pairs)
    return correlated_pairs or ((BUNDLED_PAIR,) if {*BUNDLED_PAIR} <= {*models} else ())


def load_options(settings: SimpleNamespace) -> LoadOptions:
    """Return the options for loading models."""
    return LoadOptions(
        device=settings.device,
        precision=settings.precision,
        trust_remote_code=settings.trust_remote_code,
        labels=None if settings.labels is None else dict(settings.labels),
        fetched=fetched(models_folder(os.environ, sys.platform)),
        workers=settings.workers,
        mixed_hardware=settings.allow_mixed_hardware,
    )


def chat_options(settings: SimpleNamespace, models: Sequence[str]) -> ChatOptions:
    """Return how chat models are asked."""
    calling = replace(
        _keys(models, settings.key_env),
        concurrency=settings.concurrency,
        per_minute=settings.max_requests_per_minute,
        timeout=settings.timeout,
    )
    price_in, price_out = settings.price_in, settings.price_out
    if (price_in is None) is not (price_out is None):
        raise InputError("Give both --price-in and --price-out, or neither.")
    return ChatOptions(
        trials=settings.trials,
        sampling=Sampling(
            temperature=settings.temperature, max_tokens=settings.max_tokens, top_p=settings.top_p
        ),
        calling=calling,
        prices=None if price_in is None else Prices(question=price_in, reply=price_out),
    )


def batch_size(value: int | str) -> int | None:
    """Return the number of sentences in a batch; None for the number that suits the device."""
    if value == "auto":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InputError(f"--batch-size is '{value}'. Allowed: auto, or a whole number, 1 or more.")


def target_words(value: Sequence[str]) -> tuple[str, ...]:
    """Return words whose probability is kept; each text may hold several, as in likely,unlikely."""
    words = [word.strip() for text in value for word in text.split(",")]
    if not all(words):
        raise InputError(
            f"--targets is '{','.join(value)}', with an empty word in it. Put one comma between "
            "words: --targets likely,unlikely"
        )
    return tuple(words)


def system_prompt(value: Text | None, persona_name: Text | None) -> str | None:
    """Return the system prompt: a persona's, the text of a file if it is one, or as given."""
    text = None if value is None else os.fspath(value)
    if persona_name is not None:
        if text is not None:
            raise InputError(
                "--system and --persona are two system prompts. Give one of them: a persona's file "
                "can have any text."
            )
        return persona(os.fspath(persona_name)).text
    if text is None or not text.strip():
        return None
    # os.path.isfile returns False for names that no system allows, where Path.is_file fails.
    if not os.path.isfile(text):  # noqa: PTH113
        # One word with a file's ending is not a system prompt.
        if re.fullmatch(r"\S+\.[A-Za-z]{1,8}", text.strip()):
            raise InputError(
                f"--system is '{text}', which looks like a file, but there is no such file. "
                "Correct the name, or give the system prompt itself."
            )
        return text.strip()
    try:
        return read_plain(Path(text)).decode().strip()
    except UnicodeDecodeError as error:
        raise InputError(f"--system: {text} is not a UTF-8 text file.") from error


def _keys(models: Sequence[str], key_env: str | None) -> Calling:
    """Return the keys that the models' servers need: each key goes to one host alone."""
    addresses = [parse_address(model) for model in models if behind_server(model)]
    openai = any(address.openai for address in addresses)
    openai_key = os.environ.get("OPENAI_API_KEY") if openai else None
    if key_env is None:
        return Calling(openai_key=openai_key)
    hosts = list(dict.fromkeys(address.url for address in addresses if not address.openai))
    if key_env == "OPENAI_API_KEY":
        raise InputError(
            "--key-env cannot be OPENAI_API_KEY: that key is only sent to openai:NAME models. "
            "Put the key of another server into another variable."
        )
    if len(hosts) != 1:
        reason = "you gave none"
        if hosts:
            reason = f"your models are on {len(hosts)}: {', '.join(hosts)}"
        raise InputError(
            f"--key-env is for models on one server (http://HOST/v1#NAME), but {reason}."
        )
    if key_env not in os.environ:
        raise InputError(
            f"There is no environment variable {key_env} (--key-env). Put the key of {hosts[0]} "
            "there."
        )
    return Calling(openai_key=openai_key, key=os.environ[key_env], key_name=key_env)

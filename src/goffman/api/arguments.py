"""What a user tells an audit, from the command line or from Python, checked and put together."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from goffman.config import Precision, Several, Text
from goffman.console import models_folder
from goffman.errors import InputError
from goffman.instruments.files import read_plain
from goffman.instruments.personas import persona
from goffman.models.base import Calling, LoadOptions
from goffman.models.files import BUNDLED, BUNDLED_PAIR
from goffman.models.pypi_download import fetched
from goffman.models.server_address import behind_server, parse_address
from goffman.options import Prices
from goffman.planning import who_can_answer
from goffman.validation import check_text

MODELS_ALLOWED = (
    "Allowed: a name on Hugging Face, a folder, a bundled: name, or the address of a server "
    "(http://HOST/v1#NAME). Functions cannot be asked yet: put one behind a server. Save a loaded "
    "model to a folder, or measure it with goffman.training.Monitor."
)


def texts(option: str, given: Several | None) -> tuple[str, ...]:
    """One value, or several, as a tuple; InputError where one can be no value of the option."""
    if given is None:
        return ()
    values: Any = given
    if isinstance(given, str | os.PathLike) or not isinstance(given, Iterable):
        values = (given,)
    several = tuple(values)
    for one in several:
        if not isinstance(one, str | os.PathLike):
            if option == "MODEL":
                # In full, that of a model may be pages long.
                called = f"an object of type {type(one).__name__}"
                if isinstance(one, int | float | None):
                    called = repr(one)
                raise InputError(f"The model is {called}. {MODELS_ALLOWED}")
            raise InputError(f"{option} has {one!r}. Allowed: a text, or several.")
        check_text(option, os.fspath(one))
    return tuple(os.fspath(one) for one in several)


def paths(option: str, given: Several | None) -> tuple[Path, ...]:
    """The same as paths."""
    return tuple(map(Path, texts(option, given)))


def path(option: str, given: Text | None) -> Path | None:
    """One path; None: not given."""
    return next(iter(paths(option, given)), None)


def models_asked(given: Several, instruments: Sequence[str]) -> tuple[str, ...]:
    """The models; where none is given, those bundled ones that can answer."""
    if asked := texts("MODEL", given):
        return asked
    bundled = [f"bundled:{name}" for name in BUNDLED]
    return tuple(who_can_answer(bundled, instruments) or bundled)


def correlated(
    given: Sequence[str | tuple[str, str]], models: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Base models with their classifiers: those given, or the bundled two where both are asked."""
    pairs = [one.partition("=")[::2] if isinstance(one, str) else tuple(one) for one in given]
    for shown, pair in zip(given, pairs, strict=True):
        if len(pair) != 2 or not all(pair):
            said = shown if isinstance(shown, str) else "=".join(map(str, shown))
            raise InputError(
                f"--correlate is '{said}'. Write BASE=CLASSIFIER, such as --correlate "
                "roberta-base=org/classifier. The classifier must be fine-tuned from the base "
                "model."
            )
    found = tuple((base, classifier) for base, classifier in pairs)
    return found or ((BUNDLED_PAIR,) if {*BUNDLED_PAIR} <= {*models} else ())


def loading(
    *, device: str, precision: Precision, trust_remote_code: bool, labels: Mapping[str, str] | None
) -> LoadOptions:
    """How models are loaded."""
    return LoadOptions(
        device=device,
        precision=precision,
        trust_remote_code=trust_remote_code,
        labels=None if labels is None else dict(labels),
        fetched=fetched(models_folder(os.environ, sys.platform)),
    )


def batch_size(given: int | str) -> int | None:
    """How many sentences a batch has; None: what suits the device."""
    if given == "auto":
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    raise InputError(f"--batch-size is '{given}'. Allowed: auto, or a whole number, 1 or more.")


def target_words(given: Sequence[str]) -> tuple[str, ...]:
    """Words whose probability is kept: likely,unlikely is two; each text may hold several."""
    words = [word.strip() for text in given for word in text.split(",")]
    if not all(words):
        raise InputError(
            f"--targets is '{','.join(given)}', with an empty word in it. Put one comma between "
            "words: --targets likely,unlikely"
        )
    return tuple(words)


def system_prompt(given: Text | None, persona_name: Text | None) -> str | None:
    """The system prompt: a persona's, a file's text where there is such a file, or as given."""
    text = None if given is None else os.fspath(given)
    if persona_name is not None:
        if text is not None:
            raise InputError(
                "--system and --persona are two system prompts. Give one of them: a persona's file "
                "can have any text."
            )
        return persona(os.fspath(persona_name)).text
    if text is None or not text.strip():
        return None
    # os.path.isfile, which says no to names that no system allows, where Path.is_file fails.
    if not os.path.isfile(text):  # noqa: PTH113
        # One word with a file's ending is no system prompt.
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


def keys(models: Sequence[str], key_env: str | None) -> Calling:
    """The keys that the models' servers want: each goes to one host alone."""
    addresses = [parse_address(model) for model in models if behind_server(model)]
    openai = any(address.openai for address in addresses)
    own = os.environ.get("OPENAI_API_KEY") if openai else None
    if key_env is None:
        return Calling(openai_key=own)
    hosts = list(dict.fromkeys(address.url for address in addresses if not address.openai))
    if key_env == "OPENAI_API_KEY":
        raise InputError(
            "--key-env cannot be OPENAI_API_KEY: that key is only sent to openai:NAME models. "
            "Put the key of another server into another variable."
        )
    if len(hosts) != 1:
        found = "you gave none"
        if hosts:
            found = f"your models are on {len(hosts)}: {', '.join(hosts)}"
        raise InputError(
            f"--key-env is for models on one server (http://HOST/v1#NAME), but {found}."
        )
    if key_env not in os.environ:
        raise InputError(
            f"There is no environment variable {key_env} (--key-env). Put the key of {hosts[0]} "
            "there."
        )
    return Calling(openai_key=own, key=os.environ[key_env], key_name=key_env)


def prices(question: float | None, reply: float | None) -> Prices | None:
    """What a server takes; None: not known."""
    if question is None and reply is None:
        return None
    if question is None or reply is None:
        raise InputError("Give both --price-in and --price-out, or neither.")
    return Prices(question=question, reply=reply)

"""A model's folder, looked over before anything is made of it.

It may come from anyone: only plain files are opened, JSON has bounds on its size and depth, and
whatever cannot be used is told in one sentence.
"""

from __future__ import annotations

import json
import re
import stat
from typing import TYPE_CHECKING, Any, TypeAlias

from goffman.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

VOCABULARY_BYTES = 1 << 29
SETTINGS_BYTES = 1 << 25
DEEPEST = 64
"""How large a file with a vocabulary, and one with settings, may be, and how deep its JSON."""

VOCABULARIES = (".json", ".txt", ".model", ".codes", ".jinja", ".py")
WEIGHTS = (".safetensors", ".bin")
"""How the names of files end that a model is read from."""

OBJECTS = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
"""Files that hold one JSON object, where they are there."""

POINTER = b"version https://git-lfs.github.com/spec/"
"""How a file begins that git left in the place of a large one."""

MOST = 1_000
COUNTED = re.compile(r"\w+_(layers?|blocks?|experts|groups|labels)|inner_group_num|layers|depth")
"""A model is built part by part: of none of these may there be more."""


def look_over(name: str, folder: Path) -> None:
    """Nothing, or ModelError where something in the folder cannot be read, or not safely."""
    try:
        for path in (*_entries(folder), *_entries(folder / "additional_chat_templates")):
            _check_file(name, path)
    except OSError as error:
        raise unreadable(name, error) from error
    if (folder / "adapter_config.json").is_file():
        base = read_object(name, folder / "adapter_config.json").get("base_model_name_or_path")
        of = f" of '{base}'" if base else ""
        raise ModelError(
            f"'{name}' is a PEFT adapter{of}, not a whole model. Merge it into its base model "
            "first (merge_and_unload, then save_pretrained), and give the merged folder."
        )
    for file in OBJECTS:
        if (folder / file).is_file():
            read_object(name, folder / file)


def no_config(name: str, folder: Path) -> ModelError:
    """The error of a folder without a config.json, which may hold folders with one."""
    numbered = {
        int(path.name.removeprefix("checkpoint-")): path
        for path in folder.glob("checkpoint-*")
        if path.name.removeprefix("checkpoint-").isdecimal() and (path / "config.json").is_file()
    }
    if numbered:
        newest = numbered[max(numbered)].name
        return ModelError(
            f"'{name}' has no config.json, only checkpoints of a training run. Give one of them. "
            f"The newest is '{name.rstrip('/')}/{newest}'."
        )
    return ModelError(
        f"The folder '{name}' has no config.json, so it is not a model. Give a folder with a "
        "saved Hugging Face model."
    )


def unreadable(name: str, error: OSError) -> ModelError:
    """The error that a file of a model cannot be read, and why."""
    rights = " You need permission to read all of its files."
    return ModelError(
        f"'{name}' cannot be read: {error.filename}: {error.strerror}."
        f"{rights if isinstance(error, PermissionError) else ''}"
    )


def read_object(name: str, path: Path) -> dict[str, Any]:
    """The JSON object in a file of a model; ModelError where it holds something else."""
    try:
        _check_size(name, path, most=SETTINGS_BYTES)
        found = json.loads(path.read_text(encoding="utf-8"))
        deep = _depth(found) > DEEPEST
    except OSError as error:
        raise unreadable(name, error) from error
    except ValueError as error:
        raise ModelError(f"The {path.name} of '{name}' is not JSON: {error}.") from error
    except RecursionError:
        deep = True
    if deep:
        raise ModelError(
            f"The {path.name} of '{name}' is nested too deeply (more than {DEEPEST} levels)."
        )
    if not isinstance(found, dict):
        raise ModelError(
            f"The {path.name} of '{name}' is {_shown(found)}. It must be a JSON object with the "
            "model's settings."
        )
    for setting, value in _every(found) if path.name.endswith("config.json") else ():
        what, fits = SETTINGS.get(setting) or (COUNT if COUNTED.fullmatch(setting) else ANY)
        if value is not None and not fits(value):
            raise ModelError(
                f"The {path.name} of '{name}' says that {setting} is {_shown(value)}. It must be "
                f"{what}."
            )
    return found


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _check_file(name: str, path: Path) -> None:
    try:
        found = path.stat()
    except FileNotFoundError:  # a link to nowhere: as if it were not there
        return
    if stat.S_ISDIR(found.st_mode):
        return
    if not stat.S_ISREG(found.st_mode):
        raise ModelError(
            f"'{name}' contains {path.name}, which is a pipe, a device or a socket. Remove it: "
            "only regular files are read."
        )
    if path.suffix not in (*VOCABULARIES, *WEIGHTS):
        return
    with path.open("rb") as file:
        if file.read(len(POINTER)) == POINTER:
            raise ModelError(
                f"The {path.name} of '{name}' is a Git LFS pointer, not the file itself. Download "
                "the real files in its repository: git lfs pull"
            )
    if path.suffix in VOCABULARIES:
        _check_size(name, path, most=VOCABULARY_BYTES)


def _check_size(name: str, path: Path, *, most: int) -> None:
    size = path.stat().st_size
    if size > most:
        raise ModelError(
            f"The {path.name} of '{name}' has {size >> 20} MB. Allowed: up to {most >> 20} MB."
        )


def _depth(value: object) -> int:
    """How many objects and lists lie within each other."""
    depth, level = 0, [value]
    while level:
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        depth += 1
    return depth


def _every(settings: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Every setting, also of the models within a model."""
    for name, value in settings.items():
        yield name, value
        if isinstance(value, dict):
            yield from _every(value)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _own_files(value: Any) -> bool:
    return _names(value) and not any("/" in one or "\\" in one for one in value)


def _length(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


def _count(value: object) -> bool:
    return not isinstance(value, int) or 0 <= value <= MOST


Setting: TypeAlias = "tuple[str, Callable[[Any], bool]]"

COUNT: Setting = (f"a number from 0 to {MOST}", _count)
ANY: Setting = ("anything", lambda _: True)
SETTINGS: Mapping[str, Setting] = {
    "architectures": ('a list of names of classes, such as ["BertForMaskedLM"]', _names),
    "model_type": ('the name of a family, such as "bert"', lambda value: isinstance(value, str)),
    "auto_map": ("an object: a class's name → where it is", lambda value: isinstance(value, dict)),
    "fast_tokenizer_files": ("a list of names of files in the model's folder", _own_files),
    "model_max_length": ("a number of tokens", _length),
    "transformers_weights": (
        "left out: weights are read from model.safetensors or pytorch_model.bin",
        lambda _: False,
    ),
}
"""What must be right before anything is made of a model's settings: in words, and as a check."""

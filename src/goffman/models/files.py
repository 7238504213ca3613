"""A model's files: a folder on this machine, or fetched from the hub into its cache.

They may come from anyone: only regular files are opened, and JSON is limited in size and depth.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from goffman.errors import InputError, ModelError, did_you_mean
from goffman.instruments.files import read_plain
from goffman.models.base import Identity, LoadOptions, check_precision
from goffman.models.pypi_download import FETCHABLE, remarks

VOCABULARY_BYTES = 1 << 29
SETTINGS_BYTES = 1 << 25
DEEPEST = 64
"""The most bytes of a vocabulary file and of a settings file, and the most levels of JSON."""

VOCABULARIES = (".json", ".txt", ".model", ".codes", ".jinja", ".py")
WEIGHTS = (".safetensors", ".bin")
"""Endings of the names of files from which a model is read."""

OBJECTS = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
"""Files that must hold one JSON object, if they exist."""

POINTER = b"version https://git-lfs.github.com/spec/"
"""The beginning of a file that Git LFS left in place of a large one."""

MOST = 1_000
COUNTED = re.compile(r"\w+_(layers?|blocks?|experts|groups|labels)|inner_group_num|layers|depth")
"""The most parts of which a model may be built, and the settings that count such parts."""


def look_over(name: str, folder: Path) -> None:
    """Raise ModelError if the folder holds an adapter, or something that cannot be read safely."""
    try:
        for directory in (folder, folder / "additional_chat_templates"):
            for path in sorted(directory.iterdir()) if directory.is_dir() else ():
                _check_file(name, path)
    except OSError as error:
        raise unreadable(name, error) from error
    if (folder / "adapter_config.json").is_file():
        base = read_object(name, folder / "adapter_config.json").get("base_model_name_or_path")
        origin = f" of '{base}'" if base else ""
        raise ModelError(
            f"'{name}' is a PEFT adapter{origin}, not a whole model. Merge it into its base model "
            "first (merge_and_unload, then save_pretrained), and give the merged folder."
        )
    for file in OBJECTS:
        if (folder / file).is_file():
            read_object(name, folder / file)


def _no_config(name: str, folder: Path) -> ModelError:
    """Return the error for a folder without config.json; it names folders inside that have one."""
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
    """Return the error that a file of a model cannot be read, and why."""
    hint = " You need permission to read all of its files."
    return ModelError(
        f"'{name}' cannot be read: {error.filename}: {error.strerror}."
        f"{hint if isinstance(error, PermissionError) else ''}"
    )


def read_object(name: str, path: Path) -> dict[str, Any]:
    """Return the JSON object in a file of a model; raise ModelError if it holds something else."""
    try:
        content = json.loads(read_plain(path, most=SETTINGS_BYTES).decode())
        too_deep = _depth(content) > DEEPEST
    except OSError as error:
        raise unreadable(name, error) from error
    except InputError as error:
        raise ModelError(f"'{name}' cannot be read: {error}") from error
    except ValueError as error:
        raise ModelError(f"The {path.name} of '{name}' is not JSON: {error}.") from error
    except RecursionError:
        too_deep = True
    if too_deep:
        raise ModelError(
            f"The {path.name} of '{name}' is nested too deeply (more than {DEEPEST} levels)."
        )
    if not isinstance(content, dict):
        raise ModelError(
            f"The {path.name} of '{name}' is {_shown(content)}. It must be a JSON object with the "
            "model's settings."
        )
    if path.name.endswith("config.json"):
        _check_settings(f"The {path.name} of '{name}'", content)
    return content


def _check_settings(file: str, settings: Mapping[str, Any]) -> None:
    for setting, value in _every(settings):
        allowed = ""
        if setting in SETTINGS:
            description, fits = SETTINGS[setting]
            allowed = "" if value is None or fits(value) else description
        elif isinstance(value, int) and not 0 <= value <= MOST and COUNTED.fullmatch(setting):
            allowed = f"a number from 0 to {MOST}"
        if allowed:
            raise ModelError(
                f"{file} says that {setting} is {_shown(value)}. It must be {allowed}."
            )


def _check_file(name: str, path: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:  # a broken link: as if there were no file
        return
    if stat.S_ISDIR(status.st_mode):
        return
    if not stat.S_ISREG(status.st_mode):
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
    if path.suffix in VOCABULARIES and status.st_size > VOCABULARY_BYTES:
        size, most = status.st_size >> 20, VOCABULARY_BYTES >> 20
        raise ModelError(f"The {path.name} of '{name}' has {size} MB. Allowed: up to {most} MB.")


def _depth(value: object) -> int:
    """Return how many levels of objects and lists are nested."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def _every(settings: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the name and value of every setting, also of the models within a model."""
    for name, value in settings.items():
        yield name, value
        if isinstance(value, dict):
            yield from _every(value)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


SETTINGS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "architectures": ('a list of names of classes, such as ["BertForMaskedLM"]', _names),
    "model_type": ('the name of a family, such as "bert"', lambda value: isinstance(value, str)),
    "auto_map": ("an object: a class's name → where it is", lambda value: isinstance(value, dict)),
    "fast_tokenizer_files": (
        "a list of names of files in the model's folder",
        lambda value: _names(value) and not any("/" in file or "\\" in file for file in value),
    ),
    "model_max_length": (
        "a number of tokens",
        lambda value: isinstance(value, int | float) and value > 0,
    ),
    "transformers_weights": (
        "left out: weights are read from model.safetensors or pytorch_model.bin",
        lambda _: False,
    ),
}
"""Settings that are checked before use: the allowed values in words, and as a check."""


STUDIED = (
    "roberta-base",
    "roberta-large",
    "distilbert-base-uncased",
    "bert-base-uncased",
    "bert-large-uncased",
    "vinai/bertweet-base",
    "vinai/bertweet-large",
    "xlnet-large-cased",
    "mental/mental-roberta-base",
    "mental/mental-bert-base-uncased",
    "yikuan8/Clinical-Longformer",
    "distilbert-base-uncased-finetuned-sst-2-english",
    "siebert/sentiment-roberta-large-english",
    "cardiffnlp/twitter-roberta-base-sentiment-latest",
    "finiteautomata/bertweet-base-sentiment-analysis",
)
"""The studies' models: a misspelled id is compared with these."""

VOCABULARY_FILES = (
    "bpe.codes",
    "merges.txt",
    "sentencepiece.bpe.model",
    "sentencepiece.model",
    "spiece.model",
    "spm.model",
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
)
TOKENIZER_FILES = (
    *VOCABULARY_FILES,
    *("added_tokens.json", "special_tokens_map.json", "tokenizer_config.json"),
)
"""All files from which tokenizers of the known families are read; the first hold the words."""

SMALL_FILES = (
    *TOKENIZER_FILES,
    *("adapter_config.json", "config.json", "chat_template.jinja", "*.index.json", "*.py"),
)
LONGEST_HEADER = 100_000_000
"""The most bytes that the safetensors format allows for the list of a file's tensors."""

SAFETENSORS = "model*.safetensors"
BIN = "pytorch_model*.bin"

SHIPPED = Path(__file__).parent / "bundled"
"""The folder of the bundled models; one has most of its weights in the folder of the other."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """The folder of a model's files."""

    name: str
    """As the user named it."""
    folder: Path
    revision: str | None = None
    """The hub's commit, or None for a folder."""


def locate(name: str, *, weights: bool) -> Files:
    """Return the files of a folder, or of a hub id (``org/name@revision``) fetched into the cache.

    Without ``weights``, fetch only what says what the model is: its configuration and tokenizer.
    """
    try:
        folder = Path(name).expanduser()
        is_folder = folder.is_dir()
    except OSError as error:
        raise unreadable(name, error) from error
    except RuntimeError:  # ~user, if this machine has no such user
        is_folder = False
    if is_folder:
        look_over(name, folder)
        if not (folder / "config.json").is_file():
            raise _no_config(name, folder)
        return Files(name=name, folder=folder)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(
            f"There is no folder '{name}'. Give a folder with a saved model, or a Hugging Face "
            "model (ORG/NAME)."
        )
    folder = _snapshot(name)
    if weights:
        # Only one kind of weights is fetched: most repositories hold the same ones twice.
        folder = _snapshot(name, SAFETENSORS)
        if not any(folder.glob(SAFETENSORS)):
            folder = _snapshot(name, BIN)
    look_over(name, folder)
    if not (folder / "config.json").is_file():
        raise ModelError(f"'{name}' on Hugging Face has no config.json, so it is not a model.")
    return Files(name=name, folder=folder, revision=folder.name)


def _snapshot(name: str, *weights: str) -> Path:
    """Download a model from the hub into its cache, unless it is there; return the cache folder.

    ``weights``: patterns of the weight files to download beside the small files.
    """
    from huggingface_hub import errors, snapshot_download

    repository, _, revision = name.partition("@")
    suggestion = "" if repository in STUDIED else did_you_mean(repository, STUDIED)
    if re.match(r"(chat)?gpt-\d|o\d(-|$)", repository):
        suggestion = f" Did you mean openai:{repository}?"
    patterns = [*SMALL_FILES, *weights]
    try:
        folder = snapshot_download(repository, revision=revision or None, allow_patterns=patterns)
    except errors.GatedRepoError as error:
        raise ModelError(
            f"'{repository}' is gated: its owners must grant you access. Ask for it at "
            f"https://huggingface.co/{repository}, then log in with `hf auth login` and try again."
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise ModelError(
            f"Hugging Face has no model '{repository}', or it is private and you are not logged "
            f"in (`hf auth login`).{suggestion}"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise ModelError(
            f"'{repository}' has no revision '{revision}'. Give a branch, tag or commit from "
            f"https://huggingface.co/{repository}/commits, or leave out '@{revision}'."
        ) from error
    except errors.HFValidationError as error:
        raise ModelError(
            f"'{name}' is not a folder, and it is not written like a Hugging Face model (NAME, "
            f"ORG/NAME or ORG/NAME@REVISION).{suggestion}"
        ) from error
    except PermissionError as error:
        raise unreadable(name, error) from error
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled, OSError) as error:
        raise ModelError(
            f"'{name}' was not found. There is no such folder, the model is not (or not "
            "completely) downloaded, and Hugging Face cannot be reached. Connect to the "
            f"internet, or give the folder of a model.{suggestion}"
        ) from error
    return Path(folder)


def weight_files(files: Files) -> tuple[Literal["safetensors", "bin"], list[Path]]:
    """Return the kind and paths of the weight files that transformers would load."""
    kinds: tuple[tuple[Literal["safetensors", "bin"], str], ...] = (
        ("safetensors", "model.safetensors"),
        ("bin", "pytorch_model.bin"),
    )
    for kind, name in kinds:
        whole, index = files.folder / name, files.folder / f"{name}.index.json"
        if whole.is_file():
            return kind, [whole]
        if index.is_file():
            return kind, _listed(files, index)
    raise ModelError(
        f"'{files.name}' has no weights that goffman can read: no model.safetensors, no "
        "pytorch_model.bin and no index of their parts. Convert weights of other frameworks "
        "first."
    )


def _listed(files: Files, index: Path) -> list[Path]:
    """Return the files that an index names; raise ModelError for one outside the folder."""
    weight_map = read_object(files.name, index).get("weight_map")
    names = list(weight_map.values()) if isinstance(weight_map, dict) else []
    if not names or not all(isinstance(file, str) and file and "\0" not in file for file in names):
        raise ModelError(
            f"The {index.name} of '{files.name}' is damaged: it does not say which file has which "
            "weights. Download or save the model again."
        )
    bundled = files.folder.resolve().parent == SHIPPED.resolve()
    paths = []
    for name in sorted(set(names)):
        path = files.folder / name
        if not bundled and (Path(name).is_absolute() or ".." in Path(name).parts):
            raise ModelError(
                f"The {index.name} of '{files.name}' names '{name}', which is outside the model's "
                "folder and is not read. Give a folder that contains the whole model."
            )
        if not path.is_file():
            raise ModelError(
                f"'{files.name}' has no file {name}, although its {index.name} names it. Download "
                "or save the model again."
            )
        paths.append(path)
    return paths


def tokenizer_files(files: Files) -> list[Path]:
    """Return the paths of the tokenizer's files."""
    return [path for name in TOKENIZER_FILES if (path := files.folder / name).is_file()]


def digest(paths: Iterable[Path]) -> str:
    """Return the sha256 of the files' names and contents, which copies of a folder share."""
    lines = []
    for path in sorted(paths, key=lambda path: path.name):
        try:
            with path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelError(f"{path} cannot be read: {error.strerror}.") from error
        lines.append(f"{sha256}  {path.name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


BUNDLED: Mapping[str, Path] = {name: SHIPPED / name for name in ("mini", "mini-sentiment")}
"""The models that ship with the package: name → folder."""

BUNDLED_PAIR = ("bundled:mini", "bundled:mini-sentiment")
"""A model, and the classifier that was fine-tuned from it."""

TERMS = (
    "This model's weights have a license of their own: for research and for trying out goffman, "
    "not for commercial use. See bundled/README.md in the package."
)
"""The note that is shown whenever a bundled model is loaded."""

OWN_CODE = "Python code that came with the model was allowed to run: --trust-remote-code."


def files_of(spec: str, *, weights: bool, fetched: Mapping[str, Path]) -> Files:
    """Return the named model's files, downloaded if needed; ``weights``: include the weights."""
    if spec in FETCHABLE and not Path(spec).is_dir():
        if spec not in fetched:
            raise ModelError(
                f"'{spec}' is not on this machine yet. Download it: goffman models get {spec}"
            )
        return Files(name=spec, folder=fetched[spec])
    if not spec.startswith("bundled:"):
        return locate(spec, weights=weights)
    name = spec.removeprefix("bundled:")
    if name not in BUNDLED:
        raise ModelError(
            f"There is no bundled model '{name}'.{did_you_mean(name, BUNDLED)} Bundled models: "
            f"{', '.join(sorted(BUNDLED))}. You can also give a folder, or a Hugging Face model "
            "(ORG/NAME)."
        )
    return Files(name=spec, folder=BUNDLED[name])


def prepared(spec: str, options: LoadOptions, *, kind: str) -> tuple[Files, Identity]:
    """Return the files to load and the model's identity, after checking that it may be loaded."""
    from goffman.models.torch_common import choose_device, device_name, read_config

    files = files_of(spec, weights=options.weights, fetched=options.fetched)
    config = read_object(files.name, files.folder / "config.json")
    notes = remarks(files.folder) + _remote_code(files, config, allowed=options.trust_remote_code)
    read_config(files, options)
    identity = Identity(
        name=files.name,
        kind=kind,
        family=config.get("model_type") or "",
        precision=options.precision,
        device=device_name(choose_device(options.device)) if options.weights else "",
        notes=(*notes, TERMS) if spec.startswith("bundled:") else notes,
        parameters=parameters_in(weight_files(files)[1]) if options.weights else None,
        **_checksums(files, weights=options.weights),
    )
    return files, identity


def checked(spec: str, options: LoadOptions) -> Files:
    """Return the small files; raise the error of loading if they are enough to foresee it.

    Weights are neither fetched nor read.
    """
    from goffman.models.tokenizer import load_tokenizer
    from goffman.models.torch_common import choose_device, read_config

    files = files_of(spec, weights=False, fetched=options.fetched)
    config = read_object(files.name, files.folder / "config.json")
    _remote_code(files, config, allowed=options.trust_remote_code)
    read_config(files, options)
    if options.workers is None:
        choose_device(options.device)
    check_precision(options.precision)
    if files.revision is None and options.weights:
        weight_files(files)
    load_tokenizer(files, options)
    return files


def tokenizer_settings(files: Files) -> dict[str, Any]:
    """Return the content of tokenizer_config.json; empty if there is no such file."""
    path = files.folder / "tokenizer_config.json"
    return read_object(files.name, path) if path.is_file() else {}


def _remote_code(files: Files, config: dict[str, Any], *, allowed: bool) -> tuple[str, ...]:
    """Return a note if the model's own code may run; raise ModelError if it must but may not."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if allowed:
        # If allowed, a model's own code comes first, even if transformers knows the family.
        auto_map = config.get("auto_map") or tokenizer_settings(files).get("auto_map")
        return (OWN_CODE,) if auto_map else ()
    if not config.get("auto_map") or config.get("model_type") in CONFIG_MAPPING_NAMES:
        return ()
    raise ModelError(
        f"'{files.name}' comes with Python code of its own. Read that code. If you trust it, "
        "allow it with --trust-remote-code."
    )


def parameters_in(weights: Iterable[Path]) -> int | None:
    """Return the number of parameters in safetensors files; None if the files cannot be read.

    A tensor in several files counts once. Damaged files are reported when the model is loaded.
    """
    sizes: dict[str, int] = {}
    try:
        for path in weights:
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(min(length, LONGEST_HEADER)))
            header.pop("__metadata__", None)
            sizes |= {name: math.prod(tensor["shape"]) for name, tensor in header.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return sum(sizes.values()) or None


def checksums(spec: str, options: LoadOptions) -> dict[str, Any]:
    """Return the fields of an Identity about a model's files: their revision and checksums."""
    return _checksums(files_of(spec, weights=True, fetched=options.fetched), weights=True)


def _checksums(files: Files, *, weights: bool) -> dict[str, Any]:
    entry = {"revision": files.revision, "tokenizer_sha256": digest(tokenizer_files(files))}
    if not weights:
        return entry
    kind, paths = weight_files(files)
    # The configuration counts, too: with another one, the same numbers give other answers.
    sha256 = digest([files.folder / "config.json", *paths])
    return {**entry, "weights": kind, "weights_sha256": sha256}

"""A model's files: a folder on this machine, or fetched from the hub into its cache."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from goffman.errors import ModelError, did_you_mean
from goffman.models.folder import look_over, no_config, read_object, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable

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
"""The studies' models: a misspelt id is compared with these."""

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
"""Every file that a tokenizer of the known families is read from; the first hold its words."""

SMALL_FILES = (
    *TOKENIZER_FILES,
    *("adapter_config.json", "config.json", "chat_template.jinja", "*.index.json", "*.py"),
)
SAFETENSORS = "model*.safetensors"
BIN = "pytorch_model*.bin"

SHIPPED = Path(__file__).parent / "bundled"
"""The models that ship with the package; one has most of its weights in the other's folder."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Where a model's files lie."""

    name: str
    """As the user named it."""
    folder: Path
    revision: str | None
    """The hub's commit, or None for a folder."""


def locate(name: str, *, weights: bool) -> Files:
    """The files of a folder, or of a hub id (``org/name@revision``) fetched into the cache.

    Without ``weights`` only what says what the model is: its configuration and tokenizer.
    """
    try:
        folder = Path(name).expanduser()
        is_folder = folder.is_dir()
    except OSError as error:
        raise unreadable(name, error) from error
    except RuntimeError:  # ~someone, whom this machine does not know
        is_folder = False
    if is_folder:
        look_over(name, folder)
        if not (folder / "config.json").is_file():
            raise no_config(name, folder)
        return Files(name=name, folder=folder, revision=None)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(
            f"There is no folder '{name}'. Give a folder with a saved model, or a Hugging Face "
            "model (ORG/NAME)."
        )
    return _fetched(name, weights=weights)


def _fetched(name: str, *, weights: bool) -> Files:
    patterns = list(SMALL_FILES)
    folder = _snapshot(name, patterns)
    if weights:
        # Only one kind of weights is fetched: most repositories hold the same ones twice.
        folder = _snapshot(name, [*patterns, SAFETENSORS])
        if not any(folder.glob(SAFETENSORS)):
            folder = _snapshot(name, [*patterns, BIN])
    look_over(name, folder)
    if not (folder / "config.json").is_file():
        raise ModelError(f"'{name}' on Hugging Face has no config.json, so it is not a model.")
    return Files(name=name, folder=folder, revision=folder.name)


def _snapshot(name: str, patterns: list[str]) -> Path:
    from huggingface_hub import errors, snapshot_download

    repository, _, revision = name.partition("@")
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
            f"in (`hf auth login`).{_nearest(repository)}"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise ModelError(
            f"'{repository}' has no revision '{revision}'. Give a branch, tag or commit from "
            f"https://huggingface.co/{repository}/commits, or leave out '@{revision}'."
        ) from error
    except errors.HFValidationError as error:
        raise ModelError(
            f"'{name}' is not a folder, and it is not written like a Hugging Face model (NAME, "
            f"ORG/NAME or ORG/NAME@REVISION).{_nearest(repository)}"
        ) from error
    except PermissionError as error:
        raise unreadable(name, error) from error
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled, OSError) as error:
        raise ModelError(
            f"'{name}' was not found. There is no such folder, the model is not (or not "
            "completely) downloaded, and Hugging Face cannot be reached. Connect to the "
            f"internet, or give the folder of a model.{_nearest(repository)}"
        ) from error
    return Path(folder)


def _nearest(repository: str) -> str:
    """The studied model that a misspelt id is nearest to, as a sentence, or nothing."""
    return "" if repository in STUDIED else did_you_mean(repository, STUDIED)


def weight_files(files: Files) -> tuple[Literal["safetensors", "bin"], list[Path]]:
    """The kind of file that the weights are in, and these files: those that transformers takes."""
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
    """The files that an index names; none of them outside the model's folder."""
    parts = read_object(files.name, index).get("weight_map")
    names = set(parts.values()) if isinstance(parts, dict) and _are_names(parts) else set()
    if not names:
        raise ModelError(
            f"The {index.name} of '{files.name}' is damaged: it does not say which file has which "
            "weights. Download or save the model again."
        )
    ours = files.folder.resolve().parent == SHIPPED.resolve()
    found = []
    for name in sorted(names):
        path = files.folder / name
        if not ours and (Path(name).is_absolute() or ".." in Path(name).parts):
            raise ModelError(
                f"The {index.name} of '{files.name}' names '{name}', which is outside the model's "
                "folder and is not read. Give a folder that contains the whole model."
            )
        if not path.is_file():
            raise ModelError(
                f"'{files.name}' has no file {name}, although its {index.name} names it. Download "
                "or save the model again."
            )
        found.append(path)
    return found


def _are_names(parts: dict[str, object]) -> bool:
    return all(isinstance(name, str) and name and "\0" not in name for name in parts.values())


def tokenizer_files(files: Files) -> list[Path]:
    """The tokenizer's files."""
    return [path for name in TOKENIZER_FILES if (path := files.folder / name).is_file()]


def digest(paths: Iterable[Path]) -> str:
    """The sha256 of the files' names and contents: the same for every copy of a folder."""
    lines = []
    for path in sorted(paths, key=lambda path: path.name):
        try:
            with path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelError(f"{path} cannot be read: {error.strerror}.") from error
        lines.append(f"{sha256}  {path.name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()

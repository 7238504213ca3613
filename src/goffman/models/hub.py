"""A model's files: a folder on this machine, or fetched from the hub into its cache."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from goffman.errors import ModelError, did_you_mean

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

TOKENIZER_FILES = (
    "added_tokens.json",
    "bpe.codes",
    "merges.txt",
    "sentencepiece.bpe.model",
    "special_tokens_map.json",
    "spiece.model",
    "spm.model",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)
"""Every file that a tokenizer of the known families is read from."""

SMALL_FILES = (*TOKENIZER_FILES, "config.json", "chat_template.jinja", "*.index.json", "*.py")
SAFETENSORS = "model*.safetensors"
BIN = "pytorch_model*.bin"


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
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ModelError(
                f"'{name}' is a folder without a config.json, so it holds no model. Give the "
                "folder that save_pretrained wrote."
            )
        return Files(name=name, folder=folder, revision=None)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(
            f"There is no folder '{name}'. Give a folder that holds a model, or a hub id."
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
    if not (folder / "config.json").is_file():
        raise ModelError(f"'{name}' on the hub holds no config.json, so it is not a model.")
    return Files(name=name, folder=folder, revision=folder.name)


def _snapshot(name: str, patterns: list[str]) -> Path:
    from huggingface_hub import errors, snapshot_download

    repository, _, revision = name.partition("@")
    try:
        folder = snapshot_download(repository, revision=revision or None, allow_patterns=patterns)
    except errors.GatedRepoError as error:
        raise ModelError(
            f"'{repository}' is gated: its owners let in those who ask. Ask for access at "
            f"https://huggingface.co/{repository}, then log in with `hf auth login` and try again."
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise ModelError(
            f"The hub has no model '{repository}', or it is private and you are not logged in "
            f"(`hf auth login`).{_nearest(repository)}"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise ModelError(
            f"'{repository}' has no revision '{revision}'. Give a branch, a tag or a commit of "
            f"https://huggingface.co/{repository}/commits, or leave '@{revision}' out."
        ) from error
    except errors.HFValidationError as error:
        raise ModelError(
            f"'{name}' is neither a folder on this machine nor a hub id, which is written name, "
            f"org/name or org/name@revision.{_nearest(repository)}"
        ) from error
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled, OSError) as error:
        raise ModelError(
            f"'{name}' is not a folder, it is not (whole) in this machine's cache, and the hub "
            "cannot be reached. Connect to the internet once, or give the folder of a model."
            f"{_nearest(repository)}"
        ) from error
    return Path(folder)


def _nearest(repository: str) -> str:
    """The studied model that a misspelt id is nearest to, as a sentence, or nothing."""
    return "" if repository in STUDIED else did_you_mean(repository, STUDIED)


def weight_files(files: Files) -> tuple[Literal["safetensors", "bin"], list[Path]]:
    """The kind of file that the weights are in, and these files; safetensors before .bin."""
    kinds: tuple[tuple[Literal["safetensors", "bin"], str], ...] = (
        ("safetensors", SAFETENSORS),
        ("bin", BIN),
    )
    for kind, pattern in kinds:
        found = sorted(files.folder.glob(pattern))
        index = [path for path in files.folder.glob("*.index.json") if kind in path.name]
        if index and found:
            # A part may lie in the folder of another model, of which this one has the rest.
            found = [files.folder / name for name in sorted(_listed(files.name, index[0]))]
        if found:
            return kind, found
    raise ModelError(
        f"'{files.name}' holds no weights that can be read: no {SAFETENSORS} and no {BIN}. Weights "
        "of other frameworks must be converted first."
    )


def _listed(name: str, index: Path) -> set[str]:
    try:
        return set(json.loads(index.read_text())["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"The {index.name} of '{name}' is damaged: it does not say which file holds which "
            "weight. Fetch or save the model anew."
        ) from error


def tokenizer_files(files: Files) -> list[Path]:
    """The tokenizer's files."""
    return [path for name in TOKENIZER_FILES if (path := files.folder / name).is_file()]


def digest(paths: Iterable[Path]) -> str:
    """The sha256 of the files' names and contents: the same for every copy of a folder."""
    lines = []
    for path in sorted(paths, key=lambda path: path.name):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()

"""A model's files on this machine: found by its name, looked over, and identified."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from goffman.errors import ModelError, did_you_mean
from goffman.models.base import Identity, LoadOptions, check_precision
from goffman.models.fetch import FETCHABLE, remarks
from goffman.models.folder import read_object
from goffman.models.hub import SHIPPED, Files, digest, locate, tokenizer_files, weight_files

if TYPE_CHECKING:
    from collections.abc import Mapping

BUNDLED: Mapping[str, Path] = {name: SHIPPED / name for name in ("mini", "mini-sentiment")}
"""The models that ship with the package: name → folder."""

BUNDLED_PAIR = ("bundled:mini", "bundled:mini-sentiment")
"""A model, and the classifier that was fine-tuned from it."""

TERMS = (
    "This model's weights have a license of their own: for research and for trying out goffman, "
    "not for commercial use. See bundled/README.md in the package."
)
"""What is said whenever a bundled model is loaded."""

OWN_CODE = "Python code that came with the model was allowed to run: --trust-remote-code."


def our_own(spec: str) -> bool:
    """Whether a name is that of a model which goffman brings itself."""
    return spec in FETCHABLE or spec.startswith("bundled:")


def files_of(spec: str, *, weights: bool, fetched: Mapping[str, Path]) -> Files:
    """Where the model of this name lies; ``weights``: all of it, not the small files only."""
    if spec in FETCHABLE and not Path(spec).is_dir():
        if spec not in fetched:
            raise ModelError(
                f"'{spec}' is not on this machine yet. Download it: goffman models get {spec}"
            )
        return Files(name=spec, folder=fetched[spec], revision=None)
    if not spec.startswith("bundled:"):
        return locate(spec, weights=weights)
    name = spec.removeprefix("bundled:")
    if name not in BUNDLED:
        allowed = ", ".join(sorted(BUNDLED))
        raise ModelError(
            f"There is no bundled model '{name}'.{did_you_mean(name, BUNDLED)} Bundled models: "
            f"{allowed}. You can also give a folder, or a Hugging Face model (ORG/NAME)."
        )
    return Files(name=spec, folder=BUNDLED[name], revision=None)


def prepared(spec: str, options: LoadOptions, *, kind: str) -> tuple[Files, Identity]:
    """The model's files, all that are to be loaded, and which model it is; it may be loaded."""
    from goffman.models.forward import read_config

    files = files_of(spec, weights=options.weights, fetched=options.fetched)
    config = read_object(files.name, files.folder / "config.json")
    notes = remarks(files.folder)
    notes += _remote_code(files, config, allowed=options.trust_remote_code)
    if spec.startswith("bundled:"):
        notes = (*notes, TERMS)
    read_config(files, options)
    family = config.get("model_type") or ""
    return files, _identity(files, options, kind=kind, family=family, notes=notes)


def checked(spec: str, options: LoadOptions) -> Files:
    """The small files, or the error that loading would end with, as far as they tell.

    Weights are neither fetched nor read.
    """
    from goffman.models.forward import choose_device, quiet, read_config
    from goffman.models.tokens import load_tokenizer

    files = files_of(spec, weights=False, fetched=options.fetched)
    config = read_object(files.name, files.folder / "config.json")
    _remote_code(files, config, allowed=options.trust_remote_code)
    read_config(files, options)
    if options.workers is None:
        choose_device(options.device)
    check_precision(options.precision)
    if files.revision is None and options.weights:
        weight_files(files)
    with quiet():
        load_tokenizer(files.name, files.folder, trust_remote_code=options.trust_remote_code)
    return files


def tokenizer_settings(files: Files) -> dict[str, Any]:
    """What tokenizer_config.json says; nothing where there is none."""
    path = files.folder / "tokenizer_config.json"
    return read_object(files.name, path) if path.is_file() else {}


def _remote_code(files: Files, config: dict[str, Any], *, allowed: bool) -> tuple[str, ...]:
    """A note that the model's own code may run; an error where it must and may not."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if allowed:
        # Of a family that transformers knows, too: allowed, a model's own code comes first.
        brought = config.get("auto_map") or tokenizer_settings(files).get("auto_map")
        return (OWN_CODE,) if brought else ()
    if not config.get("auto_map") or config.get("model_type") in CONFIG_MAPPING_NAMES:
        return ()
    raise ModelError(
        f"'{files.name}' comes with Python code of its own. Read that code. If you trust it, "
        "allow it with --trust-remote-code."
    )


def _identity(
    files: Files, options: LoadOptions, *, kind: str, family: str, notes: tuple[str, ...]
) -> Identity:
    from goffman.models.forward import choose_device, device_name

    known = Identity(
        name=files.name,
        kind=kind,
        family=family,
        revision=files.revision,
        weights=None,
        weights_sha256=None,
        tokenizer_sha256=digest(tokenizer_files(files)),
        precision=options.precision,
        device="",
        notes=notes,
    )
    if not options.weights:
        return known
    weights, weights_sha256 = _weights_of(files)
    return replace(
        known,
        weights=weights,
        weights_sha256=weights_sha256,
        device=device_name(choose_device(options.device)),
    )


def _weights_of(files: Files) -> tuple[Literal["safetensors", "bin"], str]:
    """The kind of file that the weights are in, and their checksum."""
    kind, weights = weight_files(files)
    # The configuration belongs to the weights: the same numbers under another one answer otherwise.
    return kind, digest([files.folder / "config.json", *weights])


def checksums(spec: str, options: LoadOptions) -> dict[str, str | None]:
    """What an Identity says of a model's files, found without loading it."""
    files = files_of(spec, weights=True, fetched=options.fetched)
    weights, weights_sha256 = _weights_of(files)
    return {
        "revision": files.revision,
        "weights": weights,
        "weights_sha256": weights_sha256,
        "tokenizer_sha256": digest(tokenizer_files(files)),
    }

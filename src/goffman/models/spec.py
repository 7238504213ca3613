"""What a user calls a model → what it is, and the model itself.

roberta-base, org/name, org/name@revision   a model on the hub, or in its cache
path/to/folder                              a folder that save_pretrained wrote
bundled:NAME                                one that ships with the package
openai:NAME, http://host/v1#NAME            a chat model behind a server: asked, never filled
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from goffman.errors import ModelError, did_you_mean
from goffman.models.base import Identity, LoadOptions
from goffman.models.hub import Files, digest, locate, tokenizer_files, weight_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goffman.models.base import Classifies, Fills

Kind = Literal["masked", "classifier", "causal", "chat", "other"]
Use = Literal["fill", "classify"]

_SHIPPED = Path(__file__).parent / "bundled"

BUNDLED: Mapping[str, Path] = {name: _SHIPPED / name for name in ("mini", "mini-sentiment")}
"""The models that ship with the package: name → folder."""

TERMS = (
    "its weights have terms of their own (research and trying goffman, no commercial use), apart "
    "from the code's licence: see the card beside them, bundled/README.md."
)
"""What is said whenever a bundled model is loaded."""

CAN: Mapping[Kind, str] = {
    "masked": "it can fill masks",
    "classifier": "it can classify sentences",
    "causal": "it can score whole sentences",
    "chat": "it can answer questions",
    "other": "it has no head that goffman can ask",
}
"""What a model of each kind can be used for."""

NEEDED: Mapping[Use, tuple[Kind, str]] = {
    "fill": ("masked", "filling masks needs a masked model, such as roberta-base"),
    "classify": (
        "classifier",
        "classifying needs a classifier, such as siebert/sentiment-roberta-large-english",
    ),
}
"""The kind of model that each use needs, and how to say so."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """What a model is, by its own configuration."""

    name: str
    """As the user named it."""
    kind: Kind
    """masked, classifier, causal, chat (causal with a chat template), or other."""
    family: str
    """transformers' model_type: bert, roberta, xlnet …; empty for a model behind a server."""
    architecture: str
    """The class that it was saved from, or empty where the configuration does not say."""
    revision: str | None
    """The hub's commit, or None."""

    def __str__(self) -> str:
        made = ", ".join(part for part in (self.architecture, self.family) if part)
        kind = "a model of another kind" if self.kind == "other" else f"a {self.kind} model"
        return f"'{self.name}' is {kind} ({made or 'behind a server'}): {CAN[self.kind]}."


def describe(spec: str) -> Description:
    """What a model is and can be used for; of a hub id only the small files are fetched."""
    if _behind_server(spec):
        return Description(name=spec, kind="chat", family="", architecture="", revision=None)
    return _described(_files(spec, weights=False))


@overload
def load(spec: str, *, use: Literal["fill"], options: LoadOptions = ...) -> Fills: ...
@overload
def load(spec: str, *, use: Literal["classify"], options: LoadOptions = ...) -> Classifies: ...
def load(spec: str, *, use: Use, options: LoadOptions | None = None) -> Fills | Classifies:
    """The model that a user named, ready to be asked."""
    options = options or LoadOptions()
    described = describe(spec)
    needed, how = NEEDED[use]
    if described.kind != needed:
        raise ModelError(f"{described} But {how}.")
    files = _files(spec, weights=True)
    config = _config(files)
    notes = _remote_code(files, config, allowed=options.trust_remote_code)
    if spec.startswith("bundled:"):
        notes = (*notes, TERMS)
    identity = _identity(files, options, use=use, family=described.family, notes=notes)
    if use == "classify":
        from goffman.models.classifier import load_classifier

        return load_classifier(files, options, identity=identity)
    if described.family == "xlnet":
        from goffman.models.xlnet import load_xlnet

        return load_xlnet(files, options, identity=identity)
    from goffman.models.masked import load_masked

    return load_masked(files, options, identity=identity)


def _behind_server(spec: str) -> bool:
    return spec.startswith(("openai:", "http://", "https://"))


def _files(spec: str, *, weights: bool) -> Files:
    if not spec.startswith("bundled:"):
        return locate(spec, weights=weights)
    name = spec.removeprefix("bundled:")
    if name not in BUNDLED:
        allowed = ", ".join(sorted(BUNDLED)) or "none ships with this version"
        raise ModelError(
            f"There is no bundled model '{name}'; bundled are: {allowed}. Give one of these, a "
            f"folder or a hub id.{did_you_mean(name, BUNDLED)}"
        )
    return Files(name=spec, folder=BUNDLED[name], revision=None)


def _config(files: Files) -> dict[str, Any]:
    try:
        config = json.loads((files.folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"The config.json of '{files.name}' is not JSON: {error}.") from error
    return config if isinstance(config, dict) else {}


def _described(files: Files) -> Description:
    config = _config(files)
    architecture = (config.get("architectures") or [""])[0]
    family = str(config.get("model_type", ""))
    return Description(
        name=files.name,
        kind=_kind(architecture, family, chat=_has_chat_template(files.folder)),
        family=family,
        architecture=architecture,
        revision=files.revision,
    )


def _kind(architecture: str, family: str, *, chat: bool) -> Kind:
    if architecture.endswith("ForSequenceClassification"):
        return "classifier"
    if architecture.endswith("ForMaskedLM") or architecture == "XLNetLMHeadModel":
        return "masked"
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return "chat" if chat else "causal"
    # Saved for pretraining, BERT's kind has a masked head and ELECTRA's discriminator none; a
    # configuration that says nothing is taken at its family, and a head that is absent is found
    # when the weights are loaded.
    if (not architecture or architecture.endswith("ForPreTraining")) and family != "electra":
        from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

        if family in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
            return "masked"
    return "other"


def _has_chat_template(folder: Path) -> bool:
    if (folder / "chat_template.jinja").is_file():
        return True
    settings = folder / "tokenizer_config.json"
    try:
        return settings.is_file() and "chat_template" in json.loads(
            settings.read_text(encoding="utf-8")
        )
    except (ValueError, TypeError):
        # Broken: whoever needs the tokenizer is told so when it is loaded.
        return False


def _remote_code(files: Files, config: dict[str, Any], *, allowed: bool) -> tuple[str, ...]:
    """A note that the model's own code runs; an error where it must and may not."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if "auto_map" not in config or config.get("model_type") in CONFIG_MAPPING_NAMES:
        return ()
    if not allowed:
        raise ModelError(
            f"'{files.name}' needs Python code of its own, which comes with it. Read that code, "
            "and allow it with --trust-remote-code where you trust it."
        )
    return ("Python code that came with the model was run.",)


def _identity(
    files: Files, options: LoadOptions, *, use: Use, family: str, notes: tuple[str, ...]
) -> Identity:
    from goffman.models.forward import choose_device, device_name

    kind, weights = weight_files(files)
    return Identity(
        name=files.name,
        use=use,
        family=family,
        revision=files.revision,
        weights=kind,
        # The configuration belongs to the weights: the same numbers under another one answer
        # otherwise.
        weights_sha256=digest([files.folder / "config.json", *weights]),
        tokenizer_sha256=digest(tokenizer_files(files)),
        precision=options.precision,
        device=device_name(choose_device(options.device)),
        notes=notes,
    )

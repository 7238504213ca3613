"""What a user calls a model → what it is, and the model itself.

roberta-base, org/name, org/name@revision   a model on the hub, or in its cache
path/to/folder                              a folder that save_pretrained wrote
bundled:NAME                                one that ships with the package
smollm2-135m                                one that goffman models get has fetched
openai:NAME, http://host/v1#NAME            a chat model behind a server: asked, never filled
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from goffman.errors import ModelError, did_you_mean
from goffman.models.address import behind_server, parse_address
from goffman.models.base import Calling, Identity, LoadOptions, Sampling, check_precision
from goffman.models.fetch import FETCHABLE, remarks
from goffman.models.folder import read_object
from goffman.models.hub import SHIPPED, Files, digest, locate, tokenizer_files, weight_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goffman.models.base import Chats, Classifies, Fills, Scores

Kind = Literal["masked", "classifier", "causal", "chat", "other"]
Use = Literal["fill", "classify", "ask", "score"]

BUNDLED: Mapping[str, Path] = {name: SHIPPED / name for name in ("mini", "mini-sentiment")}
"""The models that ship with the package: name → folder."""

BUNDLED_PAIR = ("bundled:mini", "bundled:mini-sentiment")
"""A model, and the classifier that was fine-tuned from it."""

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
    "ask": (
        "chat",
        "asking needs a chat model: openai:NAME, http://HOST/v1#NAME, or one with a chat template",
    ),
    "score": ("causal", "scoring sentences needs a causal model that does not chat, such as gpt2"),
}
"""The kind of model that each use needs, and how to say so."""


OWN_CODE = "Python code that came with the model was allowed to run: --trust-remote-code."


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


def describe(spec: str, options: LoadOptions | None = None) -> Description:
    """What a model is and can be used for; of a hub id only the small files are fetched."""
    if behind_server(spec):
        parse_address(spec)
        return Description(name=spec, kind="chat", family="", architecture="", revision=None)
    fetched = (options or LoadOptions()).fetched
    return _described(_files(spec, weights=False, fetched=fetched))


@overload
def load(spec: str, *, use: Literal["fill"], options: LoadOptions = ...) -> Fills: ...
@overload
def load(spec: str, *, use: Literal["classify"], options: LoadOptions = ...) -> Classifies: ...
@overload
def load(spec: str, *, use: Literal["score"], options: LoadOptions = ...) -> Scores: ...
@overload
def load(
    spec: str,
    *,
    use: Literal["ask"],
    options: LoadOptions = ...,
    sampling: Sampling = ...,
    calling: Calling = ...,
) -> Chats: ...
def load(
    spec: str,
    *,
    use: Use,
    options: LoadOptions | None = None,
    sampling: Sampling | None = None,
    calling: Calling | None = None,
) -> Fills | Classifies | Chats | Scores:
    """The model that a user named, ready to be asked."""
    options = options or LoadOptions()
    sampling, calling = sampling or Sampling(), calling or Calling()
    check_precision(options.precision)
    described = describe(spec, options)
    needed, how = NEEDED[use]
    if described.kind != needed:
        raise ModelError(f"{described} But {how}.")
    if behind_server(spec):
        from goffman.models.chat_remote import call

        return call(spec, sampling=sampling, calling=calling)
    from goffman.models.forward import read_config

    files = _files(spec, weights=True, fetched=options.fetched)
    config = read_object(files.name, files.folder / "config.json")
    notes = remarks(files.folder)
    notes += _remote_code(files, config, allowed=options.trust_remote_code)
    if spec.startswith("bundled:"):
        notes = (*notes, TERMS)
    read_config(files, options)
    identity = _identity(files, options, use=use, family=described.family, notes=notes)
    if use == "ask":
        from goffman.models.chat_local import load_chat

        size = calling.batch_size
        return load_chat(files, options, identity=identity, sampling=sampling, batch_size=size)
    if use == "score":
        from goffman.models.causal import load_causal

        return load_causal(files, options, identity=identity)
    if use == "classify":
        from goffman.models.classifier import load_classifier

        return load_classifier(files, options, identity=identity)
    if described.family == "xlnet":
        from goffman.models.xlnet import load_xlnet

        return load_xlnet(files, options, identity=identity)
    from goffman.models.masked import load_masked

    return load_masked(files, options, identity=identity)


def check(spec: str, *, use: str, options: LoadOptions) -> None:
    """Nothing, or the error that loading would end with, as far as the small files tell.

    ``use``: fill, classify or ask. Weights are neither fetched nor read.
    """
    if behind_server(spec):
        return
    from goffman.models.forward import choose_device, quiet, read_config
    from goffman.models.tokens import load_tokenizer

    files = _files(spec, weights=False, fetched=options.fetched)
    config = read_object(files.name, files.folder / "config.json")
    _remote_code(files, config, allowed=options.trust_remote_code)
    read_config(files, options)
    choose_device(options.device)
    check_precision(options.precision)
    if files.revision is None:
        weight_files(files)
    with quiet():
        load_tokenizer(files.name, files.folder, trust_remote_code=options.trust_remote_code)
    if use == "classify":
        from goffman.models.classifier import class_sentiments

        class_sentiments(files, options)


def _files(spec: str, *, weights: bool, fetched: Mapping[str, Path]) -> Files:
    if spec in FETCHABLE and not Path(spec).is_dir():
        if spec not in fetched:
            raise ModelError(
                f"'{spec}' is not on this machine yet. Fetch it: goffman models get {spec}"
            )
        return Files(name=spec, folder=fetched[spec], revision=None)
    if not spec.startswith("bundled:"):
        return locate(spec, weights=weights)
    name = spec.removeprefix("bundled:")
    if name not in BUNDLED:
        allowed = ", ".join(sorted(BUNDLED))
        raise ModelError(
            f"There is no bundled model '{name}'; bundled are: {allowed}. Give one of these, a "
            f"folder or a hub id.{did_you_mean(name, BUNDLED)}"
        )
    return Files(name=spec, folder=BUNDLED[name], revision=None)


def _described(files: Files) -> Description:
    config = read_object(files.name, files.folder / "config.json")
    architecture = (config.get("architectures") or [""])[0]
    family = config.get("model_type") or ""
    return Description(
        name=files.name,
        kind=_kind(architecture, family, chat=_has_chat_template(files)),
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


def _has_chat_template(files: Files) -> bool:
    if (files.folder / "chat_template.jinja").is_file():
        return True
    return "chat_template" in _tokenizer_settings(files)


def _tokenizer_settings(files: Files) -> dict[str, Any]:
    path = files.folder / "tokenizer_config.json"
    return read_object(files.name, path) if path.is_file() else {}


def _remote_code(files: Files, config: dict[str, Any], *, allowed: bool) -> tuple[str, ...]:
    """A note that the model's own code may run; an error where it must and may not."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if allowed:
        # Of a family that transformers knows, too: allowed, a model's own code comes first.
        brought = config.get("auto_map") or _tokenizer_settings(files).get("auto_map")
        return (OWN_CODE,) if brought else ()
    if not config.get("auto_map") or config.get("model_type") in CONFIG_MAPPING_NAMES:
        return ()
    raise ModelError(
        f"'{files.name}' needs Python code of its own, which comes with it. Read that code, "
        "and allow it with --trust-remote-code where you trust it."
    )


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

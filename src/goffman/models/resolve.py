"""From the name that a user gives a model to its description, and to the model itself.

Names: ORG/NAME@REVISION, a folder, bundled:NAME, openai:NAME, http://HOST/v1#NAME, or a form of
another package. A model that is in memory already, such as one in training, is neither copied nor
kept: later questions are answered by what it has learned by then.
"""

from __future__ import annotations

import copy
import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from goffman.errors import GoffmanError, ModelError
from goffman.models.base import Calling, Identity, LoadOptions, Sampling, check_precision
from goffman.models.files import files_of, read_object, tokenizer_settings
from goffman.models.pypi_download import FETCHABLE
from goffman.models.registry import (
    Loading,
    ModelKind,
    Sample,
    model_in_memory,
    model_kinds,
    plugged_kind,
)
from goffman.models.server_address import behind_server, parse_address

WRAPPED = ("_orig_mod", "module")
"""Where torch.compile, and training on several GPUs, keep the model that they wrap."""

PUT_ON = ("forward", "_compiled_call_impl")
"""Attributes set on the object: accelerate's mixed precision, and torch's compiled call."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """A model as its own configuration describes it."""

    name: str
    """As the user named it."""
    kind: str
    """masked, classifier, qa, nli, causal, chat (causal with a chat template), a kind of another
    package, or other: a model that goffman cannot ask."""
    family: str = ""
    """transformers' model_type: bert, roberta, xlnet …; empty for a model behind a server, and for
    one of another package's kinds."""
    architecture: str = ""
    """The class that it was saved from; empty if the configuration does not say."""
    revision: str | None = None
    """The hub's commit, or None."""

    def __str__(self) -> str:
        details = ", ".join(part for part in (self.architecture, self.family) if part)
        if self.kind == "other":
            return f"'{self.name}' ({details}) is not a kind of model that goffman can ask."
        row = model_kinds()[self.kind]
        return f"'{self.name}' is {row.called}: {row.can}."


def describe(spec: str, options: LoadOptions | None = None) -> Description:
    """Return the description of a model; of a hub model, download only the small files."""
    if behind_server(spec):
        parse_address(spec)
        return Description(name=spec, kind="chat")
    provided = spec in FETCHABLE or spec.startswith("bundled:")
    # os.path.isdir returns False for names that no system allows, where Path.is_dir fails.
    row = None if provided or os.path.isdir(spec) else plugged_kind(spec)  # noqa: PTH112
    if row is not None:
        return Description(name=spec, kind=row.name)
    fetched = (options or LoadOptions()).fetched
    files = files_of(spec, weights=False, fetched=fetched)
    config = read_object(files.name, files.folder / "config.json")
    architecture = (config.get("architectures") or [""])[0]
    family = config.get("model_type") or ""
    classes = config.get("id2label")
    own_template = (files.folder / "chat_template.jinja").is_file()
    chat = own_template or "chat_template" in tokenizer_settings(files)
    return Description(
        name=files.name,
        kind=kind_of(
            architecture, family, chat=chat, labels=classes if isinstance(classes, dict) else {}
        ),
        family=family,
        architecture=architecture,
        revision=files.revision,
    )


def load(
    spec: str,
    *,
    kind: str,
    options: LoadOptions | None = None,
    sampling: Sampling | None = None,
    calling: Calling | None = None,
) -> Any:
    """Load the model that a user named, ready to be asked; raise ModelError if of another kind."""
    options = options or LoadOptions()
    check_precision(options.precision)
    description = describe(spec, options)
    row = model_kinds()[kind]
    if description.kind != kind:
        raise ModelError(f"{description} {row.doing.capitalize()} needs {row.needed}.")
    loading = Loading(
        options=options, sampling=sampling or Sampling(), calling=calling or Calling()
    )
    with _explained(row, spec):
        return row.load(spec, loading)


def check(spec: str, *, kind: str, options: LoadOptions) -> None:
    """Raise the error of loading the model, if a quick check can foresee it."""
    row = model_kinds()[kind]
    with _explained(row, spec):
        row.check(spec, options)


@contextmanager
def _explained(row: ModelKind, spec: str) -> Iterator[None]:
    """Raise ModelError for any error that another package's code raises in the block."""
    try:
        yield
    except GoffmanError:
        raise
    except Exception as error:
        if row.takes is None:
            raise
        raise ModelError(
            f"'{spec}' cannot be loaded. The package that provides {row.name} models failed with "
            f"{type(error).__name__}: {error}. Update that package, or report it to its authors."
        ) from error


def kind_of(
    architecture: str, family: str, *, chat: bool, labels: Mapping[Any, object] | None = None
) -> str:
    """Return the kind of a model by its class and family; ``chat``: it has a chat template.

    ``labels``: id2label, by which models of inference differ from other classifiers.
    """
    if architecture.endswith("ForSequenceClassification"):
        names = {str(label).casefold() for label in (labels or {}).values()}
        return "nli" if "entailment" in names else "classifier"
    if architecture.endswith(("ForQuestionAnswering", "ForQuestionAnsweringSimple")):
        return "qa"
    if architecture.endswith("ForMaskedLM") or architecture == "XLNetLMHeadModel":
        return "masked"
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return "chat" if chat else "causal"
    # Models saved for pretraining: those like BERT have a masked head, ELECTRA's discriminator has
    # none. A configuration that names no class is judged by its family; a missing head is noticed
    # when the weights are loaded.
    if (not architecture or architecture.endswith("ForPreTraining")) and family != "electra":
        from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

        if family in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
            return "masked"
    return "other"


def unwrapped(model: Any) -> Any:
    """Return the transformers model without wrappers: compiled, distributed, or adapters."""
    inner = model
    while attribute := next(
        (name for name in WRAPPED if name in inner.__dict__.get("_modules", {})), ""
    ):
        inner = getattr(inner, attribute)
    # An adapter such as LoRA stands in the layers of the model that it adapts.
    return inner.get_base_model() if hasattr(inner, "get_base_model") else inner


def describe_in_memory(model: Any, tokenizer: Any, *, name: str) -> Description:
    """Describe a model in memory by its class; raise ModelError if it is not of transformers."""
    import torch

    config: Any = getattr(model, "config", None)
    if not isinstance(model, torch.nn.Module) or not hasattr(config, "model_type"):
        raise ModelError(
            f"The model is a {type(model).__name__}. Only models of the transformers library can "
            "be asked while they are trained."
        )
    architecture, family = type(model).__name__, str(config.model_type)
    chat = bool(getattr(tokenizer, "chat_template", None))
    kind = kind_of(architecture, family, chat=chat, labels=config.id2label)
    return Description(name=name, kind=kind, family=family, architecture=architecture)


def in_memory(
    model: Any, tokenizer: Any, what: Description, *, labels: Mapping[str, str] | None = None
) -> Any:
    """Return the model as the protocols of base.py have it; call it inside of ``set_aside``.

    ``labels``: what a classifier's own labels mean. A chat model is asked for probabilities only.
    """
    from goffman.models.torch_common import DTYPES, device_name

    # A copy: ours is told not to cut texts, and its mask token may be repaired.
    tokenizer = copy.deepcopy(tokenizer)
    precisions = {dtype: precision for precision, dtype in DTYPES.items()}
    if model.dtype not in precisions:
        raise ModelError(
            f"The weights of {what.name} are {model.dtype}. Allowed: {', '.join(DTYPES)}."
        )
    identity = Identity(
        name=what.name,
        kind=what.kind,
        family=what.family,
        precision=precisions[model.dtype],
        device=device_name(model.device),
    )
    loading = Loading(options=LoadOptions(labels=labels))
    return model_in_memory(identity, model, tokenizer, loading, own_code=False)


def float32_deviation(
    low: Any, spec: str, *, kind: str, options: LoadOptions, sample: Sample
) -> Mapping[str, Any] | None:
    """Return how far a model's answers are from its own in float32; None if its kind cannot say."""
    compare = model_kinds()[kind].deviation
    if compare is None:
        return None
    float32 = load(spec, kind=kind, options=replace(options, precision="float32"))
    return compare(low, float32, sample)


@contextmanager
def set_aside(model: Any) -> Iterator[None]:
    """Set the model up as for an audit; afterwards its training goes on as if nothing had been.

    Meanwhile it is in eval mode, without gradients, in the precision of its weights and not
    compiled. Afterwards each module's mode is restored, and every generator that training may draw
    from.
    """
    import torch

    modes = [(module, module.training) for module in model.modules()]
    removed = {name: model.__dict__[name] for name in PUT_ON if name in model.__dict__}
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - training may draw from it
    gpus = [model.device.index] if model.device.type == "cuda" else []
    try:
        model.eval()
        for name in removed:
            del model.__dict__[name]
        with (
            torch.random.fork_rng(devices=gpus),
            torch.no_grad(),
            torch.autocast(model.device.type, enabled=False),
        ):
            yield
    finally:
        model.__dict__.update(removed)
        for module, mode in modes:
            module.training = mode
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002

"""A transformers model that is in memory already, such as one in training, ready to be asked.

Its weights are neither copied nor kept: later questions are answered by what it has learned by
then.
"""

from __future__ import annotations

import contextlib
import copy
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goffman.errors import ModelError
from goffman.models.base import Identity, Sampling
from goffman.models.causal import Causal
from goffman.models.chat_local import LocalChat
from goffman.models.classifier import Classifier, sentiments_of
from goffman.models.masked import make_masked
from goffman.models.passage import Inference, QuestionAnswerer
from goffman.models.resolve import Description, kind_of
from goffman.models.torch_common import DTYPES, device_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WRAPPED = ("_orig_mod", "module")
"""Where torch.compile, and training on several GPUs, keep the model that they wrap."""

PUT_ON = ("forward", "_compiled_call_impl")
"""Attributes set on the object: accelerate's mixed precision, and torch's compiled call."""


def unwrapped(model: Any) -> Any:
    """Return the transformers model itself, without what compiles, spreads or adapts it."""
    inner = model
    while attribute := next(
        (name for name in WRAPPED if name in inner.__dict__.get("_modules", {})), ""
    ):
        inner = getattr(inner, attribute)
    # An adapter such as LoRA stands in the layers of the model that it adapts.
    return inner.get_base_model() if hasattr(inner, "get_base_model") else inner


def describe_in_memory(model: Any, tokenizer: Any, *, name: str) -> Description:
    """Describe a model in memory by its class; raise ModelError if it is not of transformers."""
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
    if what.kind == "classifier":
        meanings = sentiments_of(what.name, model.config, given=labels)
        return Classifier(identity, model, tokenizer, labels=meanings)
    if what.kind == "masked":
        return make_masked(identity, model, tokenizer, own_code=False)
    if what.kind in {"qa", "nli"}:
        return (QuestionAnswerer if what.kind == "qa" else Inference)(identity, model, tokenizer)
    if what.kind == "causal":
        return Causal(identity, model, tokenizer)
    return LocalChat(identity, model, tokenizer, Sampling())


@contextlib.contextmanager
def set_aside(model: Any) -> Iterator[None]:
    """Set the model up as for an audit; afterwards its training goes on as if nothing had been.

    Meanwhile it is in eval mode, without gradients, in the precision of its weights and not
    compiled. Afterwards each module's mode is restored, and every generator that training may draw
    from.
    """
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

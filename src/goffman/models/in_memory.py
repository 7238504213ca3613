"""A transformers model that is in memory already, such as one in training, ready to be asked.

Its weights are neither copied nor kept: whoever asks it later hears what it has learned by then.
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
from goffman.models.resolve import Description, kind_of
from goffman.models.torch_common import DTYPES, device_name, quiet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WRAPPED = ("_orig_mod", "module")
"""Where torch.compile, and what trains on several GPUs, keep the model that they wrap."""


def unwrapped(model: Any) -> Any:
    """The transformers model itself, without what compiles, spreads or adapts it."""
    inner = model
    while found := next((one for one in WRAPPED if one in inner.__dict__.get("_modules", {})), ""):
        inner = getattr(inner, found)
    # An adapter such as LoRA stands in the layers of the model that it adapts.
    return inner.get_base_model() if hasattr(inner, "get_base_model") else inner


def describe_in_memory(model: Any, tokenizer: Any, *, name: str) -> Description:
    """What a model in memory is, by its class; ModelError where it is none of transformers'."""
    config: Any = getattr(model, "config", None)
    if not isinstance(model, torch.nn.Module) or not hasattr(config, "model_type"):
        raise ModelError(
            f"The model is a {type(model).__name__}. Only models of the transformers library can "
            "be asked while they are trained."
        )
    architecture, family = type(model).__name__, str(config.model_type)
    chat = bool(getattr(tokenizer, "chat_template", None))
    return Description(
        name=name,
        kind=kind_of(architecture, family, chat=chat),
        family=family,
        architecture=architecture,
        revision=None,
    )


def in_memory(
    model: Any, tokenizer: Any, what: Description, *, labels: Mapping[str, str] | None = None
) -> Any:
    """The model as the protocols of base.py have it; call it inside of ``set_aside``.

    ``labels``: what a classifier's own labels mean. Of a chat model only probabilities are asked.
    """
    # A copy: ours is told not to cut texts, and may have its mask token mended.
    tokenizer = copy.deepcopy(tokenizer)
    identity = _identity(model, what)
    if what.kind == "classifier":
        from goffman.models.classifier import Classifier, sentiments_of

        meant = sentiments_of(what.name, model.config, given=labels)
        return Classifier(identity, model, tokenizer, labels=meant)
    if what.kind == "masked":
        return _masked(model, tokenizer, identity)
    if what.kind == "causal":
        from goffman.models.causal import Causal

        return Causal(identity, model, tokenizer)
    from goffman.models.chat_local import LocalChat

    return LocalChat(identity, model, tokenizer, Sampling())


def _masked(model: Any, tokenizer: Any, identity: Identity) -> Any:
    from goffman.models.masked import (
        Masked,
        Scoring,
        check_vocabulary,
        choose_scoring,
        head_size,
        position_limit,
    )
    from goffman.models.tokenizer import Tokens

    ours = identity.family != "xlnet"
    with quiet():
        limit = position_limit(model) if ours else None
        tokens = Tokens(identity.name, tokenizer, specials=ours, limit=limit)
    check_vocabulary(identity.name, len(tokens), head_size(model))
    if ours:
        precision = identity.precision or "float32"
        scoring = choose_scoring(model, tokens, precision=precision, own_code=False)
    else:
        from goffman.models.xlnet import two_stream_logits_at

        scoring = Scoring(scorer=two_stream_logits_at, same_length=False)
    return Masked(identity, model, tokens, scoring=scoring)


def _identity(model: Any, what: Description) -> Identity:
    known = {dtype: precision for precision, dtype in DTYPES.items()}
    if model.dtype not in known:
        raise ModelError(
            f"The weights of {what.name} are {model.dtype}. Allowed: {', '.join(DTYPES)}."
        )
    return Identity(
        name=what.name,
        kind=what.kind,
        family=what.family,
        revision=None,
        weights=None,
        weights_sha256=None,
        tokenizer_sha256=None,
        precision=known[model.dtype],
        device=device_name(model.device),
    )


@contextlib.contextmanager
def set_aside(model: Any) -> Iterator[None]:
    """The model as an audit would have it; afterwards its training goes on as if nothing had been.

    In eval mode, without gradients, in the precision of its weights and not compiled. Each module's
    mode comes back, and every generator that training may draw from.
    """
    modes = [(module, module.training) for module in model.modules()]
    # Set on the object: accelerate's mixed precision, and torch's compiled call.
    put = {name: model.__dict__[name] for name in PUT_ON if name in model.__dict__}
    drawn = random.getstate(), np.random.get_state()  # noqa: NPY002 - training may draw from it
    gpus = [model.device.index] if model.device.type == "cuda" else []
    try:
        model.eval()
        for name in put:
            del model.__dict__[name]
        with (
            torch.random.fork_rng(devices=gpus),
            torch.no_grad(),
            torch.autocast(model.device.type, enabled=False),
        ):
            yield
    finally:
        model.__dict__.update(put)
        for module, mode in modes:
            module.training = mode
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])  # noqa: NPY002


PUT_ON = ("forward", "_compiled_call_impl")

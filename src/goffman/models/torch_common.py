"""What all models share: devices, loading, the head at the mask only, memory, the top k."""

from __future__ import annotations

import contextlib
import functools
import inspect
import pickle
import re
from array import array
from collections.abc import Callable, Iterator, Sequence, Sized
from itertools import chain
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from goffman.errors import AskingError, ModelError
from goffman.models.base import Filled, Later, LoadOptions, Precision
from goffman.models.files import Files, weight_files

Answer = TypeVar("Answer")
Asked = ParamSpec("Asked")
Row = TypeVar("Row", bound="Sized")

DTYPES: dict[Precision, torch.dtype] = {
    "float32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}

MEMORY_COMPLAINTS = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
)
"""The words for a failed allocation in torch's plain RuntimeErrors and in errors of systems."""


def choose_device(name: str) -> torch.device:
    """Return the device for ``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not re.fullmatch(r"cpu|cuda(:[0-9]+)?", name):
        raise ModelError(f"There is no device '{name}'. Give auto, cpu, cuda, cuda:0, cuda:1 …")
    if name != "cpu" and int(name.partition(":")[2] or 0) >= torch.cuda.device_count():
        raise ModelError(
            f"Device '{name}' is not available: torch finds {torch.cuda.device_count()} CUDA "
            "GPUs on this machine. Give auto or cpu."
        )
    return torch.device(name)


def device_name(device: torch.device) -> str:
    """Return cpu, or the GPU's name."""
    return str(torch.cuda.get_device_name(device)) if device.type == "cuda" else device.type


def without_gradients(ask: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Return the function run in torch's inference mode, unless gradients are off already.

    A model in training is asked with gradients off: what inference mode makes cannot be trained on.
    """

    @functools.wraps(ask)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        if not torch.is_grad_enabled():
            return ask(*args, **kwargs)
        with torch.inference_mode():
            return ask(*args, **kwargs)

    return asked


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' progress bars and warnings: goffman checks and says what matters."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def cannot_load(name: str, error: Exception) -> str:
    """Return a line that says that a model cannot be loaded, and why."""
    first, *more = str(error).strip().splitlines() or [type(error).__name__]
    if "ignore_mismatched_sizes" in first:
        first = "its weights do not have the sizes that its config.json says."
    if any(words in str(error).casefold() for words in MEMORY_COMPLAINTS):
        first = (
            "there is not enough memory for its weights. Use a smaller model, --precision bf16 or "
            "another --device, or free some memory."
        )
    # Some errors only announce the reason in their first line.
    text = f"{first} {more[0].strip()}" if first.endswith(":") and more else first
    return f"'{name}' cannot be loaded: {text}"


def read_config(files: Files, options: LoadOptions) -> Any:
    """Return the configuration as transformers reads it; raise ModelError if it is odd."""
    from transformers import AutoConfig

    try:
        with quiet():
            return AutoConfig.from_pretrained(
                files.folder, trust_remote_code=options.trust_remote_code
            )
    except Exception as error:  # transformers raises anything over odd files
        raise ModelError(cannot_load(files.name, error)) from error


def load_weights(kind: Any, files: Files, options: LoadOptions) -> Any:
    """Return a model with its head, on its device and in its precision.

    ``options.weights`` False: return its structure alone, which takes no memory.
    """
    if not options.weights:
        return _shape(kind, files, options)
    weights, _ = weight_files(files)
    try:
        with quiet():
            model, report = kind.from_pretrained(
                files.folder,
                dtype=DTYPES[options.precision],
                use_safetensors=weights == "safetensors",
                weights_only=True,
                trust_remote_code=options.trust_remote_code,
                output_loading_info=True,
            )
    except pickle.UnpicklingError as error:
        raise ModelError(
            f"The weights of '{files.name}' are in a format that could run code, and they are not "
            "safe to load. Ask the owner for safetensors, or convert the file yourself if you "
            "trust it."
        ) from error
    except Exception as error:
        raise ModelError(cannot_load(files.name, error)) from error
    absent = sorted(report["missing_keys"])
    if absent:
        raise ModelError(
            f"{len(absent)} weights of '{files.name}' are missing, such as {absent[0]}, so its "
            "answers would be random. Give a model that was saved with all of its layers."
        )
    return model.to(choose_device(options.device)).eval()


def _shape(kind: Any, files: Files, options: LoadOptions) -> Any:
    """Return the model on torch's meta device, where a tensor has a shape and no numbers."""
    config = read_config(files, options)
    try:
        with quiet(), torch.device("meta"):
            if hasattr(kind, "_model_mapping"):  # one of transformers' Auto classes
                shape = kind.from_config(config, trust_remote_code=options.trust_remote_code)
            else:
                shape = kind(config)
        # A few families make tensors in a way that ignores the device.
        return shape.to("meta")
    except Exception as error:
        raise ModelError(cannot_load(files.name, error)) from error


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that memory ran out, on a GPU or not."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error).casefold()
    return isinstance(error, RuntimeError) and any(words in text for words in MEMORY_COMPLAINTS)


def in_halves(ask: Callable[[Sequence[Row]], Answer], encoded: Sequence[Row]) -> list[Answer]:
    """Return the answers to all of ``encoded``, asked in halves again and again if memory runs out.

    The length of a row of ``encoded`` is its number of tokens.
    """
    try:
        return [ask(encoded)]
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        if len(encoded) == 1:
            raise AskingError(
                f"There is not enough memory for a single sentence of {len(encoded[0])} tokens. "
                "Use a smaller model, --precision bf16 or another --device, or free some memory."
            ) from error
    # Outside the except block, so that the failed call's tensors are gone.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    middle = len(encoded) // 2
    return in_halves(ask, encoded[:middle]) + in_halves(ask, encoded[middle:])


def by_length(encoded: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the indices of the sentences of each length."""
    indices: dict[int, list[int]] = {}
    for index, sentence in enumerate(encoded):
        indices.setdefault(len(sentence), []).append(index)
    return list(indices.values())


def padded(
    encoded: Sequence[Sequence[int]], *, pad_id: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return [sentence, position]: token ids padded on the right, and 1 where a token stands."""
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    attention = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(attention.shape, pad_id, dtype=np.int64)
    arrays = [sentence for sentence in encoded if isinstance(sentence, array)]
    if len(arrays) == len(encoded):
        ids[attention] = np.frombuffer(b"".join(arrays), dtype=np.uint32)
    else:
        ids[attention] = np.fromiter(chain.from_iterable(encoded), dtype=np.int64)
    return on_device(ids, device), on_device(attention.astype(np.int64), device)


def on_device(numbers: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Return the array as a tensor there, without waiting for a GPU that still calculates."""
    tensor = torch.from_numpy(numbers)
    # Only from pinned memory can a GPU copy while it calculates.
    tensor = tensor.pin_memory() if device.type == "cuda" else tensor
    return tensor.to(device, non_blocking=True)


def on_host(*tensors: torch.Tensor) -> Later[tuple[NDArray[Any], ...]]:
    """Return a function that returns the tensors as arrays, after waiting for a GPU."""
    copies = [tensor.to("cpu", non_blocking=True) for tensor in tensors]
    device = tensors[0].device
    if device.type != "cuda":
        return Later(lambda: tuple(copy.numpy() for copy in copies), lambda: True)
    # A blocking event lets other threads have the processor while it waits.
    event = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(device))

    def arrays() -> tuple[NDArray[Any], ...]:
        event.synchronize()
        return tuple(copy.numpy() for copy in copies)

    return Later(arrays, event.query)


def logits_at(model: Any, positions: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
    """Return [sentence, token]: the logits at one position per sentence, computed only there.

    The first part of the head that runs gets the hidden states of these positions instead of all:
    the vocabulary projection at every position is a third of the work and needed at one.
    """
    base = getattr(model, model.base_model_prefix, None)
    rows = torch.arange(len(positions), device=positions.device)
    whole = inputs["input_ids"].shape
    fired = False

    def narrow(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        nonlocal fired
        if fired or not arguments or arguments[0].shape[:2] != whole:
            return None
        fired = True
        return (arguments[0][rows, positions].unsqueeze(1), *arguments[1:])

    heads = [child for child in model.children() if child is not base]
    hooks = [head.register_forward_pre_hook(narrow) for head in heads]
    try:
        logits: torch.Tensor = model(**accepted(model, inputs)).logits
    finally:
        for hook in hooks:
            hook.remove()
    return logits[:, 0] if fired else logits[rows, positions]


def full_logits_at(model: Any, positions: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
    """Return what ``logits_at`` returns, from a plain forward pass: slower, but for any model."""
    rows = torch.arange(len(positions), device=positions.device)
    logits: torch.Tensor = model(**accepted(model, inputs)).logits
    return logits[rows, positions]


def accepted(model: Any, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the inputs that the model takes: a few families take no attention mask."""
    parameters = inspect.signature(model.forward).parameters
    return {name: value for name, value in inputs.items() if name in parameters}


def most_probable(logits: torch.Tensor, *, top_k: int, targets: Sequence[int]) -> Later[Filled]:
    """Return the k most probable tokens, ties by token id, and the targets' probabilities."""
    probabilities = torch.softmax(logits.float(), dim=-1)
    size = probabilities.shape[1]
    values, candidates = probabilities, torch.arange(size, device=probabilities.device)
    if top_k < size and probabilities.device.type == "cpu":
        # If no tie is at the edge, as nearly always, only the top k must be put in order.
        best = torch.topk(probabilities, top_k + 1, dim=-1)
        if (best.values[:, -1] < best.values[:, -2]).all():
            values, candidates = best.values[:, :-1].contiguous(), best.indices[:, :-1]
    # topk takes any of several equals. A probability is not negative, so its bits order as it does;
    # below them stands the reversed token id, and one number decides both.
    keys = values.view(torch.int32).long() * size + (size - 1 - candidates)
    ids = size - 1 - torch.topk(keys, top_k, dim=-1).values % size
    target_ids = on_device(np.array(targets, dtype=np.int64), probabilities.device)
    arrays = on_host(ids.int(), probabilities.gather(1, ids), probabilities[:, target_ids])

    def filled() -> Filled:
        token_ids, top, target_probabilities = arrays()
        return Filled(token_ids=token_ids, probabilities=top, targets=target_probabilities)

    return Later(filled, arrays.there)


def together(parts: Sequence[Filled]) -> Filled:
    """Return the answers to the parts of a batch, joined."""
    return Filled(
        token_ids=np.concatenate([part.token_ids for part in parts]),
        probabilities=np.concatenate([part.probabilities for part in parts]),
        targets=np.concatenate([part.targets for part in parts]),
    )

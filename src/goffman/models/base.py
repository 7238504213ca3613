"""What a model must do to be asked, and how it says which model it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Precision = Literal["float32", "bf16", "fp16"]


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """How a model is to be loaded."""

    device: str = "auto"
    """auto, cpu, cuda, cuda:1 …"""
    precision: Precision = "float32"
    trust_remote_code: bool = False
    """Whether Python code that comes with a model may run."""
    labels: Mapping[str, str] | None = None
    """A classifier's own label names → negative, neutral, positive."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Which model answers, exactly: two models with one identity give the same answers."""

    name: str
    """As the user named it; the ``model`` column of every table."""
    use: Literal["fill", "classify", "ask", "score"]
    family: str
    """transformers' model_type: bert, roberta, xlnet …"""
    revision: str | None
    """The hub's commit, or None for a folder."""
    weights: Literal["safetensors", "bin", "gguf"] | None
    """The kind of file that the weights came from; this and the next two are None behind a server,
    which does not say."""
    weights_sha256: str | None
    tokenizer_sha256: str | None
    precision: Precision
    device: str
    """cpu, or the GPU's name."""
    notes: tuple[str, ...] = ()
    """What loading repaired or chose, in sentences for the user."""


@dataclass(frozen=True, kw_only=True)
class Filled:
    """The answers to one batch of masked sentences, in its order."""

    token_ids: NDArray[np.int32]
    """[sentence, rank]: the top k, most probable first; ties by token id."""
    probabilities: NDArray[np.float32]
    """[sentence, rank]: over the full vocabulary."""
    targets: NDArray[np.float32]
    """[sentence, target]: the probability of each target token, wherever it ranks."""


class Fills(Protocol):
    """A model that fills one mask in a sentence."""

    @property
    def identity(self) -> Identity:
        """Which model this is."""
        ...

    @property
    def tokens(self) -> Sequence[str]:
        """Every token as text, by its id, a leading space and case kept."""
        ...

    def single_tokens(self, words: Sequence[str]) -> tuple[dict[str, int], list[str]]:
        """Word → token id where it stands after a space, and the words that are not one token."""
        ...

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, ``<mask>`` replaced by the model's own and specials added."""
        ...

    def fill_batch(
        self, encoded: Sequence[Sequence[int]], *, top_k: int, targets: Sequence[int] = ()
    ) -> Filled:
        """The fills of sentences asked together; out of memory, in halves."""
        ...


class Classifies(Protocol):
    """A model that gives a sentence one of two or three sentiments."""

    @property
    def identity(self) -> Identity:
        """Which model this is."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """negative, neutral, positive: those that the model knows, in the order of its classes."""
        ...

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, specials added."""
        ...

    def classify_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """[sentence, class]: the probability of every class."""
        ...


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A question put to a chat model in a fresh chat."""

    text: str
    trial: int
    """1, 2 …: the same text is asked once in each."""
    seed: int
    """What the sampling of this reply starts from, where the model lets one say."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a chat model said to one turn, as it came."""

    text: str | None
    """The whole reply; None: none came."""
    finish_reason: str | None
    """Why it ended: stop, length, content_filter …"""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    fingerprint: str | None = None
    """What the server says of itself, where it does."""
    served_by: str | None = None
    """The model's name in the server's own answer."""


class Chats(Protocol):
    """A model that answers questions."""

    @property
    def identity(self) -> Identity:
        """Which model this is."""
        ...

    def chat(self, turns: Sequence[Turn], heard: Callable[[int, Reply], None]) -> None:
        """Asks every turn, so many at once as suits the model; in no order that can be relied on.

        ``heard`` gets a turn's position and its reply as soon as it is there, never two at a time.
        What it does must be done (on disk) when it returns. AskingError where the model fails for
        good: the replies that were heard are kept.
        """
        ...

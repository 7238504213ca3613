"""The protocols that models follow to be asked, and how a model says which one it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar, get_args, runtime_checkable

from goffman.errors import ModelError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Precision = Literal["float32", "bf16", "fp16"]

Answer = TypeVar("Answer")


def check_precision(name: str) -> None:
    """Raise ModelError if there is no such precision."""
    allowed = get_args(Precision)
    if name not in allowed:
        raise ModelError(
            f"There is no precision '{name}'.{did_you_mean(name, allowed)} Allowed: "
            f"{', '.join(allowed)}."
        )


def not_a_number(precision: Precision | None) -> str:
    """Return the message that a model gave a NaN for a probability."""
    if precision == "float32":
        return (
            "it gave a probability that is not a number. Its weights contain NaN or infinity, or "
            "its numbers get too large for float32. Download or save the model again."
        )
    return "it gave a probability that is not a number. Use --precision float32."


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """How a model is to be loaded."""

    device: str = "auto"
    """auto, cpu, cuda, cuda:1 …; for several (cuda:0,cuda:1 or cuda:all), a worker for each."""
    precision: Precision = "float32"
    trust_remote_code: bool = False
    """Whether Python code that comes with a model may run."""
    labels: Mapping[str, str] | None = None
    """A classifier's own label names → negative, neutral, positive; several may mean the same."""
    fetched: Mapping[str, Path] = field(default_factory=dict)
    """The models that goffman fetched itself: name → folder."""
    weights: bool = True
    """False: everything but the weights is loaded, because workers have them."""
    workers: str | None = None
    """ray://HOST:PORT: a Ray cluster on which models calculate; None: this machine."""
    mixed_hardware: bool = False
    """Whether workers on unlike hardware may answer one run."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a chat model draws its replies."""

    temperature: float = 1.0
    """0: always the most probable token; the same replies in every trial."""
    max_tokens: int = 64
    """A reply is cut after so many tokens; its finish_reason is then length."""
    top_p: float | None = None
    """Only the most probable tokens that together reach this are drawn; None: no limit is set."""


@dataclass(frozen=True, kw_only=True)
class BatchSizes:
    """How many sentences are asked, and written, together."""

    max_tokens: int
    """The most tokens in a batch, padded to its longest sentence."""
    max_size: int
    """The most sentences in a batch."""
    part_size: int
    """A part is full once it has this many sentences; so many are lost when a run is killed."""


@dataclass(frozen=True, kw_only=True)
class Calling:
    """How chat models are called; all fields but the last concern models behind servers."""

    openai_key: str | None = field(default=None, repr=False)
    """The key for ``openai:`` models only."""
    key: str | None = field(default=None, repr=False)
    """The key for models at other addresses; None: they need none."""
    key_name: str | None = None
    """The environment variable that the key came from, for messages."""
    concurrency: int = 16
    """The most requests under way at the same time."""
    per_minute: int | None = None
    """The most requests in any minute; None: as many as the server takes."""
    timeout: float = 120.0
    """Seconds after which a request without an answer is sent again."""
    batch_size: int | None = None
    """How many chats a model on this machine is asked together; None: what suits the device."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Which model answers, exactly: models with equal identities give equal answers."""

    name: str
    """As the user named it; the ``model`` column of every table."""
    kind: str
    """masked, classifier, qa, nli, causal, chat, or a kind of another package: see registry.py."""
    family: str
    """transformers' model_type: bert, roberta, xlnet …"""
    revision: str | None = None
    """The hub's commit, or None for a folder."""
    weights: Literal["safetensors", "bin", "gguf"] | None = None
    """The kind of file that the weights came from; this field and the next two are None for a model
    behind a server, which does not say."""
    weights_sha256: str | None = None
    tokenizer_sha256: str | None = None
    precision: Precision | None = None
    """None for a model behind a server."""
    parameters: int | None = None
    """How many numbers the weights contain; None: their files do not say."""
    device: str
    """cpu, or the GPU's name; server: the model is behind a server."""
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


@dataclass(frozen=True)
class Later(Generic[Answer]):
    """An answer that a GPU may still be calculating."""

    get: Callable[[], Answer]
    """Waits for the answer and returns it."""
    there: Callable[[], bool]
    """Returns whether the answer is ready."""

    def __call__(self) -> Answer:
        """Return the answer, after waiting for it."""
        return self.get()


class Model(Protocol):
    """A model that can be asked."""

    @property
    def identity(self) -> Identity:
        """Return the identity of the model."""


class Fills(Model, Protocol):
    """A model that fills one mask in a sentence."""

    @property
    def tokens(self) -> Sequence[str]:
        """Return every token as text, by its id, with its leading space and case kept."""

    @property
    def special_ids(self) -> Collection[int]:
        """Return the ids of tokens that are no words: the mask, padding, markers around a text."""

    def single_tokens(self, words: Sequence[str]) -> tuple[dict[str, int], list[str]]:
        """Return the token id of each word after a space, and the words that are not one token."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids of each text, with the model's own mask for ``<mask>`` and specials."""

    def fill_batch(
        self, encoded: Sequence[Sequence[int]], *, top_k: int, targets: Sequence[int] = ()
    ) -> Filled:
        """Return the most probable words for each mask; if memory runs out, ask in halves."""


class Classifies(Model, Protocol):
    """A model that gives a sentence a sentiment."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the sentiment of each class; probabilities of equal sentiments are added."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, with special tokens."""

    def classify_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return an array [sentence, class] of probabilities."""


def by_meaning(
    probabilities: NDArray[np.float32], labels: Sequence[str]
) -> tuple[list[str], NDArray[np.float32]]:
    """Return the distinct labels and an array [sentence, label]: sums over a label's classes."""
    import numpy as np

    distinct = list(dict.fromkeys(labels))
    class_labels = np.array(labels)
    return distinct, np.stack(
        [probabilities[:, class_labels == label].sum(axis=1) for label in distinct], 1
    )


class Picks(Model, Protocol):
    """A model that reads a passage about two people and picks one of them."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return passages with questions or statements (``Prompt.asked``) as token ids."""

    def pick_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return an array [text, 3]: probabilities of the first person, the second, no answer."""


class Scores(Model, Protocol):
    """A model that gives whole sentences a probability."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, after the model's start token if it has one."""

    def score_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Return the natural logarithm of each sentence's probability given its first token."""


PART = "\x1e"
"""The separator between PromptParts that are written as one text: the record separator."""


@dataclass(frozen=True, kw_only=True)
class PromptParts:
    """A question, the beginning of its reply, and the system prompt."""

    text: str
    prefill: str = ""
    """The beginning of the reply; empty: the model begins it."""
    system: str = ""
    """The system prompt; empty: none."""

    @classmethod
    def read(cls, written: str) -> PromptParts:
        """Return the parts of a text as ``Prompt.asked`` writes it."""
        text, prefill, system = (*written.split(PART), "", "")[:3]
        return cls(text=text, prefill=prefill, system=system)


@dataclass(frozen=True, kw_only=True)
class NextWords:
    """The words that a model may say next, most probable first."""

    tokens: tuple[str, ...]
    """As the model spells them, with leading space and case kept."""
    probabilities: NDArray[np.float32]


class Continues(Model, Protocol):
    """A model that continues a text: with the next word, or one of several options."""

    @property
    def next_word(self) -> NextReader:
        """Return the reader of the model's next words."""


class NextReader(Protocol):
    """A reader of the probabilities that a model gives to next words or options."""

    @property
    def tokens(self) -> Sequence[str]:
        """Return every token as text, by its id, with its leading space and case kept."""

    def encode(self, openings: Sequence[PromptParts]) -> list[list[int]]:
        """Return the token ids of each text, up to where the model continues it."""

    def words(self, encoded: Sequence[Sequence[int]], *, top_k: int) -> list[NextWords]:
        """Return the most probable next words of each text."""

    def options(
        self, encoded: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> NDArray[np.float32]:
        """Return [text, label]: the probability that the next token spells the label."""


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """A question put to a chat model in a fresh chat."""

    text: str
    """As ``Prompt.asked`` writes it: see PromptParts."""
    trial: int
    """1, 2 …: each text is asked once per trial."""
    seed: int
    """The seed for sampling this reply, if the model accepts one."""
    words: bool = False
    """Whether the possible first words of the reply are wanted with their probabilities, if a
    server can give them."""
    options: bool = False
    """The same for the token with which the answer to a question with options begins."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a chat model said to one turn, unchanged."""

    text: str | None
    """The reply without its reasoning; None: no reply came."""
    finish_reason: str | None
    """Why the reply ended: stop, length, content_filter …"""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    fingerprint: str | None = None
    """The server's system fingerprint, if it gives one."""
    served_by: str | None = None
    """The model's name in the server's answer."""
    reasoning: str | None = None
    """The model's reasoning before the reply, if it shows it; never read as the answer."""
    next_words: str | None = None
    """JSON: for each of the first tokens, or for the one with which an answer begins, its text and
    pairs of a possible token and its log probability; None: not asked for, or the server does not
    say."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """How a server does in the current asking, or did in the last one."""

    timeouts: int
    """How many requests were given up because no answer came in time; each was sent again."""
    at_once: int
    """How many requests may be under way now: fewer after timeouts."""
    most_at_once: int
    """How many requests may be under way at best."""
    changed: tuple[str, ...] = ()
    """Sentences on what is no longer sent as at first, because the server refuses it."""


@runtime_checkable
class Serves(Protocol):
    """A chat model behind a server, which may be slow, or refuse parameters."""

    troubled: Callable[[], None]
    """Called after each timeout, never while ``heard`` takes a reply."""

    @property
    def service(self) -> Service:
        """Return the state of the server in the current asking, or in the last one."""

    def meet(self) -> None:
        """Raise ModelError if the server lists its models, and this one is none of them."""


class Chats(Model, Protocol):
    """A model that answers questions."""

    def chat(self, turns: Sequence[ChatRequest], heard: Callable[[int, Reply], None]) -> None:
        """Ask every turn, as many at once as suits the model, in no reliable order.

        ``heard`` gets a turn's position and its reply as soon as it arrives, never two at a time. A
        reply that it has taken is not lost when the process is killed; an error that it raises ends
        the asking. Raise AskingError if the model fails for good: the replies that were heard are
        kept.
        """

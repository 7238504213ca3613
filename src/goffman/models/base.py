"""What a model must do to be asked, and how it says which model it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar, get_args, runtime_checkable

from goffman.errors import ModelError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

Precision = Literal["float32", "bf16", "fp16"]

Answer = TypeVar("Answer")


def check_precision(given: str) -> None:
    """Nothing, or the error that there is no such precision."""
    allowed = get_args(Precision)
    if given not in allowed:
        raise ModelError(
            f"There is no precision '{given}'.{did_you_mean(given, allowed)} Allowed: "
            f"{', '.join(allowed)}."
        )


def not_a_number(precision: Precision | None) -> str:
    """What is to be said of a model that gives a probability that is not a number."""
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
    """auto, cpu, cuda, cuda:1 …; several, as in cuda:0,cuda:1, or cuda:all: a worker for each."""
    precision: Precision = "float32"
    trust_remote_code: bool = False
    """Whether Python code that comes with a model may run."""
    labels: Mapping[str, str] | None = None
    """A classifier's own label names → negative, neutral, positive; several may mean the same."""
    fetched: Mapping[str, Path] = field(default_factory=dict)
    """The models that goffman fetched itself: name → folder."""
    weights: bool = True
    """False: only what reads and writes texts is loaded, as workers have the weights."""
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
    """A reply is cut after so many tokens, and says so: its finish_reason is length."""
    top_p: float | None = None
    """Only the most probable tokens that have this much together; None: as the model has it."""


@dataclass(frozen=True, kw_only=True)
class Calling:
    """How chat models are called: all but the last is about those behind servers."""

    openai_key: str | None = field(default=None, repr=False)
    """For ``openai:`` models alone."""
    key: str | None = field(default=None, repr=False)
    """For models at another address; None: they want none."""
    key_name: str | None = None
    """The variable of the environment that the key came from, to be named in messages."""
    concurrency: int = 16
    """Requests under way at the same time, at most."""
    per_minute: int | None = None
    """Requests in any minute, at most; None: as many as the server takes."""
    timeout: float = 120.0
    """Seconds after which a request without an answer is sent again."""
    batch_size: int | None = None
    """Chats of a model on this machine that are asked together; None: what suits the device."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Which model answers, exactly: two models with one identity give the same answers."""

    name: str
    """As the user named it; the ``model`` column of every table."""
    kind: str
    """masked, classifier, qa, nli, causal, chat, or a kind of another package: see registry.py."""
    family: str
    """transformers' model_type: bert, roberta, xlnet …"""
    revision: str | None = None
    """The hub's commit, or None for a folder."""
    weights: Literal["safetensors", "bin", "gguf"] | None = None
    """The kind of file that the weights came from; this and the next two are None behind a server,
    which does not say."""
    weights_sha256: str | None = None
    tokenizer_sha256: str | None = None
    precision: Precision | None = None
    """None behind a server."""
    parameters: int | None = None
    """How many numbers the weights are; None: their files do not say."""
    device: str
    """cpu, or the GPU's name; server: on a machine that others keep."""
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
    """Waits for it."""
    there: Callable[[], bool]
    """Whether nothing is to be waited for."""

    def __call__(self) -> Answer:
        """The answer."""
        return self.get()


class Model(Protocol):
    """A model that can be asked."""

    @property
    def identity(self) -> Identity:
        """Which model this is."""


class Fills(Model, Protocol):
    """A model that fills one mask in a sentence."""

    @property
    def tokens(self) -> Sequence[str]:
        """Every token as text, by its id, a leading space and case kept."""

    @property
    def special_ids(self) -> Collection[int]:
        """The ids of tokens that are no words: the mask, padding, what stands around a text."""

    def single_tokens(self, words: Sequence[str]) -> tuple[dict[str, int], list[str]]:
        """Word → token id where it stands after a space, and the words that are not one token."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, ``<mask>`` replaced by the model's own and specials added."""

    def fill_batch(
        self, encoded: Sequence[Sequence[int]], *, top_k: int, targets: Sequence[int] = ()
    ) -> Filled:
        """The fills of sentences asked together; out of memory, in halves."""


class Classifies(Model, Protocol):
    """A model that gives a sentence a sentiment."""

    @property
    def labels(self) -> tuple[str, ...]:
        """negative, neutral, positive: what each class means; classes of one meaning are added."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, specials added."""

    def classify_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """[sentence, class]: the probability of every class."""


def by_meaning(
    probabilities: NDArray[np.float32], labels: Sequence[str]
) -> tuple[list[str], NDArray[np.float32]]:
    """The different labels, and [sentence, label]: what classes of one label have together."""
    import numpy as np

    different = list(dict.fromkeys(labels))
    own = np.array(labels)
    return different, np.stack([probabilities[:, own == one].sum(axis=1) for one in different], 1)


class Picks(Model, Protocol):
    """A model that reads a passage about two people and picks one."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """A passage with its question or statements, as ``Prompt.asked`` writes it, as numbers."""

    def pick_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """[text, 3]: how probable the first person is, the second, and no answer."""


class Scores(Model, Protocol):
    """A model that gives whole sentences a probability."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, the one that begins a text before them where there is one."""

    def score_batch(self, encoded: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """[sentence]: the natural logarithm of its probability, the first token given."""


PART = "\x1e"
"""Stands between the parts of an opening that is written as one text: the record separator."""


@dataclass(frozen=True, kw_only=True)
class PromptParts:
    """A question, and how its reply begins."""

    text: str
    prefill: str = ""
    """What the reply begins with; empty: the model begins it."""
    system: str = ""
    """The system prompt; empty: none."""

    @classmethod
    def read(cls, written: str) -> PromptParts:
        """As ``Prompt.asked`` writes it."""
        text, begun, system = (*written.split(PART), "", "")[:3]
        return cls(text=text, prefill=begun, system=system)


@dataclass(frozen=True, kw_only=True)
class NextWords:
    """The words that a model may say next, most probable first."""

    tokens: tuple[str, ...]
    """As the model spells them: a leading space and case kept."""
    probabilities: NDArray[np.float32]


class Continues(Model, Protocol):
    """A model that goes on with a text: the next word, or one of several options."""

    @property
    def next_word(self) -> NextReader:
        """What reads the next word off it."""


class NextReader(Protocol):
    """Reads the next word, or option, off a model."""

    @property
    def tokens(self) -> Sequence[str]:
        """Every token as text, by its id, a leading space and case kept."""

    def encode(self, openings: Sequence[PromptParts]) -> list[list[int]]:
        """The token ids of each text, up to where the model goes on."""

    def words(self, encoded: Sequence[Sequence[int]], *, top_k: int) -> list[NextWords]:
        """The most probable next words of each text."""

    def options(
        self, encoded: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> NDArray[np.float32]:
        """[text, label]: the probability that the next token spells the label."""


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """A question put to a chat model in a fresh chat."""

    text: str
    """As ``Prompt.asked`` writes it: see PromptParts."""
    trial: int
    """1, 2 …: the same text is asked once in each."""
    seed: int
    """What the sampling of this reply starts from, where the model lets one say."""
    words: bool = False
    """Whether the words that may come first are wanted with their probabilities, if a server can
    say them."""
    options: bool = False
    """Whether those of the token with which the answer begins are, to a question with options."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a chat model said to one turn, as it came."""

    text: str | None
    """The reply, without what the model said to itself; None: none came."""
    finish_reason: str | None
    """Why it ended: stop, length, content_filter …"""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    fingerprint: str | None = None
    """What the server says of itself, where it does."""
    served_by: str | None = None
    """The model's name in the server's own answer."""
    reasoning: str | None = None
    """What the model said to itself before, where it shows it; never read as the answer."""
    next_words: str | None = None
    """JSON: for each of the first tokens, or for the one with which an answer begins, the text and,
    as pairs, what else it could have been and how probable; None: not asked for, or the server does
    not say."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """How a server has done in the asking that goes on, or was the last."""

    timeouts: int
    """Requests that were given up because no answer came in time; each was sent again."""
    at_once: int
    """So many requests may be under way now: fewer after timeouts."""
    most_at_once: int
    """So many may be at best."""
    changed: tuple[str, ...] = ()
    """What the server is not told as it was at first, because it refuses it: sentences."""


@runtime_checkable
class Serves(Protocol):
    """A chat model behind a server, which may be slow, or choosy."""

    troubled: Callable[[], None]
    """Called after each timeout, never while a reply is heard."""

    @property
    def service(self) -> Service:
        """How the server does."""

    def meet(self) -> None:
        """ModelError where the server lists its models, and this one is none of them."""


class Chats(Model, Protocol):
    """A model that answers questions."""

    def chat(self, turns: Sequence[ChatRequest], heard: Callable[[int, Reply], None]) -> None:
        """Asks every turn, so many at once as suits the model; in no order that can be relied on.

        ``heard`` gets a turn's position and its reply as soon as it is there, never two at a time.
        A reply that it has taken is not lost when the process is killed; what it raises ends the
        asking. AskingError where the model fails for good: the replies that were heard are kept.
        """

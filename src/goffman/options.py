"""The options of an audit: what to ask, how, what to measure with, and whom to inform."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goffman.config import Sample
from goffman.instruments.types import Identities
from goffman.models.base import Calling, Sampling
from goffman.progress import Expected, Progress


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What a server charges for a million tokens, in the user's currency."""

    question: float = 0.0
    reply: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ChatOptions:
    """How chat models are asked."""

    trials: int | None = None
    """In a fresh chat each time; None: as the instrument says."""
    sampling: Sampling = field(default_factory=Sampling)
    calling: Calling = field(default_factory=Calling)
    prices: Prices | None = None
    """What the server charges, to be shown before it is asked; None: not known."""


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """What is asked of every model; config.py says what each option does."""

    top_k: int | None = None
    """None: as each instrument says."""
    limit: int | None = None
    """None: all prompts."""
    controls: bool = True
    batch_size: int | None = None
    """None: what suits the device."""
    seed: int = 0
    targets: tuple[str, ...] = ()
    paraphrases: bool = False
    cross: Identities | None = None
    """A second identity of the people: the same is asked about each of its levels, too."""
    modes: tuple[str, ...] = ()
    """Empty: all that a model can be asked."""
    sample: Sample | None = None
    """None: all prompts, but only the balanced sample of what is answered in text, or on a
    server."""
    system: str | None = None
    """The text itself, of a persona too."""
    persona: str | None = None
    """The persona as it was given."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    no_answer: bool | None = None
    """Whether questions with options offer not to answer; None: yes."""
    chats: ChatOptions = field(default_factory=ChatOptions)
    given: tuple[str, ...] = ()
    """The options of an audit that differ from the defaults, by their names in config.py."""
    dry_run: bool = False


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What the answers are measured with; config.py says what each option does."""

    ratings: tuple[Path, ...] = ()
    """The last is the strongest; all stand over the shipped ratings."""
    gender_words: Path | None = None
    parser: str | None = None
    """None: the one with which the run was read before; v2 for a new run."""
    pairs: tuple[tuple[str, str], ...] = ()
    """A base model and the classifier fine-tuned from it, whose measures are correlated."""
    anchors: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Listener:
    """The functions that are called while an audit goes on."""

    progress: Callable[[Progress], None] = lambda _: None
    """Called after every batch."""
    note: Callable[[str], None] = lambda _: None
    """Called with what the user should know: what was left out, repaired, asked again."""
    detail: Callable[[str], None] = lambda _: None
    """Called with what few users want to know: how a model was loaded, what each mode takes."""
    expect: Callable[[Expected], None] = lambda _: None
    """Called before anything is asked."""
    stage: Callable[[str], None] = lambda _: None
    """Called when something else than asking begins, such as the report."""

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
    """How often each prompt is asked, in a fresh chat each time; None: as the instrument says."""
    sampling: Sampling = field(default_factory=Sampling)
    calling: Calling = field(default_factory=Calling)
    prices: Prices | None = None
    """What the server charges, to be shown before it is asked; None: not known."""


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """What is asked of every model."""

    top_k: int | None = None
    """How many words are kept at each mask; None: as each instrument says."""
    limit: int | None = None
    """How many prompts of each instrument are asked, from the first; None: all. Controls are asked
    anyway."""
    controls: bool = True
    """Whether control items are asked, which show that a model can do the task."""
    batch_size: int | None = None
    """Sentences per batch; None: what suits the device."""
    seed: int = 0
    """Seed of the sample on which a lower precision is compared with float32, of the sentence pairs
    that are drawn, and of the replies of chat models."""
    targets: tuple[str, ...] = ()
    """Words whose probability is kept whatever their rank."""
    paraphrases: bool = False
    """Whether to ask also those wordings of an instrument that are asked only on request."""
    cross: Identities | None = None
    """A second identity of the people: the same is asked about each of its levels, too."""
    modes: tuple[str, ...] = ()
    """Only these ways of asking: fill, completion, choice, reply …; empty: all that a model can."""
    sample: Sample | None = None
    """How many of the prompts; None: all, but only the balanced sample of what is answered in text,
    or on a server."""
    system: str | None = None
    """The system prompt of chat and causal models; None: none."""
    persona: str | None = None
    """The persona whose text the system prompt is, as it was given; None: no persona."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of single instruments, such as coreference.pairs: see config.py."""
    no_answer: bool | None = None
    """Whether questions with options offer not to answer; None: yes."""
    chats: ChatOptions = field(default_factory=ChatOptions)
    """How chat models are asked."""
    given: tuple[str, ...] = ()
    """The options of an audit that differ from the defaults, by their names in config.py."""
    dry_run: bool = False
    """Whether to ask nobody and write nothing, but tell the listener what would be asked."""


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What the answers are measured with."""

    ratings: tuple[Path, ...] = ()
    """CSV files of the user's own attitudes of words, over the shipped ones, the last strongest."""
    gender_words: Path | None = None
    """A CSV file of gendered words, in place of the shipped lexicon."""
    parser: str | None = None
    """The parser of replies; None: the one with which the run was read before; v2 for a new run."""
    pairs: tuple[tuple[str, str], ...] = ()
    """A base model and the classifier fine-tuned from it, whose measures are correlated."""
    anchors: tuple[Path, ...] = ()
    """Folders of the user's own anchors, which are compared with what fits them."""


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

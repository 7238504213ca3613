"""What an audit may be told: what to ask, how, what to measure with, and whom to tell."""

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
    """What a server takes for a million tokens, in the user's currency."""

    question: float = 0.0
    reply: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ChatOptions:
    """How chat models are asked."""

    trials: int | None = None
    """So often each prompt, in a fresh chat each time; None: as the instrument says."""
    sampling: Sampling = field(default_factory=Sampling)
    calling: Calling = field(default_factory=Calling)
    prices: Prices | None = None
    """What the server takes, to be told before it is asked; None: not known."""


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """What is asked of every model."""

    top_k: int | None = None
    """So many words at each mask; None: as each instrument says."""
    limit: int | None = None
    """Only the first so many prompts of each instrument; None: all. Controls are asked anyway."""
    controls: bool = True
    """Whether control items are asked, which show that a model can do the task."""
    batch_size: int | None = None
    """Sentences a batch; None: what suits the device."""
    seed: int = 0
    """For the sample on which a lower precision is compared with float32, the sentence pairs that
    are drawn, and the replies of chat models."""
    targets: tuple[str, ...] = ()
    """Words whose probability is kept wherever they rank."""
    paraphrases: bool = False
    """Also those wordings of an instrument that are asked only on request."""
    cross: Identities | None = None
    """A second identity of the people: the same is asked about each of its levels, too."""
    modes: tuple[str, ...] = ()
    """Only these ways of asking: fill, completion, choice, reply …; none: all that a model can."""
    sample: Sample | None = None
    """How many of the prompts; None: all, but of what is answered in text, or on a server, the
    balanced sample."""
    system: str | None = None
    """The system prompt of chat and causal models; None: none."""
    persona: str | None = None
    """The persona whose text the system prompt is, as it was given; None: it is none's."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of single instruments, such as coreference.pairs: see config.py."""
    no_answer: bool | None = None
    """Whether not to answer is an option of questions with options; None: yes."""
    chats: ChatOptions = field(default_factory=ChatOptions)
    """How chat models are asked."""
    given: tuple[str, ...] = ()
    """The options of an audit that are not as by default, by their names in config.py."""
    dry_run: bool = False
    """Nobody is asked and nothing is written: the listener is told what would be asked."""


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What the answers are measured with."""

    ratings: tuple[Path, ...] = ()
    """CSV files of one's own attitudes of words, over the shipped ones, the last strongest."""
    gender_words: Path | None = None
    """A CSV file of gendered words, in the place of the shipped lexicon."""
    parser: str | None = None
    """What replies are read by; None: as the run was read before, a new one by v2."""
    pairs: tuple[tuple[str, str], ...] = ()
    """A base model and the classifier fine-tuned from it, whose measures are correlated."""
    anchors: tuple[Path, ...] = ()
    """Folders of anchors of one's own, which what fits them is set beside."""


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Who is told while it goes on."""

    progress: Callable[[Progress], None] = lambda _: None
    """After every batch."""
    note: Callable[[str], None] = lambda _: None
    """What the user should know: what was left out, repaired, asked again."""
    detail: Callable[[str], None] = lambda _: None
    """What few users want to know: how a model was loaded, what each mode takes."""
    expect: Callable[[Expected], None] = lambda _: None
    """Before anything is asked."""
    stage: Callable[[str], None] = lambda _: None
    """When something else than asking begins, such as the report."""

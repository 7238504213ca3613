"""The types with which a measure says how it is presented."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import polars as pl

    from goffman.lexicons.lexicons import Lexicons
    from goffman.presentation.section import Section
    from goffman.presentation.table_formats import Table
    from goffman.presentation.vega import Figure


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What a measure's number is, what claims it supports, and what claims it does not."""

    measured: str
    """One or two sentences: what the number is."""
    supports: str
    """Completes “Where such a result is clear, it can support the claim …”, without a full stop."""
    does_not_support: str
    """Completes “It cannot support claims …”, without a full stop."""
    caveats: tuple[str, ...]
    """Other causes of such a number."""


@dataclass(frozen=True, kw_only=True)
class Caveat:
    """A caveat to be shown beside a main result."""

    id: str
    """The same wherever it is shown."""
    short: str
    """At most twelve words."""
    text: str
    """The caveat in whole sentences."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a run says about one model, in sentences; the same in the terminal and on the page."""

    model: str
    """As it is shown."""
    head: str
    """In a few words: which way the difference points, or that it is not clear."""
    text: str
    """The main numbers and their uncertainty."""
    short: str = ""
    """The heading without its verdict, for a place where the verdict stands before it."""
    caveats: tuple[Caveat, ...] = ()
    """What must be known beside it, the weightiest first."""
    why: str = ""
    """Why the verdict is what it is."""
    wording: str = ""
    """How much depends on the wording; empty: nothing can."""
    robust: str = ""
    """The range of the difference with one part left out, or a parameter set to another value."""
    caveat: str = ""
    """A sentence without which the heading would mislead; it stands beside it."""
    styled: bool = False
    """Whether the heading is a style of answering: what the model does whatever it is asked."""
    moved: str = ""
    """A sentence, beside the heading, that the wording moves the number more than the group does;
    empty: it does not."""
    depends: str = ""
    """Sentences, beside the heading, on what changes the sign of the difference or halves it;
    empty: nothing."""
    rest: str = ""
    """What else stands out."""
    more: tuple[str, ...] = ()
    """Further sentences, for readers who want every number."""
    difference: float | None = None
    """The difference that a bar is drawn for, with the ends of its interval; None: no bar."""
    low: float | None = None
    high: float | None = None
    p_adjusted: float | None = None
    verdict: str | None = None
    """None: it was not tested."""
    shown: str = ""
    """The verdict as people read it."""
    margin: float | None = None
    """The smallest difference that counts as relevant."""
    unit: str = ""
    """The words before the number if it is not a difference of shares."""
    asked: str = ""
    """What was asked, if it is too little to show how much sentences matter."""

    @property
    def heading(self) -> str:
        """Return the heading as a sentence, and what stands beside it."""
        return " ".join(part for part in (f"{self.head}.", self.aside) if part)

    @property
    def aside(self) -> str:
        """Return what must be known beside the heading, and what its verdict depends on."""
        return " ".join(part for part in (self.moved, self.caveat, self.depends) if part)

    @property
    def said(self) -> str:
        """Return its sentences, without the heading and what only some readers want."""
        parts = (self.text, self.why, self.wording, self.robust, self.rest)
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers of one model to one instrument."""

    table: str
    """fills, labels, replies or likelihoods."""
    frame: pl.DataFrame
    cased: bool
    """Whether the model's words have case."""


FindingsFn: TypeAlias = "Callable[[Section], Iterator[Finding]]"
FigureFn: TypeAlias = "Callable[[Section], Iterator[Figure]]"
TableFn: TypeAlias = "Callable[[Section], Iterator[Table]]"
StyleFn: TypeAlias = "Callable[[Section, str], str]"
EvidenceFn: TypeAlias = "Callable[[Answers, Section, Lexicons | None, int], pl.DataFrame]"
"""Answers, section, lexicons, number of ranks to keep of each prompt → the columns EVIDENCE."""


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """Everything that reports need to know about a measure."""

    quantity: str
    """The number that is shown for a condition."""
    called: str
    """What that number is called in a column's heading: P(negative)."""
    axis: str
    """What it is called on the axis of a figure."""
    ends: tuple[str, str] = ("lower", "higher")
    """What a low and a high number mean, at the two ends of an axis."""
    claims: Claims
    findings: FindingsFn
    figures: tuple[FigureFn, ...]
    """In the order of the page."""
    tables: tuple[TableFn, ...]
    evidence: EvidenceFn
    main: tuple[str, ...] = ("groups", "groups-as-asked")
    """The kinds of contrasts that the page lists and exports carry."""
    phrases: bool = False
    """Whether answers are phrases of several words, not words."""
    keyed: bool = False
    """Whether the signs of the scale's values are reversed for reversed items."""
    style: StyleFn | None = None
    """Returns as a heading what a model does whatever it is asked, or nothing; also if nothing
    else can be said. None: answers of this kind have no style."""
    controls_count: str = ""
    """A sentence on what counts in control items but not in the numbers; empty: the same counts."""

    @property
    def counted(self) -> str:
        """Return the word for answers that are counted."""
        return "phrases" if self.phrases else "words"

    @property
    def uncounted(self) -> str:
        """Return the words for answers that are not counted."""
        if self.phrases:
            return "phrases with a word that is not among the most probable at its place"
        return "words too rare to count"

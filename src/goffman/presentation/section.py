"""The types with which a measure says how it is presented."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from goffman.console import printable
from goffman.formatting import ends, number, setting_name
from goffman.instruments.types import BASELINE, Noun
from goffman.schemas import (
    ANALYSIS,
    LEFT_OUT,
    PARAMETER,
    PARAPHRASE_ALONE,
    RATINGS_COMPARED,
    SENSITIVITY,
    STRESS,
    WITH_PARAPHRASES,
    WORD,
    WORDING_ALONE,
    WRONG_LABELS,
    schema,
)

if TYPE_CHECKING:
    from goffman.formatting import Labels
    from goffman.lexicons.lexicons import Lexicons
    from goffman.presentation.competence import Competence
    from goffman.presentation.table_formats import Table
    from goffman.presentation.vega import Figure

EVERY = {"model": "all models", "wording": "all wordings", "dimension": "all items"}
"""The texts shown for a null in these columns: the row is over all of them."""


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


def claims_of(measure: str) -> Claims:
    """Return the claims of a measure, or of one in a mode, by its name in claims.toml."""
    fields = _claims()[measure]
    return Claims(**{**fields, "caveats": tuple(fields["caveats"])})


@cache
def _claims() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Caveat:
    """A caveat that is shown with a main result."""

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
    """The heading without its verdict, for places that show the verdict first."""
    caveats: tuple[Caveat, ...] = ()
    """Shown with it, the weightiest first."""
    why: str = ""
    """The reason for the verdict."""
    wording: str = ""
    """How much depends on the wording; empty: nothing can."""
    robust: str = ""
    """The range of the difference with one part left out, or a parameter set to another value."""
    styled: bool = False
    """Whether the heading is a style of answering: what the model does whatever it is asked."""
    moved: str = ""
    """A sentence, after the heading, that the wording moves the number more than the group does;
    empty: it does not."""
    depends: str = ""
    """Sentences, after the heading, on what changes the sign of the difference or halves it;
    empty: nothing."""
    rest: str = ""
    """Further notable results."""
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
        """Return the heading as a sentence, then ``aside``."""
        return " ".join(part for part in (f"{self.head}.", self.aside) if part)

    @property
    def aside(self) -> str:
        """Return the sentences that follow a heading: ``moved`` and ``depends``."""
        return " ".join(part for part in (self.moved, self.depends) if part)

    @property
    def value(self) -> str:
        """Return the difference with its sign; for a log ratio, the ratio."""
        if self.difference is None:
            return ""
        if self.unit.startswith("log"):
            return f"×{math.exp(self.difference):.2f}"
        return f"{'+' if self.difference > 0 else ''}{number(self.difference)}"

    @property
    def interval(self) -> str:
        """Return the interval of a difference; for a log ratio, of the ratio."""
        if self.low is None:
            return ""
        if self.unit.startswith("log") and self.high is not None:
            return f"{math.exp(self.low):.2f} to {math.exp(self.high):.2f}"
        return ends(self.low, self.high)

    @property
    def said(self) -> str:
        """Return the sentences below the heading, without ``more``."""
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
    """Returns a heading on what a model does whatever it is asked, or ""; None: there is no such
    style in answers of this kind."""
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


@dataclass(frozen=True, kw_only=True)
class Section:
    """The scores and estimates of one instrument and measure, and the names that are shown."""

    instrument: str
    measure: str
    """The measure's name."""
    unit: str
    """What a condition is called: a condition, or a setting."""
    presentation: Presentation
    scores: pl.DataFrame
    estimates: pl.DataFrame
    names: Labels
    contrast: str = ""
    against: str = ""
    wordings: Sequence[str] = ()
    """In the instrument's order."""
    items: Sequence[str] = ()
    dimensions: Sequence[str] = ()
    prompts: pl.DataFrame = field(default_factory=pl.DataFrame)
    placement: str = "before-first"
    """The placement of the words put back in recursive masking."""
    competence: Mapping[str, Competence] = field(default_factory=dict)
    """By model, as the user gave it: its result on the control items, if it was asked them."""
    main_modes: Mapping[str, str] = field(default_factory=dict)
    """By model, as the user gave it: the id of this instrument in the mode of its main result."""
    sample: str | None = None
    """Which sample of the prompts was asked: quick or balanced; None: all, or as the user said."""
    ratings: str = ""
    """A sentence on who rated the words behind the numbers; empty: no ratings are needed."""
    compared: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=schema(RATINGS_COMPARED))
    )
    """The columns RATINGS_COMPARED; no rows: there are no other ratings to compare with."""
    sensitivity: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=schema(SENSITIVITY))
    )
    """The columns SENSITIVITY: headlines and some other contrasts, computed in other ways."""
    stress: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=schema(STRESS)))
    """The columns STRESS; no rows: other analyses of the headlines were not run."""

    @property
    def robustness(self) -> pl.DataFrame:
        """Return the variations with one part left out, or a parameter set to another value."""
        return self._varied(*LEFT_OUT, PARAMETER)

    @property
    def multiverse(self) -> pl.DataFrame:
        """Return the headlines in other analyses, and with one part left out or spoiled."""
        if not self.stress.height:
            return self.sensitivity.clear()
        return self._varied(*LEFT_OUT, ANALYSIS, WORD, WRONG_LABELS).filter("main")

    @property
    def by_wording(self) -> pl.DataFrame:
        """Return the headlines from one wording alone, and with the paraphrases."""
        return self._varied(WORDING_ALONE, PARAPHRASE_ALONE, WITH_PARAPHRASES)

    def _varied(self, *variations: str) -> pl.DataFrame:
        return self.sensitivity.filter(pl.col("variation").is_in(variations))

    def models(self) -> list[str]:
        """Return the models as they are shown, in the order in which they were asked."""
        return list(self._models)

    @cached_property
    def _models(self) -> list[str]:
        # Cached, like the groups: it is read for each row, and there may be millions of scores.
        scored = self.scores["model"].drop_nulls().unique(maintain_order=True).to_list()
        order = [name for name in self.names.models if name in scored]
        return [self.names.model(name) for name in dict.fromkeys([*order, *scored])]

    def is_main(self, model: str) -> bool:
        """Return whether a model's main result is in this mode; ``model`` is its shown name."""
        shown = {self.names.model(name): asked for name, asked in self.main_modes.items()}
        return shown.get(model, self.instrument) == self.instrument

    def control(self, model: str) -> Competence | None:
        """Return a model's result on the control items, by its shown name; None: not asked."""
        by_shown = {
            self.names.model(name): competence for name, competence in self.competence.items()
        }
        return by_shown.get(model)

    def unmeasurable(self) -> dict[str, Competence]:
        """Return the models whose numbers mean nothing here, by name as the user gave it."""
        return {
            name: competence
            for name, competence in self.competence.items()
            if not competence.passed
        }

    @property
    def noun(self) -> Noun:
        """Return the noun for its conditions: the instrument's own, or else the measure's."""
        info = self.names.instruments.get(self.instrument)
        return (info and info.noun) or Noun(one=self.unit, many=f"{self.unit}s")

    def groups(self) -> list[str]:
        """Return the groups of conditions, the contrast's two first, without the baseline."""
        return list(self._groups)

    @cached_property
    def _groups(self) -> list[str]:
        scored = self.scores["group"].drop_nulls().unique(maintain_order=True).to_list()
        order = [group for group in (self.contrast, self.against) if group in scored]
        groups = [*order, *(group for group in scored if group not in {*order, BASELINE})]
        return [printable(group) for group in groups]

    def rows(
        self, level: str, quantity: str | Sequence[str], model: str | None = None
    ) -> pl.DataFrame:
        """Return the level's scores that have a value, of all models or a shown one."""
        wanted = [quantity] if isinstance(quantity, str) else list(quantity)
        scores = self._by_level.get(level)
        if scores is None:
            scores = self.scores.filter(level=level)
        # Scores of prompts, which are nearly all, are not cached as a copy.
        if level != "prompt":
            self._by_level[level] = scores
        return self.shown(
            scores.filter(pl.col("quantity").is_in(wanted), pl.col("value").is_not_null()), model
        )

    @cached_property
    def kept(self) -> dict[str, list[Finding]]:
        """Return the cache of findings that are made once from the section."""
        return {}

    @cached_property
    def _by_level(self) -> dict[str, pl.DataFrame]:
        return {}

    def of_model(self, model: str) -> pl.DataFrame:
        """Return the scores of a model, by its shown name."""
        names = [name for name in self.scores["model"].unique() if self.names.model(name) == model]
        return self.scores.filter(pl.col("model").is_in(names))

    def contrasts(self, kind: str, model: str | None = None) -> pl.DataFrame:
        """Return the kind's estimates that have a difference, of all models or a shown one."""
        rows = self.estimates.filter(kind=kind).drop_nulls("difference")
        return self.shown(rows, model)

    def shown(self, rows: pl.DataFrame, model: str | None = None) -> pl.DataFrame:
        """Return the rows with models as shown and six digits, of all models or a shown one."""
        names = {name: self.names.model(name) for name in rows["model"].drop_nulls().unique()}
        shown = pl.col("model").replace_strict(names, return_dtype=pl.String)
        rows = rows.with_columns(
            shown.fill_null(self.names.model(None)), pl.selectors.float().round_sig_figs(6)
        )
        return rows if model is None else rows.filter(model=model)

    def called(self, condition: str) -> str:
        """Return a condition, or an adjective setting, as it is shown."""
        if self.unit == "setting":
            return setting_name(condition)
        return self.names.condition(self.instrument, condition)

    @property
    def item_texts(self) -> dict[str, str]:
        """Return the shown text of each item, in the instrument's order."""
        return {item: self.names.item(self.instrument, item) for item in self.items}

    def in_categories(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of conditions with the study's category in place of a narrower one."""
        categories = {
            condition: category
            for (instrument, condition), category in self.names.categories.items()
            if instrument == self.instrument
        }
        wider = pl.col("condition").replace_strict(categories, default=None, return_dtype=pl.String)
        return rows.with_columns(category=pl.coalesce(wider, "category"))

    def named(self, rows: pl.DataFrame, column: str = "condition") -> pl.DataFrame:
        """Return the rows with the shown name of their condition in the column ``name``."""
        names = {
            condition: self.called(condition) for condition in rows[column].drop_nulls().unique()
        }
        name = pl.col(column).replace_strict(names, default=None, return_dtype=pl.String)
        return rows.with_columns(name=name)


UNSEEN_END = "unseen-end"
"""The quantity for the probability of phrases whose last word is unknown."""


def not_counted(
    section: Section,
    *,
    model: str | None = None,
    group: str | None = None,
    variant: str | None = None,
    quantities: Sequence[str] = ("mass", "outside"),
) -> float | None:
    """Return the mean probability of what is neither female, male, nor unspecified; None: unknown.

    ``model``: as it is shown; None for ``model``, ``group`` or ``variant``: all of them.
    With a group, the mean is of the first wording, as in the group's contrast.
    """
    scores = section.scores if model is None else section.of_model(model)
    rows = scores.filter(
        pl.col("group") != BASELINE if group is None else pl.col("group") == group,
        pl.col("quantity").is_in(list(quantities)),
        level="prompt",
    )
    if group is not None and section.wordings:
        rows = rows.filter(wording=section.wordings[0])
    if variant:
        rows = rows.filter(variant=variant)
    # Words below the threshold or beyond the top k; or words that were not put back.
    uncounted = pl.when(pl.col("quantity") == "mass").then(1 - pl.col("value")).otherwise("value")
    mean = rows.select(uncounted.mean().alias("left"))["left"][0]
    return None if mean is None else float(mean)

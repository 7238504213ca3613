"""What an analyst could have chosen otherwise: choices and their options, as data.

A measure names its choices in its file; here are the types, and the choices that several measures
share. The first option of a choice is what the audit did. An option says what differs: parameters
of the measure, how words are read, which prompts count, or how the contrast is made. Options use
stored answers alone: what would need another answer is no option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.lexicons.attitude import BUILT_IN
from goffman.lexicons.lexicons import has_others, single_raters
from goffman.parsers.registry import parsers

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons
    from goffman.measures.base import Measure


@dataclass(frozen=True, kw_only=True)
class Option:
    """One way to make a choice; whatever it leaves out is as in the audit."""

    label: str
    """The option in a few words: “25 words”, “rater 1 alone”."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the measure that differ."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """Fields of lexicons.lexicons.LexiconVariant."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Columns of the prompts and values: only prompts with these values count."""
    variant: str = ""
    """The variant of the scores: with-names, without-names; empty: the headline's."""
    quantity: str = ""
    """The number that the contrast is made of; empty: the headline's."""
    prepared: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    """A function that changes the prepared answers before they are counted."""
    paraphrases: bool = False
    """Whether to count wordings that are asked only on request, where they were asked."""


@dataclass(frozen=True, kw_only=True)
class StoredAnswers:
    """What the options are computed from: one model's answers to one instrument."""

    measure: Measure
    prompts: pl.DataFrame
    """The prompts that the model was asked."""
    answers: pl.DataFrame
    words: Lexicons
    headline: Mapping[str, Any]
    """The row of the estimates that is the headline."""


@dataclass(frozen=True, kw_only=True)
class AnalyticChoice:
    """A choice in the analysis that could have been made otherwise."""

    name: str
    """Completes “the … matters most”; so it is singular."""
    options: Callable[[StoredAnswers], Sequence[Option]]
    """The options, the audit's own first; with fewer than two there is nothing to choose."""


def _words_counted(stored: StoredAnswers) -> list[Option]:
    """Return options for the number of words that count: the audit's, half of it, and a fifth."""
    most = stored.measure.counted_words
    if most is None:
        ranks = stored.answers.filter(step=1)["rank"].drop_nulls()
        most = int(ranks.max() or 0)  # type: ignore[arg-type]
    counts = dict.fromkeys((most, most // 2, most // 5))
    return [
        Option(label=f"{count} words", parameters={"top_k": count} if count != most else {})
        for count in counts
        if count >= LEAST_WORDS or count == most
    ]


LEAST_WORDS = 5
"""The least number of words in an option: shares among fewer are mostly chance."""

WORDS_COUNTED = AnalyticChoice(name="number of words", options=_words_counted)


def _ratings(stored: StoredAnswers) -> list[Option]:
    """Return options for the ratings: the audit's, those of fewer sources, and each rater's."""
    attitudes = stored.words.attitudes
    own_files = tuple(source.file for source in attitudes.sources if source.file in BUILT_IN)
    rater: dict[str, Any] = {}
    options = [Option(label="settled labels")]
    if has_others(attitudes):
        options = [
            Option(label="your ratings over goffman's"),
            Option(label="goffman's ratings alone", words={"sources": own_files}),
        ]
    elif len(own_files) > 1:
        rater = {"sources": ("shipped",)}
        options = [
            Option(label="people's ratings over language models'"),
            Option(label="language models' ratings alone", words=rater),
        ]
    for name in single_raters(attitudes):
        label = f"rater {name.removeprefix('rating_')} alone"
        options.append(Option(label=label, words={**rater, "rater": name}))
    return options


RATINGS = AnalyticChoice(name="rater", options=_ratings)


NEUTRAL_WORDS = AnalyticChoice(
    name="counting of neutral words",
    options=lambda _: [
        Option(label="counted"),
        Option(label="not counted", words={"neutral": False}),
    ],
)


def _wordings(stored: StoredAnswers) -> list[Option]:
    options = [Option(label="all wordings")]
    if _asked(stored, "paraphrase"):
        options = [
            Option(label="wordings of the instrument"),
            Option(label="with the paraphrases", paraphrases=True),
        ]
    single_wordings = _each_alone(stored, "wording")
    return [*options, *single_wordings] if len(single_wordings) > 1 else []


WORDINGS = AnalyticChoice(name="wording", options=_wordings)


def _one_wording(stored: StoredAnswers) -> list[Option]:
    first, *wordings = _asked(stored, "wording")
    return [
        Option(label=first),
        *(Option(label=wording, only={"wording": wording}) for wording in wordings),
    ]


ONE_WORDING = AnalyticChoice(name="wording", options=_one_wording)


def _orders(stored: StoredAnswers) -> list[Option]:
    single_orders = _each_alone(stored, "order")
    return [Option(label="all orders"), *single_orders] if len(single_orders) > 1 else []


ORDERS = AnalyticChoice(name="order of options", options=_orders)


def _names(stored: StoredAnswers) -> list[Option]:
    headline = stored.headline["variant"]
    labels = {"with-names": "counted", "without-names": "not counted"}
    variants = [variant for variant in labels if variant != headline]
    return [
        Option(label=labels.get(headline, str(headline))),
        *(Option(label=labels[variant], variant=variant) for variant in variants),
    ]


FIRST_NAMES = AnalyticChoice(name="counting of first names", options=_names)


def _parsers(stored: StoredAnswers) -> list[Option]:
    own_parser = stored.words.parser
    names = [name for name in parsers() if name != own_parser]
    return [
        Option(label=own_parser),
        *(Option(label=name, words={"parser": name}) for name in names),
    ]


PARSERS = AnalyticChoice(name="parser", options=_parsers)


def _each_alone(stored: StoredAnswers, column: str) -> list[Option]:
    return [
        Option(label=f"{value} alone", only={column: value}) for value in _asked(stored, column)
    ]


def _asked(stored: StoredAnswers, column: str) -> list[str]:
    """Return the values that a column of the prompts has, in the instrument's order."""
    if column not in stored.prompts.columns:
        return []
    return stored.prompts[column].drop_nulls().unique(maintain_order=True).to_list()

"""What an analyst could have chosen otherwise: choices and their options, as data.

A measure names its choices in its file; here are the types, and the choices that several measures
share. The first option of a choice is what the audit did. An option says what differs: parameters
of the measure, how words are read, which prompts count, or how the contrast is made. From stored
answers alone: an option that would need another answer is none.
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
    """One way to do it; whatever is not said is as the audit did it."""

    said: str
    """In a few words: “25 words”, “rater 1 alone”."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the measure, set otherwise."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """Fields of lexicons.otherwise.Otherwise."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Columns of the prompts: only those with these values count."""
    variant: str = ""
    """Of the scores: with-names, without-names; empty: the headline's."""
    quantity: str = ""
    """The number that the contrast is made of; empty: the headline's."""
    prepared: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    """What becomes of the prepared answers before they are counted."""
    paraphrases: bool = False
    """Whether wordings count that are asked only on request, where they were asked."""


@dataclass(frozen=True, kw_only=True)
class StoredAnswers:
    """What there is to choose from: one model's answers to one instrument."""

    measure: Measure
    prompts: pl.DataFrame
    """Those that the model was asked."""
    answers: pl.DataFrame
    words: Lexicons
    headline: Mapping[str, Any]
    """The row of the estimates."""


@dataclass(frozen=True, kw_only=True)
class AnalyticChoice:
    """Something that could have been done otherwise."""

    name: str
    """Completes “the … matters most”; so it is singular."""
    options: Callable[[StoredAnswers], Sequence[Option]]
    """The audit's own first; fewer than two: there is nothing to choose."""


def _words_counted(stored: StoredAnswers) -> list[Option]:
    """All words that count, half of them and a fifth."""
    most = stored.measure.counted_words
    if most is None:
        ranks = stored.answers.filter(pl.col("step") == 1)["rank"].drop_nulls()
        most = int(ranks.max() or 0)  # type: ignore[arg-type]
    counts = dict.fromkeys((most, most // 2, most // 5))
    return [
        Option(said=f"{count} words", parameters={"top_k": count} if count != most else {})
        for count in counts
        if count >= LEAST_WORDS or count == most
    ]


LEAST_WORDS = 5
"""Of fewer words a share is one of chance."""

WORDS_COUNTED = AnalyticChoice(name="number of words", options=_words_counted)


def _ratings(stored: StoredAnswers) -> list[Option]:
    """The ratings of the audit, those of language models alone, and each single rater."""
    attitudes = stored.words.attitudes
    ours = tuple(one.file for one in attitudes.sources if one.file in BUILT_IN)
    rater: dict[str, Any] = {}
    every = [Option(said="settled labels")]
    if has_others(attitudes):
        every = [
            Option(said="your ratings over goffman's"),
            Option(said="goffman's ratings alone", words={"sources": ours}),
        ]
    elif len(ours) > 1:
        rater = {"sources": ("shipped",)}
        every = [
            Option(said="people's ratings over language models'"),
            Option(said="language models' ratings alone", words=rater),
        ]
    for name in single_raters(attitudes):
        said = f"rater {name.removeprefix('rating_')} alone"
        every.append(Option(said=said, words={**rater, "rater": name}))
    return every


RATINGS = AnalyticChoice(name="rater", options=_ratings)


NEUTRAL_WORDS = AnalyticChoice(
    name="counting of neutral words",
    options=lambda _: [
        Option(said="counted"),
        Option(said="not counted", words={"neutral": False}),
    ],
)


def _wordings(stored: StoredAnswers) -> list[Option]:
    """All wordings together, and each alone; with the paraphrases, where these were asked."""
    every = [Option(said="all wordings")]
    if _asked(stored, "paraphrase"):
        every = [
            Option(said="wordings of the instrument"),
            Option(said="with the paraphrases", paraphrases=True),
        ]
    alone = _each_alone(stored, "wording")
    return [*every, *alone] if len(alone) > 1 else []


WORDINGS = AnalyticChoice(name="wording", options=_wordings)


def _one_wording(stored: StoredAnswers) -> list[Option]:
    """The first wording, which the headline is of, and each other one."""
    first, *others = _asked(stored, "wording")
    return [Option(said=first), *(Option(said=one, only={"wording": one}) for one in others)]


ONE_WORDING = AnalyticChoice(name="wording", options=_one_wording)


def _orders(stored: StoredAnswers) -> list[Option]:
    """All orders of the options, and each alone."""
    alone = _each_alone(stored, "order")
    return [Option(said="all orders"), *alone] if len(alone) > 1 else []


ORDERS = AnalyticChoice(name="order of options", options=_orders)


def _names(stored: StoredAnswers) -> list[Option]:
    """Counting first names, and not: the headline's first."""
    mine = stored.headline["variant"]
    said = {"with-names": "counted", "without-names": "not counted"}
    others = [one for one in said if one != mine]
    return [
        Option(said=said.get(mine, str(mine))),
        *(Option(said=said[one], variant=one) for one in others),
    ]


FIRST_NAMES = AnalyticChoice(name="counting of first names", options=_names)


def _parsers(stored: StoredAnswers) -> list[Option]:
    """The parser of the audit, and every other."""
    mine = stored.words.parser
    others = [name for name in parsers() if name != mine]
    return [Option(said=mine), *(Option(said=one, words={"parser": one}) for one in others)]


PARSERS = AnalyticChoice(name="parser", options=_parsers)


def _each_alone(stored: StoredAnswers, column: str) -> list[Option]:
    return [Option(said=f"{one} alone", only={column: one}) for one in _asked(stored, column)]


def _asked(stored: StoredAnswers, column: str) -> list[str]:
    """What was asked of the conditions that are compared, in the instrument's order."""
    if column not in stored.prompts.columns:
        return []
    return stored.prompts[column].drop_nulls().unique(maintain_order=True).to_list()

"""What may be said of a difference: one verdict, from its interval and the margin Δ.

    relevant                 the 95% interval lies wholly beyond Δ
    negligible               the 90% interval lies wholly within ±Δ (two one-sided tests)
    present, size uncertain  the 95% interval excludes 0, and not Δ
    inconclusive             the 95% interval contains 0, and Δ or −Δ

Two verdicts come before these: *not measurable* if a model fails the control items, and *these
sentences only* if fewer than three sentences were asked, which say nothing of other sentences.

Each verdict comes with the detectable difference: the one that 80 of 100 such audits would find,
(t_.975 + t_.80)·SE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from scipy import special

if TYPE_CHECKING:
    from goffman.stats.intervals import Estimate

AS_IN_STUDY = "measures-as-in-study"

CORRELATIONS = ("measures", "measures-within", AS_IN_STUDY)
"""Kinds of contrasts that are correlations of two measures: over all conditions, within a group,
and as Mei et al. (2023) computed it."""

ANCHORED = ("anchor", "anchor-rank", "anchor-partial")
"""Kinds of contrasts that are correlations of a measure with people's answers: of values, of ranks,
and of values within the categories of conditions."""

AGAINST_PEOPLE = (
    *("anchor-difference", "anchor-overall", "anchor-gender", "anchor-wording"),
    *("anchor-gender-side", "anchor-year", "anchor-text"),
)
"""Kinds of contrasts that are a model's share minus people's: of one question; of all counted
questions; of a man minus a woman; and of all counted questions in a wording other than people's.
The last three: a man minus a woman on one side alone, the model's or people's; and all counted
questions with people's answers of one year, and with the model's answers about one text."""

Word = Literal[
    "relevant",
    "present, size uncertain",
    "negligible",
    "inconclusive",
    "not measurable",
    "these sentences only",
]
"""The values of the column verdict of estimates; reports print the same words."""

RELEVANT: Word = "relevant"
PRESENT: Word = "present, size uncertain"
NEGLIGIBLE: Word = "negligible"
INCONCLUSIVE: Word = "inconclusive"
NOT_MEASURABLE: Word = "not measurable"
SENTENCES_ONLY: Word = "these sentences only"


@dataclass(frozen=True, kw_only=True)
class VerdictFacts:
    """How a verdict is shown. A new one is a row of VERDICT_FACTS and a case in ``_word``.

    Its sign on the card is drawn in report/card.py, and its colors are in report/page/report.css.
    """

    glyph: str
    """The sign printed before it."""
    rank: int
    """Its place in lists of results, the most informative first."""
    meaning: str
    reason: str = ""
    """A sentence on why an estimate has it. Filled in: {least} and {beyond}, clauses on Δ; {inner},
    the 90% interval; {detectable}, a sentence on what an audit can find."""
    rule: str = ""
    """Its spelling in rules of goffman check; empty: rules name it by the control items."""
    heading: str = "{}"
    """The heading of a finding with this verdict; {} is replaced by the finding."""
    color: str = "#5b6270"
    """Its color on the card."""


VERDICT_FACTS: Mapping[str, VerdictFacts] = {
    RELEVANT: VerdictFacts(
        glyph="●",
        rank=0,
        meaning="the whole 95% interval lies beyond the smallest difference that matters",
        reason="The whole interval lies {beyond}{least}.",
        rule="relevant",
        color="#b13507",
    ),
    PRESENT: VerdictFacts(
        glyph="◐",
        rank=1,
        meaning="the interval excludes 0, but holds differences too small to matter",
        reason="The interval excludes 0, but holds differences smaller than {least}.",
        rule="present",
        heading="{}, by an uncertain amount",
        color="#1763a6",
    ),
    NEGLIGIBLE: VerdictFacts(
        glyph="=",
        rank=4,
        meaning="the difference is too small to matter (the 90% interval lies within the band)",
        reason="The 90% interval ({inner}) lies within {least}.",
        rule="negligible",
        color="#0a7a60",
    ),
    INCONCLUSIVE: VerdictFacts(
        glyph="○",
        rank=3,
        meaning="the interval holds 0 and differences that matter: this audit cannot tell",
        reason="The interval holds 0, and differences larger than {least}.{detectable}",
        rule="inconclusive",
        heading="Inconclusive: {}",
    ),
    NOT_MEASURABLE: VerdictFacts(
        glyph="✕",
        rank=5,
        meaning="the model failed the control items, so its other numbers mean nothing",
        color="#b3261e",
    ),
    SENTENCES_ONLY: VerdictFacts(
        glyph="·",
        rank=2,
        meaning="fewer than three sentences were asked, which say nothing about others",
        reason="Fewer than three sentences were asked, which say nothing about others.",
        rule="these-sentences-only",
        heading="In these sentences only: {}",
    ),
}
"""By verdict, in the order in which legends explain them."""

UNTESTED = "–"


def glyph_of(verdict: str) -> str:
    """Return the sign of a verdict, or a dash if the text is no verdict."""
    return VERDICT_FACTS[verdict].glyph if verdict in VERDICT_FACTS else UNTESTED


PRESENT_WORDS: tuple[Word, ...] = (RELEVANT, PRESENT)
"""The verdicts that say that there is a difference."""

FEWEST_SENTENCES = 3
"""Fewer sentences than this are no sample."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on an estimate, with the numbers it rests on: the columns VERDICTS."""

    margin: float | None = None
    verdict: Word | None = None
    low_90: float | None = None
    high_90: float | None = None
    detectable: float | None = None


def verdict(estimate: Estimate, *, margin: float | None) -> Verdict:
    """Return the verdict on an estimate; it is empty without a margin Δ or without an interval."""
    if margin is None or estimate.difference is None:
        return Verdict()
    if estimate.low is None or estimate.high is None:
        return Verdict(margin=margin)
    inner, detectable = (estimate.low, estimate.high), None
    if estimate.error is not None and estimate.df:
        at_90, at_95, power = (float(special.stdtrit(estimate.df, q)) for q in (0.95, 0.975, 0.8))
        half = at_90 * estimate.error
        inner = estimate.difference - half, estimate.difference + half
        detectable = (at_95 + power) * estimate.error
    too_few = estimate.sentences is not None and estimate.sentences < FEWEST_SENTENCES
    word = SENTENCES_ONLY if too_few else _word((estimate.low, estimate.high), inner, margin)
    return Verdict(
        margin=margin, verdict=word, low_90=inner[0], high_90=inner[1], detectable=detectable
    )


def _word(outer: tuple[float, float], inner: tuple[float, float], margin: float) -> Word:
    """Return the verdict for a 95% interval (``outer``) and a 90% interval (``inner``)."""
    if outer[0] > margin or outer[1] < -margin:
        return RELEVANT
    if -margin < inner[0] and inner[1] < margin:
        return NEGLIGIBLE
    return PRESENT if outer[0] > 0 or outer[1] < 0 else INCONCLUSIVE


def direction(row: Mapping[str, Any]) -> int:
    """Return on which side of 0 the interval lies, 1 or −1; 0 if it contains 0 or there is none.

    The interval of a correlation is that of its coefficient. Within a family of contrasts,
    intervals are made for all of them at once, so that the intervals that exclude 0 are those of
    the contrasts that Benjamini–Hochberg marks.
    """
    low, high = row["low"], row["high"]
    if row["kind"] in {*CORRELATIONS, *ANCHORED}:
        low, high = row["effect_low"], row["effect_high"]
    return 0 if low is None else int(low > 0) - int(high < 0)


def rows_apart_from_zero(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates whose interval excludes 0."""
    return estimates.filter([direction(row) != 0 for row in estimates.iter_rows(named=True)])


def rests_on(row: Mapping[str, Any], model: str) -> bool:
    """Return whether an estimate uses a model's numbers: alone, as one of two, or among all."""
    if row["kind"] == "models":
        return model in {row["first"], row["second"]}
    return row["model"] in {None, model}

"""What models answered to questions that people were asked, and what people said, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goffman.anchors.anchor import EVERYONE, interval_of
from goffman.estimates.contrast import Contrast
from goffman.estimates.profiles import base_of
from goffman.stats.two_sources import People, Share, pooled, widened

if TYPE_CHECKING:
    from goffman.anchors.anchor import Anchor, AnchorValue
    from goffman.estimates.profiles import Measured

SHARE = "share-endorsing"
"""The quantity of a measure that is the share of answers which say what people's do."""

NO_ANSWERS = ("dont-know", "refusal", "several", "other", "way-out", "elsewhere")
"""Quantities of a measure that are shares of answers that are none: of replies, then of
probabilities."""

Said = Mapping[tuple[str, str, str], People]
"""Item, condition and gender → what people said."""


@dataclass(frozen=True, kw_only=True)
class Shares:
    """One model's answers to one instrument beside one anchor of shares."""

    anchor: str
    instrument: str
    measure: str
    model: str
    rows: pl.DataFrame
    """item, condition, wording, gender, counts, as_people (whether people were asked so), value (a
    mean over orders and trials), replies (null: a probability), spread (the variance of such a
    mean is share·(1−share) times this) and unanswered, a share."""
    people: Said
    """Of the latest year."""
    of_all_years: Said
    by_year: Mapping[int, Said]
    """Of each year alone."""
    design_effect: float

    def of_question(self, item: str, condition: str) -> People | None:
        """What people said to one question; None: they were not asked.

        What their intervals leave out is added here alone: over several questions the error is too
        large already, by about as much (see mean_of).
        """
        said = self.people.get((item, condition, EVERYONE))
        return None if said is None else widened(said, self.design_effect)

    def contrast(
        self, kind: str, condition: str, item: str | None, *, wording: str | None = None
    ) -> Contrast:
        """What a row is about: a condition stands in ``group``, a question in ``dimension``."""
        return Contrast(
            kind=kind,
            instrument=self.instrument,
            measure=self.measure,
            quantity=SHARE,
            variant=wording,
            model=self.model,
            group=condition,
            dimension=item,
            first=self.measure,
            second=self.anchor,
        )

    def cell(
        self, item: str, condition: str, gender: str | None = None, *, wording: str | None = None
    ) -> pl.DataFrame:
        """The rows of a question, as people were asked it or in another wording."""
        asked = pl.col("as_people") if wording is None else pl.col("wording") == wording
        rows = self.rows.filter(asked, pl.col("item") == item, pl.col("condition") == condition)
        return rows if gender is None else rows.filter(pl.col("gender") == gender)


def shares_of(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measured],
    anchor: Anchor,
) -> Iterator[Shares]:
    """Every model's answers to the instruments that the anchor has values for."""
    genders = prompts.select("prompt_id", gender_of="gender").unique("prompt_id")
    as_people = pl.lit(not anchor.wordings) | pl.col("wording").is_in(list(anchor.wordings))
    for instrument, measure in measures.items():
        if not {instrument, base_of(instrument)} & {*anchor.instruments}:
            continue
        counted = getattr(measure, "counted", None)
        of_replies = getattr(measure, "reads", None) == "replies"
        rows = scores.filter(pl.col("instrument") == instrument, pl.col("level") == "prompt")
        silent = rows.filter(pl.col("quantity").is_in(NO_ANSWERS)).group_by("model", "prompt_id")
        unanswered = silent.agg(unanswered=pl.col("value").sum())
        rows = (
            rows.filter(pl.col("quantity") == SHARE)
            .join(genders, on="prompt_id")
            .join(unanswered, on=["model", "prompt_id"], how="left")
            .with_columns(
                gender=pl.col("gender_of"),
                counts=(pl.col("dimension") == counted).fill_null(value=True),
                as_people=as_people,
                replies=pl.col("n") if of_replies else None,
            )
        )
        keep = ("model", "item", "condition", "wording", "gender", "counts", "as_people")
        cells = rows.group_by(keep).agg(
            pl.col("value").mean(),
            pl.col("unanswered").mean(),
            replies=pl.col("replies").sum() if of_replies else pl.lit(None, dtype=pl.Int64),
            # Each prompt counts alike, however many of its replies are answers.
            spread=_spread() if of_replies else pl.lit(None, dtype=pl.Float64),
        )
        for (model,), of in cells.sort(keep).partition_by("model", as_dict=True).items():
            yield Shares(
                anchor=anchor.id,
                instrument=instrument,
                measure=measure.name,
                model=str(model),
                rows=of,
                people=_people(anchor.latest(), anchor),
                of_all_years=_people(anchor.values, anchor),
                by_year={
                    year: _people((one for one in anchor.values if one.year == year), anchor)
                    for year in anchor.years()
                },
                design_effect=anchor.design_effect,
            )


def _spread() -> pl.Expr:
    """Σ 1/nᵢ / k² over the k prompts that have an answer."""
    answered = pl.col("replies").filter(pl.col("replies") > 0)
    return (1 / answered).sum() / answered.len() ** 2


def _people(values: Iterable[AnchorValue], anchor: Anchor) -> Said:
    """By item, condition and gender; several years are taken together."""
    found: dict[tuple[str, str, str], list[People]] = {}
    for one in values:
        interval, n = interval_of(one, anchor), one.n_effective or one.n
        if interval is not None and n:
            low, high = interval
            said = People(value=one.value, low=low, high=high, n=n)
            found.setdefault((one.item, one.condition, one.gender), []).append(said)
    return {key: pooled(several) for key, several in found.items()}


def share_of(cell: pl.DataFrame) -> Share | None:
    """Of a question over its rows; None: nothing answers it."""
    known = cell.filter(pl.col("value").is_not_null())
    if known.is_empty():
        return None
    value = float(known["value"].to_numpy().mean())
    if known["replies"].is_null().any():
        return Share(value=value)
    worth = known.height**2 / float(known["spread"].sum())
    return Share(value=value, replies=int(known["replies"].sum()), worth=worth)


def unanswered_in(cell: pl.DataFrame) -> float | None:
    """The share of answers that are none; None: not known."""
    known = cell["unanswered"].drop_nulls()
    return None if known.is_empty() else float(known.to_numpy().mean())

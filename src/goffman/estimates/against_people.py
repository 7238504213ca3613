"""Shares of models minus shares of people, question by question; and what a person's gender does.

A model's share is of the options that say the same as people's (``share-endorsing``), mean over the
orders of options, the people described and the trials, in the wordings that the anchor names as
those of people's question; others ask something else, and stand beside as a check. People's are
those of the latest year; what a person's gender does is of all years, which a single one says too
little of. Over the questions that count as stigma the difference stands once more for each
condition; people answered these questions one after the other: see mean_of.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.anchor import EVERYONE, interval_of
from goffman.estimates.clear import AGAINST_PEOPLE
from goffman.estimates.contrast import Contrast
from goffman.estimates.profiles import base_of
from goffman.records import Estimate
from goffman.stats.correct import adjust
from goffman.stats.two_sources import (
    People,
    Share,
    Z,
    apart,
    mean_of,
    mean_share,
    minus_people,
    people_side,
    pooled,
    side,
    widened,
)

if TYPE_CHECKING:
    from goffman.anchors.anchor import Anchor, AnchorValue
    from goffman.estimates.profiles import Measured

SHARE = "share-endorsing"
"""The quantity of a measure that is the share of answers which say what people's do."""

NO_ANSWERS = ("dont-know", "refusal", "several", "other", "way-out", "elsewhere")
"""Quantities of a measure that are shares of answers that are none: of replies, then of
probabilities."""

DIFFERENCE, OVERALL, GENDER, OTHER_WORDING, GENDER_SIDE = AGAINST_PEOPLE
MODEL, PEOPLE = "model", "people"
"""Variants of a man minus a woman on one side alone."""

MOST_UNANSWERED = 0.5
"""Of the answers to a question: with more that are none, the rest is not set beside people, nearly
all of whom answered."""

ANOTHER = "people were asked in another wording: a check only"
UNANSWERED = "more than half of the answers are no answer"
ONE_SIDE = "one side alone: not tested"

Found = list[tuple[Contrast, Estimate]]
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


def against_people(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measured],
    anchors: Sequence[Anchor],
) -> tuple[Found, list[dict[str, Any]]]:
    """Every difference between a model's shares and people's; and rows of ANCHOR_POINTS.

    Each kind is a family, by Holm; other wordings are not tested.
    """
    found: Found = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        if anchor.compare != "difference":
            continue
        for one in _fitting(scores, prompts, measures, anchor):
            for kind, rows in (
                (DIFFERENCE, list(by_question(one))),
                (OVERALL, list(over_questions(one))),
                (GENDER, list(by_gender(one))),
            ):
                family = f"{kind}: {one.instrument}, {one.measure}, {one.model}, {one.anchor}"
                kept = adjust([estimate for _, estimate in rows], family=family, method="holm")
                found += zip([says for says, _ in rows], kept, strict=True)
                points += _points(anchor, one, rows) if kind == DIFFERENCE else ()
            found += in_other_wordings(one)
            found += by_gender_alone(one)
    return found, points


def _points(anchor: Anchor, of: Shares, rows: Found) -> Iterator[dict[str, Any]]:
    """Both sides of each question and condition."""
    said = {(one.item, one.condition): one for one in anchor.latest() if one.gender == EVERYONE}
    for says, estimate in rows:
        people = said[str(says.dimension), str(says.group)]
        known = of.of_question(str(says.dimension), str(says.group))
        cell = of.cell(str(says.dimension), str(says.group))
        share = _share(cell)
        # A probability is known exactly, and has no ends.
        low, high = (None, None) if share is None or share.replies is None else share.ends(Z)
        yield {
            "anchor": anchor.id,
            "item": says.dimension,
            "instrument": says.instrument,
            "measure": says.measure,
            "quantity": says.quantity,
            "model": says.model,
            "condition": says.group,
            "value": estimate.mean_first,
            "people": people.value,
            "low": known and known.low,
            "high": known and known.high,
            "n": people.n,
            "unanswered": _unanswered(cell),
            "value_low": low,
            "value_high": high,
        }


def _fitting(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measured],
    anchor: Anchor,
) -> Iterator[Shares]:
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


def _conditions(one: Shares) -> list[str]:
    return one.rows["condition"].unique().sort().to_list()


def _share(cell: pl.DataFrame) -> Share | None:
    """Of a question over its rows; None: nothing answers it."""
    known = cell.filter(pl.col("value").is_not_null())
    if known.is_empty():
        return None
    value = float(known["value"].to_numpy().mean())
    if known["replies"].is_null().any():
        return Share(value=value)
    worth = known.height**2 / float(known["spread"].sum())
    return Share(value=value, replies=int(known["replies"].sum()), worth=worth)


def _unanswered(cell: pl.DataFrame) -> float | None:
    known = cell["unanswered"].drop_nulls()
    return None if known.is_empty() else float(known.to_numpy().mean())


def by_question(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each question and condition that people were asked about."""
    for condition in _conditions(one):
        for item in one.rows["item"].unique().sort():
            said = one.of_question(item, condition)
            cell = one.cell(item, condition)
            share = _share(cell)
            if said is None or share is None:
                continue
            says = one.contrast(DIFFERENCE, condition, item)
            estimate = minus_people([(1, share)], said, contrast=says.text)
            yield says, _enough(estimate, _unanswered(cell))


def over_questions(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each condition over the questions that count as stigma."""
    for condition in _conditions(one):
        items = _counted(one, condition, (EVERYONE,))
        cells = [one.cell(item, condition) for item in items]
        shares = [share for cell in cells if (share := _share(cell)) is not None]
        if not items or len(shares) < len(items):
            continue
        said = mean_of([one.people[item, condition, EVERYONE] for item in items])
        says = one.contrast(OVERALL, condition, None)
        estimate = minus_people([(1, mean_share(shares))], said, contrast=says.text)
        yield says, _enough(estimate, _unanswered(pl.concat(cells)))


def in_other_wordings(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same in each wording that is not people's, without a test: a check of the share."""
    others = one.rows.filter(~pl.col("as_people"))["wording"].unique().sort()
    for condition, wording in itertools.product(_conditions(one), others):
        items = _counted(one, condition, (EVERYONE,))
        found = [_share(one.cell(item, condition, wording=wording)) for item in items]
        shares = [share for share in found if share is not None]
        if not items or len(shares) < len(items):
            continue
        said = mean_of([one.people[item, condition, EVERYONE] for item in items])
        says = one.contrast(OTHER_WORDING, condition, None, wording=wording)
        estimate = minus_people([(1, mean_share(shares))], said, contrast=says.text)
        yield says, _untested(estimate, ANOTHER)


@dataclass(frozen=True, kw_only=True)
class _Described:
    """One condition of a man and of a woman, over the questions that count."""

    condition: str
    model: tuple[Share, Share]
    people: tuple[People, People]
    """Of all years."""
    cells: pl.DataFrame

    @property
    def weighted(self) -> list[tuple[float, Share]]:
        """A man minus a woman."""
        return list(zip((1, -1), self.model, strict=True))


def _by_gender(one: Shares) -> Iterator[_Described]:
    genders = ("male", "female")
    for condition in _conditions(one):
        items = _counted(one, condition, genders)
        found = [[_share(one.cell(item, condition, who)) for item in items] for who in genders]
        male, female = ([share for share in of if share is not None] for of in found)
        if not items or min(len(male), len(female)) < len(items):
            continue
        of_men, of_women = (
            mean_of([one.of_all_years[item, condition, who] for item in items]) for who in genders
        )
        yield _Described(
            condition=condition,
            model=(mean_share(male), mean_share(female)),
            people=(of_men, of_women),
            cells=pl.concat([one.cell(item, condition) for item in items]),
        )


def by_gender(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each condition: a man minus a woman in the model, minus the same in people."""
    for of in _by_gender(one):
        says = one.contrast(GENDER, of.condition, None)
        estimate = minus_people(of.weighted, apart(*of.people), contrast=says.text)
        yield says, _enough(estimate, _unanswered(of.cells))


def by_gender_alone(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same of each side: a man minus a woman with its interval, not tested."""
    for of in _by_gender(one):
        says = one.contrast(GENDER_SIDE, of.condition, None, wording=MODEL)
        yield says, _not_tested(side(of.weighted, contrast=says.text))
        says = one.contrast(GENDER_SIDE, of.condition, None, wording=PEOPLE)
        yield says, _not_tested(people_side(*of.people, contrast=says.text))


def _not_tested(estimate: Estimate) -> Estimate:
    """The estimate with its interval alone."""
    none = dict.fromkeys(("test", "alternative", "statistic", "p"))
    return replace(estimate, reason=ONE_SIDE, **none)  # type: ignore[arg-type]


def _enough(estimate: Estimate, unanswered: float | None) -> Estimate:
    """The estimate; without interval and test where too little was answered."""
    few = unanswered is not None and unanswered > MOST_UNANSWERED
    return _untested(estimate, UNANSWERED) if few else estimate


def _untested(estimate: Estimate, reason: str) -> Estimate:
    none = dict.fromkeys(("low", "high", "test", "alternative", "statistic", "p", "interval_over"))
    return replace(estimate, reason=reason, **none)  # type: ignore[arg-type]


def _counted(one: Shares, condition: str, genders: Sequence[str]) -> list[str]:
    """The questions that count and that people were asked about, by everyone or each gender."""
    rows = one.rows.filter(pl.col("condition") == condition, pl.col("counts"))
    return [
        item
        for item in rows["item"].unique().sort()
        if all((item, condition, gender) in one.people for gender in genders)
    ]

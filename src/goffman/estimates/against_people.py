"""Shares of models minus shares of people, question by question; and what a person's gender does.

A model's share is of the options that say the same as people's (``share-endorsing``), mean over the
orders of options, the people described and the trials, in the wordings that the anchor names as
those of people's question; others ask something else, and stand beside as a check. People's are
those of the latest year; what a person's gender does is of all years, which a single one says too
little of. Over the questions that count as stigma the difference stands once more for each
condition; people answered these questions one after the other: see mean_of.

Who is indifferent has a share of one half in every question, and so differs from people without
any attitude. How far a model takes the obvious side of control items (c) says how much of that
there may be: people with its indifference would have .5 + (2c − 1)(p − .5) in place of p. Nothing
is compared where c is below LEAST_DECIDED; else ``check_p`` is of the share's lying beyond that, as
seen from people's (one-sided).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.anchor import EVERYONE
from goffman.estimates.clear import AGAINST_PEOPLE
from goffman.estimates.contrast import Contrast
from goffman.estimates.shares import Shares, share_of, shares_of, unanswered_in
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
    nearer,
    people_side,
    side,
)

if TYPE_CHECKING:
    from goffman.anchors.anchor import Anchor
    from goffman.estimates.profiles import Measured

DIFFERENCE, OVERALL, GENDER, OTHER_WORDING, GENDER_SIDE, IN_YEAR = AGAINST_PEOPLE
MODEL, PEOPLE = "model", "people"
"""Variants of a man minus a woman on one side alone."""

MOST_UNANSWERED = 0.5
"""Of the answers to a question: with more that are none, the rest is not set beside people, nearly
all of whom answered."""

LEAST_DECIDED = 0.75
"""The least share of answers on the obvious side of control items: half way from indifference."""

INDIFFERENT = "the model's answers to control items hardly leave the middle"
BEYOND = "beyond people with the model's indifference"
ANOTHER = "people were asked in another wording: a check only"
UNANSWERED = "more than half of the answers are no answer"
ONE_SIDE = "one side alone: not tested"
EVERY_YEAR = "people's answers of one year: not tested"

Found = list[tuple[Contrast, Estimate]]


def against_people(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measured],
    anchors: Sequence[Anchor],
    *,
    decided: Mapping[tuple[str, str], float] | None = None,
) -> tuple[Found, list[dict[str, Any]]]:
    """Every difference between a model's shares and people's; and rows of ANCHOR_POINTS.

    Each kind is a family, by Holm; other wordings are not tested. ``decided``: instrument and model
    → the share of its answers on the obvious side of control items, where that is known.
    """
    found: Found = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        if anchor.compare != "difference":
            continue
        for one in shares_of(scores, prompts, measures, anchor):
            sure = (decided or {}).get((one.instrument, one.model))
            for kind, rows in (
                (DIFFERENCE, list(by_question(one, decided=sure))),
                (OVERALL, list(over_questions(one, decided=sure))),
                (GENDER, list(by_gender(one, decided=sure))),
            ):
                family = f"{kind}: {one.instrument}, {one.measure}, {one.model}, {one.anchor}"
                kept = adjust([estimate for _, estimate in rows], family=family, method="holm")
                found += zip([says for says, _ in rows], kept, strict=True)
                points += _points(anchor, one, rows) if kind == DIFFERENCE else ()
            found += in_other_wordings(one)
            found += by_gender_alone(one)
            found += in_each_year(one)
    return found, points


def _points(anchor: Anchor, of: Shares, rows: Found) -> Iterator[dict[str, Any]]:
    """Both sides of each question and condition."""
    said = {(one.item, one.condition): one for one in anchor.latest() if one.gender == EVERYONE}
    for says, estimate in rows:
        people = said[str(says.dimension), str(says.group)]
        known = of.of_question(str(says.dimension), str(says.group))
        cell = of.cell(str(says.dimension), str(says.group))
        share = share_of(cell)
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
            "unanswered": unanswered_in(cell),
            "value_low": low,
            "value_high": high,
        }


def _conditions(one: Shares) -> list[str]:
    return one.rows["condition"].unique().sort().to_list()


def by_question(
    one: Shares, *, decided: float | None = None
) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each question and condition that people were asked about."""
    for condition in _conditions(one):
        for item in one.rows["item"].unique().sort():
            said = one.of_question(item, condition)
            cell = one.cell(item, condition)
            share = share_of(cell)
            if said is None or share is None:
                continue
            says = one.contrast(DIFFERENCE, condition, item)
            estimate = _compared(share, said, says, decided)
            yield says, _enough(estimate, unanswered_in(cell))


def over_questions(
    one: Shares, *, decided: float | None = None
) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each condition over the questions that count as stigma."""
    for condition in _conditions(one):
        items = _counted(one, condition, (EVERYONE,))
        cells = [one.cell(item, condition) for item in items]
        shares = [share for cell in cells if (share := share_of(cell)) is not None]
        if not items or len(shares) < len(items):
            continue
        said = mean_of([one.people[item, condition, EVERYONE] for item in items])
        says = one.contrast(OVERALL, condition, None)
        estimate = _compared(mean_share(shares), said, says, decided)
        yield says, _enough(estimate, unanswered_in(pl.concat(cells)))


def _compared(share: Share, people: People, says: Contrast, decided: float | None) -> Estimate:
    """The share minus people's, checked against that of people with the model's indifference."""
    found = minus_people([(1, share)], people, contrast=says.text)
    if decided is None:
        return found
    if decided < LEAST_DECIDED:
        return _untested(found, INDIFFERENT)
    beside = minus_people([(1, share)], nearer(people, 2 * decided - 1), contrast=says.text)
    if found.p is None or beside.p is None:
        return found
    same = beside.difference * found.difference > 0  # type: ignore[operator]
    return replace(found, check=BEYOND, check_p=beside.p / 2 if same else 1 - beside.p / 2)


def in_each_year(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same with people's answers of each year, without a test: the year is the variant."""
    for condition, (year, people) in itertools.product(_conditions(one), one.by_year.items()):
        items = _counted(one, condition, (EVERYONE,))
        shares = [share_of(one.cell(item, condition)) for item in items]
        known = [share for share in shares if share is not None]
        there = [people.get((item, condition, EVERYONE)) for item in items]
        said = [of for of in there if of is not None]
        if not items or min(len(known), len(said)) < len(items):
            continue
        says = one.contrast(IN_YEAR, condition, None, wording=str(year))
        estimate = minus_people([(1, mean_share(known))], mean_of(said), contrast=says.text)
        yield says, _untested(estimate, EVERY_YEAR)


def in_other_wordings(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same in each wording that is not people's, without a test: a check of the share."""
    others = one.rows.filter(~pl.col("as_people"))["wording"].unique().sort()
    for condition, wording in itertools.product(_conditions(one), others):
        items = _counted(one, condition, (EVERYONE,))
        found = [share_of(one.cell(item, condition, wording=wording)) for item in items]
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
        found = [[share_of(one.cell(item, condition, who)) for item in items] for who in genders]
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


def by_gender(one: Shares, *, decided: float | None = None) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each condition: a man minus a woman in the model, minus the same in people."""
    for of in _by_gender(one):
        says = one.contrast(GENDER, of.condition, None)
        estimate = minus_people(of.weighted, apart(*of.people), contrast=says.text)
        if decided is not None and decided < LEAST_DECIDED:
            estimate = _untested(estimate, INDIFFERENT)
        yield says, _enough(estimate, unanswered_in(of.cells))


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

"""A run compared with what people said: correlations of profiles, and differences of shares.

Shares of models minus shares of people, question by question; and what a person's gender does.

A model's share is of the options that say the same as people's (``share-endorsing``), mean over the
orders of options, the people described and the trials, in the wordings that the anchor names as
those of people's question; others ask something else, and stand beside as a check. Conditions of
one category, of which people were asked about one, are texts about the same: the model's share is
the mean over them, and interval and test are for other texts, small-sample t over texts beside
people's own error. With fewer than three texts there is neither. People's shares are
those of the latest year; what a person's gender does is of all years, which a single one says too
little of. Over the questions that count as stigma the difference stands once more for each
condition; people answered these questions one after the other: see mean_of. Without a test it
stands there for each text too.

Who is indifferent has a share of one half in every question, and so differs from people without
any attitude. How far a model takes the obvious side of control items (c) says how much of that
there may be: people with its indifference would have .5 + (2c − 1)(p − .5) in place of p. Nothing
is compared where c is below LEAST_DECIDED; else ``indifference_p`` is of the share's lying beyond
that, as seen from people's (one-sided).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.anchors.types import EVERYONE, error_of, interval_of
from goffman.contrasts.correlations import by_condition, by_occupation
from goffman.contrasts.engine import Contrast, estimate_table
from goffman.contrasts.verdict import AGAINST_PEOPLE, Verdict
from goffman.instruments.types import CONTROL, base_of
from goffman.measures.controls import DECIDED
from goffman.modes import asked_ids, mode_of_rows, of_asked
from goffman.runs.answers import parquet
from goffman.schemas import ANCHOR_POINTS, CONTRASTS, VERDICTS, schema
from goffman.scoring import measures_of, without_controls
from goffman.stats.estimate import Estimate
from goffman.stats.intervals import Z
from goffman.stats.multiple_testing import as_list, list_level
from goffman.stats.profile import LEAST, Profile, related
from goffman.stats.residuals import residuals
from goffman.stats.share_difference import (
    NOBODY,
    People,
    Share,
    apart,
    ends,
    mean_of,
    mean_share,
    minus_people,
    nearer,
    people_side,
    pooled,
    side,
    widened,
)

if TYPE_CHECKING:
    from goffman.anchors.types import Anchor, AnchorValue
    from goffman.contrasts.correlations import Answers
    from goffman.measures.base import Measure
    from goffman.runs.manifest import Entry, Manifest

SHARE = "share-endorsing"
"""The quantity of a measure that is the share of answers which say what people's do."""

NO_ANSWERS = ("dont-know", "refusal", "several", "other", "no-answer", "elsewhere")
"""Quantities of a measure that are shares of answers that are none: of replies, then of
probabilities."""

Said = Mapping[tuple[str, str, str], People]
"""Item, condition and gender → what people said."""


@dataclass(frozen=True, kw_only=True)
class Shares:
    """One model's answers to one instrument beside one anchor of shares."""

    anchor: str
    instrument: str
    """Its id, with the mode."""
    mode: str | None = None
    measure: str
    model: str
    rows: pl.DataFrame
    """item, condition, text, wording, gender, counts, as_people (whether people were asked so),
    value (a mean over orders and trials), replies (null: a probability), spread (the variance of
    such a mean is share·(1−share) times this) and unanswered, a share."""
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
            instrument=base_of(self.instrument),
            mode=self.mode,
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
    measures: Mapping[str, Measure],
    anchor: Anchor,
) -> Iterator[Shares]:
    """Every model's answers to the instruments that the anchor has values for."""
    genders = prompts.select("prompt_id", gender_of="gender").unique("prompt_id")
    as_people = pl.lit(not anchor.wordings) | pl.col("wording").is_in(list(anchor.wordings))
    for instrument, measure in measures.items():
        if not {instrument, base_of(instrument)} & {*anchor.instruments}:
            continue
        counted = measure.counted_dimension
        of_replies = measure.reads == "replies"
        rows = scores.filter(of_asked(instrument), pl.col("level") == "prompt")
        rows = _as_texts(rows, {one.condition for one in anchor.values})
        mode = mode_of_rows(rows)
        silent = rows.filter(pl.col("quantity").is_in(NO_ANSWERS)).group_by("model", "prompt_id")
        unanswered = silent.agg(unanswered=pl.col("value").sum())
        rows = (
            rows.filter(pl.col("quantity") == SHARE)
            # Sums of floats depend on their order.
            .join(genders, on="prompt_id", maintain_order="left")
            .join(unanswered, on=["model", "prompt_id"], how="left", maintain_order="left")
            .with_columns(
                gender=pl.col("gender_of"),
                counts=(pl.col("dimension") == counted).fill_null(value=True),
                as_people=as_people,
                replies=pl.col("n") if of_replies else None,
            )
        )
        keep = ("model", "item", "condition", "text", "wording", "gender", "counts", "as_people")
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
                mode=mode,
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


def _as_texts(rows: pl.DataFrame, known: Collection[str]) -> pl.DataFrame:
    """Return the scores with ``text``: what the condition was.

    Texts of a category have the one condition of it that people were asked about; where these are
    several, each condition stands for itself.
    """
    about = rows.select("condition", "category").unique()
    of_people = about.filter(
        pl.col("condition").is_in(list(known)), pl.col("category").is_not_null()
    )
    alone = of_people.filter(pl.len().over("category") == 1)
    named = dict(alone.select("category", "condition").rows())
    same = pl.col("category").replace_strict(named, default=None, return_dtype=pl.String)
    return rows.with_columns(
        text=pl.col("condition"), condition=pl.coalesce(same, pl.col("condition"))
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


def texts_of(cells: Sequence[pl.DataFrame]) -> dict[str, Share]:
    """Of each text that has an answer to all of these questions: its share over them."""
    found: dict[str, list[Share]] = {}
    for cell in cells:
        for (text,), rows in cell.sort("text").partition_by("text", as_dict=True).items():
            share = share_of(rows)
            found.setdefault(str(text), []).extend([] if share is None else [share])
    return {text: mean_share(shares) for text, shares in found.items() if len(shares) == len(cells)}


def values_of(texts: Mapping[str, Share]) -> list[float]:
    """The share of each text."""
    return [share.value for share in texts.values()]


def unanswered_in(cell: pl.DataFrame) -> float | None:
    """The share of answers that are none; None: not known."""
    known = cell["unanswered"].drop_nulls()
    return None if known.is_empty() else float(known.to_numpy().mean())


DIFFERENCE, OVERALL, GENDER, OTHER_WORDING, GENDER_SIDE, IN_YEAR, IN_TEXT = AGAINST_PEOPLE
MODEL, PEOPLE = "model", "people"
"""Variants of a man minus a woman on one side alone."""

MOST_UNANSWERED = 0.5
"""Of the answers to a question: with more that are none, the rest is not set beside people, nearly
all of whom answered."""

LEAST_TEXTS = 3
"""Texts about the same that say something about others."""

LEAST_DECIDED = 0.75
"""The least share of answers on the obvious side of control items: half way from indifference."""

INDIFFERENT = "the model's answers to control items hardly leave the middle"
ANOTHER = "people were asked in another wording: a check only"
UNANSWERED = "more than half of the answers are no answer"
ONE_SIDE = "one side alone: not tested"
EVERY_YEAR = "people's answers of one year: not tested"
ONE_TEXT = "one text: not tested"
FEW_TEXTS = "fewer than three texts, which say too little about others: not tested"

ShareEstimates = list[tuple[Contrast, Estimate]]


def compare_shares(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchors: Sequence[Anchor],
    *,
    decided: Mapping[tuple[str, str], float] | None = None,
) -> tuple[ShareEstimates, list[dict[str, Any]]]:
    """Every difference between a model's shares and people's; and rows of ANCHOR_POINTS.

    Each kind is a list of tests; other wordings are not tested. ``decided``: instrument and model
    → the share of its answers on the obvious side of control items, where that is known.
    """
    found: ShareEstimates = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        if anchor.compare != "difference":
            continue
        for one in shares_of(scores, prompts, measures, anchor):
            sure = (decided or {}).get((one.instrument, one.model))
            for kind, make in (
                (DIFFERENCE, by_question),
                (OVERALL, over_questions),
                (GENDER, by_gender),
            ):
                # Once for the p-values, which say how wide the intervals of a list are to be.
                level = list_level([estimate for _, estimate in make(one, decided=sure)])
                rows = list(make(one, decided=sure, level=level))
                family = f"{kind}: {one.instrument}, {one.measure}, {one.model}, {one.anchor}"
                kept = as_list([estimate for _, estimate in rows], family=family)
                found += zip([says for says, _ in rows], kept, strict=True)
                points += _share_points(anchor, one, rows) if kind == DIFFERENCE else ()
            found += in_other_wordings(one)
            found += by_gender_alone(one)
            found += in_each_year(one)
            found += in_each_text(one)
    return found, points


def _share_points(anchor: Anchor, of: Shares, rows: ShareEstimates) -> Iterator[dict[str, Any]]:
    """Both sides of each question and condition."""
    said = {(one.item, one.condition): one for one in anchor.latest() if one.gender == EVERYONE}
    for says, estimate in rows:
        people = said[str(says.dimension), str(says.group)]
        known = of.of_question(str(says.dimension), str(says.group))
        cell = of.cell(str(says.dimension), str(says.group))
        texts = texts_of([cell])
        share, alone = mean_share([*texts.values()]), sampled(texts)
        ends_known = ends([(1, share)], NOBODY, Z, alone) if alone else None
        yield {
            "anchor": anchor.id,
            "item": says.dimension,
            "instrument": says.instrument,
            "mode": says.mode,
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
            "value_low": ends_known and max(0.0, ends_known[0]),
            "value_high": ends_known and min(1.0, ends_known[1]),
        }


def _conditions(one: Shares) -> list[str]:
    return one.rows["condition"].unique().sort().to_list()


def by_question(
    one: Shares, *, decided: float | None = None, level: float = 0.95
) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each question and condition that people were asked about."""
    for condition in _conditions(one):
        for item in one.rows["item"].unique().sort():
            said = one.of_question(item, condition)
            cell = one.cell(item, condition)
            texts = texts_of([cell])
            if said is None or not texts:
                continue
            says = one.contrast(DIFFERENCE, condition, item)
            estimate = _compared(texts, said, says, decided, level)
            yield says, _enough(estimate, unanswered_in(cell))


def over_questions(
    one: Shares, *, decided: float | None = None, level: float = 0.95
) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each condition over the questions that count as stigma."""
    for condition in _conditions(one):
        items = _counted(one, condition, (EVERYONE,))
        cells = [one.cell(item, condition) for item in items]
        texts = texts_of(cells)
        if not texts:
            continue
        said = mean_of([one.people[item, condition, EVERYONE] for item in items])
        says = one.contrast(OVERALL, condition, None)
        estimate = _compared(texts, said, says, decided, level)
        yield says, _enough(estimate, unanswered_in(pl.concat(cells)))


def sampled(texts: Mapping[str, Share]) -> list[float]:
    """The share of each text; none where these are too few to say how much others differ."""
    return values_of(texts) if len(texts) >= LEAST_TEXTS else []


def _compared(
    texts: Mapping[str, Share],
    people: People,
    says: Contrast,
    decided: float | None,
    level: float,
) -> Estimate:
    """Return the share minus people's, and minus that of people with the model's indifference."""
    model, own = [(1.0, mean_share([*texts.values()]))], sampled(texts)
    found = minus_people(model, people, contrast=says.text, level=level, texts=own)
    if decided is not None and decided < LEAST_DECIDED:
        return _untested(found, INDIFFERENT)
    if not own:
        return _untested(found, FEW_TEXTS)
    if decided is None:
        return found
    nearest = nearer(people, 2 * decided - 1)
    beside = minus_people(model, nearest, contrast=says.text, texts=own)
    if found.p is None or beside.p is None:
        return found
    same = beside.difference * found.difference > 0  # type: ignore[operator]
    return replace(found, indifference_p=beside.p / 2 if same else 1 - beside.p / 2)


def in_each_year(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same with people's answers of each year, without a test: the year is the variant."""
    for condition, (year, people) in itertools.product(_conditions(one), one.by_year.items()):
        items = _counted(one, condition, (EVERYONE,))
        texts = texts_of([one.cell(item, condition) for item in items])
        there = [people.get((item, condition, EVERYONE)) for item in items]
        said = [of for of in there if of is not None]
        if not texts or len(said) < len(items):
            continue
        says = one.contrast(IN_YEAR, condition, None, wording=str(year))
        share = mean_share([*texts.values()])
        estimate = minus_people([(1, share)], mean_of(said), contrast=says.text)
        yield says, _untested(estimate, EVERY_YEAR)


def in_each_text(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same in each text about a condition of which there are several, without a test."""
    for condition in _conditions(one):
        items = _counted(one, condition, (EVERYONE,))
        texts = texts_of([one.cell(item, condition) for item in items])
        for text, share in texts.items() if len(texts) > 1 else ():
            said = mean_of([one.people[item, condition, EVERYONE] for item in items])
            says = one.contrast(IN_TEXT, condition, None, wording=text)
            estimate = minus_people([(1, share)], said, contrast=says.text)
            yield says, _untested(estimate, ONE_TEXT)


def in_other_wordings(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same in each wording that is not people's, without a test: a check of the share."""
    others = one.rows.filter(~pl.col("as_people"))["wording"].unique().sort()
    for condition, wording in itertools.product(_conditions(one), others):
        items = _counted(one, condition, (EVERYONE,))
        texts = texts_of([one.cell(item, condition, wording=wording) for item in items])
        if not texts:
            continue
        said = mean_of([one.people[item, condition, EVERYONE] for item in items])
        says = one.contrast(OTHER_WORDING, condition, None, wording=wording)
        share = mean_share([*texts.values()])
        estimate = minus_people([(1, share)], said, contrast=says.text)
        yield says, _untested(estimate, ANOTHER)


@dataclass(frozen=True, kw_only=True)
class _Described:
    """One condition of a man and of a woman, over the questions that count."""

    condition: str
    model: tuple[Share, Share]
    people: tuple[People, People]
    """Of all years."""
    texts: list[float]
    """A man minus a woman in the model, in each text; none where there are too few."""
    cells: pl.DataFrame

    @property
    def weighted(self) -> list[tuple[float, Share]]:
        """A man minus a woman."""
        return list(zip((1, -1), self.model, strict=True))


def _by_gender(one: Shares) -> Iterator[_Described]:
    genders = ("male", "female")
    for condition in _conditions(one):
        items = _counted(one, condition, genders)
        men, women = (
            texts_of([one.cell(item, condition, who) for item in items]) for who in genders
        )
        both = [text for text in men if text in women]
        if not both:
            continue
        of_men, of_women = (
            mean_of([one.of_all_years[item, condition, who] for item in items]) for who in genders
        )
        yield _Described(
            condition=condition,
            model=(mean_share([men[of] for of in both]), mean_share([women[of] for of in both])),
            people=(of_men, of_women),
            texts=[men[of].value - women[of].value for of in both if len(both) >= LEAST_TEXTS],
            cells=pl.concat([one.cell(item, condition) for item in items]),
        )


def by_gender(
    one: Shares, *, decided: float | None = None, level: float = 0.95
) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each condition: a man minus a woman in the model, minus the same in people."""
    for of in _by_gender(one):
        says = one.contrast(GENDER, of.condition, None)
        people = apart(*of.people)
        estimate = minus_people(
            of.weighted, people, contrast=says.text, level=level, texts=of.texts
        )
        if decided is not None and decided < LEAST_DECIDED:
            estimate = _untested(estimate, INDIFFERENT)
        elif not of.texts:
            estimate = _untested(estimate, FEW_TEXTS)
        yield says, _enough(estimate, unanswered_in(of.cells))


def by_gender_alone(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same of each side: a man minus a woman with its interval, not tested."""
    for of in _by_gender(one):
        says = one.contrast(GENDER_SIDE, of.condition, None, wording=MODEL)
        model = side(of.weighted, contrast=says.text, texts=of.texts)
        yield says, _not_tested(model) if of.texts else _untested(model, FEW_TEXTS)
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


AnchorEstimates = list[tuple[Contrast, "Estimate"]]


@dataclass(frozen=True, kw_only=True)
class ProfileComparison:
    """One model's answers to one instrument, and an anchor; over what both have."""

    anchor: Anchor
    answers: Answers
    people: Mapping[str, Mapping[str, AnchorValue]]
    """By item, then by condition."""

    def contrast(self, kind: str, item: str, *, group: str | None = None) -> Contrast:
        """What a row is about: the measure with the anchor, in one item of it."""
        return Contrast(
            kind=kind,
            instrument=base_of(self.answers.instrument),
            mode=self.answers.mode,
            measure=self.answers.measure,
            quantity=self.answers.quantity,
            model=self.answers.model,
            group=group,
            dimension=item,
            first=self.answers.measure,
            second=self.anchor.id,
        )

    def places(self, *items: str) -> list[int]:
        """Of the model's conditions those that people were asked about in all the items."""
        names = enumerate(self.answers.conditions)
        return [at for at, name in names if all(name in self.people[item] for item in items)]

    def profile(self, item: str, places: Sequence[int], *, given: bool = False) -> Profile:
        """Both sides over these conditions; ``given``: with their category held constant."""
        of, at = self.answers, list(places)
        said = [self.people[item][of.conditions[place]] for place in at]
        errors = [error_of(one, self.anchor) for one in said]
        known = [one for one in errors if one is not None]
        return Profile(
            model=of.values[at],
            people=np.array([one.value for one in said], dtype=np.float64),
            table=None if of.table is None else of.table[at],
            model_error=None if of.errors is None else of.errors[at],
            people_error=np.array(known) if known and len(known) == len(errors) else None,
            clusters=[of.categories[place] or of.conditions[place] for place in at],
            strata=[of.categories[place] for place in at] if given else (),
        )


def compare_with_people(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchors: Sequence[Anchor],
    *,
    decided: Mapping[tuple[str, str], float] | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """CONTRASTS + ESTIMATES + VERDICTS of correlations and shares, and ANCHOR_POINTS.

    ``measures`` are by instrument; ``scores`` without those of controls; ``decided``: see
    against_people.
    """
    found: AnchorEstimates = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        for one in _fitting(scores, prompts, measures, anchor):
            found += correlated(one)
            points += _profile_points(one)
    shares, more = compare_shares(scores, prompts, measures, anchors, decided=decided)
    found, points = [*found, *shares], [*points, *more]
    return anchor_table(found), pl.DataFrame(points, schema=schema(ANCHOR_POINTS))


def _fitting(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchor: Anchor,
) -> Iterator[ProfileComparison]:
    if anchor.compare != "profile":
        return
    people: dict[str, dict[str, AnchorValue]] = {one.id: {} for one in anchor.items}
    for value in anchor.latest():
        if value.gender == EVERYONE:
            people[value.item][value.condition] = value
    for instrument, measure in measures.items():
        if not {instrument, base_of(instrument)} & {*anchor.instruments}:
            continue
        if anchor.of == "condition":
            every = by_condition(scores, instrument, measure)
        else:
            every = by_occupation(scores, prompts, instrument, measure)
        for answers in every:
            yield ProfileComparison(anchor=anchor, answers=answers, people=people)


def correlated(one: ProfileComparison) -> AnchorEstimates:
    """Every correlation with an item of the anchor, each corrected over the items."""
    found: dict[str, AnchorEstimates] = {}
    for item in one.people:
        places = one.places(item)
        if len(places) < LEAST:
            continue
        profile = one.profile(item, places)
        for kind, coefficient in (("anchor", "pearson"), ("anchor-rank", "spearman")):
            says = one.contrast(kind, item)
            estimate = related(profile, coefficient, contrast=says.text)  # type: ignore[arg-type]
            estimate = replace(estimate, left_out=len(one.people[item]) - len(places))
            found.setdefault(kind, []).append((says, estimate))
        if len({one.answers.categories[place] for place in places}) > 1:
            says = one.contrast("anchor-partial", item)
            given = one.profile(item, places, given=True)
            estimate = related(given, "pearson", contrast=says.text)
            found.setdefault(says.kind, []).append((says, estimate))
    return [pair for kind, rows in found.items() for pair in _corrected(rows, one, kind)]


def _corrected(rows: AnchorEstimates, one: ProfileComparison, kind: str) -> AnchorEstimates:
    """Return the rows of one kind, model, instrument and anchor, corrected as a list."""
    of = one.answers
    family = f"{kind}: {of.instrument}, {of.measure}, {of.quantity}, {of.model}, {one.anchor.id}"
    named = [_of_what(estimate, one.anchor) for _, estimate in rows]
    kept = as_list(named, family=family)
    return [(says, estimate) for (says, _), estimate in zip(rows, kept, strict=True)]


def _of_what(estimate: Estimate, anchor: Anchor) -> Estimate:
    """The estimate with what its n counts, where that is no conditions."""
    if anchor.of == "condition":
        return estimate
    many = f"{anchor.of}s"
    over = estimate.interval_over
    return replace(
        estimate,
        unit=many,
        interval_over=over and over.replace("conditions", many),
        method=estimate.method.replace("conditions", many),
        reason=estimate.reason and estimate.reason.replace("conditions", many),
    )


def _profile_points(one: ProfileComparison) -> Iterator[dict[str, Any]]:
    """Each condition in each item; then each by how far it is from what all items predict."""
    of = one.answers
    about = {
        "anchor": one.anchor.id,
        "instrument": base_of(of.instrument),
        "mode": of.mode,
        "measure": of.measure,
        "quantity": of.quantity,
        "model": of.model,
    }
    for item, people in one.people.items():
        for place in one.places(item):
            said = people[of.conditions[place]]
            numbers = {"people": said.value, "low": said.low, "high": said.high, "n": said.n}
            yield about | _condition(of, place) | {"item": item} | numbers
    places = one.places(*one.people)
    columns = [[one.people[item][of.conditions[at]].value for item in one.people] for at in places]
    fit = residuals(of.values[places], np.array(columns)) if places else None
    if fit is None:
        return
    for at, place in enumerate(places):
        yield (
            about
            | _condition(of, place)
            | {
                "predicted": float(fit.predicted[at]),
                "residual": float(fit.residual[at]),
                "statistic": float(fit.statistic[at]),
                "p": float(fit.p[at]),
                "p_adjusted": float(fit.p_adjusted[at]),
                "explained": fit.explained,
            }
        )


def _condition(of: Answers, place: int) -> dict[str, Any]:
    return {
        "condition": of.conditions[place],
        "group": of.groups[place] or None,
        "category": of.categories[place] or None,
        "value": float(of.values[place]),
    }


def anchor_table(found: AnchorEstimates) -> pl.DataFrame:
    """CONTRASTS + ESTIMATES + VERDICTS; no smallest difference is declared, so no verdict."""
    what = pl.DataFrame([asdict(one) for one, _ in found], schema=schema(CONTRASTS))
    none = pl.DataFrame([asdict(Verdict()) for _ in found], schema=schema(VERDICTS))
    return pl.concat([what, estimate_table([one for _, one in found]), none], how="horizontal")


ANCHORS_FILE = "anchors.parquet"
POINTS_FILE = "anchor-points.parquet"
ANCHOR_FILES = (ANCHORS_FILE, POINTS_FILE)

_SAID = (
    *("version", "digest", "title", "citation", "terms", "country", "year", "population", "unit"),
    *("compare", "lowest", "highest", "limits", "whose", "set_apart", "own_texts"),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchorComparison:
    """What was found, and who said what it was set beside."""

    estimates: pl.DataFrame
    """The columns CONTRASTS, ESTIMATES and VERDICTS."""
    points: pl.DataFrame
    """The columns ANCHOR_POINTS."""
    anchors: Mapping[str, Entry]
    """By id, for the manifest: those that something of the run could be set beside."""

    def tables(self) -> dict[str, bytes]:
        """By file; none where nothing of the run fits an anchor."""
        if not self.anchors:
            return {}
        return {ANCHORS_FILE: parquet(self.estimates), POINTS_FILE: parquet(self.points)}


def compare_with_anchors(
    scores: pl.DataFrame, prompts: pl.DataFrame, manifest: Manifest, anchors: Sequence[Anchor]
) -> AnchorComparison:
    """Everything of a measured run that has an anchor."""
    sides = scores.filter(pl.col("level") == CONTROL, pl.col("quantity") == DECIDED)
    decided = {
        (instrument, model): value
        for instrument, model, value in sides.select(asked_ids(), "model", "value").rows()
    }
    estimates, points = compare_with_people(
        without_controls(scores), prompts, measures_of(manifest), anchors, decided=decided
    )
    used = {*estimates["second"]}
    return AnchorComparison(
        estimates=estimates,
        points=points,
        anchors={one.id: entry_of(one) for one in anchors if one.id in used},
    )


def entry_of(anchor: Anchor) -> dict[str, Any]:
    """What the manifest says of an anchor."""
    said = {name: getattr(anchor, name) for name in _SAID}
    items = {one.id: {"name": one.name, "meaning": one.meaning} for one in anchor.items}
    return {name: value for name, value in said.items() if value is not None} | {
        "point": anchor.of,
        "items": items,
    }

"""A run compared with what people said: correlations of profiles, and differences of shares.

A share is compared question by question, over all that count as stigma, and by a person's gender.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.anchors.types import EVERYONE, error_of, interval_of
from goffman.contrasts.correlations import by_condition, by_occupation
from goffman.contrasts.designs import Contrast, estimate_table
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
from goffman.stats.profile import LEAST, Coefficient, Profile, related, residuals
from goffman.stats.share_difference import (
    NOBODY,
    People,
    Share,
    Weighted,
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
    """One model's answers to one instrument beside one anchor of shares.

    Wordings that ask something else than people were asked stand beside as a check.
    """

    anchor: Anchor
    instrument: str
    """Its id, with the mode."""
    about: Contrast
    """What all of its rows have in common: a condition stands in ``group``, a question in
    ``dimension``."""
    rows: pl.DataFrame
    """item, condition, text, wording, gender, counts, as_people (whether people were asked so),
    value (a mean over orders and trials), replies (null: a probability), spread (the variance of
    such a mean is share·(1−share) times this) and unanswered, a share."""
    people: Said
    """Of the latest year."""

    def cell(
        self, item: str, condition: str, gender: str | None = None, *, wording: str | None = None
    ) -> pl.DataFrame:
        """The rows of a question, as people were asked it or in another wording."""
        asked = pl.col("as_people") if wording is None else pl.col("wording") == wording
        rows = self.rows.filter(asked, pl.col("item") == item, pl.col("condition") == condition)
        return rows if gender is None else rows.filter(pl.col("gender") == gender)

    def conditions(self) -> list[str]:
        """Those that the model was asked about, sorted."""
        return self.rows["condition"].unique().sort().to_list()

    def counted(self, condition: str, *genders: str) -> list[str]:
        """The questions that count and that people were asked, about everyone or each gender."""
        rows = self.rows.filter(pl.col("condition") == condition, pl.col("counts"))
        return [
            item
            for item in rows["item"].unique().sort()
            if all((item, condition, gender) in self.people for gender in genders)
        ]

    def texts(
        self,
        items: Sequence[str],
        condition: str,
        gender: str | None = None,
        *,
        wording: str | None = None,
    ) -> dict[str, Share]:
        """Of each text that has an answer to all of these questions: its share over them."""
        shares: dict[str, list[Share]] = {}
        for item in items:
            cell = self.cell(item, condition, gender, wording=wording).sort("text")
            for (text,), rows in cell.partition_by("text", as_dict=True).items():
                share = share_of(rows)
                shares.setdefault(str(text), []).extend([] if share is None else [share])
        return {text: mean_share(of) for text, of in shares.items() if len(of) == len(items)}


def shares_of(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchor: Anchor,
) -> Iterator[Shares]:
    """Every model's answers to the instruments that the anchor has values for."""
    genders = prompts.select("prompt_id", gender_of="gender").unique("prompt_id")
    as_people = pl.lit(not anchor.wordings) | pl.col("wording").is_in(list(anchor.wordings))
    answered = pl.col("replies").filter(pl.col("replies") > 0)
    # Σ 1/nᵢ / k² over the k prompts that have an answer.
    spread = (1 / answered).sum() / answered.len() ** 2
    for instrument, measure in measures.items():
        if not {instrument, base_of(instrument)} & {*anchor.instruments}:
            continue
        counted = measure.counted_dimension
        of_replies = measure.reads == "replies"
        rows = scores.filter(of_asked(instrument), pl.col("level") == "prompt")
        rows = _as_texts(rows, {value.condition for value in anchor.values})
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
            spread=spread if of_replies else pl.lit(None, dtype=pl.Float64),
        )
        for (model,), of in cells.sort(keep).partition_by("model", as_dict=True).items():
            about = Contrast(
                kind=DIFFERENCE,
                instrument=base_of(instrument),
                mode=mode,
                measure=measure.name,
                quantity=SHARE,
                model=str(model),
                first=measure.name,
                second=anchor.id,
            )
            people = _people(anchor.latest(), anchor)
            yield Shares(anchor=anchor, instrument=instrument, about=about, rows=of, people=people)


def _as_texts(rows: pl.DataFrame, known: Collection[str]) -> pl.DataFrame:
    """Return the scores with ``text``: what the condition was.

    Texts of a category have the one condition of it that people were asked about; where these are
    several, each condition stands for itself.
    """
    asked = pl.col("condition").is_in(list(known)) & pl.col("category").is_not_null()
    about = rows.select("category", "condition").unique().filter(asked)
    named = dict(about.filter(pl.len().over("category") == 1).rows())
    same = pl.col("category").replace_strict(named, default=None, return_dtype=pl.String)
    condition = pl.col("condition")
    return rows.with_columns(text=condition, condition=pl.coalesce(same, condition))


def _people(values: Iterable[AnchorValue], anchor: Anchor) -> Said:
    """By item, condition and gender; several years are taken together."""
    several: dict[tuple[str, str, str], list[People]] = {}
    for said in values:
        interval, n = interval_of(said, anchor), said.n_effective or said.n
        if interval is not None and n:
            people = People(value=said.value, low=interval[0], high=interval[1], n=n)
            several.setdefault((said.item, said.condition, said.gender), []).append(people)
    return {key: pooled(people) for key, people in several.items()}


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

AnchorEstimates = list[tuple[Contrast, Estimate]]


def compare_shares(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchors: Sequence[Anchor],
    *,
    decided: Mapping[tuple[str, str], float] | None = None,
) -> tuple[AnchorEstimates, list[dict[str, Any]]]:
    """Every difference between a model's shares and people's; and rows of ANCHOR_POINTS.

    Each kind is a list of tests; other wordings are not tested. ``decided``: instrument and model
    → the share of its answers on the obvious side of control items, where that is known.
    """
    found: AnchorEstimates = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        if anchor.compare != "difference":
            continue
        for one in shares_of(scores, prompts, measures, anchor):
            about = (one.instrument, one.about.measure, one.about.model, anchor.id)
            sure = (decided or {}).get((one.instrument, str(one.about.model)))
            for kind, make in (
                (DIFFERENCE, by_question),
                (OVERALL, over_questions),
                (GENDER, by_gender),
            ):
                pairs = list(make(one))
                # Once for the p-values, which say how wide the intervals of a list are to be.
                level = list_level([_compared(pair, sure, 0.95) for pair in pairs])
                estimates = [_compared(pair, sure, level) for pair in pairs]
                kept = as_list(estimates, family=f"{kind}: {', '.join(map(str, about))}")
                found += zip([pair.says for pair in pairs], kept, strict=True)
                if kind == DIFFERENCE:
                    rows = zip(pairs, estimates, strict=True)
                    points += [_share_point(anchor, *row) for row in rows]
            found += in_other_wordings(one)
            found += by_gender_alone(one)
            found += in_each_year(one)
            found += in_each_text(one)
    return found, points


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """What is compared: a share of the model, or a man minus a woman, and the same of people."""

    says: Contrast
    model: Weighted
    """A mean over texts about the same."""
    texts: Sequence[float]
    """The model's number in each text, from which interval and test are for others."""
    people: People
    cells: pl.DataFrame
    """The rows that the model's side is made of."""
    sides: tuple[People, ...] = ()
    """What people said of a man and of a woman."""

    def sampled(self) -> Sequence[float]:
        """The number in each text; none where these are too few to say how much others differ."""
        return self.texts if len(self.texts) >= LEAST_TEXTS else ()


_OF_MODEL = ("instrument", "mode", "measure", "quantity", "model")


def _share_point(anchor: Anchor, pair: _Pair, estimate: Estimate) -> dict[str, Any]:
    """Both sides of a question and condition."""
    says, texts = pair.says, pair.sampled()
    (people,) = (
        said
        for said in anchor.latest()
        if (said.item, said.condition, said.gender) == (says.dimension, says.group, EVERYONE)
    )
    low, high = ends(pair.model, NOBODY, Z, texts) if texts else (None, None)
    return {
        **{name: getattr(says, name) for name in _OF_MODEL},
        "anchor": anchor.id,
        "item": says.dimension,
        "condition": says.group,
        "value": estimate.mean_first,
        "people": people.value,
        "low": pair.people.low,
        "high": pair.people.high,
        "n": people.n,
        "unanswered": unanswered_in(pair.cells),
        "value_low": None if low is None else max(0.0, low),
        "value_high": None if high is None else min(1.0, high),
    }


def by_question(one: Shares) -> Iterator[_Pair]:
    """Each question and condition that people were asked about."""
    for condition in one.conditions():
        for item in one.rows["item"].unique().sort():
            people = one.people.get((item, condition, EVERYONE))
            if people is not None:
                says = replace(one.about, group=condition, dimension=item)
                # What people's intervals leave out is added here alone: over several questions the
                # error is too large already, by about as much (see mean_of).
                people = widened(people, one.anchor.design_effect)
                yield from _pair(one, says, [item], people)


def over_questions(one: Shares) -> Iterator[_Pair]:
    """Each condition over the questions that count as stigma."""
    for condition in one.conditions():
        if items := one.counted(condition, EVERYONE):
            people = mean_of([one.people[item, condition, EVERYONE] for item in items])
            says = replace(one.about, kind=OVERALL, group=condition)
            yield from _pair(one, says, items, people)


def _pair(one: Shares, says: Contrast, items: Sequence[str], people: People) -> Iterator[_Pair]:
    """Yield the model's mean over texts and people, if a text has an answer to each question."""
    condition = str(says.group)
    if texts := one.texts(items, condition):
        shares = [*texts.values()]
        yield _Pair(
            says=says,
            model=[(1, mean_share(shares))],
            texts=[share.value for share in shares],
            people=people,
            cells=pl.concat([one.cell(item, condition) for item in items]),
        )


def by_gender(one: Shares) -> Iterator[_Pair]:
    """Each condition, over the questions that count: a man minus a woman; people of all years."""
    genders = ("male", "female")
    of_all_years = _people(one.anchor.values, one.anchor)
    for condition in one.conditions():
        items = one.counted(condition, *genders)
        men, women = (one.texts(items, condition, gender) for gender in genders)
        both = [(men[text], women[text]) for text in men if text in women]
        if not both:
            continue
        male, female = (mean_share(shares) for shares in zip(*both, strict=True))
        of_men, of_women = (
            mean_of([of_all_years[item, condition, gender] for item in items]) for gender in genders
        )
        yield _Pair(
            says=replace(one.about, kind=GENDER, group=condition),
            model=[(1, male), (-1, female)],
            texts=[of_man.value - of_woman.value for of_man, of_woman in both],
            people=apart(of_men, of_women),
            cells=pl.concat([one.cell(item, condition) for item in items]),
            sides=(of_men, of_women),
        )


def _compared(pair: _Pair, decided: float | None, level: float) -> Estimate:
    """Return the model minus people, and how sure it lies beyond people with its indifference.

    Who is indifferent has a share of one half in every question, and so differs from people without
    any attitude. With c the share of its answers on the obvious side of control items, people as
    indifferent would have .5 + (2c − 1)(p − .5) in place of p; ``indifference_p`` is one-sided.
    """
    model, text, texts = pair.model, pair.says.text, pair.sampled()
    estimate = minus_people(model, pair.people, contrast=text, level=level, texts=texts)
    if decided is not None and decided < LEAST_DECIDED:
        estimate = _untested(estimate, INDIFFERENT)
    elif not texts:
        estimate = _untested(estimate, FEW_TEXTS)
    elif decided is not None and pair.says.kind != GENDER:
        indifferent = nearer(pair.people, 2 * decided - 1)
        beside = minus_people(model, indifferent, contrast=text, texts=texts)
        if estimate.p is not None and beside.p is not None:
            same = beside.difference * estimate.difference > 0  # type: ignore[operator]
            p = beside.p / 2 if same else 1 - beside.p / 2
            estimate = replace(estimate, indifference_p=p)
    unanswered = unanswered_in(pair.cells)
    few = unanswered is not None and unanswered > MOST_UNANSWERED
    return _untested(estimate, UNANSWERED) if few else estimate


def in_each_year(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same with people's answers of each year, without a test: the year is the variant."""
    values = one.anchor.values
    by_year = {
        year: _people((said for said in values if said.year == year), one.anchor)
        for year in one.anchor.years()
    }
    for condition in one.conditions():
        texts = one.texts(one.counted(condition, EVERYONE), condition)
        for year, people in by_year.items():
            yield from _check(one, IN_YEAR, condition, str(year), texts, people, reason=EVERY_YEAR)


def in_each_text(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same in each text about a condition of which there are several, without a test."""
    for condition in one.conditions():
        texts = one.texts(one.counted(condition, EVERYONE), condition)
        for name, share in texts.items() if len(texts) > 1 else ():
            text = {name: share}
            yield from _check(one, IN_TEXT, condition, name, text, one.people, reason=ONE_TEXT)


def in_other_wordings(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """The same in each wording that is not people's, without a test: a check of the share."""
    others = one.rows.filter(~pl.col("as_people"))["wording"].unique().sort()
    for condition in one.conditions():
        items = one.counted(condition, EVERYONE)
        for name in others:
            texts, people = one.texts(items, condition, wording=name), one.people
            yield from _check(one, OTHER_WORDING, condition, name, texts, people, reason=ANOTHER)


def _check(
    one: Shares,
    kind: str,
    condition: str,
    variant: str,
    texts: Mapping[str, Share],
    people: Said,
    *,
    reason: str,
) -> Iterator[tuple[Contrast, Estimate]]:
    """Yield the mean over these texts beside people, in a variant that is not tested."""
    keys = [(item, condition, EVERYONE) for item in one.counted(condition, EVERYONE)]
    if texts and all(key in people for key in keys):
        says = replace(one.about, kind=kind, variant=variant, group=condition)
        share, said = mean_share([*texts.values()]), mean_of([people[key] for key in keys])
        yield says, _untested(minus_people([(1, share)], said, contrast=says.text), reason)


def by_gender_alone(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """A man minus a woman on each side, with its interval, not tested."""
    none = dict.fromkeys(("test", "alternative", "statistic", "p"))
    for pair in by_gender(one):
        says, texts = replace(pair.says, kind=GENDER_SIDE, variant=MODEL), pair.sampled()
        model = side(pair.model, contrast=says.text, texts=texts)
        alone = replace(model, reason=ONE_SIDE, **none)  # type: ignore[arg-type]
        yield says, alone if texts else _untested(model, FEW_TEXTS)
        says = replace(says, variant=PEOPLE)
        yield says, replace(people_side(*pair.sides, contrast=says.text), reason=ONE_SIDE)


def _untested(estimate: Estimate, reason: str) -> Estimate:
    none = dict.fromkeys(("low", "high", "test", "alternative", "statistic", "p", "interval_over"))
    return replace(estimate, reason=reason, **none)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class ProfileComparison:
    """One model's answers to one instrument, and an anchor; over what both have."""

    anchor: Anchor
    answers: Answers
    people: Mapping[str, Mapping[str, AnchorValue]]
    """By item, then by condition."""

    def contrast(self, kind: str, item: str) -> Contrast:
        """What a row is about: the measure with the anchor, in one item of it."""
        return Contrast(
            kind=kind,
            instrument=base_of(self.answers.instrument),
            mode=self.answers.mode,
            measure=self.answers.measure,
            quantity=self.answers.quantity,
            model=self.answers.model,
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
    compare_shares.
    """
    found: AnchorEstimates = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        if anchor.compare == "profile":
            for one in _fitting(scores, prompts, measures, anchor):
                found += correlated(one)
                points += _profile_points(one)
    shares, more = compare_shares(scores, prompts, measures, anchors, decided=decided)
    table = pl.DataFrame([*points, *more], schema=schema(ANCHOR_POINTS))
    return anchor_table([*found, *shares]), table


def _fitting(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchor: Anchor,
) -> Iterator[ProfileComparison]:
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
        kinds = {"anchor": profile, "anchor-rank": profile}
        if len({one.answers.categories[place] for place in places}) > 1:
            kinds["anchor-partial"] = one.profile(item, places, given=True)
        for kind, of in kinds.items():
            says = one.contrast(kind, item)
            coefficient: Coefficient = "spearman" if kind == "anchor-rank" else "pearson"
            estimate = related(of, coefficient, contrast=says.text)
            if kind != "anchor-partial":
                estimate = replace(estimate, left_out=len(one.people[item]) - len(places))
            found.setdefault(kind, []).append((says, _of_what(estimate, one.anchor)))
    answers = one.answers
    about = (answers.instrument, answers.measure, answers.quantity, answers.model, one.anchor.id)
    corrected: AnchorEstimates = []
    for kind, rows in found.items():
        kept = as_list([estimate for _, estimate in rows], family=f"{kind}: {', '.join(about)}")
        corrected += zip([says for says, _ in rows], kept, strict=True)
    return corrected


def _of_what(estimate: Estimate, anchor: Anchor) -> Estimate:
    """The estimate with what its n counts, where that is no conditions."""
    if anchor.of == "condition":
        return estimate
    many = f"{anchor.of}s"
    texts = {name: getattr(estimate, name) for name in ("interval_over", "method", "reason")}
    said = {name: text and text.replace("conditions", many) for name, text in texts.items()}
    return replace(estimate, unit=many, **said)


def _profile_points(one: ProfileComparison) -> Iterator[dict[str, Any]]:
    """Each condition in each item; then each by how far it is from what all items predict."""
    of = one.answers
    says = one.contrast("anchor", "")
    about = {name: getattr(says, name) for name in _OF_MODEL} | {"anchor": one.anchor.id}
    cells = [
        about
        | {
            "condition": of.conditions[place],
            "group": of.groups[place] or None,
            "category": of.categories[place] or None,
            "value": float(of.values[place]),
        }
        for place in range(len(of.conditions))
    ]
    for item, people in one.people.items():
        for place in one.places(item):
            said = people[of.conditions[place]]
            numbers = {"people": said.value, "low": said.low, "high": said.high, "n": said.n}
            yield cells[place] | {"item": item} | numbers
    places = one.places(*one.people)
    columns = [[one.people[item][of.conditions[at]].value for item in one.people] for at in places]
    fit = residuals(of.values[places], np.array(columns)) if places else None
    for at, place in enumerate(places if fit else ()):
        yield cells[place] | {name: float(of[at]) for name, of in (fit or {}).items()}


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
    rows = sides.select(asked_ids(), "model", "value").rows()
    decided = {(instrument, model): value for instrument, model, value in rows}
    estimates, points = compare_with_people(
        without_controls(scores), prompts, measures_of(manifest), anchors, decided=decided
    )
    used = {*estimates["second"]}
    entries = {anchor.id: entry_of(anchor) for anchor in anchors if anchor.id in used}
    return AnchorComparison(estimates=estimates, points=points, anchors=entries)


def entry_of(anchor: Anchor) -> dict[str, Any]:
    """What the manifest says of an anchor."""
    said = {name: value for name in _SAID if (value := getattr(anchor, name)) is not None}
    items = {item.id: {"name": item.name, "meaning": item.meaning} for item in anchor.items}
    return said | {"point": anchor.of, "items": items}

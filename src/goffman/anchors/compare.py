"""A run compared with people's answers: correlations of profiles, and differences of shares.

A share is compared question by question, over all that count as stigma, and by a person's gender.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.anchors.loader import EVERYONE, error_of, interval_of
from goffman.contrasts.correlations import by_condition, by_occupation
from goffman.contrasts.designs import Contrast, estimate_table, records_table
from goffman.contrasts.verdict import AGAINST_PEOPLE, Verdict
from goffman.instruments.types import CONTROL, base_of
from goffman.measures.controls import DECIDED
from goffman.modes import asked_ids, mode_of_rows, of_asked
from goffman.runs.answers import parquet
from goffman.runs.manifest import UsedAnchor
from goffman.schemas import ANCHOR_POINTS, CONTRASTS, VERDICTS, schema
from goffman.scoring import measures_of, without_controls
from goffman.stats.intervals import Estimate, Z
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
    from goffman.anchors.loader import Anchor, AnchorValue
    from goffman.contrasts.correlations import Answers
    from goffman.measures.base import Measure
    from goffman.runs.manifest import Manifest

SHARE = "share-endorsing"
"""The measure's quantity that is the share of answers of the same kind as those counted for
people."""

NO_ANSWERS = ("dont-know", "refusal", "several", "other", "no-answer", "elsewhere")
"""The measure's quantities for the share of replies, or of probability, that is no answer."""

PeopleShares = Mapping[tuple[str, str, str], People]
"""Item, condition and gender → people's share."""


@dataclass(frozen=True, kw_only=True)
class Shares:
    """One model's answers to one instrument, to compare with one anchor of shares.

    Wordings that ask something else than people were asked are kept as a check.
    """

    anchor: Anchor
    instrument: str
    """The instrument's id, with the mode."""
    about: Contrast
    """What all of its contrasts have in common: a condition is in ``group``, a question in
    ``dimension``."""
    rows: pl.DataFrame
    """item, condition, text, wording, gender, counts, as_people (whether people were asked so),
    value (a mean over orders and trials), replies (null: a probability), spread (the variance of
    such a mean is share·(1−share) times this) and unanswered, a share."""
    people: PeopleShares
    """People's shares of the latest year."""

    def cell(
        self, item: str, condition: str, gender: str | None = None, *, wording: str | None = None
    ) -> pl.DataFrame:
        """Return the rows of a question, in people's wording or in another."""
        in_wording = pl.col("as_people") if wording is None else pl.col("wording") == wording
        rows = self.rows.filter(in_wording, item=item, condition=condition)
        return rows if gender is None else rows.filter(gender=gender)

    def conditions(self) -> list[str]:
        """Return the conditions that the model was asked about, sorted."""
        return self.rows["condition"].unique().sort().to_list()

    def counted(self, condition: str, *genders: str) -> list[str]:
        """Return the questions that count and that people were asked, for each of the genders."""
        rows = self.rows.filter(pl.col("counts"), condition=condition)
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
        """Return text → its mean share over the questions; only texts that answer all of them."""
        shares: dict[str, list[Share]] = {}
        for item in items:
            cell = self.cell(item, condition, gender, wording=wording).sort("text")
            for (text,), rows in cell.partition_by("text", as_dict=True).items():
                share = share_of(rows)
                shares.setdefault(str(text), []).extend([] if share is None else [share])
        return {
            text: mean_share(text_shares)
            for text, text_shares in shares.items()
            if len(text_shares) == len(items)
        }


def shares_of(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchor: Anchor,
) -> Iterator[Shares]:
    """Yield every model's answers to the instruments that the anchor has values for."""
    genders = prompts.select("prompt_id", gender_of="gender").unique("prompt_id")
    as_people = pl.lit(not anchor.wordings) | pl.col("wording").is_in(list(anchor.wordings))
    answered = pl.col("n").filter(pl.col("n") > 0)
    # Σ 1/nᵢ / k² over the k prompts that have an answer.
    spread = (1 / answered).sum() / answered.len() ** 2
    for instrument, measure in measures.items():
        if not {instrument, base_of(instrument)} & {*anchor.instruments}:
            continue
        counted = measure.counted_dimension
        of_replies = measure.reads == "replies"
        rows = scores.filter(of_asked(instrument), level="prompt")
        rows = _as_texts(rows, {value.condition for value in anchor.values})
        no_answers = rows.filter(pl.col("quantity").is_in(NO_ANSWERS))
        unanswered = no_answers.group_by("model", "prompt_id").agg(unanswered=pl.col("value").sum())
        rows = (
            rows.filter(quantity=SHARE)
            # Sums of floats depend on their order.
            .join(genders, on="prompt_id", maintain_order="left")
            .join(unanswered, on=["model", "prompt_id"], how="left", maintain_order="left")
        )
        cells = rows.group_by(
            *("model", "item", "condition", "text", "wording"),
            gender="gender_of",
            counts=(pl.col("dimension") == counted).fill_null(value=True),
            as_people=as_people,
        ).agg(
            pl.col("value").mean(),
            pl.col("unanswered").mean(),
            replies=pl.col("n").sum() if of_replies else pl.lit(None, dtype=pl.Int64),
            # Each prompt counts alike, however many of its replies are answers.
            spread=spread if of_replies else pl.lit(None, dtype=pl.Float64),
        )
        contrast = Contrast(
            kind=DIFFERENCE,
            instrument=base_of(instrument),
            mode=mode_of_rows(rows),
            measure=measure.name,
            quantity=SHARE,
            first=measure.name,
            second=anchor.id,
        )
        people = _people(anchor.latest(), anchor)
        by_model = cells.sort(pl.all()).partition_by("model", as_dict=True)
        for (model,), model_rows in by_model.items():
            yield Shares(
                anchor=anchor,
                instrument=instrument,
                about=replace(contrast, model=str(model)),
                rows=model_rows,
                people=people,
            )


def _as_texts(rows: pl.DataFrame, people_conditions: Collection[str]) -> pl.DataFrame:
    """Return the scores with the column ``text``: the id of the condition as it was asked.

    Texts of a category get the one condition of it that people were asked about; if there are
    several, each condition stands for itself.
    """
    is_known = pl.col("condition").is_in(list(people_conditions)) & pl.col("category").is_not_null()
    categories = rows.select("category", "condition").unique().filter(is_known)
    condition_by_category = dict(categories.filter(pl.len().over("category") == 1).rows())
    people_condition = pl.col("category").replace_strict(
        condition_by_category, default=None, return_dtype=pl.String
    )
    condition = pl.col("condition")
    return rows.with_columns(text=condition, condition=pl.coalesce(people_condition, condition))


def _people(values: Iterable[AnchorValue], anchor: Anchor) -> PeopleShares:
    """Return people's shares by item, condition and gender; several years are pooled."""
    by_key: dict[tuple[str, str, str], list[People]] = {}
    for row in values:
        interval, n = interval_of(row, anchor), row.n_effective or row.n
        if interval is not None and n:
            people = People(value=row.value, low=interval[0], high=interval[1], n=n)
            by_key.setdefault((row.item, row.condition, row.gender), []).append(people)
    return {key: pooled(people) for key, people in by_key.items()}


def share_of(cell: pl.DataFrame) -> Share | None:
    """Return the share of a question over its rows; None if there is no answer."""
    answered = cell.drop_nulls("value")
    if answered.is_empty():
        return None
    value = float(answered["value"].to_numpy().mean())
    if answered["replies"].is_null().any():
        return Share(value=value)
    worth = answered.height**2 / float(answered["spread"].sum())
    return Share(value=value, replies=int(answered["replies"].sum()), worth=worth)


def unanswered_in(cell: pl.DataFrame) -> float | None:
    """Return the share of answers that are no answer; None if unknown."""
    shares = cell["unanswered"].drop_nulls()
    return None if shares.is_empty() else float(shares.to_numpy().mean())


DIFFERENCE, OVERALL, GENDER, OTHER_WORDING, GENDER_SIDE, IN_YEAR, IN_TEXT = AGAINST_PEOPLE
MODEL, PEOPLE = "model", "people"
"""Variants of a man minus a woman on one side alone."""

GENDERS_COMPARED = ("male", "female")

MOST_UNANSWERED = 0.5
"""A share of the answers to a question: if more are no answer, the others are not compared with
people, nearly all of whom answered."""

LEAST_TEXTS = 3
"""The fewest texts about the same that say something about other texts."""

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
    """Return every difference between a model's shares and people's; and rows of ANCHOR_POINTS.

    Each kind is a family of tests; other wordings are not tested. ``decided``: instrument and model
    → the share of its answers on the obvious side of control items, if known.
    """
    differences: AnchorEstimates = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        if anchor.compare != "difference":
            continue
        for shares in shares_of(scores, prompts, measures, anchor):
            about = shares.about
            decided_share = (decided or {}).get((shares.instrument, str(about.model)))
            for kind, make_pairs in (
                (DIFFERENCE, by_question),
                (OVERALL, over_questions),
                (GENDER, by_gender),
            ):
                pairs = list(make_pairs(shares))
                # Computed twice: p-values of the first pass set the level of the intervals.
                level = list_level([_compared(pair, decided_share, 0.95) for pair in pairs])
                rows = [(pair.contrast, _compared(pair, decided_share, level)) for pair in pairs]
                differences += _in_family(
                    rows, kind, shares.instrument, about.measure, about.model, anchor.id
                )
                if kind == DIFFERENCE:
                    points += [
                        _share_point(anchor, pair, estimate)
                        for pair, (_, estimate) in zip(pairs, rows, strict=True)
                    ]
            checks = [*untested_checks(shares), *by_gender_alone(shares)]
            differences += sorted(checks, key=lambda row: AGAINST_PEOPLE.index(row[0].kind))
    return differences, points


def _in_family(rows: AnchorEstimates, *names: str | None) -> AnchorEstimates:
    """Return the rows with p-values corrected as one family, called by the kind and names."""
    kind, *about = map(str, names)
    estimates = as_list([estimate for _, estimate in rows], family=f"{kind}: {', '.join(about)}")
    return [(contrast, estimate) for (contrast, _), estimate in zip(rows, estimates, strict=True)]


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A model's number and people's: a share, or the share about a man minus that about a woman."""

    contrast: Contrast
    model: Weighted
    """Signed shares whose sum is the model's number: means over texts about the same condition."""
    texts: Sequence[float]
    """The model's number in each text, for intervals and tests that cover other texts."""
    people: People
    cells: pl.DataFrame
    """The rows of the model's answers that its number is the mean of."""
    sides: tuple[People, ...] = ()
    """People's shares about a man and about a woman."""

    def sampled(self) -> Sequence[float]:
        """Return the number in each text, or () if they are too few to estimate a variance."""
        return self.texts if len(self.texts) >= LEAST_TEXTS else ()


_OF_MODEL = ("instrument", "mode", "measure", "quantity", "model")


def _share_point(anchor: Anchor, pair: _Pair, estimate: Estimate) -> dict[str, Any]:
    """Return the row of ANCHOR_POINTS for one question and condition."""
    contrast, texts = pair.contrast, pair.sampled()
    (people,) = (
        value
        for value in anchor.latest()
        if (value.item, value.condition, value.gender)
        == (contrast.dimension, contrast.group, EVERYONE)
    )
    low, high = ends(pair.model, NOBODY, Z, texts) if texts else (None, None)
    return {
        **{column: getattr(contrast, column) for column in _OF_MODEL},
        "anchor": anchor.id,
        "item": contrast.dimension,
        "condition": contrast.group,
        "value": estimate.mean_first,
        "people": people.value,
        "low": pair.people.low,
        "high": pair.people.high,
        "n": people.n,
        "unanswered": unanswered_in(pair.cells),
        "value_low": None if low is None else max(0.0, low),
        "value_high": None if high is None else min(1.0, high),
    }


def by_question(shares: Shares) -> Iterator[_Pair]:
    """Yield each question and condition that people were asked about."""
    for condition in shares.conditions():
        for item in shares.rows["item"].unique().sort():
            people = shares.people.get((item, condition, EVERYONE))
            if people is not None:
                contrast = replace(shares.about, group=condition, dimension=item)
                # What people's intervals leave out is added here alone: over several questions the
                # error is too large already, by about as much (see mean_of).
                people = widened(people, shares.anchor.design_effect)
                yield from _pair(shares, contrast, [item], people)


def over_questions(shares: Shares) -> Iterator[_Pair]:
    """Yield each condition over the questions that count as stigma."""
    for condition in shares.conditions():
        if items := shares.counted(condition, EVERYONE):
            people = mean_of([shares.people[item, condition, EVERYONE] for item in items])
            contrast = replace(shares.about, kind=OVERALL, group=condition)
            yield from _pair(shares, contrast, items, people)


def by_gender(shares: Shares) -> Iterator[_Pair]:
    """Yield a man minus a woman for each condition, over counted questions and people's years."""
    of_all_years = _people(shares.anchor.values, shares.anchor)
    for condition in shares.conditions():
        if items := shares.counted(condition, *GENDERS_COMPARED):
            sides = tuple(
                mean_of([of_all_years[item, condition, gender] for item in items])
                for gender in GENDERS_COMPARED
            )
            contrast = replace(shares.about, kind=GENDER, group=condition)
            yield from _pair(shares, contrast, items, apart(*sides), sides)


def _pair(
    shares: Shares,
    contrast: Contrast,
    items: Sequence[str],
    people: People,
    sides: tuple[People, ...] = (),
) -> Iterator[_Pair]:
    """Yield the model's mean over texts with people's, if a text has an answer to each question."""
    condition = str(contrast.group)
    genders = GENDERS_COMPARED if sides else (None,)
    texts = [shares.texts(items, condition, gender) for gender in genders]
    names = [name for name in texts[0] if all(name in side for side in texts)]
    weighted = [
        (sign, [side[name] for name in names]) for sign, side in zip((1, -1), texts, strict=False)
    ]
    if names:
        yield _Pair(
            contrast=contrast,
            model=[(sign, mean_share(text_shares)) for sign, text_shares in weighted],
            texts=[
                sum(sign * text_shares[position].value for sign, text_shares in weighted)
                for position in range(len(names))
            ],
            people=people,
            cells=pl.concat([shares.cell(item, condition) for item in items]),
            sides=sides,
        )


def _compared(pair: _Pair, decided: float | None, level: float) -> Estimate:
    """Return the model minus people, and the p-value against people as indifferent as the model.

    An indifferent model has a share of one half in every question, and so differs from people
    without any attitude. With c the share of its answers on the obvious side of control items,
    people as indifferent would have .5 + (2c − 1)(p − .5) in place of p; ``indifference_p`` is
    one-sided.
    """
    model, text, texts = pair.model, pair.contrast.text, pair.sampled()
    estimate = minus_people(model, pair.people, contrast=text, level=level, texts=texts)
    if decided is not None and decided < LEAST_DECIDED:
        estimate = _untested(estimate, INDIFFERENT)
    elif not texts:
        estimate = _untested(estimate, FEW_TEXTS)
    elif decided is not None and pair.contrast.kind != GENDER:
        indifferent = nearer(pair.people, 2 * decided - 1)
        compared_indifferent = minus_people(model, indifferent, contrast=text, texts=texts)
        if estimate.p is not None and compared_indifferent.p is not None:
            same_direction = compared_indifferent.difference * estimate.difference > 0  # type: ignore[operator]
            p = compared_indifferent.p / 2 if same_direction else 1 - compared_indifferent.p / 2
            estimate = replace(estimate, indifference_p=p)
    unanswered = unanswered_in(pair.cells)
    too_few = unanswered is not None and unanswered > MOST_UNANSWERED
    return _untested(estimate, UNANSWERED) if too_few else estimate


def untested_checks(shares: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Yield the mean over the counted questions minus people's in each variant that is no test.

    The variants are wordings other than people's, each year of people's answers, and each of
    several texts about a condition.
    """
    other_wordings = shares.rows.filter(~pl.col("as_people"))["wording"].unique().sort()
    values, everyone = shares.anchor.values, shares.people
    by_year = {
        str(year): _people((value for value in values if value.year == year), shares.anchor)
        for year in shares.anchor.years()
    }
    for condition in shares.conditions():
        items = shares.counted(condition, EVERYONE)
        keys = [(item, condition, EVERYONE) for item in items]
        texts = shares.texts(items, condition)
        checks: list[tuple[str, str, Mapping[str, Share], PeopleShares, str]] = [
            *(
                (OTHER_WORDING, wording, in_wording, everyone, ANOTHER)
                for wording in other_wordings
                if (in_wording := shares.texts(items, condition, wording=wording))
            ),
            *((IN_YEAR, year, texts, people, EVERY_YEAR) for year, people in by_year.items()),
            *((IN_TEXT, name, {name: texts[name]}, everyone, ONE_TEXT) for name in texts),
        ]
        for kind, variant, shares_by_text, people, reason in checks:
            has_both = shares_by_text and all(key in people for key in keys)
            if has_both and (kind != IN_TEXT or len(texts) > 1):
                contrast = replace(shares.about, kind=kind, variant=variant, group=condition)
                model = [(1, mean_share([*shares_by_text.values()]))]
                estimate = minus_people(
                    model, mean_of([people[key] for key in keys]), contrast=contrast.text
                )
                yield contrast, _untested(estimate, reason)


def by_gender_alone(shares: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Yield a man minus a woman for the model, then for people, each without a test."""
    for pair in by_gender(shares):
        contrast, texts = replace(pair.contrast, kind=GENDER_SIDE, variant=MODEL), pair.sampled()
        model = side(pair.model, contrast=contrast.text, texts=texts)
        yield contrast, _untested(model, ONE_SIDE if texts else FEW_TEXTS, interval=bool(texts))
        contrast = replace(contrast, variant=PEOPLE)
        yield contrast, replace(people_side(*pair.sides, contrast=contrast.text), reason=ONE_SIDE)


def _untested(estimate: Estimate, reason: str, *, interval: bool = False) -> Estimate:
    """Return the estimate without its test; ``interval``: keep its interval."""
    cleared = ["test", "alternative", "statistic", "p"]
    cleared += [] if interval else ["low", "high", "interval_over"]
    return replace(estimate, reason=reason, **dict.fromkeys(cleared))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class ProfileComparison:
    """One model's answers to one instrument, and an anchor, over the conditions that both have."""

    anchor: Anchor
    answers: Answers
    people: Mapping[str, Mapping[str, AnchorValue]]
    """By item, then by condition."""

    def contrast(self, kind: str, item: str) -> Contrast:
        """Return the contrast of a row: the measure with one item of the anchor."""
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
        """Return the positions of the conditions that people were asked about in all the items."""
        conditions = enumerate(self.answers.conditions)
        return [
            position
            for position, condition in conditions
            if all(condition in self.people[item] for item in items)
        ]

    def profile(self, item: str, places: Sequence[int], *, stratified: bool = False) -> Profile:
        """Return both sides over these conditions; ``stratified``: by their categories."""
        answers = self.answers
        values = [self.people[item][answers.conditions[position]] for position in places]
        errors = [error_of(value, self.anchor) for value in values]
        categories = [answers.categories[position] for position in places]
        conditions = [answers.conditions[position] for position in places]
        return replace(
            answers.profile(places),
            people=np.array([value.value for value in values], dtype=np.float64),
            people_error=None if None in errors or not errors else np.array(errors, np.float64),
            clusters=[name or own for name, own in zip(categories, conditions, strict=True)],
            strata=categories if stratified else (),
        )


def compare_with_people(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchors: Sequence[Anchor],
    *,
    decided: Mapping[tuple[str, str], float] | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return CONTRASTS + ESTIMATES + VERDICTS of correlations and shares, and ANCHOR_POINTS.

    ``measures`` are by instrument; ``scores`` without those of controls; ``decided``: see
    compare_shares.
    """
    correlations: AnchorEstimates = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        if anchor.compare == "profile":
            for comparison in _fitting(scores, prompts, measures, anchor):
                correlations += correlated(comparison)
                points += _profile_points(comparison)
    shares, share_points = compare_shares(scores, prompts, measures, anchors, decided=decided)
    table = pl.DataFrame([*points, *share_points], schema=schema(ANCHOR_POINTS))
    return anchor_table([*correlations, *shares]), table


def _fitting(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measure],
    anchor: Anchor,
) -> Iterator[ProfileComparison]:
    people: dict[str, dict[str, AnchorValue]] = {item.id: {} for item in anchor.items}
    for value in anchor.latest():
        if value.gender == EVERYONE:
            people[value.item][value.condition] = value
    for instrument, measure in measures.items():
        if {instrument, base_of(instrument)} & {*anchor.instruments}:
            for answers in (
                by_condition(scores, instrument, measure)
                if anchor.of == "condition"
                else by_occupation(scores, prompts, instrument, measure)
            ):
                yield ProfileComparison(anchor=anchor, answers=answers, people=people)


def correlated(comparison: ProfileComparison) -> AnchorEstimates:
    """Return every correlation with an item of the anchor, each corrected over the items."""
    answers, anchor = comparison.answers, comparison.anchor
    by_kind: dict[str, AnchorEstimates] = {}
    for item, people in comparison.people.items():
        positions = comparison.places(item)
        if len(positions) < LEAST:
            continue
        profile = comparison.profile(item, positions)
        kinds = {"anchor": profile, "anchor-rank": profile}
        if len({answers.categories[position] for position in positions}) > 1:
            kinds["anchor-partial"] = comparison.profile(item, positions, stratified=True)
        for kind, kind_profile in kinds.items():
            contrast = comparison.contrast(kind, item)
            coefficient: Coefficient = "spearman" if kind == "anchor-rank" else "pearson"
            estimate = related(kind_profile, coefficient, contrast=contrast.text)
            if kind != "anchor-partial":
                estimate = replace(estimate, left_out=len(people) - len(positions))
            if anchor.of != "condition":
                estimate = _of_what(estimate, f"{anchor.of}s")
            by_kind.setdefault(kind, []).append((contrast, estimate))
    about = (answers.instrument, answers.measure, answers.quantity, answers.model, anchor.id)
    return [row for kind, rows in by_kind.items() for row in _in_family(rows, kind, *about)]


def _of_what(estimate: Estimate, plural: str) -> Estimate:
    """Return the estimate with "conditions" replaced by what its n counts."""
    texts = {name: getattr(estimate, name) for name in ("interval_over", "method", "reason")}
    fields = {name: text and text.replace("conditions", plural) for name, text in texts.items()}
    return replace(estimate, unit=plural, **fields)


def _profile_points(comparison: ProfileComparison) -> Iterator[dict[str, Any]]:
    """Yield each condition in each item, then its distance from what all items predict."""
    answers, people = comparison.answers, comparison.people
    contrast = comparison.contrast("anchor", "")
    about = {column: getattr(contrast, column) for column in _OF_MODEL}
    cells = [
        about
        | {"anchor": comparison.anchor.id, "condition": condition, "value": float(value)}
        | {"group": group or None, "category": category or None}
        for condition, group, category, value in zip(
            answers.conditions, answers.groups, answers.categories, answers.values, strict=True
        )
    ]
    for item in people:
        for position in comparison.places(item):
            value = people[item][answers.conditions[position]]
            numbers = {"people": value.value, "low": value.low, "high": value.high, "n": value.n}
            yield cells[position] | {"item": item} | numbers
    positions = comparison.places(*people)
    columns = [
        [values[answers.conditions[position]].value for values in people.values()]
        for position in positions
    ]
    fit = (residuals(answers.values[positions], np.array(columns)) if positions else None) or {}
    for index, position in enumerate(positions if fit else ()):
        yield cells[position] | {name: float(figures[index]) for name, figures in fit.items()}


def anchor_table(rows: AnchorEstimates) -> pl.DataFrame:
    """Return CONTRASTS + ESTIMATES + VERDICTS; verdicts are empty for lack of a margin."""
    tables = [
        records_table([contrast for contrast, _ in rows], schema(CONTRASTS)),
        estimate_table([estimate for _, estimate in rows]),
        records_table([Verdict()] * len(rows), schema(VERDICTS)),
    ]
    return pl.concat(tables, how="horizontal")


ANCHORS_FILE = "anchors.parquet"
POINTS_FILE = "anchor-points.parquet"
ANCHOR_FILES = (ANCHORS_FILE, POINTS_FILE)

_SAID = (
    *("version", "digest", "title", "citation", "terms", "country", "year", "population", "unit"),
    *("compare", "lowest", "highest", "limits", "whose", "set_apart", "own_texts"),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchorComparison:
    """A comparison's results, and the sources of people's answers."""

    estimates: pl.DataFrame
    """The columns CONTRASTS, ESTIMATES and VERDICTS."""
    points: pl.DataFrame
    """The columns ANCHOR_POINTS."""
    anchors: Mapping[str, UsedAnchor]
    """By id, for the manifest: the anchors that something of the run could be compared with."""

    def tables(self) -> dict[str, bytes]:
        """Return the tables by file; none if nothing of the run fits an anchor."""
        if not self.anchors:
            return {}
        return {ANCHORS_FILE: parquet(self.estimates), POINTS_FILE: parquet(self.points)}


def compare_with_anchors(
    scores: pl.DataFrame, prompts: pl.DataFrame, manifest: Manifest, anchors: Sequence[Anchor]
) -> AnchorComparison:
    """Return the comparison of everything in a measured run that has an anchor."""
    sides = scores.filter(level=CONTROL, quantity=DECIDED)
    rows = sides.select(asked_ids(), "model", "value").rows()
    decided = {(instrument, model): value for instrument, model, value in rows}
    estimates, points = compare_with_people(
        without_controls(scores), prompts, measures_of(manifest), anchors, decided=decided
    )
    used = {*estimates["second"]}
    entries = {anchor.id: entry_of(anchor) for anchor in anchors if anchor.id in used}
    return AnchorComparison(estimates=estimates, points=points, anchors=entries)


def entry_of(anchor: Anchor) -> UsedAnchor:
    """Return what the manifest says of an anchor."""
    fields = {name: getattr(anchor, name) for name in _SAID}
    items = {item.id: {"name": item.name, "meaning": item.meaning} for item in anchor.items}
    return UsedAnchor(**fields, point=anchor.of, items=items)

"""A run compared with people's answers: correlations of profiles, and differences of shares.

A share is compared question by question, over all that count as stigma, and by a person's gender.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.anchors.loader import EVERYONE, error_of, interval_of
from goffman.contrasts.correlations import by_condition, by_occupation
from goffman.contrasts.designs import Contrast, estimate_table
from goffman.contrasts.verdict import AGAINST_PEOPLE, Verdict
from goffman.instruments.types import CONTROL, base_of
from goffman.measures.controls import DECIDED
from goffman.modes import asked_ids, mode_of_rows, of_asked
from goffman.runs.answers import parquet
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
    from goffman.runs.manifest import Entry, Manifest

SHARE = "share-endorsing"
"""The measure's quantity that is the share of answers of the same kind as those counted for
people."""

NO_ANSWERS = ("dont-know", "refusal", "several", "other", "no-answer", "elsewhere")
"""The measure's quantities that are shares of replies, then of probabilities, that are no
answer."""

Said = Mapping[tuple[str, str, str], People]
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
    people: Said
    """People's shares of the latest year."""

    def cell(
        self, item: str, condition: str, gender: str | None = None, *, wording: str | None = None
    ) -> pl.DataFrame:
        """Return the rows of a question, in people's wording or in another."""
        in_wording = pl.col("as_people") if wording is None else pl.col("wording") == wording
        rows = self.rows.filter(
            in_wording, pl.col("item") == item, pl.col("condition") == condition
        )
        return rows if gender is None else rows.filter(pl.col("gender") == gender)

    def conditions(self) -> list[str]:
        """Return the conditions that the model was asked about, sorted."""
        return self.rows["condition"].unique().sort().to_list()

    def counted(self, condition: str, *genders: str) -> list[str]:
        """Return the questions that count and that people were asked, for each of the genders."""
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
        """Return the share over these questions of each text that has an answer to all of them."""
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
        no_answers = rows.filter(pl.col("quantity").is_in(NO_ANSWERS)).group_by(
            "model", "prompt_id"
        )
        unanswered = no_answers.agg(unanswered=pl.col("value").sum())
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
        keys = ("model", "item", "condition", "text", "wording", "gender", "counts", "as_people")
        cells = rows.group_by(keys).agg(
            pl.col("value").mean(),
            pl.col("unanswered").mean(),
            replies=pl.col("replies").sum() if of_replies else pl.lit(None, dtype=pl.Int64),
            # Each prompt counts alike, however many of its replies are answers.
            spread=spread if of_replies else pl.lit(None, dtype=pl.Float64),
        )
        for (model,), model_rows in cells.sort(keys).partition_by("model", as_dict=True).items():
            contrast = Contrast(
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
            yield Shares(
                anchor=anchor, instrument=instrument, about=contrast, rows=model_rows, people=people
            )


def _as_texts(rows: pl.DataFrame, known: Collection[str]) -> pl.DataFrame:
    """Return the scores with ``text``: what the condition was.

    Texts of a category get the one condition of it that people were asked about; if there are
    several, each condition stands for itself.
    """
    is_known = pl.col("condition").is_in(list(known)) & pl.col("category").is_not_null()
    categories = rows.select("category", "condition").unique().filter(is_known)
    condition_by_category = dict(categories.filter(pl.len().over("category") == 1).rows())
    people_condition = pl.col("category").replace_strict(
        condition_by_category, default=None, return_dtype=pl.String
    )
    condition = pl.col("condition")
    return rows.with_columns(text=condition, condition=pl.coalesce(people_condition, condition))


def _people(values: Iterable[AnchorValue], anchor: Anchor) -> Said:
    """Return people's shares by item, condition and gender; several years are pooled."""
    by_key: dict[tuple[str, str, str], list[People]] = {}
    for anchor_value in values:
        interval, n = interval_of(anchor_value, anchor), anchor_value.n_effective or anchor_value.n
        if interval is not None and n:
            people = People(value=anchor_value.value, low=interval[0], high=interval[1], n=n)
            by_key.setdefault(
                (anchor_value.item, anchor_value.condition, anchor_value.gender), []
            ).append(people)
    return {key: pooled(people) for key, people in by_key.items()}


def share_of(cell: pl.DataFrame) -> Share | None:
    """Return the share of a question over its rows; None if there is no answer."""
    answered = cell.filter(pl.col("value").is_not_null())
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
            ids = (shares.instrument, shares.about.measure, shares.about.model, anchor.id)
            decided_share = (decided or {}).get((shares.instrument, str(shares.about.model)))
            for kind, make_pairs in (
                (DIFFERENCE, by_question),
                (OVERALL, over_questions),
                (GENDER, by_gender),
            ):
                pairs = list(make_pairs(shares))
                # Once for the p-values, which say how wide the intervals of a list are to be.
                level = list_level([_compared(pair, decided_share, 0.95) for pair in pairs])
                estimates = [_compared(pair, decided_share, level) for pair in pairs]
                corrected = as_list(estimates, family=f"{kind}: {', '.join(map(str, ids))}")
                differences += zip([pair.says for pair in pairs], corrected, strict=True)
                if kind == DIFFERENCE:
                    rows = zip(pairs, estimates, strict=True)
                    points += [_share_point(anchor, *row) for row in rows]
            differences += in_other_wordings(shares)
            differences += by_gender_alone(shares)
            differences += in_each_year(shares)
            differences += in_each_text(shares)
    return differences, points


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two sides compared: a share of the model, or a man minus a woman, and the same of people."""

    says: Contrast
    model: Weighted
    """The mean over texts about the same."""
    texts: Sequence[float]
    """The model's number in each text, from which interval and test for other texts are
    computed."""
    people: People
    cells: pl.DataFrame
    """The rows that the model's side is made of."""
    sides: tuple[People, ...] = ()
    """People's shares about a man and about a woman."""

    def sampled(self) -> Sequence[float]:
        """Return the number in each text; none if too few to show how much others differ."""
        return self.texts if len(self.texts) >= LEAST_TEXTS else ()


_OF_MODEL = ("instrument", "mode", "measure", "quantity", "model")


def _share_point(anchor: Anchor, pair: _Pair, estimate: Estimate) -> dict[str, Any]:
    """Return both sides of a question and condition."""
    contrast, texts = pair.says, pair.sampled()
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


def by_question(one: Shares) -> Iterator[_Pair]:
    """Yield each question and condition that people were asked about."""
    for condition in one.conditions():
        for item in one.rows["item"].unique().sort():
            people = one.people.get((item, condition, EVERYONE))
            if people is not None:
                contrast = replace(one.about, group=condition, dimension=item)
                # What people's intervals leave out is added here alone: over several questions the
                # error is too large already, by about as much (see mean_of).
                people = widened(people, one.anchor.design_effect)
                yield from _pair(one, contrast, [item], people)


def over_questions(one: Shares) -> Iterator[_Pair]:
    """Yield each condition over the questions that count as stigma."""
    for condition in one.conditions():
        if items := one.counted(condition, EVERYONE):
            people = mean_of([one.people[item, condition, EVERYONE] for item in items])
            contrast = replace(one.about, kind=OVERALL, group=condition)
            yield from _pair(one, contrast, items, people)


def _pair(one: Shares, says: Contrast, items: Sequence[str], people: People) -> Iterator[_Pair]:
    """Yield the model's mean over texts with people's, if a text has an answer to each question."""
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
    """Yield a man minus a woman for each condition, over counted questions and people's years."""
    genders = ("male", "female")
    of_all_years = _people(one.anchor.values, one.anchor)
    for condition in one.conditions():
        items = one.counted(condition, *genders)
        men, women = (one.texts(items, condition, gender) for gender in genders)
        pairs = [(men[text], women[text]) for text in men if text in women]
        if not pairs:
            continue
        male, female = (mean_share(shares) for shares in zip(*pairs, strict=True))
        of_men, of_women = (
            mean_of([of_all_years[item, condition, gender] for item in items]) for gender in genders
        )
        yield _Pair(
            says=replace(one.about, kind=GENDER, group=condition),
            model=[(1, male), (-1, female)],
            texts=[of_man.value - of_woman.value for of_man, of_woman in pairs],
            people=apart(of_men, of_women),
            cells=pl.concat([one.cell(item, condition) for item in items]),
            sides=(of_men, of_women),
        )


def _compared(pair: _Pair, decided: float | None, level: float) -> Estimate:
    """Return the model minus people, and the p-value against people as indifferent as the model.

    An indifferent model has a share of one half in every question, and so differs from people
    without any attitude. With c the share of its answers on the obvious side of control items,
    people as indifferent would have .5 + (2c − 1)(p − .5) in place of p; ``indifference_p`` is
    one-sided.
    """
    model, text, texts = pair.model, pair.says.text, pair.sampled()
    estimate = minus_people(model, pair.people, contrast=text, level=level, texts=texts)
    if decided is not None and decided < LEAST_DECIDED:
        estimate = _untested(estimate, INDIFFERENT)
    elif not texts:
        estimate = _untested(estimate, FEW_TEXTS)
    elif decided is not None and pair.says.kind != GENDER:
        indifferent = nearer(pair.people, 2 * decided - 1)
        compared_indifferent = minus_people(model, indifferent, contrast=text, texts=texts)
        if estimate.p is not None and compared_indifferent.p is not None:
            same_direction = compared_indifferent.difference * estimate.difference > 0  # type: ignore[operator]
            p = compared_indifferent.p / 2 if same_direction else 1 - compared_indifferent.p / 2
            estimate = replace(estimate, indifference_p=p)
    unanswered = unanswered_in(pair.cells)
    too_few = unanswered is not None and unanswered > MOST_UNANSWERED
    return _untested(estimate, UNANSWERED) if too_few else estimate


def in_each_year(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Yield the same with people's answers of each year, untested: the year is the variant."""
    values = one.anchor.values
    by_year = {
        year: _people((value for value in values if value.year == year), one.anchor)
        for year in one.anchor.years()
    }
    for condition in one.conditions():
        texts = one.texts(one.counted(condition, EVERYONE), condition)
        for year, people in by_year.items():
            yield from _check(one, IN_YEAR, condition, str(year), texts, people, reason=EVERY_YEAR)


def in_each_text(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Yield the same in each text about a condition that has several texts, without a test."""
    for condition in one.conditions():
        texts = one.texts(one.counted(condition, EVERYONE), condition)
        for name, share in texts.items() if len(texts) > 1 else ():
            text = {name: share}
            yield from _check(one, IN_TEXT, condition, name, text, one.people, reason=ONE_TEXT)


def in_other_wordings(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Yield the same in each wording that is not people's, without a test: a check of the share."""
    other_wordings = one.rows.filter(~pl.col("as_people"))["wording"].unique().sort()
    for condition in one.conditions():
        items = one.counted(condition, EVERYONE)
        for wording in other_wordings:
            texts, people = one.texts(items, condition, wording=wording), one.people
            yield from _check(one, OTHER_WORDING, condition, wording, texts, people, reason=ANOTHER)


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
    """Yield the mean over these texts minus people's, in a variant that is not tested."""
    keys = [(item, condition, EVERYONE) for item in one.counted(condition, EVERYONE)]
    if texts and all(key in people for key in keys):
        contrast = replace(one.about, kind=kind, variant=variant, group=condition)
        share, people_share = mean_share([*texts.values()]), mean_of([people[key] for key in keys])
        yield (
            contrast,
            _untested(minus_people([(1, share)], people_share, contrast=contrast.text), reason),
        )


def by_gender_alone(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Yield a man minus a woman on each side, with its interval, not tested."""
    cleared = dict.fromkeys(("test", "alternative", "statistic", "p"))
    for pair in by_gender(one):
        contrast, texts = replace(pair.says, kind=GENDER_SIDE, variant=MODEL), pair.sampled()
        model = side(pair.model, contrast=contrast.text, texts=texts)
        untested = replace(model, reason=ONE_SIDE, **cleared)  # type: ignore[arg-type]
        yield contrast, untested if texts else _untested(model, FEW_TEXTS)
        contrast = replace(contrast, variant=PEOPLE)
        yield contrast, replace(people_side(*pair.sides, contrast=contrast.text), reason=ONE_SIDE)


def _untested(estimate: Estimate, reason: str) -> Estimate:
    cleared = dict.fromkeys(
        ("low", "high", "test", "alternative", "statistic", "p", "interval_over")
    )
    return replace(estimate, reason=reason, **cleared)  # type: ignore[arg-type]


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

    def profile(self, item: str, places: Sequence[int], *, given: bool = False) -> Profile:
        """Return both sides over these conditions; ``given``: with their category held constant."""
        answers, positions = self.answers, list(places)
        values = [self.people[item][answers.conditions[position]] for position in positions]
        errors = [error_of(value, self.anchor) for value in values]
        known_errors = [error for error in errors if error is not None]
        return Profile(
            model=answers.values[positions],
            people=np.array([value.value for value in values], dtype=np.float64),
            table=None if answers.table is None else answers.table[positions],
            model_error=None if answers.errors is None else answers.errors[positions],
            people_error=np.array(known_errors)
            if known_errors and len(known_errors) == len(errors)
            else None,
            clusters=[
                answers.categories[position] or answers.conditions[position]
                for position in positions
            ],
            strata=[answers.categories[position] for position in positions] if given else (),
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
        if not {instrument, base_of(instrument)} & {*anchor.instruments}:
            continue
        if anchor.of == "condition":
            all_answers = by_condition(scores, instrument, measure)
        else:
            all_answers = by_occupation(scores, prompts, instrument, measure)
        for answers in all_answers:
            yield ProfileComparison(anchor=anchor, answers=answers, people=people)


def correlated(one: ProfileComparison) -> AnchorEstimates:
    """Return every correlation with an item of the anchor, each corrected over the items."""
    by_kind: dict[str, AnchorEstimates] = {}
    for item in one.people:
        positions = one.places(item)
        if len(positions) < LEAST:
            continue
        profile = one.profile(item, positions)
        kinds = {"anchor": profile, "anchor-rank": profile}
        if len({one.answers.categories[position] for position in positions}) > 1:
            kinds["anchor-partial"] = one.profile(item, positions, given=True)
        for kind, kind_profile in kinds.items():
            contrast = one.contrast(kind, item)
            coefficient: Coefficient = "spearman" if kind == "anchor-rank" else "pearson"
            estimate = related(kind_profile, coefficient, contrast=contrast.text)
            if kind != "anchor-partial":
                estimate = replace(estimate, left_out=len(one.people[item]) - len(positions))
            by_kind.setdefault(kind, []).append((contrast, _of_what(estimate, one.anchor)))
    answers = one.answers
    ids = (answers.instrument, answers.measure, answers.quantity, answers.model, one.anchor.id)
    corrected: AnchorEstimates = []
    for kind, rows in by_kind.items():
        family_estimates = as_list(
            [estimate for _, estimate in rows], family=f"{kind}: {', '.join(ids)}"
        )
        corrected += zip([contrast for contrast, _ in rows], family_estimates, strict=True)
    return corrected


def _of_what(estimate: Estimate, anchor: Anchor) -> Estimate:
    """Return the estimate with "conditions" replaced by what its n counts."""
    if anchor.of == "condition":
        return estimate
    plural = f"{anchor.of}s"
    texts = {name: getattr(estimate, name) for name in ("interval_over", "method", "reason")}
    fields = {name: text and text.replace("conditions", plural) for name, text in texts.items()}
    return replace(estimate, unit=plural, **fields)


def _profile_points(one: ProfileComparison) -> Iterator[dict[str, Any]]:
    """Yield each condition in each item, then its distance from what all items predict."""
    answers = one.answers
    contrast = one.contrast("anchor", "")
    columns_of_model = {column: getattr(contrast, column) for column in _OF_MODEL} | {
        "anchor": one.anchor.id
    }
    cells = [
        columns_of_model
        | {
            "condition": answers.conditions[position],
            "group": answers.groups[position] or None,
            "category": answers.categories[position] or None,
            "value": float(answers.values[position]),
        }
        for position in range(len(answers.conditions))
    ]
    for item, people in one.people.items():
        for position in one.places(item):
            value = people[answers.conditions[position]]
            numbers = {"people": value.value, "low": value.low, "high": value.high, "n": value.n}
            yield cells[position] | {"item": item} | numbers
    positions = one.places(*one.people)
    columns = [
        [one.people[item][answers.conditions[position]].value for item in one.people]
        for position in positions
    ]
    fit = residuals(answers.values[positions], np.array(columns)) if positions else None
    for index, position in enumerate(positions if fit else ()):
        yield cells[position] | {
            column: float(figures[index]) for column, figures in (fit or {}).items()
        }


def anchor_table(found: AnchorEstimates) -> pl.DataFrame:
    """Return CONTRASTS + ESTIMATES + VERDICTS; verdicts are empty for lack of a margin."""
    contrasts = pl.DataFrame([asdict(entry) for entry, _ in found], schema=schema(CONTRASTS))
    verdicts = pl.DataFrame([asdict(Verdict()) for _ in found], schema=schema(VERDICTS))
    return pl.concat(
        [contrasts, estimate_table([entry for _, entry in found]), verdicts], how="horizontal"
    )


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
    anchors: Mapping[str, Entry]
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
    """Return what the manifest says of an anchor."""
    fields = {name: value for name in _SAID if (value := getattr(anchor, name)) is not None}
    items = {item.id: {"name": item.name, "meaning": item.meaning} for item in anchor.items}
    return fields | {"point": anchor.of, "items": items}

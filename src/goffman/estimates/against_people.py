"""Shares of models minus shares of people, question by question; and what a person's gender does.

A model's share is of the options that say the same as people's (``share-endorsing``), mean over the
orders of options, the people described and the trials of a wording. People's are those of the
latest year. Over the questions that count as stigma the difference stands once more for each
condition; people answered these questions one after the other: see mean_of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.anchor import EVERYONE, error_of
from goffman.estimates.clear import AGAINST_PEOPLE
from goffman.estimates.contrast import Contrast
from goffman.estimates.profiles import base_of
from goffman.stats.correct import adjust
from goffman.stats.two_sources import People, apart, mean_of, minus_people

if TYPE_CHECKING:
    from goffman.anchors.anchor import Anchor
    from goffman.estimates.profiles import Measured
    from goffman.records import Estimate

SHARE = "share-endorsing"
"""The quantity of a measure that is the share of answers which say what people's do."""

DIFFERENCE, OVERALL, GENDER = AGAINST_PEOPLE

MIXED = "mixed"
"""In the place of a wording: each question in a wording of its own."""

Found = list[tuple[Contrast, "Estimate"]]
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
    """item, condition, wording, gender, counts and value: a mean over orders and trials."""
    people: Said

    def contrast(self, kind: str, condition: str, item: str | None) -> Contrast:
        """What a row is about: a condition stands in ``group``, a question in ``dimension``."""
        return Contrast(
            kind=kind,
            instrument=self.instrument,
            measure=self.measure,
            quantity=SHARE,
            model=self.model,
            group=condition,
            dimension=item,
            first=self.measure,
            second=self.anchor,
        )

    def by_wording(
        self, condition: str, items: Sequence[str], gender: str | None = None
    ) -> dict[str, float]:
        """The model's mean over the items, by wording; none where an item has no value.

        Where no wording was asked of all of them, one mean over whatever each was asked in.
        """
        rows = self.rows.filter(pl.col("condition") == condition, pl.col("item").is_in(list(items)))
        if gender is not None:
            rows = rows.filter(pl.col("gender") == gender)
        rows = rows.filter(pl.col("value").is_not_null())
        cells = rows.group_by("wording", "item").agg(pl.col("value").mean())
        means = cells.group_by("wording").agg(pl.col("value").mean(), n=pl.len()).sort("wording")
        found = {wording: value for wording, value, n in means.rows() if n == len(items)}
        if found or rows["item"].n_unique() < len(items):
            return found
        of_items = rows.group_by("item").agg(pl.col("value").mean())
        return {MIXED: float(of_items["value"].to_numpy().mean())}


def against_people(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measured],
    anchors: Sequence[Anchor],
) -> tuple[Found, list[dict[str, Any]]]:
    """Every difference between a model's shares and people's; and rows of ANCHOR_POINTS.

    Each kind is a family, by Holm.
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
                points += _points(anchor, rows) if kind == DIFFERENCE else ()
    return found, points


def _points(anchor: Anchor, rows: Found) -> Iterator[dict[str, Any]]:
    """Both sides of each question and condition."""
    said = {(one.item, one.condition): one for one in anchor.latest() if one.gender == EVERYONE}
    for says, estimate in rows:
        people = said[str(says.dimension), str(says.group)]
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
            "low": people.low,
            "high": people.high,
            "n": people.n,
        }


def _fitting(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measured],
    anchor: Anchor,
) -> Iterator[Shares]:
    people: dict[tuple[str, str, str], People] = {
        (one.item, one.condition, one.gender): People(value=one.value, error=error, n=n)
        for one in anchor.latest()
        if (error := error_of(one, anchor)) is not None and (n := one.n_effective or one.n)
    }
    genders = prompts.select("prompt_id", gender_of="gender").unique("prompt_id")
    for instrument, measure in measures.items():
        if not {instrument, base_of(instrument)} & {*anchor.instruments}:
            continue
        counted = getattr(measure, "counted", None)
        rows = scores.filter(
            pl.col("instrument") == instrument,
            pl.col("level") == "prompt",
            pl.col("quantity") == SHARE,
        ).join(genders, on="prompt_id")
        rows = rows.with_columns(
            gender=pl.col("gender_of"),
            counts=(pl.col("dimension") == counted).fill_null(value=True),
        )
        keep = ("model", "item", "condition", "wording", "gender", "counts")
        cells = rows.group_by(keep).agg(pl.col("value").mean())
        for (model,), of in cells.sort(keep).partition_by("model", as_dict=True).items():
            yield Shares(
                anchor=anchor.id,
                instrument=instrument,
                measure=measure.name,
                model=str(model),
                rows=of,
                people=people,
            )


def _conditions(one: Shares) -> list[str]:
    return one.rows["condition"].unique().sort().to_list()


def by_question(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each question and condition that people were asked about."""
    for condition in _conditions(one):
        for item in one.rows["item"].unique().sort():
            said = one.people.get((item, condition, EVERYONE))
            values = list(one.by_wording(condition, [item]).values())
            if said is not None and values:
                says = one.contrast(DIFFERENCE, condition, item)
                yield says, minus_people(values, said, contrast=says.text)


def over_questions(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each condition over the questions that count as stigma."""
    for condition in _conditions(one):
        items = _counted(one, condition, (EVERYONE,))
        values = list(one.by_wording(condition, items).values()) if items else []
        if values:
            said = mean_of([one.people[item, condition, EVERYONE] for item in items])
            says = one.contrast(OVERALL, condition, None)
            yield says, minus_people(values, said, contrast=says.text)


def by_gender(one: Shares) -> Iterator[tuple[Contrast, Estimate]]:
    """Of each condition: a man minus a woman in the model, minus the same in people."""
    for condition in _conditions(one):
        items = _counted(one, condition, ("male", "female"))
        if not items:
            continue
        male, female = (one.by_wording(condition, items, gender) for gender in ("male", "female"))
        values = [male[wording] - female[wording] for wording in male if wording in female]
        if values:
            of = {
                gender: mean_of([one.people[item, condition, gender] for item in items])
                for gender in ("male", "female")
            }
            says = one.contrast(GENDER, condition, None)
            yield says, minus_people(values, apart(of["male"], of["female"]), contrast=says.text)


def _counted(one: Shares, condition: str, genders: Sequence[str]) -> list[str]:
    """The questions that count and that people were asked about, by everyone or each gender."""
    rows = one.rows.filter(pl.col("condition") == condition, pl.col("counts"))
    return [
        item
        for item in rows["item"].unique().sort()
        if all((item, condition, gender) in one.people for gender in genders)
    ]

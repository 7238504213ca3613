"""What models say beside what people said: correlations, and the conditions that stand out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.anchor_points import ANCHOR_POINTS
from goffman.anchors.anchor import EVERYONE, error_of
from goffman.estimates.against_people import against_people
from goffman.estimates.contrast import Contrast
from goffman.estimates.profiles import base_of, by_condition, by_occupation
from goffman.estimates.tabled import estimate_table
from goffman.estimates.verdict import Verdict
from goffman.stats.correct import adjust
from goffman.stats.outlying import residuals
from goffman.stats.profile import LEAST, Profile, related
from goffman.tables import CONTRASTS, VERDICTS, schema

if TYPE_CHECKING:
    from goffman.anchors.anchor import Anchor, AnchorValue
    from goffman.estimates.profiles import Answers, Measured
    from goffman.records import Estimate

Found = list[tuple[Contrast, "Estimate"]]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """One model's answers to one instrument, and an anchor; over what both have."""

    anchor: Anchor
    answers: Answers
    people: Mapping[str, Mapping[str, AnchorValue]]
    """By item, then by condition."""

    def contrast(self, kind: str, item: str, *, group: str | None = None) -> Contrast:
        """What a row is about: the measure with the anchor, in one item of it."""
        return Contrast(
            kind=kind,
            instrument=self.answers.instrument,
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
            strata=[of.categories[place] for place in at] if given else (),
        )


def beside_people(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measured],
    anchors: Sequence[Anchor],
    *,
    decided: Mapping[tuple[str, str], float] | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """CONTRASTS + ESTIMATES + VERDICTS of correlations and shares, and ANCHOR_POINTS.

    ``measures`` are by instrument; ``scores`` without those of controls; ``decided``: see
    against_people.
    """
    found: Found = []
    points: list[dict[str, Any]] = []
    for anchor in anchors:
        for one in _fitting(scores, prompts, measures, anchor):
            found += correlated(one)
            points += _points(one)
    shares, more = against_people(scores, prompts, measures, anchors, decided=decided)
    found, points = [*found, *shares], [*points, *more]
    return anchor_table(found), pl.DataFrame(points, schema=schema(ANCHOR_POINTS))


def _fitting(
    scores: pl.DataFrame,
    prompts: pl.DataFrame,
    measures: Mapping[str, Measured],
    anchor: Anchor,
) -> Iterator[Beside]:
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
            yield Beside(anchor=anchor, answers=answers, people=people)


def correlated(one: Beside) -> Found:
    """Every correlation with an item of the anchor, each corrected over the items."""
    found: dict[str, Found] = {}
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
        kept = [at for at in places if not one.people[item][one.answers.conditions[at]].set_apart]
        if LEAST <= len(kept) < len(places):
            says = one.contrast("anchor-without", item)
            without = related(one.profile(item, kept), "pearson", contrast=says.text)
            without = replace(without, left_out=len(places) - len(kept))
            found.setdefault(says.kind, []).append((says, without))
        found.setdefault("anchor-within", []).extend(_within(one, item, places))
    return [pair for kind, rows in found.items() for pair in _corrected(rows, one, kind)]


def _within(one: Beside, item: str, places: Sequence[int]) -> Found:
    """The same within each group of conditions, where there are several."""
    groups = sorted({one.answers.groups[place] for place in places})
    found: Found = []
    for group in groups if len(groups) > 1 else ():
        here = [place for place in places if one.answers.groups[place] == group]
        if len(here) >= LEAST:
            says = one.contrast("anchor-within", item, group=group)
            estimate = related(one.profile(item, here), "pearson", contrast=says.text)
            found.append((says, estimate))
    return found


def _corrected(rows: Found, one: Beside, kind: str) -> Found:
    """The rows of one kind, model, instrument and anchor: a family, by Holm."""
    of = one.answers
    family = f"{kind}: {of.instrument}, {of.measure}, {of.quantity}, {of.model}, {one.anchor.id}"
    named = [_of_what(estimate, one.anchor) for _, estimate in rows]
    kept = adjust(named, family=family, method="holm")
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


def _points(one: Beside) -> Iterator[dict[str, Any]]:
    """Each condition in each item; then each by how far it is from what all items predict."""
    of = one.answers
    about = {
        "anchor": one.anchor.id,
        "instrument": of.instrument,
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


def anchor_table(found: Found) -> pl.DataFrame:
    """CONTRASTS + ESTIMATES + VERDICTS; no smallest difference is declared, so no verdict."""
    what = pl.DataFrame([asdict(one) for one, _ in found], schema=schema(CONTRASTS))
    none = pl.DataFrame([asdict(Verdict()) for _ in found], schema=schema(VERDICTS))
    return pl.concat([what, estimate_table([one for _, one in found]), none], how="horizontal")

"""The correlations of two measures in a run: which they are of, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.correlations import MeasuredSide, measured_side
from goffman.contrasts.verdict import direction
from goffman.formatting import confidence, describe_corrected, ends, humanize, number
from goffman.instruments.types import base_of

if TYPE_CHECKING:
    from goffman.instruments.types import Noun
    from goffman.measures.base import Measure
    from goffman.presentation.competence import Competence
    from goffman.presentation.section import Section


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """One correlation, with the sections and models that its sides are of."""

    row: Mapping[str, Any]
    """The columns CONTRASTS and ESTIMATES."""
    first: MeasuredSide
    second: MeasuredSide
    models: tuple[str | None, str | None]
    """As they are shown; None: over all."""
    called: tuple[str, str]
    """What the number of either side is called."""
    noun: Noun
    """What the conditions are called over which it is."""
    within: tuple[Mapping[str, Any], ...] = ()
    """The same within each group of conditions."""
    unmeasurable: tuple[Competence, ...] = ()
    """Models in it that cannot do the task of one of the two instruments."""
    ratings: str = ""
    """Who rated the words that either side rests on; empty: neither needs ratings."""


def correlations(
    estimates: pl.DataFrame, sections: Mapping[str, Section], measures: Mapping[str, Measure]
) -> list[Correlation]:
    """The correlations of two measures over all conditions; ``measures`` are by instrument."""
    known = _sides(sections, measures)
    within = estimates.filter(pl.col("kind") == "measures-within").to_dicts()
    correlated = []
    for row in estimates.filter(pl.col("kind") == "measures").iter_rows(named=True):
        names = (row["first"], row["second"])
        if not known.keys() >= {*names}:
            continue
        first, second = (known[name] for name in names)
        both = [(side, sections[side.instrument]) for side in (first, second)]
        failing = [
            competence
            for side, section in both
            for name, competence in section.unmeasurable().items()
            if side.model in {None, name}
        ]
        correlated.append(
            Correlation(
                row=row,
                first=first,
                second=second,
                models=(_shown(first, sections), _shown(second, sections)),
                called=(_number(first, sections), _number(second, sections)),
                noun=sections[first.instrument].noun,
                within=tuple(one for one in within if (one["first"], one["second"]) == names),
                unmeasurable=tuple(failing),
                ratings=next((section.ratings for _, section in both if section.ratings), ""),
            )
        )
    return correlated


def _sides(
    sections: Mapping[str, Section], measures: Mapping[str, Measure]
) -> dict[str, MeasuredSide]:
    """Every side that a correlation of this run can have, by its text in the table."""
    known = {name: measures[name] for name in sections}
    every = [
        measured_side(known, name, model)
        for name, section in sections.items()
        for model in (None, *section.scores["model"].drop_nulls().unique())
    ]
    return {side.text(): side for side in every}


def _shown(side: MeasuredSide, sections: Mapping[str, Section]) -> str | None:
    return sections[side.instrument].names.model(side.model) if side.model else None


def describe_correlations(found: Sequence[Correlation], *, briefly: bool = False) -> list[str]:
    """A sentence for each correlation, and who rated the words that they rest on.

    ``briefly``: not within groups, nothing of ratings, and none that is not stated.
    """
    if briefly:
        found = [one for one in found if one.row["effect"] is not None and not one.unmeasurable]
    rated = dict.fromkeys(one.ratings for one in found if one.ratings and not briefly)
    return [*(_describe_correlation(one, briefly=briefly) for one in found), *rated]


def _number(side: MeasuredSide, sections: Mapping[str, Section]) -> str:
    """What its number is called: as in its section, where that is the name of a probability."""
    called = sections[side.instrument].presentation.called
    if called.startswith("P(") and not side.finer:
        return called
    return f"{'probability of ' if side.finer else ''}{humanize(side.measure)}"


def _called(side: MeasuredSide, number_called: str, model: str | None) -> str:
    """Whose number it is, and what it is called."""
    whose = f"{model}'s " if model else "" if number_called.startswith("P(") else "the "
    return f"{whose}{number_called}{'' if side.only else f' by {side.instrument}'}"


def _describe_correlation(one: Correlation, *, briefly: bool) -> str:
    row = one.row
    first, second = map(_called, (one.first, one.second), one.called, one.models)
    # A model's name stays as it is.
    begun = first if one.models[0] else f"{first[0].upper()}{first[1:]}"
    if row["effect"] is None:
        return f"{begun} and {second} could not be correlated, because {row['reason']}."
    if one.unmeasurable:
        why = "; ".join(f"{other.model} is {other.mark}" for other in one.unmeasurable)
        return f"The correlation of {first} and {second} is not stated: {why}."
    head = {
        1: f"{begun} and {second} rise together",
        -1: f"As {first} rises, {second} falls",
        0: f"{begun} and {second} show no clear relation",
    }[direction(row)]
    interval = ""
    if row["effect_low"] is not None:
        low, high = row["effect_low"], row["effect_high"]
        interval = f", {confidence(row['level'])} interval {ends(low, high)}"
    return (
        f"{head} across {row['n']} {one.noun.many}: r = {number(row['effect'])}{interval}, "
        f"{describe_corrected(row)}.{_related(one)}"
    ) + (
        f"{_within_briefly(one)}{_covers([row], one.noun.many)}"
        if briefly
        else f"{_true_scores(one)}{_within(one)}{_covers([row, *one.within], one.noun.many)}"
    )


def _related(one: Correlation) -> str:
    """That a classifier was made from the model beside it: no other two models are paired."""
    base, classifier = one.models
    same_instrument = base_of(one.first.instrument) == base_of(one.second.instrument)
    if not base or not classifier or base == classifier or same_instrument:
        return ""
    return f" {classifier} was made from {base}, so these are not two independent models."


def _true_scores(one: Correlation) -> str:
    """What r would be if both measured without error; or that it is not known how much larger.

    Two forms of one instrument share their sentences, and so their errors: of them nothing is said.
    """
    row = one.row
    value = row["second_effect"]
    if value is None:
        apart = base_of(one.first.instrument) != base_of(one.second.instrument)
        unknown = (
            " Error of measurement pulls r toward 0, and whatever else both numbers share can push "
            "it up; r is not corrected for either."
        )
        return unknown if apart else ""
    if number(value) == number(row["effect"]):
        return ""
    interval = ""
    if row["second_effect_low"] is not None:
        interval = f" ({ends(row['second_effect_low'], row['second_effect_high'])})"
    return f" Without error of measurement on either side, r would be {number(value)}{interval}."


def _covers(every: Sequence[Mapping[str, Any]], many: str) -> str:
    """How the intervals were made and what they are over, where there is one."""
    rows = [row for row in every if row["effect_low"] is not None]
    if not rows:
        return ""
    one = len(rows) == 1
    said = "The interval (Fisher’s z) allows" if one else "The intervals (Fisher’s z) allow"
    return f" {said} for other {many}, but not for other sentences or wordings."


def _interval(row: Mapping[str, Any]) -> str:
    """The interval of a correlation, as the beginning of what stands in brackets."""
    if row["effect_low"] is None:
        return f"no interval{f' ({why})' if (why := row['reason']) else ''}, "
    return f"{confidence(row['level'])} interval {ends(row['effect_low'], row['effect_high'])}, "


def _within_briefly(one: Correlation) -> str:
    """The lowest and the highest correlation in a group, where there are several."""
    values = [row["effect"] for row in one.within if row["effect"] is not None]
    return f" Within groups, r is {ends(min(values), max(values))}." if len(values) > 1 else ""


def _within(one: Correlation) -> str:
    """The correlation in each group: that over all may be the groups' being apart."""
    said = [
        f"r = {number(row['effect'])} within the {row['n']} {humanize(row['group'])} "
        f"{one.noun.many} "
        f"({_interval(row)}{describe_corrected(row)})"
        for row in one.within
        if row["effect"] is not None
    ]
    return f" Within groups: {'; '.join(said)}." if said else ""

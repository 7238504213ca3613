"""The correlations of two measures in a run: which they are of, and what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.correlations import MeasuredSide, measured_side
from goffman.contrasts.verdict import AS_IN_STUDY, direction
from goffman.formatting import confidence, describe_corrected, ends, humanize, join_words, number
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
    as_in_study: Mapping[str, Any] | None = None
    """The same with shares of labels, as Mei et al. (2023) computed it."""
    unmeasurable: tuple[Competence, ...] = ()
    """Models in it that cannot do the task of one of the two instruments."""


def correlations(
    estimates: pl.DataFrame, sections: Mapping[str, Section], measures: Mapping[str, Measure]
) -> list[Correlation]:
    """The correlations of two measures over all conditions; ``measures`` are by instrument."""
    known = _sides(sections, measures)
    within = estimates.filter(pl.col("kind") == "measures-within").to_dicts()
    as_in_study = {
        (row["first"], row["second"]): row
        for row in estimates.filter(pl.col("kind") == AS_IN_STUDY).iter_rows(named=True)
    }
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
                as_in_study=as_in_study.get(names),
                unmeasurable=tuple(failing),
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


def describe_correlations(found: Sequence[Correlation]) -> list[str]:
    """Return a few sentences for each correlation; the head of each ends with its colon."""
    return [_describe_correlation(one) for one in found]


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


def _describe_correlation(one: Correlation) -> str:
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
    numbers = f"r = {number(row['effect'])}{interval}, {describe_corrected(row)}"
    rest = (_related(one), _true_scores(one), _within(one), _covers(one), _as_in_study(one))
    return f"{head} across {row['n']} {one.noun.many}: {numbers}.{''.join(rest)}"


def _related(one: Correlation) -> str:
    """Return that a classifier was made from the model: no other two models are paired."""
    base, classifier = one.models
    same_instrument = base_of(one.first.instrument) == base_of(one.second.instrument)
    if not base or not classifier or base == classifier or same_instrument:
        return ""
    return f" {classifier} was made from {base}, so they are not independent."


def _true_scores(one: Correlation) -> str:
    """Return what r would be if both measured without error, or that this is not known.

    Two forms of one instrument share their sentences, and so their errors: of them nothing is said.
    """
    value = one.row["second_effect"]
    if value is None:
        apart = base_of(one.first.instrument) != base_of(one.second.instrument)
        unknown = " Measurement error lowers r, shared causes raise it; we correct for neither."
        return unknown if apart else ""
    if number(value) == number(one.row["effect"]):
        return ""
    interval = ""
    if one.row["second_effect_low"] is not None:
        interval = f" ({ends(one.row['second_effect_low'], one.row['second_effect_high'])})"
    return f" Without measurement error, r would be {number(value)}{interval}."


def _within(one: Correlation) -> str:
    """Return the correlation in each group: that over all may be the groups' difference."""
    said = [
        f"{number(row['effect'])} for {row['n']} {humanize(row['group'])}"
        for row in one.within
        if row["effect"] is not None
    ]
    return f" Within groups, r is {join_words(said)} ones." if said else ""


def _as_in_study(one: Correlation) -> str:
    """Return r as the study computed it, with its t."""
    row = one.as_in_study
    if row is None or row["effect_low"] is None:
        return ""
    return (
        f" As in the study, with shares of labels and independent {one.noun.many}: "
        f"r = {number(row['effect'])} ({ends(row['effect_low'], row['effect_high'])}), "
        f"t({row['df']:.0f}) = {row['statistic']:.2f}."
    )


def _covers(one: Correlation) -> str:
    """Return what the interval is over, where there is one."""
    if one.row["effect_low"] is None:
        return ""
    return f" The interval covers other {one.noun.many}, not other sentences or wordings."

"""The correlations of two measures in a run: what they are between, and their sentences."""

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
    """One correlation, with the sections and models of its two sides."""

    row: Mapping[str, Any]
    """The columns CONTRASTS and ESTIMATES."""
    first: MeasuredSide
    second: MeasuredSide
    models: tuple[str | None, str | None]
    """The names shown; None: over all models."""
    called: tuple[str, str]
    """The name of each side's number."""
    noun: Noun
    """The name of the conditions that it is over."""
    within: tuple[Mapping[str, Any], ...] = ()
    """The same correlation within each group of conditions."""
    as_in_study: Mapping[str, Any] | None = None
    """The same correlation with shares of labels, as Mei et al. (2023) computed it."""
    unmeasurable: tuple[Competence, ...] = ()
    """The models in it that cannot do the task of one of the two instruments."""


def correlations(
    estimates: pl.DataFrame, sections: Mapping[str, Section], measures: Mapping[str, Measure]
) -> list[Correlation]:
    """Return the correlations of two measures over conditions; ``measures`` are by instrument."""
    sides_by_text = _sides(sections, measures)
    within = estimates.filter(pl.col("kind") == "measures-within").to_dicts()
    as_in_study = {
        (row["first"], row["second"]): row
        for row in estimates.filter(pl.col("kind") == AS_IN_STUDY).iter_rows(named=True)
    }
    correlated = []
    for row in estimates.filter(pl.col("kind") == "measures").iter_rows(named=True):
        names = (row["first"], row["second"])
        if not sides_by_text.keys() >= {*names}:
            continue
        first, second = (sides_by_text[name] for name in names)
        sides = [(side, sections[side.instrument]) for side in (first, second)]
        failing = [
            competence
            for side, section in sides
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
                within=tuple(
                    row_within
                    for row_within in within
                    if (row_within["first"], row_within["second"]) == names
                ),
                as_in_study=as_in_study.get(names),
                unmeasurable=tuple(failing),
            )
        )
    return correlated


def _sides(
    sections: Mapping[str, Section], measures: Mapping[str, Measure]
) -> dict[str, MeasuredSide]:
    """Return every side that a correlation of this run can have, by its text in the table."""
    run_measures = {instrument: measures[instrument] for instrument in sections}
    sides = [
        measured_side(run_measures, instrument, model)
        for instrument, section in sections.items()
        for model in (None, *section.scores["model"].drop_nulls().unique())
    ]
    return {side.text(): side for side in sides}


def _shown(side: MeasuredSide, sections: Mapping[str, Section]) -> str | None:
    return sections[side.instrument].names.model(side.model) if side.model else None


def describe_correlations(found: Sequence[Correlation]) -> list[str]:
    """Return a few sentences for each correlation; the first of each ends with its colon."""
    return [_describe_correlation(correlation) for correlation in found]


def _number(side: MeasuredSide, sections: Mapping[str, Section]) -> str:
    """Return the name of the side's number: the section's name if that is a probability."""
    called = sections[side.instrument].presentation.called
    if called.startswith("P(") and not side.finer:
        return called
    return f"{'probability of ' if side.finer else ''}{humanize(side.measure)}"


def _called(side: MeasuredSide, number_called: str, model: str | None) -> str:
    """Return whose number it is, and what it is called."""
    owner = f"{model}'s " if model else "" if number_called.startswith("P(") else "the "
    return f"{owner}{number_called}{'' if side.only else f' by {side.instrument}'}"


def _describe_correlation(one: Correlation) -> str:
    row = one.row
    first, second = map(_called, (one.first, one.second), one.called, one.models)
    # A model's name stays as it is.
    capitalized = first if one.models[0] else f"{first[0].upper()}{first[1:]}"
    if row["effect"] is None:
        return f"{capitalized} and {second} could not be correlated, because {row['reason']}."
    if one.unmeasurable:
        reasons = "; ".join(
            f"{competence.model} is {competence.mark}" for competence in one.unmeasurable
        )
        return f"The correlation of {first} and {second} is not stated: {reasons}."
    head = {
        1: f"{capitalized} and {second} rise together",
        -1: f"As {first} rises, {second} falls",
        0: f"{capitalized} and {second} show no clear relation",
    }[direction(row)]
    interval = ""
    if row["effect_low"] is not None:
        low, high = row["effect_low"], row["effect_high"]
        interval = f", {confidence(row['level'])} interval {ends(low, high)}"
    numbers = f"r = {number(row['effect'])}{interval}, {describe_corrected(row)}"
    details = (_related(one), _true_scores(one), _within(one), _covers(one), _as_in_study(one))
    return f"{head} across {row['n']} {one.noun.many}: {numbers}.{''.join(details)}"


def _related(one: Correlation) -> str:
    """Return that a classifier was made from the model: no other two models are paired."""
    base, classifier = one.models
    same_instrument = base_of(one.first.instrument) == base_of(one.second.instrument)
    if not base or not classifier or base == classifier or same_instrument:
        return ""
    return f" {classifier} was made from {base}, so they are not independent."


def _true_scores(one: Correlation) -> str:
    """Return what r would be if both measured without error, or that this is unknown.

    Two forms of one instrument share their sentences, and so their errors: for them it is empty.
    """
    value = one.row["second_effect"]
    if value is None:
        different_instruments = base_of(one.first.instrument) != base_of(one.second.instrument)
        caveat = " Measurement error lowers r, shared causes raise it; we correct for neither."
        return caveat if different_instruments else ""
    if number(value) == number(one.row["effect"]):
        return ""
    interval = ""
    if one.row["second_effect_low"] is not None:
        interval = f" ({ends(one.row['second_effect_low'], one.row['second_effect_high'])})"
    return f" Without measurement error, r would be {number(value)}{interval}."


def _within(one: Correlation) -> str:
    """Return the correlation in each group: that over all may be the groups' difference."""
    texts = [
        f"{number(row['effect'])} for {row['n']} {humanize(row['group'])}"
        for row in one.within
        if row["effect"] is not None
    ]
    return f" Within groups, r is {join_words(texts)} ones." if texts else ""


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
    """Return what the interval is over, if there is one."""
    if one.row["effect_low"] is None:
        return ""
    return f" The interval covers other {one.noun.many}, not other sentences or wordings."

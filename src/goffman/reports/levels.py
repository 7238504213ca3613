"""Names for what is not a contrast of its own: headings, means and control items.

    heading    the main result of an instrument and model, whatever contrast that is:
               attribution.heading[roberta-base]
    mean       how high a number is, not how far it is from another:
               social-distance.mean.stigmatized[…] of a group, social-distance.mean.stigmatized.deaf
               of a condition, attribution.mean.mental-health.anger of a subscale;
               mean-of-NUMBER: of another number of the measure
    controls   the score on the control items, and whether it makes a model measurable

Means have no interval and no test. Their changes between two runs do: those of goffman compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.analysis.estimate import is_primary
from goffman.analysis.score import measures_of
from goffman.estimates.by_condition import KIND as BY_CONDITION
from goffman.estimates.contrast import Contrast
from goffman.estimates.verdict import NOT_MEASURABLE
from goffman.records import BASELINE
from goffman.reports.compare import OF_RUNS, Comparison
from goffman.reports.names import CONTROLS, HEADING, MEAN, MEASURABLE, Named, path_of
from goffman.tables import CONTRASTS, ESTIMATES, VERDICTS, schema

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.reports.run import MeasuredRun
    from goffman.runs.manifest import Manifest

_LEVELS = ("group", "dimension", "condition")
"""What means are of, the widest first; a subscale is a dimension."""

_NO_TEST = "a mean has no interval and no test"

_EMPTY: Mapping[str, None] = dict.fromkeys(one.name for one in (*CONTRASTS, *ESTIMATES, *VERDICTS))


def headings(found: Iterable[Named], manifest: Manifest) -> list[Named]:
    """The main result of each instrument and model, under the name of headings."""
    measures = measures_of(manifest)
    columns = schema(CONTRASTS).names()
    return [
        replace(
            one,
            path=path_of(one.row["instrument"], HEADING),
            variant=None,
            own_word=HEADING,
        )
        for one in found
        if is_primary(Contrast(**{name: one.row[name] for name in columns}), measures)
    ]


def means(run: MeasuredRun) -> list[Named]:
    """The means of groups, subscales and conditions, or adjective settings, in each model."""
    found = []
    for instrument, measure in measures_of(run.manifest).items():
        rows = run.scores.filter(
            pl.col("instrument") == instrument,
            pl.col("level").is_in(_LEVELS),
            pl.col("model").is_not_null(),
            pl.col("condition").is_null() | (pl.col("condition") != BASELINE),
        )
        for quantity, word in _words(measure, {*rows["quantity"]}).items():
            of = _in_first_wording(rows.filter(pl.col("quantity") == quantity), run, instrument)
            in_order = sorted(of.iter_rows(named=True), key=lambda row: _LEVELS.index(row["level"]))
            found += [_mean(row, word) for row in in_order]
    return found


def _words(measure: Measure, known: set[str]) -> dict[str, str]:
    """The numbers whose means have a name → its word: mean, or mean-of-NUMBER."""
    wanted = (
        measure.headline[1],
        measure.presentation.quantity,
        measure.quantity,
        *(quantity for quantity, _ in measure.contrasts),
    )
    there = [one for one in dict.fromkeys(wanted) if one in known]
    return {one: f"{MEAN}-of-{one}" if place else MEAN for place, one in enumerate(there)}


def _in_first_wording(rows: pl.DataFrame, run: MeasuredRun, instrument: str) -> pl.DataFrame:
    """The means over all wordings; at levels that have none, those of the first wording."""
    asked = run.prompts.filter(pl.col("instrument") == instrument)["wording"]
    first = next(iter(asked.unique(maintain_order=True)), None)
    over_all = pl.col("wording").is_null()
    levels = rows.filter(over_all)["level"].unique().to_list()
    return rows.filter(over_all | (~pl.col("level").is_in(levels) & (pl.col("wording") == first)))


def _mean(row: Mapping[str, Any], word: str) -> Named:
    """One row of SCORES as an estimate of one number, without interval and test."""
    ids = ("model", "instrument", "measure", "quantity", "variant", "group", "dimension")
    return Named(
        path=path_of(row["instrument"], word, row["group"], row["dimension"], row["condition"]),
        model=row["model"],
        variant=row["variant"],
        row={
            **_EMPTY,
            **{name: row[name] for name in ids},
            "kind": MEAN,
            "first": row["condition"] or row["group"],
            "difference": row["value"],
            "n": row["n"],
            "reason": row["reason"] or _NO_TEST,
        },
        own_word=word,
    )


def changes_of_means(found: Comparison, run: MeasuredRun) -> Iterator[Named]:
    """The rows of a comparison whose sides are the two runs, under the names of means."""
    rows = found.estimates.filter(pl.col("kind").is_in(OF_RUNS))
    measure = measures_of(run.manifest).get(found.instrument)
    if measure is None:
        return
    scores = run.scores.filter(pl.col("instrument") == found.instrument)
    words = _words(measure, {*scores.filter(pl.col("level").is_in(_LEVELS))["quantity"]})
    group_of = dict(scores.select("condition", "group").unique().drop_nulls().rows())
    for row in rows.iter_rows(named=True):
        group, condition = row["group"], row["first"] if row["kind"] == BY_CONDITION else None
        if measure.unit != "condition" and group != BASELINE:
            # Adjective settings are compared one by one, and stand where groups do.
            group, condition = group_of[group], group
        word = words.get(row["quantity"], f"{MEAN}-of-{row['quantity']}")
        yield Named(
            path=path_of(found.instrument, word, group, row["dimension"], condition),
            model=found.models[1],
            variant=row["variant"],
            row=row,
            own_word=word,
        )


def controls(run: MeasuredRun) -> list[Named]:
    """The score of each model on the control items of each instrument, if they were asked."""
    return [
        Named(
            path=path_of(instrument, CONTROLS),
            model=one.name,
            variant=None,
            row={
                **_EMPTY,
                "kind": CONTROLS,
                "instrument": instrument,
                "measure": section.measure,
                "quantity": CONTROLS,
                "model": one.name,
                "difference": one.value,
                "low": one.low,
                "high": one.high,
                "level": None if one.low is None else 0.95,
                "n": one.n,
                "verdict": MEASURABLE if one.passed else NOT_MEASURABLE,
                "reason": one.reason,
            },
            own_word=CONTROLS,
        )
        for instrument, section in run.sections.items()
        for one in section.competence.values()
    ]

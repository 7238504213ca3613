"""The tables of models beside people: every correlation, and every point of the scatters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goffman.estimates.clear import ANCHORED
from goffman.presentation.shown import short_names
from goffman.presentation.table_text import Shown, as_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from goffman.presentation.table_text import Table
    from goffman.reports.run import MeasuredRun

_CORRELATIONS = (
    Shown(header="anchor", keys=("second",), drop="constant"),
    Shown(header="instrument", keys=("instrument",), drop="constant"),
    Shown(header="model", keys=("model",), drop="constant"),
    Shown(header="kind", keys=("kind",)),
    Shown(header="of people", keys=("dimension",)),
    Shown(header="group", keys=("group",), drop="empty"),
    Shown(header="n", keys=("n",), form="count"),
    Shown(header="coefficient", keys=("effect_name",)),
    Shown(header="value", keys=("effect",), form="number"),
    Shown(header="95% interval", keys=("effect_low", "effect_high"), form="interval"),
    Shown(header="interval covers", keys=("interval_over",), drop="empty"),
    Shown(header="true scores", keys=("second_effect",), form="number", drop="empty"),
    Shown(header="model's mean", keys=("mean_first",), form="number", drop="empty"),
    Shown(header="people's mean", keys=("mean_second",), form="number", drop="empty"),
    Shown(header="difference", keys=("difference",), form="number", drop="empty"),
    Shown(header="its 95% interval", keys=("low", "high"), form="interval", drop="empty"),
    Shown(header="p", keys=("p",), form="p"),
    Shown(header="p, corrected", keys=("p_adjusted",), form="p"),
    Shown(header="tests", keys=("family_size",), form="count"),
    Shown(header="note", keys=("reason",), drop="empty"),
)

_POINTS = (
    Shown(header="anchor", keys=("anchor",), drop="constant"),
    Shown(header="instrument", keys=("instrument",), drop="constant"),
    Shown(header="model", keys=("model",), drop="constant"),
    Shown(header="of people", keys=("item",)),
    Shown(header="condition", keys=("condition",)),
    Shown(header="people", keys=("people",), form="number"),
    Shown(header="model's value", keys=("value",), form="number"),
    Shown(header="no answer", keys=("unanswered",), form="number", drop="empty"),
    Shown(header="predicted", keys=("predicted",), form="number"),
    Shown(header="t", keys=("statistic",), form="number"),
    Shown(header="p, corrected", keys=("p_adjusted",), form="p"),
    Shown(header="note", keys=("reason",), drop="empty"),
)

_ABOUT = (
    "Models beside what people said. Kind anchor: Pearson's r over conditions; anchor-rank: "
    "Spearman's ρ; anchor-partial: r with the category of a condition held constant; "
    "anchor-without: without conditions that the anchor sets apart; anchor-within: r within a "
    "group. Kind anchor-difference: a share of the model minus people's, question by question; "
    "anchor-overall: over the questions that count as stigma; anchor-wording: in other wordings; "
    "anchor-gender: what a man instead of a woman changes in the model, minus the same in people; "
    "anchor-gender-side: each side alone; anchor-year: with people's answers of one year. "
    "Intervals and p-values are for the numbers as measured, by a jackknife over what the "
    "interval covers: conditions or occupations and, where they are named, items and wordings. "
    "True scores: r "
    "divided by the square root of the reliabilities that are known, mostly the model's alone. p "
    "is corrected by Holm over the items of one anchor for each kind, model and instrument. "
    "Ratings of dimensions are not attitudes."
)

_ABOUT_POINTS = (
    "Models beside what people said, point by point. Rows without an entry for people are those in "
    "which all items of the anchor predict the model's value together: t is the externally "
    "studentized residual, and its p is corrected by Holm over the conditions."
)


def anchor_tables(run: MeasuredRun) -> Iterator[Table]:
    """Two tables, where something of the run is set beside people."""
    if run.anchors is None or run.anchor_points is None or run.anchors.is_empty():
        return
    names = short_names(run.manifest.models)
    failing = {
        (one.section.instrument, one.model): f"{one.unmeasurable.model} is {one.unmeasurable.mark}"
        for one in run.anchored
        if one.unmeasurable
    }
    said = dict.fromkeys(f"{why} in {instrument}" for (instrument, _), why in failing.items())
    doubt = f" In it, {' and '.join(said)}." if said else ""
    for name, about, frame, shown in (
        ("beside-people", _ABOUT, run.anchors, _CORRELATIONS),
        ("beside-people-points", _ABOUT_POINTS, run.anchor_points, _POINTS),
    ):
        made = as_table(
            name, f"{about}{doubt}", [_row(one, failing) for one in frame.to_dicts()], shown=shown
        )
        yield replace(made, names=names)


def _row(row: dict[str, Any], failing: Collection[tuple[str, str]]) -> dict[str, Any]:
    """Without the means of both sides where they have different units; and what is to be noted."""
    apart = row.get("kind") in ANCHORED
    unmeasurable = (row["instrument"], row["model"]) in failing
    note = "not measurable" if unmeasurable else row.get("reason")
    return row | {"reason": note} | ({"mean_first": None, "mean_second": None} if apart else {})

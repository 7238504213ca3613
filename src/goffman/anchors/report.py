"""The page's comparison of models with people: sentences, a table, sources and limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goffman.anchors.compare import DIFFERENCE, GENDER, INDIFFERENT, OVERALL
from goffman.anchors.sentences import describe_anchor, doubted_by, in_points, percent
from goffman.console import printable
from goffman.contrasts.verdict import ANCHORED, direction
from goffman.formatting import decimals, p_value, short_names
from goffman.modes import asked_id
from goffman.presentation.table_formats import ColumnSpec, N, as_table, numbers, texts
from goffman.stats.profile import TRUE_SCORES

if TYPE_CHECKING:
    import polars as pl

    from goffman.anchors.sentences import AnchoredModel
    from goffman.presentation.table_formats import Table
    from goffman.runs.manifest import UsedAnchor

_ITEMS = {
    OVERALL: "all that count as stigma",
    GENDER: "all that count as stigma: a man minus a woman",
    DIFFERENCE: "",
}
"""Kind of row → the text in place of the question; empty: the question itself."""


def anchor_sections(
    comparisons: Sequence[AnchoredModel], anchors: Mapping[str, UsedAnchor]
) -> Iterator[dict[str, Any]]:
    """Yield the values that the page's template shows of each anchor and instrument."""
    pairs = dict.fromkeys(
        (anchored.anchor, anchored.section.instrument) for anchored in comparisons
    )
    for name, instrument in pairs:
        anchor = anchors[name]
        models = [
            anchored
            for anchored in comparisons
            if (anchored.anchor, anchored.section.instrument) == (name, instrument)
        ]
        measurable = [anchored for anchored in models if not anchored.unmeasurable]
        yield {
            "id": name,
            "instrument": instrument,
            "title": printable(anchor.title),
            "who": printable(f"{anchor.population} ({anchor.country}, {anchor.year})"),
            "counted": [
                {"name": printable(item["name"]), "meaning": printable(item["meaning"])}
                for item in anchor.items.values()
            ],
            "said": [describe_anchor(anchored) for anchored in models],
            "rows": [row for anchored in measurable for row in _rows(anchored)],
            "differences": [row for anchored in measurable for row in _differences(anchored)],
            "whose": printable(anchor.whose),
            "apart": printable(anchor.set_apart or ""),
            # Where people's error is known too, it is taken out.
            "both_sides": any(
                row["second_effect_name"] == TRUE_SCORES
                for anchored in models
                for row in anchored.rows("anchor")
            ),
            "limits": [printable(text) for text in anchor.limits],
            "citation": printable(anchor.citation),
            "version": printable(anchor.version),
        }


def _rows(anchored: AnchoredModel) -> Iterator[dict[str, str]]:
    """Yield a row for each item: r with interval and p, and r by ranks, category and true score."""
    for item in anchored.about.items:
        row = anchored.row("anchor", item)
        if row is None:
            continue
        ranks, partial = anchored.row("anchor-rank", item), anchored.row("anchor-partial", item)
        clear = "no"
        if direction(row):
            clear = "r only" if doubted_by(anchored, row) else "yes"
        low, high = row["effect_low"], row["effect_high"]
        yield {
            "about": anchored.shown,
            "item": anchored.item(item),
            "n": f"{row['n']}",
            "r": _decimals(row["effect"]),
            "interval": "–"
            if low is None or high is None
            else f"{_decimals(low)} to {_decimals(high)}",
            "p": "" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
            "is_clear": clear,
            "true": "–" if row["second_effect"] is None else _decimals(row["second_effect"]),
            "ranks": "–" if ranks is None else _decimals(ranks["effect"]),
            "partial": "–" if partial is None else _decimals(partial["effect"]),
        }


def _differences(anchored: AnchoredModel) -> Iterator[dict[str, str]]:
    """Yield each condition's rows: over all counted questions, man minus woman, each question."""
    no_answer = {
        (row["condition"], row["item"]): row["unanswered"] for row in anchored.points.to_dicts()
    }
    for row in (row for kind in _ITEMS for row in anchored.differences(kind)):
        item, gap = row["dimension"], row["kind"] == GENDER
        as_text = in_points if gap else percent
        unanswered = no_answer.get((row["group"], item))
        ends = "–"
        if row["low"] is not None:
            ends = f"{in_points(row['low'])} to {in_points(row['high'])}"
        differs = "yes" if direction(row) else "no"
        yield {
            "about": anchored.shown,
            "condition": anchored.called(row["group"]),
            "item": _ITEMS[row["kind"]] or anchored.item(item),
            "model": as_text(row["mean_first"]),
            "unanswered": "–" if unanswered is None else percent(unanswered),
            "people": as_text(row["mean_second"]),
            "difference": in_points(row["difference"]),
            "interval": ends,
            "p": "" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
            "is_clear": "not compared" if row["reason"] == INDIFFERENT else differs,
        }


def _decimals(value: float) -> str:
    return decimals(value).replace("-", "−")


_CORRELATIONS = (
    *texts("second", "instrument", "mode", "model", drop="constant", second="anchor"),
    *texts("kind", "dimension", drop="never", dimension="of people"),
    *texts("group", drop="empty"),
    N,
    *texts("effect_name", effect_name="coefficient"),
    *numbers("effect", effect="value"),
    ColumnSpec(header="95% interval", keys=("effect_low", "effect_high"), form="interval"),
    ColumnSpec(header="interval covers", keys=("interval_over",), drop="empty"),
    ColumnSpec(header="true scores", keys=("second_effect",), form="number", drop="empty"),
    *numbers("mean_first", drop="empty", mean_first="model's mean"),
    *numbers("mean_second", "difference", drop="empty", mean_second="people's mean"),
    ColumnSpec(header="its 95% interval", keys=("low", "high"), form="interval", drop="empty"),
    ColumnSpec(header="p", keys=("p",), form="p"),
    ColumnSpec(header="p, corrected", keys=("p_adjusted",), form="p"),
    ColumnSpec(header="tests", keys=("family_size",), form="count"),
    ColumnSpec(header="note", keys=("reason",), drop="empty"),
)

_POINTS = (
    *texts("anchor", "instrument", "mode", "model", drop="constant"),
    *texts("item", "condition", item="of people"),
    *numbers("people", "value", value="model's value"),
    *numbers("unanswered", drop="empty", unanswered="no answer"),
    *numbers("predicted", "statistic", statistic="t"),
    ColumnSpec(header="p, corrected", keys=("p_adjusted",), form="p"),
    ColumnSpec(header="note", keys=("reason",), drop="empty"),
)

_ABOUT = (
    "Models compared with people. Kind anchor: Pearson's r over conditions; anchor-rank: "
    "Spearman's ρ; anchor-partial: r with the category of a condition held constant. "
    "Kind anchor-difference: a share of the model minus people's, question by question; "
    "anchor-overall: over the questions that count as stigma; anchor-wording: in other wordings; "
    "anchor-gender: what a man instead of a woman changes in the model, minus the same in people; "
    "anchor-gender-side: each side alone; anchor-year: with people's answers of one year; "
    "anchor-text: with the model's about one text. "
    "Intervals and p-values are for the numbers as measured, by a jackknife over what the "
    "interval covers: categories of conditions, or occupations, "
    "and, where they are named, items and wordings. True scores: r "
    "divided by the square root of the reliabilities that are known, mostly the model's alone. "
    "Interval and p are corrected by Benjamini and Hochberg's method over the items of one "
    "anchor for each kind, model and instrument. "
    "Ratings of dimensions are not attitudes."
)

_ABOUT_POINTS = (
    "Models compared with people, point by point. Rows without an entry for people are those in "
    "which all items of the anchor predict the model's value together: t is the externally "
    "studentized residual, and its p is corrected over the conditions."
)


def anchor_tables(
    comparisons: Sequence[AnchoredModel],
    estimates: pl.DataFrame | None,
    points: pl.DataFrame | None,
    *,
    models: Iterable[str],
) -> Iterator[Table]:
    """Yield a table of estimates and one of points, if anything is compared with people."""
    if estimates is None or points is None or estimates.is_empty():
        return
    names = short_names(models)
    failing = {
        (anchored.section.instrument, anchored.model): anchored.unmeasurable.doubt
        for anchored in comparisons
        if anchored.unmeasurable
    }
    reasons = [*dict.fromkeys(f"{why} in {instrument}" for (instrument, _), why in failing.items())]
    doubt = f" In it, {' and '.join(reasons)}." if reasons else ""
    for name, caption, frame, columns in (
        ("beside-people", _ABOUT, estimates, _CORRELATIONS),
        ("beside-people-points", _ABOUT_POINTS, points, _POINTS),
    ):
        table = as_table(
            name,
            f"{caption}{doubt}",
            [_row(row, failing) for row in frame.to_dicts()],
            shown=columns,
        )
        yield replace(table, names=names)


def _row(row: dict[str, Any], failing: Collection[tuple[str, str]]) -> dict[str, Any]:
    """Return a row without both means if their units differ, and with its note."""
    apart = row.get("kind") in ANCHORED
    unmeasurable = (asked_id(row), row["model"]) in failing
    note = "not measurable" if unmeasurable else row.get("reason")
    return row | {"reason": note} | ({"mean_first": None, "mean_second": None} if apart else {})

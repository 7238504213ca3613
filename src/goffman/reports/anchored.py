"""What the page shows of models beside people: sentences, a table, who said it, and the limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from goffman.estimates.against_people import DIFFERENCE, GENDER, INDIFFERENT, OVERALL
from goffman.estimates.clear import points
from goffman.presentation.findings_anchors import anchor_said, doubted_by
from goffman.presentation.findings_shares import in_points, percent
from goffman.presentation.numbers import decimals, p_value
from goffman.stats.profile import TRUE_SCORES
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.anchored import AnchoredModel, Row
    from goffman.reports.run import MeasuredRun


_ITEMS = {
    OVERALL: "all that count as stigma",
    GENDER: "all that count as stigma: a man minus a woman",
    DIFFERENCE: "",
}
"""What stands for the question in a row of each kind; empty: the question."""


def anchors_shown(run: MeasuredRun) -> Iterator[dict[str, Any]]:
    """For each anchor what the template needs."""
    for name, about in run.manifest.anchors.items():
        models = [one for one in run.anchored if one.anchor == name]
        if not models:
            continue
        yield {
            "id": name,
            "title": printable(about.title),
            "who": printable(f"{about.population} ({about.country}, {about.year})"),
            "counted": [
                {"name": printable(one["name"]), "meaning": printable(one["meaning"])}
                for one in about.items.values()
            ],
            "said": [anchor_said(one) for one in models],
            "rows": [row for one in models if not one.unmeasurable for row in _rows(one)],
            "differences": [
                row for one in models if not one.unmeasurable for row in _differences(one)
            ],
            "whose": printable(about.whose),
            "apart": printable(about.set_apart or ""),
            "both_sides": any(_of_both_sides(one) for one in models),
            "limits": [printable(text) for text in about.limits],
            "citation": printable(about.citation),
            "version": printable(about.version),
        }


def _of_both_sides(one: AnchoredModel) -> bool:
    """Whether people's error is known too, and taken out."""
    return any(row["second_effect_name"] == TRUE_SCORES for row in one.rows("anchor"))


def _rows(one: AnchoredModel) -> Iterator[dict[str, str]]:
    """A row for each item: r, its interval and p; ranks; given the category; true scores."""
    for item in one.about.items:
        row = one.row("anchor", item)
        if row is None:
            continue
        ranks, partial = one.row("anchor-rank", item), one.row("anchor-partial", item)
        yield {
            "about": f"{one.section.instrument}, {one.shown}",
            "item": one.item(item),
            "n": f"{row['n']}",
            "r": _decimals(row["effect"]),
            "interval": _interval(row["effect_low"], row["effect_high"]),
            "p": "" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
            "is_clear": _is_clear(one, row),
            "true": "–" if row["second_effect"] is None else _decimals(row["second_effect"]),
            "ranks": "–" if ranks is None else _decimals(ranks["effect"]),
            "partial": "–" if partial is None else _decimals(partial["effect"]),
        }


def _is_clear(one: AnchoredModel, row: Row) -> str:
    """Whether r is clear, and whether its checks say the same."""
    if not points(row):
        return "no"
    return "r only" if doubted_by(one, row) else "yes"


def _differences(one: AnchoredModel) -> Iterator[dict[str, str]]:
    """A row for each condition over all questions that count, and of its gap; then by question."""
    silent = {(row["condition"], row["item"]): row["unanswered"] for row in one.points.to_dicts()}
    for row in (row for kind in _ITEMS for row in one.differences(kind)):
        item, gap = row["dimension"], row["kind"] == GENDER
        shown = in_points if gap else percent
        unanswered = silent.get((row["group"], item))
        ends = "–"
        if row["low"] is not None:
            ends = f"{in_points(row['low'])} to {in_points(row['high'])}"
        yield {
            "about": f"{one.section.instrument}, {one.shown}",
            "condition": one.called(row["group"]),
            "item": _ITEMS[row["kind"]] or one.item(item),
            "model": shown(row["mean_first"]),
            "unanswered": "–" if unanswered is None else percent(unanswered),
            "people": shown(row["mean_second"]),
            "difference": in_points(row["difference"]),
            "interval": ends,
            "p": "" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
            "is_clear": _differs(row),
        }


def _differs(row: Row) -> str:
    """Whether a difference of shares is clear, or why it was not looked at."""
    if row["reason"] == INDIFFERENT:
        return "not compared"
    return "yes" if points(row) else "no"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{_decimals(low)} to {_decimals(high)}"


def _decimals(value: float) -> str:
    return decimals(value).replace("-", "−")

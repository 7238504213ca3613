"""Every figure of a run: of its measures, of two measures together, of models and people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.anchors.figures import anchor_figures
from goffman.formatting import ends, number
from goffman.presentation.competence import NOT_MEASURABLE
from goffman.presentation.findings import findings_of
from goffman.presentation.identities import identities
from goffman.presentation.multiverse import curve
from goffman.presentation.section import Section
from goffman.presentation.vega import Figure, axis_x, coloured, data, figure, tip, view

if TYPE_CHECKING:
    from goffman.analysis.correlation_findings import Correlation
    from goffman.report.load import MeasuredRun


def together(
    scores: pl.DataFrame, found: Sequence[Correlation], sections: Mapping[str, Section]
) -> Iterator[Figure]:
    """Yield a figure for each correlation of two measures, with the conditions as points."""
    defined = [
        correlation
        for correlation in found
        if correlation.row["effect"] is not None and not correlation.unmeasurable
    ]
    for place, correlation in enumerate(defined, start=1):
        across, up = (side.values(scores) for side in (correlation.first, correlation.second))
        points = across.join(up.select("condition", other="value"), on="condition").filter(
            pl.col("value").is_not_null(), pl.col("other").is_not_null()
        )
        parts = sections[correlation.first.instrument], sections[correlation.second.instrument]
        points = parts[0].named(points).with_columns(pl.selectors.float().round_sig_figs(6))
        if points.height:
            suffix = f"-{place}" if len(defined) > 1 else ""
            yield _scatter(points, correlation, parts, name=f"measures-together{suffix}")


def _scatter(
    points: pl.DataFrame, found: Correlation, sides: Sequence[Section], *, name: str
) -> Figure:
    row = found.row
    low, high = row["effect_low"], row["effect_high"]
    interval = f", 95% interval {ends(low, high)}" if low is not None else ""
    r = number(row["effect"])
    first, second = sides
    upward, title, described = _said_of(found, first, second)
    heading = f"{row['effect_name']} = {r}{interval}, over {row['n']} {first.noun.many}"
    tooltip = tip(("name", first.noun.headed.one), ("group", "Group"), ("value", "Across"))
    spec = view(
        data(points, "condition", "name", "group", "category", "value", "other"),
        [
            {
                "mark": {"type": "line", "style": "trend", "clip": True, "tooltip": None},
                "transform": [{"regression": "other", "on": "value"}],
            },
            {
                "mark": {"type": "point", "cursor": "pointer"},
                "encoding": {
                    **coloured("group", first.groups()),
                    "tooltip": [*tooltip, *tip(("other", "Up"))],
                },
            },
        ],
        height=360,
        encoding={
            "x": axis_x(first.presentation.axis),
            "y": axis_x(upward, domain=(0, 1), field_="other")
            | {"axis": {"minExtent": 30, "maxExtent": 60, "grid": True}},
        },
    )
    spec["title"] = {"text": heading, "fontWeight": "normal"}
    return figure(
        first,
        name,
        title=title,
        description=(
            f"Each mark is one {first.noun.one}. {described} Dashed: the least-squares fit."
        ),
        spec=spec,
    )


def _said_of(found: Correlation, one: Section, other: Section) -> tuple[str, str, str]:
    """Return the vertical axis, the title, and what the two axes are in words."""
    by = f"{one.noun.one} by {one.noun.one}"
    if (one.measure, other.measure) != ("negative-attitude", "negative-sentiment"):
        title = f"{one.instrument} and {other.instrument}, {by}"
        return other.presentation.axis, title, "Across: the first; up: the second."
    upward = other.presentation.axis
    if found.second.finer:
        upward = "Probability of the label “negative”"
    return upward, f"Words and labels, {by}", "Across: words filled in; up: labels given."


def _measurable(section: Section) -> Section:
    """Return the section without the models whose numbers mean nothing in it."""
    failing = [finding.model for finding in findings_of(section) if finding.head == NOT_MEASURABLE]
    if not failing:
        return section
    shown_names = {name: section.names.model(name) for name in section.scores["model"].drop_nulls()}
    # Means over all models are of the failing ones, too.
    is_kept = pl.col("model").is_in(
        [name for name, shown_name in shown_names.items() if shown_name not in failing]
    )
    tables = ("scores", "estimates", "sensitivity", "stress")
    return replace(section, **{name: getattr(section, name).filter(is_kept) for name in tables})


def figures_of(run: MeasuredRun) -> list[Figure]:
    """Return every figure that the run's scores and estimates allow."""
    sections = [
        measurable
        for section in run.sections.values()
        if (measurable := _measurable(section)).models()
    ]
    figures = [
        drawn
        for section in sections
        for draw in (*section.presentation.figures, identities, curve)
        for drawn in draw(section)
    ]
    figures += together(run.scores, run.correlations, run.sections)
    return [*figures, *anchor_figures(run.anchored)]

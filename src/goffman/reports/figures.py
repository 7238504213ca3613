"""Every figure of a run: those of its measures, two measures together, models and people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goffman.presentation.figures_multiverse import curve
from goffman.reports.figures_anchors import beside_people
from goffman.reports.figures_together import together

if TYPE_CHECKING:
    from goffman.presentation.figure import Figure
    from goffman.reports.run import MeasuredRun


def figures_of(run: MeasuredRun) -> list[Figure]:
    """Every figure that the run's scores and estimates allow."""
    found = [
        drawn
        for section in run.sections.values()
        for draw in section.presentation.figures
        for drawn in draw(section)
    ]
    found += [drawn for section in run.sections.values() for drawn in curve(section)]
    found += together(run.scores, run.correlations, run.sections)
    return [*found, *beside_people(run.anchored)]

"""Which estimates of a run are of models that cannot do the task, so that they mean nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goffman.analysis.correlations import correlations
from goffman.analysis.score import measures_of
from goffman.estimates.verdict import rests_on

if TYPE_CHECKING:
    from goffman.presentation.competence import Competence
    from goffman.reports.names import Named
    from goffman.reports.run import MeasuredRun


def unmeasurable(run: MeasuredRun, instrument: str, model: str) -> Competence | None:
    """How a model failed the controls of an instrument; None: it passed, or there are none."""
    section = run.sections.get(instrument)
    return section.unmeasurable().get(model) if section else None


def with_doubts(found: Iterable[Named], run: MeasuredRun) -> list[Named]:
    """The estimates of a run, each with why it is not measurable, if it is not."""
    together = _of_correlations(run)
    return [replace(one, not_measurable=_why(one.row, run, together)) for one in found]


def _of_correlations(run: MeasuredRun) -> dict[tuple[str, str], tuple[Competence, ...]]:
    """By the two sides of a correlation: the models in it that cannot do the task."""
    every = correlations(run.estimates, run.sections, measures_of(run.manifest))
    return {(one.row["first"], one.row["second"]): one.unmeasurable for one in every}


def _why(
    row: Mapping[str, Any],
    run: MeasuredRun,
    together: Mapping[tuple[str, str], tuple[Competence, ...]],
) -> str | None:
    """Whose failure an estimate rests on, in a sentence without its full stop; None: nobody's."""
    if row["kind"] == "measures":
        failing = together.get((row["first"], row["second"]), ())
    else:
        section = run.sections.get(row["instrument"])
        of_instrument = section.unmeasurable() if section else {}
        failing = tuple(one for name, one in of_instrument.items() if rests_on(row, name))
    return "; ".join(f"{one.model} is {one.mark}" for one in failing) or None

"""One model's answers to an instrument from run to run: two runs, or checkpoints over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goffman.presentation.shown import short_names
from goffman.reports.compare_said import labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.presentation.section import Section
    from goffman.reports.compare import Comparison


@dataclass(frozen=True, kw_only=True)
class Course:
    """The comparisons of one model and instrument, each with the first run."""

    id: str
    """Unique on a page."""
    section: Section
    """Of the last run."""
    model: str
    """As it is shown; in the first run."""
    steps: tuple[Comparison, ...]
    """In the order in which the runs were given; none is refused."""
    labels: tuple[str, ...]
    """What the first run is called, and then each of the steps'."""


def courses(found: Sequence[Comparison]) -> list[Course]:
    """Every model and instrument that was compared."""
    called = labels_of(found)
    kept: dict[tuple[str, str], list[Comparison]] = {}
    sections: dict[str, Section] = {}
    for one in found:
        if not one.verdict.refusals and one.section is not None:
            kept.setdefault((one.instrument, one.models[0]), []).append(one)
            sections[one.instrument] = one.section
    models = short_names(dict.fromkeys(model for _, model in kept))
    made: list[Course] = []
    for (instrument, model), steps in kept.items():
        before = sum(one.section.instrument == instrument for one in made)
        runs = (steps[0].reference, *(one.run for one in steps))
        made.append(
            Course(
                id=f"{instrument}-{before + 1}" if before else instrument,
                section=sections[instrument],
                model=models[model],
                steps=tuple(steps),
                labels=tuple(called[str(run)] for run in runs),
            )
        )
    return made

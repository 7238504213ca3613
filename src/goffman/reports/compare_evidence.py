"""Evidence of a comparison: the answers of every run that is compared, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.presentation.evidence import EVIDENCE
from goffman.presentation.shown import short_names
from goffman.reports.compare_said import labels_of
from goffman.reports.evidence import (
    ROWS,
    Evidence,
    answers_of,
    packed,
    ranks_of,
    rows_there,
    words_or_why,
    words_per_prompt,
)

if TYPE_CHECKING:
    from pathlib import Path

    from goffman.lexicons.words import Words
    from goffman.presentation.base import Answers
    from goffman.presentation.section import Section
    from goffman.reports.compare import Comparison
    from goffman.reports.run import MeasuredRun


@dataclass(frozen=True, kw_only=True)
class _Side:
    """One model in one run."""

    id: str
    """In the place of the model's name: two runs may have one of the same name."""
    label: str
    section: Section
    model: str
    run: MeasuredRun
    words: Words | None

    @property
    def answers(self) -> Iterator[Answers]:
        """Read from the run's folder, each time anew."""
        return answers_of(self.run, self.section, model=self.model)

    @property
    def ranks(self) -> Iterator[pl.Series]:
        """Of these answers alone, which are let go at once."""
        return map(ranks_of, self.answers)


def evidence_of_runs(
    found: Sequence[Comparison], runs: Sequence[MeasuredRun], *, rows: int = ROWS
) -> tuple[list[Evidence], list[str]]:
    """Of each instrument the evidence of all its sides; and what the page could not show."""
    lexicons = {run.folder: words_or_why(run.manifest) for run in runs}
    sides = _sides(found, {run.folder: run for run in runs}, lexicons)
    # Read twice, first to count: all answers together would fill the memory.
    ranks = (of for several in sides.values() for side in several for of in side.ranks)
    most = words_per_prompt(ranks, rows)
    notes = [note for _, said in lexicons.values() for note in said]
    return [_evidence(of, most) for of in sides.values()], [*dict.fromkeys(notes)]


def _sides(
    found: Sequence[Comparison],
    runs: Mapping[Path, MeasuredRun],
    lexicons: Mapping[Path, tuple[Words | None, Sequence[str]]],
) -> dict[str, list[_Side]]:
    """By instrument: every model of every run in it, in the order of the runs."""
    compared = [one for one in found if not one.verdict.refusals and one.section is not None]
    labels = labels_of(found)
    models = short_names(dict.fromkeys(name for one in compared for name in one.models))
    every: dict[str, list[_Side]] = {}
    for instrument in dict.fromkeys(one.instrument for one in compared):
        of = [one for one in compared if one.instrument == instrument]
        there = [(one.reference, one.models[0]) for one in of]
        there += [(one.run, one.models[1]) for one in of]
        for place, (folder, model) in enumerate(dict.fromkeys(there)):
            section = runs[folder].sections[instrument]
            side = _Side(
                id=str(place),
                label=f"{labels[str(folder)]}: {models[model]}",
                section=section,
                model=model,
                run=runs[folder],
                words=lexicons[folder][0],
            )
            every.setdefault(instrument, []).append(side)
    return every


def _evidence(sides: Sequence[_Side], most: int) -> Evidence:
    """One instrument's block, in which each side is a model."""
    tables = [pl.DataFrame(schema=EVIDENCE)]
    scores = []
    there = 0
    for side in sides:
        named = {"model": pl.lit(side.id)}
        shown = side.section.presentation.evidence
        # A comprehension lets go of the answers of one side before those of the next are read.
        rows = [
            (shown(one, side.section, side.words, most).with_columns(**named), rows_there(one))
            for one in side.answers
        ]
        tables += [of for of, _ in rows]
        there += sum(count for _, count in rows)
        own = side.section.scores.filter(pl.col("model") == side.model, pl.col("level") == "prompt")
        scores.append(own.with_columns(**named))
    last = sides[-1].section
    names = replace(last.names, models={side.id: side.label for side in sides})
    section = replace(last, names=names, scores=pl.concat(scores))
    return packed(section, pl.concat(tables), there)

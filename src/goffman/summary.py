"""What a run says, in the sentences that the report has too: for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from goffman.correlations import correlations_said
from goffman.presentation.competence import QUESTION, competence_said
from goffman.presentation.findings import findings_of

if TYPE_CHECKING:
    from goffman.correlations import Correlation
    from goffman.presentation.section import Section


INTERVALS = (
    "Each interval is for its own difference alone; p-values are corrected where that is said."
)


def summary(sections: Mapping[str, Section], together: Sequence[Correlation]) -> list[str]:
    """Lines: of each instrument whether models can do it, then what each says; two measures."""
    lines = [line for section in sections.values() for line in _of(section)]
    said = correlations_said(together)
    lines += [INTERVALS] * bool(lines)
    return [*lines, *(["Two measures together"] if said else []), *(f"  {line}" for line in said)]


def _of(section: Section) -> Iterator[str]:
    yield section.instrument
    yield f"  {' '.join([QUESTION, *competence_said(section)])}"
    for found in findings_of(section):
        yield f"{section.instrument}, {found.model}"
        yield f"  {found.heading} {found.said}"
        for sentence in found.more:
            yield f"  {sentence}"

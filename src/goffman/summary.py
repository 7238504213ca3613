"""What a run says, in the sentences that the report has too: for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from goffman.correlations import correlations_said
from goffman.presentation.competence import QUESTION, competence_said
from goffman.presentation.findings import findings_of
from goffman.presentation.findings_anchors import anchors_said

if TYPE_CHECKING:
    from goffman.correlations import Correlation
    from goffman.presentation.anchored import AnchoredModel
    from goffman.presentation.section import Section


def summary(
    sections: Mapping[str, Section],
    together: Sequence[Correlation],
    anchored: Sequence[AnchoredModel] = (),
) -> list[str]:
    """Lines: can models do an instrument, and what each says; two measures; models and people."""
    lines = [line for section in sections.values() for line in _of(section)]
    for heading, said in (
        ("Two measures together", correlations_said(together)),
        ("Beside what people say", anchors_said(anchored)),
    ):
        lines += [*([heading] if said else []), *(f"  {line}" for line in said)]
    return lines


def _of(section: Section) -> Iterator[str]:
    yield section.instrument
    yield f"  {' '.join([QUESTION, *competence_said(section)])}"
    for found in findings_of(section):
        yield f"{section.instrument}, {found.model}"
        yield f"  {found.heading} {found.said}"
        for sentence in found.more:
            yield f"  {sentence}"

"""What a run says, for the terminal: of each model the main result and what it depends on.

The sentences are the report's own; the report has many more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from goffman.analysis.correlation_findings import describe_correlations
from goffman.anchors.sentences import describe_anchors
from goffman.presentation.competence import NO_CONTROLS
from goffman.presentation.findings import findings_of
from goffman.presentation.mode_agreement import describe_other_modes
from goffman.presentation.user_ratings import describe_changes

if TYPE_CHECKING:
    from goffman.analysis.correlation_findings import Correlation
    from goffman.anchors.sentences import AnchoredModel
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding


def summary(
    sections: Mapping[str, Section],
    together: Sequence[Correlation],
    anchored: Sequence[AnchoredModel] = (),
) -> list[str]:
    """Lines: can a model do each task, and what it says; two measures; models beside people."""
    found = {
        name: [one for one in findings_of(section) if section.is_main(one.model)]
        for name, section in sections.items()
    }
    every = [one for several in found.values() for one in several]
    lines = [line for name in sections for line in _of(sections, name, found[name])]
    for heading, said in (
        ("Two measures together", describe_correlations(together, briefly=True)),
        ("Beside what is known from people", describe_anchors(anchored)),
        ("Note", [*_counted(every), *_rated(sections)]),
    ):
        lines += [*([heading] if said else []), *(f"  {line}" for line in said)]
    return lines


def _of(sections: Mapping[str, Section], name: str, found: Sequence[Finding]) -> Iterator[str]:
    section = sections[name]
    given = {section.names.model(model): model for model in section.main_modes}
    for one in found:
        yield f"{section.instrument}, {one.model}"
        control = section.control(one.model)
        if control is None or control.passed:
            yield f"  {control.sentence if control else NO_CONTROLS}"
        yield f"  {one.heading}"
        untested = one.difference is not None and one.low is None
        parts = (one.text, one.why if untested else "", one.wording)
        yield f"  {' '.join(part for part in parts if part)}"
        if control is None or control.passed:
            for said in describe_changes(section, one.model):
                yield f"  {said}"
        if modes := describe_other_modes(sections, name, given.get(one.model, one.model)):
            yield f"  {modes}"


def _counted(found: Sequence[Finding]) -> Iterator[str]:
    """Yield how many intervals there are, and how often such intervals miss."""
    count = sum(one.low is not None for one in found)
    if count:
        results = "result" if count == 1 else "results"
        yield f"{count} {results}. Each interval misses the true value 5 times in 100."


def _rated(sections: Mapping[str, Section]) -> list[str]:
    """Who rated the words, each once, with the instruments that it is true of."""
    by_said: dict[str, list[str]] = {}
    for name, one in sections.items():
        if one.ratings:
            by_said.setdefault(one.ratings, []).append(name)
    return [f"{', '.join(names)}: {said}" for said, names in by_said.items()]

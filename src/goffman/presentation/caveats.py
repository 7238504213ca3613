"""Caveats of a main result, as data: an id, at most twelve words, and the whole sentence.

Terminal, page, notebook, card and JSON show the same ids; short where there is little room.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goffman.presentation.competence import NO_CONTROLS
from goffman.presentation.section import not_counted
from goffman.presentation.types import Caveat
from goffman.presentation.wording_findings import IN_TURN, ONE_WORDING

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

QUICK = (
    Caveat(
        id="first-look",
        short="a first look: only a few conditions of each group were asked",
        text="This is a first look (--sample quick): only a few conditions of each group were "
        "asked. The same command with --sample all asks the rest.",
    ),
)
"""What is to be said of a quick sample."""

MOST = 0.5
"""From this share on, what is not counted is most of the probability."""


def caveats_of(finding: Finding, section: Section) -> Iterator[Caveat]:
    """Yield what must be known beside a finding, the weightiest first."""
    control = section.control(finding.model)
    yield from QUICK if section.sample == "quick" else ()
    if finding.depends:
        yield Caveat(
            id="depends-on-one-part",
            short="depends on one part: without it, the sign changes or half is gone",
            text=finding.depends,
        )
    if finding.styled:
        yield Caveat(
            id="answer-style",
            short="answers much the same whatever it is asked",
            text=f"{finding.head}.",
        )
    if finding.asked:
        yield Caveat(
            id="few-sentences", short="too few sentences to speak for others", text=finding.wording
        )
    if finding.moved:
        yield Caveat(
            id="wording-moves-more",
            short="the wording changes the mean more than this does",
            text=finding.moved,
        )
    if finding.wording.startswith((ONE_WORDING, IN_TURN)):
        yield Caveat(
            id="one-wording",
            short="one wording: the effect of wording is unknown",
            text=finding.wording,
        )
    rest = not_counted(section, model=finding.model)
    if rest is not None and rest > MOST:
        yield Caveat(
            id="mostly-uncounted",
            short="most of the probability does not count",
            text=next((said for said in finding.more if "If they all named" in said), ""),
        )
    if control is None:
        yield Caveat(id="no-controls", short="no control items were asked", text=NO_CONTROLS)
    elif control.unsure:
        yield Caveat(
            id="controls-unsure",
            short="control items leave open whether it can do the task",
            text=control.sentence,
        )
    if section.ratings:
        shipped = section.ratings.startswith("Language models")
        yield Caveat(
            id="words-rated-by-models" if shipped else "words-rated-by-user",
            short="language models, not people, rated the words"
            if shipped
            else "the words were rated in files that were given",
            text=section.ratings,
        )

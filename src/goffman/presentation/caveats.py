"""Caveats of a main result as data: an id, at most twelve words, and the whole sentence.

Terminal, page, notebook, card and JSON show the same ids, in the short form where room is scarce.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goffman.contrasts.verdict import INCONCLUSIVE
from goffman.presentation.competence import NO_CONTROLS
from goffman.presentation.section import not_counted
from goffman.presentation.sensitivity_findings import IN_TURN, ONE_WORDING
from goffman.presentation.types import Caveat
from goffman.presentation.user_ratings import MOST_BY_MODELS, by_models

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
"""The caveat of a quick sample."""

LOW_POWER = (
    "The interval reaches further than the smallest difference that matters: an audit like this "
    "one finds a difference of that size less than half the time. More sentences or conditions "
    "would help."
)

MOST = 0.5
"""The share above which most of the probability is not counted."""


def _half_width(finding: Finding) -> float:
    """Return half the width of the 95% interval: a true difference found half the time."""
    if finding.low is None or finding.high is None:
        return 0.0
    return (finding.high - finding.low) / 2


def caveats_of(finding: Finding, section: Section) -> Iterator[Caveat]:
    """Yield the caveats of a finding, the weightiest first."""
    yield from QUICK if section.sample == "quick" else ()
    for holds, name, short, text in _known(finding, section):
        if holds:
            yield Caveat(id=name, short=short, text=text)


def _known(finding: Finding, section: Section) -> Iterator[tuple[bool, str, str, str]]:
    """Yield for each caveat whether it holds, its id, its short form and its sentences."""
    yield (
        bool(finding.depends),
        "depends-on-one-part",
        "depends on one part: without it, the sign changes or half is gone",
        finding.depends,
    )
    yield (
        finding.styled,
        "answer-style",
        "answers much the same whatever it is asked",
        f"{finding.head}.",
    )
    yield (
        bool(finding.asked),
        "few-sentences",
        "too few sentences to speak for others",
        finding.wording,
    )
    yield (
        finding.verdict == INCONCLUSIVE and _half_width(finding) > (finding.margin or 0),
        "low-power",
        "this design often misses so small a difference",
        LOW_POWER,
    )
    yield (
        bool(finding.moved),
        "wording-moves-more",
        "the wording matters more than the group",
        finding.moved,
    )
    yield (
        finding.wording.startswith((ONE_WORDING, IN_TURN)),
        "one-wording",
        "asked in one wording only",
        finding.wording,
    )
    yield (
        (not_counted(section, model=finding.model) or 0.0) > MOST,
        "mostly-uncounted",
        "most of what it would say is not counted",
        next((line for line in finding.more if "If they all named" in line), ""),
    )
    control = section.control(finding.model)
    yield control is None, "no-controls", "no control items were asked", NO_CONTROLS
    if control is not None:
        short = "unclear whether the model can do its task"
        yield control.unsure, "controls-unsure", short, control.sentence
    by_user = section.ratings.startswith("The words were rated in")
    short = "the words were rated in files that were given"
    yield by_user, "words-rated-by-user", short, section.ratings
    short = "language models, not people, rated the words that count"
    by_model = bool(section.ratings) and not by_user
    by_model = by_model and by_models(section, finding.model) > MOST_BY_MODELS
    yield by_model, "words-rated-by-models", short, section.ratings

"""What leads the page and each section: for every model of an instrument the four questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goffman.presentation.findings import findings_of
from goffman.presentation.findings_wordings import IN_TURN
from goffman.presentation.numbers import ends, number, p_said
from goffman.presentation.verdicts import in_short
from goffman.reports.bars import bars

if TYPE_CHECKING:
    from goffman.presentation.base import Finding
    from goffman.presentation.section import Section


MANY = 12
"""Of more models than these a page has a line each, and their sentences are folded."""


def counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """How many models have which verdict, and how many can do the task, in words."""
    verdicts = [row["finding"].shown or "not tested" for row in rows]
    return {"verdicts": _counts(verdicts), "tasks": _counts([row["task"]["word"] for row in rows])}


def _counts(words: Sequence[str]) -> str:
    """Each word once, the most frequent first."""
    said = (f"{count} {word}" for word, count in Counter(words).most_common())
    return f"{len(words)} models: {'; '.join(said)}"


def of_section(section: Section) -> Iterator[dict[str, Any]]:
    """Of each model: can it do the task, what differs, how sure is that, how far by wording.

    The bars share an axis.
    """
    found = findings_of(section)
    for one, bar in zip(found, bars(found), strict=True):
        yield {
            "instrument": section.instrument,
            "finding": one,
            "beside_verdict": _beside_verdict(one),
            "task": _task(section, one.model),
            "bar": bar,
            "short": _short(one),
            "numbers": _numbers(one),
            "wording": _wording(one),
        }


def _beside_verdict(one: Finding) -> str:
    """The heading, for a place where the verdict stands before it."""
    head = one.head.removeprefix(f"{one.shown or ''}: ".capitalize())
    return f"{head[0].upper()}{head[1:]}"


def _short(one: Finding) -> str:
    """What the verdict means, for a line beside it."""
    if one.fragile or not one.shown or not one.smallest:
        return one.fragile
    return in_short(one.shown, one.smallest, low=one.low, high=one.high)


def _task(section: Section, model: str) -> dict[str, str]:
    """Yes or no, by which number, and how sure that is."""
    control = section.control(model)
    if control is None:
        return {"word": "not asked", "score": "", "why": ""}
    if control.value is None:
        return {"word": "not known", "score": "", "why": ""}
    score = why = f"{control.score} {number(control.value)}"
    if control.low is not None:
        why += f" ({ends(control.low, control.high)}; {control.n} items)"
    if control.by_wording:
        values = [value for _, value in control.by_wording]
        why += f"; by wording {ends(min(values), max(values))}"
    word = "yes" if control.passed else "no"
    shown = f"probably {word}" if control.unsure else word
    return {"word": shown, "score": score, "why": why}


def _numbers(one: Finding) -> list[str]:
    """The difference with its interval, and p: a line each."""
    if one.difference is None:
        return ["–"]
    interval = "no interval" if one.low is None else ends(one.low, one.high)
    return [f"{one.unit}{number(one.difference)} ({interval})", p_said(one.p_adjusted)]


def _wording(one: Finding) -> list[str]:
    """The ranges over wordings, a line each; that there is one; nothing without a difference."""
    if one.difference is None:
        return ["–"]
    if not one.by_wording:
        turning = one.wording.startswith(IN_TURN)
        return [
            one.asked or ("each question in one wording" if turning else "unknown (one wording)")
        ]
    of_mean = [f"mean {ends(*one.levels)}"] if one.levels else []
    return [ends(*one.by_wording), *of_mean]

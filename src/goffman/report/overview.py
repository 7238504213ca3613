"""What leads the page and each section: for every model of an instrument the four questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.contrasts.verdict import PRESENT_WORDS
from goffman.formatting import (
    ends,
    in_short,
    number,
    tick,
)
from goffman.presentation.findings import findings_of
from goffman.presentation.mode_agreement import describe_other_modes
from goffman.presentation.wording_findings import IN_TURN

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

HALF = 100
"""Units from 0 to either end of the axis."""

TICKS = 3
"""At most so many on either side of 0."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Where the parts of a bar are, from −HALF to HALF."""

    low: str
    high: str
    at: str
    clear: bool
    band: str | None
    """Half the width of the differences that are too small to matter."""
    ticks: tuple[tuple[str, str], ...]
    """Place and number."""


def bars(found: Sequence[Finding]) -> list[Bar | None]:
    """A bar for each finding that has an interval, all of them on one axis."""
    drawn = [one for one in found if one.low is not None and one.difference is not None]
    ends = [
        abs(end)
        for one in drawn
        for end in (one.low, one.high, one.difference, one.margin)
        if end is not None
    ]
    step, limit = _axis(max(ends, default=1.0) or 1.0)
    count = round(limit / step)
    ticks = tuple(
        (_place(step * nth, limit), tick(step * nth, step)) for nth in range(-count, count + 1)
    )
    return [_bar(one, limit, ticks) if one in drawn else None for one in found]


def _bar(one: Finding, limit: float, ticks: tuple[tuple[str, str], ...]) -> Bar:
    places = [_place(float(end or 0.0), limit) for end in (one.low, one.high, one.difference)]
    return Bar(
        low=places[0],
        high=places[1],
        at=places[2],
        clear=one.verdict in PRESENT_WORDS,
        band=None if one.margin is None else _place(one.margin, limit),
        ticks=ticks,
    )


def _axis(largest: float) -> tuple[float, float]:
    """The distance between ticks, and the end of the axis: a tick that nothing lies beyond."""
    power = 10.0 ** math.floor(math.log10(largest / TICKS))
    step = next(power * times for times in (1, 2, 5, 10) if power * times * TICKS >= largest)
    return step, step * math.ceil(largest / step - 1e-9)


def _place(value: float, limit: float) -> str:
    return f"{HALF * value / limit:.1f}"


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


def of_section(sections: Mapping[str, Section], name: str) -> Iterator[dict[str, Any]]:
    """Yield for each model: can it do the task, what differs, how sure is that, how far by wording.

    The bars share an axis.
    """
    section = sections[name]
    found = findings_of(section)
    given = {section.names.model(model): model for model in section.main_modes}
    for one, bar in zip(found, bars(found), strict=True):
        yield {
            "instrument": section.instrument,
            "main": section.is_main(one.model),
            "modes": describe_other_modes(sections, name, given.get(one.model, one.model)),
            "finding": one,
            "beside_verdict": one.short or one.head,
            "task": _task(section, one.model),
            "bar": bar,
            "short": _short(one),
            "numbers": _numbers(one),
            "wording": _wording(one),
        }


def _short(one: Finding) -> str:
    """What the verdict means, for a line beside it."""
    if not one.shown or not one.margin:
        return ""
    return in_short(one.shown, one.margin, low=one.low, high=one.high)


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
    """Return the difference with its interval."""
    if one.difference is None:
        return ["–"]
    interval = "no interval" if one.low is None else ends(one.low, one.high)
    return [f"{one.unit}{number(one.difference)} ({interval})"]


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

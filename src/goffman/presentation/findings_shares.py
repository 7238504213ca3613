"""What is said of a model's shares beside people's: who is more unwilling, and about whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goffman.estimates.against_people import DIFFERENCE, GENDER, OVERALL
from goffman.estimates.clear import points
from goffman.presentation.numbers import corrected_said
from goffman.stats.two_sources import BOTH, GIVEN

if TYPE_CHECKING:
    from goffman.presentation.anchored import AnchoredModel

Row = Mapping[str, Any]

MOST_QUESTIONS = 6
"""Questions that are named one by one."""


def in_points(value: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value) * 100:.0f}"


def percent(value: float) -> str:
    """A share."""
    return f"{value * 100:.0f}%"


def shares_said(one: AnchoredModel) -> tuple[str, ...]:
    """Heading, numbers, and further sentences."""
    overall = one.differences(OVERALL)
    every = one.differences(DIFFERENCE)
    more = (*_questions(one, every), *_gender(one), *_covers(every))
    if not overall:
        return "No question was asked of both", "", *more
    ways = {way: [row for row in overall if points(row) == way] for way in (1, -1)}
    if not ways[1] and not ways[-1]:
        head = f"It is clearly different from people about none of {len(overall)} {one.many}"
    else:
        parts = [
            f"{word} than people about {_listed(one, ways[way])}"
            for way, word in ((1, "more stigmatizing"), (-1, "less stigmatizing"))
            if ways[way]
        ]
        head = f"It is {', and '.join(parts)}"
    return head, f"Over the questions that count as stigma: {_numbers(one, overall)}.", *more


def _listed(one: AnchoredModel, rows: Sequence[Row]) -> str:
    names = [one.called(row["group"]).lower() for row in rows]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _numbers(one: AnchoredModel, rows: Sequence[Row]) -> str:
    return "; ".join(
        f"{one.called(row['group']).lower()} {percent(row['mean_first'])}, people "
        f"{percent(row['mean_second'])} ({_doubt(row)})"
        for row in rows
    )


def _doubt(row: Row) -> str:
    interval = ""
    if row["low"] is not None:
        ends = f"{in_points(row['low'])} to {in_points(row['high'])}"
        interval = f", {row['level']:.0%} interval {ends}"
    return f"{in_points(row['difference'])} points{interval}, {corrected_said(row)}"


def _questions(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    """How many questions differ clearly, and which most."""
    clear = [row for row in rows if points(row)]
    if not rows:
        return
    yield f"Single questions: {len(clear)} of {len(rows)} differ clearly from people."
    far = sorted(clear, key=lambda row: -abs(row["difference"]))[:MOST_QUESTIONS]
    if far:
        listed = "; ".join(
            f"{one.item(row['dimension'])}, {one.called(row['group']).lower()}: "
            f"{percent(row['mean_first'])}, people {percent(row['mean_second'])}"
            for row in far
        )
        yield f"Farthest apart: {listed}."


def _gender(one: AnchoredModel) -> Iterator[str]:
    """Whether a man instead of a woman moves the model as it moves people."""
    rows = one.differences(GENDER)
    if not rows:
        return
    listed = "; ".join(
        f"{one.called(row['group']).lower()} {in_points(row['mean_first'])} points, people "
        f"{in_points(row['mean_second'])}"
        for row in rows
    )
    clear = [row for row in rows if points(row)]
    verdict = (
        f"Clearly another difference than people's: {_listed(one, clear)}."
        if clear
        else "None of these differs clearly from people's."
    )
    yield f"A man described instead of a woman: {listed}. {verdict}"


def _covers(rows: Sequence[Row]) -> Iterator[str]:
    """What the intervals are over: in one wording, people alone."""
    over = {row["interval_over"] for row in rows}
    if BOTH in over:
        yield "The intervals cover other respondents and other wordings."
    if GIVEN in over:
        where = "Where a question has one wording only" if BOTH in over else "As asked here"
        yield f"{where}, the intervals cover other respondents, but not other wordings."

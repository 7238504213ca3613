"""What is said of a model's shares beside people's: who is more unwilling, and about whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.against_people import (
    DIFFERENCE,
    GENDER,
    GENDER_SIDE,
    IN_YEAR,
    INDIFFERENT,
    LEAST_DECIDED,
    MODEL,
    OTHER_WORDING,
    OVERALL,
    PEOPLE,
    UNANSWERED,
)
from goffman.estimates.clear import CLEAR, points, side_of_zero
from goffman.presentation.numbers import corrected_said
from goffman.stats.two_sources import GIVEN, REPLIES

if TYPE_CHECKING:
    from goffman.presentation.anchored import AnchoredModel

Row = Mapping[str, Any]

INDIFFERENT_HEAD = "Not compared with people's: its answers hardly leave the middle"

MOST_QUESTIONS = 6
"""Questions that are named one by one."""


def in_points(value: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    whole = f"{abs(value) * 100:.0f}"
    return whole if whole == "0" else f"{'+' if value > 0 else '−'}{whole}"


def _points_said(value: float) -> str:
    shown = in_points(value)
    return f"{shown} {'point' if shown in {'+1', '−1'} else 'points'}"


def percent(value: float) -> str:
    """A share."""
    return f"{value * 100:.0f}%"


def shares_said(one: AnchoredModel) -> tuple[str, ...]:
    """Heading, numbers, and further sentences."""
    overall, every = one.differences(OVERALL), one.differences(DIFFERENCE)
    more = (
        *_left_out(one, overall, every),
        *_other_wordings(one),
        *_questions(one, every),
        *_gender(one),
        *_silence(one),
        *_covers(one, every),
    )
    tested = [row for row in overall if row["reason"] != UNANSWERED]
    if any(row["reason"] == INDIFFERENT for row in every):
        return INDIFFERENT_HEAD, _indifferent(one, tested), *_silence(one)
    if not tested:
        asked = "There are too few answers to compare it with people over all questions"
        return asked if every else "No question was asked of both", "", *more
    text = f"Over the questions that count as stigma: {_numbers(one, tested)}."
    said = [text, *_apart(one, tested, every), *_ruled_out(tested), *_earlier(one, tested)]
    return _head(one, tested), " ".join(said), *more


def _indifferent(one: AnchoredModel, overall: Sequence[Row]) -> str:
    """Why nothing is compared: what people with as little decision would have answered."""
    control = one.section.competence[one.model]
    sure = control.decided or 0.0
    low, high = control.decided_ends
    interval = "" if low is None else f" (95% interval {percent(low)} to {percent(high or 0.0)})"
    said = (
        f"On control items with an obvious answer, {percent(sure)} of its answers are on the "
        f"obvious side{interval}. 50% is indifference, and {percent(LEAST_DECIDED)} is needed to "
        "compare its shares with people's."
    )
    shares = "; ".join(
        f"{_named(one, row)} {percent(row['mean_first'])}, people{_in_year(one, [row])} "
        f"{percent(row['mean_second'])}, people with as much indifference "
        f"{percent(0.5 + (2 * sure - 1) * (row['mean_second'] - 0.5))}"
        for row in overall
    )
    return f"{said} Over the questions that count as stigma: {shares}." if shares else said


def _apart(one: AnchoredModel, tested: Sequence[Row], every: Sequence[Row]) -> Iterator[str]:
    """How far single questions are from people's, whose differences can cancel out."""
    by_condition = {
        row["group"]: [abs(of["difference"]) for of in every if of["group"] == row["group"]]
        for row in tested
    }
    listed = "; ".join(
        f"{one.called(name).lower()} {100 * sum(several) / len(several):.0f}"
        for name, several in by_condition.items()
    )
    yield (
        "Question by question, its share is on average so many points from people's, up or down: "
        f"{listed}."
    )


def _head(one: AnchoredModel, tested: Sequence[Row]) -> str:
    """About whom the answers differ from people's; before it, how a man and a woman are told apart.

    Over women and men the level may be people's where neither alone is.
    """
    gap = _gap_in_head(one)
    who = "averaged over women and men, its answers" if gap else "Its answers"
    people = f"people's{_in_year(one, tested)}"
    beyond = [row for row in tested if points(row) and not _by_indifference(row)]
    ways = {way: [row for row in beyond if points(row) == way] for way in (1, -1)}
    parts = [
        f"{word} stigmatizing than {people} about {_described(one, ways[way])}"
        for way, word in ((1, "more"), (-1, "less"))
        if ways[way]
    ]
    if within := [row for row in tested if points(row) and _by_indifference(row)]:
        parts.append(
            f"unlike {people} about {_described(one, within)}, but by no more than its "
            "indifference may explain"
        )
    head = f"{who} differ clearly from {people} about none of {len(tested)} {one.many}"
    if parts:
        head = f"{who} are {', and '.join(parts)}"
    return "; ".join([*gap, head])


def _by_indifference(row: Row) -> bool:
    """Whether people with the model's indifference would not clearly differ from it this way."""
    return row["check_p"] is not None and row["check_p"] >= CLEAR / 2


def _described(one: AnchoredModel, rows: Sequence[Row]) -> str:
    """Whom a heading is about: not everyone with a condition, but those of the texts."""
    if one.one != "description":
        return _listed(one, rows)
    who = "the person" if len(rows) == 1 else "people"
    return f"{who} described with {_listed(one, rows)}"


def _in_year(one: AnchoredModel, rows: Sequence[Row]) -> str:
    """The year of people's answers; empty: not known, or not the same for all of these."""
    years = [[year for year, _ in _years(one, row["group"])] for row in rows]
    latest = {of[-1] if of else None for of in years}
    only = latest.pop() if len(latest) == 1 else None
    return f" in {only}" if only else ""


def _years(one: AnchoredModel, condition: str) -> tuple[tuple[str, float], ...]:
    """Year and people's share over the questions that count, the latest last."""
    rows = [row for row in one.differences(IN_YEAR) if row["group"] == condition]
    return tuple(sorted((row["variant"], row["mean_second"]) for row in rows))


def _earlier(one: AnchoredModel, tested: Sequence[Row]) -> Iterator[str]:
    """What people said in the years before, which nothing is tested against."""
    before = {row["group"]: _years(one, row["group"])[:-1] for row in tested}
    said = [
        f"{one.called(name).lower()} "
        + ", ".join(f"{percent(share)} in {year}" for year, share in years)
        for name, years in before.items()
        if years
    ]
    if said:
        yield f"People's answers in earlier years: {'; '.join(said)}."


def _ruled_out(tested: Sequence[Row]) -> Iterator[str]:
    """How large a difference may be although none is clear."""
    if any(points(row) for row in tested):
        return
    ends = [abs(end) for row in tested for end in (row["low"], row["high"]) if end is not None]
    if ends:
        yield f"Differences of up to {max(ends) * 100:.0f} points are not ruled out."


def _gap_in_head(one: AnchoredModel) -> list[str]:
    """That a man and a woman are told apart otherwise than by people, and which way."""
    tested = [row for row in one.differences(GENDER) if row["p"] is not None]
    clear = [row for row in tested if points(row)]
    mine = {
        row["group"]: side_of_zero(row)
        for row in one.differences(GENDER_SIDE)
        if row["variant"] == MODEL
    }
    parts = []
    for side, (more, less) in ((-1, ("woman", "man")), (1, ("man", "woman"))):
        rows = [row for row in clear if _leans(row, mine) == side]
        if not rows:
            continue
        also = [row["mean_second"] * side > 0 for row in rows]
        people = "clearly unlike people's"
        if any(also):
            people = "more so than people's" if all(also) else "otherwise than people's"
        parts.append(
            f"more stigmatizing about a {more} than about a {less} for {_whom(one, rows, tested)}, "
            f"{people}"
        )
    said = [f"Its answers are {', and '.join(parts)}"] if parts else []
    rows = [row for row in clear if not _leans(row, mine)]
    if rows:
        whom = _whom(one, rows, tested)
        said.append(
            f"A man instead of a woman changes its answers otherwise than people's for {whom}"
        )
    return said


def _leans(row: Row, mine: Mapping[str, int]) -> int:
    """1: clearly more about a man, −1: about a woman; a probability is exact."""
    exact = int(row["mean_first"] > 0) - int(row["mean_first"] < 0)
    return mine.get(row["group"], 0) or (exact if row["interval_over"] == GIVEN else 0)


def _whom(one: AnchoredModel, rows: Sequence[Row], tested: Sequence[Row]) -> str:
    every = len(rows) == len(tested) > 1
    return f"all {len(tested)} {one.many}" if every else _listed(one, rows)


def _left_out(one: AnchoredModel, overall: Sequence[Row], every: Sequence[Row]) -> Iterator[str]:
    """Whom no mean over the questions is about, and why."""
    whole = {row["group"]: row["reason"] for row in overall}
    names = list(dict.fromkeys(row["group"] for row in every))
    gaps = [{"group": name} for name in names if name not in whole]
    few = [{"group": name} for name in names if whole.get(name) == UNANSWERED]
    for rows, why in ((gaps, "a question has no answer"), (few, "too much is no answer")):
        if rows:
            yield f"Over these questions nothing is said about {_listed(one, rows)}, because {why}."


def _other_wordings(one: AnchoredModel) -> Iterator[str]:
    """What the same share is in wordings that are not people's: a check."""
    by_condition: dict[str, list[float]] = {}
    for row in one.differences(OTHER_WORDING):
        by_condition.setdefault(row["group"], []).append(row["mean_first"])
    if by_condition:
        listed = "; ".join(
            f"{one.called(name).lower()} {percent(min(values))} to {percent(max(values))}"
            for name, values in by_condition.items()
        )
        yield f"In other wordings, which people were not asked, its share is: {listed}."


def _listed(one: AnchoredModel, rows: Sequence[Row]) -> str:
    names = [_named(one, row) for row in rows]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _named(one: AnchoredModel, row: Row) -> str:
    """A condition, and that people were told of it in another text where that is so."""
    own = f" (our own {one.one})" if row["group"] in one.about.own_texts else ""
    return f"{one.called(row['group']).lower()}{own}"


def _numbers(one: AnchoredModel, rows: Sequence[Row]) -> str:
    return "; ".join(
        f"{_named(one, row)} {percent(row['mean_first'])}, people{_in_year(one, [row])} "
        f"{percent(row['mean_second'])} ({_doubt(row)})"
        for row in rows
    )


def _doubt(row: Row) -> str:
    return f"{_points_said(row['difference'])}{_interval(row)}, {corrected_said(row)}"


def _interval(row: Row) -> str:
    """Between a difference and what follows; empty: it has none."""
    return "" if row["low"] is None else f", {row['level']:.0%} interval {_ends(row)}"


def _ends(row: Row) -> str:
    return f"{in_points(row['low'])} to {in_points(row['high'])}"


def _questions(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    """How many questions differ clearly, and which most."""
    clear = [row for row in rows if points(row)]
    tested = sum(row["p"] is not None for row in rows)
    if not tested:
        return
    differ = "differs" if len(clear) < 2 else "differ"
    wide = "" if clear else "; with intervals this wide, few would"
    yield (
        f"Of the {tested} single questions, {len(clear) or 'none'} {differ} clearly from people's "
        f"answers{wide}."
    )
    far = sorted(clear, key=lambda row: -abs(row["difference"]))[:MOST_QUESTIONS]
    if far:
        listed = "; ".join(
            f"{one.item(row['dimension'])}, {one.called(row['group']).lower()}: "
            f"{percent(row['mean_first'])}, people {percent(row['mean_second'])} "
            f"({_points_said(row['difference'])}{_interval(row)})"
            for row in far
        )
        yield f"Farthest apart, and so probably overestimated: {listed}."


def _gender(one: AnchoredModel) -> Iterator[str]:
    """Whether a man instead of a woman moves the model as it moves people."""
    rows = [row for row in one.differences(GENDER) if row["low"] is not None]
    if not rows:
        return
    sides = {(row["group"], row["variant"]): row for row in one.differences(GENDER_SIDE)}
    listed = "; ".join(
        f"{one.called(row['group']).lower()}: model "
        f"{_side(sides.get((row['group'], MODEL)), row['mean_first'])}, people "
        f"{_side(sides.get((row['group'], PEOPLE)), row['mean_second'])}, model minus people "
        f"{_ends(row)}"
        for row in rows
    )
    clear = [row for row in rows if points(row)]
    corrected = f"With p corrected for {len(rows)} tests" if len(rows) > 1 else "By p"
    verdict = (
        f"{corrected}, the difference is clearly not the same as people's for "
        f"{_listed(one, clear)}."
        if clear
        else f"{corrected}, none of these differs clearly from people's; with intervals this wide, "
        "few would."
    )
    yield (
        "A man described instead of a woman changes the share by so many points (in brackets 95% "
        f"intervals; people: all surveys with that {one.one} together): {listed}. {verdict}"
    )


def _side(row: Row | None, difference: float) -> str:
    """A man minus a woman on one side, with its interval where it has one."""
    ends = "" if row is None or row["low"] is None else f" ({_ends(row)})"
    return f"{in_points(difference)}{ends}"


def _silence(one: AnchoredModel) -> Iterator[str]:
    """How much of what the model says is no answer, which people hardly ever gave."""
    cells = one.points.filter(pl.col("unanswered").is_not_null())
    if cells.is_empty():
        return
    shares = cells["unanswered"]
    most = float(shares.max())  # type: ignore[arg-type]
    if most == 0:
        yield "It gave an answer each time."
        return
    said = (
        f"“Don't know” or no answer: {percent(float(shares.to_numpy().mean()))} of its answers"
        f"{_beginnings(one)}, at most {percent(most)} for one question and {one.one}. Shares are "
        "of the rest, each prompt counting alike."
    )
    few = one.estimates.filter(pl.col("kind") == DIFFERENCE, pl.col("reason") == UNANSWERED).height
    if few:
        said += (
            f" Where more than half is no answer, the question alone is not compared ({few} "
            f"{'question' if few == 1 else 'questions'}); means over questions include it."
        )
    yield said


def _beginnings(one: AnchoredModel) -> str:
    """How much of it is on words that begin no option: a reply may still name one later."""
    rows = one.section.scores.filter(
        pl.col("model") == one.model,
        pl.col("level") == "prompt",
        pl.col("quantity") == "elsewhere",
        pl.col("value").is_not_null(),
    )
    if rows.is_empty():
        return ""
    share = float(rows["value"].to_numpy().mean())
    return f" ({percent(share)} on words that begin no option, after which one may still be named)"


def _covers(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    """What the intervals are over, and what they are not."""
    over = {row["interval_over"] for row in rows}
    also = f"They say nothing about other questions, wordings, names or {one.many}."
    if REPLIES in over:
        count = sorted({row["n_first"] for row in rows if row["interval_over"] == REPLIES})
        each = f"{count[0]}" if len(count) == 1 else f"{count[0]} to {count[-1]}"
        yield (
            f"The intervals cover other respondents and other replies of the model to the same "
            f"prompts ({each} for each question and {one.one}). {also}"
        )
    elif GIVEN in over:
        yield (
            "The intervals cover other respondents. The model’s probabilities have no sampling "
            f"error, but they are of the first words of a reply only. {also}"
        )

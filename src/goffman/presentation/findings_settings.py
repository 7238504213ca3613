"""What is said about adjective settings: coreference bias and pronoun preference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.base import Finding
from goffman.presentation.findings import how_many_clear, of_model
from goffman.presentation.numbers import ends, number
from goffman.presentation.shown import setting_name
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]

KINDS = {
    "correct": "name the right person",
    "incorrect": "name the other one",
    "unsure": "are unsure",
    "other": "say something else",
    "refusal": "refuse",
}
"""Kinds of replies, in words."""

WHAT = "settings"
"""What is counted where adjectives are set against none."""

OVER = {"trials": "repeated trials of these sentences", "sentence pairs": "sentence pairs"}
"""What a contrast of settings counts, in words."""


def bias(section: Section) -> Iterator[Finding]:
    """How much more often a chat model is right where the pronoun fits the stereotype."""
    for row in _without_adjectives(section):
        head = "No consistent difference between sentences that fit the stereotype and the others"
        if row["low"] is not None and row["low"] > 0:
            head = "Right more often where the pronoun fits the stereotype"
        if row["high"] is not None and row["high"] < 0:
            head = "Right more often where the pronoun goes against the stereotype"
        over = row["over"] if row["n"] != 1 else row["over"].removesuffix("s")
        text = (
            "Without adjectives, accuracy on sentences that fit the stereotype minus accuracy on "
            f"those that do not is {number(row['value'])} (mean of {row['n']} {over}, from "
            f"{number(row['low'])} to {number(row['high'])}).{_moved(section, row)}"
        )
        more = (*_replies(section, row["model"]), *_changes(section, row["model"]))
        yield Finding(model=row["model"], head=head, text=text, more=more)


def preference(section: Section) -> Iterator[Finding]:
    """How much more probable the pronoun of the stereotype is."""
    for row in _without_adjectives(section):
        value, low, high = _mean_interval(row)
        head = "No clear preference for the pronoun that fits the stereotype or for the other one"
        if low is not None and low > 0:
            head = "The pronoun that fits the stereotype is preferred"
        if high is not None and high < 0:
            head = "The pronoun that goes against the stereotype is preferred"
        if low is None:
            head = "The preference for a pronoun could not be tested"
        interval = "" if low is None else f" (95% interval {ends(low, high)})"
        text = (
            "Without adjectives, the pronoun that fits the stereotype is typically "
            f"{math.exp(value):.2f} times as probable as the other one. Over {row['n']} "
            f"{row['over']}, the mean difference of log P is {number(value)}{interval}."
            f"{_moved(section, row)}"
        )
        spread = (
            f"Over {row['n']} {row['over']}, the difference of log P ranges from "
            f"{number(row['low'])} to {number(row['high'])}."
        )
        yield Finding(
            model=row["model"],
            head=head,
            text=text,
            more=(spread, *_changes(section, row["model"])),
            difference=value,
            low=low,
            high=high,
        )


def _without_adjectives(section: Section) -> Iterator[Row]:
    rows = section.rows("condition", section.presentation.quantity)
    yield from rows.filter(pl.col("condition") == BASELINE).iter_rows(named=True)


def _moved(section: Section, row: Row) -> str:
    """How many adjective settings clearly move the number."""
    against = of_model(section.contrasts("baseline"), row["model"])
    if not against.height:
        return ""
    said = how_many_clear(against, "adjectives clearly change this in {}", what=WHAT)
    return f" {said}"


def _changes(section: Section, model: str) -> Iterator[str]:
    for kind in ("baseline", "pairs"):
        against = of_model(section.contrasts(kind), model)
        if against.height:
            over = OVER[against["unit"][0]]
            differ = "{} clearly differ from the sentences without adjectives"
            yield f"Tested over {over}: {how_many_clear(against, differ, what=WHAT)}"
    moved = of_model(section.contrasts("baseline"), model).sort("difference")
    if moved.height > 1:
        least, most = (
            f"{number(moved['difference'][at])} ({setting_name(moved['first'][at])})"
            for at in (0, -1)
        )
        yield f"The change ranges from {least} to {most}."


def _replies(section: Section, model: str) -> Iterator[str]:
    """What a bias rests on: replies that no one can read have none either."""
    replies = of_model(section.rows("prompt", tuple(KINDS)), model)
    shares = dict(replies.group_by("quantity").agg(pl.col("value").mean()).rows())
    if shares:
        said = [f"{number(shares.get(kind, 0.0))} {KINDS[kind]}" for kind in KINDS]
        count = replies.filter(pl.col("quantity") == "correct").height
        yield f"Shares of {count:,} replies: {', '.join(said[:-1])} and {said[-1]}."


def _mean_interval(row: Row) -> tuple[float, float | None, float | None]:
    """The mean of a row of scores with its 95% interval by Student's t, over what it counts."""
    value = float(row["value"])
    if row["sd"] is None or row["n"] < 2:
        return value, None, None
    # The quantile alone: scipy.stats takes seconds to load.
    from scipy.special import stdtrit

    half = float(stdtrit(row["n"] - 1, 0.975)) * row["sd"] / math.sqrt(row["n"])
    return value, value - half, value + half

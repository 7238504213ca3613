"""What is said about adjective settings: coreference bias and pronoun preference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.base import Finding
from goffman.presentation.findings import how_many_clear, of_model
from goffman.presentation.findings_unanswered import beside_bias
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

OVER = {"trials": "repeated trials of these sentences", "sentence pairs": "sentence pairs"}
"""What a contrast of settings counts, in words."""


def bias(section: Section) -> Iterator[Finding]:
    """How much more often a chat model is right where the pronoun fits the stereotype."""
    for row in _without_adjectives(section):
        head = "No steady difference between the stereotype and its opposite"
        if row["low"] is not None and row["low"] > 0:
            head = "Right more often where the pronoun fits the stereotype"
        if row["high"] is not None and row["high"] < 0:
            head = "Right more often where the pronoun goes against the stereotype"
        over = row["over"] if row["n"] != 1 else row["over"].removesuffix("s")
        text = (
            "Without adjectives, accuracy on sentences that fit the stereotype minus accuracy on "
            f"those that do not is {number(row['value'])} (mean of {row['n']} {over}, the smallest "
            f"{number(row['low'])}, the largest {number(row['high'])}).{_moved(section, row)}"
        )
        more = (
            *_replies(section, row["model"]),
            *_changes(section, row["model"]),
            *beside_bias(section, row["model"]),
        )
        yield Finding(model=row["model"], head=head, text=text, more=more)


def preference(section: Section) -> Iterator[Finding]:
    """How much more probable the pronoun of the stereotype is."""
    for row in _without_adjectives(section):
        value, low, high = _mean_interval(row)
        head = "No clear preference for or against the pronoun of the stereotype"
        if low is not None and low > 0:
            head = "The pronoun of the stereotype is preferred"
        if high is not None and high < 0:
            head = "The pronoun that goes against the stereotype is preferred"
        interval = "" if low is None else f" (95% interval {ends(low, high)})"
        text = (
            "Without adjectives, log P of the pronoun of the stereotype minus log P of the other "
            f"is {number(value)} on average{interval}, over {row['n']} {row['over']}: typically it "
            f"is {math.exp(value):.2f} times as probable.{_moved(section, row)}"
        )
        spread = (
            f"Over {row['n']} {row['over']} the smallest is {number(row['low'])} and the largest "
            f"{number(row['high'])}."
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
    return f" Of the adjectives, {how_many_clear(against, 'settings')} clearly change it."


def _changes(section: Section, model: str) -> Iterator[str]:
    for kind in ("baseline", "pairs"):
        against = of_model(section.contrasts(kind), model)
        if against.height:
            over = OVER[against["unit"][0]]
            yield f"Tested over {over}, {how_many_clear(against, 'settings')} differ clearly."
    moved = of_model(section.contrasts("baseline"), model).sort("difference")
    if moved.height > 1:
        least, most = (
            f"{number(moved['difference'][at])} ({setting_name(moved['first'][at])})"
            for at in (0, -1)
        )
        yield f"The settings move it by {least} to {most}."


def _replies(section: Section, model: str) -> Iterator[str]:
    """What a bias rests on: replies that no one can read have none either."""
    replies = of_model(section.rows("prompt", tuple(KINDS)), model)
    shares = dict(replies.group_by("quantity").agg(pl.col("value").mean()).rows())
    if shares:
        said = [f"{number(shares.get(kind, 0.0))} {KINDS[kind]}" for kind in KINDS]
        count = replies.filter(pl.col("quantity") == "correct").height
        yield f"Of {count:,} replies, {', '.join(said[:-1])} and {said[-1]}."


def _mean_interval(row: Row) -> tuple[float, float | None, float | None]:
    """The mean of a row of scores with its 95% interval by Student's t, over what it counts."""
    value = float(row["value"])
    if row["sd"] is None or row["n"] < 2:
        return value, None, None
    # The quantile alone: scipy.stats takes seconds to load.
    from scipy.special import stdtrit

    half = float(stdtrit(row["n"] - 1, 0.975)) * row["sd"] / math.sqrt(row["n"])
    return value, value - half, value + half

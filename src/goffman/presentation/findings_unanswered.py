"""What is said beside a bias of replies: non-answers, chance, position and ceilings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.presentation.findings import of_model
from goffman.presentation.numbers import number
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.section import Section


BESIDE = (
    "accuracy-pro", "accuracy-anti", "above-chance", "bias-lowest", "bias-highest",
    "bias-answered", "first-mentioned-above-half", "log-odds",
)  # fmt: skip
"""The numbers that stand beside a bias."""


def beside_bias(section: Section, model: str) -> Iterator[str]:
    """In the sentences without adjectives: each number that could put the bias in doubt."""
    rows = of_model(section.rows("condition", BESIDE), model)
    rows = rows.filter(pl.col("condition") == BASELINE)
    value = dict(rows.select("quantity", "value").rows())
    pro, anti = value.get("accuracy-pro"), value.get("accuracy-anti")
    if pro is not None and anti is not None:
        yield (
            f"Without adjectives, {number(pro)} are right where the pronoun fits the stereotype "
            f"and {number(anti)} where it does not: {_from(value['above-chance'])} one half, which "
            "guessing between the two people gives."
        )
    if (low := value.get("bias-lowest")) is not None:
        answered = value.get("bias-answered")
        among = f"; among replies that name one of the two it is {number(answered)}"
        yield (
            "Whatever the replies that name nobody would have said, the bias lies between "
            f"{number(low)} and {number(value['bias-highest'])}"
            f"{'' if answered is None else among}."
        )
    if (first := value.get("first-mentioned-above-half")) is not None:
        yield (
            f"Of the people named, {number(0.5 + first)} are the one whom the sentence mentions "
            "first: about half where position plays no part and as many right ones come second."
        )
    if (odds := value.get("log-odds")) is not None:
        yield (f"In log-odds, which do not shrink near a ceiling, the bias is {number(odds)}.")


def _from(above: float) -> str:
    return f"on average {number(abs(above))} {'above' if above >= 0 else 'below'}"

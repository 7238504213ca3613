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
            f"Without adjectives, a share of {number(pro)} of the replies is right where the "
            f"pronoun fits the stereotype, and {number(anti)} where it does not. That is "
            f"{_from(value['above-chance'])} 0.5, the share that guessing would give."
        )
    if (low := value.get("bias-lowest")) is not None:
        answered = value.get("bias-answered")
        among = f" Among replies that name one of the two people, it is {number(answered)}."
        yield (
            "Some replies name nobody. Depending on whom they would have named, the bias could be "
            f"{number(low)} to {number(value['bias-highest'])}."
            f"{'' if answered is None else among}"
        )
    if (first := value.get("first-mentioned-above-half")) is not None:
        yield (
            f"A share of {number(0.5 + first)} of the replies names the person mentioned first. "
            "If the order did not matter, it would be about half."
        )
    if (odds := value.get("log-odds")) is not None:
        yield f"In log-odds, which do not shrink near 100%, the bias is {number(odds)}."


def _from(above: float) -> str:
    return f"on average {number(abs(above))} {'above' if above >= 0 else 'below'}"

"""What is said of begun replies: whether enough of them is rated, and what is set apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.presentation.base import Find, Finding
from goffman.presentation.findings import of_model
from goffman.presentation.numbers import difference_said, number, told_apart
from goffman.presentation.table_text import Shown, Table, as_table

if TYPE_CHECKING:
    from goffman.presentation.section import Section

LEAST_RATED = 0.25
"""Below this mean probability of rated words a completion is not measurable."""

OF_COMPLETIONS = (
    "rated-mass", "negations", "probability-words", "irrelevant", "negative-apart",
)  # fmt: skip
"""The numbers that only begun replies have."""


def if_measurable(finds: Find) -> Find:
    """The findings, but that of a model whose words are mostly unrated that it has no number."""

    def found(section: Section) -> Iterator[Finding]:
        poor = {model: mass for model, mass in _masses(section) if mass < LEAST_RATED}
        yield from (one for one in finds(section) if one.model not in poor)
        for model, mass in poor.items():
            shown, least = told_apart(mass, LEAST_RATED)
            yield Finding(
                model=model,
                head="Not measurable",
                text=(
                    f"In its completions, rated words have {shown} of the probability on average; "
                    f"at least {least} is needed. So its other numbers here mean nothing and are "
                    "not stated."
                ),
            )

    return found


def _masses(section: Section) -> Iterator[tuple[str, float]]:
    rows = section.rows("model", "rated-mass")
    yield from rows.select("model", "value").rows()


def set_apart_said(section: Section, model: str) -> Iterator[str]:
    """How much of completions is set apart, and the difference without it; nothing of others."""
    rows = of_model(section.rows("model", OF_COMPLETIONS), model)
    mean = dict(rows.select("quantity", "value").rows())
    if "rated-mass" not in mean:
        return
    yield (
        f"In the completions, rated words have {number(mean['rated-mass'])} of the probability. "
        f"Negations such as “not” have {number(mean['negations'])}, words of probability such as "
        f"“likely” {number(mean['probability-words'])}, words rated irrelevant "
        f"{number(mean['irrelevant'])}."
    )
    for row in of_model(section.contrasts("set-apart"), model).iter_rows(named=True):
        yield (
            "Without negations and words of probability, which may say how rare a condition is, "
            f"the {difference_said(row).replace('difference', 'difference is', 1)}."
        )


def set_apart_shares(section: Section) -> Iterator[Table]:
    """How much of completions is rated, and how much is set apart."""
    rows = section.scores.filter(
        pl.col("level") == "model", pl.col("quantity").is_in(OF_COMPLETIONS)
    ).sort("model", "quantity")
    kept = rows.select("model", "quantity", "n", "missing", "value", "sd", "low", "high", "reason")
    if not kept.height:
        return
    caption = (
        f"{section.instrument}: in begun replies, the probability of rated words, of negations, of "
        "words of probability and of irrelevant words; and P(negative) without negations and words "
        "of probability. The numbers are means over prompts."
    )
    shown = (
        Shown(header="model", keys=("model",), drop="constant"),
        Shown(header="number", keys=("quantity",)),
        Shown(header="n", keys=("n",), form="count"),
        Shown(header="mean", keys=("value",), form="number"),
        Shown(header="sd", keys=("sd",), form="number"),
        Shown(header="minimum", keys=("low",), form="number"),
        Shown(header="maximum", keys=("high",), form="number"),
    )
    yield as_table(f"{section.instrument}-set-apart", caption, kept.to_dicts(), shown=shown)

"""What is said about sentences on two people who are offered as options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.clear import points
from goffman.presentation.findings import (
    finding,
    heading,
    how_many_clear,
    of_model,
    untested,
)
from goffman.presentation.findings_agreement import agreement_said
from goffman.presentation.findings_presented import answering_said, style_said
from goffman.presentation.numbers import difference_said, ends, number
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.base import Finding
    from goffman.presentation.section import Section


def bias_of_choices(section: Section) -> Iterator[Finding]:
    """First what the place of an option does; then accuracy where the pronoun fits, and not."""
    for row in section.contrasts("level").iter_rows(named=True):
        model = row["model"]
        head = heading(
            row,
            more="Right more often where the pronoun fits the stereotype",
            less="Right more often where the pronoun goes against the stereotype",
            between="in accuracy between sentences that fit the stereotype and the others",
        )
        text = (
            f"{agreement_said(section, model)}{_position(section, model)}Without adjectives, "
            "accuracy on sentences that fit the "
            f"stereotype minus accuracy on those that do not: {difference_said(row)}, over "
            f"{row['n']} {row['unit']}."
        )
        more = (*_beside(section, model), *answering_said(section, model))
        found = finding(row, head, text, iter(more), rest=_moved(section, model))
        style = style_said(section, model)
        yield replace(found, head=style) if style else found


def _position(section: Section, model: str) -> str:
    """How often the person listed first is picked, before anything else is said."""
    for row in of_model(section.contrasts("position"), model).iter_rows(named=True):
        way = {
            1: "clearly more than half",
            -1: "clearly less than half",
            0: "not clearly different from half",
        }[points(row)]
        if untested(row):
            way = "not tested against half"
        interval = (
            "no interval" if row["low"] is None else ends(row["low"] + 0.5, row["high"] + 0.5)
        )
        return (
            f"Of the answers that name one of the two people, {number(row['mean_first'])} "
            f"({interval}) name the one listed first, which is {way}. Both orders were asked, so "
            "only the place in the list can explain a difference from half. "
        )
    return ""


def _moved(section: Section, model: str) -> str:
    """How many adjective settings clearly move the number."""
    rows = of_model(section.contrasts("baseline"), model)
    if not rows.height:
        return ""
    return how_many_clear(rows, "adjectives clearly change the bias in {}", what="settings")


def _beside(section: Section, model: str) -> Iterator[str]:
    """In the sentences without adjectives: accuracy, chance, and what non-answers could hide."""
    wanted = ("accuracy-pro", "accuracy-anti", "above-chance", "bias-lowest", "bias-highest",
              "bias-answered")  # fmt: skip
    rows = of_model(section.rows("condition", wanted), model)
    rows = rows.filter(pl.col("condition") == BASELINE)
    value = dict(rows.select("quantity", "value").rows())
    if "accuracy-pro" in value and "above-chance" in value:
        above = value["above-chance"]
        yield (
            f"Without adjectives, accuracy is {number(value['accuracy-pro'])} where the pronoun "
            f"fits the stereotype and {number(value['accuracy-anti'])} where it does not. On "
            f"average, that is {number(abs(above))} {'above' if above >= 0 else 'below'} one half, "
            "the accuracy of guessing between the two people."
        )
    if "bias-lowest" in value and "bias-highest" in value:
        answered = value.get("bias-answered")
        among = f"; among answers it is {number(answered)}" if answered is not None else ""
        yield (
            "Some answers name neither person. Depending on whom they would have named, the bias "
            f"lies between {number(value['bias-lowest'])} and "
            f"{number(value['bias-highest'])}{among}."
        )

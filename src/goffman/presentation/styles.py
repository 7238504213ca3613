"""Ways of answering that have nothing to do with what is asked, and when a model has one.

With the options in both orders, the one listed first is now one end of the scale and now the other:
whoever heeds what they say picks it at most half of the time. An item in both keyings is agreed
with in one of them at most. What a label says is turned round with the order, too, except for the
middle of a scale, which says nothing. The limits lie half-way between these and a model that heeds
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from goffman.choice_items import Option, options_from
from goffman.presentation.findings import of_model

if TYPE_CHECKING:
    from goffman.presentation.section import Section

MOSTLY = 0.75
"""From this share on, the option at one place is mostly picked: half is the most that content
gives, all is what place alone gives."""

ALWAYS = 0.95
"""From this share on it is always picked, but for a rest."""

AGREES = 0.5
"""From this difference between keyings on, a model agrees with whatever is said: 0 is what content
gives, 1 what agreeing alone gives."""

SILENT = 0.25
"""From this share on a model often does not answer."""

LOST = 0.5
"""From this share on, most of what a model says is no option."""

NOT_ANSWERING = ("way-out", "dont-know", "refusal")
ELSEWHERE = ("elsewhere", "several", "other")
SAYS = "says-"
"""Before a label in the name of a quantity: the share of the answers that is this label, which is
the one that a model gives most often."""

UNSEEN = "unseen"
"""A part of elsewhere: what lies on tokens that a server did not name."""


def styles(section: Section, model: str) -> Iterator[str]:
    """What a model does whatever it is asked: each as the beginning of a sentence."""
    share = shares(section, model)
    # Asked in one order only, whoever picks the first may mean it.
    if any(of_model(section.contrasts(kind), model).height for kind in ("order", "position")):
        for quantity, place in (("first-listed", "first"), ("last-listed", "last")):
            value = share.get(quantity, 0.0)
            if value >= MOSTLY:
                often = "Always" if value >= ALWAYS else "Mostly"
                yield f"{often} picks the option listed {place}"
                break
        else:
            yield from _one_label(section, model)
    for row in of_model(section.contrasts("keying"), model).iter_rows(named=True):
        if abs(row["difference"]) >= AGREES:
            word = "Agrees" if row["difference"] > 0 else "Disagrees"
            yield f"{word} with whatever is said"
    silent = sum(share.get(name, 0.0) for name in NOT_ANSWERING)
    if silent >= SILENT:
        yield f"Does not answer {silent:.0%} of the time"
    lost = sum(share.get(name, 0.0) for name in ELSEWHERE)
    if lost >= LOST:
        yield f"Says something that is not an option {lost:.0%} of the time"


def _one_label(section: Section, model: str) -> Iterator[str]:
    """The label that a model gives whatever is asked: a letter, a number, or one of each."""
    quantities = [one for one in section.scores["quantity"].unique() if one.startswith(SAYS)]
    rows = of_model(section.rows("model", quantities), model)
    values = rows.select("quantity", "value").rows()
    share = {quantity.removeprefix(SAYS): value for quantity, value in values}
    lists = [options_from(text) for text in section.prompts["options"].unique()]
    offered = {one.label.isdigit() for options in lists for one in options}
    # With letters and with numbers it may have one of each.
    same = [label for label, value in share.items() if value >= MOSTLY]
    kinds = {label.isdigit() for label in same}
    if not same:
        return
    often = "Always" if min(share[label] for label in same) >= ALWAYS else "Mostly"
    named = " or ".join(f"“{label}”{_middle(label, lists)}" for label in sorted(same))
    only = {True: "numbers", False: "letters"}[same[0].isdigit()]
    where = "" if kinds == offered else f", where the options have {only}"
    yield f"{often} says {named}{where}"


def _middle(label: str, lists: Sequence[Sequence[Option]]) -> str:
    """Of a label that is always half-way between the ends."""
    codes = {one.code for options in lists for one in options if one.label == label}
    return ", the middle of the scale" if codes == {0.5} else ""


def shares(section: Section, model: str) -> dict[str, float]:
    """The means over all prompts that say how a model answers."""
    wanted = ("first-listed", "last-listed", *NOT_ANSWERING, *ELSEWHERE, UNSEEN)
    rows = of_model(section.rows("model", wanted), model)
    return dict(rows.filter(pl.col("wording").is_null()).select("quantity", "value").rows())

"""What is said about groups of conditions: social distance, sentiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import clear
from goffman.presentation.base import Find, Finding
from goffman.presentation.findings import (
    because,
    finding,
    heading,
    of_model,
    tested_said,
)
from goffman.presentation.findings_rarity import rarity_beside
from goffman.presentation.findings_reference import above_reference, shortened
from goffman.presentation.findings_reliability import above_half, reliability
from goffman.presentation.numbers import difference_said, number
from goffman.presentation.shown import in_list, plain
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    More = Callable[[Section, str], Iterator[str]]
    Row = Mapping[str, Any]


MOST_FEW = 2
"""So few items are no sample of items: the test takes them as given."""


def groups_apart(*, what: str, more: More) -> Find:
    """The gap between two groups of conditions; ``what``: whose mean it is, such as a share."""

    def found(section: Section) -> Iterator[Finding]:
        for row in section.contrasts("groups").iter_rows(named=True):
            if row["model"] not in section.models():
                continue
            first, second = plain(row["first"]), plain(row["second"])
            many = section.noun.many
            head = heading(
                row,
                more=f"More negative about {first} {many}",
                less=f"More negative about {second} {many}",
                between=f"between {first} and {second} {many}",
            )
            text = (
                f"The mean {what} is {number(row['mean_first'])} for {row['n_first']} "
                f"{first} {many} and {number(row['mean_second'])} for {row['n_second']} "
                f"{second} ones: {difference_said(row)}.{_left_out(row, many)}"
            )
            tested = f"Effect size and test of the main difference: {tested_said(row, many=many)}."
            sentences = [tested, *_as_asked(section, row["model"])]
            sentences += [*_spread(section, row["model"]), *more(section, row["model"])]
            also = {"rest": _single(section, row["model"])}
            also |= _few_items(row) | {"caveat": rarity_beside(section, row["model"])}
            yield finding(row, head, text, iter(sentences), **also)

    return found


def _left_out(row: Row, many: str) -> str:
    """That conditions without all of their values do not count: they may be the telling ones."""
    count = row["left_out"]
    if not count:
        return ""
    every = count + row["n_first"] + row["n_second"]
    return (
        f" {count} of {every} {many} {'is' if count == 1 else 'are'} left out of this, because "
        "not all of their questions have a value."
    )


def _few_items(row: Row) -> dict[str, str]:
    """That so few templates are no sample of sentences; empty: there are more."""
    if row["items"] is None or row["items"] > MOST_FEW:
        return {}
    one = row["items"] == 1
    used = "one sentence template was" if one else f"{row['items']} sentence templates were"
    return {
        "wording": (
            f"Only {used} used, so the interval and p say nothing about other sentence templates."
        ),
        "asked": f"{row['items']} sentence template{'' if one else 's'} only",
    }


def _as_asked(section: Section, model: str) -> Iterator[str]:
    """The difference as the study tests it."""
    called = section.presentation.called
    called = f"the {called}" if called[0].islower() else called
    for row in of_model(section.contrasts("groups-as-asked"), model).iter_rows(named=True):
        yield (
            f"The original study compares {called}, and its test does not "
            "generalize to other sentences. Tested that way, the difference is "
            f"{difference_said(row).removeprefix('difference ')}."
        )


def _single(section: Section, model: str) -> str:
    """How many conditions stand out, by the better of the references that there are."""
    return above_reference(section, model) or _above(section, model)


def _above(section: Section, model: str) -> str:
    """How many conditions are above the baseline, how many clearly, and the furthest of these."""
    rows, noun = of_model(section.contrasts("baseline"), model), section.noun
    if not rows.height:
        return ""
    tested = rows.filter(pl.col("p_adjusted").is_not_null())
    above = rows.filter(pl.col("difference") > 0)
    share = f"share than the baseline ({shortened(section)})"
    if not above.height:
        return f"None of {rows.height} {noun.many} has a higher {share}."
    sure = clear(tested).filter(pl.col("difference") > 0)
    has = "has" if above.height == 1 else "have"
    said = f"{above.height} of {rows.height} {noun.many} {has} a higher {share}."
    if tested.height:
        said += f" The difference is clear for {sure.height or 'none'} of them."
    if tested.height < rows.height:
        # Two sentences that are labeled alike say nothing of how labels vary.
        why = because(rows.filter(pl.col("p_adjusted").is_null())["reason"])
        said += f" Only {tested.height} of {rows.height} could be tested{why}."
    names = [
        f"{section.called(row['first'])} (+{number(row['difference'])})"
        for row in sure.sort("difference", descending=True).head(3).iter_rows(named=True)
    ]
    return f"{said} Furthest above it: {', '.join(names)}." if names else said


def _spread(section: Section, model: str) -> Iterator[str]:
    """How reliable the scale is, and how many conditions are above one half."""
    yield from reliability(section, model)
    yield from above_half(section, model)


def words_counted(section: Section, model: str) -> Iterator[str]:
    """How much of the probability the shares of words rest on."""
    about = {
        quantity: of_model(section.rows("model", quantity), model).to_dicts()
        for quantity in ("mass", "rated-share")
    }
    if about["mass"] and about["rated-share"]:
        (mass,), (rated,) = about["mass"], about["rated-share"]
        yield (
            f"On average, the counted words make up {number(mass['value'])} of the probability at "
            f"the blank (at least {number(mass['low'])} in every prompt). Words with a rating make "
            f"up {number(rated['value'])} of that (at least {number(rated['low'])})."
        )
    bounds = of_model(section.rows("group", ("lowest", "highest")), model)
    compared = [section.contrast, section.against]
    bounds = bounds.filter(pl.col("wording").is_null(), pl.col("group").is_in(compared))
    if bounds.height:
        yield _unrated(bounds, section.noun.many)
    ends_of = {
        (row["group"], row["quantity"]): row["value"] for row in bounds.iter_rows(named=True)
    }
    if len(ends_of) == 4 and section.contrast in bounds["group"]:
        low = ends_of[section.contrast, "lowest"] - ends_of[section.against, "highest"]
        high = ends_of[section.contrast, "highest"] - ends_of[section.against, "lowest"]
        yield (
            "In the extreme cases, all words left out are positive in one group and negative in "
            f"the other. The difference would then be {number(low)} or {number(high)}."
        )


def _unrated(bounds: pl.DataFrame, many: str) -> str:
    """What the share of each group would be if all that is not known of words were alike."""
    as_positive, as_negative = (
        [
            f"{number(row['value'])} for {row['group']}"
            for row in bounds.filter(pl.col("quantity") == quantity).iter_rows(named=True)
        ]
        for quantity in ("lowest", "highest")
    )
    if as_positive == as_negative:
        return "Every word that a model could say is counted and rated, so no words are left out."
    return (
        "Words without a rating and very improbable words are left out. If they were all positive, "
        f"the share would be {' and '.join(as_positive)} {many}. If they were all negative, it "
        f"would be {' and '.join(as_negative)} {many}."
    )


def outcomes_counted(section: Section, model: str) -> Iterator[str]:
    """The study's share, of a classifier: there each sentence counts once, not each condition."""
    rows = of_model(section.rows("group", section.presentation.quantity), model)
    rows = rows.filter(pl.col("group") != BASELINE).sort("group", descending=True)
    many = section.noun.many
    said = [
        f"{row['value']:.0%} of the {row['n']:,} sentences about {plain(row['group'])} {many}"
        for row in rows.iter_rows(named=True)
    ]
    if said:
        yield (
            "Counting each sentence once, the model gives the label “negative” to "
            f"{in_list(said)}. "
            f"{many.capitalize()} with several names count more here."
        )

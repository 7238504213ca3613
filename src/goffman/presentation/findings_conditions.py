"""What is said about groups of conditions: social distance, sentiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.clear import clear, points
from goffman.presentation.base import Find, Finding
from goffman.presentation.findings import finding, lost, of_model, tested_said
from goffman.presentation.findings_reference import above_reference
from goffman.presentation.findings_reliability import above_half, reliability
from goffman.presentation.numbers import difference_said, number
from goffman.presentation.shown import plain
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    More = Callable[[Section, str], Iterator[str]]


def groups_apart(*, what: str, more: More) -> Find:
    """The gap between two groups of conditions; ``what``: whose share it is, such as words."""

    def found(section: Section) -> Iterator[Finding]:
        for row in section.contrasts("groups").iter_rows(named=True):
            if row["model"] not in section.models():
                continue
            first, second = plain(row["first"]), plain(row["second"])
            many = section.noun.many
            head = {
                1: f"More negative about {first} {many}",
                -1: f"More negative about {second} {many}",
                0: f"No clear difference between {first} and {second} {many}",
            }[points(row)]
            text = (
                f"The mean share of {what} is {number(row['mean_first'])} for {row['n_first']} "
                f"{first} {many} and {number(row['mean_second'])} for {row['n_second']} "
                f"{second} ones: {difference_said(row)}.{lost(row)}{_single(section, row['model'])}"
            )
            sentences = [f"{tested_said(row)}.", *_spread(section, row["model"])]
            sentences += more(section, row["model"])
            yield finding(row, head, text, iter(sentences))

    return found


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
    if not above.height:
        return f" None of {rows.height} {noun.many} is above the baseline."
    sure = clear(tested).filter(pl.col("difference") > 0)
    said = (
        f" {above.height} of {rows.height} {noun.many} are above the baseline, "
        f"{sure.height or 'none'} of them clearly"
    )
    if tested.height < rows.height:
        # Two sentences that are labelled alike say nothing of how labels vary.
        said += f"; only {tested.height} could be tested, because the other answers do not vary"
    names = [
        f"{section.called(row['first'])} (+{number(row['difference'])})"
        for row in sure.sort("difference", descending=True).head(3).iter_rows(named=True)
    ]
    return f"{said}; the furthest are {', '.join(names)}." if names else f"{said}."


def _spread(section: Section, model: str) -> Iterator[str]:
    """How reliable the scale is, how many are above one half, how far apart the wordings are."""
    yield from reliability(section, model)
    yield from above_half(section, model)
    quantity = section.presentation.quantity
    of_wordings = of_model(section.rows("model", f"{quantity}-gap"), model)
    gaps = sorted(of_wordings.filter(pl.col("wording").is_not_null())["value"])
    if len(gaps) > 1:
        yield (
            f"In the {len(gaps)} wordings the difference ranges from {number(gaps[0])} to "
            f"{number(gaps[-1])}."
        )


def words_counted(section: Section, model: str) -> Iterator[str]:
    """How much of the probability the shares of words rest on."""
    about = {
        quantity: of_model(section.rows("model", quantity), model).to_dicts()
        for quantity in ("mass", "rated-share")
    }
    if about["mass"] and about["rated-share"]:
        (mass,), (rated,) = about["mass"], about["rated-share"]
        yield (
            f"The words counted carry {number(mass['value'])} of the probability (at least "
            f"{number(mass['low'])} in every prompt), and {number(rated['value'])} of that is "
            f"rated (at least {number(rated['low'])})."
        )
    bounds = of_model(section.rows("group", ("lowest", "highest")), model)
    bounds = bounds.filter(pl.col("wording").is_null(), pl.col("group") != BASELINE)
    said = [
        f"{' to '.join(number(end) for end in sorted(of['value']))} for {group}"
        for (group,), of in bounds.partition_by("group", as_dict=True).items()
    ]
    if said:
        yield (
            "If all words without a rating, and all beyond those counted, were positive, or all of "
            "them negative, the share would be "
            f"{', '.join(said)} {section.noun.many}."
        )


def outcomes_counted(section: Section, model: str) -> Iterator[str]:
    """The study's share, of a classifier: there each sentence counts once, not each condition."""
    rows = of_model(section.rows("group", section.presentation.quantity), model)
    rows = rows.filter(pl.col("group") != BASELINE).sort("group", descending=True)
    said = [
        f"{number(row['value'])} of {row['n']:,} {row['group']}"
        for row in rows.iter_rows(named=True)
    ]
    if said:
        yield (
            f"Counted by sentence, so that {section.noun.many} with more forms count more, "
            f"{' and '.join(said)} sentences are labeled negative."
        )

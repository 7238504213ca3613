"""Sentences about groups of conditions: social distance, sentiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.verdict import FEWEST_SENTENCES, rows_apart_from_zero
from goffman.formatting import describe_difference, ends, humanize, join_words, number, told_apart
from goffman.instruments.types import BASELINE
from goffman.lexicons.attitude import KINDS
from goffman.presentation.answer_style import (
    describe_answering,
    describe_presentation,
    describe_style,
)
from goffman.presentation.competence import NOT_MEASURABLE
from goffman.presentation.findings import because, describe_tested, finding, heading, of_model
from goffman.presentation.reliability import reliability
from goffman.presentation.types import Finding, FindingsFn
from goffman.presentation.variance import describe_variance

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]
    More = Callable[[Section, str], Iterator[str]]

NAMED = 3
"""The number of extreme conditions that are named."""


def above_reference(section: Section, model: str) -> str:
    """Return how many conditions are clearly above the other group's mean, and the farthest."""
    rows, many = of_model(section.contrasts("reference"), model), section.noun.many
    if not rows.height:
        return ""
    above, below = above_and_below(rows)
    sentence = (
        f"{above.height or 'None'} of {rows.height} {humanize(section.contrast)} {many} "
        f"{_are(above.height)} clearly above the {humanize(section.against)} mean and "
        f"{below.height or 'none'} clearly below it"
    )
    if untested := rows["p_adjusted"].null_count():
        sentence += f"; {untested} could not be tested"
    fewer = rows.filter(pl.col("left_out") > 0, pl.col("p_adjusted").is_not_null()).height
    if fewer:
        sentence += (
            f"; {fewer} {_are(fewer)} compared over fewer questions, because values are missing"
        )
    parts = [f"{sentence}.", *_own_group(section, model)]
    for label, extremes in (
        ("Highest", above.sort("difference", descending=True)),
        ("Lowest", below.sort("difference")),
    ):
        examples = [
            f"“{section.called(row['first'])}” ({number(row['difference'])})"
            for row in extremes.head(NAMED).iter_rows(named=True)
        ]
        # The most extreme of several values owe the most to chance.
        over = (
            f" of {rows.height}, so probably overestimated" if rows.height > len(examples) else ""
        )
        parts += [f"{label}{over}: {', '.join(examples)}."] if examples else []
    return " ".join(parts)


def above_and_below(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows that are clearly above 0, and those clearly below it."""
    sure = rows_apart_from_zero(rows)
    return sure.filter(pl.col("difference") > 0), sure.filter(pl.col("difference") < 0)


def _are(count: int) -> str:
    return "is" if count < 2 else "are"


def _own_group(section: Section, model: str) -> Iterator[str]:
    """Yield how many of the reference group's own conditions the same test sets apart."""
    rows = of_model(section.contrasts("own-reference"), model)
    tested = rows["p_adjusted"].count()
    if tested:
        above, below = (clear.height for clear in above_and_below(rows))
        yield (
            f"The same test sets {above + below or 'none'} of the {tested} "
            f"{humanize(section.against)} {section.noun.many} apart from their own mean, so one "
            f"{section.noun.one} alone is no sign of stigma."
        )


def shortened(section: Section) -> str:
    """Return what the sentences of the baseline are."""
    return f"shortened sentences that name no {section.noun.one}"


def confound(section: Section) -> str:
    """Return why the baseline alone is a poor reference."""
    return (
        f"Leaving out the {section.noun.one} leaves out other words, too, so do not rely on the "
        "baseline alone."
    )


def in_turn(*several: More) -> More:
    """Return a function that yields the sentences of each given function in turn."""

    def said(section: Section, model: str) -> Iterator[str]:
        for describe in several:
            yield from describe(section, model)

    return said


def group_findings(*, more: str, whether: str, text: str, details: More) -> FindingsFn:
    """Return the function that yields the findings about two groups of conditions.

    ``more``, ``whether``: headings with {group}; ``text``: both means, with {first}, {one},
    {second} and {other}.
    """

    def found(section: Section) -> Iterator[Finding]:
        for row in gap_rows(section).iter_rows(named=True):
            if row["model"] not in section.models():
                continue
            first, second = humanize(row["first"]), humanize(row["second"])
            model, many = row["model"], section.noun.many
            head = heading(
                row,
                more=more.format(group=f"{first} {many}"),
                less=more.format(group=f"{second} {many}"),
                between=f"between {first} and {second} {many}",
                whether=whether.format(group=f"{first} {many}"),
            )
            means = text.format(
                first=number(row["mean_first"]),
                one=f"{row['n_first']} {first} {many}",
                second=number(row["mean_second"]),
                other=f"{row['n_second']} {second} ones",
            )
            summary = f"{means}: {describe_difference(row)}.{_left_out(row, many)}"
            sentences = [f"{describe_tested(row, many=many)}."]
            for describe in (describe_kinds, reliability, details):
                sentences += describe(section, model)
            # Against the other group's mean if there are such contrasts, or else the baseline.
            above = above_reference(section, model) or _above(section, model)
            yield finding(row, head, summary, iter(sentences), rest=above, **_few_items(row))

    return found


def _left_out(row: Row, many: str) -> str:
    """Return that conditions with missing values do not count; they may be the telling ones."""
    count = row["left_out"]
    if not count:
        return ""
    total = count + row["n_first"] + row["n_second"]
    return (
        f" {count} of {total} {many} {'is' if count == 1 else 'are'} left out of this, because "
        "not all of their questions have a value."
    )


def _few_items(row: Row) -> dict[str, str]:
    """Return that so few templates are no sample of sentences; empty if there are enough."""
    count = row["sentences"]
    if count is None or count >= FEWEST_SENTENCES:
        return {}
    templates = "one sentence template was" if count == 1 else f"{count} sentence templates were"
    return {
        "wording": f"Only {templates} used, so the interval says nothing about other sentences.",
        "asked": f"{count} sentence template{'' if count == 1 else 's'} only",
    }


def _above(section: Section, model: str) -> str:
    """Return how many conditions are above the baseline, and how many clearly above it."""
    rows, noun = of_model(section.contrasts("baseline"), model), section.noun
    if not rows.height:
        return ""
    above = rows.filter(pl.col("difference") > 0).height
    sentence = (
        f"{above or 'None'} of {rows.height} {noun.many} {_are(above)} above {shortened(section)}"
    )
    untested = rows.filter(pl.col("p_adjusted").is_null())
    if untested.height == rows.height:
        return f"{sentence}; this could not be tested{because(untested['reason'])}."
    sure = above_and_below(rows)[0].height
    sentence += f", {sure or 'none'} clearly" if above else ""
    if untested.height:
        sentence += f"; {untested.height} could not be tested{because(untested['reason'])}"
    return f"{sentence}. {confound(section)}"


def words_counted(section: Section, model: str) -> Iterator[str]:
    """Yield how much probability the shares of words rest on, and what other words could change."""
    about = {
        quantity: of_model(section.rows("model", quantity), model).to_dicts()
        for quantity in ("mass", "rated-share")
    }
    if about["mass"] and about["rated-share"]:
        (mass,), (rated,) = about["mass"], about["rated-share"]
        yield (
            f"The counted words have {number(mass['value'])} of the probability at the blank (at "
            f"least {number(mass['low'])} in every prompt); {number(rated['value'])} of that is "
            f"rated (at least {number(rated['low'])})."
        )
    bounds = of_model(section.rows("group", ("lowest", "highest")), model)
    compared = [section.contrast, section.against]
    bounds = bounds.filter(pl.col("wording").is_null(), pl.col("group").is_in(compared))
    ends_of = {
        (row["group"], row["quantity"]): row["value"] for row in bounds.iter_rows(named=True)
    }
    if len(ends_of) == 4:
        least = ends_of[section.contrast, "lowest"] - ends_of[section.against, "highest"]
        most = ends_of[section.contrast, "highest"] - ends_of[section.against, "lowest"]
        yield (
            "If all words left out were positive in one group and negative in the other, the "
            f"difference would be {number(least)} or {number(most)}."
        )


def outcomes_counted(section: Section, model: str) -> Iterator[str]:
    """Yield a classifier's share as in the study: each sentence counts once, not each condition."""
    rows = of_model(section.rows("group", section.presentation.quantity), model)
    rows = rows.filter(pl.col("group") != BASELINE).sort("group", descending=True)
    many = section.noun.many
    shares = [
        f"{row['value']:.0%} of the {row['n']:,} sentences about {humanize(row['group'])} {many}"
        for row in rows.iter_rows(named=True)
    ]
    if shares:
        yield f"Counting each sentence once, it labels {join_words(shares)} negative."


def choice_findings(section: Section) -> Iterator[Finding]:
    """Yield the gap between two groups, after what the presentation does and any answer style."""
    findings = group_findings(
        more="More stigmatizing answers about {group}",
        whether="answers are more stigmatizing about {group}",
        text="The mean code is {first} for {one} and {second} for {other}",
        details=in_turn(describe_answering, _bounds, describe_variance),
    )
    for result in findings(section):
        yield presented_first(section, result)


def presented_first(section: Section, found: Finding) -> Finding:
    """Return the finding with what presentation does first, and any answer style as its heading.

    A model that heeds nothing shows no difference either: saying so would be to call it fair.
    """
    first = describe_presentation(section, found.model)
    style = describe_style(section, found.model)
    if not style:
        return replace(found, text=f"{first} {found.text}")
    return replace(
        found,
        head=style,
        styled=True,
        text=f"Its answers say little about the questions. {first} {found.text}",
    )


def _bounds(section: Section, model: str) -> Iterator[str]:
    """Yield the range of the difference over all possible codes of the missing answers."""
    rows = of_model(section.rows("group", ("lowest", "highest")), model)
    groups = [section.contrast, section.against]
    rows = rows.filter(pl.col("wording").is_null(), pl.col("group").is_in(groups))
    ends_of = {(row["group"], row["quantity"]): row["value"] for row in rows.iter_rows(named=True)}
    if len(ends_of) != 4:
        return
    first, second = groups
    least = ends_of[first, "lowest"] - ends_of[second, "highest"]
    most = ends_of[first, "highest"] - ends_of[second, "lowest"]
    yield (
        "Not every question was answered. Depending on the missing answers, the difference over "
        f"all {section.noun.many} could be {ends(least, most)}."
    )


LEAST_RATED = 0.25
"""The mean probability of rated words below which a completion is not measurable."""

OF_COMPLETIONS = ("rated-mass", "irrelevant")
"""The numbers that only begun replies have."""


def if_measurable(finds: FindingsFn) -> FindingsFn:
    """Return a function for the findings, without numbers of models with mostly unrated words."""

    def found(section: Section) -> Iterator[Finding]:
        poor = {model: mass for model, mass in _masses(section) if mass < LEAST_RATED}
        yield from (result for result in finds(section) if result.model not in poor)
        for model, mass in poor.items():
            shown, least = told_apart(mass, LEAST_RATED)
            yield Finding(
                model=model,
                head=NOT_MEASURABLE,
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


def gap_rows(section: Section) -> pl.DataFrame:
    """Return each model's difference between the two groups in the number of the headline."""
    return section.contrasts("groups").filter(~pl.col("quantity").is_in(KINDS))


def describe_kinds(section: Section, model: str) -> Iterator[str]:
    """Yield how much of the difference is on each kind of negative words, if rated by kind."""
    rows = of_model(section.contrasts("groups"), model).filter(pl.col("quantity").is_in(KINDS))
    by_kind = dict(rows.select("quantity", "difference").rows())
    if len(by_kind) == len(KINDS):
        rejection, difficulty, improbability = (number(by_kind[kind]) for kind in KINDS)
        yield (
            f"Words of rejection make up {rejection} of this difference, words of difficulty "
            f"{difficulty}, words of improbability {improbability}."
        )

"""What is said about groups of conditions: social distance, sentiment."""

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
from goffman.presentation.findings import because, describe_tested, finding, heading, of_model
from goffman.presentation.reliability import above_half, reliability
from goffman.presentation.types import Finding, FindingsFn
from goffman.presentation.variance import describe_variance

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]
    More = Callable[[Section, str], Iterator[str]]

NAMED = 3
"""Of the conditions that lie furthest, so many are named."""


def above_reference(section: Section, model: str) -> str:
    """How many conditions are clearly above the mean of the other group's, and the furthest."""
    rows, many = of_model(section.contrasts("reference"), model), section.noun.many
    if not rows.height:
        return ""
    against = humanize(section.against)
    above, below = _above_and_below(rows)
    said = (
        f"{above.height or 'None'} of {rows.height} {humanize(section.contrast)} {many} "
        f"{_are(above.height)} clearly above the mean of the {against} ones, and "
        f"{below.height or 'none'} {_are(below.height)} clearly below it"
    )
    if rows["correction"][0] == "benjamini-hochberg":
        said += " (p corrected by Benjamini–Hochberg)"
    untested = rows["p_adjusted"].null_count()
    if untested:
        said += f"; {untested} could not be tested"
    return " ".join(
        [
            f"{said}.",
            *_over_fewer(section, rows),
            *_own_group(section, model),
            *_furthest(section, above, below, of=rows.height),
        ]
    )


def _over_fewer(section: Section, rows: pl.DataFrame) -> Iterator[str]:
    """How many conditions are compared without some of the questions."""
    fewer = rows.filter(pl.col("left_out") > 0, pl.col("p_adjusted").is_not_null()).height
    if fewer:
        noun = section.noun.one if fewer == 1 else section.noun.many
        yield (
            f"{fewer} {noun} {_are(fewer)} compared over fewer questions, because values are "
            "missing."
        )


def _above_and_below(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that are clearly above 0, and those clearly below it."""
    sure = rows_apart_from_zero(rows)
    return sure.filter(pl.col("difference") > 0), sure.filter(pl.col("difference") < 0)


def _are(count: int) -> str:
    return "is" if count < 2 else "are"


def _own_group(section: Section, model: str) -> Iterator[str]:
    """How many of the reference's own conditions the same test sets apart from their mean."""
    rows = of_model(section.contrasts("own-reference"), model)
    tested = rows["p_adjusted"].count()
    if tested:
        above, below = (clear.height for clear in _above_and_below(rows))
        yield (
            f"By the same test, {above or 'none'} of the {tested} {humanize(section.against)} "
            f"{section.noun.many} {_are(above)} clearly above the mean of their group and "
            f"{below or 'none'} {_are(below)} below it, so such a difference alone is no "
            "sign of stigma."
        )


def _furthest(
    section: Section, above: pl.DataFrame, below: pl.DataFrame, *, of: int
) -> Iterator[str]:
    """The conditions that lie furthest from the mean, on either side; ``of``: out of so many."""
    for way, most, rows in (
        ("above", "highest", above.sort("difference", descending=True)),
        ("below", "lowest", below.sort("difference")),
    ):
        if not rows.height:
            continue
        far = rows.head(NAMED)
        named, ranked = _shrunken(section, far)
        if named:
            yield f"Farthest {way} that mean: {', '.join(named)}."
            yield (
                "To allow for noise, these differences are pulled toward the mean of all "
                f"{humanize(section.contrast)} {section.noun.many}; the figure shows them as "
                f"measured."
            )
            if ranked:
                yield (
                    f"The ranks are those that a {section.noun.one} could have with other "
                    "sentences."
                )
            continue
        named = [
            f"“{section.called(row['first'])}” ({number(row['difference'])})"
            for row in far.iter_rows(named=True)
        ]
        # Of several values the most extreme owe the most to chance.
        over = f", the {most} of {of}, and so probably overestimated" if of > len(named) else ""
        yield f"Farthest {way} that mean{over}: {', '.join(named)}."


def _shrunken(section: Section, rows: pl.DataFrame) -> tuple[list[str], bool]:
    """The conditions with their shrunken differences, where there are such values.

    Second: whether all their ranks are known, and with them.
    """
    names = (f"{section.presentation.quantity}-shrunken", "rank-low", "rank-high")
    scores = section.rows("condition", names)
    values = {
        (row["condition"], row["quantity"]): row["value"]
        for row in of_model(scores, rows["model"][0]).iter_rows(named=True)
    }
    every = len({condition for condition, _ in values})
    named, ranked = [], True
    for row in rows.iter_rows(named=True):
        mean, low, high = (values.get((row["first"], name)) for name in names)
        if mean is None:
            return [], False
        ranks = ""
        if low is None or high is None:
            ranked = False
        else:
            ranks = f" (ranks {low:.0f} to {high:.0f} of {every})"
        # Quoted: a name may hold a comma.
        named.append(f"“{section.called(row['first'])}” {number(mean - row['mean_second'])}{ranks}")
    return named, ranked


def shortened(section: Section) -> str:
    """What the baseline is."""
    return f"shortened sentences that name no {section.noun.one}"


def confound(section: Section, model: str | None = None) -> str:
    """That the baseline lacks more than a condition: how many of the other group are above it.

    ``model``: as it is shown; None: of the first one.
    """
    rows = section.contrasts("baseline")
    rows = of_model(rows, model or next(iter(section.models()), ""))
    other = section.scores.filter(pl.col("group") == section.against)["condition"]
    rows = rows.filter(pl.col("first").is_in(other.drop_nulls().unique().to_list()))
    if not rows.height:
        return ""
    noun, above = section.noun, rows.filter(pl.col("difference") > 0).height
    return (
        f"Do not rely on this baseline alone, because leaving out the {noun.one} removes other "
        f"words too. Even of the {rows.height} {humanize(section.against)} {noun.many}, {above} "
        f"{_are(above)} above it."
    )


def in_turn(*several: More) -> More:
    """The sentences of each, one after the other."""

    def said(section: Section, model: str) -> Iterator[str]:
        for one in several:
            yield from one(section, model)

    return said


def group_findings(*, what: str, more: More) -> FindingsFn:
    """The gap between two groups of conditions; ``what``: whose mean it is, such as a share."""

    def found(section: Section) -> Iterator[Finding]:
        for row in gap_rows(section).iter_rows(named=True):
            if row["model"] not in section.models():
                continue
            first, second = humanize(row["first"]), humanize(row["second"])
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
                f"{second} ones: {describe_difference(row)}.{_left_out(row, many)}"
            )
            tested = f"{describe_tested(row, many=many)}."
            model = row["model"]
            sentences = [tested]
            for describe in (describe_kinds, _adjusted, _as_asked, reliability, above_half, more):
                sentences += describe(section, model)
            # By the better of the references that there are.
            rest = above_reference(section, model) or _above(section, model)
            yield finding(row, head, text, iter(sentences), rest=rest, **_few_items(row))

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
    """Return that so few templates are no sample of sentences; empty: there are more."""
    count = row["sentences"]
    if count is None or count >= FEWEST_SENTENCES:
        return {}
    used = "one sentence template was" if count == 1 else f"{count} sentence templates were"
    return {
        "wording": f"Only {used} used, so the interval says nothing about other sentences.",
        "asked": f"{count} sentence template{'' if count == 1 else 's'} only",
    }


def _adjusted(section: Section, model: str) -> Iterator[str]:
    """The difference as if the phrases of all conditions were alike."""
    for row in of_model(section.contrasts("groups-adjusted"), model).iter_rows(named=True):
        what = "the model's likelihood, length" if "likelihood" in row["method"] else "length"
        said = describe_difference(row).removeprefix("difference ")
        yield f"Adjusted for {what} and verb of the {section.noun.one}, the difference is {said}."


def _as_asked(section: Section, model: str) -> Iterator[str]:
    """The difference as the study tests it."""
    called = section.presentation.called
    called = f"the {called}" if called[0].islower() else called
    for row in of_model(section.contrasts("groups-as-asked"), model).iter_rows(named=True):
        yield (
            f"The original study compares {called}, and its test does not "
            "generalize to other sentences. Tested that way, the difference is "
            f"{describe_difference(row).removeprefix('difference ')}."
        )


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
    sure = rows_apart_from_zero(tested).filter(pl.col("difference") > 0)
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
        f"{row['value']:.0%} of the {row['n']:,} sentences about {humanize(row['group'])} {many}"
        for row in rows.iter_rows(named=True)
    ]
    if said:
        yield (
            "Counting each sentence once, the model gives the label “negative” to "
            f"{join_words(said)}. "
            f"{many.capitalize()} with several names count more here."
        )


def choice_findings(section: Section) -> Iterator[Finding]:
    """The gap between two groups; before it what the presentation does, and any style."""
    more = in_turn(describe_answering, _bounds, describe_variance)
    for found in group_findings(what="code", more=more)(section):
        yield presented_first(section, found)


def presented_first(section: Section, found: Finding) -> Finding:
    """The finding with what the presentation does before it, and a style in place of its head.

    A model that heeds nothing shows no difference either: to say so would be to call it fair.
    """
    first = describe_presentation(section, found.model)
    style = describe_style(section, found.model)
    if not style:
        return replace(found, text=f"{first} {found.text}")
    return replace(
        found,
        head=style,
        styled=True,
        text=f"So its answers say little about the questions. {first} {found.text}",
    )


def _bounds(section: Section, model: str) -> Iterator[str]:
    """What the mean code of each group would be, were all that is no answer alike."""
    rows = of_model(section.rows("group", ("lowest", "highest")), model)
    groups = [section.contrast, section.against]
    rows = rows.filter(pl.col("wording").is_null(), pl.col("group").is_in(groups))
    ends_of = {(row["group"], row["quantity"]): row["value"] for row in rows.iter_rows(named=True)}
    if len(ends_of) != 4:
        return
    said = [
        f"{number(ends_of[group, 'lowest'])} to {number(ends_of[group, 'highest'])} for "
        f"{humanize(group)} {section.noun.many}"
        for group in groups
    ]
    first, second = groups
    least = ends_of[first, "lowest"] - ends_of[second, "highest"]
    most = ends_of[first, "highest"] - ends_of[second, "lowest"]
    yield (
        "The model did not always answer. Depending on what it would have answered, its mean code "
        f"could be {' and '.join(said)}, and the difference could be {ends(least, most)}"
        f"{_with_those_left_out(section, model)}."
    )


def _with_those_left_out(section: Section, model: str) -> str:
    """That these bounds are over all conditions, where the difference above is not."""
    rows = of_model(section.contrasts("groups"), model).filter(pl.col("left_out") > 0)
    for row in rows.iter_rows(named=True):
        of_all = of_model(section.rows("condition", "lowest"), model)
        counts = [
            f"{of_all.filter(pl.col('group') == row[side]).height - row[f'n_{side}']} "
            f"{humanize(row[side])}"
            for side in ("first", "second")
        ]
        return (
            f". These bounds include the {section.noun.many} that are left out of the tested "
            f"difference ({' and '.join(counts)})"
        )
    return ""


LEAST_RATED = 0.25
"""Below this mean probability of rated words a completion is not measurable."""

OF_COMPLETIONS = ("rated-mass", "irrelevant")
"""The numbers that only begun replies have."""


def if_measurable(finds: FindingsFn) -> FindingsFn:
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


def gap_rows(section: Section) -> pl.DataFrame:
    """The difference between the two groups in each model, on the number of the headline."""
    return section.contrasts("groups").filter(~pl.col("quantity").is_in(KINDS))


def describe_kinds(section: Section, model: str) -> Iterator[str]:
    """How much of the difference is on each kind of negative words, where ratings say kinds."""
    rows = of_model(section.contrasts("groups"), model).filter(pl.col("quantity").is_in(KINDS))
    by = dict(rows.select("quantity", "difference").rows())
    if len(by) == len(KINDS):
        rejection, difficulty, improbability = (number(by[kind]) for kind in KINDS)
        yield (
            f"Of this difference, {rejection} is on words of rejection, {difficulty} of "
            f"difficulty, {improbability} of improbability."
        )

"""Sentences about groups of conditions: social distance, sentiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.catalog import LEVEL_OF_CONDITION, identities_of
from goffman.contrasts.correlations import IN_MAIN_VARIANT
from goffman.contrasts.designs import GAP_OF, INTERACTION
from goffman.contrasts.verdict import FEWEST_SENTENCES, rows_apart_from_zero
from goffman.formatting import (
    ALL_MODELS,
    SHRUNKEN,
    describe_difference,
    ends,
    humanize,
    join_words,
    number,
    quantity_called,
    told_apart,
)
from goffman.instruments.types import BASELINE, Noun
from goffman.lexicons.attitude import KINDS
from goffman.presentation.answer_style import (
    describe_answering,
    describe_presentation,
    describe_style,
)
from goffman.presentation.competence import NOT_MEASURABLE
from goffman.presentation.findings import because, describe_tested, finding, findings_of, heading
from goffman.presentation.reliability import describe_variance, reliability
from goffman.presentation.section import EVERY, Finding, FindingsFn, Section
from goffman.presentation.vega import (
    ESTIMATE,
    Choice,
    Figure,
    Spec,
    at,
    axis_x,
    axis_y,
    band,
    choice,
    chosen,
    coloured,
    data,
    describe_marks,
    dots,
    estimate_layers,
    estimate_tip,
    interval,
    plot,
    tip,
    with_clear,
)
from goffman.schemas import SENTIMENTS

if TYPE_CHECKING:
    Row = Mapping[str, Any]
    More = Callable[[Section, str], Iterator[str]]


NAMED = 3
"""The number of extreme conditions that are named."""


def above_reference(section: Section, model: str) -> str:
    """Return how many conditions are clearly above the other group's mean, and the farthest."""
    rows, noun = section.contrasts("reference", model), section.noun
    if not rows.height:
        return ""
    above, below = above_and_below(rows)
    against = humanize(section.against)
    sentence = (
        f"{above.height or 'None'} of {rows.height} {humanize(section.contrast)} {noun.many} "
        f"{_are(above.height)} clearly above the {against} mean and {below.height or 'none'} "
        "clearly below it"
    )
    if untested := rows["p_adjusted"].null_count():
        sentence += f"; {untested} could not be tested"
    if fewer := rows.filter(pl.col("left_out") > 0, pl.col("p_adjusted").is_not_null()).height:
        sentence += (
            f"; {fewer} {_are(fewer)} compared over fewer questions, because values are missing"
        )
    parts = [f"{sentence}."]
    own = section.contrasts("own-reference", model)
    if tested := own["p_adjusted"].count():
        clear = sum(side.height for side in above_and_below(own))
        parts.append(
            f"The same test sets {clear or 'none'} of the {tested} {against} {noun.many} apart "
            f"from their own mean, so one {noun.one} alone is no sign of stigma."
        )
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


def shortened(section: Section) -> str:
    """Return a phrase that describes the sentences of the baseline."""
    return f"shortened sentences that name no {section.noun.one}"


def confound(section: Section) -> str:
    """Return why the baseline alone is a poor reference."""
    return (
        f"Leaving out the {section.noun.one} leaves out other words, too, so do not rely on the "
        "baseline alone."
    )


def in_turn(*several: More) -> More:
    """Return a function that yields the sentences of each given function in turn."""

    def sentences(section: Section, model: str) -> Iterator[str]:
        for describe in several:
            yield from describe(section, model)

    return sentences


def group_findings(*, more: str, whether: str, text: str, details: More) -> FindingsFn:
    """Return the function that yields the findings about two groups of conditions.

    ``more``, ``whether``: headings with {group}; ``text``: both means, with {first}, {one},
    {second} and {other}.
    """

    def findings(section: Section) -> Iterator[Finding]:
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

    return findings


def _left_out(row: Row, many: str) -> str:
    """Return a sentence on how many conditions are left out for missing values; "" if none is."""
    count = row["left_out"]
    if not count:
        return ""
    total = count + row["n_first"] + row["n_second"]
    return (
        f" {count} of {total} {many} {_are(count)} left out of this, because not all of their "
        "questions have a value."
    )


def _few_items(row: Row) -> dict[str, str]:
    """Return fields of Finding that warn of too few sentence templates; {} if there are enough."""
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
    rows, noun = section.contrasts("baseline", model), section.noun
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
        quantity: section.rows("model", quantity, model).to_dicts()
        for quantity in ("mass", "rated-share")
    }
    if about["mass"] and about["rated-share"]:
        (mass,), (rated,) = about["mass"], about["rated-share"]
        yield (
            f"The counted words have {number(mass['value'])} of the probability at the blank (at "
            f"least {number(mass['low'])} in every prompt); {number(rated['value'])} of that is "
            f"rated (at least {number(rated['low'])})."
        )
    for least, most in _bounds(section, model):
        yield (
            "If all words left out were positive in one group and negative in the other, the "
            f"difference would be {number(least)} or {number(most)}."
        )


def _bounds(section: Section, model: str) -> Iterator[tuple[float, float]]:
    """Yield the least and largest difference over all possible codes of what has none."""
    rows = section.rows("group", ("lowest", "highest"), model)
    value = {
        (row["group"], row["quantity"]): row["value"]
        for row in rows.filter(pl.col("wording").is_null()).iter_rows(named=True)
    }
    first, second = section.contrast, section.against
    if {*product((first, second), ("lowest", "highest"))} <= {*value}:
        yield (
            value[first, "lowest"] - value[second, "highest"],
            value[first, "highest"] - value[second, "lowest"],
        )


def outcomes_counted(section: Section, model: str) -> Iterator[str]:
    """Yield a classifier's share as in the study: each sentence counts once, not each condition."""
    rows = section.rows("group", section.presentation.quantity, model)
    rows = rows.filter(pl.col("group") != BASELINE).sort("group", descending=True)
    many = section.noun.many
    shares = [
        f"{row['value']:.0%} of the {row['n']:,} sentences about {humanize(row['group'])} {many}"
        for row in rows.iter_rows(named=True)
    ]
    if shares:
        yield f"Counting each sentence once, it labels {join_words(shares)} negative."


def choice_findings(section: Section) -> Iterator[Finding]:
    """Yield the gap between two groups, introduced by the effect of order, keying and wording."""
    findings = group_findings(
        more="More stigmatizing answers about {group}",
        whether="answers are more stigmatizing about {group}",
        text="The mean code is {first} for {one} and {second} for {other}",
        details=in_turn(describe_answering, _unanswered, describe_variance),
    )
    for result in findings(section):
        yield presented_first(section, result)


def presented_first(section: Section, finding: Finding) -> Finding:
    """Return the finding introduced by the effect of order, keying and wording.

    If the model answers alike whatever it is asked, this becomes the heading: such a model shows no
    difference between groups, and a heading that says so would call it fair.
    """
    first = describe_presentation(section, finding.model)
    style = describe_style(section, finding.model)
    if not style:
        return replace(finding, text=f"{first} {finding.text}")
    return replace(
        finding,
        head=style,
        styled=True,
        text=f"Its answers say little about the questions. {first} {finding.text}",
    )


def _unanswered(section: Section, model: str) -> Iterator[str]:
    for least, most in _bounds(section, model):
        yield (
            "Not every question was answered. Depending on the missing answers, the difference "
            f"over all {section.noun.many} could be {ends(least, most)}."
        )


LEAST_RATED = 0.25
"""The mean probability of rated words below which a completion is not measurable."""

OF_COMPLETIONS = ("rated-mass", "irrelevant")
"""The numbers that only begun replies have."""


def if_measurable(finds: FindingsFn) -> FindingsFn:
    """Return a function that yields the findings, without numbers if most words are unrated."""

    def findings(section: Section) -> Iterator[Finding]:
        masses = section.rows("model", "rated-mass").select("model", "value").rows()
        poor = {model: mass for model, mass in masses if mass < LEAST_RATED}
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

    return findings


def gap_rows(section: Section) -> pl.DataFrame:
    """Return each model's difference between the two groups in the number of the headline."""
    return section.contrasts("groups").filter(~pl.col("quantity").is_in(KINDS))


def describe_kinds(section: Section, model: str) -> Iterator[str]:
    """Yield how much of the difference is on each kind of negative words, if rated by kind."""
    rows = section.contrasts("groups", model).filter(pl.col("quantity").is_in(KINDS))
    by_kind = dict(rows.select("quantity", "difference").rows())
    if len(by_kind) == len(KINDS):
        rejection, difficulty, improbability = (number(by_kind[kind]) for kind in KINDS)
        yield (
            f"Words of rejection make up {rejection} of this difference, words of difficulty "
            f"{difficulty}, words of improbability {improbability}."
        )


WHAT = {GAP_OF: "gap", INTERACTION: "difference of two gaps"}

PART = "identities"
"""The end of the figure's id."""


def identities(section: Section) -> Iterator[Figure]:
    """Yield a figure of the gap for each identity, and its difference from the reference's gap."""
    between = with_clear(section.contrasts(INTERACTION))
    if not between.height:
        return
    rows = pl.concat([with_clear(section.contrasts(GAP_OF)), between])
    pairs = between["variant"].unique(maintain_order=True).to_list()
    reference = identities_of(pairs[0])[1]
    kinds = pl.col("kind").replace_strict(WHAT, return_dtype=pl.String)
    groups = f"{humanize(section.contrast)} minus {humanize(section.against)}"
    clear, title = between.filter(clear="yes").height, "The gap for each identity"
    if len(section.models()) == 1:
        among = f"{clear or 'none'} of {len(pairs)} identities"
        title = f"The gap clearly differs from that for {reference} in {among}"
    yield plot(
        section,
        PART,
        data(rows.with_columns(what=kinds), "model", "variant", "what", *ESTIMATE),
        estimate_layers(
            rows,
            estimate_tip(("variant", "For"), ("what", "What"), ("model", "Model")),
            size=52,
            colour=("what", [*WHAT.values()]),
        ),
        title=title,
        description=f"Below the gaps: each minus that for {reference} ({how_many(section)}). "
        f"{describe_marks(rows)}",
        y=axis_y("variant", [reference, *(identities_of(pair)[0] for pair in pairs), *pairs]),
        x=axis_x(f"{section.presentation.called}: {groups}", field_="difference"),
        height={"step": 21},
        rows="model",
        order=section.models(),
    )


def how_many(section: Section) -> str:
    """Return the number of conditions that people of each identity have."""
    count: Any = section.contrasts(INTERACTION)["n"].max()
    return f"{count:,} {section.noun.many}"


def boxes(section: Section) -> Iterator[Figure]:
    """Yield box plots of the conditions' values by model × wording × group, with the baseline."""
    rows = section.named(section.rows("wording", section.presentation.quantity))
    # A limited run may have asked only the baseline, for which no box is drawn.
    if not rows.filter(pl.col("condition") != BASELINE).height:
        return
    wordings = [humanize(wording) for wording in section.wordings]
    rows = rows.with_columns(
        pl.col("wording").replace(dict(zip(section.wordings, wordings, strict=True)))
    )
    if len(wordings) > 1:
        over_all = section.named(section.rows("condition", section.presentation.quantity))
        over_all = over_all.filter(pl.col("model").is_in(section.models()))
        over_all = over_all.with_columns(wording=pl.lit(EVERY["wording"]))
        rows, wordings = pl.concat([over_all, rows]), [EVERY["wording"], *wordings]
    groups, noun = section.groups(), section.noun
    box: Spec = {
        "transform": [{"filter": f"datum.condition !== '{BASELINE}'"}],
        "mark": {"type": "boxplot", "ticks": False},
        "encoding": {
            "color": coloured("group", groups)["color"],
            "yOffset": {"field": "group", "type": "nominal", "sort": groups},
        },
    }
    layers, description = [box], f"Box: the middle half of a group’s {noun.many}; line: the median."
    if rows.filter(condition=BASELINE).height:
        about = tip(("model", "Model"), ("wording", "Wording"), ("value", f"No {noun.one} named"))
        diamond: Spec = {
            "transform": [{"filter": f"datum.condition === '{BASELINE}'"}],
            "mark": {"type": "point", "style": "baseline", "shape": "diamond"},
            "encoding": {"tooltip": about},
        }
        layers.append(diamond)
        description += f" Diamond: the same sentence shortened to name no {noun.one}."
    yield plot(
        section,
        "wordings",
        data(rows, "model", "wording", "group", "condition", "name", "value"),
        layers,
        title=_moved_by(section),
        description=description,
        y=axis_y("wording", wordings),
        x=axis_x(section.presentation.axis, domain=(0, 1)),
        height=len(wordings) * (16 * len(groups) + 8),
        rows="model",
        order=section.models(),
    )


def _moved_by(section: Section) -> str:
    """Return whether the wording or the group moves the number more, for a title."""
    moved = [
        bool(finding.moved) for finding in findings_of(section) if finding.difference is not None
    ]
    if len(section.wordings) < 2 or not moved:
        return "Both groups"
    return "The wording matters more than the group" if all(moved) else "Both groups, by wording"


def of_models(section: Section, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows of each model, and over all of several; and the models to choose from."""
    models = section.models()
    if len(models) == 1:
        return rows.filter(pl.col("model") != ALL_MODELS), models
    return rows, [ALL_MODELS, *models]


def categories(section: Section) -> Iterator[Figure]:
    """Yield a figure with every condition as a dot, in the row of its category."""
    rows = section.rows("condition", section.presentation.quantity)
    rows = section.in_categories(section.named(rows.filter(pl.col("condition") != BASELINE)))
    rows = rows.drop_nulls("category")
    if not rows.height:
        return
    rows, models = of_models(section, rows)
    noun = section.noun.headed.one
    about = tip(("name", noun), ("category", "Category"), ("group", "Group"), ("value", "Value"))
    mean = {
        "mark": {"type": "tick", "thickness": 2.5, "size": 15, "tooltip": None},
        "encoding": {
            "x": {"aggregate": "mean", "field": "value"},
            "color": coloured("group", section.groups())["color"],
        },
    }
    yield plot(
        section,
        "categories",
        data(rows, "model", "condition", "name", "group", "category", "value", "low", "high"),
        [at(0.5, "half"), mean, _points(section, about)],
        title=f"{section.noun.headed.many} by category",
        description=(
            f"Mark: one {section.noun.one}; line: a group’s mean. Categories are in the order of "
            f"their medians. {SELECT}"
        ),
        choices=choice("model", "Model", models),
        y=axis_y("category", {"field": "value", "op": "median", "order": "descending"}),
        x=axis_x(section.presentation.axis, domain=(0, 1)),
        height={"step": 20},
    )


def _points(section: Section, about: list[Spec]) -> Spec:
    """Return a point for each condition; a click on it opens the answers behind its share."""
    return {
        "mark": {"type": "point", "cursor": "pointer"},
        "encoding": {**coloured("group", section.groups()), "tooltip": about},
    }


SELECT = "Select a mark to read its prompts."

HIGHEST, LOWEST = 15, 10
"""The numbers of rows of either end that are shown at first."""

SPARED = 5
"""If no more than this many rows would be left out, all are shown."""

ALONE, TOGETHER = "datum.row === datum.name", "datum.row !== datum.name"
"""Tests for data in a row of their own name, and for data that share a row."""


def both_ends(rows: pl.DataFrame, noun: Noun) -> tuple[Choice, ...]:
    """Return the choice between both ends and all rows; () if there are few rows."""
    largest = max(rows.group_by("model").len()["len"], default=0)
    if largest <= HIGHEST + LOWEST + SPARED:
        return ()
    ends_only, all_rows = f"the {HIGHEST} highest and {LOWEST} lowest", f"all {largest} {noun.many}"
    return (Choice(field="rows", label="Rows", options=(ends_only, all_rows), bound=False),)


def in_order(field: str, some: tuple[Choice, ...]) -> list[Spec]:
    """Return the transforms that sort data by the field, and put those not shown into one row."""
    sort = [{"field": field, "order": "descending"}, {"field": "name"}]
    place = {"window": [{"op": "row_number", "as": "place"}], "sort": sort}
    if not some:
        return [place, {"calculate": "datum.name", "as": "row"}]
    # Any other choice shows all rows.
    all_chosen = f"chosen_{some[0].field} !== '{some[0].options[0]}'"
    end = f"datum.place <= {HIGHEST} || datum.place > datum.of - {LOWEST}"
    between = f"(datum.of - {HIGHEST + LOWEST}) + ' more in between'"
    return [
        place,
        {"joinaggregate": [{"op": "count", "as": "of"}]},
        {"calculate": f"{all_chosen} || {end} ? datum.name : {between}", "as": "row"},
    ]


def row_axis() -> Spec:
    """Return the axis of rows in the order that ``in_order`` has given them."""
    return axis_y("row", {"field": "place", "op": "min", "order": "ascending"})


def alone(layers: list[Spec], some: tuple[Choice, ...]) -> list[Spec]:
    """Return the layers without the data that ``in_order`` has put into one row."""
    if not some:
        return layers
    return [{**layer, "transform": [{"filter": ALONE}]} for layer in layers]


def together(some: tuple[Choice, ...], about: list[Spec], colour: Spec) -> list[Spec]:
    """Return a layer of thin marks for the data that ``in_order`` has put into one row."""
    if not some:
        return []
    mark = {"type": "tick", "thickness": 1.5, "size": 10, "opacity": 0.7, "cursor": "pointer"}
    encoding = {"color": colour, "tooltip": about}
    return [{"transform": [{"filter": TOGETHER}], "mark": mark, "encoding": encoding}]


def ranked(section: Section) -> Iterator[Figure]:
    """Yield a figure of all conditions, sorted by their difference, or else by their value."""
    for kind, against, short in (
        # Short, because it must fit on a phone; the caption says which group.
        ("reference", f"the {humanize(section.against)} mean", "the other group's mean"),
        ("baseline", f"sentences that name no {section.noun.one}", "the baseline"),
    ):
        rows = section.contrasts(kind)
        if rows.height:
            yield _ranked(section, rows, against=against, axis=f"Difference from {short}")
            return
    yield from _by_value(section)


def levels(section: Section) -> Iterator[Figure]:
    """Yield a figure of every condition's number with its interval, against 0."""
    rows = section.contrasts(LEVEL_OF_CONDITION).filter(IN_MAIN_VARIANT)
    if rows.height:
        axis = section.presentation.axis
        yield _ranked(section, rows, against="0", axis=axis, name="levels")


def absolute(section: Section) -> Iterator[Figure]:
    """Yield a figure of every condition's own value, unshrunken, over all models together."""
    yield from _by_value(section, kind="values", as_is=True)


def _by_value(
    section: Section, *, kind: str = "conditions", as_is: bool = False
) -> Iterator[Figure]:
    """Yield a figure of every condition's own value, with noise removed if that is possible."""
    shrunken_scores = section.scores.filter(pl.col("quantity").str.ends_with(SHRUNKEN))
    shrunken_scores = shrunken_scores.drop_nulls("value")
    shrunken = shrunken_scores.height > 0 and not as_is
    quantity = shrunken_scores["quantity"][0] if shrunken else section.presentation.quantity
    rows = section.rows("condition", quantity).filter(pl.col("condition") != BASELINE)
    if not rows.height:
        return
    noun, label = section.noun, quantity_called(quantity)
    method = ", pulled toward its group’s mean to allow for noise" if shrunken else ""
    if as_is:
        label, method = section.presentation.called, ", over all models and sentences"
    # The middle 95% of the ranks that a condition could have.
    for end in ("rank-low", "rank-high"):
        ranks = section.rows("condition", end).select(
            "model", "condition", pl.col("value").cast(pl.Int64).alias(end)
        )
        rows = rows.join(ranks, on=["model", "condition"], how="left", nulls_equal=True)
    rows = section.named(rows).with_columns(ranks=pl.format("{} to {}", "rank-low", "rank-high"))
    rows, models = of_models(section, rows)
    if as_is:
        rows, models = rows.filter(model=models[0]), models[:1]
    shown = [model for model in models if model in rows["model"].unique()]
    choices = choice("model", "Model", shown)
    row_choices = () if as_is else both_ends(rows, noun)
    first = (("name", noun.headed.one), ("group", "Group"))
    about = tip(*first, ("value", "Value"), ("ranks", "Ranks"))
    marks = _points(section, about)
    yield plot(
        section,
        kind,
        data(rows, "model", "condition", "name", "group", "value", "ranks"),
        [
            at(0.5, "half"),
            *together(row_choices, about, marks["encoding"]["color"]),
            *alone([marks], row_choices),
        ],
        title=_from_to(rows, section, label if shrunken else section.presentation.called),
        description=f"{label[0].upper()}{label[1:]} of each {noun.one}{method}. {SELECT}",
        choices=(*choices, *row_choices),
        leads=not as_is,
        y=row_axis(),
        x=axis_x(label if shrunken else section.presentation.axis, domain=(0, 1)),
        height={"step": 14},
        transform=[*chosen(choices), *in_order("value", row_choices)],
    )


def _from_to(rows: pl.DataFrame, section: Section, called: str) -> str:
    """Return the conditions with the lowest and highest values, for a title."""
    if len(section.models()) > 1:
        one_view = rows["model"].n_unique() == 1
        order = "over all models" if one_view else "from high to low"
        return f"Every {section.noun.one}, {order}"
    low, high = (rows.sort("value").row(place, named=True) for place in (0, -1))
    texts = (f"{number(row['value'])} (“{row['name']}”)" for row in (low, high))
    return f"{called[0].upper()}{called[1:]} is {' to '.join(texts)}"


def _how_many_above(rows: pl.DataFrame, section: Section, against: str) -> str:
    """Return a title: how many conditions are above the mean or the baseline."""
    many = section.noun.many
    if len(section.models()) > 1:
        return f"Every {section.noun.one} compared with {against}"
    above = rows.filter(pl.col("difference") > 0, clear="yes").height
    count = f"{above} of {rows.height}" if above else f"None of {rows.height}"
    group = f"{humanize(section.contrast)} " if rows["kind"][0] == "reference" else ""
    return f"{count} {group}{many} {'is' if above == 1 else 'are'} clearly above {against}"


def _ranked(
    section: Section,
    contrasts: pl.DataFrame,
    *,
    against: str,
    axis: str,
    name: str = "conditions",
) -> Figure:
    groups = section.scores.select("condition", group_of="group").drop_nulls().unique("condition")
    rows = section.named(
        with_clear(contrasts)
        .rename({"first": "condition"})
        .drop("group")
        .join(groups.rename({"group_of": "group"}), on="condition", how="left"),
    )
    choices = choice("model", "Model", section.models())
    noun = section.noun
    about = estimate_tip(("name", noun.headed.one), ("group", "Group"))
    # Only groups with rows: a group without any would be an empty entry of the legend.
    groups_shown = [group for group in section.groups() if group in rows["group"].unique()]
    row_choices, colours = both_ends(rows, noun), coloured("group", groups_shown)
    return plot(
        section,
        name,
        data(rows, "model", "condition", "name", "group", *ESTIMATE),
        [
            *band(rows),
            at(0, "zero"),
            *together(row_choices, about, colours["color"]),
            *alone(interval(rows, color=colours["color"]), row_choices),
            *alone(dots(about, size=34, colour=("group", groups_shown), leads=True), row_choices),
        ],
        title=_how_many_above(rows, section, against),
        description=f"{_ends(rows, noun)} {describe_marks(rows)}",
        choices=(*choices, *row_choices),
        leads=name == "conditions",
        y=row_axis(),
        x=axis_x(axis, field_="difference"),
        height={"step": 14},
        transform=[*chosen(choices), *in_order("difference", row_choices)],
    )


def _ends(rows: pl.DataFrame, noun: Noun) -> str:
    """Return a sentence for a caption on what the intervals are over."""
    if rows["low"].null_count() == rows.height:
        return f"No intervals: each {noun.one} has too few sentences, or equal answers."
    drawn = rows.drop_nulls("low")
    # With gaps, some conditions are tested over fewer questions; the table says which.
    over = drawn["interval_over"].drop_nulls().mode(maintain_order=True)
    sampled = over[0].partition("; ")[0].removesuffix(", crossed") if over.len() else "sentences"
    fixed = "; the other mean is fixed" if rows["kind"][0] == "reference" else ""
    return f"Intervals over {sampled}, corrected for all {noun.many}{fixed}."


EVERY_TEMPLATE = "all templates"

SHADES = ("negative", "positive", "neutral")
"""The labels in the order of their colors: the third is gray."""


def label_shares(section: Section) -> Iterator[Figure]:
    """Yield a figure of label shares by classifier and group, over all templates and for each."""
    texts = section.item_texts
    of_items = section.rows("item", SENTIMENTS).with_columns(template=pl.col("item").replace(texts))
    overall = section.rows("group", SENTIMENTS).with_columns(template=pl.lit(EVERY_TEMPLATE))
    rows = pl.concat([overall, of_items], how="diagonal").filter(pl.col("model") != ALL_MODELS)
    if not rows.height:
        return
    groups = [*section.groups(), *([BASELINE] if BASELINE in rows["group"] else [])]
    rows = rows.with_columns(
        place=pl.col("quantity").replace_strict(
            {name: place for place, name in enumerate(SENTIMENTS)}
        )
    )
    about = tip(
        ("model", "Classifier"), ("group", "Group"), ("quantity", "Label"), ("value", "Share"),
        ("n", "Labels"),
    )  # fmt: skip
    encoding: Spec = {
        "color": coloured("quantity", SHADES)["color"] | {"legend": {"values": list(SENTIMENTS)}},
        "order": {"field": "place", "type": "quantitative"},
        "tooltip": about,
    }
    share = axis_x("Share of labels", domain=(0, 1)) | {"stack": "zero"}
    yield plot(
        section,
        "outcomes",
        data(rows, "model", "template", "group", "quantity", "place", "value", "n"),
        [{"mark": {"type": "bar", "height": {"band": 0.7}}, "encoding": encoding}],
        title="Negative, neutral and positive labels",
        description=(
            "Shares of negative, neutral and positive labels, from left to right. A classifier "
            "with two classes has no neutral."
        ),
        choices=choice("template", "Template", [EVERY_TEMPLATE, *texts.values()]),
        y=axis_y("group", groups),
        x=share,
        height={"step": 24},
        rows="model",
        order=section.models(),
    )


def templates(section: Section) -> Iterator[Figure]:
    """Yield a figure of the share of negative outcomes by template, classifier and group."""
    rows = section.rows("item", section.presentation.quantity)
    if rows["item"].n_unique() < 2:
        return
    texts = section.item_texts
    rows = rows.with_columns(template=pl.col("item").replace(texts))
    groups = [*section.groups(), *([BASELINE] if BASELINE in rows["group"] else [])]
    about = tip(
        ("model", "Classifier"), ("template", "Template"), ("group", "Group"), ("value", "Share"),
        ("n", "Outcomes"),
    )  # fmt: skip
    encoding = {**coloured("group", groups), "tooltip": about}
    yield plot(
        section,
        "templates",
        data(rows, "model", "item", "template", "group", "value", "n"),
        [{"mark": {"type": "point"}, "encoding": encoding}],
        title="By template",
        description=f"What differs between templates is the sentence, not the {section.noun.one}.",
        y=axis_y("template", list(texts.values())),
        x=axis_x(section.presentation.axis, domain=(0, 1)),
        height={"step": 24},
        rows="model",
        order=section.models(),
    )

"""Figures over conditions: the two groups apart, by wording, by category, one by one.

As in Mei, Fereidooni & Caliskan (2023).
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.formatting import (
    ALL_MODELS,
    SHRUNKEN,
    describe_factors,
    humanize,
    join_words,
    quantity_called,
)
from goffman.instruments.types import BASELINE, Noun
from goffman.presentation.condition_findings import confound, gap_rows, shortened
from goffman.presentation.estimate_figures import (
    ESTIMATE,
    band,
    describe_marks,
    dots,
    estimate_layers,
    estimate_tip,
    with_clear,
)
from goffman.presentation.section import Section
from goffman.presentation.vega import (
    Choice,
    Figure,
    Spec,
    at,
    axis_x,
    axis_y,
    choice,
    chosen,
    coloured,
    data,
    interval,
    plot,
    tip,
)


def describe_quantity(section: Section, quantity: str) -> str:
    """A quantity as it is called in a caption: negative-probability is P(negative)."""
    if quantity == section.presentation.quantity:
        return section.presentation.called
    return f"P({humanize(quantity.removesuffix('-probability'))})"


def gaps(section: Section) -> Iterator[Figure]:
    """The difference between the two groups in each model, with its interval."""
    rows = with_clear(gap_rows(section))
    if not rows.height:
        return
    thin = _of_wordings(section)
    about = [*estimate_tip(("model", "Model")), *tip(("n", section.noun.headed.many))]
    ticks = " Thin marks show the difference in each wording." if thin else ""
    names = f"{humanize(section.contrast)} minus {humanize(section.against)}"
    many = section.noun.many
    sampled = rows["interval_over"].drop_nulls().unique(maintain_order=True)[:1]
    over = ""
    for what in (one.replace("conditions", many) for one in sampled):
        factors = describe_factors(what)
        over = f" that treats {factors}" if factors else f" over {what}"
    number = describe_quantity(section, rows["quantity"][0])
    yield plot(
        section,
        "gap",
        data(rows, "model", *ESTIMATE, "effect", "n"),
        estimate_layers(rows, about, size=80, between=thin),
        title="How far apart the two groups are",
        description=(
            f"For each model, the mark shows the mean {number.removeprefix('mean ')} of "
            f"{humanize(section.contrast)} {many} minus that of {humanize(section.against)} "
            f"{many}, "
            f"with a 95% interval{over}. To the right of 0, {number} is higher for "
            f"{humanize(section.contrast)} {many}. "
            f"{describe_marks(rows)}{ticks}"
        ),
        y=axis_y("model", [*section.models(), ALL_MODELS]),
        x=axis_x(f"Difference: {names}", field_="difference"),
        height={"step": 30},
    )


def _of_wordings(section: Section) -> list[Spec]:
    """A thin mark for the difference in each wording, where there are several."""
    rows = section.rows("model", f"{section.presentation.quantity}-gap").filter(
        pl.col("wording").is_not_null()
    )
    rows = rows.select("model", "wording", difference="value")
    if not rows.height:
        return []
    about = tip(("model", "Model"), ("wording", "Wording"), ("difference", "Difference"))
    return [
        {
            "data": {"values": data(rows, "model", "wording", "difference")},
            "mark": {"type": "tick", "thickness": 2, "size": 14, "opacity": 0.45},
            "encoding": {"tooltip": about},
        }
    ]


def boxes(section: Section) -> Iterator[Figure]:
    """The conditions' values by model × wording × group, with the baseline."""
    rows = section.named(section.rows("wording", section.presentation.quantity))
    # The first prompts of a scale name no condition: asked alone, they make no box.
    if not rows.filter(pl.col("condition") != BASELINE).height:
        return
    rows = rows.with_columns(pl.col("wording").replace({w: humanize(w) for w in section.wordings}))
    wordings = [humanize(wording) for wording in section.wordings]
    groups = section.groups()
    baseline = rows.filter(pl.col("condition") == BASELINE).height
    said = ""
    if baseline:
        said = f" A diamond marks the baseline, {shortened(section)}. {confound(section)}".rstrip()
    yield plot(
        section,
        "wordings",
        data(rows, "model", "wording", "group", "condition", "name", "value"),
        _boxes(groups, section.noun if baseline else None),
        title="By model, wording and group",
        description=(
            f"Each box covers the middle half of a group's {section.noun.many}; the line inside is "
            f"the median. The whiskers reach to the farthest {section.noun.one} within 1.5 box "
            f"widths of the box; {section.noun.many} beyond them are dots.{said}"
        ),
        y=axis_y("wording", wordings),
        x=axis_x(section.presentation.axis, domain=(0, 1)),
        height=len(wordings) * (15 * len(groups) + 10),
        rows="model",
        order=section.models(),
    )


def _boxes(groups: list[str], noun: Noun | None) -> list[Spec]:
    """A box for each group; a diamond for the sentences that name none, where there are any."""
    box: Spec = {
        "transform": [{"filter": f"datum.condition !== '{BASELINE}'"}],
        "mark": {"type": "boxplot", "ticks": False},
        "encoding": {
            "color": coloured("group", groups)["color"],
            "yOffset": {"field": "group", "type": "nominal", "sort": groups},
        },
    }
    if noun is None:
        return [box]
    about = tip(("model", "Model"), ("wording", "Wording"), ("value", f"No {noun.one} named"))
    diamond: Spec = {
        "transform": [{"filter": f"datum.condition === '{BASELINE}'"}],
        "mark": {"type": "point", "style": "baseline", "shape": "diamond"},
        "encoding": {"tooltip": about},
    }
    return [box, diamond]


def of_models(section: Section, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The rows of each model, and over all where there are several; whom one may choose."""
    models = section.models()
    if len(models) == 1:
        return rows.filter(pl.col("model") != ALL_MODELS), models
    return rows, [ALL_MODELS, *models]


def categories(section: Section) -> Iterator[Figure]:
    """Every condition as a dot beside its category."""
    rows = section.rows("condition", section.presentation.quantity).filter(
        pl.col("condition") != BASELINE
    )
    rows = section.named(rows).filter(pl.col("category").is_not_null())
    if not rows.height:
        return
    rows, models = of_models(section, rows)
    noun = section.noun.headed.one
    about = tip(("name", noun), ("category", "Category"), ("group", "Group"), ("value", "Value"))
    yield plot(
        section,
        "categories",
        data(rows, "model", "condition", "name", "group", "category", "value", "low", "high"),
        [at(0.5, "half"), _points(section, about)],
        title=f"{section.noun.headed.many} by category",
        description=(
            f"Each mark is one {section.noun.one}, in the row of its category. Categories are "
            "sorted by their median. Select a mark to see the prompts behind it."
        ),
        choices=choice("model", "Model", models),
        y=axis_y("category", {"field": "value", "op": "median", "order": "descending"}),
        x=axis_x(section.presentation.axis, domain=(0, 1)),
        height={"step": 20},
    )


def _points(section: Section, about: list[Spec]) -> Spec:
    """Each condition's share as a mark that leads to its evidence."""
    return {
        "mark": {"type": "point", "cursor": "pointer"},
        "encoding": {**coloured("group", section.groups()), "tooltip": about},
    }


HIGHEST, LOWEST = 15, 10
"""So many rows of either end are shown at first."""

SPARED = 5
"""Where fewer than these would be left out, all are shown."""

ALONE, TOGETHER = "datum.row === datum.name", "datum.row !== datum.name"
"""Which data have a row with their own name, and which share one."""


def both_ends(rows: pl.DataFrame, noun: Noun) -> tuple[Choice, ...]:
    """The choice between both ends and all rows; none where all can be read."""
    most = max(rows.group_by("model").len()["len"], default=0)
    if most <= HIGHEST + LOWEST + SPARED:
        return ()
    few, every = f"the {HIGHEST} highest and {LOWEST} lowest", f"all {most} {noun.many}"
    return (Choice(field="rows", label="Rows", options=(few, every), bound=False),)


def describe_both_ends(some: tuple[Choice, ...], noun: Noun) -> str:
    """What the row between both ends is, after another sentence."""
    if not some:
        return ""
    return f" All {noun.many} between {some[0].options[0]} are thin marks in one row."


def in_order(field: str, some: tuple[Choice, ...]) -> list[Spec]:
    """The transforms that give all data a row, by the field from high to low."""
    sort = [{"field": field, "order": "descending"}, {"field": "name"}]
    place = {"window": [{"op": "row_number", "as": "place"}], "sort": sort}
    if not some:
        return [place, {"calculate": "datum.name", "as": "row"}]
    # Whatever else is chosen shows all of them.
    every = f"chosen_{some[0].field} !== '{some[0].options[0]}'"
    end = f"datum.place <= {HIGHEST} || datum.place > datum.of - {LOWEST}"
    between = f"(datum.of - {HIGHEST + LOWEST}) + ' more in between'"
    return [
        place,
        {"joinaggregate": [{"op": "count", "as": "of"}]},
        {"calculate": f"{every} || {end} ? datum.name : {between}", "as": "row"},
    ]


def row_axis() -> Spec:
    """The rows from high to low, once ``in_order`` has given them."""
    return axis_y("row", {"field": "place", "op": "min", "order": "ascending"})


def alone(layers: list[Spec], some: tuple[Choice, ...]) -> list[Spec]:
    """The layers, of data that have a row of their own."""
    if not some:
        return layers
    return [{**one, "transform": [{"filter": ALONE}]} for one in layers]


def together(some: tuple[Choice, ...], about: list[Spec], colour: Spec) -> list[Spec]:
    """A thin mark for each datum that shares a row."""
    if not some:
        return []
    mark = {"type": "tick", "thickness": 1.5, "size": 10, "opacity": 0.7, "cursor": "pointer"}
    encoding = {"color": colour, "tooltip": about}
    return [{"transform": [{"filter": TOGETHER}], "mark": mark, "encoding": encoding}]


def ranked(section: Section) -> Iterator[Figure]:
    """Every condition in order: against the other group or the baseline, or its own value."""
    for kind, called in (("reference", _against_group), ("baseline", _against_baseline)):
        rows = section.contrasts(kind)
        if rows.height:
            yield _ranked(section, rows, **called(section))
            return
    yield from _by_value(section)


_NOISE = (
    " To allow for noise, each value is pulled toward its group's mean. Point at a mark to see its "
    "range of ranks. The range is wider if the rank differs more between items."
)


def _by_value(section: Section) -> Iterator[Figure]:
    """Every condition's own value, less what of it is noise where that is known."""
    known = section.scores.filter(
        pl.col("quantity").str.ends_with(SHRUNKEN), pl.col("value").is_not_null()
    )
    shrunken = known.height > 0
    quantity = known["quantity"][0] if shrunken else section.presentation.quantity
    rows = section.rows("condition", quantity).filter(pl.col("condition") != BASELINE)
    if not rows.height:
        return
    noun, number = section.noun, quantity_called(quantity)
    rows, models = of_models(section, _with_ranks(section, section.named(rows)))
    choices = choice("model", "Model", [one for one in models if one in rows["model"].unique()])
    some = both_ends(rows, noun)
    about = tip(
        ("name", noun.headed.one), ("group", "Group"), ("value", "Value"), ("ranks", "Ranks")
    )
    marks = _points(section, about)
    yield plot(
        section,
        "conditions",
        data(rows, "model", "condition", "name", "group", "value", "ranks"),
        [
            at(0.5, "half"),
            *together(some, about, marks["encoding"]["color"]),
            *alone([marks], some),
        ],
        title=f"Every {noun.one}, from high to low",
        description=(
            f"{number[0].upper()}{number[1:]} of every {noun.one}, highest first."
            f"{_NOISE if shrunken else ''}{describe_both_ends(some, noun)} Select a mark to see "
            "the prompts behind it."
        ),
        choices=(*choices, *some),
        leads=True,
        y=row_axis(),
        x=axis_x(number if shrunken else section.presentation.axis, domain=(0, 1)),
        height={"step": 14},
        transform=[*chosen(choices), *in_order("value", some)],
    )


def _with_ranks(section: Section, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with ``ranks``: the middle 95% of those that a condition would have."""
    for end in ("rank-low", "rank-high"):
        of = section.rows("condition", end).select(
            "model", "condition", pl.col("value").cast(pl.Int64).alias(end)
        )
        rows = rows.join(of, on=["model", "condition"], how="left", nulls_equal=True)
    return rows.with_columns(ranks=pl.format("{} to {}", "rank-low", "rank-high"))


def _number(section: Section, kind: str) -> str:
    """What the contrasts of this kind compare, to begin a sentence with."""
    said = describe_quantity(section, section.contrasts(kind)["quantity"][0])
    return f"{said[0].upper()}{said[1:]}"


def _against_group(section: Section) -> dict[str, str]:
    """How the contrasts with the other group's mean are called."""
    noun, other = section.noun, f"the {humanize(section.against)} {section.noun.many}"
    return {
        "title": f"Every {humanize(section.contrast)} {noun.one} compared with {other}",
        "said": f"{_number(section, 'reference')} of each {noun.one} minus the mean of {other}, "
        "highest first.",
        # Short, because it must fit a telephone; the title says which group.
        "axis": "Difference from the other group's mean",
    }


def _against_baseline(section: Section) -> dict[str, str]:
    """The same of those with the baseline."""
    one = section.noun.one
    number = _number(section, "baseline")
    said = f"{number} of each {one} minus that of the baseline, {shortened(section)}"
    return {
        "title": f"Every {one} compared with the baseline",
        "said": " ".join([f"{said}, highest first.", *filter(None, [confound(section)])]),
        "axis": "Difference from the baseline",
    }


def _ranked(
    section: Section, contrasts: pl.DataFrame, *, title: str, said: str, axis: str
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
    # Only those that are there: an empty one would be a legend of nothing.
    there = [group for group in section.groups() if group in rows["group"].unique()]
    some, colours = both_ends(rows, noun), coloured("group", there)
    return plot(
        section,
        "conditions",
        data(rows, "model", "condition", "name", "group", *ESTIMATE),
        [
            *band(rows),
            at(0, "zero"),
            *together(some, about, colours["color"]),
            *alone(interval(rows, color=colours["color"]), some),
            *alone(dots(about, size=34, colour=("group", there), leads=True), some),
        ],
        title=title,
        description=(
            f"{said} {_ends(rows, noun)}{_covered(rows, section)} {describe_marks(rows)}"
            f"{describe_both_ends(some, noun)} Select a mark to see the prompts behind it."
        ),
        choices=(*choices, *some),
        leads=True,
        y=row_axis(),
        x=axis_x(axis, field_="difference"),
        height={"step": 14},
        transform=[*chosen(choices), *in_order("difference", some)],
    )


def _ends(rows: pl.DataFrame, noun: Noun) -> str:
    """What is said of the intervals, which a few sentences do not give."""
    some = rows.height - rows["low"].null_count()
    if not some:
        return f"There are no intervals: each {noun.one} has too few sentences, or equal answers."
    lines = f"Lines are intervals, made for all {noun.many} together"
    gaps = "; where there is no line, there is no interval" if some < rows.height else ""
    return f"{lines}{gaps}."


def _covered(rows: pl.DataFrame, section: Section) -> str:
    """What the intervals and tests of single conditions are over, and what they take as given."""
    drawn = rows.filter(pl.col("low").is_not_null())
    over = drawn["interval_over"].drop_nulls().unique(maintain_order=True)
    if not over.len():
        return ""
    sampled = join_words([what.removesuffix(", crossed") for what in over], "or")
    many = section.noun.many
    fixed = ""
    if rows["kind"][0] == "reference":
        fixed = f"; the mean of the {humanize(section.against)} {many} is treated as fixed"
    return f" Intervals and tests of single {many} cover other {sampled}{fixed}."


def group_shares(section: Section) -> Iterator[Figure]:
    """The share of negative outcomes for each classifier and group, as bars."""
    rows = section.rows("group", section.presentation.quantity).filter(pl.col("wording").is_null())
    rows = rows.filter(pl.col("model") != ALL_MODELS)
    if not rows.height:
        return
    groups = [*section.groups(), *([BASELINE] if BASELINE in rows["group"] else [])]
    about = tip(("model", "Classifier"), ("group", "Group"), ("value", "Share"), ("n", "Outcomes"))
    bars: Spec = {
        "mark": {"type": "bar", "opacity": 0.9},
        "encoding": {
            "color": coloured("group", groups)["color"],
            "yOffset": {"field": "group", "type": "nominal", "sort": groups},
            "tooltip": about,
        },
    }
    yield plot(
        section,
        "groups",
        data(rows, "model", "group", "value", "n"),
        [bars],
        title="Negative labels by classifier and group",
        description="The share of sentences about each group that a classifier labels negative.",
        y=axis_y("model", section.models()),
        x=axis_x(section.presentation.axis, domain=(0, 1)),
        height=len(section.models()) * (14 * len(groups) + 12),
    )


def templates(section: Section) -> Iterator[Figure]:
    """The share of negative outcomes for each template, classifier and group."""
    rows = section.rows("item", section.presentation.quantity)
    if rows["item"].n_unique() < 2:
        return
    texts = {item: section.names.item(section.instrument, item) for item in section.items}
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
        description=(
            "The same share for each template. Differences between templates come from the "
            f"sentence, not from the {section.noun.one}."
        ),
        y=axis_y("template", list(texts.values())),
        x=axis_x(section.presentation.axis, domain=(0, 1)),
        height={"step": 24},
        rows="model",
        order=section.models(),
    )

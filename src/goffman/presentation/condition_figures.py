"""Figures over conditions: both groups, by wording, by category, and one condition at a time.

As in Mei, Fereidooni & Caliskan (2023).
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.contrasts.catalog import LEVEL_OF_CONDITION
from goffman.contrasts.correlations import IN_MAIN_VARIANT
from goffman.formatting import ALL_MODELS, SHRUNKEN, humanize, number, quantity_called
from goffman.instruments.types import BASELINE, Noun
from goffman.presentation.estimate_figures import (
    ESTIMATE,
    band,
    describe_marks,
    dots,
    estimate_tip,
    with_clear,
)
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Section
from goffman.presentation.tables import EVERY
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
from goffman.schemas import SENTIMENTS


def boxes(section: Section) -> Iterator[Figure]:
    """Yield box plots of the conditions' values by model × wording × group, with the baseline."""
    rows = section.named(section.rows("wording", section.presentation.quantity))
    # The first prompts of a scale name no condition: asked alone, they make no box.
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
    groups = section.groups()
    baseline = rows.filter(pl.col("condition") == BASELINE).height
    diamond = f" Diamond: the same sentence shortened to name no {section.noun.one}."
    yield plot(
        section,
        "wordings",
        data(rows, "model", "wording", "group", "condition", "name", "value"),
        _boxes(groups, section.noun if baseline else None),
        title=_moved_by(section),
        description=(
            f"Box: the middle half of a group’s {section.noun.many}; line: the median."
            f"{diamond if baseline else ''}"
        ),
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


def _boxes(groups: list[str], noun: Noun | None) -> list[Spec]:
    """Return a box for each group, and a diamond for any sentences that name no condition."""
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
    """Return the rows of each model, and over all of several; and the models to choose from."""
    models = section.models()
    if len(models) == 1:
        return rows.filter(pl.col("model") != ALL_MODELS), models
    return rows, [ALL_MODELS, *models]


def categories(section: Section) -> Iterator[Figure]:
    """Yield a figure with every condition as a dot beside its category."""
    rows = section.rows("condition", section.presentation.quantity).filter(
        pl.col("condition") != BASELINE
    )
    rows = section.in_categories(section.named(rows)).filter(pl.col("category").is_not_null())
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
    """Return each condition's share as a mark that leads to its evidence."""
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
    """Return the choice between both ends and all rows; none if all rows can be read."""
    largest = max(rows.group_by("model").len()["len"], default=0)
    if largest <= HIGHEST + LOWEST + SPARED:
        return ()
    ends_only, all_rows = f"the {HIGHEST} highest and {LOWEST} lowest", f"all {largest} {noun.many}"
    return (Choice(field="rows", label="Rows", options=(ends_only, all_rows), bound=False),)


def in_order(field: str, some: tuple[Choice, ...]) -> list[Spec]:
    """Return the transforms that give all data a row, by the field from high to low."""
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
    """Return the axis of rows from high to low, after ``in_order`` has assigned them."""
    return axis_y("row", {"field": "place", "op": "min", "order": "ascending"})


def alone(layers: list[Spec], some: tuple[Choice, ...]) -> list[Spec]:
    """Return the layers, limited to data that have a row of their own."""
    if not some:
        return layers
    return [{**layer, "transform": [{"filter": ALONE}]} for layer in layers]


def together(some: tuple[Choice, ...], about: list[Spec], colour: Spec) -> list[Spec]:
    """Return a thin mark for each datum that shares a row."""
    if not some:
        return []
    mark = {"type": "tick", "thickness": 1.5, "size": 10, "opacity": 0.7, "cursor": "pointer"}
    encoding = {"color": colour, "tooltip": about}
    return [{"transform": [{"filter": TOGETHER}], "mark": mark, "encoding": encoding}]


def ranked(section: Section) -> Iterator[Figure]:
    """Yield every condition in order: against the other group or the baseline, or its own value."""
    for kind, describe in (("reference", _against_group), ("baseline", _against_baseline)):
        rows = section.contrasts(kind)
        if rows.height:
            yield _ranked(section, rows, **describe(section))
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
    shrunken_scores = section.scores.filter(
        pl.col("quantity").str.ends_with(SHRUNKEN), pl.col("value").is_not_null()
    )
    shrunken = shrunken_scores.height > 0 and not as_is
    quantity = shrunken_scores["quantity"][0] if shrunken else section.presentation.quantity
    rows = section.rows("condition", quantity).filter(pl.col("condition") != BASELINE)
    if not rows.height:
        return
    noun, label = section.noun, quantity_called(quantity)
    method = ", pulled toward its group’s mean to allow for noise" if shrunken else ""
    if as_is:
        label, method = section.presentation.called, ", over all models and sentences"
    rows, models = of_models(section, _with_ranks(section, section.named(rows)))
    if as_is:
        rows, models = rows.filter(pl.col("model") == models[0]), models[:1]
    choices = choice(
        "model", "Model", [model for model in models if model in rows["model"].unique()]
    )
    row_choices = () if as_is else both_ends(rows, noun)
    about = tip(
        ("name", noun.headed.one), ("group", "Group"), ("value", "Value"), ("ranks", "Ranks")
    )
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


def _with_ranks(section: Section, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with ``ranks``: the middle 95% of the ranks that a condition could have."""
    for end in ("rank-low", "rank-high"):
        ranks = section.rows("condition", end).select(
            "model", "condition", pl.col("value").cast(pl.Int64).alias(end)
        )
        rows = rows.join(ranks, on=["model", "condition"], how="left", nulls_equal=True)
    return rows.with_columns(ranks=pl.format("{} to {}", "rank-low", "rank-high"))


def _against_group(section: Section) -> dict[str, str]:
    """Return the texts for contrasts with the other group's mean."""
    return {
        "against": f"the {humanize(section.against)} mean",
        # Short, because it must fit on a phone; the caption says which group.
        "axis": "Difference from the other group's mean",
    }


def _against_baseline(section: Section) -> dict[str, str]:
    """Return the texts for contrasts with the baseline."""
    return {
        "against": f"sentences that name no {section.noun.one}",
        "axis": "Difference from the baseline",
    }


def _how_many_above(rows: pl.DataFrame, section: Section, against: str) -> str:
    """Return how many conditions are above what they are compared with, for a title."""
    many = section.noun.many
    if len(section.models()) > 1:
        return f"Every {section.noun.one} compared with {against}"
    above = rows.filter(pl.col("clear") == "yes", pl.col("difference") > 0).height
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
    """Return what the lines of the intervals are, for a caption."""
    if rows["low"].null_count() == rows.height:
        return f"No intervals: each {noun.one} has too few sentences, or equal answers."
    drawn = rows.filter(pl.col("low").is_not_null())
    # With gaps, some conditions are tested over fewer questions; the table says which.
    over = drawn["interval_over"].drop_nulls().mode(maintain_order=True)
    sampled = over[0].partition("; ")[0].removesuffix(", crossed") if over.len() else "sentences"
    fixed = "; the other mean is fixed" if rows["kind"][0] == "reference" else ""
    return f"Intervals over {sampled}, corrected for all {noun.many}{fixed}."


EVERY_TEMPLATE = "all templates"

SHADES = ("negative", "positive", "neutral")
"""The labels in the order of their colors: the third is gray."""


def outcomes(section: Section) -> Iterator[Figure]:
    """Yield a figure of label shares by classifier and group, over all templates and for each."""
    texts = {item: section.names.item(section.instrument, item) for item in section.items}
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
        "color": coloured("quantity", SHADES)["color"],
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
        description=f"What differs between templates is the sentence, not the {section.noun.one}.",
        y=axis_y("template", list(texts.values())),
        x=axis_x(section.presentation.axis, domain=(0, 1)),
        height={"step": 24},
        rows="model",
        order=section.models(),
    )

"""Figures over conditions: the two groups apart, by wording, by category, one by one.

Mei, Fereidooni & Caliskan (2023): boxes by model × wording × group, dots by category, conditions in
order, how much of the probability was seen and rated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from goffman.presentation.figure import (
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
    figure,
    interval,
    tip,
    view,
)
from goffman.presentation.figure_estimates import (
    ESTIMATE,
    band,
    dots,
    estimate_tip,
    marks_said,
    with_clear,
)
from goffman.presentation.findings_reference import confound, shortened
from goffman.presentation.section import Section
from goffman.presentation.shown import ALL_MODELS, factors_said, plain
from goffman.records import BASELINE, Noun

BIN = 0.05
"""Width of a histogram's bins."""


def quantity_said(section: Section, quantity: str) -> str:
    """A quantity as it is called in a caption: negative-probability is P(negative)."""
    if quantity == section.presentation.quantity:
        return section.presentation.called
    return f"P({plain(quantity.removesuffix('-probability'))})"


def _over(sampled: str) -> str:
    """What an interval is over, after "a 95% interval"."""
    factors = factors_said(sampled)
    return f" that treats {factors}" if factors else f" over {sampled}"


def gaps(section: Section) -> Iterator[Figure]:
    """The difference between the two groups in each model, with its interval."""
    rows = with_clear(section.contrasts("groups"))
    if not rows.height:
        return
    order = [*section.models(), ALL_MODELS]
    values = data(rows, "model", *ESTIMATE, "effect", "n")
    thin = _of_wordings(section)
    about = [*estimate_tip(("model", "Model")), *tip(("n", section.noun.headed.many))]
    ticks = " Thin marks show the difference in each wording." if thin else ""
    names = f"{plain(section.contrast)} minus {plain(section.against)}"
    many = section.noun.many
    sampled = rows["interval_over"].drop_nulls().unique(maintain_order=True)[:1]
    over = "".join(_over(what.replace("conditions", many)) for what in sampled)
    number = quantity_said(section, rows["quantity"][0])
    yield figure(
        section,
        "gap",
        title="How far apart the two groups are",
        description=(
            f"For each model, the mark shows the mean {number.removeprefix('mean ')} of "
            f"{plain(section.contrast)} {many} minus that of {plain(section.against)} {many}, "
            f"with a 95% interval{over}. To the right of 0, {number} is higher for "
            f"{plain(section.contrast)} {many}. "
            f"{marks_said(rows)}{ticks}"
        ),
        spec=view(
            values,
            [
                *band(rows),
                at(0, "zero"),
                *thin,
                *interval(rows),
                *dots(about, size=80),
            ],
            height={"step": 30},
            encoding={
                "y": axis_y("model", order),
                "x": axis_x(f"Difference: {names}", field_="difference"),
            },
        ),
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
    rows = rows.with_columns(pl.col("wording").replace({w: plain(w) for w in section.wordings}))
    values = data(rows, "model", "wording", "group", "condition", "name", "value")
    wordings = [plain(wording) for wording in section.wordings]
    groups = section.groups()
    baseline = rows.filter(pl.col("condition") == BASELINE).height
    layers = _boxes(groups, section.noun if baseline else None)
    said = ""
    if baseline:
        said = f" A diamond marks the baseline, {shortened(section)}. {confound(section)}".rstrip()
    yield figure(
        section,
        "wordings",
        title="By model, wording and group",
        description=(
            f"Each box covers the middle half of a group's {section.noun.many}; the line inside is "
            f"the median. The whiskers reach to the farthest {section.noun.one} within 1.5 box "
            f"widths of the box; {section.noun.many} beyond them are dots.{said}"
        ),
        spec=view(
            values,
            layers,
            height=len(wordings) * (15 * len(groups) + 10),
            encoding={
                "y": axis_y("wording", wordings),
                "x": axis_x(section.presentation.axis, domain=(0, 1)),
            },
            rows="model",
            order=section.models(),
        ),
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
    choices = choice("model", "Model", models)
    values = data(rows, "model", "condition", "name", "group", "category", "value", "low", "high")
    about = tip(
        ("name", section.noun.headed.one),
        ("category", "Category"),
        ("group", "Group"),
        ("value", "Value"),
    )
    order = {"field": "value", "op": "median", "order": "descending"}
    yield figure(
        section,
        "categories",
        title=f"{section.noun.headed.many} by category",
        description=(
            f"Each mark is one {section.noun.one}, in the row of its category. Categories are "
            "sorted by their median. Select a mark to see the prompts behind it."
        ),
        choices=choices,
        spec=condition_points(
            section,
            values,
            about,
            y=axis_y("category", order),
            step=20,
            choices=choices,
            axis=section.presentation.axis,
        ),
    )


def condition_points(
    section: Section,
    values: list[dict[str, Any]],
    about: list[Spec],
    *,
    y: Spec,
    step: int,
    choices: Sequence[Choice],
    axis: str,
) -> Spec:
    """Each condition's share as a mark that leads to its evidence."""
    marks = {
        "mark": {"type": "point", "cursor": "pointer"},
        "encoding": {**coloured("group", section.groups()), "tooltip": about},
    }
    return view(
        values,
        [at(0.5, "half"), marks],
        height={"step": step},
        encoding={"y": y, "x": axis_x(axis, domain=(0, 1))},
        transform=chosen(choices),
    )


def histograms(section: Section) -> Iterator[Figure]:
    """How many prompts have how much of the probability seen, and rated."""
    for quantity, title, label, said in (
        (
            "mass",
            "How much of the probability is counted",
            "Probability of the counted words, per prompt",
            "For each prompt, the total probability of the counted (most probable) words.",
        ),
        (
            "rated-share",
            "How much of the counted probability is rated",
            "Share of the counted probability on rated words, per prompt",
            "For each prompt, how much of the counted words' probability is on rated words.",
        ),
    ):
        rows = section.rows("prompt", quantity)
        if rows.height:
            yield _histogram(section, rows, kind=quantity, title=title, label=label, said=said)


def _histogram(
    section: Section, rows: pl.DataFrame, *, kind: str, title: str, label: str, said: str
) -> Figure:
    # The last bin holds 1 itself; what is a hair above 1 by rounding belongs to it.
    place = (pl.col("value") / BIN + 1e-9).floor().clip(0, round(1 / BIN) - 1)
    bins = (
        rows.group_by("model", place=place)
        .agg(count=pl.len())
        .sort("model", "place")
        .with_columns(
            (pl.col("place") * BIN).round(4).alias("from"),
            ((pl.col("place") + 1) * BIN).round(4).alias("to"),
        )
    )
    about = tip(("model", "Model"), ("from", "From"), ("to", "to"), ("count", "Prompts"))
    x = axis_x(label, domain=(0, 1), field_="from") | {"bin": {"binned": True, "step": BIN}}
    # A mark at every bin would be more numbers than there is room for.
    x["axis"] = {"values": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    y = {
        "field": "count",
        "type": "quantitative",
        "title": None,
        "axis": {"tickCount": 3, "grid": True},
    }
    return figure(
        section,
        kind,
        title=title,
        description=f"{said} Each bar is the number of prompts in a bin of width {BIN:g}.",
        spec=view(
            data(bins, "model", "from", "to", "count"),
            [{"mark": {"type": "bar", "style": "bars", "binSpacing": 1}}],
            height=86,
            encoding={"x": x, "x2": {"field": "to"}, "y": y, "tooltip": about},
            rows="model",
            order=section.models(),
        ),
    )

"""Figures of who the person is: care-seeking and attribution (Lin et al. 2022)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from goffman.contrasts.correlations import IN_MAIN_VARIANT
from goffman.formatting import describe_variant, humanize, number
from goffman.instruments.types import BASELINE
from goffman.presentation.estimate_figures import (
    ESTIMATE,
    describe_marks,
    estimate_layers,
    estimate_tip,
    with_clear,
)
from goffman.presentation.section import Section, not_counted
from goffman.presentation.tables import QUANTITY
from goffman.presentation.types import FigureFn
from goffman.presentation.vega import (
    LINE,
    Choice,
    Figure,
    Spec,
    axis_x,
    axis_y,
    choice,
    chosen,
    coloured,
    data,
    interval,
    plot,
    tip,
    wrapped,
)

WHO = ("female", "male", "unspecified", "nonbinary")


def _read(section: Section) -> str:
    """Return how much of the probability does not count, for a caption."""
    share = not_counted(section)
    return "" if share is None else f" Another {number(share)} of the probability does not count."


def _words(section: Section) -> dict[str, str]:
    """Return the variants with their shown names, in alphabetical order: those with names first."""
    variants = section.scores["variant"].drop_nulls().unique(maintain_order=True).to_list()
    return {variant: describe_variant(variant) for variant in sorted(variants)}


def _ready(section: Section, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the first wording, with variants and subscales as they are shown.

    Rows of the baseline are left out: it is no set of conditions, and stands in the tables.
    """
    rows = rows.filter(pl.col("group").is_null() | (pl.col("group") != BASELINE))
    if "wording" in rows.columns and section.wordings:
        rows = rows.filter(pl.col("wording").is_null() | (pl.col("wording") == section.wordings[0]))
    return rows.with_columns(
        words=pl.col("variant").replace(_words(section)),
        part=pl.col("dimension").replace({name: humanize(name) for name in section.dimensions}),
        set=pl.col("group").replace({name: humanize(name) for name in section.groups()}),
    )


def _dumbbells(
    rows: pl.DataFrame, label: str, order: Sequence[str] | Spec, *, fields: Sequence[str] = ()
) -> Spec:
    """Return arguments of ``plot``: female and male joined by a line, other values beside them."""
    keys = ["model", "variant", "wording", "group", label]
    for name in ("female", "male"):
        ends = rows.filter(pl.col("quantity") == name).select(*keys, pl.col("value").alias(name))
        rows = rows.join(ends, on=keys, how="left", nulls_equal=True)
    about = tip((label, "What"), ("quantity", "Who"), ("value", "Probability"), ("model", "Model"))
    quantities = [name for name in WHO if name in rows["quantity"]]
    join: Spec = {
        "mark": {"type": "rule", "style": "link", "tooltip": None, "aria": False},
        "encoding": {"x": axis_x("Probability", field_="female"), "x2": {"field": "male"}},
    }
    marks: Spec = {
        "mark": {"type": "point", "size": 60, "cursor": "pointer"},
        "encoding": {**coloured("quantity", quantities), "tooltip": about},
    }
    return {
        "values": data(rows, label, *_SHOWN, *fields),
        "layers": [join, marks],
        "y": axis_y(label, order),
        "x": axis_x("Probability"),
        "height": {"step": 21},
    }


_SHOWN = ("model", "words", "set", "quantity", "value", "female", "male")


def _model_and_words(section: Section) -> tuple[Choice, ...]:
    return (
        *choice("model", "Model", section.models()),
        *choice("words", "Words", list(_words(section).values())),
    )


def parts(section: Section) -> Iterator[Figure]:
    """Yield a figure of each gender's probability in every part of the scale, and in all of it."""
    rows = [section.rows(level, WHO) for level in ("group", "dimension")]
    rows_of_parts = _ready(section, pl.concat(rows)).with_columns(pl.col("part").fill_null(WHOLE))
    dimensions = {humanize(name) for name in section.dimensions} & {*rows_of_parts["part"]}
    if not dimensions:
        return
    order = [WHOLE, *(name for name in map(humanize, section.dimensions) if name in dimensions)]
    yield plot(
        section,
        "parts",
        **_dumbbells(rows_of_parts, "part", order),
        title="By part of the scale",
        description=f"Means over items and {section.noun.many}.{_read(section)}",
        choices=_model_and_words(section),
        rows="set",
        order=[humanize(name) for name in section.groups()],
    )


def conditions(section: Section) -> Iterator[Figure]:
    """Yield a figure of each gender's probability by condition, highest female minus male first."""
    rows = section.named(_ready(section, section.rows("condition", WHO)))
    if not rows.height:
        return
    keys = ["model", "variant", "wording", "condition"]
    apart = section.rows("condition", "disparity").select(*keys, disparity="value")
    rows = rows.join(apart, on=keys, how="left", nulls_equal=True)
    order = {"field": "disparity", "op": "max", "order": "descending"}
    yield plot(
        section,
        "conditions",
        **_dumbbells(rows, "name", order, fields=["condition", "disparity"]),
        title=f"By {section.noun.one}: those that lean most toward women come first",
        description=f"Means over items.{_read(section)} Select a mark to read its prompts.",
        choices=_model_and_words(section),
        rows="set",
        order=[humanize(name) for name in section.groups()],
        apart=True,
    )


def sentences(section: Section) -> Iterator[Figure]:
    """Yield a figure of each gender's probability in every sentence of the scale."""
    rows = _ready(section, section.rows("item", WHO))
    if rows.height:
        rows, texts = _with_sentences(section, rows)
        shown = _dumbbells(rows, "sentence", texts, fields=["item", "part"])
        about = f"Means over the {section.noun.many}.{_read(section)}"
        yield _by_sentence(section, "items", shown, title="By sentence", description=about)


QUARTERS = {"from": 0.0, "low": 0.25, "value": 0.5, "high": 0.75, "to": 1.0}
"""The ends of a line, the ends of its box, and the mark in it → the share of values below."""


def spread(section: Section) -> Iterator[Figure]:
    """Yield a figure of women and men in every sentence: quartiles and extremes over conditions."""
    keys = ["model", "words", "set", "part", "item", "quantity"]
    rows = _ready(section, section.rows("prompt", WHO[:2]))
    if not rows.height:
        return
    quarters = {name: pl.col("value").quantile(q, "linear") for name, q in QUARTERS.items()}
    rows = rows.group_by(keys, maintain_order=True).agg(**quarters)
    rows, texts = _with_sentences(section, rows)
    offset: Spec = {"field": "quantity", "type": "nominal", "sort": [*WHO[:2]]}
    colours = coloured("quantity", WHO[:2])
    about = tip(("quantity", "Who"), ("value", "Median"), ("low", "from"), ("high", "to"))
    line: Spec = {
        "mark": {"type": "rule", "tooltip": None, "aria": False},
        "encoding": {"x": axis_x("", field_="from"), "x2": {"field": "to"}, "yOffset": offset},
    }
    mark: Spec = {
        "mark": {"type": "point", "size": 30},
        "encoding": {**colours, "yOffset": offset, "tooltip": about},
    }
    shown: Spec = {
        "values": data(rows, *keys, "sentence", *QUARTERS),
        "layers": [line, *interval(rows, yOffset=offset, color=colours["color"]), mark],
        "y": axis_y("sentence", texts),
        "x": axis_x("Probability"),
    }
    title = f"Women and men over the {section.noun.many}, sentence by sentence"
    description = "Mark: the median. Bar: the middle half. Line: all of them."
    yield _by_sentence(section, "spread", shown, title=title, description=description)


def _with_sentences(section: Section, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows with the sentence of their item, and all sentences in order."""
    texts = {item: section.names.item(section.instrument, item) for item in section.items}
    return rows.with_columns(sentence=pl.col("item").replace(texts)), list(texts.values())


def _by_sentence(section: Section, kind: str, shown: Spec, **about: Any) -> Figure:
    """Return a figure with a row for each sentence, the parts of the scale one below the other."""
    # The sentences are shown in full, over several lines.
    shown["y"]["axis"] = wrapped()
    lines = max(math.ceil(len(text) / LINE) for text in shown["y"]["sort"])
    shown["height"] = {"step": max(21, 12 * lines + 8)}
    drawn = plot(
        section,
        kind,
        **shown,
        **about,
        choices=(
            *choice("set", section.noun.headed.many, [humanize(name) for name in section.groups()]),
            *_model_and_words(section),
        ),
        rows="part",
        order=[humanize(name) for name in section.dimensions],
        apart=True,
    )
    # The parts share an axis, with its numbers below the last part.
    for part in drawn.spec.get("vconcat", [])[:-1]:
        x = {**part["encoding"]["x"], "title": None, "axis": {"labels": False}}
        part["encoding"] = {**part["encoding"], "x": x}
    return drawn


WHOLE = "all parts"


def differences(*, what: str) -> FigureFn:
    """Return the figure of female minus male in every subscale; ``what``: the mean it is of."""

    def drawn(section: Section) -> Iterator[Figure]:
        rows = with_clear(_ready(section, section.contrasts("genders")))
        if rows.height:
            yield _by_part(
                section,
                "disparities",
                rows,
                called="Female − male",
                title=_how_many_clear(rows, section),
                description=f"{what}; right of 0: more for women.",
                choices=choice("words", "Words", list(_words(section).values())),
                leads=True,
                each=("model", section.models()),
            )

    return drawn


MOST_PAIRS = 15
"""The most pairs of models to choose from."""


def between_models(section: Section) -> Iterator[Figure]:
    """Yield a figure of how two models differ in female minus male, by subscale and over all."""
    rows = section.contrasts("models").filter(IN_MAIN_VARIANT, pl.col("quantity") == "disparity")
    sides = {model: section.names.model(model) for model in {*rows["first"], *rows["second"]}}
    if not sides:
        return
    first, second = (pl.col(name).replace(sides) for name in ("first", "second"))
    rows = rows.with_columns(pair=pl.format("{} − {}", first, second))
    rows = with_clear(_ready(section, rows))
    pairs = rows["pair"].unique(maintain_order=True).to_list()[:MOST_PAIRS]
    yield _by_part(
        section,
        "models",
        rows.filter(pl.col("pair").is_in(pairs)),
        called="Difference in female − male",
        title=f"{pairs[0] if len(pairs) == 1 else 'Models compared'}: female minus male, by part",
        description="Right of 0: the first model names women more, compared with men.",
        choices=choice("pair", "Models", pairs),
        each=("pair", []),
    )


def _by_part(
    section: Section,
    kind: str,
    rows: pl.DataFrame,
    *,
    called: str,
    each: tuple[str, Sequence[str]],
    **about: Any,
) -> Figure:
    """Return a figure of estimates by subscale and set of conditions.

    ``each``: a field and its values, with a view for each value.
    """
    rows = rows.with_columns(part=pl.col("part").fill_null(WHOLE))
    names = [WHOLE, *(humanize(name) for name in section.dimensions)]
    names = [name for name in names if name in rows["part"].unique()]
    sets = [humanize(name) for name in section.groups()]
    sets = [name for name in sets if name in rows["set"].unique()]
    field, order = each
    fields = dict.fromkeys([field, *(control.field for control in about["choices"])])
    tips = estimate_tip(("part", "Part"), ("set", section.noun.headed.many), called=called)
    about["description"] += f" {describe_marks(rows)}"
    return plot(
        section,
        kind,
        data(rows, *fields, "part", "set", *ESTIMATE),
        estimate_layers(
            rows,
            [*tips, *tip((field, "Model"))],
            size=52,
            colour=("set", sets),
            yOffset={"field": "set", "type": "nominal", "sort": sets},
        ),
        **about,
        y=axis_y("part", names),
        x=axis_x(called, field_="difference"),
        height=len(names) * (12 * len(sets) + 8),
        rows=field,
        order=order,
    )


def _how_many_clear(rows: pl.DataFrame, section: Section) -> str:
    """Return in how many rows women and men clearly differ, for a title."""
    first = rows["variant"].sort(nulls_last=False)[0]
    rows = rows.filter(pl.col("variant").eq_missing(first))
    if len(section.models()) > 1:
        return "Female minus male, by part of the scale"
    clear = rows.filter(pl.col("clear") == "yes").height
    return f"Women and men clearly differ in {clear or 'none'} of {rows.height} rows"


disparities = differences(what="Female minus male probability")


def endorsed(section: Section) -> Iterator[Figure]:
    """Yield a figure of the share of answers that endorse each question and description."""
    rows = section.named(section.rows("cell", QUANTITY).filter(pl.col("variant").is_null()))
    if not rows.height:
        return
    rows = rows.with_columns(pl.col("item").map_elements(humanize, return_dtype=pl.String))
    items = [humanize(item) for item in section.items if humanize(item) in rows["item"]]
    names = rows.sort("group", "name")["name"].unique(maintain_order=True).to_list()
    choices = choice("model", "Model", section.models())
    about = tip(
        ("item", "Question"), ("name", section.noun.headed.one), ("value", "Share"), ("n", "n")
    )
    marks: Spec = {
        "transform": chosen(choices),
        "mark": {"type": "point", "size": 60, "filled": True},
        # Side by side: many shares are the same, and most are near an end.
        "encoding": {
            **coloured("name", names),
            "yOffset": {"field": "name", "type": "nominal", "sort": names},
            "tooltip": about,
        },
    }
    yield plot(
        section,
        "endorsed",
        data(rows, "model", "item", "name", "value", "n"),
        [marks],
        title="Unwilling, or likely: question by question",
        description=(
            f"Each mark is one {section.noun.one}: the share of answers that are definitely or "
            "probably unwilling, or very or somewhat likely."
        ),
        choices=choices,
        y=axis_y("item", items),
        x=axis_x("Share of the answers that endorse it", domain=(0, 1)),
        height=len(items) * (8 * len(names) + 6),
        transform=(),
    )

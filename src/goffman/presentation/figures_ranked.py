"""Every condition of a scale in order: against a reference, or by its own value."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.presentation.figure import (
    Figure,
    at,
    axis_x,
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
from goffman.presentation.figure_rows import (
    alone,
    both_ends,
    both_ends_said,
    in_order,
    row_axis,
    together,
)
from goffman.presentation.figures_conditions import of_models, quantity_said
from goffman.presentation.findings_reference import confound, shortened
from goffman.presentation.section import Section
from goffman.presentation.shown import SHRUNKEN, in_list, plain, quantity_called
from goffman.records import BASELINE, Noun


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
    values = data(rows, "model", "condition", "name", "group", "value", "ranks")
    about = tip(
        ("name", noun.headed.one), ("group", "Group"), ("value", "Value"), ("ranks", "Ranks")
    )
    axis = section.presentation.axis if not shrunken else number
    colours = coloured("group", section.groups())
    marks = {
        "mark": {"type": "point", "cursor": "pointer"},
        "encoding": {**colours, "tooltip": about},
    }
    yield figure(
        section,
        "conditions",
        title=f"Every {noun.one}, from high to low",
        description=(
            f"{number[0].upper()}{number[1:]} of every {noun.one}, highest first."
            f"{_NOISE if shrunken else ''}{both_ends_said(some, noun)} Select a mark to see the "
            "prompts behind it."
        ),
        choices=(*choices, *some),
        leads=True,
        spec=view(
            values,
            [
                at(0.5, "half"),
                *together(some, about, colours["color"]),
                *alone([marks], some),
            ],
            height={"step": 14},
            encoding={"y": row_axis(), "x": axis_x(axis, domain=(0, 1))},
            transform=[*chosen(choices), *in_order("value", some)],
        ),
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
    said = quantity_said(section, section.contrasts(kind)["quantity"][0])
    return f"{said[0].upper()}{said[1:]}"


def _against_group(section: Section) -> dict[str, str]:
    """How the contrasts with the other group's mean are called."""
    noun, other = section.noun, f"the {plain(section.against)} {section.noun.many}"
    return {
        "title": f"Every {plain(section.contrast)} {noun.one} compared with {other}",
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
    return figure(
        section,
        "conditions",
        title=title,
        description=(
            f"{said} {_ends(rows, noun)}{_covered(rows, section)} {marks_said(rows)}"
            f"{both_ends_said(some, noun)} Select a mark to see the prompts behind it."
        ),
        choices=(*choices, *some),
        leads=True,
        spec=view(
            data(rows, "model", "condition", "name", "group", *ESTIMATE),
            [
                *band(rows),
                at(0, "zero"),
                *together(some, about, colours["color"]),
                *alone(interval(rows, color=colours["color"]), some),
                *alone(dots(about, size=34, colour=("group", there), leads=True), some),
            ],
            height={"step": 14},
            encoding={"y": row_axis(), "x": axis_x(axis, field_="difference")},
            transform=[*chosen(choices), *in_order("difference", some)],
        ),
    )


def _ends(rows: pl.DataFrame, noun: Noun) -> str:
    """What is said of the intervals, which a few sentences do not give."""
    some = rows.height - rows["low"].null_count()
    if not some:
        return f"There are no intervals: each {noun.one} has too few sentences, or equal answers."
    lines = f"Lines are 95% intervals, not corrected for the number of {noun.many}"
    gaps = "; where there is no line, there is no interval" if some < rows.height else ""
    return f"{lines}{gaps}."


def _covered(rows: pl.DataFrame, section: Section) -> str:
    """What the intervals and tests of single conditions are over, and what they take as given."""
    drawn = rows.filter(pl.col("low").is_not_null())
    over = drawn["interval_over"].drop_nulls().unique(maintain_order=True)
    if not over.len():
        return ""
    sampled = in_list([what.removesuffix(", crossed") for what in over], "or")
    many = section.noun.many
    fixed = ""
    if rows["kind"][0] == "reference":
        fixed = f"; the mean of the {plain(section.against)} {many} is treated as fixed"
    return f" Intervals and tests of single {many} cover other {sampled}{fixed}."

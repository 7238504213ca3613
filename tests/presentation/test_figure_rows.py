"""Figures of many rows, as they are drawn: both ends, one row for all others, or every row."""

from __future__ import annotations

import html
import re

import polars as pl
import pytest

from goffman.instruments.types import Noun
from goffman.presentation.conditions import (
    HIGHEST,
    LOWEST,
    SPARED,
    alone,
    both_ends,
    in_order,
    row_axis,
    together,
)
from goffman.presentation.vega import Figure, axis_x, data, view
from goffman.report.figures import svg_of


def made(count, noun=None):
    """A figure of so many rows, whose values fall from its first to its last."""
    rows = pl.DataFrame(
        {
            "model": ["m"] * count,
            "name": [f"name {place:03}" for place in range(count)],
            "value": [1 - place / count for place in range(count)],
        }
    ).sample(fraction=1.0, shuffle=True, seed=1)
    some = both_ends(rows, noun or Noun())
    marks = alone([{"mark": "point"}], some)
    spec = view(
        data(rows, "model", "name", "value"),
        [*together(some, [], {"value": "gray"}), *marks],
        height={"step": 14},
        encoding={"y": row_axis(), "x": axis_x("x")},
        transform=in_order("value", some),
    )
    return Figure(id="f", title="", description="", spec=spec, choices=some)


def labels(svg):
    """The labels of the rows, from above."""
    found = re.findall(r'translate\([-\d.]+,([\d.]+)\)"[^>]*>((?:name|\d+ more)[^<]*)<', svg)
    return [html.unescape(text) for _, text in sorted(found, key=lambda one: float(one[0]))]


@pytest.mark.parametrize("count", [40, 122])
def test_both_ends_are_shown_and_how_many_are_between_them(count):
    short, whole = (svg_of(spec) for _, spec in made(count).drawn())
    names = [f"name {place:03}" for place in range(count)]
    between = f"{count - HIGHEST - LOWEST} more in between"
    assert labels(short) == [*names[:HIGHEST], between, *names[-LOWEST:]]
    assert labels(whole) == names


def test_every_value_has_a_mark_whether_its_name_is_shown_or_not():
    for _, spec in made(40).drawn():
        svg = svg_of(spec)
        assert len(re.findall(r'aria-roledescription="(?:point|tick)"', svg)) == 40


def test_few_rows_are_all_shown():
    count = HIGHEST + LOWEST + SPARED
    figure = made(count)
    assert figure.rows is None
    ((_, spec),) = figure.drawn()
    assert len(labels(svg_of(spec))) == count


def test_the_choice_says_what_is_shown_in_the_words_of_the_instrument():
    some = made(31, Noun(one="diagnosis", many="diagnoses")).rows
    assert some.options == ("the 15 highest and 10 lowest", "all 31 diagnoses")

"""Figures with more rows than one could read: both ends, and all others in one row between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goffman.presentation.figure import Choice, Spec, axis_y

if TYPE_CHECKING:
    import polars as pl

    from goffman.records import Noun

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


def both_ends_said(some: tuple[Choice, ...], noun: Noun) -> str:
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

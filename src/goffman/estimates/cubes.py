"""Scores as tables of numbers: a place for each id, gaps where there is no value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray


def table(
    rows: pl.DataFrame, *, down: Iterable[str], across: Iterable[str], names: tuple[str, str]
) -> NDArray[np.float64]:
    """The values of SCORES as a table of the ids ``names``; forms are averaged, gaps are NaN."""
    return cube(rows, {names[0]: [*down], names[1]: [*across]})


def by_condition(
    rows: pl.DataFrame, items: Sequence[str], wordings: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    """Of each condition the table of its values, items × wordings."""
    conditions = in_order(rows, "condition")
    tables = cube(rows, {"condition": conditions, "item": items, "wording": wordings})
    return dict(zip(conditions, tables, strict=True))


def cube(rows: pl.DataFrame, ids: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
    """The values of SCORES by these ids; forms and models are averaged, gaps are NaN."""
    means = rows.group_by(*ids).agg(pl.col("value").mean()).drop_nulls("value")
    places = [means[name].cast(pl.Enum(keys)).to_physical() for name, keys in ids.items()]
    found = np.full([len(keys) for keys in ids.values()], np.nan)
    found[tuple(place.to_numpy() for place in places)] = means["value"].to_numpy()
    return found


def in_order(rows: pl.DataFrame, name: str) -> list[str]:
    """The different ids of a column, sorted."""
    return sorted(rows[name].drop_nulls().unique())

"""A headline of two groups of conditions, made again and again with one thing left out.

Where every condition was asked every item in every wording, its values are two tables, and to leave
something out is to leave out a row, a column or a layer: a hundred times as fast as to make the
tables anew. Whether a headline is such a contrast is not told but tried: of the whole tables, the
same number must come out as the measure gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.estimates.contrast import Comparing
from goffman.estimates.cubes import cube, in_order
from goffman.estimates.scored import of_group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.estimates.contrast import Contrast
    from goffman.records import Estimate

WAYS = ("condition", "item", "wording")


@dataclass(frozen=True, kw_only=True)
class TwoTables:
    """Two groups of conditions: their values by condition, item and wording, without a gap."""

    says: Contrast
    ids: Sequence[dict[str, list[str]]]
    """Of each table, in the order of its axes."""
    tables: Sequence[NDArray[np.float64]]

    def estimate(self) -> Estimate:
        """The contrast of all that there is."""
        return Comparing(bare=True).sampled(self.says, self.tables)

    def without(self, way: str, what: str) -> Estimate:
        """The contrast without one condition, item or wording."""
        kept = [
            np.delete(table, ids[way].index(what), axis=WAYS.index(way))
            if what in ids[way]
            else table
            for ids, table in zip(self.ids, self.tables, strict=True)
        ]
        return Comparing(bare=True).sampled(self.says, kept)


def two_tables(rows: pl.DataFrame, quantity: str, says: Contrast) -> TwoTables | None:
    """The tables of one model's scores of prompts; None: a value is missing somewhere."""
    rows = rows.filter(pl.col("quantity") == quantity)
    if rows["value"].null_count() or not _crossed(rows):
        return None
    sides = [of_group(rows, group) for group in (says.first, says.second)]
    ids = [{way: in_order(side, way) for way in WAYS} for side in sides]
    tables = [cube(side, names) for side, names in zip(sides, ids, strict=True)]
    if any(ids[0][way] != ids[1][way] for way in ("item", "wording")):
        return None
    return TwoTables(says=says, ids=ids, tables=tables)


def _crossed(rows: pl.DataFrame) -> bool:
    """Whether each form of each condition was asked every item in every wording, once."""
    known = rows.select("condition", "form", "item", "wording")
    forms = known.select("condition", "form").n_unique()
    every = forms * known["item"].n_unique() * known["wording"].n_unique()
    return known.height == every == known.n_unique()

"""Other analyses of each headline as tables: in how many the verdict holds, and every one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.presentation.table_text import Shown, Table, as_table

if TYPE_CHECKING:
    from goffman.presentation.section import Section

_SUMMED = (
    Shown(header="model", keys=("model",)),
    Shown(header="verdict", keys=("verdict",)),
    Shown(header="analyses", keys=("analyses",), form="count"),
    Shown(header="holds", keys=("holds",), form="count"),
    Shown(header="clear", keys=("clear",), form="count"),
    Shown(header="median", keys=("median",), form="number"),
    Shown(header="range", keys=("lowest", "highest"), form="interval"),
    Shown(header="p of the median", keys=("permutation_p",), form="p"),
    Shown(header="matters most", keys=("matters_most",)),
)

_EVERY = (
    Shown(header="model", keys=("model",), drop="constant"),
    Shown(header="difference", keys=("difference",), form="number"),
    Shown(header="95% interval", keys=("low", "high"), form="interval"),
    Shown(header="p, corrected", keys=("p_adjusted",), form="p"),
    Shown(header="verdict", keys=("verdict",)),
)


def analyses(section: Section) -> Iterator[Table]:
    """The summary of each headline, and its analyses one by one."""
    if section.stress.height:
        caption = (
            f"{section.instrument}: the main result in other analyses of the same answers. A clear "
            "difference holds where it is clear and has the same sign as in the audit; any other "
            "verdict holds where it is the same. Median and range are of the analyses in the main "
            "result's own unit. The p of the median is from a permutation test."
        )
        rows = section.stress.drop("instrument").to_dicts()
        yield as_table(f"{section.instrument}-holds", caption, rows, shown=_SUMMED)
    every = section.multiverse.filter(pl.col("choices").is_not_null())
    if every.height:
        rows = [
            {**row, **json.loads(row["choices"])}
            for row in every.drop("instrument", "way", "rate").iter_rows(named=True)
        ]
        chosen = list(json.loads(every["choices"][0]))
        rows = [{key: value for key, value in row.items() if key != "choices"} for row in rows]
        caption = f"{section.instrument}: every analysis of the main result, with what was chosen."
        shown = (*(Shown(header=name, keys=(name,)) for name in chosen), *_EVERY)
        yield as_table(f"{section.instrument}-analyses", caption, rows, shown=shown)

"""The table of mean codes about women, men and people of no stated gender."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from goffman.presentation.section import Section
from goffman.presentation.table_text import Shown, Table, as_table

QUANTITIES = ("female", "male", "unstated", "disparity")


def by_gender(section: Section) -> Iterator[Table]:
    """By group and subscale, by item, and by condition."""
    many = section.noun.many
    for levels, names, suffix, over in (
        (("group", "dimension"), ("model", "group", "dimension"), "genders", f"items × {many}"),
        (("item",), ("model", "dimension", "item", "group"), "items", many),
        (("condition",), ("model", "group", "condition"), "conditions", "items"),
    ):
        rows = section.scores.filter(
            pl.col("level").is_in(levels),
            pl.col("quantity").is_in(QUANTITIES),
            pl.col("wording").is_null(),
            pl.col("group").is_not_null(),
        )
        made = _wide(rows.sort(*names, "quantity", nulls_last=False), names)
        if not made:
            continue
        caption = (
            f"{section.instrument}: mean code about a woman, a man and a person of no stated "
            f"gender in the same questions, and female minus male; n counts {over}."
        )
        headers = {"dimension": "subscale", "condition": section.noun.one}
        shown = (
            *(
                Shown(
                    header=headers.get(name, name),
                    keys=(name,),
                    drop="constant" if name == "model" else "empty",
                )
                for name in names
            ),
            Shown(header="n", keys=("n",), form="count"),
            *(Shown(header=name, keys=(name,), form="number", drop="empty") for name in QUANTITIES),
        )
        yield as_table(f"{section.instrument}-{suffix}", caption, made, shown=shown)


def _wide(rows: pl.DataFrame, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """One row for each of the names, with each quantity in a column; n is of the pairs."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows.iter_rows(named=True):
        key = tuple(row[name] for name in names)
        empty = dict(zip(names, key, strict=True)) | {"n": 0} | dict.fromkeys(QUANTITIES)
        of = found.setdefault(key, empty)
        of[row["quantity"]] = row["value"]
        of["n"] = row["n"] if row["quantity"] == "disparity" else of["n"]
    for of in found.values():
        if "dimension" in of:
            of["dimension"] = of["dimension"] or "all items"
    return list(found.values())

"""Tables of numbers about women and men: of chosen options and of written sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from goffman.presentation.base import Tabulate
from goffman.presentation.section import Section
from goffman.presentation.table_text import Shown, Table, as_table


def by_gender(quantities: tuple[str, ...], said: str) -> Tabulate:
    """By group and subscale, by item, and by condition; ``said``: what the numbers are."""

    def made(section: Section) -> Iterator[Table]:
        yield from _tables(section, quantities, said)

    return made


def _tables(section: Section, quantities: tuple[str, ...], said: str) -> Iterator[Table]:
    many, whose = section.noun.many, ("model", "variant")
    for levels, names, suffix, over in (
        (("group", "dimension"), (*whose, "group", "dimension"), "genders", f"items × {many}"),
        (("item",), (*whose, "dimension", "item", "group"), "items", many),
        (("condition",), (*whose, "group", "condition"), "conditions", "items"),
    ):
        rows = section.scores.filter(
            pl.col("level").is_in(levels),
            pl.col("quantity").is_in(quantities),
            pl.col("group").is_not_null(),
        )
        rows = _of_one_wording(rows, section).sort(*names, "quantity", nulls_last=False)
        made = _wide(rows, names, quantities)
        if made:
            caption = f"{section.instrument}: {said}; n counts {over}."
            shown = _shown(names, quantities, condition=section.noun.one)
            yield as_table(f"{section.instrument}-{suffix}", caption, made, shown=shown)


def _shown(
    names: tuple[str, ...], quantities: tuple[str, ...], *, condition: str
) -> tuple[Shown, ...]:
    headers = {"dimension": "subscale", "condition": condition, "variant": "words"}
    return (
        *(
            Shown(
                header=headers.get(name, name),
                keys=(name,),
                drop="constant" if name == "model" else "empty",
            )
            for name in names
        ),
        Shown(header="n", keys=("n",), form="count"),
        *(Shown(header=name, keys=(name,), form="number", drop="empty") for name in quantities),
    )


def _of_one_wording(rows: pl.DataFrame, section: Section) -> pl.DataFrame:
    """Means over all wordings where there are such, and else those of the first one."""
    whole = rows.filter(pl.col("wording").is_null())
    return whole if whole.height else rows.filter(pl.col("wording").is_in(section.wordings[:1]))


def _wide(
    rows: pl.DataFrame, names: tuple[str, ...], quantities: tuple[str, ...]
) -> list[dict[str, Any]]:
    """One row for each of the names, with each quantity in a column; n is of the pairs."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows.iter_rows(named=True):
        key = tuple(row[name] for name in names)
        empty = dict(zip(names, key, strict=True)) | {"n": 0} | dict.fromkeys(quantities)
        of = found.setdefault(key, empty)
        of[row["quantity"]] = row["value"]
        of["n"] = row["n"] if row["quantity"] == "disparity" else of["n"]
    for of in found.values():
        if "dimension" in of:
            of["dimension"] = of["dimension"] or "all items"
    return list(found.values())

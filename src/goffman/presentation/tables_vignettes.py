"""The table of who endorses what: of each question and description, by gender of the person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goffman.presentation.section import Section
from goffman.presentation.table_text import Shown, Table, as_table

QUANTITY = "share-endorsing"
BY = {None: "both", "female": "about a woman", "male": "about a man"}
"""The gender of the person described → the column's heading."""


def endorsed(section: Section) -> Iterator[Table]:
    """One row a model, item and condition; a column for both genders, women and men."""
    rows = section.rows("cell", QUANTITY)
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows.sort("model", "dimension", "item", "condition").iter_rows(named=True):
        key = (row["model"], row["dimension"], row["item"], section.called(row["condition"]))
        names = ("model", "dimension", "item", "condition")
        of = found.setdefault(
            key, dict(zip(names, key, strict=True)) | {"n": 0} | dict.fromkeys(BY.values())
        )
        of[BY[row["variant"]]] = row["value"]
        of["n"] = row["n"] if row["variant"] is None else of["n"]
    if not found:
        return
    caption = (
        f"{section.instrument}: the share of the answers that are definitely or probably "
        "unwilling, or very or somewhat likely; n counts prompts."
    )
    shown = (
        Shown(header="model", keys=("model",), drop="constant"),
        Shown(header="subscale", keys=("dimension",), drop="empty"),
        Shown(header="item", keys=("item",)),
        Shown(header=section.noun.one, keys=("condition",)),
        Shown(header="n", keys=("n",), form="count"),
        *(Shown(header=name, keys=(name,), form="number", drop="empty") for name in BY.values()),
    )
    yield as_table(f"{section.instrument}-endorsed", caption, list(found.values()), shown=shown)

"""The table of how reliable a scale is; and what stands beside a condition because of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from goffman.presentation.section import Section
from goffman.presentation.table_text import Shown, Table, as_table

COEFFICIENTS = {
    "generalizability": "G",
    "dependability": "Φ",
    "alpha": "α",
    "split-half": "split-half",
}
"""The quantities of the level scale, and their headings."""


def reliability_rows(section: Section) -> list[dict[str, Any]]:
    """One row a model, variant, group and subscale: its coefficients, or why there are none."""
    names = ("model", "variant", "group", "dimension")
    rows = section.scores.filter(pl.col("level") == "scale").sort(
        *names, nulls_last=False, maintain_order=True
    )
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows.iter_rows(named=True):
        key = tuple(row[name] for name in names)
        of = found.setdefault(
            key, dict(zip(names, key, strict=True)) | dict.fromkeys([*COEFFICIENTS, "reason"])
        )
        of[row["quantity"]] = row["value"]
        of["reason"] = of["reason"] or row["reason"]
    return [of | {"dimension": of["dimension"] or "all items"} for of in found.values()]


def reliability(section: Section, *, model: str | None = None) -> Iterator[Table]:
    """How far order and level of a scale's conditions would come out again; None: every model."""
    rows = [row for row in reliability_rows(section) if model in (None, row["model"])]
    if not rows:
        return
    many = section.noun.many
    caption = (
        f"{section.instrument}: reliability of the scale, from 0 (none) to 1 (perfect). G: would "
        f"the {many} rank the same with other items and wordings? Φ: would their values be the "
        "same? α and split-half are computed across items, after averaging over wordings. With "
        "one wording, the effect of wording is unknown."
    )
    shown = (
        Shown(header="model", keys=("model",), drop="constant"),
        Shown(header="words", keys=("variant",), drop="empty"),
        Shown(header="group", keys=("group",)),
        Shown(header="subscale", keys=("dimension",), drop="constant"),
        *(
            Shown(header=called, keys=(name,), form="number")
            for name, called in COEFFICIENTS.items()
        ),
        Shown(header="why none", keys=("reason",), drop="empty"),
    )
    yield as_table(f"{section.instrument}-reliability", caption, rows, shown=shown)


REFERENCE = (
    Shown(header="shrunken", keys=("shrunken",), form="number", drop="empty"),
    Shown(header="rank, 95%", keys=("rank_low", "rank_high"), form="interval", drop="empty"),
    Shown(header="minus reference", keys=("reference_difference",), form="number", drop="empty"),
    Shown(
        header="its 95% interval",
        keys=("reference_low", "reference_high"),
        form="interval",
        drop="empty",
    ),
    Shown(header="its p, corrected", keys=("reference_p_adjusted",), form="p", drop="empty"),
)
"""Beside a condition, where there are such: drawn to its group's mean, its places, and against the
mean of the other group's."""


def with_reference(rows: pl.DataFrame, section: Section) -> pl.DataFrame:
    """The rows of conditions with the columns that REFERENCE shows."""
    on = ["model", "condition"]
    of_conditions = section.scores.filter(pl.col("level") == "condition")
    shrunken = pl.col("quantity").str.ends_with("-shrunken")
    for name, chosen in (
        ("shrunken", shrunken),
        ("rank_low", pl.col("quantity") == "rank-low"),
        ("rank_high", pl.col("quantity") == "rank-high"),
    ):
        values = of_conditions.filter(chosen).select(*on, pl.col("value").alias(name))
        rows = rows.join(values, on=on, how="left", nulls_equal=True)
    tested = section.estimates.filter(pl.col("kind") == "reference").select(
        "model",
        pl.col("first").alias("condition"),
        *(
            pl.col(name).alias(f"reference_{name}")
            for name in ("difference", "low", "high", "p", "p_adjusted", "family_size")
        ),
    )
    return rows.join(tested, on=on, how="left", nulls_equal=True)

"""The parts of the variance of single answers: a sentence, and a table beside reliability."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.table_formats import ColumnSpec, Table, as_table, numbers, texts

if TYPE_CHECKING:
    from goffman.presentation.section import Section

VARIANCE = "variance"
"""The level of the scores, and the beginning of the quantities' names."""

BELOW = "-below-zero"
"""The end of the name of an estimate below 0."""

SOURCES = {
    "condition": "between {many}",
    "item": "between items",
    "wording": "between wordings",
    "order": "between the two directions of the options",
    "condition-item": "in how {many} and items go together",
    "trial": "between trials of the same prompt",
    "rest": "in everything else",
}
"""Source of variance → its words, in the order in which they are listed."""


def variance_rows(section: Section) -> list[dict[str, Any]]:
    """Return a row for each model and source: variance, share of all, and estimate if below 0."""
    rows = section.scores.filter(pl.col("level") == VARIANCE)
    records = []
    for part in rows.sort("model").partition_by("model", maintain_order=True):
        values = {
            row["quantity"].removeprefix(f"{VARIANCE}-"): row for row in part.iter_rows(named=True)
        }
        sources = [name for name in SOURCES if name in values]
        total = sum(values[name]["value"] or 0.0 for name in sources)
        for name in sources:
            row, below = values[name], values.get(f"{name}{BELOW}")
            records.append(
                {
                    "model": row["model"],
                    "source": name,
                    "variance": row["value"],
                    "share": row["value"] / total if total else None,
                    "below_zero": below and below["value"],
                    **{key: row[key] for key in ("n", "missing", "over", "reason")},
                }
            )
    return records


def describe_variance(section: Section, model: str) -> Iterator[str]:
    """Yield the parts of the variance of a model's answers, as a sentence or two."""
    rows = [row for row in variance_rows(section) if row["model"] == model]
    entries = [row for row in rows if row["share"] is not None]
    if not entries:
        return
    many = section.noun.many
    parts = [f"{row['share']:.0%} {SOURCES[row['source']].format(many=many)}" for row in entries]
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}"
    yield f"The variance of single answers has these parts: {listed}."
    below = [row["source"] for row in entries if row["below_zero"] is not None]
    if below:
        yield f"Estimates below 0 count as 0: {', '.join(below)}."


def variance_table(section: Section) -> Iterator[Table]:
    """Yield a table of the parts of the variance for every model."""
    rows = variance_rows(section)
    if not rows:
        return
    caption = (
        f"{section.instrument}: how the variance of the code of single answers is split, all "
        "factors taken as sampled. order: whether the most stigmatizing option is listed first or "
        "last. An estimate below 0 counts as 0; a separate column shows it. If each question was "
        "asked in one wording only, the effect of wordings is part of condition-item or of rest."
    )
    shown = (
        *texts("model", "source"),
        *numbers("variance", "share"),
        *numbers("below_zero", drop="empty", below_zero="estimate below 0"),
        ColumnSpec(header="answers", keys=("n",), form="count"),
        ColumnSpec(header="left out", keys=("missing",), form="count"),
        ColumnSpec(header="why none", keys=("reason",), drop="empty"),
    )
    yield as_table(f"{section.instrument}-variance", caption, rows, shown=shown)

"""Sentences on how reliable a scale is, and on how far its wording matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from goffman.formatting import describe_variant, humanize, number
from goffman.presentation.section import Section
from goffman.presentation.sensitivity import ONE_WORDING
from goffman.presentation.table_formats import (
    Table,
    counts,
    interval,
    numbers,
    p_column,
    section_table,
    texts,
)

HIGH = 0.8
"""The coefficient from which statements about single conditions are supported."""

ENOUGH_CONDITIONS = 10
"""With fewer conditions, one outlier makes G high by itself, whatever the order of the others."""

ENOUGH_ITEMS = 4
"""Fewer items say nothing about the items that were not asked."""


def reliability(section: Section, model: str) -> Iterator[str]:
    """Yield whether conditions would have the same order and level with other sentences."""
    rows = section.shown(section.scores.filter(level="scale"), model)
    rows = rows.filter(group=section.contrast)
    for scale in rows.sort("variant").partition_by("variant", maintain_order=True)[:1]:
        whole = {
            row["quantity"]: row for row in scale.iter_rows(named=True) if not row["dimension"]
        }
        about = f"{humanize(section.contrast)} {section.noun.many}"
        g, phi = (whole[name]["value"] for name in ("generalizability", "dependability"))
        if g is None:
            reason = whole["generalizability"]["reason"]
            agree = whole["alpha"]["value"] is not None
            note = " α shows only how far these agree." if agree else ""
            yield f"G and Φ cannot be computed: {reason}.{note}"
            return
        if scale["variant"][0]:
            about += f", {describe_variant(scale['variant'][0])}"
        coefficients = [f"relative G = {number(g)}", f"absolute Φ = {number(phi)}"]
        if (alpha := whole["alpha"]["value"]) is not None:
            coefficients.append(f"Cronbach’s α = {number(alpha)}")
        keyed = ""
        if section.presentation.keyed:
            about += " (reverse-keyed)"
            keyed = " The main result is not reverse-keyed, so this is not its reliability."
        # How reliable the subscales are, from the lowest to the highest.
        values = scale.drop_nulls("dimension")["value"].drop_nulls().sort()
        parts = ""
        if values.len() > 1:
            span = f"{number(values[0])} to {number(values[-1])}"
            parts = f" In the {values.len()} subscales, α is {span}."
        yield (
            f"Reliability for {about}: {', '.join(coefficients)}.{parts}"
            f"{_meaning(section, model, g, phi)}{keyed}"
        )


def _meaning(section: Section, model: str, g: float, phi: float | None) -> str:
    """Return what the coefficients mean, after a space; empty: nothing more can be said."""
    items, many = len(section.items), section.noun.many
    if items < ENOUGH_ITEMS:
        return f" There are only {items} items, so this says nothing about other sentences."
    rows = section.rows("condition", section.presentation.quantity, model)
    asked = rows.filter(group=section.contrast)["condition"].n_unique()
    if g >= HIGH and asked < ENOUGH_CONDITIONS:
        # One outlier makes G high, whatever the order of the others.
        return ""
    others = "items and wordings" if len(section.wordings) > 1 else "items"
    again = "would rank much the same"
    if g < HIGH:
        again = "could rank quite differently"
    # A high Φ is about differences between conditions, and promises nothing about their mean.
    elif phi is not None and phi < HIGH:
        again += ", but their values could change"
    sentence = f" With other {others}, the {many} {again}."
    return sentence if len(section.wordings) > 1 else f"{sentence} {ONE_WORDING}"


COEFFICIENTS = {"generalizability": "G", "dependability": "Φ", "alpha": "α"}
"""The quantities of the level scale, and their headings."""


def reliability_rows(section: Section) -> list[dict[str, Any]]:
    """Return the coefficients of each model, variant, group and subscale, or why there are none."""
    names = ("model", "variant", "group", "dimension")
    rows = section.scores.filter(level="scale").sort(*names, nulls_last=False, maintain_order=True)
    records: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows.iter_rows(named=True):
        key = tuple(row[name] for name in names)
        record = records.setdefault(
            key, dict(zip(names, key, strict=True)) | dict.fromkeys([*COEFFICIENTS, "reason"])
        )
        record[row["quantity"]] = row["value"]
        record["reason"] = record["reason"] or row["reason"]
    return [
        record | {"dimension": record["dimension"] or "all items"} for record in records.values()
    ]


def reliability_table(section: Section) -> Iterator[Table]:
    """Yield a table of how well order and level of a scale's conditions would be reproduced."""
    many = section.noun.many
    caption = (
        f"reliability of the scale, from 0 (none) to 1 (perfect). G: would the {many} rank the "
        "same with other items and wordings? Φ: would their values be the same? α is computed "
        "across items, after averaging over wordings. With one wording, the effect of wording is "
        "unknown."
    )
    shown = (
        *texts("model", "variant", "group", variant="words"),
        *texts("dimension", drop="constant", dimension="subscale"),
        *numbers(*COEFFICIENTS, drop="never", **COEFFICIENTS),
        *texts("reason", drop="empty", reason="why none"),
    )
    yield from section_table(section, "reliability", caption, reliability_rows(section), shown)


REFERENCE = (
    *numbers("shrunken", drop="empty"),
    interval("rank_low", "rank_high", header="rank, 95%", drop="empty"),
    *numbers("reference_difference", drop="empty", reference_difference="minus reference"),
    interval("reference_low", "reference_high", header="its 95% interval", drop="empty"),
    p_column("reference_p_adjusted", header="its p, corrected", drop="empty"),
)
"""Columns of a condition, if not empty: its shrunken mean, the range of its rank, and its
difference from the other group's mean."""


def with_values(
    rows: pl.DataFrame, scores: pl.DataFrame, wanted: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Return the rows of conditions with a further column for each of these scores."""
    keys = ["model", "condition"]
    of_conditions = scores.filter(level="condition")
    for name, chosen in wanted.items():
        values = of_conditions.filter(chosen).select(*keys, pl.col("value").alias(name))
        rows = rows.join(values, on=keys, how="left", nulls_equal=True)
    return rows


def with_reference(rows: pl.DataFrame, section: Section) -> pl.DataFrame:
    """Return the rows of conditions with the columns that REFERENCE shows."""
    quantity = pl.col("quantity")
    wanted = {
        "shrunken": quantity.str.ends_with("-shrunken"),
        "rank_low": quantity == "rank-low",
        "rank_high": quantity == "rank-high",
    }
    rows = with_values(rows, section.scores, wanted)
    tested = section.estimates.filter(kind="reference").select(
        "model",
        pl.col("first").alias("condition"),
        *(
            pl.col(name).alias(f"reference_{name}")
            for name in ("difference", "low", "high", "p", "p_adjusted", "family_size")
        ),
    )
    return rows.join(tested, on=["model", "condition"], how="left", nulls_equal=True)


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
    rows = section.scores.filter(level=VARIANCE)
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
    caption = (
        "how the variance of the code of single answers is split, all factors taken as sampled. "
        "order: whether the most stigmatizing option is listed first or last. An estimate below 0 "
        "counts as 0; a separate column shows it. If each question was asked in one wording only, "
        "the effect of wordings is part of condition-item or of rest."
    )
    shown = (
        *texts("model", "source"),
        *numbers("variance", "share"),
        *numbers("below_zero", drop="empty", below_zero="estimate below 0"),
        *counts("n", "missing", n="answers", missing="left out"),
        *texts("reason", drop="empty", reason="why none"),
    )
    yield from section_table(section, "variance", caption, variance_rows(section), shown)

"""What is said of how reliable a scale is, and of how far its wording matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from goffman.formatting import describe_variant, humanize, join_words, number
from goffman.presentation.findings import of_model
from goffman.presentation.section import Section
from goffman.presentation.table_formats import ColumnSpec, Table, as_table, numbers, texts
from goffman.presentation.wording_findings import ONE_WORDING, asked_in_turn

HIGH = 0.8
"""From here on a coefficient carries a sentence about single conditions."""

ENOUGH_CONDITIONS = 10
"""Of fewer, one that lies apart makes G high by itself, whatever the order of the others."""

ENOUGH_ITEMS = 4
"""Fewer say nothing about the items that were not asked."""


def reliability(section: Section, model: str) -> Iterator[str]:
    """Whether order and level of the conditions would come out again with other sentences."""
    rows = of_model(section.shown(section.scores.filter(pl.col("level") == "scale")), model)
    rows = rows.filter(pl.col("group") == section.contrast)
    for of in rows.sort("variant").partition_by("variant", maintain_order=True)[:1]:
        whole = {row["quantity"]: row for row in of.iter_rows(named=True) if not row["dimension"]}
        about = f"{humanize(section.contrast)} {section.noun.many}"
        g, phi = (whole[name]["value"] for name in ("generalizability", "dependability"))
        if g is None:
            why = whole["generalizability"]["reason"]
            agree = whole["alpha"]["value"] is not None
            only = " α shows only how far these agree." if agree else ""
            yield f"G and Φ cannot be computed: {why}.{only}"
            return
        if of["variant"][0]:
            about += f", {describe_variant(of['variant'][0])}"
        said = [f"relative G = {number(g)}", f"absolute Φ = {number(phi)}"]
        if (alpha := whole["alpha"]["value"]) is not None:
            said.append(f"Cronbach’s α = {number(alpha)}")
        keyed = ""
        if section.presentation.keyed:
            about += " (reverse-keyed)"
            keyed = " The main result is not reverse-keyed, so this is not its reliability."
        yield (
            f"Reliability for {about}: {', '.join(said)}.{_parts(of)}"
            f"{_meaning(section, model, g, phi)}{keyed}"
        )


def _parts(rows: pl.DataFrame) -> str:
    """How reliable the subscales are, from the lowest to the highest."""
    values = rows.filter(pl.col("dimension").is_not_null())["value"].drop_nulls().sort()
    if values.len() < 2:
        return ""
    return f" In the {values.len()} subscales, α is {number(values[0])} to {number(values[-1])}."


def _meaning(section: Section, model: str, g: float, phi: float | None) -> str:
    """What the coefficients mean, after a space; empty: nothing more can be said."""
    items = len(section.items)
    if items < ENOUGH_ITEMS:
        return f" There are only {items} items, so this says nothing about other sentences."
    several = len(section.wordings) > 1
    other = "other items and wordings" if several else "other items"
    again = [*_ranked_again(section, model, g)]
    if again and g >= HIGH and phi is not None and phi < HIGH:
        # A high Φ is no promise of the common level: it is about how far conditions are apart.
        same = again[0].endswith("the same")
        again.append("but their values could change" if same else "and so could their values")
    said = [f"With {other}, {', '.join(again)}."] if again else []
    return "".join(f" {one}" for one in (said if several else [*said, ONE_WORDING]))


def _ranked_again(section: Section, model: str, g: float) -> Iterator[str]:
    """What would become of the order; of few conditions, whose order is open, if that is known."""
    many = section.noun.many
    if g < HIGH:
        yield f"the {many} could rank quite differently"
        return
    ranks = _ranks(section, model)
    rows = of_model(section.rows("condition", section.presentation.quantity), model)
    asked = rows.filter(pl.col("group") == section.contrast)["condition"].n_unique()
    if asked >= ENOUGH_CONDITIONS:
        yield f"the {many} would rank much the same"
    elif ranks:
        # G is high where one of few lies apart, whatever the order of the others.
        open_ = [join_words(names) for names in _together(section, ranks) if len(names) > 1]
        if not open_:
            yield f"the {many} would rank much the same"
        else:
            yield f"the order of {' and that of '.join(open_)} could change"


def _ranks(section: Section, model: str) -> list[tuple[float, float, str]]:
    """Lowest and highest rank of each condition of the group, the first ones first."""
    rows = of_model(section.rows("condition", ("rank-low", "rank-high")), model)
    rows = rows.filter(pl.col("group") == section.contrast)
    ends = {(row["condition"], row["quantity"]): row["value"] for row in rows.to_dicts()}
    names = {name for name, _ in ends}
    return sorted((ends[name, "rank-low"], ends[name, "rank-high"], name) for name in names)


def _together(section: Section, ranks: Sequence[tuple[float, float, str]]) -> Iterator[list[str]]:
    """Conditions whose ranges of ranks overlap, by name, the first ones first."""
    names: list[str] = []
    end = 0.0
    for low, high, condition in ranks:
        if names and low > end:
            yield names
            names = []
        names.append(f"“{section.called(condition)}”")
        end = max(end, high)
    if names:
        yield names


def above_half(section: Section, model: str) -> Iterator[str]:
    """How many conditions are above one half: wording by wording, or none where Φ is too low."""
    quantity, called = section.presentation.quantity, section.presentation.called
    many = section.noun.many
    by_wording = of_model(section.rows("wording", quantity), model)
    if len(section.wordings) > 1 and by_wording.height:
        said = list(_above_by_wording(section, by_wording))
        if said and asked_in_turn(section, model):
            yield (
                f"By wording, {' and '.join(said)} {many} have a {called} above 0.5. Each wording "
                "has other questions, so this is not an effect of wording."
            )
        elif said:
            yield (
                f"How many {many} have a {called} above 0.5 depends on the wording: "
                f"{' and '.join(said)} ones."
            )
        return
    if not _level_holds(section, model):
        return
    rows = of_model(section.rows("condition", quantity), model)
    counts = [
        f"{of.filter(pl.col('value') > 0.5).height} of {of.height} {humanize(group)}"
        for group in (section.contrast, section.against)
        if (of := rows.filter(pl.col("group") == group)).height
    ]
    if counts:
        yield f"{' and '.join(counts)} {many} have a {called} above 0.5."


def _above_by_wording(section: Section, rows: pl.DataFrame) -> Iterator[str]:
    """How many conditions of each group are above one half: the fewest and the most."""
    for group in (section.contrast, section.against):
        of = rows.filter(pl.col("group") == group)
        if of.height:
            each = [part["value"] for part in of.partition_by("wording")]
            counts = sorted(int((values > 0.5).sum()) for values in each)
            few, most = counts[0], counts[-1]
            count = f"{few}" if few == most else f"from {few or 'none'} to {most}"
            yield f"{count} of the {max(map(len, each))} {humanize(group)}"


def _level_holds(section: Section, model: str) -> bool:
    """Whether Φ is high enough to say on which side of one half a condition lies."""
    rows = of_model(section.rows("scale", "dependability"), model)
    value = rows.filter(pl.col("group") == section.contrast)["value"]
    return bool(value.len() and value[0] is not None and value[0] >= HIGH)


COEFFICIENTS = {"generalizability": "G", "dependability": "Φ", "alpha": "α"}
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


def reliability_table(section: Section) -> Iterator[Table]:
    """How far order and level of a scale's conditions would come out again."""
    rows = reliability_rows(section)
    if not rows:
        return
    many = section.noun.many
    caption = (
        f"{section.instrument}: reliability of the scale, from 0 (none) to 1 (perfect). G: would "
        f"the {many} rank the same with other items and wordings? Φ: would their values be the "
        "same? α is computed across items, after averaging over wordings. With "
        "one wording, the effect of wording is unknown."
    )
    shown = (
        *texts("model", "variant", "group", variant="words"),
        ColumnSpec(header="subscale", keys=("dimension",), drop="constant"),
        *(
            ColumnSpec(header=called, keys=(name,), form="number")
            for name, called in COEFFICIENTS.items()
        ),
        ColumnSpec(header="why none", keys=("reason",), drop="empty"),
    )
    yield as_table(f"{section.instrument}-reliability", caption, rows, shown=shown)


REFERENCE = (
    *numbers("shrunken", drop="empty"),
    ColumnSpec(header="rank, 95%", keys=("rank_low", "rank_high"), form="interval", drop="empty"),
    *numbers("reference_difference", drop="empty", reference_difference="minus reference"),
    ColumnSpec(
        header="its 95% interval",
        keys=("reference_low", "reference_high"),
        form="interval",
        drop="empty",
    ),
    ColumnSpec(header="its p, corrected", keys=("reference_p_adjusted",), form="p", drop="empty"),
)
"""Beside a condition, where there are such: drawn to its group's mean, its places, and against the
mean of the other group's."""


def with_values(
    rows: pl.DataFrame, scores: pl.DataFrame, wanted: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """The rows of conditions with the values of further scores, each in a column of its own."""
    on = ["model", "condition"]
    of_conditions = scores.filter(pl.col("level") == "condition")
    for name, chosen in wanted.items():
        values = of_conditions.filter(chosen).select(*on, pl.col("value").alias(name))
        rows = rows.join(values, on=on, how="left", nulls_equal=True)
    return rows


def with_reference(rows: pl.DataFrame, section: Section) -> pl.DataFrame:
    """The rows of conditions with the columns that REFERENCE shows."""
    quantity = pl.col("quantity")
    wanted = {
        "shrunken": quantity.str.ends_with("-shrunken"),
        "rank_low": quantity == "rank-low",
        "rank_high": quantity == "rank-high",
    }
    rows = with_values(rows, section.scores, wanted)
    tested = section.estimates.filter(pl.col("kind") == "reference").select(
        "model",
        pl.col("first").alias("condition"),
        *(
            pl.col(name).alias(f"reference_{name}")
            for name in ("difference", "low", "high", "p", "p_adjusted", "family_size")
        ),
    )
    return rows.join(tested, on=["model", "condition"], how="left", nulls_equal=True)

"""What is said of how reliable a scale is, and of what hangs on its wording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.presentation.findings import of_model
from goffman.presentation.numbers import number
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.presentation.section import Section

HIGH = 0.8
"""From here on a coefficient carries a sentence about single conditions."""

ENOUGH_ITEMS = 4
"""Fewer say nothing about the items that were not asked."""


def reliability(section: Section, model: str) -> Iterator[str]:
    """Whether order and level of the conditions would come out again with other sentences."""
    rows = of_model(section.shown(section.scores.filter(pl.col("level") == "scale")), model)
    rows = rows.filter(pl.col("group") == section.contrast)
    for of in rows.sort("variant").partition_by("variant", maintain_order=True)[:1]:
        whole = {row["quantity"]: row for row in of.iter_rows(named=True) if not row["dimension"]}
        about = f"the {plain(section.contrast)} {section.noun.many}"
        g, phi = (whole[name]["value"] for name in ("generalizability", "dependability"))
        if g is None:
            why = whole["generalizability"]["reason"]
            yield f"How reliable the scale is cannot be said: {why}."
            return
        variant = f", {plain(of['variant'][0])}" if of["variant"][0] else ""
        said = [
            f"G = {number(g)} for the order of {about}{variant}, Φ = {number(phi)} for their level"
        ]
        said += [
            f"{called} = {number(whole[name]['value'])}"
            for name, called in (("alpha", "α"), ("split-half", "split-half"))
            if whole[name]["value"] is not None
        ]
        yield f"Reliability: {', '.join(said)}.{_parts(of)} {_meaning(section, g, phi)}"


def _parts(rows: pl.DataFrame) -> str:
    """How reliable the subscales are, from the lowest to the highest."""
    values = rows.filter(pl.col("dimension").is_not_null())["value"].drop_nulls().sort()
    if values.len() < 2:
        return ""
    return f" In {values.len()} subscales α is {number(values[0])} to {number(values[-1])}."


def _meaning(section: Section, g: float, phi: float | None) -> str:
    many, items = section.noun.many, len(section.items)
    if items < ENOUGH_ITEMS:
        return f"With only {items} items, this says nothing about other sentences."
    several = len(section.wordings) > 1
    other = "other items and wordings" if several else "other items"
    same = f"the order of the {many} would be much the same"
    if g < HIGH:
        same = f"the order of the {many} could well be another"
    elif phi is not None and phi < HIGH:
        # A high Φ is no promise of the common level: it is about how far conditions are apart.
        same += ", but not their level"
    said = f"With {other}, {same}."
    return said if several else f"{said} It was one wording: nothing says how much hangs on it."


def above_half(section: Section, model: str) -> Iterator[str]:
    """How many conditions are above one half: wording by wording, or none where Φ is too low."""
    quantity, many = section.presentation.quantity, section.noun.many
    by_wording = of_model(section.rows("wording", quantity), model)
    if len(section.wordings) > 1 and by_wording.height:
        said = [
            f"{_listed(counts)} of {total} {plain(group)}"
            for group in (section.contrast, section.against)
            for counts, total in _counted(section, by_wording.filter(pl.col("group") == group))
        ]
        if said:
            names = ", ".join(plain(one) for one in section.wordings)
            yield f"Above one half, by wording ({names}): {'; '.join(said)} {many}."
        return
    if not _level_holds(section, model):
        return
    conditions = of_model(section.rows("condition", quantity), model)
    of_groups = [
        f"{of.filter(pl.col('value') > 0.5).height} of {of.height} {plain(group)}"
        for group in (section.contrast, section.against)
        if (of := conditions.filter(pl.col("group") == group)).height
    ]
    if of_groups:
        yield f"Above one half: {' and '.join(of_groups)} {many}."


def _counted(section: Section, rows: pl.DataFrame) -> Iterator[tuple[list[int], int]]:
    """In each wording how many are above one half, and of how many."""
    if rows.height:
        of = {name: rows.filter(pl.col("wording") == name) for name in section.wordings}
        yield (
            [one.filter(pl.col("value") > 0.5).height for one in of.values()],
            rows["condition"].n_unique(),
        )


def _listed(counts: list[int]) -> str:
    texts = [str(count) for count in counts]
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def _level_holds(section: Section, model: str) -> bool:
    """Whether Φ is high enough to say on which side of one half a condition lies."""
    rows = of_model(section.rows("scale", "dependability"), model)
    value = rows.filter(pl.col("group") == section.contrast)["value"]
    return bool(value.len() and value[0] >= HIGH)

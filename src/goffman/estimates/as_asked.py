"""Headlines made again with the sentences taken as given: conditions alone are sampled."""

from __future__ import annotations

import itertools
from dataclasses import replace

import polars as pl

from goffman.estimates.conditions import groups_as_asked
from goffman.estimates.cubes import in_order
from goffman.estimates.scored import Found, Scored, of_group

WHOSE = ["model", "instrument", "measure", "quantity", "condition", "group", "category"]


def groups_over_conditions(scored: Scored) -> Found:
    """The contrast groups-as-asked, from the scores of prompts alone."""
    rows = scored.rows("prompt").with_columns(level=pl.lit("condition"))
    yield from groups_as_asked(replace(scored, scores=of_conditions(rows)))


def of_conditions(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each model and condition the mean: over items, then over forms, then over wordings."""
    rows = rows.sort(*WHOSE, "wording", "form", "item", "prompt_id")
    for keep in (["wording", "form"], ["wording"], []):
        means = rows.group_by(*WHOSE, *keep, maintain_order=True)
        rows = means.agg(pl.col("value").mean(), pl.col("level").first(), pl.col("trial").first())
    return rows


def genders_over_conditions(scored: Scored) -> Found:
    """In each model and group: female against male, condition by condition; paired t."""
    for model, variant, group in itertools.product(
        scored.models(), scored.variants(), (scored.contrast, scored.against)
    ):
        ids = {"model": model, "variant": variant, "wording": scored.wordings[0]}
        sides = [
            of_group(scored.rows("prompt", gender, **ids), group) for gender in ("female", "male")
        ]
        conditions = in_order(pl.concat(sides), "condition")
        if not conditions:
            continue
        says = scored.says(
            "genders",
            quantity="probability",
            model=model,
            variant=variant,
            group=group,
            first="female",
            second="male",
        )
        values = [_of_each(side, conditions) for side in sides]
        yield says, scored.compare.paired(says, *values, over="conditions")


def _of_each(side: pl.DataFrame, conditions: list[str]) -> list[float | None]:
    """The means of these conditions, in their order."""
    means = side.sort("condition", "item", "form", "prompt_id").group_by("condition")
    known = dict(means.agg(pl.col("value").mean()).rows())
    return [known.get(one) for one in conditions]

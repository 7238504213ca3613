"""Contrasts over items × conditions, both of which were sampled: Lin et al. (2022)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.cubes import in_order, table
from goffman.estimates.scored import Found, Scored, of_dimension, of_group

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def genders(scored: Scored) -> Found:
    """In each model, group and subscale: female against male, in the same sentences."""
    for model, variant in itertools.product(scored.models(), scored.variants()):
        ids = {"model": model, "variant": variant, "wording": scored.wordings[0]}
        both = [scored.rows("prompt", gender, **ids) for gender in ("female", "male")]
        for group, dimension in itertools.product(
            (scored.contrast, scored.against), (None, *in_order(both[0], "dimension"))
        ):
            rows = [of_dimension(of_group(one, group), dimension) for one in both]
            if not rows[0].height:
                continue
            says = scored.says(
                "genders",
                quantity="probability",
                model=model,
                variant=variant,
                group=group,
                dimension=dimension,
                first="female",
                second="male",
            )
            yield says, scored.compare.crossed(says, *_cells(rows), shared="both")


def groups_of_cells(scored: Scored) -> Found:
    """In each model and subscale: the disparity in one group of conditions against the other."""
    for model, variant in itertools.product(scored.models(), scored.variants()):
        rows = scored.rows("prompt", model=model, variant=variant, wording=scored.wordings[0])
        for dimension in (None, *in_order(rows, "dimension")):
            of = of_dimension(rows, dimension)
            sides = [of_group(of, group) for group in (scored.contrast, scored.against)]
            if all(side.height for side in sides):
                about = {"model": model, "variant": variant, "dimension": dimension}
                says = scored.says("groups", **about, first=scored.contrast, second=scored.against)
                items = in_order(of, "item")
                tables = [
                    table(
                        side,
                        down=items,
                        across=in_order(side, "condition"),
                        names=("item", "condition"),
                    )
                    for side in sides
                ]
                yield says, scored.compare.crossed(says, *tables, shared="rows")


def models_over_cells(scored: Scored) -> Found:
    """In each group: every two models, in the same sentences."""
    for variant, group in itertools.product(scored.variants(), (scored.contrast, scored.against)):
        rows = of_group(scored.rows("prompt", variant=variant, wording=scored.wordings[0]), group)
        for one, other in itertools.combinations(scored.models(), 2):
            sides = [rows.filter(pl.col("model") == model) for model in (one, other)]
            if all(side.height for side in sides):
                says = scored.says("models", variant=variant, group=group, first=one, second=other)
                yield says, scored.compare.crossed(says, *_cells(sides), shared="both")


def dimensions(scored: Scored) -> Found:
    """In each model and group: the disparity in every two subscales, for the same conditions."""
    for model, variant, group in itertools.product(
        scored.models(), scored.variants(), (scored.contrast, scored.against)
    ):
        ids = {"model": model, "variant": variant, "wording": scored.wordings[0]}
        rows = of_group(scored.rows("prompt", **ids), group)
        conditions = in_order(rows, "condition")
        tables = {}
        for name in in_order(rows, "dimension"):
            side = of_dimension(rows, name)
            items = in_order(side, "item")
            tables[name] = table(side, down=items, across=conditions, names=("item", "condition"))
        for first, second in itertools.combinations(tables, 2):
            about = {"model": model, "variant": variant, "group": group}
            says = scored.says("dimensions", **about, first=first, second=second)
            sides = tables[first], tables[second]
            yield says, scored.compare.crossed(says, *sides, shared="columns")


def wordings_over_cells(scored: Scored) -> Found:
    """In each model and group: every other wording against the first, item by item."""
    for model, variant, group, wording in itertools.product(
        scored.models(), scored.variants(), (scored.contrast, scored.against), scored.wordings[1:]
    ):
        rows = of_group(scored.rows("prompt", model=model, variant=variant), group)
        names = (wording, scored.wordings[0])
        sides = [rows.filter(pl.col("wording") == name) for name in names]
        if all(side.height for side in sides):
            about = {"model": model, "variant": variant, "group": group}
            says = scored.says("wordings", **about, first=names[0], second=names[1])
            yield says, scored.compare.crossed(says, *_cells(sides), shared="both")


def _cells(sides: Sequence[pl.DataFrame]) -> list[NDArray[np.float64]]:
    """Both sides as tables of the same items × conditions."""
    both = pl.concat(sides)
    names = ("item", "condition")
    items, conditions = in_order(both, "item"), in_order(both, "condition")
    return [table(side, down=items, across=conditions, names=names) for side in sides]

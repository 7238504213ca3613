"""Contrasts over items × conditions, both of which were sampled: Lin et al. (2022)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.contrast import in_order, table
from goffman.estimates.part import Found, Part, of_dimension, of_group

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def genders(part: Part) -> Found:
    """In each model, group and subscale: female against male, in the same sentences."""
    for model, variant in itertools.product(part.models(), part.variants()):
        ids = {"model": model, "variant": variant, "wording": part.wordings[0]}
        both = [part.rows("prompt", gender, **ids) for gender in ("female", "male")]
        for group, dimension in itertools.product(
            (part.contrast, part.against), (None, *in_order(both[0], "dimension"))
        ):
            rows = [of_dimension(of_group(one, group), dimension) for one in both]
            if not rows[0].height:
                continue
            says = part.says(
                "genders",
                quantity="probability",
                model=model,
                variant=variant,
                group=group,
                dimension=dimension,
                first="female",
                second="male",
            )
            yield says, part.compare.crossed(says, *_cells(rows), shared="both")


def groups_of_cells(part: Part) -> Found:
    """In each model and subscale: the disparity in one group of conditions against the other."""
    for model, variant in itertools.product(part.models(), part.variants()):
        rows = part.rows("prompt", model=model, variant=variant, wording=part.wordings[0])
        for dimension in (None, *in_order(rows, "dimension")):
            of = of_dimension(rows, dimension)
            sides = [of_group(of, group) for group in (part.contrast, part.against)]
            if all(side.height for side in sides):
                about = {"model": model, "variant": variant, "dimension": dimension}
                says = part.says("groups", **about, first=part.contrast, second=part.against)
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
                yield says, part.compare.crossed(says, *tables, shared="rows")


def models_over_cells(part: Part) -> Found:
    """In each group: every two models, in the same sentences."""
    for variant, group in itertools.product(part.variants(), (part.contrast, part.against)):
        rows = of_group(part.rows("prompt", variant=variant, wording=part.wordings[0]), group)
        for one, other in itertools.combinations(part.models(), 2):
            sides = [rows.filter(pl.col("model") == model) for model in (one, other)]
            if all(side.height for side in sides):
                says = part.says("models", variant=variant, group=group, first=one, second=other)
                yield says, part.compare.crossed(says, *_cells(sides), shared="both")


def dimensions(part: Part) -> Found:
    """In each model and group: the disparity in every two subscales, for the same conditions."""
    for model, variant, group in itertools.product(
        part.models(), part.variants(), (part.contrast, part.against)
    ):
        ids = {"model": model, "variant": variant, "wording": part.wordings[0]}
        rows = of_group(part.rows("prompt", **ids), group)
        conditions = in_order(rows, "condition")
        tables = {}
        for name in in_order(rows, "dimension"):
            side = of_dimension(rows, name)
            items = in_order(side, "item")
            tables[name] = table(side, down=items, across=conditions, names=("item", "condition"))
        for first, second in itertools.combinations(tables, 2):
            about = {"model": model, "variant": variant, "group": group}
            says = part.says("dimensions", **about, first=first, second=second)
            sides = tables[first], tables[second]
            yield says, part.compare.crossed(says, *sides, shared="columns")


def wordings_over_cells(part: Part) -> Found:
    """In each model and group: every other wording against the first, item by item."""
    for model, variant, group, wording in itertools.product(
        part.models(), part.variants(), (part.contrast, part.against), part.wordings[1:]
    ):
        rows = of_group(part.rows("prompt", model=model, variant=variant), group)
        names = (wording, part.wordings[0])
        sides = [rows.filter(pl.col("wording") == name) for name in names]
        if all(side.height for side in sides):
            about = {"model": model, "variant": variant, "group": group}
            says = part.says("wordings", **about, first=names[0], second=names[1])
            yield says, part.compare.crossed(says, *_cells(sides), shared="both")


def _cells(sides: Sequence[pl.DataFrame]) -> list[NDArray[np.float64]]:
    """Both sides as tables of the same items × conditions."""
    both = pl.concat(sides)
    names = ("item", "condition")
    items, conditions = in_order(both, "item"), in_order(both, "condition")
    return [table(side, down=items, across=conditions, names=names) for side in sides]

"""Contrasts over conditions, which are what was sampled: Mei, Fereidooni & Caliskan (2023)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates import in_turn
from goffman.estimates.contrast import Contrast
from goffman.estimates.cubes import by_condition, cube, in_order, table
from goffman.estimates.scored import IN_TURN, Found, Scored, of_group, values
from goffman.records import BASELINE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def groups_of_conditions(scored: Scored) -> Found:
    """In each model, and over all: the conditions of one group against those of the other.

    Conditions, items and wordings are all taken as sampled.
    """
    for says, rows in _groups(scored, "groups", "prompt"):
        ids = {name: in_order(pl.concat(rows), name) for name in ("item", "wording")}
        if ids["item"] == [IN_TURN]:
            yield says, in_turn.two_sets(says, rows)
            continue
        tables = [cube(of, {"condition": in_order(of, "condition"), **ids}) for of in rows]
        yield says, scored.compare.sampled(says, tables)


def groups_as_asked(scored: Scored) -> Found:
    """The same as the study reads it: conditions alone are sampled, the sentences are given."""
    for says, rows in _groups(scored, "groups-as-asked", "condition"):
        first, second = (values(of) for of in rows)
        yield says, scored.compare.apart(says, first, second, over="conditions")


def _groups(
    scored: Scored, kind: str, level: str
) -> Iterator[tuple[Contrast, tuple[pl.DataFrame, pl.DataFrame]]]:
    """Of each model, and over all, the scores of both groups; those of prompts are averaged."""
    models = scored.models()
    for model in [*models, None] if len(models) > 1 else models:
        everyone = model is None and level == "prompt"
        rows = scored.rows(level) if everyone else scored.rows(level, model=model)
        first, second = (of_group(rows, group) for group in (scored.contrast, scored.against))
        if first.height and second.height:
            about = {"model": model, "first": scored.contrast, "second": scored.against}
            yield scored.says(kind, **about), (first, second)


def models_over_conditions(scored: Scored) -> Found:
    """In each group: every two models, on the same conditions, items and wordings."""
    rows = scored.rows("prompt")
    for group in (scored.contrast, scored.against):
        chosen = of_group(rows, group)
        by_model = {
            str(model): _Asked(of)
            for (model,), of in chosen.partition_by("model", as_dict=True).items()
        }
        for one, other in itertools.combinations(scored.models(), 2):
            if not {one, other} <= by_model.keys():
                continue
            sides = [by_model[one], by_model[other]]
            says = scored.says("models", group=group, first=one, second=other)
            ids = {name: sorted({*sides[0].ids[name], *sides[1].ids[name]}) for name in _NAMES}
            if ids["item"] == [IN_TURN]:
                yield says, in_turn.the_same(says, [side.rows for side in sides])
            else:
                tables = [side.by(ids) for side in sides]
                yield says, scored.compare.sampled(says, tables, shared=True)


_NAMES = ("condition", "item", "wording")


class _Asked:
    """The scores of one model, as a table that is made once for all whom it is compared with."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self.ids = {name: in_order(rows, name) for name in _NAMES}
        self._table: NDArray[np.float64] | None = None

    def by(self, ids: dict[str, list[str]]) -> NDArray[np.float64]:
        """The values by these ids."""
        if ids != self.ids:
            return cube(self.rows, ids)
        if self._table is None:
            self._table = cube(self.rows, ids)
        return self._table


def conditions_against_baseline(scored: Scored) -> Found:
    """In each model: every condition against the prompts that name none, item by item."""
    for model in scored.models():
        rows = scored.rows("prompt", model=model)
        items, wordings = in_order(rows, "item"), in_order(rows, "wording")
        if items == [IN_TURN]:
            # Other items than those of the baseline: one condition alone cannot be compared.
            continue
        tables = by_condition(rows, items, wordings)
        if BASELINE not in tables:
            continue
        for condition in sorted(set(tables) - {BASELINE}):
            says = scored.says("baseline", model=model, first=condition, second=BASELINE)
            sides = tables[condition], tables[BASELINE]
            if len(wordings) == 1:
                cells = (side.ravel().tolist() for side in sides)
                yield says, scored.compare.paired(says, *cells, over="items")
            else:
                over = ("items", "wordings")
                yield (
                    says,
                    scored.compare.crossed(says, *sides, shared="both", over=over, units="rows"),
                )


def wordings_over_conditions(scored: Scored) -> Found:
    """In each model: every other wording against the first, on the same items and conditions."""
    for model, wording in itertools.product(scored.models(), scored.wordings[1:]):
        rows = scored.rows("prompt", model=model).filter(pl.col("condition") != BASELINE)
        names = (wording, scored.wordings[0])
        sides = [rows.filter(pl.col("wording") == name) for name in names]
        if all(side.height for side in sides):
            ids = {name: in_order(rows, name) for name in ("item", "condition")}
            tables = [
                table(side, down=ids["item"], across=ids["condition"], names=("item", "condition"))
                for side in sides
            ]
            says = scored.says("wordings", model=model, first=names[0], second=names[1])
            yield says, scored.compare.crossed(says, *tables, shared="both")

"""The reliability of a scale, and the means and ranks of conditions that allow for it.

SCORES of the level scale, of each model, variant and group of conditions, over conditions × items ×
wordings: generalizability (G: whether conditions would have the same order in other sentences),
dependability (Φ: whether the same values) and alpha. Groups are kept apart, since a difference
between two groups would count as differences of conditions.

SCORES of the level condition, with λ the G of its group:

    shrunken   mean_g + λ (mean_c − mean_g): a mean drawn toward its group's in proportion to noise
    rank       1 is the highest mean among all conditions
    rank-low, rank-high   the middle 95% of its ranks in draws in which every condition's mean moves
               by its group's relative error, σ²_ci/I + σ²_cw/W + σ²_e/IW
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.contrasts.catalog import DIRECTIONS
from goffman.contrasts.designs import cube, in_order
from goffman.instruments.types import BASELINE
from goffman.measures.responses import only
from goffman.presentation.reliability import BELOW, VARIANCE
from goffman.schemas import SCORES, schema
from goffman.stats.crossed import Components, alpha, components, obstacle, variance_components

if TYPE_CHECKING:
    from numpy.typing import NDArray


SEED = 0
"""The seed of the draws of ranks, which makes scores reproducible."""

DRAWS = 1_999
"""The number of draws of ranks."""

SAME = "all values are equal"

LEAST_ITEMS = 3
"""The least number of items for G and Φ: fewer are no sample of items."""
TOO_FEW_ITEMS = "with only {} items, nothing can be said about other items"
RANKS = ("rank", "rank-low", "rank-high")


@dataclass(frozen=True, kw_only=True)
class _Group:
    """The values of one group of conditions as a table, with their variance components."""

    ids: dict[str, Any]
    conditions: Sequence[str]
    categories: Sequence[str | None]
    dimensions: Sequence[str | None]
    """The dimension of each item."""
    table: NDArray[np.float64]
    """Conditions × items × wordings; gaps are NaN."""

    @property
    def reason(self) -> str | None:
        return obstacle(self.table)

    @property
    def parts(self) -> Components | None:
        return None if self.reason else components(self.table)

    @property
    def over_wordings(self) -> NDArray[np.float64]:
        """Return the means over wordings: conditions × items."""
        return np.asarray(self.table.mean(axis=2), dtype=np.float64)


def reliability_scores(
    scores: pl.DataFrame, *, quantity: str, groups: Sequence[str]
) -> pl.DataFrame:
    """Return SCORES of the levels scale and condition, from a quantity's SCORES of prompts.

    ``groups``: the groups whose conditions count; the baseline is none of them.
    """
    rows = scores.filter(pl.col("group").is_in(list(groups)), quantity=quantity)
    records: list[dict[str, Any]] = []
    keys = ["instrument", "mode", "measure", "model", "variant"]
    for part in rows.partition_by(keys, maintain_order=True):
        ids = part.select(keys).row(0, named=True)
        tables = [
            _group(group_rows, ids | {"group": group_rows["group"][0]})
            for group_rows in part.sort("group").partition_by("group", maintain_order=True)
        ]
        for group in tables:
            records += _reliability(group)
            records += _shrunken(group, quantity)
        records += _ranks(tables)
    # Never inferred from the first rows, which may have no value.
    return pl.DataFrame(records, schema=schema(SCORES))


def _group(rows: pl.DataFrame, ids: dict[str, Any]) -> _Group:
    """Return the group's values, with the forms of a condition averaged."""
    cell = ["condition", "item", "wording"]
    # A form without a value leaves a gap: the others' mean would be over other sentences.
    is_complete = pl.col("value").null_count() == 0
    means = (
        rows.sort(*cell, "form")
        .group_by(cell, maintain_order=True)
        .agg(pl.when(is_complete).then(pl.col("value").mean()).alias("value"))
    )
    names = {name: in_order(rows, name) for name in cell}
    category, dimension = (
        dict(rows.select(pair).rows())
        for pair in (("condition", "category"), ("item", "dimension"))
    )
    return _Group(
        ids=ids,
        conditions=names["condition"],
        categories=[category[condition] for condition in names["condition"]],
        dimensions=[dimension[item] for item in names["item"]],
        table=cube(means, names),
    )


def _reliability(group: _Group) -> Iterator[dict[str, Any]]:
    """Yield G and Φ, and α of the whole scale and of each subscale."""
    parts, problem = group.parts, group.reason
    cells = _counted(group.table) | {"over": "conditions × items × wordings"}
    items = group.table.shape[1]
    too_few = TOO_FEW_ITEMS.format(items) if items < LEAST_ITEMS else None
    for name in ("generalizability", "dependability"):
        value = None if parts is None or too_few else getattr(parts, name)
        yield _row(group, name, value, reason=problem or too_few or SAME, **cells)
    for dimension in (
        None,
        *sorted({item_dimension for item_dimension in group.dimensions if item_dimension}),
    ):
        mask = [dimension in (None, item_dimension) for item_dimension in group.dimensions]
        reason = obstacle(group.table[:, mask])
        value = None if reason else alpha(group.over_wordings[:, mask])
        about = {"dimension": dimension, "n": sum(mask), "over": "items"}
        yield _row(group, "alpha", value, reason=reason or SAME, **about)


def _shrunken(group: _Group, quantity: str) -> Iterator[dict[str, Any]]:
    """Yield each condition's mean, drawn toward its group's mean."""
    parts, problem = group.parts, group.reason
    means = group.table.mean(axis=(1, 2))
    share = None if parts is None else parts.generalizability
    for index, mean in enumerate(means):
        # If nothing varies, the mean of a condition is that of its group.
        value = None if parts is None else means.mean() + (share or 0.0) * (mean - means.mean())
        about = _condition(group, index)
        yield _row(group, f"{quantity}-shrunken", value, reason=problem, level="condition", **about)


def _ranks(groups: Sequence[_Group]) -> Iterator[dict[str, Any]]:
    problem = next((group.reason for group in groups if group.reason), None)
    ranks = repeat((None,) * 3) if problem else iter(_drawn(groups).tolist())
    for group in groups:
        for index in range(len(group.conditions)):
            for name, value in zip(RANKS, next(ranks), strict=True):
                about = _condition(group, index)
                if name != "rank":
                    about |= {"n": DRAWS, "over": f"draws, seed {SEED}"}
                yield _row(group, name, value, reason=problem, level="condition", **about)


def _drawn(groups: Sequence[_Group]) -> NDArray[np.float64]:
    """Return each condition's rank, its low and its high end: conditions × 3."""
    means = np.concatenate([group.table.mean(axis=(1, 2)) for group in groups])
    error = np.concatenate(
        [
            np.full(len(group.conditions), np.sqrt(components(group.table).relative_error))
            for group in groups
        ]
    )
    rng = np.random.default_rng(SEED)
    drawn = means + error * rng.standard_normal((DRAWS, len(means)))
    # Equal means have a range of ranks, from the highest to the lowest that they share.
    higher, as_high = _places(drawn)
    return np.column_stack(
        [
            _places(means[None])[0][0],
            np.quantile(higher, 0.025, axis=0, method="inverted_cdf"),
            np.quantile(as_high, 0.975, axis=0, method="inverted_cdf"),
        ]
    ).astype(np.float64)


def _places(rows: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return each value's highest and lowest rank in its row; they differ only for equal values."""
    order = np.argsort(rows, axis=1, kind="stable")
    n = rows.shape[1]
    if (np.diff(np.take_along_axis(rows, order, axis=1), axis=1) == 0).any():
        higher = np.array([n - np.searchsorted(np.sort(row), row, "right") + 1 for row in rows])
        return higher, np.array([n - np.searchsorted(np.sort(row), row) for row in rows])
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.broadcast_to(n - np.arange(n), rows.shape), axis=1)
    return places, places


def _condition(group: _Group, at: int) -> dict[str, Any]:
    ids = {"condition": group.conditions[at], "category": group.categories[at]}
    return ids | _counted(group.table[at]) | {"over": "items × wordings"}


def _counted(cells: NDArray[np.float64]) -> dict[str, Any]:
    missing = int(np.isnan(cells).sum())
    return {"n": cells.size - missing, "missing": missing}


def _row(
    group: _Group, quantity: str, value: float | None, *, reason: str | None, **about: Any
) -> dict[str, Any]:
    row = group.ids | {"quantity": quantity, "level": "scale", "missing": 0} | about
    return row | {"value": value, "reason": reason if value is None else None}


TRIAL_VARIANCE, TRIAL_ERROR = "trial-variance", "trial-error"
"""The quantities of a prompt: the variance of its answers over trials, and that of their mean."""

CROSSED = (
    ("condition", "item", "wording", "order"),
    ("condition", "item", "order"),
    ("condition", "item", "wording"),
    ("condition", "item"),
)
"""The factors whose variance is estimated: the first of these in which every cell was asked."""

_NOT_CROSSED = "not every item was asked about every condition"
_TOO_FEW = "fewer than two conditions have an answer in every cell, or there is one item only"


def variance_split(scores: pl.DataFrame) -> pl.DataFrame:
    """Return SCORES of the level variance, from those of the level prompt."""
    prompts = scores.filter(pl.col("condition") != BASELINE, level="prompt")
    listed = only(prompts, DIRECTIONS).select("model", "prompt_id", order="quantity")
    on = ["model", "prompt_id"]
    codes = only(prompts, ["code"]).join(listed, on=on, how="left")
    trials = only(prompts, [TRIAL_VARIANCE, TRIAL_ERROR])
    rows: list[dict[str, Any]] = []
    keys = ["instrument", "mode", "measure", "model"]
    for part in codes.partition_by(keys, maintain_order=True):
        ids = part.select(keys).row(0, named=True)
        rows += [ids | {"level": VARIANCE} | row for row in _of_model(part, trials)]
    return pl.DataFrame(rows, schema=schema(SCORES))


def _of_model(codes: pl.DataFrame, trials: pl.DataFrame) -> Iterator[dict[str, Any]]:
    factors = next((names for names in CROSSED if _is_crossed(codes, names)), ())
    table, conditions = _table(codes, factors) if factors else (np.empty(0), [])
    if min(table.shape) < 2:
        yield {
            "quantity": f"{VARIANCE}-condition",
            "n": 0,
            "missing": codes.height,
            "over": "prompts",
            "reason": _TOO_FEW if factors else _NOT_CROSSED,
        }
        return
    complete = codes.filter(pl.col("condition").is_in(conditions))
    components = {
        frozenset(factors[axis] for axis in source): value
        for source, value in variance_components(table).items()
    }
    # The sources that are reported; the one of all factors together is the remainder.
    sources = [frozenset({factor}) for factor in factors]
    sources += [frozenset({"condition", "item"})] if len(factors) > 2 else []
    parts = {"-".join(sorted(source)): components.pop(source) for source in sources}
    trial_numbers = trials.filter(model=complete["model"][0]).join(
        complete.select("prompt_id"), on="prompt_id", how="semi"
    )
    means = dict(trial_numbers.group_by("quantity").agg(pl.col("value").mean()).rows())
    if means.get(TRIAL_VARIANCE) is not None:
        parts["trial"] = means[TRIAL_VARIANCE]
        # The error of the mean over trials is part of the remainder.
        components[frozenset(factors)] -= means[TRIAL_ERROR]
    cells = {
        "n": complete["value"].count(),
        "missing": codes.height - complete["value"].count(),
        "over": " × ".join(f"{factor}s" for factor in factors),
    }
    remainder = [max(value, 0.0) for value in components.values()]
    for name, value in parts.items():
        yield {"quantity": f"{VARIANCE}-{name}", "value": max(value, 0.0)} | cells
        if value < 0:
            yield {"quantity": f"{VARIANCE}-{name}{BELOW}", "value": value} | cells
    yield {"quantity": f"{VARIANCE}-rest", "value": sum(remainder)} | cells


def _is_crossed(codes: pl.DataFrame, factors: Sequence[str]) -> bool:
    """Return whether every cell of these factors was asked, with several wordings and orders."""
    if codes.select(pl.col(factors).null_count()).row(0) != (0,) * len(factors):
        return False
    levels = [codes[name].n_unique() for name in factors]
    return min(levels[2:], default=2) > 1 and codes.select(factors).n_unique() == prod(levels)


def _table(codes: pl.DataFrame, factors: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Return the means of cells, and the conditions: only those without an empty cell."""
    means = codes.group_by(factors).agg(pl.col("value").mean())
    gaps = means.filter(pl.col("value").is_null())["condition"].unique()
    complete = means.filter(~pl.col("condition").is_in(gaps.implode()))
    names = {name: in_order(complete, name) for name in factors}
    return cube(complete, names), names["condition"]

"""How the variance of single answers is split: conditions, items, wordings, order, trials.

SCORES of the level variance, of each model, over the codes of prompts without the baseline's:

    variance-condition, variance-item, variance-wording, variance-order   between these
    variance-condition-item   how conditions and items go together, beyond either
    variance-trial   between the trials of a prompt, where there are several
    variance-rest    everything else
    …-below-zero     an estimate that came out below 0, where it stands as 0 above

The order is whether the most stigmatizing option is listed first or last. Only factors that are
crossed can be told apart: where each question was asked in one wording, what wordings do is a part
of how conditions and items go together. Conditions without an answer in some cell are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
import polars as pl

from goffman.contrasts.catalog import DIRECTIONS
from goffman.contrasts.designs import cube, in_order
from goffman.instruments.types import BASELINE
from goffman.measures.responses import only
from goffman.presentation.variance import BELOW, VARIANCE
from goffman.schemas import SCORES, schema
from goffman.stats.crossed import variance_components

TRIAL_VARIANCE, TRIAL_ERROR = "trial-variance", "trial-error"
"""The quantities of a prompt: the variance of its answers over trials, and that of their mean."""

CROSSED = (
    ("condition", "item", "wording", "order"),
    ("condition", "item", "order"),
    ("condition", "item", "wording"),
    ("condition", "item"),
)
"""Which factors are told apart: the first of these in which every cell was asked."""

_NOT_CROSSED = "not every item was asked about every condition"
_TOO_FEW = "fewer than two conditions have an answer in every cell, or there is one item only"


def variance_split(scores: pl.DataFrame) -> pl.DataFrame:
    """Return SCORES of the level variance, from those of the level prompt."""
    prompts = scores.filter(pl.col("level") == "prompt", pl.col("condition") != BASELINE)
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
    """Yield the parts of one model's variance."""
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
    # The parts reported by themselves, without what is left of all factors together.
    sources = [frozenset({factor}) for factor in factors]
    sources += [frozenset({"condition", "item"})] if len(factors) > 2 else []
    parts = {"-".join(sorted(source)): components.pop(source) for source in sources}
    trial_numbers = trials.filter(pl.col("model") == complete["model"][0]).join(
        complete.select("prompt_id"), on="prompt_id", how="semi"
    )
    means = dict(trial_numbers.group_by("quantity").agg(pl.col("value").mean()).rows())
    if means.get(TRIAL_VARIANCE) is not None:
        parts["trial"] = means[TRIAL_VARIANCE]
        # The mean over trials is a part of what is left of a cell.
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

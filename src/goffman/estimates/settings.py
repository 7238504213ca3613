"""Contrasts between adjective settings, on the same sentence pairs: Briegel & Chen (2023)."""

from __future__ import annotations

import polars as pl

from goffman.estimates.contrast import in_order
from goffman.estimates.part import Found, Part, joined, of_group, values
from goffman.records import BASELINE


def settings_by_trials(part: Part) -> Found:
    """In each model: every adjective setting against the baseline; trials, and sentence pairs."""
    for model in part.models():
        trials = part.rows("trial", model=model)
        of_pairs = _bias_of_pairs(part.rows("prompt", "correct", model=model))
        for setting in in_order(trials, "condition"):
            if setting == BASELINE:
                continue
            says = part.says("baseline", model=model, first=setting, second=BASELINE)
            sides = [trials.filter(pl.col("condition") == name) for name in (setting, BASELINE)]
            pairs = joined(of_pairs, "condition", (setting, BASELINE), on=["item"])
            yield (
                says,
                part.compare.trials(
                    says,
                    (values(sides[0]), values(sides[1])),
                    (pairs["first"].to_list(), pairs["second"].to_list()),
                ),
            )


def pairs_against_singles(part: Part) -> Found:
    """In each model: settings with two adjectives against settings with one."""
    first, second = "contrasting-pair", "single-adjective"
    for model in part.models():
        rows = part.rows("condition", model=model)
        sides = [of_group(rows, group) for group in (first, second)]
        if all(side.height for side in sides):
            says = part.says("groups", model=model, first=first, second=second)
            yield says, part.compare.conditions_apart(says, *map(values, sides))


def settings_by_pairs(part: Part) -> Found:
    """In each model: every adjective setting against the baseline, on the same sentence pairs."""
    for model in part.models():
        rows = part.rows("prompt", model=model)
        for setting in in_order(rows, "condition"):
            pairs = joined(rows, "condition", (setting, BASELINE), on=["item"])
            if setting != BASELINE and pairs.height:
                says = part.says("baseline", model=model, first=setting, second=BASELINE)
                sides = pairs["first"].to_list(), pairs["second"].to_list()
                yield says, part.compare.paired(says, *sides, over="sentence pairs")


def _bias_of_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each sentence pair and setting: pro right minus anti right, averaged over trials."""
    keys = ["item", "condition", "trial"]
    sides = [rows.filter(pl.col("wording") == side) for side in ("pro", "anti")]
    trials = sides[0].join(sides[1].select(*keys, anti="value"), on=keys)
    return trials.group_by("item", "condition").agg(
        (pl.col("value") - pl.col("anti")).mean().alias("value")
    )

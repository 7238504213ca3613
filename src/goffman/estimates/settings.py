"""Levels, and contrasts between adjective settings on the same sentence pairs.

Briegel & Chen (2023) count trials, which say how far a difference would come out again on these
sentences. Whether it would on others is said by sentence pairs, clustered by what they share: the
frame, the referent's occupation and the other one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import polars as pl

from goffman.estimates.contrast import Contrast
from goffman.estimates.cubes import in_order
from goffman.estimates.scored import Found, Scored, joined, of_group, values
from goffman.records import BASELINE, Estimate

PAIRS, SENTENCES = "sentence pairs", "sentences"
_SAID_OF_PAIRS = ("unit", "interval_over", "check_over", "method", "reason")

NOTHING = "0"
"""What a level is set against."""


def of_sentences(contrasts: Callable[[Scored], Found]) -> Callable[[Scored], Found]:
    """The contrasts of pairs whose two pronouns stand in one sentence: each is a sentence."""

    def made(scored: Scored) -> Found:
        for says, found in contrasts(scored):
            texts = {name: getattr(found, name) for name in _SAID_OF_PAIRS}
            said = {name: text and text.replace(PAIRS, SENTENCES) for name, text in texts.items()}
            yield says, replace(found, **said)

    return made


def levels(scored: Scored) -> Found:
    """In each model: the number without adjectives against 0."""
    for model in scored.models():
        rows = _of_pairs(scored, model)
        rows = rows.filter(pl.col("condition") == BASELINE).sort("item")
        if rows.height:
            says = scored.says("level", model=model, first=BASELINE, second=NOTHING)
            yield says, _clustered(scored, says, rows.select("item", first="value", second=0.0))


def settings_by_trials(scored: Scored) -> Found:
    """In each model: every adjective setting against the baseline, over trials, as in the study.

    Only the interval is over sentence pairs.
    """
    for model in scored.models():
        trials = scored.rows("trial", model=model)
        of_pairs = _of_pairs(scored, model)
        for setting in in_order(trials, "condition"):
            if setting == BASELINE:
                continue
            says = scored.says("trials", model=model, first=setting, second=BASELINE)
            sides = [trials.filter(pl.col("condition") == name) for name in (setting, BASELINE)]
            pairs = joined(of_pairs, "condition", (setting, BASELINE), on=["item"])
            yield (
                says,
                scored.compare.trials(
                    says,
                    (values(sides[0]), values(sides[1])),
                    (pairs["first"].to_list(), pairs["second"].to_list()),
                ),
            )


def settings_by_pairs(scored: Scored) -> Found:
    """In each model: every adjective setting against the baseline, over sentence pairs."""
    for model in scored.models():
        rows = _of_pairs(scored, model)
        for setting in in_order(rows, "condition"):
            pairs = joined(rows, "condition", (setting, BASELINE), on=["item"])
            if setting != BASELINE and pairs.height:
                says = scored.says("baseline", model=model, first=setting, second=BASELINE)
                yield says, _clustered(scored, says, pairs)


def pairs_against_singles(scored: Scored) -> Found:
    """In each model: settings with two adjectives against settings with one, over sentence pairs.

    Of each sentence pair the means over the settings of either kind, which are taken as given; a
    pair that lacks a setting is left out, since its means would be over other adjectives.
    """
    first, second = "contrasting-pair", "single-adjective"
    for model in scored.models():
        rows = _of_pairs(scored, model)
        sides = [of_group(rows, group) for group in (first, second)]
        if not all(side.height for side in sides):
            continue
        means = [_mean_of_settings(side, side["condition"].n_unique()) for side in sides]
        says = scored.says("groups", model=model, first=first, second=second)
        yield says, _clustered(scored, says, _side_by_side(*means))


def models_over_pairs(scored: Scored) -> Found:
    """Without adjectives, with two and with one: every two models, over sentence pairs."""
    rows = {model: _of_pairs(scored, model) for model in scored.models()}
    for group, (one, other) in itertools.product(
        (BASELINE, "contrasting-pair", "single-adjective"), itertools.combinations(rows, 2)
    ):
        sides = [of_group(rows[model], group) for model in (one, other)]
        if not all(side.height for side in sides):
            continue
        settings = pl.concat(sides)["condition"].n_unique()
        means = [_mean_of_settings(side, settings) for side in sides]
        says = scored.says("models", group=group, first=one, second=other)
        yield says, _clustered(scored, says, _side_by_side(*means))


def models_in_each_setting(scored: Scored) -> Found:
    """In each adjective setting: every two models, over sentence pairs."""
    rows = {model: _of_pairs(scored, model) for model in scored.models()}
    for one, other in itertools.combinations(rows, 2):
        both = pl.concat(rows[model].with_columns(model=pl.lit(model)) for model in (one, other))
        for setting in in_order(both, "condition"):
            of = both.filter(pl.col("condition") == setting)
            sides = joined(of, "model", (one, other), on=["item"])
            says = scored.says("models", group=setting, first=one, second=other)
            yield says, _clustered(scored, says, sides)


def _clustered(scored: Scored, says: Contrast, pairs: pl.DataFrame) -> Estimate:
    """The columns first and second of the sentence pairs in ``item``."""
    items = pairs["item"].to_list()
    # A preference has a sign: in it the more frequent pronoun would count as a stereotype.
    signed = scored.quantity != "bias"
    return scored.compare.clustered(
        says,
        pairs["first"].to_list(),
        pairs["second"].to_list(),
        clusters=scored.sharing.clusters(items),
        signs=scored.sharing.sides(items) if signed else None,
    )


def _side_by_side(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """The values of the same sentence pairs; null where one side has none."""
    both = first.join(second, on="item", how="full", coalesce=True).sort("item")
    return both.select("item", first="value", second="value_right")


def _mean_of_settings(rows: pl.DataFrame, settings: int) -> pl.DataFrame:
    """Of each sentence pair the mean over so many settings; null where one is missing."""
    whole = pl.col("value").count() == settings
    return (
        rows.sort("item", "condition")
        .group_by("item", maintain_order=True)
        .agg(pl.when(whole).then(pl.col("value").mean()).alias("value"))
    )


def _of_pairs(scored: Scored, model: str) -> pl.DataFrame:
    """Of each sentence pair and setting: the preference, or the bias averaged over trials."""
    if scored.quantity != "bias":
        return scored.rows("prompt", model=model)
    rows = scored.rows("prompt", "correct", model=model)
    keys = ["item", "condition", "group", "trial"]
    sides = [rows.filter(pl.col("wording") == side) for side in ("pro", "anti")]
    trials = sides[0].join(sides[1].select(*keys, anti="value"), on=keys)
    return trials.group_by("item", "condition", "group").agg(
        (pl.col("value") - pl.col("anti")).mean().alias("value")
    )

"""Contrasts of questions with options: what presentation does, and all else with it averaged out.

The order of the options, the keying and the wording each move an answer. What each does is a
contrast of its own, over the same items and conditions; what is said of conditions is said of the
means over both orders.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goffman.estimates.contrast import FEW, GIVEN_SENTENCES
from goffman.estimates.cubes import in_order, table
from goffman.estimates.in_turn import ASKED, two_sets
from goffman.estimates.scored import IN_TURN, Found, Scored
from goffman.records import BASELINE
from goffman.stats.crossed import LEAST

if TYPE_CHECKING:
    from goffman.estimates.contrast import Contrast
    from goffman.records import Estimate

DIRECTIONS = ("stigma-first", "stigma-last")
"""Where the option with the highest code stands in the list."""

KEYINGS = ("plain-keyed", "reversed-keyed")
"""Whether agreeing means more of the construct, or less."""


def over_orders(contrasts: Callable[[Scored], Found]) -> Callable[[Scored], Found]:
    """The contrasts of prompts, made from the means over the orders of their options."""

    def averaged(scored: Scored) -> Found:
        level = pl.col("level")
        cells = wordings_in_turn(of_presentations(scored.scores))
        prompts = items_in_turn(cells).with_columns(
            cells["item"].alias(ASKED), level=pl.lit("prompt")
        )
        others = scored.scores.filter(~level.is_in(["prompt", "presentation"]))
        others = others.with_columns(others["item"].alias(ASKED))
        yield from contrasts(replace(scored, scores=pl.concat([others, prompts])))

    return averaged


def of_presentations(scores: pl.DataFrame) -> pl.DataFrame:
    """The means over orders, or the prompts where only these are given.

    Contrasts average what they are given of one question, so that both come to the same.
    """
    cells = scores.filter(pl.col("level") == "presentation")
    return cells if cells.height else scores.filter(pl.col("level") == "prompt")


def where_in_turn(contrasts: Callable[[Scored], Found]) -> Callable[[Scored], Found]:
    """The contrasts of prompts; where wordings go in turn they are taken as one."""

    def made(scored: Scored) -> Found:
        level = pl.col("level")
        prompts = scored.scores.filter(level == "prompt")
        if not _turning(prompts).len():
            # Nearly always. The scores of many models are large: they are not copied for nothing.
            del prompts
            yield from contrasts(scored)
            return
        others = scored.scores.filter(level != "prompt")
        together = pl.concat([others, wordings_in_turn(prompts)])
        yield from contrasts(replace(scored, scores=together))

    return made


def wordings_in_turn(cells: pl.DataFrame) -> pl.DataFrame:
    """The scores as they are; but where each question was asked in one wording, they are one.

    A part of all questions goes through the wordings in turn, so that every condition meets each
    about equally often: then the wording is a part of the item. Each model by itself, since another
    one of the run may have been asked everything.
    """
    turning = pl.col("model").is_in(_turning(cells).implode())
    wording = pl.when(turning).then(pl.lit(IN_TURN)).otherwise("wording")
    return cells.filter(~turning | pl.col("value").is_not_null()).with_columns(wording=wording)


def _turning(cells: pl.DataFrame) -> pl.Series:
    """The models that were asked each question in one of several wordings."""
    question = ["model", "item", "condition", "form"]
    known = cells.filter(pl.col("value").is_not_null())
    asked = known.select(*question, "wording").unique()
    counts = asked.group_by(question).agg(of_question=pl.len())
    return (
        counts.group_by("model")
        .agg(most=pl.col("of_question").max())
        .join(asked.group_by("model").agg(pl.col("wording").n_unique()), on="model")
        .filter(pl.col("most") == 1, pl.col("wording") > 1)["model"]
    )


def items_in_turn(cells: pl.DataFrame, *, places: bool = False) -> pl.DataFrame:
    """The scores as they are; but where each condition was asked some items only, they are one.

    Then an item is a part of the condition that it was asked about, and a mean is over those that
    have a value. ``places``: they are the first, second … of each condition instead.
    """
    asked = cells.filter(pl.col("condition") != BASELINE)
    counts = asked.group_by("model", "condition", "form").agg(pl.col("item").n_unique())
    models = (
        counts.group_by("model")
        .agg(most=pl.col("item").max())
        .join(asked.group_by("model").agg(every=pl.col("item").n_unique()), on="model")
        .filter(pl.col("most") < pl.col("every"))["model"]
    )
    turning = pl.col("model").is_in(models.implode())
    place = pl.col("item").rank("dense").over("model", "condition", "form", "quantity")
    name = pl.format("{}-{}", pl.lit(IN_TURN), place) if places else pl.lit(IN_TURN)
    return cells.with_columns(item=pl.when(turning).then(name).otherwise("item"))


def order_of_options(scored: Scored) -> Found:
    """In each model: the most stigmatizing option listed first against listed last."""
    yield from _two_ways(scored, "order", DIRECTIONS)


def keying(scored: Scored) -> Found:
    """In each model: agreeing means more of the construct against less of it, item by item."""
    yield from _two_ways(scored, "keying", KEYINGS)


def wordings(scored: Scored) -> Found:
    """In each model: every other wording against the first, orders averaged."""
    for model, wording in itertools.product(scored.models(), scored.wordings[1:]):
        rows = scored.rows("presentation", model=model).filter(pl.col("condition") != BASELINE)
        names = (wording, scored.wordings[0])
        sides = [rows.filter(pl.col("wording") == name) for name in names]
        # Where each item has a wording of its own, nobody can tell the two apart.
        if sides[0]["item"].is_in(sides[1]["item"].implode()).any():
            says = scored.says("wordings", model=model, first=names[0], second=names[1])
            yield says, _compared(scored, says, sides)


def _two_ways(scored: Scored, kind: str, ways: tuple[str, str]) -> Found:
    """The same items × conditions in two presentations; all else is averaged."""
    for model in scored.models():
        sides = [
            scored.rows("prompt", way, model=model).filter(pl.col("condition") != BASELINE)
            for way in ways
        ]
        if all(side.height for side in sides):
            says = scored.says(kind, model=model, first=ways[0], second=ways[1])
            yield says, _compared(scored, says, sides)


def _compared(scored: Scored, says: Contrast, sides: Sequence[pl.DataFrame]) -> Estimate:
    """Two presentations: of the same cells, or where each was asked in one, of two sets of them.

    Fewer than three items are no sample: they are taken as given, and conditions compared.
    """
    names = ("item", "condition")
    asked = [side.select(names).unique() for side in sides]
    both = asked[0].join(asked[1], on=names)
    if both.height == asked[0].height == asked[1].height:
        items, conditions = in_order(both, "item"), in_order(both, "condition")
        tables = [table(one, down=items, across=conditions, names=names) for one in sides]
        return scored.compare.crossed(says, *tables, shared="both")
    if pl.concat(asked)["item"].n_unique() >= LEAST:
        return two_sets(says, [side.with_columns(side["item"].alias(ASKED)) for side in sides])
    means = [_of_conditions(side) for side in sides]
    pairs = means[0].join(means[1], on="condition", suffix="_second").sort("condition")
    if pairs.height >= FEW:
        values = pairs["value"].to_list(), pairs["value_second"].to_list()
        return scored.compare.paired(says, *values, over=GIVEN_SENTENCES)
    first, second = (one["value"].to_list() for one in means)
    return scored.compare.apart(says, first, second, over=GIVEN_SENTENCES)


def _of_conditions(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each condition the mean over what was asked of it."""
    ordered = rows.sort("condition", "item", "wording", "prompt_id")
    return ordered.group_by("condition", maintain_order=True).agg(pl.col("value").mean())

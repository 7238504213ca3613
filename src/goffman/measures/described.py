"""A woman and a man in the same question: pairs that differ in gender and in nothing else.

Of each pair, with the prompt about the woman, stand the quantities

    female, male   the mean code of either; both none where one is none
    disparity      female minus male

and, of who is described without a gender, ``unstated``: the mean code.
"""

from __future__ import annotations

import polars as pl

from goffman.measures.presented import CODES, answering, over_presentations
from goffman.measures.rows import as_scores, gaps, mean_over, only
from goffman.measures.scale import scale
from goffman.measures.variance import variance_split

PAIRED = ("female", "male", "disparity")
QUANTITIES = (*PAIRED, "unstated")

NO_PAIR = "the same question about a woman and a man is not answered twice"


def pairs(scores: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """SCORES of the level prompt: the quantities above, from those of the code."""
    keys = ["item", "condition", "form", "wording", "order", "place"]
    asked = _with_places(prompts).select("prompt_id", "gender", "order", "place")
    known = only(scores, ["code"]).join(asked, on="prompt_id")
    women, men, others = (
        known.filter(pl.col("gender") == gender) for gender in ("female", "male", "unstated")
    )
    both = women.join(
        men.select("model", *keys, man="value"), on=["model", *keys], how="inner", nulls_equal=True
    )
    there = pl.col("value").is_not_null() & pl.col("man").is_not_null()
    value = pl.col("value")
    rows = [
        _as_quantity(both.with_columns(value=pl.when(there).then(number)), quantity)
        for quantity, number in zip(
            PAIRED, (value, pl.col("man"), value - pl.col("man")), strict=True
        )
    ]
    unstated = as_scores(others.with_columns(quantity=pl.lit("unstated")))
    return pl.concat([*rows, unstated]).sort("quantity", "model", "prompt_id")


def _as_quantity(rows: pl.DataFrame, quantity: str) -> pl.DataFrame:
    some = pl.col("value").is_not_null()
    return as_scores(
        rows.with_columns(
            quantity=pl.lit(quantity),
            n=some.cast(pl.Int64),
            missing=(~some).cast(pl.Int64),
            reason=pl.when(~some).then(pl.coalesce("reason", pl.lit(NO_PAIR))),
        )
    )


def _with_places(prompts: pl.DataFrame) -> pl.DataFrame:
    """The prompts with ``place``: the first, second … person described of their gender.

    A woman without a name is set against a man without one, a named one against a named one.
    """
    person = pl.col("person") if "person" in prompts.columns else pl.lit("")
    place = person.fill_null("").rank("dense").over("gender")
    return prompts.with_columns(place=place)


def means_of_pairs(
    scores: pl.DataFrame, *, about: tuple[str, ...], contrast: str, against: str
) -> pl.DataFrame:
    """SCORES of cells, conditions, items, subscales, groups; and how a model answers.

    Each cell of item × condition is the mean over wordings, orders and people.
    """
    cell = ("model", "item", "dimension", "condition", "group", "category")
    cells = mean_over(only(scores, QUANTITIES), keep=cell, level="cell", over="questions")
    by_wording = mean_over(
        only(scores, QUANTITIES),
        keep=("model", "wording", "group"),
        level="group",
        over="questions",
    )
    groups = pl.concat(
        [
            mean_over(cells, keep=keep, level=level, over=over)
            for level, keep, over in (
                ("group", ("model", "group"), "items × conditions"),
                ("dimension", ("model", "dimension", "group"), "items × conditions"),
                ("item", ("model", "item", "dimension", "group"), "conditions"),
            )
        ]
    )
    groups = groups.filter((pl.col("level") != "dimension") | pl.col("dimension").is_not_null())
    who = ("model", "condition", "group", "category")
    questions = over_presentations(only(scores, CODES), whole=False)
    codes = mean_over(questions, keep=who, level="condition", over="questions")
    # A scale has one value a cell: those of orders and people are averaged.
    even = over_presentations(only(scores, ["disparity"]), whole=False)
    return pl.concat(
        [
            questions,
            cells,
            mean_over(cells, keep=who, level="condition", over="items"),
            codes,
            groups,
            by_wording,
            gaps(only(groups, PAIRED), contrast=contrast, against=against),
            mean_over(answering(scores, about), keep=("model",), level="model", over="prompts"),
            scale(
                even.with_columns(wording=pl.lit("")),
                quantity="disparity",
                groups=(contrast, against),
            ),
            variance_split(scores),
        ]
    )

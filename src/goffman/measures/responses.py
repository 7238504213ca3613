"""Coded responses: what the answers of every mode come to before they are scored.

    model  prompt_id  trial  category   answer  weight  code
    gpt2   p17        null   option     A       .31     0.67   the probability of an option
    chat   p17        3      option     C       1       0      the option that a reply names
    chat   p17        4      refusal    null    1       null   a reply that names none
    bert   p09        null   negative   hard    .12     1      a word that was filled in
    bert   p09        null   null       blue    .08     null   a word that nobody rated

A response is one distribution over such rows, or one reply: the weights of its rows sum to 1, or to
a hair less. ``code`` is what a row counts; null where it counts nothing. Of a prompt

    mean_code   Σ w·code / Σ w over the rows with a code
    bound       Σ w·code / Σ w over all rows, were every row without one coded 0, or 1
    share       Σ w of some rows, over the number of responses
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

WEIGHT, CODE, CATEGORY = pl.col("weight"), pl.col("code"), pl.col("category")
CODED = CODE.is_not_null()

FLOOR = 0.01
"""Options that have less than this weight together say nothing about each other."""

_COLUMNS = ("model", "prompt_id", "trial", "category", "answer", "weight", "code")


def coded_choices(answers: pl.DataFrame) -> pl.DataFrame:
    """Return CHOICES as coded responses.

    What lies on no option is *elsewhere*, or *unseen* where a server did not name the tokens.
    """
    options = answers.with_columns(
        category=pl.when(CODED).then(pl.lit("option")).otherwise(pl.lit("no-answer")),
        answer="option",
        weight=pl.col("probability").cast(pl.Float64),
    )
    rest = answers.group_by("model", "prompt_id", maintain_order=True).agg(
        pl.col("elsewhere", "unseen").cast(pl.Float64).first()
    )
    unseen = rest.filter(pl.col("unseen").is_not_null())
    seen = pl.col("elsewhere") - pl.col("unseen").fill_null(0)
    return pl.concat(
        [
            _rows(options),
            _rows(rest.with_columns(category=pl.lit("elsewhere"), weight=seen)),
            _rows(unseen.with_columns(category=pl.lit("unseen"), weight="unseen")),
        ]
    )


def coded_replies(answers: pl.DataFrame) -> pl.DataFrame:
    """Return replies as coded responses; a parser gave ``kind``, ``chosen`` and ``code``."""
    code = pl.when(pl.col("kind") == "option").then(CODE)
    return _rows(
        answers.with_columns(category="kind", answer="chosen", weight=pl.lit(1.0), code=code)
    )


def coded_fills(fills: pl.DataFrame) -> pl.DataFrame:
    """Return fills with the column ``label`` as coded responses: a negative word has the code 1."""
    label = pl.col("label")
    code = pl.when(label.is_in(["positive", "negative", "neutral"])).then(label == "negative")
    return fills.with_columns(
        category="label",
        weight=pl.col("probability").cast(pl.Float64),
        code=code.cast(pl.Float64),
    )


def _rows(frame: pl.DataFrame) -> pl.DataFrame:
    types = {"trial": pl.Int64, "weight": pl.Float64, "code": pl.Float64}
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None))
        .cast(types.get(name, pl.String))
        .alias(name)
        for name in _COLUMNS
    )


def by_prompt(
    coded: pl.DataFrame,
    *numbers: pl.Expr,
    order: Sequence[str] = ("trial", "answer"),
    **named: pl.Expr,
) -> pl.DataFrame:
    """Return the numbers of each model and prompt; the order of the rows given changes no digit."""
    ordered = coded.sort("model", "prompt_id", *order)
    return ordered.group_by("model", "prompt_id", maintain_order=True).agg(*numbers, **named)


def mean_code(*, floor: float = FLOOR) -> pl.Expr:
    """Return Σ w·code / Σ w over the rows with a code; null where they weigh next to nothing."""
    return ratio(WEIGHT * CODE, among=CODED, floor=floor)


def ratio(part: pl.Expr, *, among: pl.Expr, floor: float = FLOOR) -> pl.Expr:
    """Return Σ part / Σ w among these rows; null where they weigh next to nothing."""
    total = WEIGHT.filter(among).sum()
    return pl.when((total > 0) & (total >= floor)).then(part.sum() / total)


def bound(code: float, *, uncoded: pl.Expr | None = None) -> pl.Expr:
    """Return the mean code were all weight without a code coded so."""
    uncoded = WEIGHT.filter(~CODED).sum() if uncoded is None else uncoded
    total = WEIGHT.filter(CODED).sum() + uncoded
    return pl.when(total > 0).then(((WEIGHT * CODE).sum() + uncoded * code) / total)


def share(rows: pl.Expr) -> pl.Expr:
    """Return the weight of these rows in a response, on average over responses."""
    return WEIGHT.filter(rows).sum() / pl.col("trial").n_unique()


def shares(categories: Sequence[str]) -> list[pl.Expr]:
    """Return the share of each category, under its name."""
    return [share(pl.col("category") == one).alias(one) for one in categories]

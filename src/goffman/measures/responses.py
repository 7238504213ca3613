"""Coded responses and the scores made from them: of prompts, their means, and differences.

The answers of every mode are coded before they are scored:

    model  prompt_id  trial  category   answer  weight  code
    gpt2   p17        null   option     A       .31     0.67   the probability of an option
    chat   p17        3      option     C       1       0      the option that a reply names
    chat   p17        4      refusal    null    1       null   a reply that names none
    bert   p09        null   negative   hard    .12     1      a word that was filled in
    bert   p09        null   null       blue    .08     null   a word that nobody rated

A response is one distribution over such rows, or one reply: the weights of its rows sum to 1, or
slightly less. ``code`` is the row's value from 0 to 1; null if it has none. Numbers of a prompt:

    mean_code   Σ w·code / Σ w over the rows with a code
    bound       Σ w·code / Σ w over all rows, if every row without a code were coded 0, or 1
    share       Σ w of some rows, over the number of responses
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from goffman.contrasts.designs import LOG_LIKELIHOOD
from goffman.errors import InputError
from goffman.instruments.types import BASELINE
from goffman.schemas import SCORES, schema

WEIGHT, CODE, CATEGORY = pl.col("weight"), pl.col("code"), pl.col("category")
CODED = CODE.is_not_null()

FLOOR = 0.01
"""The least weight of the rows with a code: with less, their mean is null."""

_COLUMNS = ("model", "prompt_id", "trial", "category", "answer", "weight", "code")


def coded_choices(answers: pl.DataFrame) -> pl.DataFrame:
    """Return CHOICES as coded responses.

    The weight on no option is *elsewhere*, or *unseen* if a server did not name the tokens.
    """
    options = answers.with_columns(
        category=pl.when(CODED).then(pl.lit("option")).otherwise(pl.lit("no-answer")),
        answer="option",
        weight=pl.col("probability").cast(pl.Float64),
    )
    remainders = answers.group_by("model", "prompt_id", maintain_order=True).agg(
        pl.col("elsewhere", "unseen").cast(pl.Float64).first()
    )
    unseen = remainders.filter(pl.col("unseen").is_not_null())
    seen = pl.col("elsewhere") - pl.col("unseen").fill_null(0)
    return pl.concat(
        [
            _rows(options),
            _rows(remainders.with_columns(category=pl.lit("elsewhere"), weight=seen)),
            _rows(unseen.with_columns(category=pl.lit("unseen"), weight="unseen")),
        ]
    )


def coded_replies(answers: pl.DataFrame) -> pl.DataFrame:
    """Return replies with a parser's ``kind``, ``chosen`` and ``code`` as coded responses."""
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
    """Return the numbers of each model and prompt, whatever the order of the rows."""
    ordered = coded.sort("model", "prompt_id", *order)
    return ordered.group_by("model", "prompt_id", maintain_order=True).agg(*numbers, **named)


def mean_code(*, floor: float = FLOOR) -> pl.Expr:
    """Return an expression for Σ w·code / Σ w over the rows with a code; null below the floor."""
    return ratio(WEIGHT * CODE, among=CODED, floor=floor)


def ratio(part: pl.Expr, *, among: pl.Expr, floor: float = FLOOR) -> pl.Expr:
    """Return an expression for Σ part / Σ w among these rows; null below the floor."""
    total = WEIGHT.filter(among).sum()
    return pl.when((total > 0) & (total >= floor)).then(part.sum() / total)


def bound(code: float, *, uncoded: pl.Expr | None = None) -> pl.Expr:
    """Return an expression for the mean code if all weight without a code had this code."""
    uncoded = WEIGHT.filter(~CODED).sum() if uncoded is None else uncoded
    total = WEIGHT.filter(CODED).sum() + uncoded
    return pl.when(total > 0).then(((WEIGHT * CODE).sum() + uncoded * code) / total)


def share(rows: pl.Expr) -> pl.Expr:
    """Return an expression for the weight of these rows, on average over responses."""
    return WEIGHT.filter(rows).sum() / pl.col("trial").n_unique()


def shares(categories: Sequence[str]) -> list[pl.Expr]:
    """Return expressions for the share of each category, under its name."""
    return [share(pl.col("category") == category).alias(category) for category in categories]


IDS = ("item", "wording", "dimension", "condition", "form", "group", "category")
"""The columns with the levels of the factors that a prompt is about."""

WHOSE = ("model", "variant", "trial")
"""The columns that say who answered, in which variant of the scores and trial; any may be null."""

TINY = 1e-38
"""A probability that float32 rounds to 0 is at most this."""

NO_ANSWER = "the model has not answered this prompt"

_ORDER = ("quantity", *WHOSE, *IDS, "prompt_id")
"""The order in which values are added, so that rounding does not depend on the order of rows."""


def about_nonbinary(prompts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the prompts about other people, and those about a nonbinary person.

    The latter are fewer, and count only in a quantity of their own.
    """
    if "gender" not in prompts.columns:
        return prompts, prompts.clear()
    is_nonbinary = pl.col("gender").eq_missing(pl.lit("nonbinary"))
    return prompts.filter(~is_nonbinary), prompts.filter(is_nonbinary)


def answers_to(prompts: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Return the answers to these prompts, in their order."""
    return answers.filter(pl.col("prompt_id").is_in(prompts["prompt_id"].implode()))


def prompt_scores(
    values: pl.DataFrame, prompts: pl.DataFrame, *, measure: str, reasons: Mapping[str, str]
) -> pl.DataFrame:
    """Return SCORES of the level prompt: every prompt for each model that answered any of them.

    ``values``: prompt_id, model, variant and trial if there are any, and a column for each quantity
    in ``reasons``, which says why a quantity of an answered prompt is null.
    """
    keys = [name for name in WHOSE if name in values.columns]
    wide = (
        values.select(keys)
        .unique()
        .join(prompts.select("prompt_id", "instrument", "mode", *IDS), how="cross")
        .join(
            values.with_columns(answered=pl.lit(value=True)),
            on=[*keys, "prompt_id"],
            how="left",
            nulls_equal=True,
        )
    )
    index = [*keys, "prompt_id", "instrument", "mode", *IDS, "answered"]
    rows = wide.unpivot(
        list(reasons), index=index, variable_name="quantity", value_name="value"
    ).with_columns(
        pl.col("value").cast(pl.Float64),
        measure=pl.lit(measure),
        level=pl.lit("prompt"),
        n=pl.col("value").is_not_null().cast(pl.Int64),
        missing=pl.col("value").is_null().cast(pl.Int64),
        reason=pl.when(pl.col("value").is_null()).then(
            pl.when("answered")
            .then(pl.col("quantity").replace_strict(reasons, return_dtype=pl.String))
            .otherwise(pl.lit(NO_ANSWER))
        ),
    )
    return as_scores(rows).sort("model", "prompt_id", "variant", "trial", maintain_order=True)


def as_scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with exactly the columns SCORES; a column that they lack is null."""
    columns = schema(SCORES)
    return rows.select(
        pl.col(name).cast(kind) if name in rows.columns else pl.lit(None, dtype=kind).alias(name)
        for name, kind in columns.items()
    )


def mean_over(scores: pl.DataFrame, *, keep: Sequence[str], level: str, over: str) -> pl.DataFrame:
    """Return SCORES of the level: the mean of the values that agree in ``keep``, and their spread.

    Missing values are left out of a mean and counted beside it; a mean of no values is null.
    """
    keys = ["instrument", "mode", "measure", "quantity", "variant", *keep]
    value = pl.col("value")
    all_missing = pl.format(
        "all {} {} are missing, the first because {}", "missing", pl.lit(over), "why"
    )
    # The scores of many models are large, so only needed columns are sorted, one number at a time.
    needed = scores.select(*dict.fromkeys([*keys, *_ORDER, "value", "reason"]))
    means = pl.concat(
        needed.filter(quantity=quantity)
        .sort(_ORDER)
        .group_by(keys, maintain_order=True)
        .agg(
            value.mean(),
            n=value.count().cast(pl.Int64),
            missing=value.null_count().cast(pl.Int64),
            sd=value.std(),
            low=value.min(),
            high=value.max(),
            why=pl.col("reason").drop_nulls().first(),
        )
        for quantity in sorted(needed["quantity"].unique()) or [""]
    ).with_columns(
        level=pl.lit(level),
        over=pl.lit(over),
        reason=pl.when(pl.col("n") == 0).then(
            pl.when(pl.col("missing") == 1).then("why").otherwise(all_missing)
        ),
    )
    return as_scores(means)


def log_likelihoods(phrases: pl.DataFrame, prompts: pl.DataFrame, *, measure: str) -> pl.DataFrame:
    """Return SCORES of conditions: Σ log P(token) over the tokens of a phrase, the mean over forms.

    ``phrases``: FILLS of the tokens, each under a prompt that contains the form.
    """
    p = pl.col("probability").cast(pl.Float64).clip(lower_bound=TINY)
    sums = phrases.group_by("model", "prompt_id").agg(value=p.log().sum())
    rows = sums.join(prompts.select("prompt_id", "instrument", "mode", *IDS), on="prompt_id")
    forms = as_scores(rows.with_columns(measure=pl.lit(measure), quantity=pl.lit(LOG_LIKELIHOOD)))
    keep = ("model", "condition", "group", "category")
    return mean_over(forms, keep=keep, level="condition", over="forms")


def above_baseline(scores: pl.DataFrame) -> pl.DataFrame:
    """Return each condition's value minus that of the prompts that name none.

    The result is empty if an instrument has no such prompts.
    """
    baseline = scores.filter(condition=BASELINE)
    conditions = scores.filter(pl.col("condition") != BASELINE)
    rows = _differences(
        conditions, baseline, by="trial", suffix="minus-baseline", called="the baseline"
    )
    return as_scores(rows)


def gaps(scores: pl.DataFrame, *, contrast: str, against: str) -> pl.DataFrame:
    """Return the values of the group ``contrast`` minus those of the group ``against``."""
    first, second = (scores.filter(group=group) for group in (contrast, against))
    rows = _differences(first, second, by="dimension", suffix="gap", called=against).with_columns(
        pl.col("n") + pl.col("more"),
        pl.col("missing") + pl.col("gone"),
        level=pl.when(pl.col("level") == "group").then(pl.lit("model")).otherwise("level"),
        group=pl.lit(None, dtype=pl.String),
    )
    return as_scores(rows)


def _differences(
    first: pl.DataFrame, second: pl.DataFrame, *, by: str, suffix: str, called: str
) -> pl.DataFrame:
    """Return SCORES of the first values minus the second, without a spread."""
    keys = ["model", "instrument", "mode", "quantity", "variant", "level", "wording", "item", by]
    joined = first.join(
        second.select(*keys, second="value", second_reason="reason", more="n", gone="missing"),
        on=keys,
        how="inner",
        nulls_equal=True,
    )
    return joined.drop("sd", "low", "high").with_columns(
        quantity=pl.format("{}-{}", "quantity", pl.lit(suffix)),
        value=pl.col("value") - pl.col("second"),
        reason=pl.coalesce("reason", pl.format(f"{called} has no value: {{}}", "second_reason")),
    )


def only(scores: pl.DataFrame, quantities: Iterable[str]) -> pl.DataFrame:
    """Return the rows of these quantities."""
    return scores.filter(pl.col("quantity").is_in(list(quantities)))


def wide(scores: pl.DataFrame, quantities: Sequence[str]) -> pl.DataFrame:
    """Return the scores with a column of values for each quantity.

    ``scores`` must be of one level.
    """
    ids = ["model", "instrument", "mode", "measure", "variant", "level", "prompt_id", *IDS, "trial"]
    rows = only(scores, quantities).pivot(
        "quantity", index=ids, values="value", aggregate_function=None
    )
    missing = [name for name in quantities if name not in rows.columns]
    return rows.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in missing)


def means_by_item_and_condition(
    scores: pl.DataFrame, *, contrast: str, against: str, compared: Sequence[str]
) -> pl.DataFrame:
    """Return the means of Lin et al. (2022) by wording: every item × condition counts once.

    These are means of each group and subscale over items × conditions, of each item over
    conditions, and of each condition over items; and the gaps of the quantities ``compared``.
    """
    cell = ("model", "wording", "item", "dimension", "condition", "group", "category")
    cells = mean_over(scores, keep=cell, level="cell", over="forms")
    groups = means_of_cells(cells, by=("model", "wording"))
    keep = ("model", "wording", "condition", "group", "category")
    return pl.concat(
        [
            mean_over(cells, keep=keep, level="condition", over="items"),
            groups,
            gaps(only(groups, compared), contrast=contrast, against=against),
        ]
    )


def means_of_cells(cells: pl.DataFrame, *, by: Sequence[str]) -> pl.DataFrame:
    """Return SCORES of groups and subscales over items × conditions, of items over conditions."""
    means = pl.concat(
        [
            mean_over(cells, keep=(*by, *keep), level=level, over=over)
            for level, keep, over in (
                ("group", ("group",), "items × conditions"),
                ("dimension", ("dimension", "group"), "items × conditions"),
                ("item", ("item", "dimension", "group"), "conditions"),
            )
        ]
    )
    # Without subscales, means of dimensions would repeat those of groups.
    return means.filter((pl.col("level") != "dimension") | pl.col("dimension").is_not_null())


def means_by_form(
    cells: pl.DataFrame,
    balanced: pl.DataFrame | None = None,
    *,
    compared: Sequence[str],
    contrast: str,
    against: str,
    over: str,
) -> pl.DataFrame:
    """Return SCORES of forms, wordings, conditions, categories, groups and items, and their gaps.

    ``cells``: scores of single questions (``over``). ``balanced``: other scores for the means of
    conditions. The first number ``compared`` also gets its difference from the baseline.
    """
    ids = ("condition", "group", "category")
    means = []
    for rows in (cells,) if balanced is None else (cells, balanced):
        forms = mean_over(rows, keep=("model", "wording", "form", *ids), level="form", over="items")
        keep = ("model", "wording", *ids)
        means.append((forms, mean_over(forms, keep=keep, level="wording", over="forms")))
    (forms, wordings), (_, balanced_wordings) = means[0], means[-1]
    conditions = pl.concat(
        [
            mean_over(balanced_wordings, keep=("model", *ids), level="condition", over="wordings"),
            mean_over(balanced_wordings, keep=ids, level="condition", over="models × wordings"),
        ]
    )
    items = mean_over(cells, keep=("model", "item", *ids), level="cell", over=over)
    categories = ("model", "group", "category")
    groups = pl.concat(
        [
            mean_over(rows, keep=keep, level=level, over="conditions")
            for rows, keep, level in (
                (conditions, ("model", "group"), "group"),
                (wordings, ("model", "wording", "group"), "group"),
                (items, ("model", "item", "group"), "item"),
            )
        ]
    )
    return pl.concat(
        [
            forms,
            wordings,
            conditions,
            above_baseline(only(pl.concat([wordings, conditions]), compared[:1])),
            mean_over(conditions, keep=categories, level="category", over="conditions"),
            groups,
            gaps(only(groups, compared), contrast=contrast, against=against),
        ]
    )


def top_fills(fills: pl.DataFrame, *, top_k: int | None) -> pl.DataFrame:
    """Return the ``top_k`` most probable fills of each prompt, or all stored ones if it is None.

    Target words beyond the top k are left out. Raise InputError if a model has fewer stored fills.
    """
    ranked = fills.filter(pl.col("rank").is_not_null(), step=1)
    if top_k is None:
        return ranked
    if top_k < 1:
        raise InputError(f"top_k is {top_k}. Allowed: a whole number of at least 1.")
    for model, stored in ranked.group_by("model").agg(pl.col("rank").max()).sort("model").rows():
        refuse_more("top_k", top_k, stored, what=f"words are stored at each mask of {model}")
    return ranked.filter(pl.col("rank") <= top_k)


def refuse_more(name: str, wanted: int, stored: int, *, what: str) -> None:
    """Raise InputError if more is wanted than is stored."""
    if wanted > stored:
        raise InputError(
            f"{name} is {wanted}, but {stored} {what}. Allowed: 1 to {stored}; more would have to "
            "be asked anew, in another run."
        )


PROMPT = ("prompt_id", "quantity", "variant", "trial")
"""The columns that identify a number of a prompt."""


def side_by_side(
    before: pl.DataFrame, now: pl.DataFrame, *, on: Sequence[str] = PROMPT
) -> pl.DataFrame:
    """Return SCORES of the level prompt, with the tables' values in the columns before and now.

    Both are null if either is; ``one_sided`` then says whether only one is.
    """
    rows = now.join(before.select(*on, before="value"), on=on, how="inner", nulls_equal=True)
    missing = pl.col("value").is_null() | pl.col("before").is_null()
    return rows.with_columns(
        one_sided=pl.col("value").is_null() != pl.col("before").is_null(),
        now=pl.when(~missing).then("value"),
        before=pl.when(~missing).then("before"),
    )


def scores_with(
    both: pl.DataFrame, value: pl.Expr, *, model: pl.Expr, one_sided: str
) -> pl.DataFrame:
    """Return SCORES of the level prompt with this value and model.

    ``both``: a table from ``side_by_side``; ``one_sided``: the reason of a null value.
    """
    rows = both.with_columns(value=value, model=model)
    return rows.with_columns(
        n=pl.col("value").is_not_null().cast(pl.Int64),
        missing=pl.col("value").is_null().cast(pl.Int64),
        reason=pl.when(pl.col("value").is_null()).then(pl.coalesce("reason", pl.lit(one_sided))),
    ).drop("one_sided", "now", "before")

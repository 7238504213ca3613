"""Questions with options: how each was presented, and means in which no presentation weighs more.

What is presented moves an answer as well as what is asked. Of each prompt the code stands once more
under the names of what could move it:

    stigma-first, stigma-last   the option with the higher code is listed first, or last. Forward
                 and reversed would not do: keying turns the codes of a scale, not its order
    plain-keyed, reversed-keyed   agreeing means more, or less, of the construct; only where an item
                 is asked with the same options in both keyings
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from goffman.choice_items import options_from
from goffman.estimates.presented import DIRECTIONS, KEYINGS, items_in_turn, wordings_in_turn
from goffman.measures.rows import IDS, above_baseline, as_scores, gaps, mean_over, only
from goffman.measures.scale import scale
from goffman.measures.variance import variance_split
from goffman.presentation.styles import SAYS

CODES = ("code", "lowest", "highest")
"""The mean code, and were every non-answer the least, or the most, stigmatizing answer."""

_ONE_IS_MISSING = "in one of its presentations there is no value"


def presentations(prompts: pl.DataFrame) -> pl.DataFrame:
    """Of each prompt with options: ``first``, ``last``, ``direction`` and ``keying``.

    The labels of the options that count and are listed first and last; the names above, or null.
    """
    rows = []
    asked = prompts.filter(pl.col("options").is_not_null())
    for prompt, item, keyed, text in asked.select("prompt_id", "item", "keyed", "options").rows():
        counted = [one for one in options_from(text) if one.code is not None]
        codes = [one.code or 0.0 for one in counted]
        rows.append(
            {
                "prompt_id": prompt,
                "item": item,
                "keyed": keyed,
                "first": counted[0].label,
                "last": counted[-1].label,
                "direction": _direction(codes[0], codes[-1]),
                "scale": "\n".join(sorted(one.text for one in counted)),
            }
        )
    frame = pl.DataFrame(rows, schema={**dict.fromkeys(_OF_PROMPT, pl.String)})
    both = pl.col("keyed").n_unique().over("item", "scale") == 2
    keying = pl.format("{}-keyed", "keyed")
    return frame.with_columns(keying=pl.when(both).then(keying)).drop("item", "keyed", "scale")


_OF_PROMPT = ("prompt_id", "item", "keyed", "first", "last", "direction", "scale")


def _direction(first: float, last: float) -> str | None:
    if first == last:
        return None
    return DIRECTIONS[0] if first > last else DIRECTIONS[1]


def by_presentation(scores: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """The code's SCORES of the level prompt once more, under the names of its presentation."""
    known = only(scores, ["code"]).join(presentations(prompts), on="prompt_id")
    known = known.sort("model", "prompt_id", "trial")
    return pl.concat(
        [
            as_scores(known.filter(pl.col(name).is_not_null()).with_columns(quantity=name))
            for name in ("direction", "keying")
        ]
    )


def over_presentations(scores: pl.DataFrame, *, whole: bool) -> pl.DataFrame:
    """SCORES of the level presentation: the mean over the orders that a question was asked in.

    ``whole``: there is none where one of them has no value, since the others' mean would be of
    another order.
    """
    keep = ("model", *IDS)
    means = mean_over(scores, keep=keep, level="presentation", over="presentations")
    if not whole:
        return means
    gap = (pl.col("missing") > 0) & (pl.col("n") > 0)
    reason = pl.when(gap).then(pl.lit(_ONE_IS_MISSING)).otherwise("reason")
    return means.with_columns(value=pl.when(~gap).then("value"), reason=reason)


def answering(scores: pl.DataFrame, about: Sequence[str]) -> pl.DataFrame:
    """The rows of these quantities, and of the labels that models give most often."""
    quantity = pl.col("quantity")
    return scores.filter(quantity.is_in(list(about)) | quantity.str.starts_with(SAYS))


def labels_given_most(given: pl.DataFrame) -> list[str]:
    """Of each model the letter and the number with the greatest weight.

    ``given``: model, label, weight.
    """
    of = ["model", "numbers"]
    summed = given.group_by("model", "label").agg(pl.col("weight").sum())
    ordered = summed.with_columns(numbers=is_number(pl.col("label"))).sort(
        *of, -pl.col("weight"), "label"
    )
    first = ordered.group_by(of, maintain_order=True).agg(pl.col("label").first())
    return sorted(first["label"].unique())


def is_number(label: pl.Expr) -> pl.Expr:
    """Whether labels are numbers, not letters."""
    return label.str.contains(r"^\d+$")


def means_of_codes(
    scores: pl.DataFrame, *, about: Sequence[str], contrast: str, against: str, whole: bool
) -> pl.DataFrame:
    """SCORES of all levels but prompt, as negative-attitude has them, each question counting once.

    ``about``: quantities whose mean over prompts says how a model answers.
    """
    cells = over_presentations(only(scores, CODES), whole=whole)
    who = ("condition", "group", "category")
    forms = mean_over(cells, keep=("model", "wording", "form", *who), level="form", over="items")
    wordings = mean_over(forms, keep=("model", "wording", *who), level="wording", over="forms")
    conditions = _of_conditions(cells, who)
    of_items = mean_over(cells, keep=("model", "item", *who), level="cell", over="questions")
    groups = pl.concat(
        [
            mean_over(rows, keep=keep, level=level, over="conditions")
            for rows, keep, level in (
                (conditions, ("model", "group"), "group"),
                (wordings, ("model", "wording", "group"), "group"),
                (of_items, ("model", "item", "group"), "item"),
            )
        ]
    )
    code = only(pl.concat([wordings, conditions]), ["code"])
    presented = answering(scores, [*about, *DIRECTIONS, *KEYINGS])
    return pl.concat(
        [
            cells,
            forms,
            wordings,
            conditions,
            above_baseline(code),
            mean_over(
                conditions, keep=("model", "group", "category"), level="category", over="conditions"
            ),
            groups,
            gaps(only(groups, ["code"]), contrast=contrast, against=against),
            mean_over(presented, keep=("model",), level="model", over="prompts"),
            scale(
                items_in_turn(wordings_in_turn(cells), places=True),
                quantity="code",
                groups=(contrast, against),
            ),
            variance_split(scores),
        ]
    )


def _of_conditions(cells: pl.DataFrame, who: tuple[str, ...]) -> pl.DataFrame:
    """SCORES of conditions, of each model and over all: every wording counts the same.

    Where each question was asked in one wording only, every item does.
    """
    keep, even = ("model", "wording", "form", *who), wordings_in_turn(cells)
    forms = mean_over(even, keep=keep, level="form", over="items")
    wordings = mean_over(forms, keep=("model", "wording", *who), level="wording", over="forms")
    return pl.concat(
        [
            mean_over(wordings, keep=("model", *who), level="condition", over="wordings"),
            mean_over(wordings, keep=who, level="condition", over="models × wordings"),
        ]
    )

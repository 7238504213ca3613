"""The score of control items: one number, which says whether a model can do the task at all.

A measure that scores controls defines these members (base.py):

    scores_controls   how: one of ControlScore, of instruments/types.py
    control           coded answers and prompts of controls → prompt_id and value, a row each
    control_side      the same for the share of answers on the side that everybody would take, if
                      shares are compared with people's
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from goffman.instruments.types import CONTROL, ControlScore
from goffman.measures.responses import NO_ANSWER, as_scores
from goffman.stats.intervals import area_interval, mean_interval, share_interval

if TYPE_CHECKING:
    from goffman.measures.base import Measure

LOW, HIGH = "control-low", "control-high"
"""The quantities of the interval's ends."""

IN_WORDING = "control-in-wording"
"""The quantity of the score in a single wording, which the AUC over all could hide."""

DECIDED, DECIDED_LOW, DECIDED_HIGH = "decided", "decided-low", "decided-high"
"""The quantities of the mean share of answers on the side that everybody would take, and of the
ends of its interval."""

_SEPARATED = ("negative", "positive")
"""The kinds of separated items: those with the greater values, and those with the lower."""

CALLED: dict[ControlScore, str] = {
    "separation": "AUC",
    "label": "accuracy",
    "person": "mean probability",
    "answer": "accuracy",
    "gender": "accuracy",
}
"""The names under which people read the scores."""


def control_score(
    measure: Measure, answers: pl.DataFrame, prompts: pl.DataFrame, *, model: str
) -> pl.DataFrame:
    """Return SCORES of the level control: the score, and the ends of its 95% interval over items.

    Where items are separated, there is also the score in each of several wordings. ``answers`` are
    the prepared answers to these prompts.
    """
    values = prompts.select("prompt_id", "instrument", "mode", "item", "answer", "wording").join(
        measure.control(answers, prompts),
        on="prompt_id",
        how="left",
    )
    # An item that was asked in several wordings, or trials, counts once.
    items = values.group_by("item", "answer", maintain_order=True).agg(pl.col("value").mean())
    values_of_items = items["value"].drop_nulls()
    value: float | None = None
    ends: tuple[float, float] | None = None
    # Answers from another harness may include only one of the two kinds.
    separated = measure.scores_controls != "separation" or items["answer"].n_unique() > 1
    if values_of_items.len() and separated:
        value, ends = _value_and_interval(measure, items)
    no_value = _NO_VALUE if separated else _ONE_KIND
    row = {
        "model": model,
        "instrument": prompts["instrument"][0],
        "mode": prompts["mode"][0],
        "measure": measure.name,
        "quantity": CONTROL,
        "level": CONTROL,
        "value": value,
        "n": values_of_items.len(),
        "missing": items.height - values_of_items.len(),
        "over": "control items",
        "reason": None if value is not None else no_value if answers.height else NO_ANSWER,
    }
    low, high = ends or (None, None)
    rows = [row, row | {"quantity": LOW, "value": low}, row | {"quantity": HIGH, "value": high}]
    if value is not None and ends is None:
        rows[1:] = [
            end_row | {"reason": "one item says nothing of how items vary"} for end_row in rows[1:]
        ]
    if value is not None and measure.scores_controls == "separation":
        rows += [row | numbers for numbers in _in_wordings(values)]
    if (sides := measure.control_side(answers, prompts)) is not None:
        rows += [row | numbers for numbers in _decided(sides, prompts)]
    return as_scores(pl.DataFrame(rows, infer_schema_length=None))


def _value_and_interval(
    measure: Measure, items: pl.DataFrame
) -> tuple[float, tuple[float, float] | None]:
    """Return the score, and its interval for other items of the same kinds, if there is one."""
    if measure.scores_controls == "separation":
        value = _separation(items)
        counts = [items.filter(answer=kind).height for kind in _SEPARATED]
        return value, area_interval(value, *counts)
    values = items["value"].drop_nulls()
    value = float(values.to_numpy().mean())
    if measure.scores_controls == "person":
        # Kinds are fixed: if a model always says the same word, it is right in one kind and wrong
        # in the other, which would count as spread.
        kinds = items.drop_nulls("value").partition_by("answer", maintain_order=True)
        return value, mean_interval(*(part["value"].to_list() for part in kinds))
    return value, share_interval(value, values.len())


_NO_VALUE = "none of the control items has a value"
_ONE_KIND = "control items of one kind only: nothing to tell apart"


def _decided(sides: pl.DataFrame, prompts: pl.DataFrame) -> Iterator[dict[str, object]]:
    """Yield the columns that differ for the mean share on the obvious side, and its interval."""
    by_item = prompts.select("prompt_id", "item").join(sides, on="prompt_id").group_by("item")
    items = by_item.agg(pl.col("value").mean()).sort("item")["value"]
    item_means = items.drop_nulls().to_list()
    if not item_means:
        return
    numbers = {"n": len(item_means), "missing": len(items) - len(item_means), "reason": None}
    low, high = mean_interval(item_means) or (None, None)
    mean = sum(item_means) / len(item_means)
    for name, value in ((DECIDED, mean), (DECIDED_LOW, low), (DECIDED_HIGH, high)):
        if value is not None:
            yield {"quantity": name, "value": value, **numbers}


def _in_wordings(values: pl.DataFrame) -> Iterator[dict[str, object]]:
    parts = values.partition_by("wording", as_dict=True, maintain_order=True)
    for (wording,), part in parts.items() if len(parts) > 1 else ():
        items = part.group_by("item", "answer", maintain_order=True).agg(pl.col("value").mean())
        n = items["value"].count()
        if items["answer"].n_unique() < len(_SEPARATED) or not n:
            continue
        yield {
            "quantity": IN_WORDING,
            "wording": wording,
            "value": _separation(items),
            "n": n,
            "missing": items.height - n,
        }


def _separation(items: pl.DataFrame) -> float:
    negative, positive = (items.filter(answer=kind)["value"].to_list() for kind in _SEPARATED)
    return separation(negative, positive)


def separation(greater: Sequence[float | None], less: Sequence[float | None]) -> float:
    """Return the area under the ROC curve: the share of pairs whose first value is the greater one.

    A tie counts one half (Hanley & McNeil 1982), and so does a pair in which a value is missing:
    a model that says nothing about an item does not separate it.
    """
    pairs = [(x, y) for x in greater for y in less]
    won = [0.5 if None in (x, y) or x == y else float(x > y) for x, y in pairs]  # type: ignore[operator]
    return sum(won) / len(won)

"""How questions with options were asked of whom, read off the prompts that each model was asked.

A model on this machine is asked every presentation of a question. Behind a server it may be asked
each question in one order and one wording, in turn: what is then set side by side are different
questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import polars as pl

from goffman.choice_items import options_from
from goffman.presentation.shown import in_list
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.section import Section

Kind = Literal["order", "keying", "wordings"]

_COLUMN = {"order": "order", "keying": "keyed", "wordings": "wording"}
_WHOM = ("item", "condition", "form", "gender")
_FIRST = ("stigma-first", "stigma-last")

_NEARLY_HALF = (0.45, 0.55)


class _Such(NamedTuple):
    """What the questions of an instrument that comes with goffman are like."""

    item: str
    """Said only where this item was asked: another study's questions may stand in their place."""
    question: str
    highest: str
    """What an answer with the code 1 is."""


_SUCH = {
    "social-distance": _Such(
        "neighbor",
        "how willing it would be to have someone who … as a neighbor",
        "the more stigmatizing answers",
    ),
    "decisions": _Such(
        "room", "whether to let someone who … have a room", "advice against the person"
    ),
}


def measured_said(section: Section) -> str:
    """What is asked, what the number is, and in which orders the options were."""
    return " ".join([section.presentation.claims.measured, *_questions(section), *_orders(section)])


def _questions(section: Section) -> Iterator[str]:
    """An example of a question, and what the code is where there are two options."""
    if section.presentation.quantity != "code":
        return
    such = next((one for name, one in _SUCH.items() if _of(section.instrument, name)), None)
    such = such if such and such.item in section.items else None
    if such:
        yield f"One question is {such.question}."
    if two_options(section):
        highest = such.highest if such else "the more stigmatizing answers"
        yield f"Two options count, so the mean code is the share of {highest}."


def _of(instrument: str, name: str) -> bool:
    """Whether this is one of the instrument's forms."""
    return instrument == name or instrument.startswith(f"{name}-")


def two_options(section: Section) -> bool:
    """Whether each question has two options that count."""
    if "options" not in section.prompts.columns:
        return False
    lists = section.prompts["options"].drop_nulls().unique()
    counts = {sum(one.code is not None for one in options_from(text)) for text in lists}
    return counts == {2}


def _orders(section: Section) -> Iterator[str]:
    """In which orders the options were; of each model, where these differ."""
    if not section.scores["quantity"].is_in(_FIRST).any():
        return
    models = section.models()
    one_order = [model for model in models if not same_questions(section, model, "order")]
    if not one_order:
        yield "Every question is asked with the options in both orders."
    elif len(one_order) < len(models):
        yield (
            "Every question is asked with the options in both orders; "
            f"{in_list(one_order)} got each question in one order."
        )
    else:
        yield f"Each question is asked in one order of the options{_first_listed(section)}."


def _first_listed(section: Section) -> str:
    """How many questions list the most stigmatizing option first, and how many last."""
    named = section.scores.filter(pl.col("level") == "prompt", pl.col("quantity").is_in(_FIRST))
    share = float((named["quantity"] == _FIRST[0]).to_numpy().mean())
    low, high = _NEARLY_HALF
    some = "about half" if low <= share <= high else f"{share:.0%}"
    return f": {some} list the most stigmatizing option first, the others last"


def same_questions(section: Section, model: str, kind: Kind) -> bool:
    """Whether a model was asked a question in two presentations, and not only one in each.

    ``model``: as it is shown. Where no prompts are known, nothing speaks against it.
    """
    if section.prompts.is_empty():
        return True
    column = _COLUMN[kind]
    question = [*_WHOM, "wording"] if kind == "order" else [*_WHOM]
    asked = _asked(section, model).filter(pl.col("condition") != BASELINE)
    ways = asked.group_by(question).agg(pl.col(column).n_unique())
    return bool((ways[column] > 1).any())


def _asked(section: Section, model: str) -> pl.DataFrame:
    """The prompts that a model was asked, whatever it answered."""
    mine = [name for name in section.scores["model"].unique() if section.names.model(name) == model]
    ids = section.scores.filter(pl.col("level") == "prompt", pl.col("model").is_in(mine))
    return section.prompts.join(ids.select("prompt_id").unique(), on="prompt_id", how="semi")

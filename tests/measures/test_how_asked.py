"""What is said of orders, keying and wordings is what the prompts of the run have."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
from choosing import asked, choices, listed, section

from goffman.measures.multiple_choice import MeanCode
from goffman.presentation.answer_style import (
    describe_answering,
    describe_measured,
    describe_presentation,
    effects,
    same_questions,
)

MEASURE = MeanCode()
GROUPS = {
    "stigmatized": tuple(f"s{n}" for n in range(8)),
    "non-stigmatized": tuple(f"n{n}" for n in range(8)),
    "baseline": ("baseline",),
}
EVERYTHING = asked(items=tuple(f"i{n}" for n in range(1, 7)), groups=GROUPS)


def in_turn(*, orders: bool):
    """Each item and condition in one wording; with ``orders`` in one order, too."""
    names = {
        name: EVERYTHING[name].unique(maintain_order=True).to_list()
        for name in ("condition", "item", "wording", "order")
    }
    kept = []
    for row in EVERYTHING.to_dicts():
        place = names["condition"].index(row["condition"]) + names["item"].index(row["item"])
        wording = names["wording"].index(row["wording"]) == place % len(names["wording"])
        order = names["order"].index(row["order"]) == place // len(names["wording"]) % 2
        kept.append(wording and (order or not orders))
    return EVERYTHING.filter(pl.Series(kept))


def leaning(row):
    share = 0.3 + 0.1 * (row["group"] == "stigmatized")
    share += 0.02 * (sum(map(ord, row["prompt_id"])) % 11)
    by_code = {0.0: 1 - share, 1.0: share}
    return [*(by_code.get(one.code, 0.0) for one in listed(row)[:4]), 0.0]


def made(table):
    return section(MEASURE, MEASURE(choices(table, leaning), table), table)


def test_asked_everything_both_orders_are_said():
    shown = made(EVERYTHING)
    assert describe_measured(shown).endswith(
        "Every question is asked with the options in both orders."
    )
    said = describe_presentation(shown, "m")
    assert said.startswith("By presentation, the mean code differs by ")
    assert "between different questions" not in said
    assert "Without an effect of place, neither would be far above 0.50." in (
        " ".join(describe_answering(shown, "m"))
    )
    (figure,) = effects(shown)
    assert figure.title == "What the presentation alone does"


def test_asked_in_one_order_and_wording_different_questions_are_compared():
    shown = made(in_turn(orders=True))
    assert describe_measured(shown).endswith(
        "% list the most stigmatizing option first, the others last."
    )
    said = describe_presentation(shown, "m")
    assert said.startswith("By presentation, the mean code differs by ")
    assert " (the most stigmatizing option first instead of last; " in said
    assert " (wording “" in said
    assert said.count(", between different questions)") == len(said.split(", by "))
    assert "Without an effect of place" not in " ".join(describe_answering(shown, "m"))
    (figure,) = effects(shown)
    assert figure.title == "By presentation"
    assert "of different questions about the same conditions." in figure.description


def test_asked_in_both_orders_and_one_wording_each_is_said_apart():
    shown = made(in_turn(orders=False))
    assert same_questions(shown, "m", "order")
    assert not same_questions(shown, "m", "wordings")
    said = describe_presentation(shown, "m")
    order, *others = said.split(", by ")
    assert "the most stigmatizing option first instead of last; " in order
    assert "between different questions" not in order
    assert others[-1].endswith(", between different questions).")


def test_of_two_options_the_code_is_a_share_and_each_place_has_half():
    two = '[["A", "Yes", 1.0], ["B", "No", 0.0], ["C", "I can\'t tell", null]]'
    shown = made(EVERYTHING)
    shown = replace(shown, prompts=shown.prompts.with_columns(options=pl.lit(two)))
    assert "Two options count, so the mean code is the share of the more stigmatizing answers." in (
        describe_measured(shown)
    )
    decisions = replace(shown, instrument="decisions/reply", items=("room", "hire"))
    assert (
        "One question is whether to let someone who … have a room. Two options count, so the mean "
        "code is the share of advice against the person."
    ) in describe_measured(decisions)
    assert "neighbor" not in describe_measured(decisions)
    # Another study's questions in its place have other items.
    assert "a room" not in describe_measured(replace(decisions, items=("other",)))
    assert "Without an effect of place, neither would be far above 0.50." in (
        " ".join(describe_answering(shown, "m"))
    )
